"""Names that Spark gives to unaliased columns: how it prints operators, functions, types and default arguments."""

import math
import re

from lineage_pipeline.dialects.column_names import (
    BARE_FUNCTIONS,
    BinaryOperator,
    ColumnNameRules,
    PatternOperator,
    PrefixOperator,
    build_infix_operators,
)

_OPERATORS = {
    **build_infix_operators(1, "OR"),
    **build_infix_operators(2, "AND"),
    **build_infix_operators(5, "= <=> < <= > >="),
    "==": BinaryOperator(5, "({} = {})"),
    "<>": BinaryOperator(5, "(NOT ({} = {}))"),
    "!=": BinaryOperator(5, "(NOT ({} = {}))"),
    **build_infix_operators(6, "|"),
    **build_infix_operators(7, "^"),
    **build_infix_operators(8, "&"),
    **build_infix_operators(9, "<< >> >>>"),
    # What is moved by an interval is a date or timestamp, and has no parentheses.
    "+": BinaryOperator(10, "({} + {})", interval_shape="{} + {}"),
    "-": BinaryOperator(10, "({} - {})", interval_shape="{} - {}"),
    "||": BinaryOperator(10, "concat({}, {})"),
    **build_infix_operators(11, "* / %"),
    "MOD": BinaryOperator(11, "({} % {})"),
    "DIV": BinaryOperator(11, "({} div {})"),
}

PRINTED_FUNCTIONS = {
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

_CALL_SHAPES = {
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

_DEFAULT_ARGUMENTS = {
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

_MAX_PRINTED_ARGUMENTS = {
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

_RANK_FUNCTIONS = frozenset("row_number rank dense_rank percent_rank ntile".split())
"""Window functions whose frame is one of rows."""

_KEYED_AGGREGATES = frozenset({"", "listagg", "string_agg"})
"""What prints the keys of ORDER BY completely: windows, and these functions with WITHIN GROUP."""


def _print_number(text: str) -> str:
    """Return a number as Spark prints it; one with an exponent is a double."""
    if "E" not in text.upper():
        return f"0{text}" if text.startswith(".") else text
    value = float(text)
    if 1e-3 <= abs(value) < 1e7 or not value:
        return str(value)
    digits, _, power = f"{value:e}".partition("e")
    whole, _, rest = digits.partition(".")
    return f"{whole}.{rest.rstrip('0') or '0'}E{int(power)}"


def _print_typed_literal(kind: str, text: str) -> str:
    """Return a date or timestamp literal; a timestamp has a time."""
    midnight = kind.startswith("TIMESTAMP") and len(text) == len("2020-01-01")
    return f"{kind} '{text}{' 00:00:00' if midnight else ''}'"


def _print_lambda(body: str, parameters: list[str]) -> str:
    """Return a lambda, whose parameters have lost their names."""
    return f"lambdafunction({', '.join([body, *('namedlambdavariable()' for _ in parameters)])})"


def _print_order_key(direction: str, nulls: str, function: str) -> str:
    """Return the shape of a key; that of a percentile shows only DESC, and has no position of nulls."""
    if function in _KEYED_AGGREGATES:
        default = "LAST" if direction == "DESC" else "FIRST"
        return f"{{}} {direction or 'ASC'} NULLS {nulls or default}"
    if nulls:
        return ""
    return "{} DESC" if direction == "DESC" else "{}"


def _print_frame(written: str, function: str, offset: str, ordered: bool) -> str:
    """Return the frame of a window, or its default; that of LAG and LEAD depends on their offset."""
    if written:
        return written
    if function in ("lag", "lead"):
        moved = f"{'-' if function == 'lag' else ''}{offset} FOLLOWING"
        return f"ROWS BETWEEN {moved} AND {moved}"
    if not ordered:
        return "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    return f"{'ROWS' if function in _RANK_FUNCTIONS else 'RANGE'} BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"


SPARK_COLUMN_NAMES = ColumnNameRules(
    operators=_OPERATORS,
    prefixes={
        "NOT": PrefixOperator(3, "(NOT {})"),
        "!": PrefixOperator(3, "(NOT {})"),
        "-": PrefixOperator(12, "(- {})", number_shape="-{}"),
        "+": PrefixOperator(12, "(+ {})"),
        "~": PrefixOperator(12, "~{}"),
    },
    signs_number_tokens=True,
    predicates=frozenset("BETWEEN IN LIKE ILIKE RLIKE REGEXP IS NOT".split()),
    predicate_precedence=4,
    patterns={
        "LIKE": PatternOperator("{} LIKE {}", "(NOT {} LIKE {})", "{} LIKE {} ESCAPE '{}'"),
        "ILIKE": PatternOperator("ilike({}, {})", "(NOT ilike({}, {}))", "ilike({}, {})"),
        "RLIKE": PatternOperator("RLIKE({}, {})", "(NOT RLIKE({}, {}))"),
        "REGEXP": PatternOperator("RLIKE({}, {})", "(NOT RLIKE({}, {}))"),
    },
    between_shape="between({}, {}, {})",
    same_shape="({} <=> {})",
    different_shape="(NOT ({} <=> {}))",
    truth_shape="{}",
    quote_name=str,
    raw_literals=False,
    print_number=_print_number,
    literal_types=frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIME"}),
    print_typed_literal=_print_typed_literal,
    double_suffixes=frozenset({"D", "F"}),
    interval_shapes={
        **{unit: f"INTERVAL '{{}}' {unit}" for unit in "YEAR QUARTER MONTH WEEK DAY MILLISECOND MICROSECOND".split()},
        **{unit: f"INTERVAL '{{:0>2}}' {unit}" for unit in ("HOUR", "MINUTE", "SECOND")},
    },
    interval_range_shape="INTERVAL '{}' {} TO {}",
    constant_intervals=True,
    bare_functions={name: f"{name.lower()}()" for name in BARE_FUNCTIONS},
    member_shape="{}.{}",
    prints_member_stars=True,
    slices=False,
    row_shape="named_struct({})",
    row_item_shape="{0}, {0}",
    branch_shape="WHEN {} THEN {}",
    case_shape="CASE {} END",
    lambda_sign="->",
    lambda_variable="namedlambdavariable()",
    print_lambda=_print_lambda,
    prints_queries=False,
    scalar_shape="scalarsubquery({})",
    exists_shape="exists({})",
    in_query_shape="({} IN (listquery({})))",
    printed_functions=PRINTED_FUNCTIONS,
    call_shapes=_CALL_SHAPES,
    arity_functions={
        **dict.fromkeys((("dateadd", 3), ("date_add", 3)), "timestampadd"),
        **dict.fromkeys((("datediff", 3), ("date_diff", 3)), "timestampdiff"),
    },
    default_arguments=_DEFAULT_ARGUMENTS,
    max_printed_arguments=_MAX_PRINTED_ARGUMENTS,
    conversion_functions=frozenset(
        "BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL DATE TIMESTAMP BINARY STRING".split()
    ),
    argument_quantifiers=("DISTINCT", "ALL"),
    named_arguments={"=>": "{1}"},
    argument_alias_shape="{} AS {}",
    prints_argument_order=False,
    counted_star=("1",),
    extract_shape="extract({} FROM {})",
    print_unit=str,
    position_shape="locate({}, {}, 1)",
    trim_shapes={
        "": ("trim({})", "TRIM(BOTH {1} FROM {0})"),
        "BOTH": ("trim({})", "TRIM(BOTH {1} FROM {0})"),
        "LEADING": ("ltrim({})", "TRIM(LEADING {1} FROM {0})"),
        "TRAILING": ("rtrim({})", "TRIM(TRAILING {1} FROM {0})"),
    },
    within_group_shape="{call} WITHIN GROUP (ORDER BY {order})",
    ordered_set_shapes={"string_agg": "listagg({arguments}) WITHIN GROUP (ORDER BY {order})"},
    print_order_key=_print_order_key,
    ignore_nulls_shapes={"first_value": "first{}", "last_value": "last{}", "nth_value": "nth_value{} ignore nulls"},
    frame_words=frozenset({"ROWS", "RANGE"}),
    print_frame=_print_frame,
    types={
        "INTEGER": "INT",
        "LONG": "BIGINT",
        "SHORT": "SMALLINT",
        "BYTE": "TINYINT",
        "REAL": "FLOAT",
        "DEC": "DECIMAL",
        "NUMERIC": "DECIMAL",
    },
    keeps_type_case=False,
    type_brackets=frozenset({"(", "<"}),
    type_separator=",",
    sized_types=dict.fromkeys(("VARCHAR", "CHAR", "CHARACTER"), "STRING"),
    bare_types={"DECIMAL": "DECIMAL(10,0)"},
    array_types=False,
    omitted_casts=("ARRAY<", "MAP<", "STRUCT<"),
)


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
