"""What PostgreSQL calls a column without an alias: after its column, its function, or the type that it is cast to."""

import re
from collections.abc import Callable

from sqlglot import exp

from lineage_pipeline.dialects.captions import NAMELESS, TYPE_NAMES

Figure = tuple[str, bool]
"""A name, and whether it is strong: a weak one gives way to what stands around the expression."""

_CALLED = re.compile(r"([A-Za-z_][\w$]*)\s*(\(|\Z)")
_OPENED = re.compile(r"(?:cast\s*)?\(\s*", re.IGNORECASE)
"""How a function is written, and what may stand before it."""


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
    return _function(node, text) if isinstance(node, exp.Func) else ("", False)


def _named(node: exp.Expr, text: str) -> Figure:
    return node.name.lower() if not node.this.args.get("quoted") else node.name, True


def _inner(node: exp.Expr, text: str) -> Figure:
    return _figure(node.this, text)


def _opened(node: exp.Expr, text: str) -> Figure:
    return _figure(node.this, _OPENED.sub("", text, count=1))


def _cast(node: exp.Expr, text: str) -> Figure:
    """A conversion: a column keeps its name, all else is called by the type."""
    if isinstance(node.this, exp.IntDiv):  # DIV(a, b), which the parser takes apart
        return "div", True
    name, strong = _figure(node.this, _OPENED.sub("", text) if text[:4].lower() == "cast" else text)
    return (name, True) if strong else (_type(node.args["to"]), False)


def _type(kind: exp.Expr) -> str:
    while kind.args.get("nested") and kind.expressions:
        kind = kind.expressions[0]
    if kind.this is exp.DType.USERDEFINED:
        return str(kind.args.get("kind") or "").lower()
    name = str(getattr(kind.this, "value", kind.this)).lower()
    return TYPE_NAMES.get(name, name)


def _case(node: exp.Expr, text: str) -> Figure:
    default = node.args.get("default")
    name, strong = _figure(default, "") if default is not None else ("", False)
    return (name, True) if strong else ("case", False)


def _query(node: exp.Expr, text: str) -> Figure:
    """A query that gives one value is called as its column."""
    while isinstance(node, exp.Subquery | exp.SetOperation):
        node = node.this
    first = node.expressions[0] if isinstance(node, exp.Select) and node.expressions else None
    if first is None or isinstance(first, exp.Star):
        return "", False
    return (first.alias, True) if isinstance(first, exp.Alias) else _figure(first, "")


def _always(name: str, strong: bool = True) -> Callable[[exp.Expr, str], Figure]:
    return lambda node, text: (name, strong)


def _member(node: exp.Expr, text: str) -> Figure:
    """A member of a row, or a function of a schema."""
    last = node.expression
    return (last.name.lower(), True) if isinstance(last, exp.Identifier | exp.Anonymous) else _figure(last, "")


def _trim(node: exp.Expr, text: str) -> Figure:
    written = _CALLED.match(text)
    if written is not None and written[1].lower() != "trim":
        return written[1].lower(), True
    return {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or ""), "btrim"), True


def _function(node: exp.Expr, text: str) -> Figure:
    """A function by the name that was written; one that was written as an operator has none."""
    written = _CALLED.match(text)
    if written is not None:
        return written[1].lower(), True
    if isinstance(node, exp.Anonymous):
        return node.name.lower(), True
    if text or isinstance(node, exp.Binary | exp.Connector) or not isinstance(node, exp.Func):
        return "", False
    return node.sql_name().lower(), True


_FIGURES: dict[type[exp.Expr], Callable[[exp.Expr, str], Figure]] = {
    exp.And: _always("", False),
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
    exp.Paren: _opened,
    exp.Trim: _trim,
    exp.Tuple: _always("row"),
    exp.Window: _inner,
    exp.WithinGroup: _inner,
}
