"""Types: the result of operators and functions that depends on their arguments, as rows."""

import re
from collections.abc import Callable, Sequence

from lineage_pipeline.engine.link.model import Value
from lineage_pipeline.vocabulary import ir

BOOLEAN_OPS = frozenset(
    "EQ NEQ GT GTE LT LTE AND OR NOT IS IN LIKE ILIKE BETWEEN EXISTS NULLSAFEEQ NULLSAFENEQ REGEXPLIKE STARTSWITH "
    "XOR".split()
)
NEVER_NULL = frozenset(
    "COUNT COUNT_BIG COUNTIF APPROXDISTINCT ROWNUMBER RANK DENSERANK NTILE IS EXISTS GROUPING".split()
)
FIRST_ARGUMENT = frozenset(
    "MIN MAX ANYVALUE FIRSTVALUE LASTVALUE NTHVALUE LAG LEAD FIRST LAST ABS NEG NULLIF DISTINCT IGNORENULLS "
    "RESPECTNULLS FILTER WITHINGROUP ORDER PRIOR CONNECTBYROOT OUTERJOIN TRIM UPPER LOWER LEFT RIGHT ROUND PAREN MODE "
    "LIMIT".split()
)
COMMON_TYPE = frozenset("COALESCE IFNULL GREATEST LEAST NVL ISNULL".split())
STRICT = frozenset(
    "ADD SUB MUL AND OR NOT NEG EQ NEQ GT GTE LT LTE LIKE ILIKE UPPER LOWER TRIM CONCAT ABS ROUND DATEDIFF DATEADD "
    "DATESUB SUBSTRING LENGTH REPLACE YEAR MONTH DAY CEIL FLOOR EXTRACT DATETRUNC "
    "TIMESTRTOTIME TSORDSTODATE TIMESTAMPTRUNC DPIPE".split()
)
"""Functions that give null only where an argument is null."""
ARITHMETIC = frozenset("ADD SUB MUL DIV MOD INTDIV".split())

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_ALIASES = {"INTEGER": "INT", "INT64": "BIGINT", "INT4": "INT", "INT8": "BIGINT", "INT2": "SMALLINT", "LONG": "BIGINT"}
_DECIMALS = ("DECIMAL", "NUMERIC", "NUMBER")
_FLOATS = ("REAL", "FLOAT", "DOUBLE", "DOUBLE PRECISION", "FLOAT64")
_NAME = re.compile(r"([A-Z0-9_ ]+?)\s*(?:\(([^()]*)\))?\Z")


def split_type(text: str) -> tuple[str, tuple[str, ...]]:
    """The name and the parameters of a type."""
    match = _NAME.match(text)
    if match is None:
        return text, ()
    return match[1], tuple(part.strip() for part in match[2].split(",")) if match[2] else ()


def common_type(types: Sequence[str | None]) -> str | None:
    """The least type that holds all of them, or None where that is not known."""
    known = [item for item in types if item is not None]
    if not known or len(known) < len(types):
        return None
    result = known[0]
    for item in known[1:]:
        merged = _wider(result, item)
        if merged is None:
            return None
        result = merged
    return result


def _wider(left: str, right: str) -> str | None:
    if left == right:
        return left
    (name, parameters), (other, others) = split_type(left), split_type(right)
    name, other = _ALIASES.get(name, name), _ALIASES.get(other, other)
    if name in _INTEGERS and other in _INTEGERS:
        return _INTEGERS[max(_INTEGERS.index(name), _INTEGERS.index(other))]
    if name in _FLOATS or other in _FLOATS:
        numeric = (*_INTEGERS, *_DECIMALS, *_FLOATS)
        return (left if name in _FLOATS else right) if name in numeric and other in numeric else None
    if name == other and len(parameters) == len(others) == 1:
        return left if _size(parameters[0]) >= _size(others[0]) else right
    if name in _DECIMALS and other in _DECIMALS and len(parameters) == len(others) == 2:
        scale = max(int(parameters[1]), int(others[1]))
        whole = max(int(parameters[0]) - int(parameters[1]), int(others[0]) - int(others[1]))
        return f"{name}({min(whole + scale, 38)},{scale})"
    if name in _DECIMALS and other in _INTEGERS:
        return left
    return right if other in _DECIMALS and name in _INTEGERS else None


def _size(text: str) -> float:
    return float("inf") if text == "MAX" else float(text) if text.isdigit() else 0


def literal_type(literal: ir.Literal) -> str | None:
    """The type of a constant."""
    if literal.kind == "number":
        return "INT" if literal.text.isdigit() and len(literal.text) < 10 else None
    return {"boolean": "BOOLEAN"}.get(literal.kind)


def base_of(op: str) -> str:
    """An operator without its options."""
    return op if ":" not in op else op.split(":", 1)[0]


def call_type(call: ir.Call, args: Sequence[Value]) -> str | None:
    """The type of an operator or function."""
    op = base_of(call.op)
    if op in BOOLEAN_OPS:
        return "BOOLEAN"
    rule = _RULES.get(op)
    return rule(args) if rule is not None else call.result or None


def _first(args: Sequence[Value]) -> str | None:
    return args[0].type if args else None


def _common(args: Sequence[Value]) -> str | None:
    return common_type([arg.type for arg in args])


def _arithmetic(args: Sequence[Value]) -> str | None:
    names = [split_type(arg.type)[0] if arg.type else "" for arg in args]
    integers = all(_ALIASES.get(name, name) in _INTEGERS for name in names)
    floats = any(name in _FLOATS for name in names)
    return _common(args) if integers or floats else None


_RULES: dict[str, Callable[[Sequence[Value]], str | None]] = {
    **dict.fromkeys(FIRST_ARGUMENT, _first),
    **dict.fromkeys(COMMON_TYPE, _common),
    **dict.fromkeys(ARITHMETIC, _arithmetic),
}


def call_nullable(call: ir.Call, args: Sequence[Value]) -> bool:
    """Whether an operator or function may give null."""
    op = base_of(call.op)
    if op in NEVER_NULL:
        return False
    if op in COMMON_TYPE:
        return all(arg.nullable for arg in args)
    if op in STRICT:
        return any(arg.nullable for arg in args)
    return True
