"""Jinja in a sandbox: nothing of Python can be reached, and every loop, call and text is paid for.

A token says on which line it stands; ours say at which offset, and so do the nodes and the errors that come of them.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from jinja2 import Environment, nodes, pass_context
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.filters import FILTERS, do_replace
from jinja2.lexer import TokenStream
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
from jinja2.tests import TESTS
from jinja2.visitor import NodeTransformer

from lineage_pipeline.discover.templating.budget import Budget
from lineage_pipeline.discover.templating.protocol import RenderLimits
from lineage_pipeline.discover.templating.undefined import Missing, Report

TURNS, JOINED, APART = "lineage turns", "lineage joined", "lineage apart"
"""Filters that no template can name: they count what loops and `~` cost, and take apart what is not known."""

WIDE = ("center", "indent", "truncate", "wordwrap", "batch", "slice", "format", "pprint", "tojson", "xmlattr")
"""Filters that can make much of little, by a number they are given."""


class _Bounded(NodeTransformer):
    """Puts the counting filters where a template could go on for ever."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        """Count the turns of a loop."""
        self.generic_visit(node)
        named = [_width(node.target)] if isinstance(node.target, nodes.Tuple) else []
        node.iter = nodes.Filter(node.iter, TURNS, named, [], None, None, lineno=node.iter.lineno)
        return node

    def visit_Assign(self, node: nodes.Assign) -> nodes.Node:
        """Take a value apart that may not be known."""
        self.generic_visit(node)
        if isinstance(node.target, nodes.Tuple):
            node.node = nodes.Filter(node.node, APART, [_width(node.target)], [], None, None, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        """Measure what is joined."""
        self.generic_visit(node)
        items = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(items, JOINED, [], [], None, None, lineno=node.lineno)


def _width(target: nodes.Tuple) -> nodes.Expr:
    return nodes.Const(len(target.items), lineno=target.lineno)


def apart(value: Any, count: int) -> Any:
    """Give as many parts as are wanted of a value that says how, such as one that nobody knows."""
    return value.parts(count) if callable(getattr(type(value), "parts", None)) else value


class _Words(dict[str, Callable[..., Any]]):
    """Filters or tests by name; one that nobody knows hands its value on, or says no, and is reported."""

    def __init__(self, known: Mapping[str, Callable[..., Any]], report: Callable[[str], None]) -> None:
        """Start with the known ones."""
        super().__init__(known)
        self._report = report

    def __missing__(self, name: str) -> Callable[..., Any]:
        """Stand in for a name."""

        def stand_in(value: Any = None, *_arguments: Any, **_named: Any) -> Any:
            self._report(name)
            return value

        return stand_in

    def get(self, name: str, default: Any = None) -> Any:
        """Give the filter, or what stands in for it."""
        return self[name]


class Bounded(SandboxedEnvironment):
    """An environment with a budget and a report, both anew for each file."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, **options: Any) -> None:
        """Start with a budget that `begin` will replace."""
        super().__init__(keep_trailing_newline=True, optimized=False, finalize=self._printed, **options)
        self.undefined = self._missing  # type: ignore[assignment]  # it is only ever called
        self.budget = Budget(RenderLimits())
        self.report = Report("")
        self.globals.pop("lipsum", None)  # it is made of random words
        self.filters = _Words(FILTERS | self._own_filters(), lambda name: self.report.undefined(name))
        self.tests = _Words(dict(TESTS), lambda name: self.report.undefined(name))  # type: ignore[assignment, arg-type]

    def begin(self, limits: RenderLimits, report: Report) -> None:
        """Start with a new file."""
        self.budget, self.report = Budget(limits), report
        random.seed(0)

    def call(self, context: Any, function: Any, /, *arguments: Any, **named: Any) -> Any:
        """Call something for a step."""
        self.budget.step()
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str):
            arguments = self.budget.method(owner, getattr(function, "__name__", ""), arguments)
        return super().call(context, function, *arguments, **named)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Operate where the result is not too large."""
        self.budget.operate(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Any:
        """Give a method of formats that are not endless."""
        wrapped = super().wrap_str_format(value)
        if wrapped is not None:
            self.budget.format(str(value.__self__))
        return wrapped

    def unsafe_undefined(self, obj: Any, attribute: str) -> Any:
        """Refuse what is not to be reached."""
        raise SecurityError(f"{attribute!r} of {type(obj).__name__!r} may not be used in a template")

    @pass_context  # and so nothing is worked out before the template runs
    def _printed(self, _context: Any, value: Any) -> str:
        return self.budget.print(str(value).replace("\0", ""))

    def _missing(self, hint: str | None = None, obj: Any = None, name: str | None = None, exc: Any = None) -> Missing:
        """Make what stands for a name without a value."""
        known = isinstance(obj, Missing)
        optional = hint is not None and hint.endswith("was not provided")  # a parameter of a macro that may be left out
        return Missing(self, f"{obj.path}.{name}" if known else str(name or hint or "it"), quiet=optional)

    def _own_filters(self) -> dict[str, Callable[..., Any]]:
        def replace(context: Any, value: Any, old: Any, new: Any, count: int | None = None) -> str:
            self.budget.method(str(value), "replace", (old, new))
            return do_replace(context, value, old, new, count)

        def join(value: Iterable[Any], d: str = "", attribute: str | None = None) -> str:
            if isinstance(value, Missing):
                return str(value)
            items = [self.getattr(item, attribute) for item in value] if attribute else value
            return self.budget.joined(items, str(d))

        replace.jinja_pass_arg = do_replace.jinja_pass_arg  # type: ignore[attr-defined]
        wide = {name: self._measured(FILTERS[name]) for name in WIDE}
        return wide | {
            "replace": replace,
            "join": join,
            "random": lambda items: next(iter(items), None),
            TURNS: self._turns,
            APART: apart,
            JOINED: lambda items: self.budget.joined(items),
        }

    def _turns(self, items: Any, count: int = 0) -> Any:
        """Count the turns of a loop; each item is taken apart where it has several names."""
        counted = self.budget.turns(items)
        return (apart(item, count) for item in counted) if count else counted

    def _measured(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*arguments: Any, **named: Any) -> Any:
            for item in (*arguments, *named.values()):
                if isinstance(item, int):
                    self.budget.size(item)
                elif isinstance(item, str) and plain is FILTERS["format"]:
                    self.budget.format(item)
            return plain(*arguments, **named)

        if hasattr(plain, "jinja_pass_arg"):
            measured.jinja_pass_arg = plain.jinja_pass_arg  # type: ignore[attr-defined]
        return measured

    def _tokenize(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> TokenStream:
        return TokenStream(self.lexer.wrap(placed_tokens(self, source, name), name, filename), name, filename)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        bounded: nodes.Template = _Bounded().visit(tree)
        return bounded


class Immutable(Bounded, ImmutableSandboxedEnvironment):
    """The same, in which no list and no mapping can be changed."""


def placed_tokens(environment: Environment, source: str, name: str | None) -> Iterator[tuple[int, str, str]]:
    """Give the raw tokens of a template, each with the offset where it begins in place of its line."""
    at = 0
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
