"""Implicit conversions: which kinds of types an engine accepts together without a cast."""

from functools import lru_cache

import msgspec

from lineage_pipeline.dialects.types.shapes import parse_type_shape

KindPairs = frozenset[tuple[str, str]]

TYPE_KINDS: dict[str, str] = {
    **dict.fromkeys(
        "TINYINT SMALLINT MEDIUMINT INT INTEGER BIGINT HUGEINT INT2 INT4 INT8 INT64 DECIMAL NUMERIC NUMBER BIGNUMERIC "
        "FLOAT FLOAT4 FLOAT8 FLOAT64 REAL DOUBLE".split(),
        "number",
    ),
    "DOUBLE PRECISION": "number",
    **dict.fromkeys("CHAR VARCHAR TEXT STRING NCHAR NVARCHAR NTEXT VARCHAR2 NVARCHAR2 BPCHAR CLOB".split(), "string"),
    **dict.fromkeys("BOOLEAN BOOL".split(), "boolean"),
    **dict.fromkeys("BLOB BYTEA BYTES BINARY VARBINARY".split(), "binary"),
    **dict.fromkeys("UUID UNIQUEIDENTIFIER".split(), "uuid"),
    **dict.fromkeys("DATETIME DATETIME2 DATETIMEOFFSET".split(), "moment"),
    **dict.fromkeys("TIME TIMETZ".split(), "time"),
    "DATE": "date",
}
"""The kind of a type by its name; types that are not listed (JSON, VARIANT, arrays …) may be anything."""

ALL_KINDS = ("number", "string", "boolean", "date", "time", "moment", "interval", "binary", "uuid", "array")


class ImplicitConversions(msgspec.Struct, frozen=True, eq=False):
    """Pairs of kinds of types that an engine accepts together without a cast; see `TYPE_KINDS`."""

    compares: KindPairs
    """Pairs that can be compared: `WHERE a = b`."""
    unites: KindPairs
    """Pairs that can be one column of a set operation: `SELECT a UNION SELECT b`."""
    stores: KindPairs
    """Pairs (from, to) of a value and the column that it can be stored in: `INSERT INTO t SELECT a`."""
    names: dict[str, str] = {}
    """Kinds of types by name where they differ from `TYPE_KINDS`; empty: it may be anything."""
    branches: KindPairs | None = None
    """Pairs that can be branches of one CASE; None: the same as `unites`."""
    computes: dict[str, KindPairs] = {}
    """By operator, the pairs that can be its operands; empty: unknown, nothing is refused."""
    refused: KindPairs = frozenset()
    """Pairs (from, to) of type names that cannot be stored although they are of one kind: FLOAT64 into INT64."""


def build_uniform_conversions(text: str, **names: str) -> ImplicitConversions:
    """Build the conversions of an engine that compares, unites and stores the same pairs."""
    pairs = parse_pairs(text)
    return ImplicitConversions(compares=pairs, unites=pairs, stores=pairs, names=names)


def parse_pairs(text: str) -> KindPairs:
    """Parse pairs: `a-b` in both directions, `a>b` in one; `*` is every kind."""
    found = set()
    for item in text.split():
        ways = 1 if ">" in item else 2
        left, right = item.split(">") if ways == 1 else item.split("-")
        for one in _parse_kinds(left):
            for two in _parse_kinds(right):
                found |= {(one, two), (two, one)} if ways == 2 else {(one, two)}
    return frozenset(found)


def _parse_kinds(word: str) -> tuple[str, ...]:
    return ALL_KINDS if word == "*" else (word,)


def parse_operator_pairs(*, add: str, sub: str, mul: str, div: str, mod: str = "") -> dict[str, KindPairs]:
    """Build the operand pairs of operators: numbers with each other, and these."""
    rows = {"ADD": add, "SUB": sub, "MUL": mul, "DIV": div, "MOD": mod}
    return {op: parse_pairs(f"number>number {text}") for op, text in rows.items()}


COMMON_ADDITION_PAIRS = "date-interval moment-interval time-interval interval>interval"
"""Operands of `+` that most engines accept."""

COMMON_SUBTRACTION_PAIRS = (
    "date>number date>date date-moment moment>moment date>interval moment>interval time>interval interval>interval"
)
"""Operands of `-` that most engines accept."""

STRICT_OPERANDS = parse_operator_pairs(
    add=f"date-number date-time moment-time {COMMON_ADDITION_PAIRS}",
    sub=f"{COMMON_SUBTRACTION_PAIRS} date>time moment>time interval>time time>time",
    mul="interval-number time-number",
    div="interval>number time>number",
)
"""Operand pairs of PostgreSQL; BigQuery accepts fewer."""

# What two dates differ by is a number in some of them and an interval in others.
STRICT_CONVERSIONS = build_uniform_conversions("date-moment", INTERVAL="")
"""The conversions of an engine that converts only dates and timestamps."""

LENIENT_PAIRS = "string-* number-boolean date-moment binary-uuid time-interval"
"""The pairs of an engine that converts strings to every kind."""


@lru_cache(maxsize=4096)
def type_kind(text: str, conversions: ImplicitConversions) -> str:
    """Return the kind of a type, or an empty text where it may be anything."""
    name = parse_type_shape(text).name
    if name in conversions.names:
        return conversions.names[name]
    if name in TYPE_KINDS:
        return TYPE_KINDS[name]
    if name in ("ARRAY", "LIST"):
        return "array"
    first = name.split(" ", 1)[0]
    return {"INTERVAL": "interval", "TIME": "time"}.get(first, "moment" if first.startswith("TIMESTAMP") else "")


def is_refused(left: str | None, right: str | None, conversions: ImplicitConversions | None, way: str) -> bool:
    """Return whether an engine refuses two types for every value: way is `compares`, `unites` or `stores`."""
    if left is None or right is None or left == right or conversions is None:
        return False
    one, two = type_kind(left, conversions), type_kind(right, conversions)
    if way == "stores" and (parse_type_shape(left).name, parse_type_shape(right).name) in conversions.refused:
        return True
    pairs: KindPairs = (
        (conversions.unites if conversions.branches is None else conversions.branches)
        if way == "branches"
        else getattr(conversions, way)
    )
    return bool(one and two and one != two) and (one, two) not in pairs


def is_operation_refused(op: str, left: str | None, right: str | None, conversions: ImplicitConversions) -> bool:
    """Return whether an engine refuses to calculate with two types, whatever their values are."""
    if left is None or right is None or not conversions.computes:
        return False
    one, two = type_kind(left, conversions), type_kind(right, conversions)
    return bool(one and two) and "array" not in (one, two) and (one, two) not in conversions.computes[op]
