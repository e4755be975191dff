"""Names that Spark gives to unaliased columns: how it prints operators, functions, types and default arguments."""

import math
import re

BINARY_OPERATORS: dict[str, tuple[int, str]] = {
    "OR": (1, "({} OR {})"),
    "AND": (2, "({} AND {})"),
    "=": (5, "({} = {})"),
    "==": (5, "({} = {})"),
    "<=>": (5, "({} <=> {})"),
    "<>": (5, "(NOT ({} = {}))"),
    "!=": (5, "(NOT ({} = {}))"),
    "<": (5, "({} < {})"),
    "<=": (5, "({} <= {})"),
    ">": (5, "({} > {})"),
    ">=": (5, "({} >= {})"),
    "|": (6, "({} | {})"),
    "^": (7, "({} ^ {})"),
    "&": (8, "({} & {})"),
    "<<": (9, "({} << {})"),
    ">>": (9, "({} >> {})"),
    ">>>": (9, "({} >>> {})"),
    "+": (10, "({} + {})"),
    "-": (10, "({} - {})"),
    "||": (10, "concat({}, {})"),
    "*": (11, "({} * {})"),
    "/": (11, "({} / {})"),
    "%": (11, "({} % {})"),
    "MOD": (11, "({} % {})"),
    "DIV": (11, "({} div {})"),
}
"""Binary operators: their precedence, and how they are printed."""

PREDICATE_PRECEDENCE = 4
"""Precedence of IN, LIKE, BETWEEN and IS."""

PREFIX_OPERATORS: dict[str, tuple[int, str]] = {
    "NOT": (3, "(NOT {})"),
    "!": (3, "(NOT {})"),
    "-": (12, "(- {})"),
    "+": (12, "(+ {})"),
    "~": (12, "~{}"),
}
"""Prefix operators."""

PRINTED_CONSTANTS = {"NULL": "NULL", "TRUE": "true", "FALSE": "false"}

BARE_FUNCTIONS = frozenset(
    "CURRENT_DATE CURRENT_TIMESTAMP CURRENT_USER CURRENT_TIME USER SESSION_USER LOCALTIMESTAMP LOCALTIME "
    "CURRENT_ROLE CURRENT_CATALOG CURRENT_SCHEMA".split()
)
"""Functions that may be called without brackets."""

LITERAL_TYPES = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIME"})
"""Types before a string literal that make a typed constant."""

TYPE_SYNONYMS = {
    "INTEGER": "INT",
    "LONG": "BIGINT",
    "SHORT": "SMALLINT",
    "BYTE": "TINYINT",
    "REAL": "FLOAT",
    "DEC": "DECIMAL",
    "NUMERIC": "DECIMAL",
}
"""Synonyms of types."""

NESTED_TYPES = ("ARRAY<", "MAP<", "STRUCT<")
"""Names of types that hold others."""

STRING_TYPES = frozenset({"VARCHAR", "CHAR", "CHARACTER"})
"""Types that are printed as STRING after a cast."""

CONVERSION_FUNCTIONS = frozenset(
    "BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL DATE TIMESTAMP BINARY STRING".split()
)
"""Conversion functions; inside another expression they are not printed."""

PADDED_UNITS = frozenset({"HOUR", "MINUTE", "SECOND"})
"""Units of an interval that is printed with at least two digits."""

PRINTED_FUNCTIONS: dict[str, str] = {
    name: name.upper()
    for name in (
        "acos acosh asin asinh atan atan2 atanh cbrt cos cosh cot csc degrees e exp expm1 hypot "
        "log log10 log1p log2 pi power radians regexp regexp_like rlike sec signum sin sinh "
        "spark_partition_id sqrt tan tanh"
    ).split()
} | {
    "array_agg": "collect_list",
    "curdate": "current_date",
    "current_database": "current_schema",
    "random": "rand",
    "to_varchar": "to_char",
}
"""Names under which functions are printed."""

_FINISH_LAMBDA = "lambdafunction(namedlambdavariable(), namedlambdavariable())"
_VARIABLE_IS_NULL = "(namedlambdavariable() IS NULL)"
_DEFAULT_COMPARATOR = (
    f"(IF(({_VARIABLE_IS_NULL} AND {_VARIABLE_IS_NULL}), 0, (IF({_VARIABLE_IS_NULL}, 1, (IF({_VARIABLE_IS_NULL}, -1, "
    "(IF((namedlambdavariable() < namedlambdavariable()), -1, "
    "(IF((namedlambdavariable() > namedlambdavariable()), 1, 0))))))))))"
)

PRINTED_SHAPES: dict[str, str] = {
    "aggregate": f"aggregate({{}}, {{}}, {{}}, {_FINISH_LAMBDA})",
    "array_sort": (
        f"array_sort({{}}, lambdafunction({_DEFAULT_COMPARATOR}, namedlambdavariable(), namedlambdavariable()))"
    ),
    "ceil": "CEIL({})",
    "dateadd": "date_add({}, {})",
    "datepart": "datepart({} FROM {})",
    "dense_rank": "DENSE_RANK()",
    "floor": "FLOOR({})",
    "if": "(IF({}, {}, {}))",
    "isnotnull": "({} IS NOT NULL)",
    "isnull": "({} IS NULL)",
    "like": "{} LIKE {}",
    "log": "LOG(E(), {})",
    "percent_rank": "PERCENT_RANK()",
    "positive": "(+ {})",
    "rank": "RANK()",
    "reduce": f"reduce({{}}, {{}}, {{}}, {_FINISH_LAMBDA})",
}
"""Functions with a printed form of their own; ranks omit their arguments."""

DEFAULT_ARGUMENTS: dict[str, tuple[int, tuple[str, ...]]] = {
    "aes_decrypt": (2, ("GCM", "DEFAULT", "")),
    "aes_encrypt": (2, ("GCM", "DEFAULT", "", "")),
    "approx_percentile": (2, ("10000",)),
    "approx_top_k": (1, ("5", "10000")),
    "approx_top_k_accumulate": (1, ("10000",)),
    "approx_top_k_estimate": (1, ("5",)),
    "bround": (1, ("0",)),
    "from_unixtime": (1, ("yyyy-MM-dd HH:mm:ss",)),
    "hll_sketch_agg": (1, ("12",)),
    "hll_union": (2, ("false",)),
    "hmac": (2, ("SHA-256",)),
    "lag": (1, ("1", "NULL")),
    "lead": (1, ("1", "NULL")),
    "listagg": (1, ("NULL",)),
    "locate": (2, ("1",)),
    "lpad": (2, (" ",)),
    "make_dt_interval": (0, ("0", "0", "0", "0.000000")),
    "make_interval": (0, ("0", "0", "0", "0", "0", "0", "0.000000")),
    "make_ym_interval": (0, ("0", "0")),
    "mask": (1, ("X", "x", "n", "NULL")),
    "months_between": (2, ("true",)),
    "overlay": (3, ("-1",)),
    "percentile": (2, ("1",)),
    "percentile_approx": (2, ("10000",)),
    "position": (2, ("1",)),
    "regexp_extract": (2, ("1",)),
    "regexp_extract_all": (2, ("1",)),
    "regexp_instr": (2, ("0",)),
    "regexp_replace": (3, ("1",)),
    "replace": (2, ("",)),
    "round": (1, ("0",)),
    "rpad": (2, (" ",)),
    "sentences": (1, ("", "")),
    "sort_array": (1, ("true",)),
    "split": (2, ("-1",)),
    "str_to_map": (1, (",", ":")),
    "string_agg": (1, ("NULL",)),
    "substr": (2, ("2147483647",)),
    "substring": (2, ("2147483647",)),
    "theta_sketch_agg": (1, ("12",)),
    "to_unix_timestamp": (1, ("yyyy-MM-dd HH:mm:ss",)),
    "try_aes_decrypt": (2, ("GCM", "DEFAULT", "")),
    "try_variant_set": (3, ("true",)),
    "unix_timestamp": (0, ("current_timestamp()", "yyyy-MM-dd HH:mm:ss")),
    "variant_set": (3, ("true",)),
    "variant_strip_nulls": (1, ("true",)),
}
"""Default arguments that are printed: the number of given arguments, and what follows."""

ARITY_FUNCTIONS: dict[tuple[str, int], str] = {
    **dict.fromkeys((("dateadd", 3), ("date_add", 3)), "timestampadd"),
    **dict.fromkeys((("datediff", 3), ("date_diff", 3)), "timestampdiff"),
}
"""Functions that become another one with that many arguments."""

IGNORE_NULLS_SHAPES = {"first_value": "first{}", "last_value": "last{}", "nth_value": "nth_value{} ignore nulls"}
"""Printed form of functions with IGNORE NULLS: `{}` are their arguments."""

MAX_PRINTED_ARGUMENTS: dict[str, int] = {
    "any_value": 1,
    "first": 1,
    "first_value": 1,
    "from_csv": 1,
    "from_json": 1,
    "from_xml": 1,
    "last": 1,
    "last_value": 1,
    "schema_of_json": 1,
    "schema_of_xml": 1,
    "to_csv": 1,
    "to_json": 1,
    "to_xml": 1,
    "try_variant_get": 2,
    "variant_get": 2,
}
"""Functions that print no more than that many arguments."""

RANK_FUNCTIONS = frozenset("row_number rank dense_rank percent_rank ntile".split())
"""Window functions whose frame is one of rows."""


def print_moment_arithmetic(op: str, left: str, right: str) -> str:
    """Return how a sum, difference or product of two types is printed, if not like that of numbers.

    A moment is printed before the interval added to it, without brackets; days are added by a function.
    """
    spans = left.startswith("INTERVAL"), right.startswith("INTERVAL")
    if all(spans):
        return ""
    if op == "MUL":
        return "({1} * {0})" if spans[1] else ""
    if left == "DATE" and right == "INTERVAL DAY":
        days = "extractansiintervaldays({1})"
        return {"ADD": f"date_add({{0}}, {days})", "SUB": f"date_add({{0}}, (- {days}))"}[op]
    if op == "ADD" and left == "INTERVAL DAY" and right == "DATE":
        return "date_add({1}, extractansiintervaldays({0}))"
    if any(spans):
        return {"ADD": "{1} + {0}" if spans[0] else "{0} + {1}", "SUB": "{0} - {1}"}[op]
    if left == "DATE" and right in _DAY_COUNT_TYPES:
        return {"ADD": "date_add({0}, {1})", "SUB": "date_sub({0}, {1})"}[op]
    return "date_add({1}, {0})" if op == "ADD" and right == "DATE" and left in _DAY_COUNT_TYPES else ""


_DAY_COUNT_TYPES = frozenset({"TINYINT", "SMALLINT", "INT"})


def round_compared_constants(op: str, left: tuple[str, str], right: tuple[str, str]) -> tuple[str, str]:
    """Return the texts of two compared sides, given with types: a fraction beside an integer is rounded."""
    if left[1] in _INTEGER_TYPES and _FRACTION_LITERAL.fullmatch(right[0]) and right[1].startswith("DECIMAL"):
        return left[0], str(_COMPARISON_ROUNDING[op](float(right[0])))
    if right[1] in _INTEGER_TYPES and _FRACTION_LITERAL.fullmatch(left[0]) and left[1].startswith("DECIMAL"):
        return str(_COMPARISON_ROUNDING[_MIRRORED_COMPARISONS[op]](float(left[0]))), right[0]
    return left[0], right[0]


_INTEGER_TYPES = frozenset({*_DAY_COUNT_TYPES, "BIGINT"})
_FRACTION_LITERAL = re.compile(r"-?\d{1,15}\.\d+")
_COMPARISON_ROUNDING = {"LT": math.ceil, "GTE": math.ceil, "GT": math.floor, "LTE": math.floor}
_MIRRORED_COMPARISONS = {"LT": "GT", "GT": "LT", "LTE": "GTE", "GTE": "LTE"}
