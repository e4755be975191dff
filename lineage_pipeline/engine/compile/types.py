"""Types as the dialect spells them, and the result types that sqlglot knows for functions."""

import re
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.typing import EXPRESSION_METADATA

from lineage_pipeline.dialects.traits import TRAITS
from lineage_pipeline.dialects.typing.families import own
from lineage_pipeline.dialects.typing.shapes import capitals
from lineage_pipeline.engine.compile.isolation import silence_sqlglot

_SPELLINGS: dict[tuple[str, str], str] = {}
_REMARK = re.compile(r"\s*/\*.*?\*/", re.DOTALL)
_DIGITS = re.compile(r"INTERVAL (\d+)")
_NESTING = re.compile(r"[<(\[\])>]")
DEEPEST, ROUND = 200, 10
"""How deep the types of columns may be nested that are told as text."""

NOT_A_TYPE = (SqlglotError, TypeError, ValueError)
"""What sqlglot raises on a text that is not a type; the last two are not its own, but come out of it all the same."""

_NUMBERED = frozenset({"this", "expressions", "nested"})


def spelling(node: exp.Expr | None, dialect: str) -> str:
    """A type in the words of its dialect, upper case, no blanks inside brackets."""
    if node is None:
        return ""
    shape = _shape(node)
    if not shape:
        return _spelt(node, dialect)
    known = _SPELLINGS.get((dialect, shape))
    if known is None:
        known = _SPELLINGS[dialect, shape] = _spelt(node, dialect)
    return known


def _spelt(node: exp.Expr, dialect: str) -> str:
    node = _without_constraints(node)
    written = _REMARK.sub("", node.sql(dialect=dialect or None, comments=False))  # units of intervals keep theirs
    text = _DIGITS.sub(r"INTERVAL(\1)", capitals(written).replace(", ", ","))
    return own(text.replace(": ", ":"), TRAITS[dialect].family) if dialect in TRAITS else text


def _without_constraints(node: exp.Expr) -> exp.Expr:
    """A type whose members have types alone: what is said of them beside, a comment or NOT NULL, is no type."""
    if not any(item.args.get("constraints") for item in node.find_all(exp.ColumnDef)):
        return node
    plain = node.copy()
    for item in plain.find_all(exp.ColumnDef):
        item.set("constraints", None)
    return plain


@silence_sqlglot()
def written_type(text: str, dialect: str) -> str:
    """A type that stands as text in a header, in the words of its dialect; none where it is nested too deeply."""
    if _is_deep(text):
        return ""
    try:
        return spelling(exp.DataType.build(text, dialect=dialect or None, udt=True), dialect) if text else ""
    except NOT_A_TYPE:
        return " ".join(text.upper().split())


def _is_deep(text: str) -> bool:
    """Say whether brackets are nested so deeply that the parser, which is compiled, would end the process.

    What stands in round ones it reads twice, and what stands in those again.
    """
    depth = rounded = 0
    for sign in _NESTING.findall(text):
        step = 1 if sign in "<([" else -1
        depth += step
        rounded += step if sign in "()" else 0
        if depth > DEEPEST or rounded > ROUND:
            return True
    return False


@silence_sqlglot()
def is_type(text: str, dialect: str) -> bool:
    """Say whether a text is a type that the dialect, or any dialect, knows."""
    if _is_deep(text):
        return False
    for known in dict.fromkeys((dialect or None, None)):
        try:
            exp.DataType.build(text, dialect=known)
        except NOT_A_TYPE:
            continue
        return True
    return False


def _shape(node: exp.Expr) -> str:
    """A text that differs for two plain types that are spelt differently; none for others, of which there are few.

    The representation of a tree would tell them apart, and takes minutes where hundreds are nested.
    """
    name, parameters = node.args.get("this"), node.args.get("expressions") or ()
    if not isinstance(name, exp.DType) or not node.args.keys() <= _NUMBERED:
        return ""
    for item in parameters:
        if type(item) is not exp.DataTypeParam or item.args.get("expression"):
            return ""
    # The property `value` of an enumeration takes long, and every column has a type.
    return f"{name._value_} {[item.name for item in parameters]} {node.args.get('nested')}"


def result_type(kind: type[exp.Expr], dialect: str) -> str:
    """The type that a function of this kind always gives, or nothing where it depends on the arguments."""
    tables: list[dict[Any, Any]] = [getattr(Dialect.get_or_raise(dialect or None), "EXPRESSION_METADATA", {})]
    for table in (*tables, EXPRESSION_METADATA):
        returns = table.get(kind, {}).get("returns")
        if returns is not None:
            node = returns if isinstance(returns, exp.DataType) else exp.DataType.build(returns)
            return spelling(node, dialect)
    return ""
