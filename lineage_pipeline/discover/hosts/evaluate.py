"""What expressions of Python come to, as far as they are texts that are known before the program runs."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from lineage_pipeline.discover.hosts.literals import Field, pieces_of
from lineage_pipeline.discover.hosts.values import (
    UNKNOWN,
    Part,
    Texts,
    Value,
    either,
    joined,
    substituted,
    text_of,
)
from lineage_pipeline.vocabulary.analysis import HOLE
from lineage_pipeline.vocabulary.places import line_starts

FORMAT_FIELD = re.compile(r"\{\{|\}\}|\{(\w*)[^{}]*\}")
PERCENT_FIELD = re.compile(r"%(?:\((\w+)\))?[#0\- +]*(?:\*|\d+)?(?:\.\d+)?[diouxXeEfFgGcrsa%]")
UNKNOWN_PART = Part(HOLE)


class Source(msgspec.Struct, frozen=True):
    """A piece of a program, and where it begins in the file."""

    text: str
    lines: tuple[int, ...]
    base: int = 0

    @classmethod
    def of(cls, text: str, base: int = 0) -> "Source":
        """Take a text apart into lines."""
        return cls(text, line_starts(text), base)

    def offset(self, line: int, column: int) -> int:
        """Give the offset of a place that Python counts in bytes."""
        start = self.lines[line - 1]
        rest = self.text[start : start + column]
        if rest.isascii():
            return start + column
        return start + len(self.text[start:].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))

    def written(self, node: ast.expr) -> tuple[str, int]:
        """Give what stands in the file for an expression, and where."""
        start = self.offset(node.lineno, node.col_offset)
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return self.text[start:end], self.base + start


class Names(msgspec.Struct):
    """What is known of names at a place of the program: texts, lists of texts, and texts by key."""

    texts: dict[str, Texts] = {}
    lists: dict[str, list[Texts]] = {}
    tables: dict[str, dict[str, Texts]] = {}

    def copy(self) -> "Names":
        """Give what a branch starts with."""
        return Names(dict(self.texts), dict(self.lists), dict(self.tables))


class Evaluator:
    """Expressions of one piece of a program."""

    def __init__(self, source: Source, names: Names) -> None:
        """Start with what is known."""
        self.source = source
        self.names = names

    def texts(self, node: ast.expr | None) -> Texts:
        """Give the texts that an expression may come to."""
        if node is None:
            return UNKNOWN
        evaluate = EXPRESSIONS.get(type(node))
        found = evaluate(self, node) if evaluate is not None else UNKNOWN
        return self.placed(node) if found == UNKNOWN else found

    def placed(self, node: ast.expr) -> Texts:
        """Give a hole that knows where it stands: parts without text are its ends."""
        written, at = self.source.written(node)
        return ((Part("", at), UNKNOWN_PART, Part("", at + len(written))),)

    def items(self, node: ast.expr | None) -> list[Texts] | None:
        """Give the items of a list that is written out, or None."""
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return [self.texts(item) for item in node.elts]
        if isinstance(node, ast.Name):
            return self.names.lists.get(node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "values":
            table = self.names.tables.get(name_of(node.func.value))
            return list(table.values()) if table is not None else None
        return None

    def table(self, node: ast.expr | None) -> dict[str, Texts] | None:
        """Give the entries of a dictionary that is written out, or None."""
        if not isinstance(node, ast.Dict):
            return None
        return {
            key.value: self.texts(value)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        }

    def literal(self, node: ast.expr) -> Texts:
        """Give a literal, with the values of its fields."""
        pieces = pieces_of(*self.source.written(node))
        if pieces is None:
            return UNKNOWN
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
            tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError):
            return UNKNOWN
        found = Evaluator(Source.of(text, field.at + lead), self.names).texts(tree)
        return tuple((UNKNOWN_PART,) if UNKNOWN_PART in value and len(value) == 3 else value for value in found)


def name_of(node: ast.expr) -> str:
    """Give the name of a variable, `self.x` included, or nothing."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{'self' if node.value.id in ('self', 'cls') else node.value.id}.{node.attr}"
    return ""


def _constant(evaluator: Evaluator, node: ast.Constant) -> Texts:
    if isinstance(node.value, str):
        return evaluator.literal(node)
    if isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return ((Part(str(node.value)),),)
    return UNKNOWN


def _named(evaluator: Evaluator, node: ast.expr) -> Texts:
    return evaluator.names.texts.get(name_of(node), UNKNOWN)


def _subscript(evaluator: Evaluator, node: ast.Subscript) -> Texts:
    table = evaluator.names.tables.get(name_of(node.value), {})
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    return table.get(key, UNKNOWN) if isinstance(key, str) else UNKNOWN


def _operation(evaluator: Evaluator, node: ast.BinOp) -> Texts:
    if isinstance(node.op, ast.Add):
        return joined((evaluator.texts(node.left), evaluator.texts(node.right)))
    if isinstance(node.op, ast.Mod):
        return tuple(_percent(value, node.right, evaluator) for value in evaluator.texts(node.left))
    return UNKNOWN


def _percent(value: Value, right: ast.expr, evaluator: Evaluator) -> Value:
    """Give a text with its `%s` filled from what stands behind it."""
    listed = (
        [evaluator.texts(item) for item in right.elts] if isinstance(right, ast.Tuple) else [evaluator.texts(right)]
    )
    named = evaluator.table(right) or {}
    positions = iter(listed)

    def filler(match: re.Match[str]) -> Value | None:
        if match[0].endswith("%"):
            return (Part("%"),)
        found = named.get(match[1]) if match[1] else next(positions, None)
        return found[0] if found else (UNKNOWN_PART,)

    return substituted(value, PERCENT_FIELD, filler)


def _choice(evaluator: Evaluator, node: ast.IfExp) -> Texts:
    return either(evaluator.texts(node.body), evaluator.texts(node.orelse))


def _assigned(evaluator: Evaluator, node: ast.NamedExpr) -> Texts:
    return evaluator.texts(node.value)


def _called(evaluator: Evaluator, node: ast.Call) -> Texts:
    """Give what the calls come to that leave a text as it is, or fill it."""
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in TRANSPARENT and node.args:
        return evaluator.texts(node.args[0])
    if name == "Identifier" and node.args:
        (begin, _, end), *_ = evaluator.placed(node)
        return tuple((begin, Part('"'), *value, Part('"'), end) for value in evaluator.texts(node.args[0]))
    if not isinstance(function, ast.Attribute):
        return UNKNOWN
    if name in UNCHANGED:
        return evaluator.texts(function.value)
    method = METHODS.get(name)
    return method(evaluator, function.value, node) if method is not None else UNKNOWN


def formatted(value: Value, positional: Sequence[Texts], named: Mapping[str, Texts]) -> Value:
    """Give a text with its `{x}` filled; what nobody knows is a hole."""
    count = iter(range(len(positional)))

    def filler(match: re.Match[str]) -> Value | None:
        if match[0] in ("{{", "}}"):
            return (Part(match[0][0]),)
        if match[1] and not match[1].isdigit():
            return named.get(match[1], UNKNOWN)[0]
        index = int(match[1]) if match[1] else next(count, len(positional))
        return positional[index][0] if index < len(positional) else (UNKNOWN_PART,)

    return substituted(value, FORMAT_FIELD, filler)


def _format(evaluator: Evaluator, target: ast.expr, node: ast.Call) -> Texts:
    positional = [evaluator.texts(item) for item in node.args]
    named = {item.arg: evaluator.texts(item.value) for item in node.keywords if item.arg}
    return tuple(formatted(value, positional, named) for value in evaluator.texts(target))


def _replace(evaluator: Evaluator, target: ast.expr, node: ast.Call) -> Texts:
    old = evaluator.texts(node.args[0])[0] if len(node.args) > 1 else (UNKNOWN_PART,)
    if UNKNOWN_PART in old or not text_of(old):
        return UNKNOWN
    new = evaluator.texts(node.args[1])[0]
    pattern = re.compile(re.escape(text_of(old)))
    return tuple(substituted(value, pattern, lambda match: new) for value in evaluator.texts(target))


def _join(evaluator: Evaluator, target: ast.expr, node: ast.Call) -> Texts:
    items = evaluator.items(node.args[0]) if node.args else None
    between = evaluator.texts(target)
    if items is None:
        return UNKNOWN
    return joined(part for number, item in enumerate(items) for part in ((between, item) if number else (item,)))


TRANSPARENT = frozenset({"text", "SQL", "DDL", "dedent", "cleandoc", "str", "literal_text"})
"""Functions that give the text they are given, as far as SQL goes."""

UNCHANGED = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "encode", "bindparams", "columns", "as_string"})
"""Methods that leave a text as it is, as far as SQL goes."""

METHODS: Mapping[str, Callable[[Evaluator, ast.expr, ast.Call], Texts]] = {
    "format": _format,
    "replace": _replace,
    "join": _join,
}
"""Methods of texts that make others of them."""

EXPRESSIONS: Mapping[type, Callable[..., Texts]] = {
    ast.Constant: _constant,
    ast.JoinedStr: Evaluator.literal,
    ast.Name: _named,
    ast.Attribute: _named,
    ast.Subscript: _subscript,
    ast.BinOp: _operation,
    ast.IfExp: _choice,
    ast.NamedExpr: _assigned,
    ast.Call: _called,
}
"""Who evaluates an expression, by its kind."""
