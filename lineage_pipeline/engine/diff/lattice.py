"""Types by family: which one holds all values of another."""

import re
from typing import Literal

import msgspec

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.vocabulary.sets import Severity

UNBOUNDED = 1 << 30
"""The size of a type without one, or with MAX."""

Family = Literal["integer", "decimal", "float", "string", "binary", "date", "timestamp", "time", "boolean"]


class Kind(msgspec.Struct, frozen=True):
    """What the name of a type says: its family, its size, and a side that is neither wider nor narrower."""

    family: Family
    size: int = 0
    side: str = ""


class Type(msgspec.Struct, frozen=True):
    """A type as it can be compared: sizes grow with what it holds; `scale` only for decimals."""

    family: str
    size: int
    scale: int = 0
    side: str = ""


_ROWS: tuple[tuple[Kind, str], ...] = (
    (Kind("integer", 1), "TINYINT INT1 BYTEINT BYTE"),
    (Kind("integer", 2), "SMALLINT INT2 SHORT SMALLSERIAL INT16"),
    (Kind("integer", 3), "MEDIUMINT INT3"),
    (Kind("integer", 4), "INT INTEGER INT4 SERIAL INT32"),
    (Kind("integer", 8), "BIGINT INT8 LONG BIGSERIAL INT64"),
    (Kind("integer", 16), "HUGEINT INT128"),
    (Kind("integer", 32), "INT256"),
    (Kind("integer", 1, "unsigned"), "UTINYINT UINT8"),
    (Kind("integer", 2, "unsigned"), "USMALLINT UINT16"),
    (Kind("integer", 3, "unsigned"), "UMEDIUMINT"),
    (Kind("integer", 4, "unsigned"), "UINTEGER UINT UINT32"),
    (Kind("integer", 8, "unsigned"), "UBIGINT UINT64"),
    (Kind("integer", 16, "unsigned"), "UHUGEINT UINT128"),
    (Kind("decimal"), "DECIMAL NUMERIC NUMBER DEC FIXED BIGNUMERIC BIGDECIMAL"),
    (Kind("float", 4), "REAL FLOAT4 FLOAT32"),
    (Kind("float", 8), "FLOAT FLOAT8 FLOAT64 DOUBLE BINARY_DOUBLE"),
    (Kind("string", 1, "fixed"), "CHAR CHARACTER"),
    (Kind("string", 1, "fixed national"), "NCHAR"),
    (Kind("string", UNBOUNDED), "VARCHAR VARCHAR2 STRING TEXT CLOB LONGTEXT MEDIUMTEXT BPCHAR"),
    (Kind("string", UNBOUNDED, "national"), "NVARCHAR NVARCHAR2 NTEXT NCLOB"),
    (Kind("binary", 1, "fixed"), "BINARY"),
    (Kind("binary", UNBOUNDED), "VARBINARY BLOB BYTEA BYTES IMAGE RAW LONGBLOB"),
    (Kind("date"), "DATE DATE32"),
    (Kind("time", 7), "TIME"),
    (Kind("timestamp", 0), "SMALLDATETIME"),
    (Kind("timestamp", 3), "DATETIME"),
    (Kind("timestamp", 6), "TIMESTAMP TIMESTAMP_NTZ TIMESTAMPNTZ"),
    (Kind("timestamp", 7), "DATETIME2"),
    (Kind("timestamp", 6, "zone"), "TIMESTAMPTZ TIMESTAMP_TZ TIMESTAMP_LTZ TIMESTAMPLTZ"),
    (Kind("timestamp", 7, "zone"), "DATETIMEOFFSET"),
    (Kind("boolean"), "BOOLEAN BOOL BIT"),
)
KINDS: dict[str, Kind] = {name: kind for kind, names in _ROWS for name in names.split()}
KINDS |= {"DOUBLE PRECISION": KINDS["DOUBLE"], "CHARACTER VARYING": KINDS["VARCHAR"], "CHAR VARYING": KINDS["VARCHAR"]}

MONEY = {"MONEY": Type("decimal", 15, 4), "SMALLMONEY": Type("decimal", 6, 4)}

SIDES = {"UNSIGNED": "unsigned", "WITH TIME ZONE": "zone", "WITH LOCAL TIME ZONE": "zone"}
"""Words after a type that change what it is compared with."""

KINDRED = frozenset({frozenset({"float", "decimal"})})
"""Families between which values survive, if not exactly."""

_SPELLING = re.compile(r"^(?P<name>[^(<]+?)\s*(?:\((?P<sizes>[\w\s,]*)\)\s*(?P<rest>[^()]*))?$")


def read_type(text: str) -> Type:
    """Read the spelling of a type; an unknown one is a family of its own."""
    match = _SPELLING.match(" ".join(text.upper().split()))
    if match is None:
        return Type(text.upper(), 0)
    name, side = _without_side(match["name"])
    side = next((side for words, side in SIDES.items() if words in (match["rest"] or "")), side)
    if name in MONEY:
        return MONEY[name]
    kind = KINDS.get(name)
    if kind is None:
        return Type(text.upper().replace(" ", ""), 0)
    sizes = [
        UNBOUNDED if size == "MAX" else whole_number(size) for size in re.findall(r"\d+|MAX", match["sizes"] or "")
    ]
    return _sized(kind, sizes, side or kind.side)


def compare(before: str, after: str) -> tuple[str, Severity] | None:
    """Give the rule and the severity of a change of type, or nothing where both hold the same."""
    old, new = read_type(before), read_type(after)
    if old == new:
        return None
    if (labels := (_labels(before), _labels(after)))[0] and labels[1]:
        return ("TYP001", Severity.NON_BREAKING) if labels[0] <= labels[1] else ("TYP002", Severity.BREAKING)
    if old.family != new.family:
        kindred = frozenset({old.family, new.family}) in KINDRED
        return ("TYP005", Severity.POTENTIALLY_BREAKING) if kindred else ("TYP003", Severity.BREAKING)
    if old.scale != new.scale:
        narrower = new.scale < old.scale or new.size < old.size
        return "TYP004", Severity.BREAKING if narrower else Severity.NON_BREAKING
    if new.size < old.size:
        return "TYP002", Severity.BREAKING
    if old.side != new.side:
        return "TYP005", Severity.POTENTIALLY_BREAKING
    return "TYP001", Severity.NON_BREAKING


def _labels(text: str) -> frozenset[str]:
    """Read the values that a type lists."""
    return frozenset(_LABEL.findall(text)) if text.upper().startswith(("ENUM(", "SET(")) else frozenset()


_LABEL = re.compile(r"'(?:[^']|'')*'")


def is_narrower(target: str, source: str) -> bool:
    """Say whether a value of one type may not fit into another of its family."""
    wide, narrow = read_type(source), read_type(target)
    return wide.family == narrow.family and (narrow.size < wide.size or narrow.scale < wide.scale)


def _without_side(name: str) -> tuple[str, str]:
    for words, side in SIDES.items():
        if name.endswith(" " + words):
            return name.removesuffix(" " + words), side
    return name.removesuffix(" WITHOUT TIME ZONE"), ""


def _sized(kind: Kind, sizes: list[int], side: str) -> Type:
    """Put the sizes of a spelling into a type; decimals count digits before the point."""
    if kind.family == "decimal":
        precision = sizes[0] if sizes else UNBOUNDED
        scale = sizes[1] if len(sizes) > 1 else 0 if sizes else UNBOUNDED
        return Type("decimal", precision - (scale if sizes else 0), scale, side)
    if kind.family in ("integer", "float", "boolean", "date") or not sizes:
        return Type(kind.family, kind.size, 0, side)  # INT(11) is a display width
    return Type(kind.family, sizes[0], 0, side)
