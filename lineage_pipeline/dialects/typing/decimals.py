"""Digits: how many a decimal has before and behind the point after an operation, family by family."""

from collections.abc import Callable

Digits = tuple[int, int]
"""Precision and scale."""

CAP = 38


def bounded(precision: int, scale: int, cap: int = CAP) -> Digits:
    """No more digits than there may be."""
    return min(precision, cap), min(scale, cap)


def spark_adjusted(precision: int, scale: int) -> Digits:
    """Where there are too many digits, those behind the point give way, down to six."""
    if precision <= CAP:
        return precision, scale
    return CAP, max(CAP - (precision - scale), min(scale, 6))


def spark_common(left: Digits, right: Digits) -> Digits:
    """The decimal that holds both; where there are too many digits, those before the point stay."""
    scale = max(left[1], right[1])
    precision = max(left[0] - left[1], right[0] - right[1]) + scale
    return (precision, scale) if precision <= CAP else (CAP, max(0, scale - (precision - CAP)))


def common(left: Digits, right: Digits) -> Digits:
    """The decimal that holds both."""
    scale = max(left[1], right[1])
    return bounded(max(left[0] - left[1], right[0] - right[1]) + scale, scale)


def added(left: Digits, right: Digits) -> Digits:
    """A sum or a difference: one digit more."""
    scale = max(left[1], right[1])
    return max(left[0] - left[1], right[0] - right[1]) + scale + 1, scale


def multiplied(left: Digits, right: Digits) -> Digits:
    """A product: all digits of both, and one."""
    return left[0] + right[0] + 1, left[1] + right[1]


def divided(left: Digits, right: Digits) -> Digits:
    """A quotient: at least six digits behind the point."""
    scale = max(6, left[1] + right[0] + 1)
    return left[0] - left[1] + right[1] + scale, scale


def remainder(left: Digits, right: Digits) -> Digits:
    """What a division leaves."""
    scale = max(left[1], right[1])
    return min(left[0] - left[1], right[0] - right[1]) + scale, scale


Rule = Callable[[Digits, Digits], Digits]

EXACT: dict[str, Rule] = {"ADD": added, "SUB": added, "MUL": multiplied, "DIV": divided, "MOD": remainder}
"""What Spark and T-SQL do before they cut what is too long."""


def spark_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in Spark."""
    return spark_adjusted(*EXACT[op](left, right))


def tsql_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in T-SQL: products and quotients keep six digits behind the point, sums fewer."""
    precision, scale = EXACT[op](left, right)
    if precision <= CAP:
        return precision, scale
    if op in ("ADD", "SUB"):
        return CAP, max(0, min(scale, CAP - max(left[0] - left[1], right[0] - right[1])))
    return CAP, max(CAP - (precision - scale), min(scale, 6))


def duckdb_digits(op: str, left: Digits, right: Digits) -> Digits | None:
    """The digits of an operation in DuckDB; a quotient is no decimal there."""
    scale = max(left[1], right[1])
    if op in ("ADD", "SUB"):
        return min(max(left[0] - left[1], right[0] - right[1]) + scale + 1, CAP), scale
    if op == "MUL":
        return min(left[0] + right[0], CAP), left[1] + right[1]
    if op == "MOD":
        return min(max(left[0] - left[1], right[0] - right[1]) + scale, CAP), scale
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
    return min(whole + scale, CAP), scale


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
    precision, scale = EXACT[op](left, right)
    if op == "DIV":
        scale = max(4, left[1] + right[0] - right[1] + 1)
        precision = left[0] - left[1] + right[1] + scale
    return (precision, scale) if precision <= CAP else (CAP, max(CAP - (precision - scale), min(scale, 4)))


def trino_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in Trino: a quotient has as many behind the point as the longer side."""
    scale = max(left[1], right[1])
    if op in ("ADD", "SUB"):
        return min(max(left[0] - left[1], right[0] - right[1]) + scale + 1, CAP), scale
    if op == "MUL":
        return min(left[0] + right[0], CAP), left[1] + right[1]
    if op == "DIV":
        return min(left[0] + right[1] + max(right[1] - left[1], 0), CAP), scale
    return min(left[0] - left[1], right[0] - right[1]) + scale, scale


def rounded(digits: Digits, to: int) -> Digits:
    """A decimal rounded in Spark: one digit more before the point, and those behind it that are asked for."""
    whole = digits[0] - digits[1] + 1
    if to < 0:
        return min(max(whole, -to + 1), CAP), 0
    scale = min(digits[1], to)
    return min(whole + scale, CAP), scale


def literal_digits(text: str, leading_zero: bool = False) -> Digits:
    """The digits of a number as it is written; in some families a zero before the point is one, too."""
    whole, _, behind = text.lstrip("+-").partition(".")
    whole = whole if leading_zero else whole.lstrip("0")
    return max(len(whole) + len(behind), 1), len(behind)


def written_digits(text: str) -> Digits | None:
    """The digits of a whole number that is written out, or None; Spark does not look at those of a tinyint."""
    number, _, kind = text.removeprefix("neg(").removesuffix(")").partition("::")
    return literal_digits(number) if number.isdigit() and kind != "tinyint" else None
