"""Data types in the spelling of the dialect, and the result types that sqlglot knows for functions."""

import re
from functools import lru_cache
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.typing import EXPRESSION_METADATA

from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.dialects.types.families import normalize_type
from lineage_pipeline.dialects.types.shapes import uppercase_type
from lineage_pipeline.engine.compile.grammar.isolation import load_dialect, silence_sqlglot

_SPELLING_CACHE: dict[tuple[str, str], str] = {}
_TYPE_COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)
_INTERVAL_DIGITS = re.compile(r"INTERVAL (\d+)")
_TYPE_BRACKETS = re.compile(r"[<(\[\])>]")
MAX_TYPE_DEPTH, MAX_PAREN_DEPTH = 200, 10
"""How deep the types of columns may be nested that are told as text."""

NOT_A_TYPE = (SqlglotError, TypeError, ValueError)
"""What sqlglot raises on a text that is not a type; the last two are not its own, but come out of it all the same."""

_PLAIN_TYPE_ARGS = frozenset({"this", "expressions", "nested"})


def spell_type(node: exp.Expr | None, dialect: str) -> str:
    """A type in the spelling of its dialect, upper case, without blanks inside brackets."""
    if node is None:
        return ""
    shape = _cache_key(node)
    if not shape:
        return _spell_uncached(node, dialect)
    known = _SPELLING_CACHE.get((dialect, shape))
    if known is None:
        known = _SPELLING_CACHE[dialect, shape] = _spell_uncached(node, dialect)
    return known


def _spell_uncached(node: exp.Expr, dialect: str) -> str:
    node = _drop_member_constraints(node)
    if node.args.get("this") is exp.DType.CHARACTER_SET:  # MySQL: `cast(x as char(20) charset utf8mb4)`
        binary = node.text("kind").upper() == "BINARY"
        node = exp.DataType(this=exp.DType.BINARY if binary else exp.DType.CHAR, expressions=node.expressions)
    written = _TYPE_COMMENT.sub("", node.sql(dialect=dialect or None, comments=False))  # units of intervals keep theirs
    text = _INTERVAL_DIGITS.sub(r"INTERVAL(\1)", uppercase_type(written).replace(", ", ",")).replace(": ", ":")
    traits = DIALECTS.get(dialect)
    if traits is None:
        return text
    schema, _, name = text.partition(".")
    if name and schema.strip('"').lower() in traits.type_schemas:
        base = name.rstrip("[]")  # sqlglot forgets the brackets of REGTYPE[]
        return parse_type(base, dialect) + name[len(base) :]
    return normalize_type(text, traits.types)


def _drop_member_constraints(node: exp.Expr) -> exp.Expr:
    """A type whose members have types only, without comments and NOT NULL."""
    if not any(item.args.get("constraints") for item in node.find_all(exp.ColumnDef)):
        return node
    plain = node.copy()
    for item in plain.find_all(exp.ColumnDef):
        item.set("constraints", None)
    return plain


@lru_cache(maxsize=1 << 12)  # schemas repeat few types thousands of times
@silence_sqlglot()
def parse_type(text: str, dialect: str) -> str:
    """A type given as text, in the spelling of its dialect; "" if it is nested too deeply."""
    if _is_too_deep(text):
        return ""
    try:
        return spell_type(exp.DataType.build(text, dialect=dialect or None, udt=True), dialect) if text else ""
    except NOT_A_TYPE:
        return " ".join(text.upper().split())


def _is_too_deep(text: str) -> bool:
    """Whether brackets are nested so deeply that the compiled parser would crash the process.
    It reads the content of parentheses twice, at each level.
    """
    depth = rounded = 0
    for sign in _TYPE_BRACKETS.findall(text):
        step = 1 if sign in "<([" else -1
        depth += step
        rounded += step if sign in "()" else 0
        if depth > MAX_TYPE_DEPTH or rounded > MAX_PAREN_DEPTH:
            return True
    return False


@silence_sqlglot()
def is_known_type(text: str, dialect: str) -> bool:
    """Whether a text is a type that the dialect, or any dialect, knows."""
    if _is_too_deep(text):
        return False
    for known in dict.fromkeys((dialect or None, None)):
        try:
            exp.DataType.build(text, dialect=known)
        except NOT_A_TYPE:
            continue
        return True
    return False


def _cache_key(node: exp.Expr) -> str:
    """A text that differs for two plain types that are spelled differently; "" for other types.
    The repr of a tree would differ too, but takes minutes where hundreds of types are nested.
    """
    name, parameters = node.args.get("this"), node.args.get("expressions") or ()
    if not isinstance(name, exp.DType) or not node.args.keys() <= _PLAIN_TYPE_ARGS:
        return ""
    for item in parameters:
        if type(item) is not exp.DataTypeParam or item.args.get("expression"):
            return ""
    # The property `value` of an enumeration takes long, and every column has a type.
    return f"{name._value_} {[item.name for item in parameters]} {node.args.get('nested')}"


def function_result_type(kind: type[exp.Expr], dialect: str) -> str:
    """The type that a function always returns, or "" if it depends on the arguments."""
    tables: list[dict[Any, Any]] = [getattr(load_dialect(dialect), "EXPRESSION_METADATA", {})]
    for table in (*tables, EXPRESSION_METADATA):
        returns = table.get(kind, {}).get("returns")
        if returns is not None:
            node = returns if isinstance(returns, exp.DataType) else exp.DataType.build(returns)
            return spell_type(node, dialect)
    return ""
