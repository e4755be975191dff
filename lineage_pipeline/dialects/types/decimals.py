"""Decimal digits: precision and scale of decimals, and of the result of an operation."""

from collections.abc import Callable

Digits = tuple[int, int]
"""Precision and scale."""

DEFAULT_PRECISION_LIMIT = 38


def limit_digits(precision: int, scale: int, cap: int = DEFAULT_PRECISION_LIMIT) -> Digits:
    """Return the digits limited to the maximum precision."""
    return min(precision, cap), min(scale, cap)


def common_digits_with_whole(left: Digits, right: Digits) -> Digits:
    """Return the decimal that holds both; with too many digits, those before the point stay (Spark, DuckDB)."""
    scale = max(left[1], right[1])
    precision = max(left[0] - left[1], right[0] - right[1]) + scale
    return (
        (precision, scale)
        if precision <= DEFAULT_PRECISION_LIMIT
        else (DEFAULT_PRECISION_LIMIT, max(0, scale - (precision - DEFAULT_PRECISION_LIMIT)))
    )


def common_digits(left: Digits, right: Digits) -> Digits:
    """Return the decimal that holds both."""
    scale = max(left[1], right[1])
    return limit_digits(max(left[0] - left[1], right[0] - right[1]) + scale, scale)


def sum_digits(left: Digits, right: Digits) -> Digits:
    """A sum or difference: one digit more."""
    scale = max(left[1], right[1])
    return max(left[0] - left[1], right[0] - right[1]) + scale + 1, scale


def product_digits(left: Digits, right: Digits) -> Digits:
    """A product: all digits of both, and one."""
    return left[0] + right[0] + 1, left[1] + right[1]


def quotient_digits(left: Digits, right: Digits) -> Digits:
    """A quotient: at least six digits behind the point."""
    scale = max(6, left[1] + right[0] + 1)
    return left[0] - left[1] + right[1] + scale, scale


def remainder_digits(left: Digits, right: Digits) -> Digits:
    """The remainder of a division."""
    scale = max(left[1], right[1])
    return min(left[0] - left[1], right[0] - right[1]) + scale, scale


DigitsRule = Callable[[Digits, Digits], Digits]

EXACT_DIGIT_RULES: dict[str, DigitsRule] = {
    "ADD": sum_digits,
    "SUB": sum_digits,
    "MUL": product_digits,
    "DIV": quotient_digits,
    "MOD": remainder_digits,
}
"""Digits of Spark and T-SQL before they are limited."""


def literal_digits(text: str, leading_zero: bool = False) -> Digits:
    """Return the digits of a number literal; in some families a leading zero counts."""
    whole, _, behind = text.lstrip("+-").partition(".")
    whole = whole if leading_zero else whole.lstrip("0")
    return max(len(whole) + len(behind), 1), len(behind)


def integer_literal_digits(text: str) -> Digits | None:
    """Return the digits of an integer literal, or None; Spark ignores those of a tinyint."""
    number, _, kind = text.removeprefix("neg(").removesuffix(")").partition("::")
    return literal_digits(number) if number.isdigit() and kind != "tinyint" else None
