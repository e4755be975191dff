"""How the functions of Spark make types of the types of their arguments."""

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.typing import decimals
from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types
from lineage_pipeline.dialects.typing.families import Family, own
from lineage_pipeline.dialects.typing.results import element
from lineage_pipeline.dialects.typing.shapes import capitals, member_type, shape_of
from lineage_pipeline.dialects.typing.widening import common_type, digits_of, interval

_UNITS = {
    **{"WEEK": "DAY", "QUARTER": "MONTH", "MILLISECOND": "SECOND", "MICROSECOND": "SECOND", "NANOSECOND": "SECOND"},
}


def total(family: Family, types: Types, texts: Texts) -> str | None:
    """SUM: integers grow long, decimals by ten digits."""
    shape = shape_of(types[0] or "") if types else None
    if shape is None or not shape.name:
        return None
    if shape.name in family.integers:
        return family.bigint
    digits = digits_of(shape, family)
    if digits is not None:
        return family.numeric(*decimals.bounded(digits[0] + 10, digits[1]))
    return _span(shape.name) or _floating(shape.name, family)


def average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG: decimals by four digits behind the point, all else is floating."""
    shape = shape_of(types[0] or "") if types else None
    if shape is None or not shape.name:
        return None
    digits = digits_of(shape, family) if shape.name == family.decimal else None
    if digits is not None:
        return family.numeric(*decimals.bounded(digits[0] + 4, digits[1] + 4))
    return _span(shape.name) or (family.double if shape.name in family.integers else _floating(shape.name, family))


def _floating(name: str, family: Family) -> str | None:
    """A floating number, or a string or NULL that is read as one."""
    return family.double if name in (family.real, family.double, family.string, family.null) else None


def _span(name: str) -> str | None:
    if not name.startswith("INTERVAL"):
        return None
    return interval("YEAR", "MONTH") if "YEAR" in name or "MONTH" in name else interval("DAY", "SECOND")


def rounding(family: Family, types: Types, texts: Texts) -> str | None:
    """ROUND: a decimal keeps as many digits behind the point as are asked for."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    digits = digits_of(shape, family) if shape.name == family.decimal else None
    if digits is None:
        return family.double if shape.name == family.string else types[0] if types else None
    text = texts[1] if len(texts) > 1 else "0"
    number = text.removeprefix("neg(").removesuffix(")")
    if not number.isdigit():
        return None
    return family.numeric(
        *decimals.rounded(digits, -whole_number(number) if text.startswith("neg(") else whole_number(number))
    )


def whole(family: Family, types: Types, texts: Texts) -> str | None:
    """CEIL and FLOOR: a decimal without digits behind the point, or a long integer."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    digits = digits_of(shape, family) if shape.name == family.decimal else None
    if len(texts) > 1:
        shown = digits or digits_of(shape, family) or ((14, 7) if shape.name == family.real else (30, 15))
        return rounding(family, (family.numeric(*shown), None), texts)
    if digits is None:
        return family.bigint if shape.name else None
    return family.numeric(*(digits if digits[1] == 0 else decimals.bounded(digits[0] - digits[1] + 1, 0)))


def span(family: Family, types: Types, texts: Texts) -> str | None:
    """INTERVAL with a unit, or from one unit to another."""
    if len(types) > 1 and types[1]:
        return types[1]
    unit = texts[-1].upper().removesuffix("S")
    unit = _UNITS.get(unit, unit)
    return interval(unit, unit) if unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND") else family.interval


def span_units(family: Family, types: Types, texts: Texts) -> str | None:
    """The units of an interval."""
    return interval(texts[0].upper(), texts[-1].upper())


def part(family: Family, types: Types, texts: Texts) -> str | None:
    """EXTRACT: whole numbers, but for seconds; the smaller parts of an interval are small."""
    unit = texts[0].strip("'").upper().removesuffix("S") if texts else ""
    if unit in ("SECOND", "", "SEC"):
        return "DECIMAL(8,6)"
    spans = len(types) > 1 and (types[1] or "").startswith("INTERVAL ")
    return "TINYINT" if spans and unit in ("MONTH", "MON", "HOUR", "H", "MINUTE", "MIN", "M") else family.integer


def moved_by(family: Family, types: Types, texts: Texts) -> str | None:
    """A moment moved by a unit: a date stays one for whole days and more."""
    return family.timestamp if not types or types[0] != "TIMESTAMP_NTZ" else types[0]


def joined(family: Family, types: Types, texts: Texts) -> str | None:
    """CONCAT of arrays is an array; of anything else, a string."""
    if any((kind or "").startswith("ARRAY") for kind in types):
        return common_type(types, family)
    return family.binary if types and all(kind == family.binary for kind in types) else family.string


def flattened(family: Family, types: Types, texts: Texts) -> str | None:
    """An array of arrays becomes one."""
    return member_type(types[0], "") if types else None


def zipped(family: Family, types: Types, texts: Texts) -> str | None:
    """ARRAYS_ZIP: an array of structs whose members are called after the columns, or counted."""
    kinds = [member_type(kind, "") for kind in types]
    if not kinds or not all(kinds):
        return None
    return family.array(family.struct([(texts[at] or str(at), kind or "") for at, kind in enumerate(kinds)]))


def entries(family: Family, types: Types, texts: Texts) -> str | None:
    """A map as an array of its entries."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    if shape.name != "MAP" or len(shape.members) != 2:
        return None
    return family.array(family.struct([("key", shape.members[0][1]), ("value", shape.members[1][1])]))


def from_entries(family: Family, types: Types, texts: Texts) -> str | None:
    """A map made of an array of entries."""
    inner = shape_of(member_type(types[0], "") or "") if types else shape_of("")
    return family.map(inner.members[0][1], inner.members[1][1]) if len(inner.members) == 2 else None


def ranged(family: Family, types: Types, texts: Texts) -> str | None:
    """SEQUENCE: an array of the type that holds both ends."""
    kind = common_type(types[:2], family)
    return family.array(kind) if kind else None


def transformed(family: Family, types: Types, texts: Texts) -> str | None:
    """An array of what a function gives."""
    return family.array(types[-1]) if types and types[-1] else None


def with_values(family: Family, types: Types, texts: Texts) -> str | None:
    """A map with other values."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    return family.map(shape.members[0][1], types[-1] or "") if shape.members and types[-1] else None


def with_keys(family: Family, types: Types, texts: Texts) -> str | None:
    """A map with other keys."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    return family.map(types[-1] or "", shape.members[-1][1]) if shape.members and types[-1] else None


def reduced(family: Family, types: Types, texts: Texts) -> str | None:
    """What is left of an array: what the last function gives."""
    return types[-1] if len(types) > 3 else types[1] if len(types) > 1 else None


def percentiles(family: Family, types: Types, texts: Texts) -> str | None:
    """One percentile, or an array of them."""
    several = len(types) > 1 and (types[1] or "").startswith("ARRAY")
    kind = types[0] if types else None
    return family.array(kind) if several and kind else kind


def exact_percentiles(family: Family, types: Types, texts: Texts) -> str | None:
    """One percentile, or an array of them, as floating numbers; those of intervals are intervals."""
    kind = _span(types[0] or "") if types else None
    several = len(types) > 1 and (types[1] or "").startswith("ARRAY")
    return family.array(kind or family.double) if several else kind or family.double


def best(family: Family, types: Types, texts: Texts) -> str | None:
    """MAX_BY and MIN_BY: a value, or an array of as many as are asked for."""
    kind = types[0] if types else None
    return family.array(kind) if kind and len(types) > 2 else kind


def counted(*names: str) -> Rule:
    """A function that gives an array of values, each beside a number."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        number = family.double if names[1] == "Y" else family.bigint
        kind = types[0] if types else None
        return family.array(family.struct([(names[0], kind), (names[1], number)])) if kind else None

    return rule


def signed(family: Family, types: Types, texts: Texts) -> str | None:
    """A number as it is; a string is read as one."""
    kind = types[0] if types else None
    if kind == family.bigint and texts and texts[0] == "2147483648":
        return family.integer
    return family.double if kind == family.string else kind


def reversed_(family: Family, types: Types, texts: Texts) -> str | None:
    """An array or a string the other way round."""
    kept = types and (types[0] or "").startswith(("ARRAY", family.binary))
    return types[0] if kept else family.string


def between(family: Family, types: Types, texts: Texts) -> str | None:
    """The time between two moments: in days, or, as a long number, in another unit."""
    return family.integer if not texts or texts[-1] in ("day", "") else family.bigint


def described(family: Family, types: Types, texts: Texts) -> str | None:
    """A document read as a type that is written out: a list of columns, or a type."""
    text = texts[1].strip("'") if len(texts) > 1 and texts[1].startswith("'") else ""
    if not text:
        return None
    nested = text.upper().startswith(("STRUCT<", "ARRAY<", "MAP<"))
    return own(capitals(text if nested else f"STRUCT<{text}>"), family.name)


def named_type(family: Family, types: Types, texts: Texts) -> str | None:
    """A part of a document, as a type that is written out where one is."""
    text = texts[1] if len(texts) > 1 else ""
    return own(text.strip("'").upper(), family.name) if text.startswith("'") else "VARIANT"


def within(family: Family, types: Types, texts: Texts) -> str | None:
    """An aggregate over an order; one that has no argument gives what is ordered, and so do those of intervals."""
    if len(types) > 1 and (types[1] or "").startswith("INTERVAL"):
        return _span(types[1] or "")
    return types[0] or (types[1] if len(types) > 1 else None) if types else None


def cut(family: Family, types: Types, texts: Texts) -> str | None:
    """A part of a string or of bytes."""
    return family.binary if types and types[0] == family.binary else family.string


def unless_nan(family: Family, types: Types, texts: Texts) -> str | None:
    """NANVL: short only where both are."""
    return family.real if set(types) == {family.real} else family.double


def or_zero(family: Family, types: Types, texts: Texts) -> str | None:
    """ZEROIFNULL: a number, or an integer that is zero."""
    return common_type((types[0], family.integer), family) if types else None


def formatted(family: Family, types: Types, texts: Texts) -> str | None:
    """TO_NUMBER: as many digits as its format shows."""
    if len(texts) < 2 or not texts[1].startswith("'"):
        return None
    whole, _, behind = texts[1].upper().replace("D", ".").partition(".")
    digits = [sum(character in "09" for character in part) for part in (whole, behind)]
    return family.numeric(sum(digits), digits[1])


def held(family: Family, types: Types, texts: Texts) -> str | None:
    """GET: what an array holds; one that is asked for by its number is that already."""
    return element(family, types, texts) or (types[0] if types else None)


def shifted(family: Family, types: Types, texts: Texts) -> str | None:
    """A number whose bits are moved: short ones are integers first."""
    return family.integer if types and types[0] in ("TINYINT", "SMALLINT") else types[0] if types else None
