"""PostgreSQL's names of columns without an alias: the column, the function, or the type of a cast.

It prints nothing and only picks a word, so that the printer of the other dialects does not help. The tree says what an
expression is, and the tokens of the source say which function was written, since the parser renames some of them.
"""

from collections.abc import Callable, Sequence

from sqlglot import exp
from sqlglot.tokens import Token

from lineage_pipeline.dialects.column_names import BARE_FUNCTIONS
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.postgres import INTERNAL_TYPE_NAMES, MAX_REAL_DIGITS, UNNAMED_COLUMN
from lineage_pipeline.engine.compile.tokens import STRING_TOKENS, UNARY_PLUS, is_open_paren_at, keyword, skip_brackets

NameCandidate = tuple[str, bool]
"""A name, and whether it is strong: a weak one yields to what surrounds the expression."""

_CALL_CLAUSES = frozenset({"OVER", "FILTER", "WITHIN"})
_AFTER_CALL = _CALL_CLAUSES | frozenset({"", "::", ")", "[", ",", "AS", "COLLATE", "END", "FROM"})
"""What may follow a function call that is not part of a larger expression."""


def derive_postgres_name(node: exp.Expr, tokens: Sequence[Token]) -> str:
    """The name of a column that is an expression, written with these tokens."""
    return _derive_name(node, tokens)[0] or UNNAMED_COLUMN


def _derive_name(node: exp.Expr, tokens: Sequence[Token]) -> NameCandidate:
    special = _CANDIDATES.get(type(node))
    if special is not None:
        return special(node, tokens)
    if isinstance(node, exp.Cast):
        return _cast_candidate(node, tokens)
    if isinstance(node, exp.Query):
        return _query_candidate(node, tokens)
    called, following = _read_call(tokens)
    if called and not (isinstance(node, exp.Binary) and following in _CALL_CLAUSES):
        return called, True
    if tokens or not isinstance(node, exp.Func) or isinstance(node, exp.Binary | exp.Connector):
        return "", False
    return (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower(), True


def _read_call(tokens: Sequence[Token]) -> tuple[str, str]:
    """The function that tokens call, if they are that call alone, and the keyword behind it."""
    word = keyword(tokens[0]) if tokens and tokens[0].token_type not in STRING_TOKENS else ""
    if not word[:1].isalpha() and word[:1] != "_":
        return "", ""
    if not is_open_paren_at(tokens, 1) and word not in BARE_FUNCTIONS:
        return "", ""
    end = skip_brackets(tokens, 1) if is_open_paren_at(tokens, 1) else 1
    following = tokens[end].text.upper() if end < len(tokens) else ""
    return (word.lower(), following) if following in _AFTER_CALL else ("", "")


def _column_candidate(node: exp.Expr, tokens: Sequence[Token]) -> NameCandidate:
    return node.name.lower() if not node.this.args.get("quoted") else node.name, True


def _inner_candidate(node: exp.Expr, tokens: Sequence[Token]) -> NameCandidate:
    return _derive_name(node.this, tokens)


def _paren_candidate(node: exp.Expr, tokens: Sequence[Token]) -> NameCandidate:
    if UNARY_PLUS in node.meta:
        return "", False
    return _derive_name(node.this, tokens[1:])


def _cast_candidate(node: exp.Expr, tokens: Sequence[Token]) -> NameCandidate:
    """A cast: a column keeps its name, all else is named after the type."""
    if isinstance(node.this, exp.IntDiv):  # DIV(a, b), which the parser takes apart
        return "div", True
    called = bool(tokens) and keyword(tokens[0]) == "CAST"
    name, strong = _derive_name(node.this, tokens[2:] if called else tokens)
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


def _case_candidate(node: exp.Expr, tokens: Sequence[Token]) -> NameCandidate:
    default = node.args.get("default")
    name, strong = _derive_name(default, _else_tokens(tokens)) if default is not None else ("", False)
    return (name, True) if strong else ("case", False)


def _else_tokens(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens after the ELSE of a CASE."""
    depth = 0
    for index, token in enumerate(tokens):
        word = keyword(token)
        depth += (word in ("(", "CASE")) - (word in (")", "END"))
        if word == "ELSE" and depth == 1:
            return tokens[index + 1 :]
    return ()


def _query_candidate(node: exp.Expr, tokens: Sequence[Token]) -> NameCandidate:
    """A scalar subquery is named after its column."""
    while isinstance(node, exp.Subquery | exp.SetOperation):
        node = node.this
    first = node.expressions[0] if isinstance(node, exp.Select) and node.expressions else None
    if first is None or isinstance(first, exp.Star):
        return "", False
    if isinstance(first, exp.Alias):
        return first.alias, True
    begin = next((index for index, token in enumerate(tokens) if token.text != "("), 0)
    if begin < len(tokens) and keyword(tokens[begin]) == "SELECT":
        begin += 2 if begin + 1 < len(tokens) and keyword(tokens[begin + 1]) == "DISTINCT" else 1
        return _derive_name(first, tokens[begin:])
    return _derive_name(first, ())


def _fixed_candidate(name: str, strong: bool = True) -> Callable[[exp.Expr, Sequence[Token]], NameCandidate]:
    return lambda node, tokens: (name, strong)


def _json_candidate(node: exp.Expr, tokens: Sequence[Token]) -> NameCandidate:
    """`json '…'`, which sqlglot reads as a function."""
    return ("json", False) if node.args.get("is_literal") else (_read_call(tokens)[0], True)


def _member_candidate(node: exp.Expr, tokens: Sequence[Token]) -> NameCandidate:
    """A member of a row, or a function with its schema."""
    last = node.expression
    return (last.name.lower(), True) if isinstance(last, exp.Identifier | exp.Anonymous) else _derive_name(last, ())


def _trim_candidate(node: exp.Expr, tokens: Sequence[Token]) -> NameCandidate:
    written = _read_call(tokens)[0]
    if written not in ("", "trim"):
        return written, True
    return {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or ""), "btrim"), True


_SIGN_OPERATORS: tuple[type[exp.Expr], ...] = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.DPipe),
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE),
    *(exp.And, exp.Or, exp.Not),
)
"""Operators that are never written as functions, so that a function before one gives no name."""

_CANDIDATES: dict[type[exp.Expr], Callable[[exp.Expr, Sequence[Token]], NameCandidate]] = {
    **dict.fromkeys(_SIGN_OPERATORS, _fixed_candidate("", False)),
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
