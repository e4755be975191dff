"""Fitting: which kinds of types an engine compares, unites and stores without a cast. One row a family.

Only what an engine refuses for every value counts: where it converts, and may fail for some of them, nothing is said.
"""

from functools import lru_cache

import msgspec

from lineage_pipeline.dialects.typing.shapes import shape_of

Pairs = frozenset[tuple[str, str]]

KINDS: dict[str, str] = {
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
"""What a type is, by its name; what is not here (JSON, VARIANT, arrays and the like) may be anything."""

ALL = ("number", "string", "boolean", "date", "time", "moment", "interval", "binary", "uuid", "array")


class Fit(msgspec.Struct, frozen=True):
    """The pairs of different kinds that go together: compared, united by a set operation, stored (from, to).

    Branches of a CASE go together as those of a set operation do, unless there is a row for them. `computes` has, by
    operator, the pairs that can be calculated with, where that is known; `refused` are types, from and to, that are of
    one kind and are not stored all the same.
    """

    compares: Pairs
    unites: Pairs
    stores: Pairs
    names: dict[str, str] = {}
    branches: Pairs | None = None
    computes: dict[str, Pairs] = {}
    refused: Pairs = frozenset()


def _alike(text: str, **names: str) -> Fit:
    """A family that compares, unites and stores the same pairs."""
    pairs = _both(text)
    return Fit(pairs, pairs, pairs, names)


def _both(text: str) -> Pairs:
    """`a-b` in both directions, `a>b` in one; `*` is every kind."""
    found = set()
    for item in text.split():
        ways = 1 if ">" in item else 2
        left, right = item.split(">") if ways == 1 else item.split("-")
        for one in _kinds(left):
            for two in _kinds(right):
                found |= {(one, two), (two, one)} if ways == 2 else {(one, two)}
    return frozenset(found)


def _kinds(word: str) -> tuple[str, ...]:
    return ALL if word == "*" else (word,)


def _computing(add: str, sub: str, mul: str, div: str, mod: str = "") -> dict[str, Pairs]:
    """What can be calculated with: numbers with each other, and these."""
    rows = {"ADD": add, "SUB": sub, "MUL": mul, "DIV": div, "MOD": mod}
    return {op: _both(f"number>number {text}") for op, text in rows.items()}


_MOVED = "date-interval moment-interval time-interval interval>interval"
_DAYS = "date>number date>date date-moment moment>moment date>interval moment>interval time>interval interval>interval"

_CALCULATES = _computing(
    f"date-number date-time moment-time {_MOVED}",
    f"{_DAYS} date>time moment>time interval>time time>time",
    "interval-number time-number",
    "interval>number time>number",
)
"""What PostgreSQL calculates with; BigQuery takes less."""

# What two dates differ by is a number in some of them and an interval in others.
_STRICT = _alike("date-moment", INTERVAL="")
_WHOLE = frozenset((kind, "INT64") for kind in ("FLOAT64", "NUMERIC", "BIGNUMERIC"))
_LENIENT = "string-* number-boolean date-moment binary-uuid time-interval"

FITS: dict[str, Fit] = {
    "postgres": Fit(
        _both("date-moment time-interval"),
        _both("date-moment"),
        _both("*>string date-moment moment>time time-interval"),
        computes=_CALCULATES,
    ),
    "duckdb": Fit(
        _both("string-* number-boolean date-moment binary-uuid"),
        _both("string-* number-boolean date-moment binary-uuid"),
        _both("string-* number-boolean date-moment moment>time binary-uuid"),
        branches=_both("number-boolean date-moment"),
        computes=_computing(f"date-number date-time {_MOVED}", _DAYS, "interval-number", "interval>number"),
    ),
    "spark": Fit(
        # Whether a number is compared with a boolean is a setting of the session.
        _both("string-number string-boolean string-date string-moment string-binary number-boolean date-moment"),
        _both("string-number string-boolean string-date string-moment string-binary date-moment"),
        _both(" ".join(f"{kind}>string" for kind in ALL if kind != "array") + " date-moment"),
        {"TIME": "", "TIMETZ": ""},
        computes=_computing(
            f"date-number number-string string-interval {_MOVED}",
            f"{_DAYS} string-date string-moment string-number string>interval",
            "interval-number interval-string number-string",
            "interval>number interval>string number-string",
            "number-string",
        ),
    ),
    # A DATETIME is a number of days as well, and a TIMESTAMP is no moment there.
    "tsql": _alike(
        "string-* number-boolean date-moment time-moment binary-*",
        DATETIME="",
        SMALLDATETIME="",
        TIMESTAMP="",
        BIT="boolean",
    ),
    "snowflake": _alike("string-* number-boolean date-moment binary-uuid", INTERVAL="", ARRAY=""),
    "bigquery": msgspec.structs.replace(_STRICT, computes=_CALCULATES, refused=_WHOLE),
    "trino": _STRICT,
    "oracle": _alike(_LENIENT, DATE="moment", BOOLEAN="", INTERVAL=""),
    "redshift": _alike(_LENIENT, INTERVAL="", ARRAY=""),
}
"""The families of which it is known; the others convert whatever they are given, or nobody has asked them."""


@lru_cache(maxsize=4096)
def kind_of(text: str, family: str) -> str:
    """The kind of a type, or nothing where it may be anything."""
    name = shape_of(text).name
    fit = FITS[family]
    if name in fit.names:
        return fit.names[name]
    if name in KINDS:
        return KINDS[name]
    if name in ("ARRAY", "LIST"):
        return "array"
    first = name.split(" ", 1)[0]
    return {"INTERVAL": "interval", "TIME": "time"}.get(first, "moment" if first.startswith("TIMESTAMP") else "")


def misfits(left: str | None, right: str | None, family: str, way: str) -> bool:
    """Whether an engine refuses two types for every value: way is `compares`, `unites` or `stores`."""
    if left is None or right is None or left == right or family not in FITS:
        return False
    one, two = kind_of(left, family), kind_of(right, family)
    if way == "stores" and (shape_of(left).name, shape_of(right).name) in FITS[family].refused:
        return True
    fit = FITS[family]
    pairs: Pairs = (fit.unites if fit.branches is None else fit.branches) if way == "branches" else getattr(fit, way)
    return bool(one and two and one != two) and (one, two) not in pairs


def incalculable(op: str, left: str | None, right: str | None, family: str) -> bool:
    """Whether an engine refuses to calculate with two types, whatever their values are."""
    if left is None or right is None or not FITS[family].computes:
        return False
    one, two = kind_of(left, family), kind_of(right, family)
    return bool(one and two) and "array" not in (one, two) and (one, two) not in FITS[family].computes[op]
