"""How the operators and functions of PostgreSQL make types of the types of their arguments."""

from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types, arithmetic
from lineage_pipeline.dialects.typing.family import UNKNOWN, Family
from lineage_pipeline.dialects.typing.results import element
from lineage_pipeline.dialects.typing.shapes import member_type, shape_of
from lineage_pipeline.dialects.typing.widening import common_type, unsized

RANGES: dict[str, str] = {
    "INT4RANGE": "INT",
    "INT8RANGE": "BIGINT",
    "NUMRANGE": "DECIMAL",
    "DATERANGE": "DATE",
    "TSRANGE": "TIMESTAMP",
    "TSTZRANGE": "TIMESTAMPTZ",
}
"""Ranges, and what they are ranges of."""

MULTIRANGES: dict[str, str] = {name: name for name in (kind.replace("RANGE", "MULTIRANGE") for kind in RANGES)}
"""Sets of ranges, which are called as the functions that make them."""

OPERATORS: dict[tuple[str, str, str], str] = {
    ("ADD", "DATE", "TIME"): "TIMESTAMP",
    ("ADD", "TIME", "DATE"): "TIMESTAMP",
    ("ADD", "DATE", "TIMETZ"): "TIMESTAMPTZ",
    ("ADD", "TIMETZ", "DATE"): "TIMESTAMPTZ",
    **{(op, kind, "TIME"): kind for op in ("ADD", "SUB") for kind in ("TIMESTAMP", "TIMESTAMPTZ")},
    **{("ADD", "TIME", kind): kind for kind in ("TIMESTAMP", "TIMESTAMPTZ")},
    ("ADD", "TIMETZ", "INTERVAL"): "TIMETZ",
    ("ADD", "INTERVAL", "TIMETZ"): "TIMETZ",
    ("SUB", "TIMETZ", "INTERVAL"): "TIMETZ",
    ("DIV", "MONEY", "MONEY"): "DOUBLE PRECISION",
    ("SUB", "INET", "INET"): "BIGINT",
}
"""What operators give for types that do not calculate as numbers do."""

_SELF = frozenset({"MONEY", "JSONB", "INET", "TSVECTOR", "TSQUERY", *RANGES})


def name_of(types: Types, position: int = 0) -> str:
    """The name of the type of an argument, or nothing."""
    return shape_of(types[position] or "").name if len(types) > position else ""


def operator(op: str) -> Rule:
    """An operator between numbers, moments, or values of other types."""
    plain = arithmetic(op)

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        left, right = name_of(types), name_of(types, 1)
        known = OPERATORS.get((op, left, right))
        if known is not None:
            return known
        if left in _SELF or right in _SELF:
            return left if left in _SELF else right
        found = plain(family, types, texts)
        return family.double if found == family.real and left != right and UNKNOWN not in (left, right) else found

    return rule


def concatenated(family: Family, types: Types, texts: Texts) -> str | None:
    """`||` of arrays is an array, of documents a document, of bytes bytes; of anything else, a text."""
    arrays = [kind for kind in types if kind and kind.endswith("[]")]
    if arrays:
        return arrays[0]
    names = {name_of(types, at) for at in range(len(types))}
    if names & {"BIT", "VARBIT"}:
        return "VARBIT"
    same = names & {"JSONB", "BYTEA", "TSVECTOR", "TSQUERY"}
    return same.pop() if len(same) == 1 else family.string


def exact_or_floating(family: Family, types: Types, texts: Texts) -> str | None:
    """A function that has a form for exact decimals and one for floating numbers, which integers take."""
    name = name_of(types)
    return family.decimal if name == family.decimal else family.double if name else None


def statistic(family: Family, types: Types, texts: Texts) -> str | None:
    """A statistic: exact where its argument is."""
    name = name_of(types)
    if not name:
        return None
    return family.decimal if name == family.decimal or name in family.integers else family.double


def rounded(family: Family, types: Types, texts: Texts) -> str | None:
    """ROUND and TRUNC: with a number of digits they are exact."""
    return family.decimal if len(types) > 1 else exact_or_floating(family, types, texts)


def logarithm(family: Family, types: Types, texts: Texts) -> str | None:
    """LOG: with a base it is exact; LOG10 comes with one, too."""
    if texts and texts[0] == "10":
        return exact_or_floating(family, types[1:], ())
    return family.decimal if len(types) > 1 else exact_or_floating(family, types, texts)


def power(family: Family, types: Types, texts: Texts) -> str | None:
    """A power: exact where one side is a decimal and none is floating."""
    names = {name_of(types), name_of(types, 1)}
    exact = family.decimal in names and not names & {family.real, family.double}
    return family.decimal if exact else family.double


def total(family: Family, types: Types, texts: Texts) -> str | None:
    """SUM: short integers grow long, long ones and decimals have any number of digits."""
    name = name_of(types)
    if name in ("SMALLINT", family.integer):
        return family.bigint
    return {family.bigint: family.decimal, family.time: family.interval}.get(name, name or None)


def average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG: any number of digits, or floating."""
    name = name_of(types)
    if name in family.integers or name == family.decimal:
        return family.decimal
    return {family.real: family.double, family.double: family.double, family.time: family.interval}.get(
        name, name or None
    )


def extreme(family: Family, types: Types, texts: Texts) -> str | None:
    """MIN and MAX: strings are compared as texts."""
    kind = types[0] if types else None
    return family.string if name_of(types) in ("VARCHAR", "NAME", UNKNOWN) else kind


def text(family: Family, types: Types, texts: Texts) -> str | None:
    """A function of texts that takes bytes and bits, too."""
    name = name_of(types)
    return name if name in (family.binary, "BIT", "VARBIT") else family.string


def bound(family: Family, types: Types, texts: Texts) -> str | None:
    """LOWER and UPPER: the end of a range, or a text."""
    return RANGES.get(name_of(types).replace("MULTIRANGE", "RANGE"), family.string)


def merged_range(family: Family, types: Types, texts: Texts) -> str | None:
    """RANGE_MERGE: the range that holds all of some."""
    return name_of(types).replace("MULTIRANGE", "RANGE") or None


def gathered_range(family: Family, types: Types, texts: Texts) -> str | None:
    """RANGE_AGG: the ranges of a column together."""
    return MULTIRANGES.get(name_of(types).replace("MULTIRANGE", "RANGE").replace("RANGE", "MULTIRANGE"))


def overlapping(family: Family, types: Types, texts: Texts) -> str | None:
    """`&&`: whether two ranges or arrays overlap; of two searches, both of them."""
    return "TSQUERY" if name_of(types) == "TSQUERY" else family.boolean


def headline(family: Family, types: Types, texts: Texts) -> str | None:
    """TS_HEADLINE: a text, or a document, with what was found marked."""
    return next((kind for kind in types[:2] if kind in ("JSON", "JSONB")), family.string)


def length(family: Family, types: Types, texts: Texts) -> str | None:
    """LENGTH: how many characters there are, or how long a line is."""
    return family.double if name_of(types) in ("PATH", "LSEG") else family.integer


def shifted(family: Family, types: Types, texts: Texts) -> str | None:
    """The signs of shifts: bits are moved; networks, ranges and shapes are compared."""
    return types[0] if name_of(types) in (*family.integers, "BIT", "VARBIT", "") else family.boolean


def taken(family: Family, types: Types, texts: Texts) -> str | None:
    """What stands in brackets: an element of an array, a part of a document, or a coordinate."""
    return family.double if name_of(types) in ("POINT", "LSEG", "BOX") else element(family, types, texts)


def nullif(family: Family, types: Types, texts: Texts) -> str | None:
    """NULLIF: the first value, as what the two are compared as."""
    kind, name, other = types[0], name_of(types), name_of(types, 1)
    if name == UNKNOWN and other not in _STRINGS:
        return types[1] if len(types) > 1 else None
    if name in _STRINGS:
        return _compared(family, kind, name, other)
    if other in (name, UNKNOWN) or any(name in group and other in group for group in _COMPARED):
        return kind
    if name == family.real:
        return kind
    if other == family.real:
        return family.double
    merged = common_type(types[:2], family)
    return kind if merged is None or name_of((merged,)) == name else merged


_STRINGS = frozenset({"TEXT", "VARCHAR", "CHAR", "BPCHAR", UNKNOWN})
_COMPARED = (
    frozenset({"SMALLINT", "INT", "BIGINT"}),
    frozenset({"REAL", "DOUBLE PRECISION"}),
    frozenset({"DATE", "TIMESTAMP", "TIMESTAMPTZ"}),
)
"""Types that are compared with each other as they are."""


def _compared(family: Family, kind: str | None, name: str, other: str) -> str | None:
    """The first of two strings, as what the two are compared as: padded ones as such, all others as texts."""
    padded = ("CHAR", "BPCHAR")
    if family.string in (name, other) or not (name in padded or other in padded):
        return family.string
    return kind if name in padded else "BPCHAR"


def array(family: Family, types: Types, texts: Texts) -> str | None:
    """An array that is written out; strings in it are texts."""
    kind = common_type(types, family) if types else UNKNOWN
    return family.array(family.string if kind == UNKNOWN else kind) if kind else None


def truncated(family: Family, types: Types, texts: Texts) -> str | None:
    """DATE_TRUNC: a date becomes a moment with a zone."""
    name = name_of(types)
    return family.zoned if name == family.date else name or None


def age(family: Family, types: Types, texts: Texts) -> str | None:
    """AGE: an interval of moments, a number of transactions."""
    name = name_of(types)
    if name in ("XID", "XID8"):
        return family.integer
    return family.interval if len(types) > 1 or name in (family.date, family.timestamp, family.zoned, UNKNOWN) else None


def binned(family: Family, types: Types, texts: Texts) -> str | None:
    """DATE_BIN: the kind of moment that it is asked of."""
    moments = [kind for kind in types if shape_of(kind or "").name in (family.timestamp, family.zoned)]
    return moments[0] if moments else None


_ZONES = {"TIMESTAMP": "TIMESTAMPTZ", "TIMESTAMPTZ": "TIMESTAMP", "DATE": "TIMESTAMP", "TIME": "TIMETZ"}


def zoned(position: int) -> Rule:
    """A moment seen in a zone gains one or loses it."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        name = name_of(types, position)
        return _ZONES.get(name, name or None)

    return rule


def series(family: Family, types: Types, texts: Texts) -> str | None:
    """GENERATE_SERIES: of numbers or of moments."""
    kind = common_type(types[:2], family)
    return family.zoned if kind == family.date else kind


def percentile(family: Family, types: Types, texts: Texts) -> str | None:
    """PERCENTILE_CONT: one floating number, or an array of them."""
    return family.array(family.double) if (types[0] or "").endswith("]") else family.double


ARRAYED = "ARRAY"
"""The type of a percentile that is asked for several shares: an array of what is ordered."""


def chosen(family: Family, types: Types, texts: Texts) -> str | None:
    """PERCENTILE_DISC: what is ordered, or an array of it."""
    return ARRAYED if types and (types[0] or "").endswith("]") else None


def within(family: Family, types: Types, texts: Texts) -> str | None:
    """An aggregate over an order; some give what is ordered."""
    kind, ordered = types[0], types[1] if len(types) > 1 else None
    if kind == ARRAYED:
        return family.array(unsized(ordered)) if ordered else None
    if kind is None:
        return unsized(ordered) if ordered else None
    return family.interval if kind == family.double and ordered == family.interval else kind


def document(family: Family, types: Types, texts: Texts) -> str | None:
    """A part of a document is a document of the same kind."""
    name = name_of(types)
    return name if name in ("JSON", "JSONB") else None


def neighbour(family: Family, types: Types, texts: Texts) -> str | None:
    """LAG and LEAD: the value, or what stands for it."""
    return common_type([types[0], types[2]], family) if len(types) > 2 else types[0] if types else None


def unnested(family: Family, types: Types, texts: Texts) -> str | None:
    """An element of an array; arrays of arrays are taken apart to the end."""
    return member_type(types[0], "") if types and (types[0] or "").endswith("]") else None


def now(kind: str) -> Rule:
    """CURRENT_TIMESTAMP and its kin, which may say how exact they are."""
    return lambda family, types, texts: f"{kind}({texts[0]})" if texts and texts[0].isdigit() else kind
