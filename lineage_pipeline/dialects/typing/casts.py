"""Conversions that give null where they fail, as Spark and Hive make them, also unasked."""

from collections.abc import Sequence
from functools import lru_cache

from lineage_pipeline.dialects.typing.families import Family, family_of
from lineage_pipeline.dialects.typing.shapes import Shape, shape_of
from lineage_pipeline.dialects.typing.widening import digits_of, is_number

LENIENT = frozenset({"spark", "hive"})
"""The families whose analysers take it that a conversion may give null; in all others it fails."""


@lru_cache(maxsize=4096)
def may_fail(source: str | None, target: str | None, name: str) -> bool:
    """Whether a conversion from one type to another may give null."""
    if source is None or target is None or source == target or name not in LENIENT:
        return False
    family = family_of(name)
    before, after = shape_of(source), shape_of(target)
    if before.members or after.members:
        return any(
            may_fail(inner, outer, name)
            for (_, inner), (_, outer) in zip(before.members, after.members, strict=False)
            if before.name == "MAP"
        )
    if after.name in (family.string, "VARCHAR", "CHAR") or before.name == family.null:
        return False
    if before.name in (family.string, "VARCHAR", "CHAR"):
        return after.name != family.binary
    return _number_fails(before, after, family) or _moment_fails(before, after, family)


def _moment_fails(before: Shape, after: Shape, family: Family) -> bool:
    if after.name == family.date:
        return not before.name.startswith("TIMESTAMP")
    floating = before.name in (family.real, family.double)
    if before.name == family.timestamp:
        return after.name in family.integers and after.name != family.bigint
    return floating and after.name == family.timestamp


def _number_fails(before: Shape, after: Shape, family: Family) -> bool:
    if after.name == family.decimal:
        have, get = digits_of(before, family), digits_of(after, family)
        if before.name == family.boolean:
            return False
        return have is None or get is None or get[0] - get[1] < have[0] - have[1] or get[1] < have[1]
    fractional = before.name in (family.decimal, family.real, family.double)
    return fractional and after.name in family.integers


@lru_cache(maxsize=4096)
def operands_fail(types: Sequence[str | None], texts: Sequence[str], calculates: bool, name: str) -> bool:
    """Whether the operands of a calculation or comparison have to be converted in a way that may give null."""
    if name not in LENIENT:
        return False
    family = family_of(name)
    known = [kind for kind in types if kind is not None and kind != family.null]
    strings = known.count(family.string)
    if strings and (calculates or strings < len(known)):
        return True
    shapes = [shape_of(kind) for kind in known]
    decimal = any(shape.name == family.decimal for shape in shapes)
    written = any(
        kind in family.integers and text.removeprefix("neg(").removesuffix(")").isdigit()
        for kind, text in zip(types, texts, strict=False)
    )
    return decimal and written and all(is_number(shape, family) for shape in shapes) and not _floats(shapes, family)


def _floats(shapes: Sequence[Shape], family: Family) -> bool:
    return any(shape.name in (family.real, family.double) for shape in shapes)


def is_widening(source: str | None, target: str, name: str) -> bool:
    """Whether a conversion always succeeds: of an integer to a wider one, or of a value to a string."""
    family = family_of(name)
    if target == family.string and source is not None:
        return not shape_of(source).members
    both = source in family.integers and target in family.integers
    return both and family.integers.index(source or "") <= family.integers.index(target)
