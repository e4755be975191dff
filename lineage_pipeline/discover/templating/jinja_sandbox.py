"""Sandboxed Jinja: Python cannot be reached, and every loop, call and text is charged to a deterministic budget.

Tokens, nodes and errors carry the offset in the template where Jinja has the line number.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from jinja2 import Environment, nodes, pass_context
from jinja2.exceptions import SecurityError, TemplateRuntimeError, TemplateSyntaxError
from jinja2.filters import FILTERS, do_replace
from jinja2.lexer import TokenStream
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
from jinja2.tests import TESTS
from jinja2.visitor import NodeTransformer

from lineage_pipeline.discover.templating.undefined import TemplateReport, UndefinedName
from lineage_pipeline.model.templating import RenderLimits

MAX_NUMBER_BITS = 4096
"""Size in bits of the largest number that may be computed."""

EXCESSIVE_WIDTH = re.compile(r"\d{5,}|\*")
"""A width in a format that no printed text has."""


class RenderBudgetExceeded(TemplateRuntimeError):
    """A template exceeds its budget."""

    def __init__(self, what: str, limit: int) -> None:
        """Store what was exceeded."""
        super().__init__(f"{what} of the template are over {limit}")
        self.what, self.limit = what, limit


class RenderBudget:
    """The remaining steps and characters of one template."""

    def __init__(self, limits: RenderLimits) -> None:
        """Start with the full budget."""
        self.limits = limits
        self.steps = limits.steps
        self.output = limits.output

    def step(self) -> None:
        """Charge a loop iteration or a call."""
        self.steps -= 1
        if self.steps < 0:
            raise RenderBudgetExceeded("steps", self.limits.steps)

    def print(self, text: str) -> str:
        """Charge printed text."""
        self.output -= len(text)
        if self.output < 0:
            raise RenderBudgetExceeded("characters", self.limits.output)
        return text

    def check_size(self, size: int) -> None:
        """Refuse a value that is larger than the whole output may be."""
        if size > self.limits.output:
            raise RenderBudgetExceeded("characters", self.limits.output)

    def count_iterations(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield items one by one, charging a step for each."""
        for item in items:
            self.step()
            yield item

    def join_texts(self, items: Iterable[Any], between: str = "") -> str:
        """Join texts whose total length is within the budget."""
        texts = [str(item) for item in self.count_iterations(items)]
        self.check_size(sum(map(len, texts)) + len(between) * len(texts))
        return between.join(texts)

    def check_operation(self, operator: str, left: Any, right: Any) -> None:
        """Refuse an operation whose result would be too large."""
        if operator == "%" and isinstance(left, str):
            self.check_format(left)
        elif operator == "+" and hasattr(left, "__len__") and hasattr(right, "__len__"):
            self.check_size(len(left) + len(right))
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            self._check_number(left.bit_length() * max(right, 1))
        elif operator == "*":
            self._check_product(left, right)

    def check_format(self, text: str) -> None:
        """Refuse a format with excessive padding."""
        if EXCESSIVE_WIDTH.search(text):
            raise RenderBudgetExceeded("characters", self.limits.output)

    def check_method(self, text: str, name: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Refuse a string method whose result would be too large; return its arguments, materialized."""
        if name == "join" and arguments:
            items = list(self.count_iterations(arguments[0]))
            self.check_size(sum(len(str(item)) for item in items) + len(text) * len(items))
            return (items,)
        if name == "replace" and len(arguments) > 1:
            found = text.count(str(arguments[0])) if arguments[0] else len(text) + 1
            self.check_size(len(text) + found * len(str(arguments[1])))
        elif name in ("format", "format_map"):
            self.check_format(text)
        else:
            self.check_size(max((item for item in arguments if isinstance(item, int)), default=0))
        return arguments

    def _check_product(self, left: Any, right: Any) -> None:
        if isinstance(left, int) and isinstance(right, int):
            self._check_number(left.bit_length() + right.bit_length())
        for one, other in ((left, right), (right, left)):
            if hasattr(one, "__len__") and isinstance(other, int):
                self.check_size(len(one) * max(other, 0))

    @staticmethod
    def _check_number(bits: int) -> None:
        if bits > MAX_NUMBER_BITS:
            raise RenderBudgetExceeded("bits of a number", MAX_NUMBER_BITS)


TURNS, JOINED, APART = "lineage turns", "lineage joined", "lineage apart"
"""Filters that no template can name: they count what loops and `~` cost, and take apart what is not known."""

EXPANDING_FILTERS = (
    "center",
    "indent",
    "truncate",
    "wordwrap",
    "batch",
    "slice",
    "format",
    "pprint",
    "tojson",
    "xmlattr",
)
"""Filters whose output can be much larger than their input."""


class _BudgetInserter(NodeTransformer):
    """Inserts counting filters where a template could run forever."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        """Count the iterations of a loop."""
        self.generic_visit(node)
        named = [_target_width(node.target)] if isinstance(node.target, nodes.Tuple) else []
        node.iter = nodes.Filter(node.iter, TURNS, named, [], None, None, lineno=node.iter.lineno)
        return node

    def visit_Assign(self, node: nodes.Assign) -> nodes.Node:
        """Unpack a value that may be unknown."""
        self.generic_visit(node)
        if isinstance(node.target, nodes.Tuple):
            node.node = nodes.Filter(node.node, APART, [_target_width(node.target)], [], None, None, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        """Measure joined texts."""
        self.generic_visit(node)
        items = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(items, JOINED, [], [], None, None, lineno=node.lineno)


def _target_width(target: nodes.Tuple) -> nodes.Expr:
    return nodes.Const(len(target.items), lineno=target.lineno)


def unpack_value(value: Any, count: int) -> Any:
    """Return the number of parts needed from a value that can split itself, such as an unknown one."""
    return value.parts(count) if callable(getattr(type(value), "parts", None)) else value


class _FallbackNames(dict[str, Callable[..., Any]]):
    """Filters or tests by name; an unknown one returns its value unchanged and is reported."""

    def __init__(self, known: Mapping[str, Callable[..., Any]], report: Callable[[str], None]) -> None:
        """Start with the known ones."""
        super().__init__(known)
        self._report = report

    def __missing__(self, name: str) -> Callable[..., Any]:
        """Return the fallback of an unknown name."""

        def stand_in(value: Any = None, *_arguments: Any, **_named: Any) -> Any:
            self._report(name)
            return value

        return stand_in

    def get(self, name: str, default: Any = None) -> Any:
        """Return the filter, or its fallback."""
        return self[name]


class BoundedEnvironment(SandboxedEnvironment):
    """A Jinja environment with a budget and a report, renewed for each file."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, **options: Any) -> None:
        """Start with a budget that `begin` replaces."""
        super().__init__(keep_trailing_newline=True, optimized=False, finalize=self._charge_output, **options)
        self.undefined = self._missing  # type: ignore[assignment]  # it is only ever called
        self.budget = RenderBudget(RenderLimits())
        self.report = TemplateReport("")
        self.globals.pop("lipsum", None)  # it is made of random words
        self.filters = _FallbackNames(FILTERS | self._checked_filters(), lambda name: self.report.undefined(name))
        self.tests = _FallbackNames(dict(TESTS), lambda name: self.report.undefined(name))  # type: ignore[assignment, arg-type]

    def begin(self, limits: RenderLimits, report: TemplateReport) -> None:
        """Start a new file."""
        self.budget, self.report = RenderBudget(limits), report
        random.seed(0)

    def call(self, context: Any, function: Any, /, *arguments: Any, **named: Any) -> Any:
        """Call a function and charge a step."""
        self.budget.step()
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str):
            arguments = self.budget.check_method(owner, getattr(function, "__name__", ""), arguments)
        return super().call(context, function, *arguments, **named)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Evaluate an operation after checking the size of its result."""
        self.budget.check_operation(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Any:
        """Return a checked `str.format` method."""
        wrapped = super().wrap_str_format(value)
        if wrapped is not None:
            self.budget.check_format(str(value.__self__))
        return wrapped

    def unsafe_undefined(self, obj: Any, attribute: str) -> Any:
        """Refuse an attribute that the sandbox hides."""
        raise SecurityError(f"{attribute!r} of {type(obj).__name__!r} may not be used in a template")

    @pass_context  # and so nothing is worked out before the template runs
    def _charge_output(self, _context: Any, value: Any) -> str:
        return self.budget.print(str(value).replace("\0", ""))

    def _missing(
        self, hint: str | None = None, obj: Any = None, name: str | None = None, exc: Any = None
    ) -> UndefinedName:
        """Return the value of an undefined name."""
        known = isinstance(obj, UndefinedName)
        optional = hint is not None and hint.endswith("was not provided")  # a parameter of a macro that may be left out
        return UndefinedName(self, f"{obj.path}.{name}" if known else str(name or hint or "it"), quiet=optional)

    def _checked_filters(self) -> dict[str, Callable[..., Any]]:
        def replace(context: Any, value: Any, old: Any, new: Any, count: int | None = None) -> str:
            self.budget.check_method(str(value), "replace", (old, new))
            return do_replace(context, value, old, new, count)

        def join(value: Iterable[Any], d: str = "", attribute: str | None = None) -> str:
            if isinstance(value, UndefinedName):
                return str(value)
            items = [self.getattr(item, attribute) for item in value] if attribute else value
            return self.budget.join_texts(items, str(d))

        replace.jinja_pass_arg = do_replace.jinja_pass_arg  # type: ignore[attr-defined]
        wide = {name: self._measure_filter(FILTERS[name]) for name in EXPANDING_FILTERS}
        return wide | {
            "replace": replace,
            "join": join,
            "random": lambda items: next(iter(items), None),
            TURNS: self._count_iterations,
            APART: unpack_value,
            JOINED: lambda items: self.budget.join_texts(items),
        }

    def _count_iterations(self, items: Any, count: int = 0) -> Any:
        """Count the iterations of a loop; items are unpacked where the loop has several targets."""
        counted = self.budget.count_iterations(items)
        return (unpack_value(item, count) for item in counted) if count else counted

    def _measure_filter(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*arguments: Any, **named: Any) -> Any:
            for item in (*arguments, *named.values()):
                if isinstance(item, int):
                    self.budget.check_size(item)
                elif isinstance(item, str) and plain is FILTERS["format"]:
                    self.budget.check_format(item)
            return plain(*arguments, **named)

        if hasattr(plain, "jinja_pass_arg"):
            measured.jinja_pass_arg = plain.jinja_pass_arg  # type: ignore[attr-defined]
        return measured

    def _tokenize(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> TokenStream:
        return TokenStream(self.lexer.wrap(tokenize_with_offsets(self, source, name), name, filename), name, filename)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        bounded: nodes.Template = _BudgetInserter().visit(tree)
        return bounded


class ImmutableEnvironment(BoundedEnvironment, ImmutableSandboxedEnvironment):
    """A bounded environment in which lists and mappings cannot be changed."""


def tokenize_with_offsets(environment: Environment, source: str, name: str | None) -> Iterator[tuple[int, str, str]]:
    """Yield the raw tokens of a template, each with its offset in place of its line number."""
    at = 0
    source = source.replace("\r", "\n")  # the lexer's values have its newlines; CRLF was replaced before
    try:
        for _, kind, value in environment.lexer.tokeniter(source, name):
            while value and not source.startswith(value, at):  # blanks before a tag that strips them
                at += 1
                if at > len(source):
                    raise TemplateSyntaxError("the template cannot be followed", len(source), name)
            yield at, kind, value
            at += len(value)
    except TemplateSyntaxError as error:
        error.lineno = at
        raise
