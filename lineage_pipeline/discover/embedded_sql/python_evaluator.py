"""Evaluates Python expressions and calls of built-in functions as far as values are known before the program runs."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

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
    fill_placeholders,
    is_unknown_text,
    iter_choices,
    join_parts,
    slice_part,
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
        return UNKNOWN if node is None else self.texts_of(node, self.known(node))

    def texts_of(self, node: ast.expr, known: KnownValue) -> PossibleTexts:
        """Return the texts of an expression that is evaluated already: its parts may be calls of long functions."""
        return self.located_unknown(node) if is_unknown_text(known.texts) else known.texts

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
    return concat_texts((evaluator.texts_of(node.left, left), evaluator.texts_of(node.right, right)))


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
        known = evaluator.known(value)
        entries |= {join_parts(text): known for text in evaluator.texts(key)}
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


FORMAT_FIELD = re.compile(r"\{\{|\}\}|\{(\w*)[^{}]*\}")
PERCENT_FIELD = re.compile(r"%(?:\((\w+)\))?[#0\- +]*(?:\*|\d+)?(?:\.\d+)?[diouxXeEfFgGcrsa%]")
DOLLAR_FIELD = re.compile(r"\$\$|\$\{(\w+)\}|\$([A-Za-z_]\w*)")


class ValueEvaluator(Protocol):
    """Evaluates expressions to known values."""

    names: ProgramScope

    def known(self, node: ast.expr | None) -> KnownValue:
        """Return the known value of an expression."""

    def texts(self, node: ast.expr | None) -> PossibleTexts:
        """Return the texts that an expression may evaluate to."""

    def items(self, node: ast.expr | None) -> tuple[KnownValue, ...] | None:
        """Return the items that iterating over a value yields."""


def format_percent(value: TextValue, right: ast.expr, evaluator: ValueEvaluator) -> PossibleTexts:
    """Evaluate `text % values`."""
    known = evaluator.known(right)
    listed = known.items if isinstance(right, ast.Tuple) and known.items is not None else (known,)
    positions, named = iter(listed), known.entries or {}

    def filler(match: re.Match[str]) -> PossibleTexts | None:
        if match[0].endswith("%"):
            return ((TextPart("%"),),)
        found = named.get(match[1]) if match[1] else next(positions, None)
        return found.texts if found is not None else UNKNOWN

    return fill_placeholders(value, PERCENT_FIELD, filler)


def format_fields(
    value: TextValue, positional: Sequence[PossibleTexts], named: Mapping[str, PossibleTexts]
) -> PossibleTexts:
    """Fill the `{x}` fields of a text; unknown ones become a placeholder."""
    count = iter(range(len(positional)))

    def filler(match: re.Match[str]) -> PossibleTexts | None:
        if match[0] in ("{{", "}}"):
            return ((TextPart(match[0][0]),),)
        if match[1] and not match[1].isdecimal():
            return named.get(match[1], UNKNOWN)
        index = int(match[1][:9]) if match[1] else next(count, len(positional))
        return positional[index] if index < len(positional) else UNKNOWN

    return fill_placeholders(value, FORMAT_FIELD, filler)


def keyword_texts(evaluator: ValueEvaluator, node: ast.Call) -> dict[str, PossibleTexts]:
    """Return the texts of keyword arguments, those of a `**` dictionary included."""
    found: dict[str, PossibleTexts] = {}
    for item in node.keywords:
        if item.arg:
            found[item.arg] = evaluator.texts(item.value)
        else:
            found |= {key: entry.texts for key, entry in (evaluator.known(item.value).entries or {}).items()}
    return found


def _call_format(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    positional = [evaluator.texts(item) for item in node.args]
    named = keyword_texts(evaluator, node)
    return union_texts(*(format_fields(value, positional, named) for value in evaluator.texts(target)))


def _call_format_map(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    entries = (evaluator.known(node.args[0]).entries if node.args else None) or {}
    named = {key: entry.texts for key, entry in entries.items()}
    return union_texts(*(format_fields(value, (), named) for value in evaluator.texts(target)))


def _call_substitute(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    entries = (evaluator.known(node.args[0]).entries if node.args else None) or {}
    named = {key: entry.texts for key, entry in entries.items()} | keyword_texts(evaluator, node)

    def filler(match: re.Match[str]) -> PossibleTexts | None:
        return ((TextPart("$"),),) if match[0] == "$$" else named.get(match[1] or match[2], UNKNOWN)

    return union_texts(*(fill_placeholders(value, DOLLAR_FIELD, filler) for value in evaluator.texts(target)))


def _call_replace(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    old = evaluator.texts(node.args[0])[0] if len(node.args) > 1 else (UNKNOWN_PART,)
    if UNKNOWN_PART in old or not join_parts(old):
        return UNKNOWN
    new = evaluator.texts(node.args[1])
    pattern = re.compile(re.escape(join_parts(old)))
    return union_texts(*(fill_placeholders(value, pattern, lambda match: new) for value in evaluator.texts(target)))


def _call_join(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    items = evaluator.items(node.args[0]) if node.args else None
    between = evaluator.texts(target)
    if items is None:
        return UNKNOWN
    texts = [item.texts for item in items]
    return concat_texts(part for number, item in enumerate(texts) for part in ((between, item) if number else (item,)))


def _call_path_join(evaluator: ValueEvaluator, node: ast.Call) -> PossibleTexts:
    slash: PossibleTexts = ((TextPart("/"),),)
    texts = [evaluator.texts(item) for item in node.args]
    return concat_texts(part for number, item in enumerate(texts) for part in ((slash, item) if number else (item,)))


def _call_join_or_path(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    """Evaluate `.join`: of a list of texts, or `os.path.join`, which has the same name."""
    if isinstance(target, ast.Attribute | ast.Name) and (getattr(target, "attr", "") or target.id) == "path":  # type: ignore[union-attr]
        return _call_path_join(evaluator, node)
    return _call_join(evaluator, target, node)


def _call_split(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> KnownValue:
    """Evaluate `.split` of a text literal."""
    value, *others = evaluator.texts(target)
    if others or len(value) != 1 or is_unknown_text((value,)) or len(node.args) > 1:
        return UNKNOWN_VALUE
    between = join_parts(evaluator.texts(node.args[0])[0]) if node.args else ""
    pattern = re.compile(rf"(?:(?!{re.escape(between)}).)+" if between else r"\S+", re.DOTALL)
    words = [slice_part(value[0], match.start(), match.end()) for match in pattern.finditer(value[0].text)]
    return KnownValue(items=tuple(KnownValue(((word,),)) for word in words))


def _call_items(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> KnownValue:
    entries = evaluator.known(target).entries
    if entries is None:
        return UNKNOWN_VALUE
    return KnownValue(items=tuple(KnownValue(items=(_text_value(key), entry)) for key, entry in entries.items()))


def _call_keys(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> KnownValue:
    entries = evaluator.known(target).entries
    return UNKNOWN_VALUE if entries is None else KnownValue(items=tuple(_text_value(key) for key in entries))


def _call_values(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> KnownValue:
    entries = evaluator.known(target).entries
    return UNKNOWN_VALUE if entries is None else KnownValue(items=tuple(entries.values()))


def _text_value(key: str) -> KnownValue:
    return KnownValue(((TextPart(key),),))


def _call_get(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> KnownValue:
    """Evaluate `.get`: an entry, or the default."""
    entries = evaluator.known(target).entries
    if entries is None or not node.args:
        return UNKNOWN_VALUE
    keys = evaluator.texts(node.args[0])
    otherwise = evaluator.known(node.args[1]) if len(node.args) > 1 else UNKNOWN_VALUE
    found = [entries.get(join_parts(key), otherwise) for key in keys]
    return found[0] if len(found) == 1 else KnownValue(union_texts(*(entry.texts for entry in found)))


def _call_list(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    """Evaluate `list`, `tuple` and the like: the items of the argument."""
    items = evaluator.items(node.args[0]) if len(node.args) == 1 else None
    return UNKNOWN_VALUE if items is None else KnownValue(items=items)


def _call_enumerate(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    items = evaluator.items(node.args[0]) if len(node.args) == 1 else None
    if items is None:
        return UNKNOWN_VALUE
    return KnownValue(
        items=tuple(KnownValue(items=(_text_value(str(number)), item)) for number, item in enumerate(items))
    )


def _call_zip(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    lists = [evaluator.items(item) for item in node.args]
    if not lists or any(items is None for items in lists):
        return UNKNOWN_VALUE
    rows = zip(*(items for items in lists if items is not None), strict=False)
    return KnownValue(items=tuple(KnownValue(items=row) for row in rows))


def _call_range(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    bounds = [item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, int)]
    if len(bounds) != len(node.args) or not 1 <= len(bounds) <= 3 or (len(bounds) == 3 and not bounds[2]):
        return UNKNOWN_VALUE
    numbers = range(*bounds)
    return (
        KnownValue(items=tuple(_text_value(str(number)) for number in numbers))
        if len(numbers) <= MAX_TEXTS
        else UNKNOWN_VALUE
    )


def _call_dict(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    before = (evaluator.known(node.args[0]).entries or {}) if node.args else {}
    return KnownValue(
        entries={**before, **{item.arg: evaluator.known(item.value) for item in node.keywords if item.arg}}
    )


def _call_locals(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    return KnownValue(entries=dict(evaluator.names.known))


TRANSPARENT_FUNCTIONS = frozenset("text SQL DDL dedent cleandoc str literal_text Template Path PurePath open".split())
"""Functions that return their text argument, as far as SQL is concerned; a file is known by its path."""

TRANSPARENT_METHODS = frozenset(
    "strip lstrip rstrip lower upper encode bindparams columns as_string render read read_text resolve".split()
)
"""Methods that leave a text as it is, as far as SQL is concerned."""

BUILTIN_FUNCTIONS: Mapping[str, Callable[[ValueEvaluator, ast.Call], KnownValue]] = {
    **dict.fromkeys(("list", "tuple", "set", "sorted", "reversed", "iter", "frozenset"), _call_list),
    "enumerate": _call_enumerate,
    "zip": _call_zip,
    "range": _call_range,
    "dict": _call_dict,
    "locals": _call_locals,
}
"""Functions that build lists and dictionaries from their arguments."""

BUILTIN_METHODS: Mapping[str, Callable[[ValueEvaluator, ast.expr, ast.Call], KnownValue | PossibleTexts]] = {
    "format": _call_format,
    "format_map": _call_format_map,
    "substitute": _call_substitute,
    "safe_substitute": _call_substitute,
    "replace": _call_replace,
    "join": _call_join_or_path,
    "joinpath": lambda evaluator, target, node: concat_texts(
        (evaluator.texts(target), ((TextPart("/"),),), _call_path_join(evaluator, node))
    ),
    "split": _call_split,
    "items": _call_items,
    "keys": _call_keys,
    "values": _call_values,
    "get": _call_get,
}
"""Methods of texts, lists and dictionaries whose result is known."""
