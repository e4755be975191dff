"""ClickHouse: the least type that holds two others, by width, sign and nullability."""

import re
from collections.abc import Sequence

from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.types.shapes import parse_type_shape

_WRAPPER = re.compile(r"(?:NULLABLE|LOWCARDINALITY)\((.*)\)")
_INTEGER_TYPE = re.compile(r"(U?)INT(8|16|32|64|128|256)")
_DECIMAL_TYPE = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_INTEGER_LITERAL = re.compile(r"(neg\()?(\d+)\)?")
_DECIMAL_PRECISIONS = (9, 18, 38, 76)
"""Maximum precision of the decimal widths."""

_INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}
"""Digits of integers by their bits."""

_NON_NULLABLE_TYPES = ("ARRAY(", "MAP(", "TUPLE(")
"""Types that cannot be nullable."""

IntegerWidth = tuple[bool, int]
"""Whether an integer is signed, and its bits."""


def unwrap_type(kind: str | None) -> str:
    """Return a type without Nullable and LowCardinality."""
    text = kind or ""
    while found := _WRAPPER.fullmatch(text):
        text = found[1]
    return text


def wrap_nullable(kind: str | None) -> str | None:
    """Return the nullable type; None where there is none."""
    if not kind or kind.startswith("NULLABLE("):
        return kind
    return None if kind.startswith(_NON_NULLABLE_TYPES) else f"NULLABLE({unwrap_type(kind)})"


def propagate_nullability(types: Sequence[str | None], found: str | None) -> str | None:
    """Return the type, nullable where an argument is; LowCardinality stays only with a single argument."""
    wrapped = [kind for kind in types if (kind or "").startswith("LOWCARDINALITY(")]
    if found and wrapped:
        return f"LOWCARDINALITY({found})" if len(types) == 1 else None
    return wrap_nullable(found) if any((kind or "").startswith("NULLABLE(") for kind in types) else found


def integer_width(kind: str | None, text: str = "") -> IntegerWidth | None:
    """Return the width of an integer type; a literal has the shortest that holds it."""
    written = _INTEGER_LITERAL.fullmatch(text)
    if written is not None:
        number, signed = parse_whole_number(written[2]), bool(written[1])
        return signed, next((bits for bits in (8, 16, 32, 64) if number <= 2 ** (bits - signed) - (not signed)), 128)
    found = _INTEGER_TYPE.fullmatch(unwrap_type(kind).replace("BOOL", "UINT8"))
    return (not found[1], int(found[2])) if found is not None else None


def integer_type(number: IntegerWidth) -> str:
    """Return the type of an integer width."""
    return f"{'' if number[0] else 'U'}INT{number[1]}"


def decimal_digits(kind: str) -> tuple[int, int] | None:
    """Return precision and scale of a decimal."""
    found = _DECIMAL_TYPE.fullmatch(kind)
    return (parse_whole_number(found[1]), parse_whole_number(found[2])) if found is not None else None


def decimal_type(most: int, scale: int) -> str:
    """Return the narrowest decimal type for a precision."""
    return f"DECIMAL({next((size for size in _DECIMAL_PRECISIONS if most <= size), _DECIMAL_PRECISIONS[-1])},{scale})"


def widen_clickhouse(left: str, right: str) -> str | None:
    """Return the least type that holds two, or None where ClickHouse makes a Variant, or fails."""
    first, second = unwrap_type(left), unwrap_type(right)
    found = first if first == second or second == "NOTHING" else second if first == "NOTHING" else None
    found = found or _widen_plain(first, second) or _widen_plain(second, first)
    return wrap_nullable(found) if "NULLABLE(" in left[:30] + right[:30] else found


def _widen_plain(left: str, right: str) -> str | None:
    if "BOOL" in (left, right) and {left, right} <= {"BOOL", "UINT8"}:
        return "BOOL"
    numbers = integer_width(left), integer_width(right)
    if numbers[0] and numbers[1]:
        return _widen_integers(numbers[0], numbers[1])
    if right.startswith("FLOAT"):
        return _widen_floats(left, right, numbers[0])
    exact = decimal_digits(right)
    if exact is not None:
        return _widen_decimals(left, exact, numbers[0])
    if right.startswith("ARRAY(") and left.startswith("ARRAY("):
        inner = widen_clickhouse(parse_type_shape(left).members[0][1], parse_type_shape(right).members[0][1])
        return f"ARRAY({inner})" if inner else None
    if (left.startswith("FIXEDSTRING") or left == "STRING") and right == "STRING":
        return right
    return right if (left, right[:10]) in _MOMENT_TYPES else None


_MOMENT_TYPES = {("DATE", "DATETIME"), ("DATE", "DATETIME64"), ("DATETIME", "DATETIME64"), ("DATE", "DATE32")}


def _widen_integers(left: IntegerWidth, right: IntegerWidth) -> str | None:
    """Return an integer that holds two: wider where only one is signed."""
    if left[0] == right[0]:
        return integer_type((left[0], max(left[1], right[1])))
    signed, plain = (left[1], right[1]) if left[0] else (right[1], left[1])
    bits = max(signed, plain * 2)
    return integer_type((True, bits)) if bits <= 64 else None


def _widen_floats(left: str, right: str, number: IntegerWidth | None) -> str | None:
    """Return a float that holds another number exactly."""
    if left.startswith("FLOAT"):
        return "FLOAT64"
    if number is None or number[1] > 32:
        return None
    return right if right == "FLOAT64" or number[1] <= 16 else "FLOAT64"


def _widen_decimals(left: str, right: tuple[int, int], number: IntegerWidth | None) -> str | None:
    """Return a decimal that holds another one, or an integer."""
    other = decimal_digits(left)
    if other is not None:
        return decimal_type(max(other[0], right[0]), max(other[1], right[1]))
    return (
        decimal_type(max(right[0], _INTEGER_DIGITS.get(number[1], 39) + right[1]), right[1])
        if number is not None
        else None
    )
