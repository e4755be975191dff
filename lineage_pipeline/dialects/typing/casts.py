"""Conversions that give null where they fail, as Spark and Hive make them, also unasked."""

from collections.abc import Sequence
from functools import lru_cache

from lineage_pipeline.dialects.typing.decimals import Digits, written_digits
from lineage_pipeline.dialects.typing.families import Family, family_of
from lineage_pipeline.dialects.typing.shapes import Shape, shape_of
from lineage_pipeline.dialects.typing.widening import common_type, digits_of, is_number

LENIENT = frozenset({"spark", "hive"})
"""The families whose analysers take it that a conversion may give null; in all others it fails."""


@lru_cache(maxsize=4096)
def may_fail(source: str | None, target: str | None, name: str) -> bool:
    """Whether a conversion from one type to another may give null; from or to one that is not known, it may."""
    if name not in LENIENT or source == target:
        return False
    if source is None or target is None:
        return True
    family = family_of(name)
    before, after = shape_of(source), shape_of(target)
    if before.members or after.members:
        return False
    if after.name in (family.string, "VARCHAR", "CHAR") or before.name == family.null:
        return False
    if before.name in (family.string, "VARCHAR", "CHAR"):
        return after.name != family.binary
    return _number_fails(before, after, family) or _moment_fails(before, after, family)


def _moment_fails(before: Shape, after: Shape, family: Family) -> bool:
    if after.name == family.date:
        return before.name not in (family.date, family.timestamp)
    if before.name == family.date:
        return after.name == "TIMESTAMP_NTZ"
    floating = before.name in (family.real, family.double)
    if before.name == family.timestamp:
        return after.name in family.integers and after.name != family.bigint
    return floating and after.name == family.timestamp


def _number_fails(before: Shape, after: Shape, family: Family) -> bool:
    if after.name == family.decimal:
        have, get = digits_of(before, family), digits_of(after, family)
        if before.name == family.boolean:
            return False
        return have is None or get is None or not _holds(have, get)
    fractional = before.name in (family.decimal, family.real, family.double)
    return fractional and after.name in family.integers


def _holds(have: Digits, get: Digits) -> bool:
    """Whether a decimal fits into another one; what is rounded may need one digit more before the point."""
    before, after = have[0] - have[1], get[0] - get[1]
    return before <= after if have[1] <= get[1] else before < after


@lru_cache(maxsize=4096)
def operands_fail(op: str, types: Sequence[str | None], texts: Sequence[str], name: str) -> bool:
    """Whether the operands of a calculation or comparison have to be converted in a way that may give null."""
    if name not in LENIENT:
        return False
    family = family_of(name)
    known = [kind for kind in types if kind is not None and kind != family.null]
    if op in CALCULATES and any(shape_of(kind).name in family.strings for kind in known):
        return True
    if op not in CALCULATES or not any(is_number(shape_of(kind), family) for kind in known):
        common = common_type(known, family)
        if common is not None and any(may_fail(kind, common, name) for kind in known):
            return True
    return op not in LISTED and _written_fails(op, types, texts, family)


CALCULATES = frozenset({"ADD", "SUB", "MUL", "DIV"})
"""Operators that take strings for numbers."""

LISTED = frozenset({"IN", "AND", "OR"})
"""Operators that give a whole number beside a decimal all the digits that it could have."""


ORDERS = frozenset({"LT", "LTE", "GT", "GTE"})


def _is_fraction(text: str) -> bool:
    """Whether a text is that of a decimal that is written out."""
    text = text.removeprefix("neg(").removeprefix("cast('").partition("'")[0]
    return text.removesuffix(")").replace(".", "", 1).isdigit()


def _written_fails(op: str, types: Sequence[str | None], texts: Sequence[str], family: Family) -> bool:
    """Whether a whole number that is written out meets a decimal: it gets just its own digits, which may be too few."""
    shapes = [shape_of(kind or "") for kind in types]
    if any(shape.name in (family.real, family.double) for shape in shapes):
        return False
    written = [
        shape.name in family.integers and written_digits(text) is not None
        for shape, text in zip(shapes, texts, strict=False)
    ]
    decimal = [shape.name == family.decimal for shape in shapes]
    if op in ORDERS and any(has and _is_fraction(text) for has, text in zip(decimal, texts, strict=False)):
        return False  # the fraction is rounded to a whole number instead
    if op == "BETWEEN":  # two comparisons; what is compared stands for itself and is no constant there
        return any(decimal[:1]) and any(written[1:])
    return any(decimal) and any(written)


@lru_cache(maxsize=4096)
def is_widening(source: str | None, target: str, name: str) -> bool:
    """Whether a conversion always succeeds and loses nothing."""
    if source is None:
        return False
    family = family_of(name)
    before, after = shape_of(source), shape_of(target)
    if source == target or before.name == after.name == family.binary:
        return True
    if before.members or after.members:
        same = before.name == after.name and len(before.members) == len(after.members)
        pairs = zip(before.members, after.members, strict=False)
        return same and all(is_widening(inner, outer, name) for (_, inner), (_, outer) in pairs)
    if after.name == family.string or (before.name == family.string and after.name == family.binary):
        return True
    return _wider_number(before, after, family) or _wider_moment(before, after, family)


def _wider_number(before: Shape, after: Shape, family: Family) -> bool:
    if after.name == family.decimal:
        have, get = digits_of(before, family), digits_of(after, family)
        return have is not None and get is not None and have[1] <= get[1] and _holds(have, get)
    ranks = (*family.integers, family.real, family.double)
    return before.name in ranks and after.name in ranks and ranks.index(before.name) <= ranks.index(after.name)


def _wider_moment(before: Shape, after: Shape, family: Family) -> bool:
    moments = (family.timestamp, "TIMESTAMP_NTZ")
    if before.name.startswith("INTERVAL") and after.name.startswith("INTERVAL"):
        return True
    if after.name in moments and before.name in (family.date, *moments):
        return True
    return {before.name, after.name} == {family.timestamp, family.bigint}
