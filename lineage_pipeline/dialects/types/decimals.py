"""Decimal digits: precision and scale of the result of an operation, family by family."""

from collections.abc import Callable

Digits = tuple[int, int]
"""Precision and scale."""

DEFAULT_PRECISION_LIMIT = 38


def limit_digits(precision: int, scale: int, cap: int = DEFAULT_PRECISION_LIMIT) -> Digits:
    """Return the digits limited to the maximum precision."""
    return min(precision, cap), min(scale, cap)


def adjust_spark_digits(precision: int, scale: int) -> Digits:
    """Spark: with too many digits the scale shrinks, down to six."""
    if precision <= DEFAULT_PRECISION_LIMIT:
        return precision, scale
    return DEFAULT_PRECISION_LIMIT, max(DEFAULT_PRECISION_LIMIT - (precision - scale), min(scale, 6))


def common_spark_digits(left: Digits, right: Digits) -> Digits:
    """Spark: the decimal that holds both; with too many digits, those before the point stay."""
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


def spark_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in Spark."""
    return adjust_spark_digits(*EXACT_DIGIT_RULES[op](left, right))


def tsql_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in T-SQL: products and quotients keep six digits behind the point, sums fewer."""
    precision, scale = EXACT_DIGIT_RULES[op](left, right)
    if precision <= DEFAULT_PRECISION_LIMIT:
        return precision, scale
    if op in ("ADD", "SUB"):
        return DEFAULT_PRECISION_LIMIT, max(
            0, min(scale, DEFAULT_PRECISION_LIMIT - max(left[0] - left[1], right[0] - right[1]))
        )
    return DEFAULT_PRECISION_LIMIT, max(DEFAULT_PRECISION_LIMIT - (precision - scale), min(scale, 6))


def duckdb_digits(op: str, left: Digits, right: Digits) -> Digits | None:
    """The digits of an operation in DuckDB; a quotient is no decimal there."""
    scale = max(left[1], right[1])
    if op in ("ADD", "SUB"):
        return min(max(left[0] - left[1], right[0] - right[1]) + scale + 1, DEFAULT_PRECISION_LIMIT), scale
    if op == "MUL":
        return min(left[0] + right[0], DEFAULT_PRECISION_LIMIT), left[1] + right[1]
    if op == "MOD":
        return min(max(left[0] - left[1], right[0] - right[1]) + scale, DEFAULT_PRECISION_LIMIT), scale
    return None


def snowflake_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in Snowflake: products and quotients have few behind the point."""
    whole, other = left[0] - left[1], right[0] - right[1]
    scale = max(left[1], right[1])
    if op == "MUL":
        scale = min(left[1] + right[1], max(scale, 12))
        whole += other
    elif op == "DIV":
        scale = max(left[1], min(left[1] + 6, 12))
        whole += right[1]
    elif op in ("ADD", "SUB"):
        whole = max(whole, other) + 1
    else:
        whole = max(whole, other)
    return min(whole + scale, DEFAULT_PRECISION_LIMIT), scale


def mysql_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in MySQL: a quotient has four more behind the point than what is divided."""
    scale, whole = max(left[1], right[1]), max(left[0] - left[1], right[0] - right[1])
    if op in ("ADD", "SUB"):
        return min(whole + scale + 1, 65), scale
    if op == "MUL":
        return min(left[0] + right[0], 65), min(left[1] + right[1], 30)
    if op == "DIV":
        scale = min(left[1] + 4, 30)
        return min(left[0] + right[1] + 4, 65), scale
    return min(whole + scale, 65), scale


def redshift_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in Redshift: a quotient has at least four behind the point."""
    precision, scale = EXACT_DIGIT_RULES[op](left, right)
    if op == "DIV":
        scale = max(4, left[1] + right[0] - right[1] + 1)
        precision = left[0] - left[1] + right[1] + scale
    return (
        (precision, scale)
        if precision <= DEFAULT_PRECISION_LIMIT
        else (DEFAULT_PRECISION_LIMIT, max(DEFAULT_PRECISION_LIMIT - (precision - scale), min(scale, 4)))
    )


def trino_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in Trino: a quotient has as many behind the point as the longer side."""
    scale = max(left[1], right[1])
    if op in ("ADD", "SUB"):
        return min(max(left[0] - left[1], right[0] - right[1]) + scale + 1, DEFAULT_PRECISION_LIMIT), scale
    if op == "MUL":
        return min(left[0] + right[0], DEFAULT_PRECISION_LIMIT), left[1] + right[1]
    if op == "DIV":
        return min(left[0] + right[1] + max(right[1] - left[1], 0), DEFAULT_PRECISION_LIMIT), scale
    return min(left[0] - left[1], right[0] - right[1]) + scale, scale


def rounded_spark_digits(digits: Digits, to: int) -> Digits:
    """ROUND in Spark: one digit more before the point, and the requested scale."""
    whole = digits[0] - digits[1] + 1
    if to < 0:
        return min(max(whole, -to + 1), DEFAULT_PRECISION_LIMIT), 0
    scale = min(digits[1], to)
    return min(whole + scale, DEFAULT_PRECISION_LIMIT), scale


def literal_digits(text: str, leading_zero: bool = False) -> Digits:
    """Return the digits of a number literal; in some families a leading zero counts."""
    whole, _, behind = text.lstrip("+-").partition(".")
    whole = whole if leading_zero else whole.lstrip("0")
    return max(len(whole) + len(behind), 1), len(behind)


def integer_literal_digits(text: str) -> Digits | None:
    """Return the digits of an integer literal, or None; Spark ignores those of a tinyint."""
    number, _, kind = text.removeprefix("neg(").removesuffix(")").partition("::")
    return literal_digits(number) if number.isdigit() and kind != "tinyint" else None
