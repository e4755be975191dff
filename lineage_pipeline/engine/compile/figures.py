"""What PostgreSQL calls a column without an alias: after its column, its function, or the type that it is cast to."""

import re
from collections.abc import Callable

from sqlglot import exp

from lineage_pipeline.dialects.captions import BARE, NAMELESS, SHORT_DIGITS, TYPE_NAMES
from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.engine.compile.words import SIGN

Figure = tuple[str, bool]
"""A name, and whether it is strong: a weak one gives way to what stands around the expression."""

_WORD = re.compile(r"([A-Za-z_][\w$]*)\s*")
_OPENED = re.compile(r"(?:cast\s*)?\(\s*", re.IGNORECASE)
_BEHIND = re.compile(r"\s*(?:\Z|::|\)|\[|,|(?:as|over|filter|within|collate|end|from)\b)", re.IGNORECASE)
"""A name, what may stand before a function, and what may stand behind one that is no part of a larger expression."""

_WINDOWED = re.compile(r"\s*(?:over|filter|within)\b", re.IGNORECASE)
_SELECTED = re.compile(r"\(*\s*select\s+(?:distinct\s+)?", re.IGNORECASE)
_NESTING = re.compile(r"'[^']*'|\"[^\"]*\"|[()]|\b(?:case|else|end)\b", re.IGNORECASE)


def figured(node: exp.Expr, text: str) -> str:
    """The name of a column that is an expression, written as this text."""
    return _figure(node, text.strip())[0] or NAMELESS


def _figure(node: exp.Expr, text: str) -> Figure:
    special = _FIGURES.get(type(node))
    if special is not None:
        return special(node, text)
    if isinstance(node, exp.Cast):
        return _cast(node, text)
    if isinstance(node, exp.Query):
        return _query(node, text)
    if type(node) in _SIGNS:
        return "", False
    called = _called(text)
    if called and not (isinstance(node, exp.Binary) and _WINDOWED.match(text, _closed(text, text.find("(")))):
        return called, True
    if text or not isinstance(node, exp.Func) or isinstance(node, exp.Binary | exp.Connector):
        return "", False
    return (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower(), True


_SIGNS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.DPipe)
"""Operators that are never written as functions, so that a function before one names nothing."""


def _called(text: str) -> str:
    """The function that a text calls, and nothing else; one that is written as an operator has no name."""
    word = _WORD.match(text)
    if word is None:
        return ""
    end = word.end()
    if text[end : end + 1] == "(":
        end = _closed(text, end)
    elif word[1].upper() not in BARE:
        return ""
    return word[1].lower() if end and _BEHIND.match(text, end) else ""


def _closed(text: str, start: int) -> int:
    """Where the bracket that opens at a place is closed, or 0."""
    depth, quote = 0, ""
    for index in range(start, len(text)):
        sign = text[index]
        if quote or sign in "'\"":
            quote = "" if sign == quote else quote or sign
        elif sign in "()":
            depth += 1 if sign == "(" else -1
            if not depth:
                return index + 1
    return 0


def _named(node: exp.Expr, text: str) -> Figure:
    return node.name.lower() if not node.this.args.get("quoted") else node.name, True


def _inner(node: exp.Expr, text: str) -> Figure:
    return _figure(node.this, text)


def _opened(node: exp.Expr, text: str) -> Figure:
    if SIGN in node.meta:
        return "", False
    return _figure(node.this, _OPENED.sub("", text, count=1))


def _cast(node: exp.Expr, text: str) -> Figure:
    """A conversion: a column keeps its name, all else is called by the type."""
    if isinstance(node.this, exp.IntDiv):  # DIV(a, b), which the parser takes apart
        return "div", True
    name, strong = _figure(node.this, _OPENED.sub("", text, count=1) if text[:4].lower() == "cast" else text)
    return (name, True) if strong else (_type(node.args["to"]), False)


def _type(kind: exp.Expr) -> str:
    while kind.args.get("nested") and kind.expressions:
        kind = kind.expressions[0]
    if isinstance(kind.this, exp.Interval):
        return "interval"
    if kind.this is exp.DType.USERDEFINED:
        return str(kind.args.get("kind") or "").lower().strip('"')
    name = str(getattr(kind.this, "value", kind.this)).lower()
    if name == "double" and kind.expressions and whole_number(kind.expressions[0].name) <= SHORT_DIGITS:
        name = "float"
    return TYPE_NAMES.get(name, name)


def _case(node: exp.Expr, text: str) -> Figure:
    default = node.args.get("default")
    name, strong = _figure(default, _otherwise(text)) if default is not None else ("", False)
    return (name, True) if strong else ("case", False)


def _otherwise(text: str) -> str:
    """What stands behind the ELSE of a CASE."""
    brackets = cases = 0
    for match in _NESTING.finditer(text):
        word = match[0].lower()
        brackets += (word == "(") - (word == ")")
        cases += (word == "case") - (word == "end")
        if word == "else" and cases == 1 and not brackets:
            return text[match.end() :].strip()
    return ""


def _query(node: exp.Expr, text: str) -> Figure:
    """A query that gives one value is called as its column."""
    while isinstance(node, exp.Subquery | exp.SetOperation):
        node = node.this
    first = node.expressions[0] if isinstance(node, exp.Select) and node.expressions else None
    if first is None or isinstance(first, exp.Star):
        return "", False
    inside = _SELECTED.sub("", text, count=1) if _SELECTED.match(text) else ""
    return (first.alias, True) if isinstance(first, exp.Alias) else _figure(first, inside)


def _always(name: str, strong: bool = True) -> Callable[[exp.Expr, str], Figure]:
    return lambda node, text: (name, strong)


def _document(node: exp.Expr, text: str) -> Figure:
    """`json '…'`, which the parser takes for a function."""
    return ("json", False) if node.args.get("is_literal") else (_called(text), True)


def _member(node: exp.Expr, text: str) -> Figure:
    """A member of a row, or a function of a schema."""
    last = node.expression
    return (last.name.lower(), True) if isinstance(last, exp.Identifier | exp.Anonymous) else _figure(last, "")


def _trim(node: exp.Expr, text: str) -> Figure:
    written = _called(text)
    if written not in ("", "trim"):
        return written, True
    return {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or ""), "btrim"), True


_FIGURES: dict[type[exp.Expr], Callable[[exp.Expr, str], Figure]] = {
    exp.And: _always("", False),
    exp.Not: _always("", False),
    exp.Or: _always("", False),
    exp.Array: _always("array"),
    exp.AtTimeZone: _always("timezone"),
    exp.Bracket: _inner,
    exp.Case: _case,
    exp.Collate: _inner,
    exp.Column: _named,
    exp.Dot: _member,
    exp.Exists: _always("exists"),
    exp.Filter: _inner,
    exp.Interval: _always("interval", False),
    exp.Overlaps: _always("overlaps"),
    exp.Paren: _opened,
    exp.ParseJSON: _document,
    exp.Trim: _trim,
    exp.Tuple: _always("row"),
    exp.Window: _inner,
    exp.WithinGroup: _inner,
}
