"""Evaluates Python expressions as far as their value is known before the program runs."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from lineage_pipeline.discover.embedded_sql.builtin_calls import (
    BUILTIN_FUNCTIONS,
    BUILTIN_METHODS,
    TRANSPARENT_FUNCTIONS,
    TRANSPARENT_METHODS,
    format_percent,
)
from lineage_pipeline.discover.embedded_sql.known_values import (
    UNKNOWN_VALUE,
    KnownValue,
    ProgramFunction,
    ProgramScope,
    ProgramSource,
    choose_value,
    variable_name,
)
from lineage_pipeline.discover.embedded_sql.python_syntax import SYNTAX_ERRORS, parse_expression
from lineage_pipeline.discover.embedded_sql.string_literals import FormatField, parse_literals
from lineage_pipeline.discover.embedded_sql.text_parts import (
    MAX_TEXTS,
    UNKNOWN,
    UNKNOWN_PART,
    PossibleTexts,
    TextPart,
    TextValue,
    concat_texts,
    drop_choices,
    is_unknown_text,
    iter_choices,
    join_parts,
    union_texts,
)
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER

SQL_CONSTANT_NAME = re.compile(r"(?i)sql|quer(?:y|ies)|statement|stmt|table|schema")
"""Names that suggest SQL constants, beside upper-case ones; no module is read for others."""

ConstantsLookup = Callable[[str, int], Mapping[str, KnownValue]]
"""Returns the constants of a module by its name and the dots before it."""


def no_constants(module: str, level: int) -> Mapping[str, KnownValue]:
    """Return no constants for any module."""
    return {}


def parse_import(node: ast.Import | ast.ImportFrom) -> dict[str, tuple[str, int, str]]:
    """Return the names of an import statement: module, dots before it, and name in it; empty for the module itself."""
    if isinstance(node, ast.Import):
        return {item.asname or item.name: (item.name, 0, "") for item in node.names}
    return {item.asname or item.name: (node.module or "", node.level, item.name) for item in node.names}


def resolve_imported_value(
    node: ast.expr, names: ProgramScope, source: ProgramSource, constants: ConstantsLookup
) -> KnownValue:
    """Return a constant of another module of the repository, located where it is used."""
    first, _, last = variable_name(node).partition(".")
    module, level, own = names.imported.get(first, ("", 0, ""))
    if last:
        module, own = ".".join(part for part in (module, own) if part), last
    if not own or first not in names.imported or not (own.isupper() or SQL_CONSTANT_NAME.search(own)):
        return UNKNOWN_VALUE
    found = constants(module, level).get(own, UNKNOWN_VALUE)
    if is_unknown_text(found.texts):
        return found
    written, at = source.source_text(node)
    ends = TextPart("", at), TextPart("", at + len(written))
    return KnownValue(tuple((ends[0], *value, ends[1]) for value in found.texts), found.items, found.entries)


RunFunction = Callable[[ProgramFunction, Mapping[str, KnownValue]], KnownValue]
"""Returns the result of a function for given arguments."""


class PythonEvaluator:
    """Evaluates the expressions of one piece of a program."""

    def __init__(
        self, source: ProgramSource, names: ProgramScope, run: RunFunction, constants: ConstantsLookup = no_constants
    ) -> None:
        """Store the known names, the runner of the program's functions, and the lookup of imported constants."""
        self.constants = constants
        self.source = source
        self.names = names
        self.run = run

    def known(self, node: ast.expr | None) -> KnownValue:
        """Return the known value of an expression."""
        evaluate = EXPRESSION_EVALUATORS.get(type(node))
        found = evaluate(self, node) if evaluate is not None else UNKNOWN_VALUE
        if isinstance(found, KnownValue):
            return found
        return UNKNOWN_VALUE if found is UNKNOWN else KnownValue(found)

    def texts(self, node: ast.expr | None) -> PossibleTexts:
        """Return the texts that an expression may evaluate to."""
        if node is None:
            return UNKNOWN
        found = self.known(node).texts
        return self.located_unknown(node) if is_unknown_text(found) else found

    def located_unknown(self, node: ast.expr) -> PossibleTexts:
        """Return a placeholder with the offsets of an expression: empty parts mark its ends."""
        written, at = self.source.source_text(node)
        return ((TextPart("", at), UNKNOWN_PART, TextPart("", at + len(written))),)

    def items(self, node: ast.expr | None) -> tuple[KnownValue, ...] | None:
        """Return the items that iterating over a value yields, or None where unknown."""
        found = self.known(node)
        if found.items is None and found.entries is not None:
            return tuple(KnownValue(((TextPart(key),),)) for key in found.entries)
        return found.items

    def literal(self, node: ast.expr) -> PossibleTexts:
        """Evaluate a literal, with the values of its fields."""
        pieces = parse_literals(*self.source.source_text(node))
        if pieces is None:
            return UNKNOWN
        whole = tuple(piece for piece in pieces if isinstance(piece, TextPart))
        if len(whole) == len(pieces):
            return (whole,)
        return concat_texts(self.field(piece) if isinstance(piece, FormatField) else ((piece,),) for piece in pieces)

    def field(self, field: FormatField) -> PossibleTexts:
        """Evaluate a field of a formatted string, including its braces."""
        ends = ((TextPart("", field.at - 1),),), ((TextPart("", field.end),),)
        return concat_texts((ends[0], self.field_texts(field), ends[1]))

    def field_texts(self, field: FormatField) -> PossibleTexts:
        """Evaluate the expression of a field, without its own location."""
        lead = len(field.expression) - len(field.expression.lstrip())
        text = field.expression.strip()
        try:
            tree = parse_expression(text)
        except SYNTAX_ERRORS:
            return UNKNOWN
        found = PythonEvaluator(ProgramSource.of(text, field.at + lead), self.names, self.run, self.constants).texts(
            tree
        )
        return tuple(
            _unknown_under_choices(value) if join_parts(value) == RUNTIME_PLACEHOLDER else value for value in found
        )

    def bind_arguments(self, function: ProgramFunction, node: ast.Call) -> dict[str, KnownValue]:
        """Return the arguments of a call by parameter name."""
        given: dict[str, KnownValue] = {}
        for name, default in function.defaults():
            given[name] = PythonEvaluator(function.source, self.names, self.run, self.constants).known(default)
        given |= zip(function.parameters(), (self.known(item) for item in node.args), strict=False)
        given |= {item.arg: self.known(item.value) for item in node.keywords if item.arg}
        return given

    def bind_target(self, target: ast.expr, value: KnownValue) -> None:
        """Bind names to a value, or to the parts it is unpacked into."""
        if isinstance(target, ast.Tuple | ast.List):
            items = value.items if value.items is not None and len(value.items) == len(target.elts) else None
            for place, part in enumerate(target.elts):
                self.bind_target(part, items[place] if items is not None else UNKNOWN_VALUE)
        elif isinstance(target, ast.Starred):
            self.bind_target(target.value, UNKNOWN_VALUE)
        elif isinstance(target, ast.Subscript):
            self.set_entry(target, value)
        elif name := variable_name(target):
            self.names.known[name] = value

    def set_entry(self, target: ast.Subscript, value: KnownValue) -> None:
        """Set an entry of a dictionary."""
        before, keys = self.known(target.value), self.texts(target.slice)
        if before.entries is not None and len(keys) == 1 and not is_unknown_text(keys) and variable_name(target.value):
            entries = {**before.entries, join_parts(keys[0]): value}
            self.names.known[variable_name(target.value)] = KnownValue(before.texts, before.items, entries)


def _unknown_under_choices(value: TextValue) -> TextValue:
    return (*(TextPart("", choice=choice) for choice in iter_choices(value)), UNKNOWN_PART)


def _evaluate_constant(evaluator: PythonEvaluator, node: ast.Constant) -> PossibleTexts:
    if isinstance(node.value, str):
        return evaluator.literal(node)
    if isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return ((TextPart(str(node.value)),),)
    return UNKNOWN


def _evaluate_name(evaluator: PythonEvaluator, node: ast.expr) -> KnownValue:
    found = evaluator.names.known.get(variable_name(node))
    if found is None and isinstance(node, ast.Attribute) and node.attr == "value":  # of a member of an enumeration
        return evaluator.known(node.value)
    return found or resolve_imported_value(node, evaluator.names, evaluator.source, evaluator.constants)


def _evaluate_subscript(evaluator: PythonEvaluator, node: ast.Subscript) -> KnownValue:
    """Evaluate `value[key]`: each entry or item that the key may name."""
    base = evaluator.known(node.value)
    if base.items is None and base.entries is None:
        return UNKNOWN_VALUE
    index = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if base.items is not None and isinstance(index, int):
        return base.items[index] if -len(base.items) <= index < len(base.items) else UNKNOWN_VALUE
    entries = base.entries or {}
    found = []
    for key in evaluator.texts(node.slice):
        entry = entries.get(join_parts(key), UNKNOWN_VALUE)
        for choice in iter_choices(key):
            entry = entry.under_choice(choice)
        found.append(entry)
    return found[0] if len(found) == 1 else KnownValue(union_texts(*(entry.texts for entry in found)))


def _evaluate_operation(evaluator: PythonEvaluator, node: ast.BinOp) -> KnownValue | PossibleTexts:
    if isinstance(node.op, ast.Mod):
        return union_texts(*(format_percent(value, node.right, evaluator) for value in evaluator.texts(node.left)))
    if isinstance(node.op, ast.Div):  # a path
        return concat_texts((evaluator.texts(node.left), ((TextPart("/"),),), evaluator.texts(node.right)))
    if not isinstance(node.op, ast.Add):
        return UNKNOWN
    left, right = evaluator.known(node.left), evaluator.known(node.right)
    if left.items is not None and right.items is not None:
        return KnownValue(items=left.items + right.items)
    return concat_texts((evaluator.texts(node.left), evaluator.texts(node.right)))


def _evaluate_conditional(evaluator: PythonEvaluator, node: ast.IfExp) -> KnownValue:
    return choose_value([evaluator.known(node.body), evaluator.known(node.orelse)], evaluator.names.new_choice())


def _evaluate_or(evaluator: PythonEvaluator, node: ast.BoolOp) -> KnownValue:
    """Evaluate `a or b` as either side."""
    return choose_value([evaluator.known(value) for value in node.values], evaluator.names.new_choice())


def _evaluate_wrapped(evaluator: PythonEvaluator, node: ast.NamedExpr | ast.Await) -> KnownValue:
    return evaluator.known(node.value)


def _evaluate_list(evaluator: PythonEvaluator, node: ast.List | ast.Tuple | ast.Set) -> KnownValue:
    found: list[KnownValue] = []
    for item in node.elts:
        if not isinstance(item, ast.Starred):
            found.append(evaluator.known(item))
            continue
        spread = evaluator.items(item.value)
        if spread is None:
            return UNKNOWN_VALUE
        found.extend(spread)
    return KnownValue(items=tuple(found))


def _evaluate_dict(evaluator: PythonEvaluator, node: ast.Dict) -> KnownValue:
    """Evaluate a dictionary as far as its keys are known."""
    entries: dict[str, KnownValue] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            entries |= evaluator.known(value).entries or {}
            continue
        for text in evaluator.texts(key):
            entries[join_parts(text)] = evaluator.known(value)
    return KnownValue(entries=entries)


def _evaluate_comprehension(
    evaluator: PythonEvaluator, node: ast.ListComp | ast.SetComp | ast.GeneratorExp
) -> KnownValue:
    """Evaluate a list comprehension item by item."""
    found = []
    for inner in _iterate_generators(evaluator, node.generators):
        found.append(inner.known(node.elt))
        if len(found) > MAX_TEXTS:
            return UNKNOWN_VALUE
    return KnownValue(items=tuple(found)) if found else UNKNOWN_VALUE


def _evaluate_dict_comprehension(evaluator: PythonEvaluator, node: ast.DictComp) -> KnownValue:
    entries: dict[str, KnownValue] = {}
    for inner in _iterate_generators(evaluator, node.generators):
        (key, *others) = inner.texts(node.key)
        if others or len(entries) > MAX_TEXTS:
            return UNKNOWN_VALUE
        entries[join_parts(key)] = inner.known(node.value)
    return KnownValue(entries=entries) if entries else UNKNOWN_VALUE


def _iterate_generators(evaluator: PythonEvaluator, loops: list[ast.comprehension]) -> Iterator[PythonEvaluator]:
    """Yield an evaluator per iteration of nested loops, or none where a list is unknown."""
    if not loops:
        yield evaluator
        return
    for item in evaluator.items(loops[0].iter) or ():
        inner = PythonEvaluator(evaluator.source, evaluator.names.copy(), evaluator.run)
        inner.bind_target(loops[0].target, item)
        yield from _iterate_generators(inner, loops[1:])


def _evaluate_call(evaluator: PythonEvaluator, node: ast.Call) -> KnownValue | PossibleTexts:
    """Evaluate calls of the program's own functions, and of built-ins with a known result."""
    function = node.func
    own = evaluator.names.functions.get(variable_name(function))
    if own is not None:
        return evaluator.run(own, evaluator.bind_arguments(own, node))
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in TRANSPARENT_FUNCTIONS and node.args:
        return evaluator.texts(node.args[0])
    if name == "Identifier" and node.args:
        (begin, _, end), *_ = evaluator.located_unknown(node)
        return tuple(
            (begin, TextPart('"'), *drop_choices(value), TextPart('"'), end) for value in evaluator.texts(node.args[0])
        )
    if name in BUILTIN_FUNCTIONS:
        return BUILTIN_FUNCTIONS[name](evaluator, node)
    if not isinstance(function, ast.Attribute):
        return UNKNOWN_VALUE
    if name in TRANSPARENT_METHODS:
        return evaluator.texts(function.value)
    method = BUILTIN_METHODS.get(name)
    return method(evaluator, function.value, node) if method is not None else UNKNOWN_VALUE


EXPRESSION_EVALUATORS: Mapping[type, Callable[..., KnownValue | PossibleTexts]] = {
    ast.Constant: _evaluate_constant,
    ast.JoinedStr: PythonEvaluator.literal,
    ast.Name: _evaluate_name,
    ast.Attribute: _evaluate_name,
    ast.Subscript: _evaluate_subscript,
    ast.BinOp: _evaluate_operation,
    ast.BoolOp: _evaluate_or,
    ast.IfExp: _evaluate_conditional,
    ast.NamedExpr: _evaluate_wrapped,
    ast.Await: _evaluate_wrapped,
    ast.List: _evaluate_list,
    ast.Tuple: _evaluate_list,
    ast.Set: _evaluate_list,
    ast.Dict: _evaluate_dict,
    ast.ListComp: _evaluate_comprehension,
    ast.SetComp: _evaluate_comprehension,
    ast.GeneratorExp: _evaluate_comprehension,
    ast.DictComp: _evaluate_dict_comprehension,
    ast.Call: _evaluate_call,
}
"""Evaluators of expressions by node type."""
