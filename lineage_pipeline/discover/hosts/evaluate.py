"""What expressions of Python come to, as far as they are known before the program runs."""

import ast
from collections.abc import Callable, Iterator, Mapping

from lineage_pipeline.discover.hosts.calls import FUNCTIONS, METHODS, TRANSPARENT, UNCHANGED, percent
from lineage_pipeline.discover.hosts.imports import Constants, imported_value, no_constants
from lineage_pipeline.discover.hosts.known import (
    NOTHING,
    Function,
    Known,
    Names,
    Source,
    name_of,
    one_of,
)
from lineage_pipeline.discover.hosts.literals import Field, pieces_of
from lineage_pipeline.discover.hosts.syntax import BROKEN, expression
from lineage_pipeline.discover.hosts.values import (
    MOST,
    UNKNOWN,
    UNKNOWN_PART,
    Part,
    Texts,
    Value,
    choices_of,
    either,
    is_unknown,
    joined,
    plain,
    text_of,
)
from lineage_pipeline.vocabulary.analysis import HOLE

Run = Callable[[Function, Mapping[str, Known]], Known]
"""Who says what a function gives for what it is given."""


class Evaluator:
    """Expressions of one piece of a program."""

    def __init__(self, source: Source, names: Names, run: Run, constants: Constants = no_constants) -> None:
        """Start with what is known, who runs the functions of the program, and who knows what it imports."""
        self.constants = constants
        self.source = source
        self.names = names
        self.run = run

    def known(self, node: ast.expr | None) -> Known:
        """Give what is known of an expression."""
        evaluate = EXPRESSIONS.get(type(node))
        found = evaluate(self, node) if evaluate is not None else NOTHING
        if isinstance(found, Known):
            return found
        return NOTHING if found is UNKNOWN else Known(found)

    def texts(self, node: ast.expr | None) -> Texts:
        """Give the texts that an expression may come to."""
        if node is None:
            return UNKNOWN
        found = self.known(node).texts
        return self.placed(node) if is_unknown(found) else found

    def placed(self, node: ast.expr) -> Texts:
        """Give a hole that knows where it stands: parts without text are its ends."""
        written, at = self.source.written(node)
        return ((Part("", at), UNKNOWN_PART, Part("", at + len(written))),)

    def items(self, node: ast.expr | None) -> tuple[Known, ...] | None:
        """Give what one meets when going through a value, or None where that is not known."""
        found = self.known(node)
        if found.items is None and found.entries is not None:
            return tuple(Known(((Part(key),),)) for key in found.entries)
        return found.items

    def literal(self, node: ast.expr) -> Texts:
        """Give a literal, with the values of its fields."""
        pieces = pieces_of(*self.source.written(node))
        if pieces is None:
            return UNKNOWN
        whole = tuple(piece for piece in pieces if isinstance(piece, Part))
        if len(whole) == len(pieces):
            return (whole,)
        return joined(self.field(piece) if isinstance(piece, Field) else ((piece,),) for piece in pieces)

    def field(self, field: Field) -> Texts:
        """Give what a field of a formatted string comes to, between its brackets."""
        ends = ((Part("", field.at - 1),),), ((Part("", field.end),),)
        return joined((ends[0], self.inside(field), ends[1]))

    def inside(self, field: Field) -> Texts:
        """Give what the expression of a field comes to; its own place is not of interest."""
        lead = len(field.expression) - len(field.expression.lstrip())
        text = field.expression.strip()
        try:
            tree = expression(text)
        except BROKEN:
            return UNKNOWN
        found = Evaluator(Source.of(text, field.at + lead), self.names, self.run, self.constants).texts(tree)
        return tuple(_hole(value) if text_of(value) == HOLE else value for value in found)

    def given(self, function: Function, node: ast.Call) -> dict[str, Known]:
        """Give what a call gives to the parameters of a function that it names."""
        given: dict[str, Known] = {}
        for name, default in function.defaults():
            given[name] = Evaluator(function.source, self.names, self.run, self.constants).known(default)
        given |= zip(function.parameters(), (self.known(item) for item in node.args), strict=False)
        given |= {item.arg: self.known(item.value) for item in node.keywords if item.arg}
        return given

    def bound(self, target: ast.expr, value: Known) -> None:
        """Let names stand for a value, or for the parts of it that they are unpacked to."""
        if isinstance(target, ast.Tuple | ast.List):
            items = value.items if value.items is not None and len(value.items) == len(target.elts) else None
            for place, part in enumerate(target.elts):
                self.bound(part, items[place] if items is not None else NOTHING)
        elif isinstance(target, ast.Starred):
            self.bound(target.value, NOTHING)
        elif isinstance(target, ast.Subscript):
            self.entered(target, value)
        elif name := name_of(target):
            self.names.known[name] = value

    def entered(self, target: ast.Subscript, value: Known) -> None:
        """Let an entry of a dictionary be a value."""
        before, keys = self.known(target.value), self.texts(target.slice)
        if before.entries is not None and len(keys) == 1 and not is_unknown(keys) and name_of(target.value):
            entries = {**before.entries, text_of(keys[0]): value}
            self.names.known[name_of(target.value)] = Known(before.texts, before.items, entries)


def _hole(value: Value) -> Value:
    return (*(Part("", choice=choice) for choice in choices_of(value)), UNKNOWN_PART)


def _constant(evaluator: Evaluator, node: ast.Constant) -> Texts:
    if isinstance(node.value, str):
        return evaluator.literal(node)
    if isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return ((Part(str(node.value)),),)
    return UNKNOWN


def _named(evaluator: Evaluator, node: ast.expr) -> Known:
    found = evaluator.names.known.get(name_of(node))
    if found is None and isinstance(node, ast.Attribute) and node.attr == "value":  # of a member of an enumeration
        return evaluator.known(node.value)
    return found or imported_value(node, evaluator.names, evaluator.source, evaluator.constants)


def _subscript(evaluator: Evaluator, node: ast.Subscript) -> Known:
    """Give an entry or an item: each that the key may name."""
    base = evaluator.known(node.value)
    if base.items is None and base.entries is None:
        return NOTHING
    index = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if base.items is not None and isinstance(index, int):
        return base.items[index] if -len(base.items) <= index < len(base.items) else NOTHING
    entries = base.entries or {}
    found = []
    for key in evaluator.texts(node.slice):
        entry = entries.get(text_of(key), NOTHING)
        for choice in choices_of(key):
            entry = entry.under(choice)
        found.append(entry)
    return found[0] if len(found) == 1 else Known(either(*(entry.texts for entry in found)))


def _operation(evaluator: Evaluator, node: ast.BinOp) -> Known | Texts:
    if isinstance(node.op, ast.Mod):
        return either(*(percent(value, node.right, evaluator) for value in evaluator.texts(node.left)))
    if isinstance(node.op, ast.Div):  # a path
        return joined((evaluator.texts(node.left), ((Part("/"),),), evaluator.texts(node.right)))
    if not isinstance(node.op, ast.Add):
        return UNKNOWN
    left, right = evaluator.known(node.left), evaluator.known(node.right)
    if left.items is not None and right.items is not None:
        return Known(items=left.items + right.items)
    return joined((evaluator.texts(node.left), evaluator.texts(node.right)))


def _choice(evaluator: Evaluator, node: ast.IfExp) -> Known:
    return one_of([evaluator.known(node.body), evaluator.known(node.orelse)], evaluator.names.choice())


def _first_true(evaluator: Evaluator, node: ast.BoolOp) -> Known:
    """Give either side of `a or b`."""
    return one_of([evaluator.known(value) for value in node.values], evaluator.names.choice())


def _valued(evaluator: Evaluator, node: ast.NamedExpr | ast.Await) -> Known:
    return evaluator.known(node.value)


def _listed(evaluator: Evaluator, node: ast.List | ast.Tuple | ast.Set) -> Known:
    found: list[Known] = []
    for item in node.elts:
        if not isinstance(item, ast.Starred):
            found.append(evaluator.known(item))
            continue
        spread = evaluator.items(item.value)
        if spread is None:
            return NOTHING
        found.extend(spread)
    return Known(items=tuple(found))


def _table(evaluator: Evaluator, node: ast.Dict) -> Known:
    """Give a dictionary as far as its keys are known."""
    entries: dict[str, Known] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            entries |= evaluator.known(value).entries or {}
            continue
        for text in evaluator.texts(key):
            entries[text_of(text)] = evaluator.known(value)
    return Known(entries=entries)


def _comprehended(evaluator: Evaluator, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Known:
    """Give the items that one for each of others comes to."""
    found = []
    for inner in _turns(evaluator, node.generators):
        found.append(inner.known(node.elt))
        if len(found) > MOST:
            return NOTHING
    return Known(items=tuple(found)) if found else NOTHING


def _table_of(evaluator: Evaluator, node: ast.DictComp) -> Known:
    entries: dict[str, Known] = {}
    for inner in _turns(evaluator, node.generators):
        (key, *others) = inner.texts(node.key)
        if others or len(entries) > MOST:
            return NOTHING
        entries[text_of(key)] = inner.known(node.value)
    return Known(entries=entries) if entries else NOTHING


def _turns(evaluator: Evaluator, loops: list[ast.comprehension]) -> Iterator[Evaluator]:
    """Give an evaluator for each turn of loops inside of each other, or none where a list is not known."""
    if not loops:
        yield evaluator
        return
    for item in evaluator.items(loops[0].iter) or ():
        inner = Evaluator(evaluator.source, evaluator.names.copy(), evaluator.run)
        inner.bound(loops[0].target, item)
        yield from _turns(inner, loops[1:])


def _called(evaluator: Evaluator, node: ast.Call) -> Known | Texts:
    """Give what calls come to: of the program's own functions, or that leave a text as it is, or make another of it."""
    function = node.func
    own = evaluator.names.functions.get(name_of(function))
    if own is not None:
        return evaluator.run(own, evaluator.given(own, node))
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in TRANSPARENT and node.args:
        return evaluator.texts(node.args[0])
    if name == "Identifier" and node.args:
        (begin, _, end), *_ = evaluator.placed(node)
        return tuple((begin, Part('"'), *plain(value), Part('"'), end) for value in evaluator.texts(node.args[0]))
    if name in FUNCTIONS:
        return FUNCTIONS[name](evaluator, node)
    if not isinstance(function, ast.Attribute):
        return NOTHING
    if name in UNCHANGED:
        return evaluator.texts(function.value)
    method = METHODS.get(name)
    return method(evaluator, function.value, node) if method is not None else NOTHING


EXPRESSIONS: Mapping[type, Callable[..., Known | Texts]] = {
    ast.Constant: _constant,
    ast.JoinedStr: Evaluator.literal,
    ast.Name: _named,
    ast.Attribute: _named,
    ast.Subscript: _subscript,
    ast.BinOp: _operation,
    ast.BoolOp: _first_true,
    ast.IfExp: _choice,
    ast.NamedExpr: _valued,
    ast.Await: _valued,
    ast.List: _listed,
    ast.Tuple: _listed,
    ast.Set: _listed,
    ast.Dict: _table,
    ast.ListComp: _comprehended,
    ast.SetComp: _comprehended,
    ast.GeneratorExp: _comprehended,
    ast.DictComp: _table_of,
    ast.Call: _called,
}
"""Who evaluates an expression, by its kind."""
