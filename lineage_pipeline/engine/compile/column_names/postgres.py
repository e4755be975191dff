"""PostgreSQL's names of columns without an alias: the column, the function, or the type of a cast."""

import re
from collections.abc import Callable

from sqlglot import exp

from lineage_pipeline.dialects.column_names import BARE_FUNCTIONS
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.postgres_column_names import INTERNAL_TYPE_NAMES, MAX_REAL_DIGITS, UNNAMED_COLUMN
from lineage_pipeline.engine.compile.tokens import UNARY_PLUS

NameCandidate = tuple[str, bool]
"""A name, and whether it is strong: a weak one yields to what surrounds the expression."""

_NAME_PATTERN = re.compile(r"([A-Za-z_][\w$]*)\s*")
_CAST_OR_PAREN = re.compile(r"(?:cast\s*)?\(\s*", re.IGNORECASE)
_AFTER_CALL = re.compile(r"\s*(?:\Z|::|\)|\[|,|(?:as|over|filter|within|collate|end|from)\b)", re.IGNORECASE)
"""What may follow a function call that is not part of a larger expression."""

_CALL_CLAUSE = re.compile(r"\s*(?:over|filter|within)\b", re.IGNORECASE)
_SUBQUERY_START = re.compile(r"\(*\s*select\s+(?:distinct\s+)?", re.IGNORECASE)
_NESTING_TOKEN = re.compile(r"'[^']*'|\"[^\"]*\"|[()]|\b(?:case|else|end)\b", re.IGNORECASE)


def derive_postgres_name(node: exp.Expr, text: str) -> str:
    """The name of a column that is an expression, written as this text."""
    return _derive_name(node, text.strip())[0] or UNNAMED_COLUMN


def _derive_name(node: exp.Expr, text: str) -> NameCandidate:
    special = _CANDIDATES.get(type(node))
    if special is not None:
        return special(node, text)
    if isinstance(node, exp.Cast):
        return _cast_candidate(node, text)
    if isinstance(node, exp.Query):
        return _query_candidate(node, text)
    if type(node) in _SIGN_OPERATORS:
        return "", False
    called = _called_function(text)
    if called and not (
        isinstance(node, exp.Binary) and _CALL_CLAUSE.match(text, _find_closing_paren(text, text.find("(")))
    ):
        return called, True
    if text or not isinstance(node, exp.Func) or isinstance(node, exp.Binary | exp.Connector):
        return "", False
    return (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower(), True


_SIGN_OPERATORS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.DPipe)
"""Operators that are never written as functions, so that a function before one gives no name."""


def _called_function(text: str) -> str:
    """The function that a text calls, if the text is that call alone."""
    word = _NAME_PATTERN.match(text)
    if word is None:
        return ""
    end = word.end()
    if text[end : end + 1] == "(":
        end = _find_closing_paren(text, end)
    elif word[1].upper() not in BARE_FUNCTIONS:
        return ""
    return word[1].lower() if end and _AFTER_CALL.match(text, end) else ""


def _find_closing_paren(text: str, start: int) -> int:
    """The index after the parenthesis that closes the one at an index, or 0."""
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


def _column_candidate(node: exp.Expr, text: str) -> NameCandidate:
    return node.name.lower() if not node.this.args.get("quoted") else node.name, True


def _inner_candidate(node: exp.Expr, text: str) -> NameCandidate:
    return _derive_name(node.this, text)


def _paren_candidate(node: exp.Expr, text: str) -> NameCandidate:
    if UNARY_PLUS in node.meta:
        return "", False
    return _derive_name(node.this, _CAST_OR_PAREN.sub("", text, count=1))


def _cast_candidate(node: exp.Expr, text: str) -> NameCandidate:
    """A cast: a column keeps its name, all else is named after the type."""
    if isinstance(node.this, exp.IntDiv):  # DIV(a, b), which the parser takes apart
        return "div", True
    name, strong = _derive_name(
        node.this, _CAST_OR_PAREN.sub("", text, count=1) if text[:4].lower() == "cast" else text
    )
    return (name, True) if strong else (_type_candidate(node.args["to"]), False)


def _type_candidate(kind: exp.Expr) -> str:
    while kind.args.get("nested") and kind.expressions:
        kind = kind.expressions[0]
    if isinstance(kind.this, exp.Interval):
        return "interval"
    if kind.this is exp.DType.USERDEFINED:
        return str(kind.args.get("kind") or "").lower().strip('"')
    name = str(getattr(kind.this, "value", kind.this)).lower()
    if name == "double" and kind.expressions and parse_whole_number(kind.expressions[0].name) <= MAX_REAL_DIGITS:
        name = "float"
    return INTERNAL_TYPE_NAMES.get(name, name)


def _case_candidate(node: exp.Expr, text: str) -> NameCandidate:
    default = node.args.get("default")
    name, strong = _derive_name(default, _else_text(text)) if default is not None else ("", False)
    return (name, True) if strong else ("case", False)


def _else_text(text: str) -> str:
    """The text after the ELSE of a CASE."""
    brackets = cases = 0
    for match in _NESTING_TOKEN.finditer(text):
        word = match[0].lower()
        brackets += (word == "(") - (word == ")")
        cases += (word == "case") - (word == "end")
        if word == "else" and cases == 1 and not brackets:
            return text[match.end() :].strip()
    return ""


def _query_candidate(node: exp.Expr, text: str) -> NameCandidate:
    """A scalar subquery is named after its column."""
    while isinstance(node, exp.Subquery | exp.SetOperation):
        node = node.this
    first = node.expressions[0] if isinstance(node, exp.Select) and node.expressions else None
    if first is None or isinstance(first, exp.Star):
        return "", False
    inside = _SUBQUERY_START.sub("", text, count=1) if _SUBQUERY_START.match(text) else ""
    return (first.alias, True) if isinstance(first, exp.Alias) else _derive_name(first, inside)


def _fixed_candidate(name: str, strong: bool = True) -> Callable[[exp.Expr, str], NameCandidate]:
    return lambda node, text: (name, strong)


def _json_candidate(node: exp.Expr, text: str) -> NameCandidate:
    """`json '…'`, which sqlglot reads as a function."""
    return ("json", False) if node.args.get("is_literal") else (_called_function(text), True)


def _member_candidate(node: exp.Expr, text: str) -> NameCandidate:
    """A member of a row, or a function with its schema."""
    last = node.expression
    return (last.name.lower(), True) if isinstance(last, exp.Identifier | exp.Anonymous) else _derive_name(last, "")


def _trim_candidate(node: exp.Expr, text: str) -> NameCandidate:
    written = _called_function(text)
    if written not in ("", "trim"):
        return written, True
    return {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or ""), "btrim"), True


_CANDIDATES: dict[type[exp.Expr], Callable[[exp.Expr, str], NameCandidate]] = {
    exp.And: _fixed_candidate("", False),
    exp.Not: _fixed_candidate("", False),
    exp.Or: _fixed_candidate("", False),
    exp.Array: _fixed_candidate("array"),
    exp.AtTimeZone: _fixed_candidate("timezone"),
    exp.Bracket: _inner_candidate,
    exp.Case: _case_candidate,
    exp.Collate: _inner_candidate,
    exp.Column: _column_candidate,
    exp.Dot: _member_candidate,
    exp.Exists: _fixed_candidate("exists"),
    exp.Filter: _inner_candidate,
    exp.Interval: _fixed_candidate("interval", False),
    exp.Overlaps: _fixed_candidate("overlaps"),
    exp.Paren: _paren_candidate,
    exp.ParseJSON: _json_candidate,
    exp.Trim: _trim_candidate,
    exp.Tuple: _fixed_candidate("row"),
    exp.Window: _inner_candidate,
    exp.WithinGroup: _inner_candidate,
}
