"""Types of ClickHouse: which of them holds two others, by what it keeps of a number and whether it may be null."""

import re
from collections.abc import Sequence

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.typing.shapes import shape_of

_WRAPPED = re.compile(r"(?:NULLABLE|LOWCARDINALITY)\((.*)\)")
_WHOLE = re.compile(r"(U?)INT(8|16|32|64|128|256)")
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_WRITTEN = re.compile(r"(neg\()?(\d+)\)?")
_CLASSES = (9, 18, 38, 76)
"""The digits of the decimals that a machine keeps."""

_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}
"""The digits of integers by their bits."""

_NEVER_NULL = ("ARRAY(", "MAP(", "TUPLE(")
"""What cannot be null."""

Whole = tuple[bool, int]
"""Whether an integer has a sign, and its bits."""


def bare(kind: str | None) -> str:
    """A type without what says that it may be null or is kept as numbers of a list."""
    text = kind or ""
    while found := _WRAPPED.fullmatch(text):
        text = found[1]
    return text


def nullable(kind: str | None) -> str | None:
    """The type that holds NULL, too; None where nothing does."""
    if not kind or kind.startswith("NULLABLE("):
        return kind
    return None if kind.startswith(_NEVER_NULL) else f"NULLABLE({bare(kind)})"


def kept(types: Sequence[str | None], found: str | None) -> str | None:
    """The type, which may be null where one of those that it comes from may; of lists of strings only some stay."""
    wrapped = [kind for kind in types if (kind or "").startswith("LOWCARDINALITY(")]
    if found and wrapped:
        return f"LOWCARDINALITY({found})" if len(types) == 1 else None
    return nullable(found) if any((kind or "").startswith("NULLABLE(") for kind in types) else found


def whole(kind: str | None, text: str = "") -> Whole | None:
    """An integer by its type; one that is written out is as short as it can be."""
    written = _WRITTEN.fullmatch(text)
    if written is not None:
        number, signed = whole_number(written[2]), bool(written[1])
        return signed, next((bits for bits in (8, 16, 32, 64) if number <= 2 ** (bits - signed) - (not signed)), 128)
    found = _WHOLE.fullmatch(bare(kind).replace("BOOL", "UINT8"))
    return (not found[1], int(found[2])) if found is not None else None


def named(number: Whole) -> str:
    """The type of an integer."""
    return f"{'' if number[0] else 'U'}INT{number[1]}"


def digits(kind: str) -> tuple[int, int] | None:
    """The digits of a decimal, before and behind the point and behind it."""
    found = _DECIMAL.fullmatch(kind)
    return (whole_number(found[1]), whole_number(found[2])) if found is not None else None


def decimal(most: int, scale: int) -> str:
    """A decimal of the least width that a machine keeps."""
    return f"DECIMAL({next((size for size in _CLASSES if most <= size), _CLASSES[-1])},{scale})"


def wider(left: str, right: str) -> str | None:
    """The least type that holds two, or None where a variant of both would be made, or nothing."""
    first, second = bare(left), bare(right)
    found = first if first == second or second == "NOTHING" else second if first == "NOTHING" else None
    found = found or _holding(first, second) or _holding(second, first)
    return nullable(found) if "NULLABLE(" in left[:30] + right[:30] else found


def _holding(left: str, right: str) -> str | None:
    if "BOOL" in (left, right) and {left, right} <= {"BOOL", "UINT8"}:
        return "BOOL"
    numbers = whole(left), whole(right)
    if numbers[0] and numbers[1]:
        return _integer(numbers[0], numbers[1])
    if right.startswith("FLOAT"):
        return _floating(left, right, numbers[0])
    exact = digits(right)
    if exact is not None:
        return _exact(left, exact, numbers[0])
    if right.startswith("ARRAY(") and left.startswith("ARRAY("):
        inner = wider(shape_of(left).members[0][1], shape_of(right).members[0][1])
        return f"ARRAY({inner})" if inner else None
    if (left.startswith("FIXEDSTRING") or left == "STRING") and right == "STRING":
        return right
    return right if (left, right[:10]) in _MOMENTS else None


_MOMENTS = {("DATE", "DATETIME"), ("DATE", "DATETIME64"), ("DATETIME", "DATETIME64"), ("DATE", "DATE32")}


def _integer(left: Whole, right: Whole) -> str | None:
    """An integer that holds two: as wide as the wider one, and wider where one has a sign and the other has not."""
    if left[0] == right[0]:
        return named((left[0], max(left[1], right[1])))
    signed, plain = (left[1], right[1]) if left[0] else (right[1], left[1])
    bits = max(signed, plain * 2)
    return named((True, bits)) if bits <= 64 else None


def _floating(left: str, right: str, number: Whole | None) -> str | None:
    """A floating number that holds another number exactly."""
    if left.startswith("FLOAT"):
        return "FLOAT64"
    if number is None or number[1] > 32:
        return None
    return right if right == "FLOAT64" or number[1] <= 16 else "FLOAT64"


def _exact(left: str, right: tuple[int, int], number: Whole | None) -> str | None:
    """A decimal that holds another one, or an integer."""
    other = digits(left)
    if other is not None:
        return decimal(max(other[0], right[0]), max(other[1], right[1]))
    return decimal(max(right[0], _DIGITS.get(number[1], 39) + right[1]), right[1]) if number is not None else None
