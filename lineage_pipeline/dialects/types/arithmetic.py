"""Arithmetic: result types of sums, products and quotients of numbers, moments and intervals."""

import re
from collections.abc import Callable

from lineage_pipeline.dialects.types import decimals
from lineage_pipeline.dialects.types.coercion import (
    interval_type,
    is_numeric_type,
    normalized_shape,
    type_digits,
    widen_types,
)
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.shapes import TypeShape

ArgumentTypes = tuple[str | None, ...]
ConstantTexts = tuple[str, ...]
TypeRule = Callable[[TypeFamily, ArgumentTypes, ConstantTexts], str | None]
"""Returns the result type of an operator for argument types; the texts are those of constants."""

_SUBDAY_UNIT = re.compile("hour|minute|second", re.IGNORECASE)
_WHOLE_DAY_INTERVALS = ("INTERVAL DAY", "INTERVAL YEAR", "INTERVAL MONTH", "INTERVAL YEAR TO MONTH")


def arithmetic_rule(op: str) -> TypeRule:
    """Return the rule of one operator."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        if len(types) != 2 or types[0] is None or types[1] is None:
            return None
        left, right = (types[1] if kind == family.null else kind for kind in types)
        right = left if right == family.null else right
        shapes = normalized_shape(left or "", family), normalized_shape(right or "", family)
        if any(_is_moment(shape, family) for shape in shapes):
            found = moment_arithmetic(op, family, *shapes)
            dated = family.whole_days and found == family.timestamp and family.date in (shapes[0].name, shapes[1].name)
            return family.date if dated and not any(_SUBDAY_UNIT.search(text) for text in texts) else found
        shapes = _read_strings(op, family, *shapes)
        if not all(is_numeric_type(shape, family) for shape in shapes):
            return None
        if left == right and shapes[0].name in family.integers and not (op == "DIV" and family.float_division):
            return left
        return _number_result(op, family, shapes, texts)

    return rule


def _read_strings(op: str, family: TypeFamily, left: TypeShape, right: TypeShape) -> tuple[TypeShape, TypeShape]:
    """Spark: a string operand is a number: BIGINT beside integers, else DOUBLE."""
    if not family.reads_strings or family.string not in (left.name, right.name):
        return left, right
    whole = op != "DIV" and (left.name in family.integers or right.name in family.integers)
    number = TypeShape(family.bigint if whole and family.reads_whole_strings else family.double)
    return (number if left.name == family.string else left), (number if right.name == family.string else right)


def _number_result(
    op: str, family: TypeFamily, shapes: tuple[TypeShape, TypeShape], texts: ConstantTexts
) -> str | None:
    names = {shapes[0].name, shapes[1].name}
    if op == "DIV" and family.float_division and (family.float_quotients or names <= set(family.integers)):
        return family.double
    if names & {family.real, family.double}:
        if op == "DIV" and family.double_quotients:
            return family.double
        return widen_types(shapes[0].name, shapes[1].name, family) if len(names) > 1 else names.pop()
    if family.decimal not in names and not (op == "DIV" and family.decimal_quotients):
        return widen_types(shapes[0].name, shapes[1].name, family)
    if not family.cap:
        return family.decimal
    compute = family.compute_digits
    digits = [_operand_digits(shape, text, family) for shape, text in zip(shapes, texts or ("", ""), strict=True)]
    if compute is None or digits[0] is None or digits[1] is None:
        return None
    found = compute(op, digits[0], digits[1])
    return family.numeric(*found) if found is not None else None


def _operand_digits(shape: TypeShape, text: str, family: TypeFamily) -> decimals.Digits | None:
    """Return the digits of an operand; an integer literal has only those it shows."""
    written = decimals.integer_literal_digits(text) if shape.name in family.integers else None
    return written if written and family.literal_digits else type_digits(shape, family)


def _is_moment(shape: TypeShape, family: TypeFamily) -> bool:
    moments = (family.date, family.timestamp, family.zoned, family.time, "TIMESTAMP_NTZ", "DATETIME")
    return shape.name in moments or shape.name.startswith("INTERVAL")


def moment_arithmetic(op: str, family: TypeFamily, left: TypeShape, right: TypeShape) -> str | None:
    """Return the type of a moved moment, the time between two, or a scaled interval."""
    intervals = [shape.name.startswith("INTERVAL") for shape in (left, right)]
    if all(intervals):
        return widen_types(left.name, right.name, family) or family.interval if op in ("ADD", "SUB") else None
    if any(intervals):
        span, other = (left, right) if intervals[0] else (right, left)
        if op in ("MUL", "DIV"):
            return (
                _scaled_interval(family, span)
                if is_numeric_type(other, family) or other.name == family.string
                else None
            )
        return _shifted_moment(family, other, span) if op in ("ADD", "SUB") else None
    if family.unit_intervals and family.string in (left.name, right.name):
        dates = family.date in (left.name, right.name)
        return interval_type("DAY", "DAY" if dates else "SECOND") if op == "SUB" else None
    numbers = [shape for shape in (left, right) if is_numeric_type(shape, family)]
    if numbers and op in ("ADD", "SUB"):
        return left.name if right is numbers[0] else right.name
    return _moment_difference(family, left, right) if op == "SUB" else None


def _scaled_interval(family: TypeFamily, span: TypeShape) -> str:
    if not family.unit_intervals:
        return family.interval
    return (
        interval_type("YEAR", "MONTH")
        if "YEAR" in span.name or "MONTH" in span.name
        else interval_type("DAY", "SECOND")
    )


def _shifted_moment(family: TypeFamily, moment: TypeShape, span: TypeShape) -> str | None:
    """A date moved by whole days or months stays one in Spark; in most others it becomes a timestamp."""
    if moment.name == family.string and family.unit_intervals:
        return family.string
    if moment.name != family.date:
        return moment.name
    return family.date if family.unit_intervals and span.name in _WHOLE_DAY_INTERVALS else family.timestamp


def _moment_difference(family: TypeFamily, left: TypeShape, right: TypeShape) -> str | None:
    dates = left.name == right.name == family.date
    if family.unit_intervals:
        return interval_type("DAY", "DAY") if dates else interval_type("DAY", "SECOND")
    return family.days or family.interval if dates else family.interval
