"""Type comparison: which type holds all values of another, and the fields of nested types."""

import re
from typing import Literal

import msgspec

from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.model.enums import Severity

UNBOUNDED = 1 << 30
"""The size of a type without one, or with MAX."""

TypeFamily = Literal["integer", "decimal", "float", "string", "binary", "date", "timestamp", "time", "boolean"]


class TypeKind(msgspec.Struct, frozen=True):
    """What a type name says: family, size, and a `side` that is neither wider nor narrower."""

    family: TypeFamily
    size: int = 0
    side: str = ""


class ComparableType(msgspec.Struct, frozen=True):
    """A type in comparable form: sizes grow with what it holds; `scale` only for decimals."""

    family: str
    size: int
    scale: int = 0
    side: str = ""


_KIND_ROWS: tuple[tuple[TypeKind, str], ...] = (
    (TypeKind("integer", 1), "TINYINT INT1 BYTEINT BYTE"),
    (TypeKind("integer", 2), "SMALLINT INT2 SHORT SMALLSERIAL INT16"),
    (TypeKind("integer", 3), "MEDIUMINT INT3"),
    (TypeKind("integer", 4), "INT INTEGER INT4 SERIAL INT32"),
    (TypeKind("integer", 8), "BIGINT INT8 LONG BIGSERIAL INT64"),
    (TypeKind("integer", 16), "HUGEINT INT128"),
    (TypeKind("integer", 32), "INT256"),
    (TypeKind("integer", 1, "unsigned"), "UTINYINT UINT8"),
    (TypeKind("integer", 2, "unsigned"), "USMALLINT UINT16"),
    (TypeKind("integer", 3, "unsigned"), "UMEDIUMINT"),
    (TypeKind("integer", 4, "unsigned"), "UINTEGER UINT UINT32"),
    (TypeKind("integer", 8, "unsigned"), "UBIGINT UINT64"),
    (TypeKind("integer", 16, "unsigned"), "UHUGEINT UINT128"),
    (TypeKind("decimal"), "DECIMAL NUMERIC NUMBER DEC FIXED BIGNUMERIC BIGDECIMAL"),
    (TypeKind("float", 4), "REAL FLOAT4 FLOAT32"),
    (TypeKind("float", 8), "FLOAT FLOAT8 FLOAT64 DOUBLE BINARY_DOUBLE"),
    (TypeKind("string", 1, "fixed"), "CHAR CHARACTER"),
    (TypeKind("string", 1, "fixed national"), "NCHAR"),
    (TypeKind("string", UNBOUNDED), "VARCHAR VARCHAR2 STRING TEXT CLOB LONGTEXT MEDIUMTEXT BPCHAR"),
    (TypeKind("string", UNBOUNDED, "national"), "NVARCHAR NVARCHAR2 NTEXT NCLOB"),
    (TypeKind("binary", 1, "fixed"), "BINARY"),
    (TypeKind("binary", UNBOUNDED), "VARBINARY BLOB BYTEA BYTES IMAGE RAW LONGBLOB"),
    (TypeKind("date"), "DATE DATE32"),
    (TypeKind("time", 7), "TIME"),
    (TypeKind("timestamp", 0), "SMALLDATETIME"),
    (TypeKind("timestamp", 3), "DATETIME"),
    (TypeKind("timestamp", 6), "TIMESTAMP TIMESTAMP_NTZ TIMESTAMPNTZ"),
    (TypeKind("timestamp", 7), "DATETIME2"),
    (TypeKind("timestamp", 6, "zone"), "TIMESTAMPTZ TIMESTAMP_TZ TIMESTAMP_LTZ TIMESTAMPLTZ"),
    (TypeKind("timestamp", 7, "zone"), "DATETIMEOFFSET"),
    (TypeKind("boolean"), "BOOLEAN BOOL BIT"),
)
TYPE_KINDS: dict[str, TypeKind] = {name: kind for kind, names in _KIND_ROWS for name in names.split()}
TYPE_KINDS |= {
    "DOUBLE PRECISION": TYPE_KINDS["DOUBLE"],
    "CHARACTER VARYING": TYPE_KINDS["VARCHAR"],
    "CHAR VARYING": TYPE_KINDS["VARCHAR"],
}

MONEY_TYPES = {"MONEY": ComparableType("decimal", 15, 4), "SMALLMONEY": ComparableType("decimal", 6, 4)}

TYPE_SUFFIXES = {"UNSIGNED": "unsigned", "WITH TIME ZONE": "zone", "WITH LOCAL TIME ZONE": "zone"}
"""Words after a type that change what it is compared with."""

LOSSY_FAMILIES = frozenset({frozenset({"float", "decimal"})})
"""Families between which values survive, if not exactly."""

_SPELLING = re.compile(r"^(?P<name>[^(<]+?)\s*(?:\((?P<sizes>[\w\s,]*)\)\s*(?P<rest>[^()]*))?$")


_WRAPPER = re.compile(r"\s*(?:NULLABLE|LOWCARDINALITY)\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)
"""ClickHouse: NULL is said of the column, and a dictionary of values is only how they are stored."""


def parse_comparable_type(text: str) -> ComparableType:
    """Parse a type; an unknown one is a family of its own."""
    while wrapped := _WRAPPER.fullmatch(text):
        text = wrapped[1]
    match = _SPELLING.match(" ".join(text.upper().split()))
    if match is None:
        return ComparableType(text.upper(), 0)
    name, side = _split_suffix(match["name"])
    side = next((side for words, side in TYPE_SUFFIXES.items() if words in (match["rest"] or "")), side)
    if name in MONEY_TYPES:
        return MONEY_TYPES[name]
    kind = TYPE_KINDS.get(name)
    if kind is None:
        return ComparableType(text.upper().replace(" ", ""), 0)
    sizes = [
        UNBOUNDED if size == "MAX" else parse_whole_number(size)
        for size in re.findall(r"\d+|MAX", match["sizes"] or "")
    ]
    return _apply_sizes(kind, sizes, side or kind.side)


def _parse_pair(one: str, other: str) -> tuple[ComparableType, ComparableType]:
    """Two types of one engine; where one is a NUMBER, INT is NUMBER(38) (Oracle docs: ANSI types; Snowflake docs)."""
    found = parse_comparable_type(one), parse_comparable_type(other)
    if not any(text.upper().startswith("NUMBER") for text in (one, other)):
        return found
    whole = ComparableType("decimal", NUMBER_DIGITS)
    return whole if found[0].family == "integer" else found[0], whole if found[1].family == "integer" else found[1]


NUMBER_DIGITS = 38


def compare_types(before: str, after: str) -> tuple[str, Severity] | None:
    """The rule and severity of a type change, or None where both types hold the same values."""
    old, new = _parse_pair(before, after)
    if old == new:
        return None
    if (labels := (_enum_labels(before), _enum_labels(after)))[0] and labels[1]:
        return ("TYP001", Severity.NON_BREAKING) if labels[0] <= labels[1] else ("TYP002", Severity.BREAKING)
    if old.family != new.family:
        kindred = frozenset({old.family, new.family}) in LOSSY_FAMILIES
        return ("TYP005", Severity.POTENTIALLY_BREAKING) if kindred else ("TYP003", Severity.BREAKING)
    if old.scale != new.scale:
        narrower = new.scale < old.scale or new.size < old.size
        return "TYP004", Severity.BREAKING if narrower else Severity.NON_BREAKING
    if new.size < old.size:
        return "TYP002", Severity.BREAKING
    if old.side != new.side:
        return "TYP005", Severity.POTENTIALLY_BREAKING
    return "TYP001", Severity.NON_BREAKING


def _enum_labels(text: str) -> frozenset[str]:
    """The values that an ENUM or SET type lists."""
    return frozenset(_LABEL.findall(text)) if text.upper().startswith(("ENUM(", "SET(")) else frozenset()


_LABEL = re.compile(r"'(?:[^']|'')*'")


def keeps_equality(before: str, after: str) -> bool:
    """Say whether values of a widened type equal what they equaled before.

    Engines compare whole numbers and texts by value. A longer CHAR is padded further, and 0.1 as REAL is not 0.1 as
    DOUBLE; more digits after the point may be others than those of the partner.
    """
    old, new = _parse_pair(before, after)
    same = (old.family, old.scale, old.side) == (new.family, new.scale, new.side)
    return same and old.family in EXACT_FAMILIES and "fixed" not in old.side


EXACT_FAMILIES = frozenset({"integer", "decimal", "string", "binary"})
"""Families whose values do not depend on the size of their type."""


def is_narrower_type(target: str, source: str) -> bool:
    """Say whether a value of the source type may not fit into the target type of the same family."""
    wide, narrow = _parse_pair(source, target)
    return wide.family == narrow.family and (narrow.size < wide.size or narrow.scale < wide.scale)


def _split_suffix(name: str) -> tuple[str, str]:
    for words, side in TYPE_SUFFIXES.items():
        if name.endswith(" " + words):
            return name.removesuffix(" " + words), side
    return name.removesuffix(" WITHOUT TIME ZONE"), ""


def _apply_sizes(kind: TypeKind, sizes: list[int], side: str) -> ComparableType:
    """A type with its sizes; decimals count the digits before the point."""
    if kind.family == "decimal":
        precision = sizes[0] if sizes else UNBOUNDED
        scale = sizes[1] if len(sizes) > 1 else 0 if sizes else UNBOUNDED
        return ComparableType("decimal", precision - (scale if sizes else 0), scale, side)
    if kind.family in ("integer", "float", "boolean", "date") or not sizes:
        return ComparableType(kind.family, kind.size, 0, side)  # INT(11) is a display width
    return ComparableType(kind.family, sizes[0], 0, side)


STRUCT_TYPES = frozenset("STRUCT ROW RECORD OBJECT TUPLE NESTED".split())
"""Types whose brackets hold names with types."""

COLLECTION_TYPES = frozenset("ARRAY LIST MULTISET".split())
"""Types whose brackets hold the type of an element."""

_NESTED_TYPE = re.compile(
    r"\s*+([A-Za-z_]\w*+)\s*+(?:([<(])(.*)([>)]))?\s*+((?:\[\d*\])*+)\s*+(?:NOT NULL)?\s*+$", re.DOTALL
)

_FIELD_PATTERN = re.compile(r"""\s*("(?:[^"]|"")*"|`[^`]*`|[\w$]+)(?:\s*+:|\s)\s*+(.+)$""", re.DOTALL)


def list_fields(type_: str) -> dict[str, str] | None:
    """Field types by path, or None without fields: `STRUCT<a INT, b ARRAY<STRUCT<c TEXT>>>` has a, b, b.c."""
    found: dict[str, str] = {}
    return found if _collect_fields(type_, "", found) else None


def is_missing_field(type_: str, path: str) -> bool:
    """Say whether a type lists fields and a path names none of them."""
    listed = [name.casefold().replace('"', "").replace("`", "") for name in list_fields(type_) or ()]
    above = ""
    for part in path.casefold().split("."):
        beside = [name for name in listed if name.rpartition(".")[0] == above]
        above = f"{above}.{part}" if above else part
        if not beside:
            return False
        if above not in beside:
            return True
    return False


def _collect_fields(type_: str, path: str, found: dict[str, str]) -> bool:
    """Collect the fields below a path, and say whether the type is nested."""
    match = _NESTED_TYPE.match(type_)
    if match is None or match[3] is None:
        return False
    word = match[1].upper()
    if word in COLLECTION_TYPES:
        return _collect_fields(match[3], path, found)
    if word not in STRUCT_TYPES:
        return False
    for part in _split_fields(match[3]):
        field = _FIELD_PATTERN.match(part)
        if field is None:
            return False
        own = field[1].lower()  # no engine tells members apart by their letters
        name = f"{path}.{own}" if path else own
        inner: dict[str, str] = {}
        nested = _collect_fields(field[2], name, inner)
        found[name] = _NESTED_TYPE.sub(r"\1", field[2]).strip().upper() if nested else " ".join(field[2].split())
        found.update(inner)
    return True


def _split_fields(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for position, sign in enumerate(text):
        depth += (sign in "<([") - (sign in ">)]")
        if sign == "," and depth == 0:
            parts.append(text[begin:position])
            begin = position + 1
    return [*parts, text[begin:]]
