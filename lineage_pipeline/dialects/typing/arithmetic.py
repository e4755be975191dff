"""Arithmetic: the types of sums, products and quotients, of numbers, moments and intervals."""

import re
from collections.abc import Callable

from lineage_pipeline.dialects.typing import decimals
from lineage_pipeline.dialects.typing.families import Family
from lineage_pipeline.dialects.typing.shapes import Shape
from lineage_pipeline.dialects.typing.widening import digits_of, interval, is_number, plain_shape, wider

Types = tuple[str | None, ...]
Texts = tuple[str, ...]
Rule = Callable[[Family, Types, Texts], str | None]
"""The type that an operator gives for arguments of types; the texts are those of constants."""

DIGITS: dict[str, Callable[[str, decimals.Digits, decimals.Digits], decimals.Digits | None]] = {
    "spark": decimals.spark_digits,
    "hive": decimals.spark_digits,
    "tsql": decimals.tsql_digits,
    "duckdb": decimals.duckdb_digits,
    "snowflake": decimals.snowflake_digits,
    "mysql": decimals.mysql_digits,
    "redshift": decimals.redshift_digits,
    "trino": decimals.trino_digits,
}
"""The families whose decimals have digits after an operation."""

FLOATING = frozenset({"spark", "hive", "duckdb", "bigquery"})
"""The families in which a quotient of integers is no integer."""

_HOURS = re.compile("hour|minute|second", re.IGNORECASE)
_DAYS = ("INTERVAL DAY", "INTERVAL YEAR", "INTERVAL MONTH", "INTERVAL YEAR TO MONTH")


def arithmetic(op: str) -> Rule:
    """The rule of one operator."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        if len(types) != 2 or types[0] is None or types[1] is None:
            return None
        left, right = (types[1] if kind == family.null else kind for kind in types)
        right = left if right == family.null else right
        shapes = plain_shape(left or "", family), plain_shape(right or "", family)
        if any(_is_moment(shape, family) for shape in shapes):
            found = moved(op, family, *shapes)
            dated = family.whole_days and found == family.timestamp and family.date in (shapes[0].name, shapes[1].name)
            return family.date if dated and not any(_HOURS.search(text) for text in texts) else found
        shapes = _read(op, family, *shapes)
        if not all(is_number(shape, family) for shape in shapes):
            return None
        if left == right and shapes[0].name in family.integers and not (op == "DIV" and family.name in FLOATING):
            return left
        return _numbers(op, family, shapes, texts)

    return rule


def _read(op: str, family: Family, left: Shape, right: Shape) -> tuple[Shape, Shape]:
    """In Spark a string in a calculation is a number: a long one beside integers, else a floating one."""
    if family.name not in ("spark", "hive") or family.string not in (left.name, right.name):
        return left, right
    whole = op != "DIV" and (left.name in family.integers or right.name in family.integers)
    number = Shape(family.bigint if whole and family.name == "spark" else family.double)
    return (number if left.name == family.string else left), (number if right.name == family.string else right)


def _numbers(op: str, family: Family, shapes: tuple[Shape, Shape], texts: Texts) -> str | None:
    names = {shapes[0].name, shapes[1].name}
    if op == "DIV" and family.name in FLOATING and (family.name == "duckdb" or names <= set(family.integers)):
        return family.double
    if names & {family.real, family.double}:
        if op == "DIV" and family.name == "spark":
            return family.double
        return wider(shapes[0].name, shapes[1].name, family) if len(names) > 1 else names.pop()
    if family.decimal not in names and not (op == "DIV" and family.name == "mysql"):
        return wider(shapes[0].name, shapes[1].name, family)
    if not family.cap:
        return family.decimal
    compute = DIGITS.get(family.name)
    digits = [_digits(shape, text, family) for shape, text in zip(shapes, texts or ("", ""), strict=True)]
    if compute is None or digits[0] is None or digits[1] is None:
        return None
    found = compute(op, digits[0], digits[1])
    return family.numeric(*found) if found is not None else None


def _digits(shape: Shape, text: str, family: Family) -> decimals.Digits | None:
    """The digits of an operand; a whole number that is written out has just those that it shows."""
    written = decimals.written_digits(text) if shape.name in family.integers else None
    return written if written and family.name in ("spark", "tsql", "hive", "mysql") else digits_of(shape, family)


def _is_moment(shape: Shape, family: Family) -> bool:
    moments = (family.date, family.timestamp, family.zoned, family.time, "TIMESTAMP_NTZ", "DATETIME")
    return shape.name in moments or shape.name.startswith("INTERVAL")


def moved(op: str, family: Family, left: Shape, right: Shape) -> str | None:
    """A moment moved, the time between two, or an interval made longer."""
    intervals = [shape.name.startswith("INTERVAL") for shape in (left, right)]
    if all(intervals):
        return wider(left.name, right.name, family) or family.interval if op in ("ADD", "SUB") else None
    if any(intervals):
        span, other = (left, right) if intervals[0] else (right, left)
        if op in ("MUL", "DIV"):
            return _longer(family, span) if is_number(other, family) or other.name == family.string else None
        return _shifted(family, other, span) if op in ("ADD", "SUB") else None
    if family.name == "spark" and family.string in (left.name, right.name):
        dates = family.date in (left.name, right.name)
        return interval("DAY", "DAY" if dates else "SECOND") if op == "SUB" else None
    numbers = [shape for shape in (left, right) if is_number(shape, family)]
    if numbers and op in ("ADD", "SUB"):
        return left.name if right is numbers[0] else right.name
    return _between(family, left, right) if op == "SUB" else None


def _longer(family: Family, span: Shape) -> str:
    if family.name != "spark":
        return family.interval
    return interval("YEAR", "MONTH") if "YEAR" in span.name or "MONTH" in span.name else interval("DAY", "SECOND")


def _shifted(family: Family, moment: Shape, span: Shape) -> str | None:
    """A date moved by whole days or months stays one in Spark; in most others it becomes a moment."""
    if moment.name == family.string and family.name == "spark":
        return family.string
    if moment.name != family.date:
        return moment.name
    return family.date if family.name == "spark" and span.name in _DAYS else family.timestamp


def _between(family: Family, left: Shape, right: Shape) -> str | None:
    dates = left.name == right.name == family.date
    if family.name == "spark":
        return interval("DAY", "DAY") if dates else interval("DAY", "SECOND")
    return family.days or family.interval if dates else family.interval
