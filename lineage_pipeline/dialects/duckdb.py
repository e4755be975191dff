"""DuckDB: printed names, files as tables, column sets, scans of other databases, types and signs."""

import json
import re

import msgspec

from lineage_pipeline.dialects.client_commands import DOT_SHELL
from lineage_pipeline.dialects.dialect import DialectTraits, UnaliasedNaming
from lineage_pipeline.dialects.duckdb_column_names import DUCKDB_COLUMN_NAMES
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import (
    ARRAY_BRACKETS,
    CASTS,
    DISTINCT_ON,
    DOT_COMMANDS,
    GENERATE_SERIES,
    INSERT_OR,
    JSON_PATHS,
    ON_CONFLICT,
    PRAGMA,
    QUALIFY,
    STAR_EXCLUDE,
    TIME_ZONE_TYPES,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.system_catalogs import STANDARD_SCHEMAS, SystemCatalog
from lineage_pipeline.dialects.table_functions import TableArgument
from lineage_pipeline.dialects.types import decimals
from lineage_pipeline.dialects.types.arithmetic import (
    ArgumentTypes,
    ConstantTexts,
    TypeRule,
    arithmetic_rule,
    moment_arithmetic,
)
from lineage_pipeline.dialects.types.coercion import (
    adapt_literals,
    common_type,
    common_type_in_order,
    is_integer_literal,
    is_numeric_type,
    type_digits,
    widen_integers,
    widen_to_string,
)
from lineage_pipeline.dialects.types.common_rules import (
    SLICE_TYPE,
    argument_rule,
    array_rule,
    fixed_rules,
    infer_map_keys,
    infer_map_values,
    infer_negation,
    split_names,
)
from lineage_pipeline.dialects.types.conversions import (
    COMMON_ADDITION_PAIRS,
    COMMON_SUBTRACTION_PAIRS,
    ImplicitConversions,
    parse_operator_pairs,
    parse_pairs,
)
from lineage_pipeline.dialects.types.decimals import DEFAULT_PRECISION_LIMIT, Digits
from lineage_pipeline.dialects.types.families import UNTYPED_CONSTANT, TypeFamily, normalize_type
from lineage_pipeline.dialects.types.nullability import NULL_SKIPPING_RULES
from lineage_pipeline.dialects.types.shapes import TypeShape, member_type, parse_type_shape
from lineage_pipeline.dialects.types.type_rules import ELEMENT_OF_EXPRESSION, TypeRules

# ── result types of operators and functions ───────────────────────────────────────────────────────────────────────────


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


def _widen_boolean(family: TypeFamily, left: TypeShape, right: TypeShape) -> str | None:
    """A boolean beside a number is a number."""
    return right.name if left.name == family.boolean and is_numeric_type(right, family) else None


MAX_INT64_PRECISION = 18
"""The maximum precision of a decimal that fits into 64 bits."""


PRECISE_TIMESTAMPS = frozenset({"TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
"""Timestamp types that become plain ones when moved or truncated."""


def argument_shape(types: ArgumentTypes, position: int = 0) -> TypeShape:
    """Return the shape of an argument's type; empty where there is none."""
    return parse_type_shape(types[position] or "") if len(types) > position else TypeShape("")


def duckdb_operator_rule(op: str) -> TypeRule:
    """Build the rule of an operator between numbers, moments or lists."""
    plain = arithmetic_rule("ADD")

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        if len(types) != 2 or None in types:
            return None
        spelt = tuple(adapt_literals(types, texts or ("", ""), family))
        shapes = argument_shape(spelt), argument_shape(spelt, 1)
        if all(is_numeric_type(shape, family) for shape in shapes):
            return infer_number_operation(op, family, shapes)
        names = {shape.name for shape in shapes}
        if names == {"BIT"} or (family.interval in names and names & PRECISE_TIMESTAMPS):
            return "BIT" if names == {"BIT"} else family.timestamp
        if "ARRAY" in names:
            return common_type([kind for kind in types if parse_type_shape(kind or "").name == "ARRAY"], family)
        if names == {family.date, family.time} and op == "ADD":
            return family.timestamp
        if family.null in names or UNTYPED_CONSTANT in names:
            return infer_beside_untyped(op, family, spelt)
        return (
            moment_arithmetic(op, family, *shapes)
            if op in ("ADD", "SUB", "MUL", "DIV")
            else plain(family, spelt, texts)
        )

    return rule


def infer_beside_untyped(op: str, family: TypeFamily, types: ArgumentTypes) -> str | None:
    """An operator beside NULL or a string literal: the type of the other side, but for decimals."""
    known = [kind for kind in types if kind not in (family.null, UNTYPED_CONSTANT)]
    if not known:
        return family.double if op == "DIV" else family.bigint if UNTYPED_CONSTANT not in types else None
    shape = parse_type_shape(known[0] or "")
    if shape.name == family.decimal and op != "DIV":
        return family.null if family.null in types else family.double
    if op == "SUB" and types[0] == family.null and shape.name in (family.date, family.timestamp, family.zoned):
        return family.bigint if shape.name == family.date else family.interval
    return infer_number_operation(op, family, (shape, shape)) if is_numeric_type(shape, family) else known[0]


def infer_number_operation(op: str, family: TypeFamily, shapes: tuple[TypeShape, TypeShape]) -> str | None:
    """An operator between two numbers."""
    names = {shapes[0].name, shapes[1].name}
    if family.double in names:
        return family.double
    if family.real in names:
        return family.real
    if op == "DIV" or (op == "INTDIV" and family.decimal in names):
        return family.double
    if family.decimal not in names:
        return infer_integer_operation(family, shapes[0].name, shapes[1].name)
    left, right = type_digits(shapes[0], family), type_digits(shapes[1], family)
    return infer_decimal_operation(op, family, left, right) if left is not None and right is not None else None


def infer_integer_operation(family: TypeFamily, left: str, right: str) -> str | None:
    """Two integers: where the signed one does not hold the unsigned one, a much longer one is used."""
    found = widen_integers(family, left, right)
    if found is None or found in (left, right):
        return found
    if "UHUGEINT" in (left, right):
        return family.double
    return "HUGEINT" if "UBIGINT" in (left, right) else family.bigint


def infer_decimal_operation(op: str, family: TypeFamily, left: decimals.Digits, right: decimals.Digits) -> str | None:
    """An operator between two decimals."""
    digits = duckdb_digits(op, left, right)
    if digits is None:
        return None
    if op == "MUL" and digits[0] > MAX_INT64_PRECISION >= max(left[0], right[0]) and digits[1] < MAX_INT64_PRECISION:
        digits = MAX_INT64_PRECISION, digits[1]
    whole = max(left[0] - left[1], right[0] - right[1])
    if op == "MOD" and whole + max(left[1], right[1]) > decimals.DEFAULT_PRECISION_LIMIT:
        return family.double
    return family.numeric(*digits)


def infer_widest(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """The least type that holds all arguments; constants adapt to the others."""
    return common_type_in_order(types, texts or [""] * len(types), family)


def infer_list_literal(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A list that is written out."""
    kind = infer_widest(family, types, texts) if types else family.null
    return family.array(kind) if kind else None


def infer_gcd(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """GCD and LCM: long integers, or huge ones."""
    return "HUGEINT" if "HUGEINT" in types else family.bigint


def infer_sum(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """SUM: integers become huge, decimals as long as they can be."""
    shape = argument_shape(types)
    if shape.name in (*family.integers, *family.unsigned, family.boolean, family.null):
        return "HUGEINT"
    digits = type_digits(shape, family)
    if digits is not None:
        return family.numeric(38, digits[1])
    return shape.name if shape.name == family.interval else family.double if shape.name else None


def infer_bit_count(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """BIT_COUNT: how many bits of a number, or of a row of bits, are set."""
    return family.bigint if argument_shape(types).name == "BIT" else "TINYINT"


def infer_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG: floating, but for moments."""
    name = argument_shape(types).name
    moments = (family.timestamp, family.zoned, family.time, family.interval)
    if name == family.date:
        return family.timestamp
    return name if name in moments else family.double if name else None


def infer_min_max(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """MIN and MAX: with a count, a list."""
    return family.array(types[0] or "") if len(types) > 1 and types[0] else types[0] if types else None


def infer_arg_min_max(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ARG_MIN and ARG_MAX: with a count, a list."""
    return family.array(types[0] or "") if len(types) > 2 and types[0] else types[0] if types else None


SHARE, SHARE_BETWEEN = "SHARE", "SHARE BETWEEN"
"""The types of quantiles that are told a share, and their values by an order."""


def infer_quantile_cont(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A continuous quantile: integers become floating; several fractions give a list."""
    if len(types) == 1 and is_fraction_only(texts):
        return SHARE_BETWEEN
    shape = argument_shape(types)
    whole = shape.name in family.integers or shape.name in family.unsigned
    kind = family.timestamp if shape.name == family.date else family.double if whole else types[0] if types else None
    several = argument_shape(types, 1).name == "ARRAY"
    return family.array(kind) if several and kind else kind


def is_fraction_only(texts: ConstantTexts) -> bool:
    """Return whether the only argument is a number literal."""
    return bool(texts) and texts[0].replace(".", "", 1).isdigit()


def infer_quantile_disc(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A discrete quantile is one of the values; several fractions give a list."""
    if len(types) == 1 and is_fraction_only(texts):
        return SHARE
    kind = types[0] if types else None
    return family.array(kind) if kind and argument_shape(types, 1).name == "ARRAY" else kind


def infer_approx_quantile(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """APPROX_QUANTILE, which has no form for the shortest integers nor for those without a sign."""
    name = argument_shape(types).name
    if name == family.real:
        return family.double
    short = name == "TINYINT" or name in family.unsigned
    return ("HUGEINT" if name in ("UBIGINT", "UHUGEINT") else family.bigint) if short else types[0] if types else None


def infer_within_group(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An ordered-set aggregate: those with a fraction alone return what is ordered, or an interpolation."""
    kind, ordered = types[0], types[1] if len(types) > 1 else None
    if kind == SHARE_BETWEEN:
        return infer_quantile_cont(family, (ordered, None), ())
    return ordered if kind in (None, SHARE) else kind


def infer_ceil_floor(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CEIL and FLOOR: decimals lose what is behind the point, integers become floating."""
    shape = argument_shape(types)
    digits = type_digits(shape, family)
    if shape.name == family.decimal and digits is not None:
        return family.numeric(digits[0], 0)
    return family.real if shape.name == family.real else family.double if shape.name else None


def infer_trunc(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """TRUNC: decimals lose what is behind the point."""
    shape = argument_shape(types)
    digits = type_digits(shape, family)
    return family.numeric(digits[0], 0) if shape.name == family.decimal and digits is not None else shape.name or None


def infer_round(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ROUND: a decimal keeps as many digits behind the point as are asked for."""
    shape = argument_shape(types)
    digits = type_digits(shape, family)
    if shape.name in family.unsigned:
        return family.bigint if digits is not None and digits[0] < 20 else "HUGEINT"
    if shape.name != family.decimal or digits is None:
        return types[0] if types else None
    text = texts[1] if len(texts) > 1 else "0"
    if not is_integer_literal(text):
        return types[0]
    if text.startswith("neg("):
        return family.numeric(digits[0] + (digits[1] == 0), 0)
    return family.numeric(digits[0], min(parse_whole_number(text), digits[1]))


def infer_date_trunc(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATE_TRUNC: a date becomes a moment."""
    moments = (family.date, family.timestamp, family.zoned, family.interval, *PRECISE_TIMESTAMPS)
    name = next(
        (parse_type_shape(kind or "").name for kind in types if parse_type_shape(kind or "").name in moments), None
    )
    return family.timestamp if name == family.date or name in PRECISE_TIMESTAMPS else name


def infer_time_bucket(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """TIME_BUCKET: the kind of moment it is given."""
    return next((kind for kind in types if kind and kind != family.interval), None)


def timezone_rule(position: int) -> TypeRule:
    """AT TIME ZONE: a moment gains a zone or loses it."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        name = argument_shape(types, position).name
        swapped = {family.timestamp: family.zoned, family.date: family.zoned, family.zoned: family.timestamp}
        return swapped.get(name, name or None)

    return rule


def infer_date_part(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATE_PART: BIGINT, but for the epoch, and where a column names the part."""
    unit = texts[0].strip("'").lower() if texts else ""
    return family.double if unit in ("epoch", "julian", "") else family.bigint


def infer_mad(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """MAD: of numbers a number, of moments an interval."""
    return types[0] if types and is_numeric_type(argument_shape(types), family) else family.interval


def infer_repeat(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """REPEAT: a list, bytes or a string several times."""
    kind = types[0] if types else None
    return kind if kind and (kind.endswith("]") or kind == family.binary) else family.string


def infer_date_add(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATE_ADD: a date and an interval make a moment."""
    name = argument_shape(types).name
    return family.timestamp if name == family.date else name or None


def infer_from_epoch(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """TO_TIMESTAMP gives a moment with a zone; EPOCH_MS a moment of a number, and a number of a moment."""
    if len(types) < 2:
        return family.zoned
    return family.timestamp if is_numeric_type(argument_shape(types), family) else family.bigint


def infer_concat_operator(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """`||`: lists give a list, bytes bytes, anything else a string; NULL wins."""
    names = [parse_type_shape(kind or "").name for kind in types]
    if family.null in types:
        return family.null
    if "ARRAY" in names:
        return common_type([kind for kind in types if parse_type_shape(kind or "").name == "ARRAY"], family)
    return family.binary if names and set(names) == {family.binary} else family.string


def infer_concat(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CONCAT: of lists a list, of anything else a string."""
    return (
        infer_concat_operator(family, types, texts)
        if any((kind or "").endswith("]") for kind in types)
        else family.string
    )


def infer_list_element(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """The element of a list or map; a character of a string; a slice has the same type."""
    kind = types[0] if types else None
    if len(types) > 1 and types[1] == SLICE_TYPE:
        return kind
    return kind if kind in (family.string, UNTYPED_CONSTANT, "JSON") else member_type(kind, "")


def infer_list_aggregate(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """LIST_AGGREGATE: the result of the aggregate it names for an element."""
    name = texts[1].strip("'").lower() if len(texts) > 1 else ""
    rule = LIST_AGGREGATES.get(name)
    return rule(family, (member_type(types[0], ""),), ()) if rule is not None and types else None


def list_aggregate_rule(name: str) -> TypeRule:
    """LIST_SUM and the like: the result of the aggregate for an element."""
    return lambda family, types, texts: (
        LIST_AGGREGATES[name](family, (member_type(types[0], ""),), ()) if types else None
    )


def _same_type(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    return types[0] if types else None


def _double_type(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    return family.double


LIST_AGGREGATES: dict[str, TypeRule] = {
    "sum": infer_sum,
    "avg": infer_avg,
    "median": infer_quantile_cont,
    "count": lambda family, types, texts: family.bigint,
    "string_agg": lambda family, types, texts: family.string,
    **dict.fromkeys("min max first last any_value mode bit_and bit_or bit_xor bool_and bool_or".split(), _same_type),
    **dict.fromkeys(
        "stddev_pop stddev_samp var_pop var_samp product entropy kurtosis skewness sem".split(), _double_type
    ),
}
"""Results of aggregates over the elements of a list."""


def infer_map_entries(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """The entries of a map as a list of structs."""
    shape = argument_shape(types)
    if shape.name != "MAP" or len(shape.members) != 2:
        return None
    return family.array(family.struct([("key", shape.members[0][1]), ("value", shape.members[1][1])]))


def infer_map_from_entries(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A map made of a list of pairs."""
    inner = parse_type_shape(member_type(types[0], "") or "") if types else TypeShape("")
    return family.map(inner.members[0][1], inner.members[1][1]) if len(inner.members) == 2 else None


def infer_histogram(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """HISTOGRAM: how often each value occurs."""
    return family.map(types[0], "UBIGINT") if types and types[0] else None


def infer_list_histogram(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """LIST_HISTOGRAM: how often each element occurs."""
    return infer_histogram(family, (member_type(types[0], ""),), texts) if types else None


def infer_array_value(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ARRAY_VALUE: an array of fixed length."""
    kind = common_type(types, family)
    return family.array(kind, str(len(types))) if kind else None


def infer_row(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ROW: members without names."""
    return f"TUPLE({','.join(kind or '' for kind in types)})" if types and all(types) else None


def infer_list_zip(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """LIST_ZIP: a list of tuples of the elements of each."""
    kinds = tuple(member_type(kind, "") for kind in types)
    inner = infer_row(family, kinds, ())
    return family.array(inner) if inner else None


def infer_range(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """RANGE: a list of long integers or of moments."""
    name = argument_shape(types).name
    if name == family.date:
        return family.array(family.timestamp)
    return family.array(name if name in (family.timestamp, family.zoned) else family.bigint)


def infer_list_append(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A list with another element."""
    shape = argument_shape(types)
    inner = member_type(types[0], "") if shape.name == "ARRAY" else None
    return family.array(inner) if inner else None


def infer_list_concat(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """Several lists as one."""
    return common_type(types, family)


def infer_flatten(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A list of lists becomes one."""
    return member_type(types[0], "") if types else None


def infer_list_transform(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """LIST_TRANSFORM: a list of the lambda's result."""
    return family.array(types[-1]) if types and types[-1] else None


def infer_list_comprehension(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """`[x + 1 for x in list if x > 0]`: a list of the first expression."""
    return types[1] if len(types) > 1 else None


def infer_map_literal(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A map that is written out."""
    members = argument_shape(types).members
    kind = common_type([inner for _, inner in members], family) if members else None
    return family.map(family.string, kind) if kind else None


def infer_list_reduce(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """LIST_REDUCE: the lambda's result."""
    return types[1] if len(types) > 1 else None


_QUOTED_WORD = re.compile(r"'([^']*)'")


def infer_date_parts(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A part of a moment, or a struct of the parts that a list names."""
    if argument_shape(types).name != "ARRAY":
        return infer_date_part(family, types, texts)
    names = _QUOTED_WORD.findall(texts[0]) if texts else []
    return (
        family.struct([(name, infer_date_part(family, types[1:], (name,)) or "") for name in names]) if names else None
    )


def infer_regexp_extract(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """REGEXP_EXTRACT: a string, or a struct of the groups that a list names."""
    names = next((_QUOTED_WORD.findall(text) for text in texts[2:] if text.startswith("array(")), [])
    return family.struct([(name, family.string) for name in names]) if names else family.string


def json_path_rule(kind: str) -> TypeRule:
    """A JSON function that returns a type for a path, and a list of it for a list of paths."""
    return lambda family, types, texts: (
        f"{kind}[]" if len(types) > 1 and argument_shape(types, 1).name == "ARRAY" else kind
    )


def infer_from_json(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """FROM_JSON: the type that a JSON structure describes."""
    text = texts[1] if len(texts) > 1 else ""
    try:
        return _structure_type(json.loads(text[1:-1]), family) if text.startswith("'") else None
    except ValueError:
        return None


def _structure_type(value: object, family: TypeFamily) -> str | None:
    """The type that a structure describes: a type name, a list of one, or an object of several."""
    if isinstance(value, str):
        return normalize_type(value.upper(), family)
    if isinstance(value, list) and len(value) == 1:
        inner = _structure_type(value[0], family)
        return family.array(inner) if inner else None
    if not isinstance(value, dict) or not value:
        return None
    members = [(name, _structure_type(item, family)) for name, item in value.items()]
    return family.struct([(name, kind or "") for name, kind in members]) if all(kind for _, kind in members) else None


FIXED_TYPES: dict[str, str] = {
    "VARCHAR": (
        "BASE64 TOBASE64 BIN CURRENTDATABASE ENUM_FIRST ENUM_LAST FORMATREADABLESIZE FORMAT_BYTES GROUPCONCAT HEX "
        "JSON_PRETTY LEFT LISTAGG NFC_NORMALIZE OVERLAY PAD PARSE_FILENAME "
        "PARSE_DIRNAME PRINTF REGEXPREPLACE REGEXP_ESCAPE REPLACE REVERSE RIGHT SPLITPART "
        "STRIP_ACCENTS SUBSTRING TO_BASE TOBINARY TO_BINARY URL_DECODE URL_ENCODE USER SESSIONUSER CURRENTROLE "
        "CURRENTCATALOG ALIAS BAR CURRENT_QUERY HIVE_PARTITION_COMPONENT COLLATE REGEXP_SPLIT_TO_TABLE"
    ),
    "BIGINT": (
        "CENTURY COUNT_STAR CURRVAL DAMERAU_LEVENSHTEIN DATE_SUB DATESUB DATE_DIFF DECADE EPOCH_NS EPOCH_US ERA "
        "GROUPING GROUPINGID GROUPING_ID HAMMING ISOYEAR LENGTH LENGTH_GRAPHEME LEVENSHTEIN MICROSECOND MILLENNIUM "
        "MILLISECOND MISMATCHES NANOSECOND NEXTVAL OCTET_LENGTH STRLEN STRPOSITION TIMEZONE_HOUR TIMEZONE_MINUTE "
        "WEEKDAY WEEKOFYEAR YEARWEEK LIST_COUNT RANK ROWNUMBER DENSERANK NTILE DATEDIFF SETVAL GENERATE_SUBSCRIPTS "
        "LIST_APPROX_COUNT_DISTINCT"
    ),
    "HUGEINT": "BINOM COUNTIF FACTORIAL SUM_NO_OVERFLOW",
    "UHUGEINT": "MD5_NUMBER",
    "INTEGER": "ARRAY_INDEXOF ARRAYPOSITION BIT_POSITION LIST_INDEXOF LIST_POSITION ORD",
    "TINYINT": "SIGN",
    "UINTEGER": "REGRCOUNT UUID_EXTRACT_VERSION",
    "UBIGINT": "ARRAY_UNIQUE CARDINALITY HASH LIST_UNIQUE TXID_CURRENT "
    "PARSE_FORMATTED_BYTES VARIANT_ARRAY_LENGTH CURRENT_CONNECTION_ID CURRENT_QUERY_ID CURRENT_TRANSACTION_ID",
    "DOUBLE": (
        "CORR ENTROPY EVEN FAVG FDIV FMOD FSUM GAMMA GEOMEAN GEOMETRIC_MEAN JACCARD JARO_SIMILARITY "
        "JARO_WINKLER_SIMILARITY JULIAN KAHAN_SUM KURTOSIS KURTOSIS_POP LGAMMA PRODUCT REGRAVGX REGRAVGY "
        "REGRINTERCEPT REGRR2 REGRSLOPE REGRSXX REGRSXY REGRSYY SEM SUMKAHAN WAVG WEIGHTED_AVG POW"
    ),
    "BOOLEAN": (
        "ARRAYCONTAINS ARRAYCONTAINSALL ARRAYCONTAINEDBY ARRAYOVERLAPS ARRAY_HAS_ANY GLOB ISFINITE JSON_CONTAINS "
        "JSON_VALID LIST_HAS_ALL MAP_CONTAINS PREFIX REGEXPFULLMATCH SIMILARTO SUFFIX ENDSWITH ANY ALL ESCAPE SIGNBIT "
        "CAN_CAST_IMPLICITLY IN_SEARCH_PATH VARIANT_CONTAINS VARIANT_EXISTS LIKE_ESCAPE ILIKE_ESCAPE NOT_LIKE_ESCAPE "
        "NOT_ILIKE_ESCAPE"
    ),
    "JSON": (
        "ARRAY_TO_JSON JSONARRAY JSONOBJECT JSON_GROUP_ARRAY JSON_GROUP_OBJECT JSON_MERGE_PATCH "
        "JSON_QUOTE JSON_STRUCTURE ROW_TO_JSON TO_JSON JSON_DEEP_MERGE JSON_INSERT JSON_MERGE_PATCH_DIFF JSON_REMOVE "
        "JSON_REPLACE JSON_SERIALIZE_PLAN JSON_SERIALIZE_SQL JSON_SET JSON_STRIP_NULLS JSON_GROUP_STRUCTURE"
    ),
    "INTERVAL": (
        "AGE TO_CENTURIES TO_DAYS TO_DECADES TO_HOURS TO_MICROSECONDS TO_MILLENNIA TO_MILLISECONDS TO_MINUTES "
        "TO_MONTHS TO_QUARTERS TO_SECONDS TO_WEEKS TO_YEARS NORMALIZED_INTERVAL"
    ),
    "TIMESTAMP WITH TIME ZONE": "CURRENTTIMESTAMP GET_CURRENT_TIMESTAMP MAKE_TIMESTAMPTZ NOW TRANSACTION_TIMESTAMP "
    "UUID_EXTRACT_TIMESTAMP",
    "TIME WITH TIME ZONE": "CURRENTTIME",
    "TIMESTAMP": "LOCALTIMESTAMP TRY_STRPTIME MAKE_TIMESTAMP_MS",
    "TIMESTAMP_NS": "MAKE_TIMESTAMP_NS",
    "BIT": "BITSTRING BITSTRING_AGG SET_BIT",
    '"NULL"': "SETSEED SLEEP_MS ERROR WRITE_LOG",
    "TIME": "LOCALTIME CURRENT_LOCALTIME",
    "DATE": "TODAY",
    "UUID": "UUID UUIDV4 UUIDV7",
    "BLOB": "FROMBASE64 UNHEX UNBIN FROM_BINARY ENCODE HEXSTRING",
    "VARCHAR[]": "REGEXPEXTRACTALL REGEXP_SPLIT_TO_ARRAY REGEXPSPLIT SPLIT STRINGTOARRAY STRUCT_KEYS CURRENT_SCHEMAS "
    "PARSE_PATH VARIANT_KEYS ENUM_RANGE ENUM_RANGE_BOUNDARY UNPIVOT_LIST",
    "BIGINT[]": "ARRAY_GRADE_UP GRADE_UP LIST_GRADE_UP",
    "VARIANT": "VARIANT_EXTRACT",
}
"""Types, and the functions that always return them."""

JSON_PATH_TYPES: dict[str, str] = {
    "VARCHAR": "JSONEXTRACTSCALAR JSONTYPE JSON_VALUE",
    "JSON": "JSONEXTRACT",
    "BOOLEAN": "JSON_EXISTS",
    "UBIGINT": "JSON_ARRAY_LENGTH",
    "VARCHAR[]": "JSONKEYS",
}
"""Types, and the JSON functions that return one for a path, and a list of them for a list of paths."""

SAME_TYPE_FUNCTIONS = split_names(
    "BITWISEANDAGG BITWISEORAGG BITWISEXORAGG BITWISENOT MODE ARBITRARY ARRAYDISTINCT ARRAYFILTER ARRAYSORT "
    "ARRAYREVERSE ARRAYSLICE LIST_SORT LIST_REVERSE LIST_REVERSE_SORT LIST_SLICE LIST_SELECT LIST_WHERE LIST_RESIZE "
    "LIST_FILTER LIST_DISTINCT ARRAY_SORT ARRAY_RESIZE ARRAY_POP_BACK ARRAY_POP_FRONT ARRAY_SELECT ARRAY_WHERE "
    "ARRAY_CROSS_PRODUCT LIST_INTERSECT ARRAYINTERSECT TRY STRUCTEXTRACT STRUCT_EXTRACT ARRAY_REVERSE_SORT NEXTAFTER "
    "FILL ARG_MAX_NULL ARG_MIN_NULL ARG_MAX_NULLS_LAST ARG_MIN_NULLS_LAST"
)
BIT_OPERATORS = split_names("BITWISEAND BITWISEOR BITWISEXOR BITWISELEFTSHIFT BITWISERIGHTSHIFT")
NAMED_OPERATORS = {"ADD()": "ADD", "SUBTRACT": "SUB", "MULTIPLY": "MUL", "DIVIDE": "INTDIV", "INTDIV": "INTDIV"}
LIST_AGGREGATE_NAMES = {f"LIST_{name.upper()}": name for name in LIST_AGGREGATES} | {
    "ARRAYMAX": "max",
    "ARRAYMIN": "min",
}

DUCKDB_RULES: dict[str, TypeRule] = {
    **fixed_rules(FIXED_TYPES),
    **dict.fromkeys(SAME_TYPE_FUNCTIONS, argument_rule(0)),
    **{op: duckdb_operator_rule(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **{name: duckdb_operator_rule(op) for name, op in NAMED_OPERATORS.items()},
    **dict.fromkeys(BIT_OPERATORS, duckdb_operator_rule("ADD")),
    **{op: list_aggregate_rule(name) for op, name in LIST_AGGREGATE_NAMES.items()},
    **dict.fromkeys(split_names("COALESCE GREATEST LEAST IFNULL"), infer_widest),
    **dict.fromkeys(split_names("MIN MAX"), infer_min_max),
    **dict.fromkeys(split_names("ARGMIN ARGMAX"), infer_arg_min_max),
    **dict.fromkeys(split_names("MEDIAN PERCENTILECONT"), infer_quantile_cont),
    **dict.fromkeys(split_names("QUANTILE PERCENTILEDISC QUANTILE_DISC"), infer_quantile_disc),
    **dict.fromkeys(split_names("CEIL FLOOR"), infer_ceil_floor),
    **dict.fromkeys(split_names("BIT_COUNT BITWISECOUNT"), infer_bit_count),
    **dict.fromkeys(split_names("ROUND ROUND_EVEN ROUNDBANKERS"), infer_round),
    **dict.fromkeys(split_names("EXTRACT DATE_PART DATEPART"), infer_date_parts),
    **dict.fromkeys(split_names("AVG MEAN"), infer_avg),
    **dict.fromkeys(split_names("ARRAYAPPEND ARRAYPREPEND ARRAY_PUSH_BACK ARRAY_PUSH_FRONT"), infer_list_append),
    **dict.fromkeys(split_names("ARRAYCONCAT LIST_CAT"), infer_list_concat),
    **dict.fromkeys(split_names("MAP_VALUES MAPVALUES ELEMENT_AT MAP_EXTRACT"), infer_map_values),
    **dict.fromkeys(
        split_names("APPLY TRANSFORM LIST_APPLY LIST_TRANSFORM ARRAY_TRANSFORM ARRAY_APPLY"), infer_list_transform
    ),
    **dict.fromkeys(
        split_names("ELEMENT EXPLODE UNNEST LIST_EXTRACT LIST_ELEMENT ARRAY_EXTRACT MAP_EXTRACT_VALUE"),
        infer_list_element,
    ),
    **dict.fromkeys(split_names("LIST_AGGREGATE ARRAY_AGGREGATE LIST_AGGR ARRAY_AGGR AGGREGATE"), infer_list_aggregate),
    **dict.fromkeys(split_names("LIST_ZIP ARRAY_ZIP"), infer_list_zip),
    **dict.fromkeys(
        split_names(
            "ARRAY_DISTANCE ARRAY_COSINE_SIMILARITY LIST_COSINE_SIMILARITY COSINEDISTANCE EUCLIDEANDISTANCE "
            "LIST_DOT_PRODUCT LIST_INNER_PRODUCT LIST_NEGATIVE_DOT_PRODUCT LIST_NEGATIVE_INNER_PRODUCT "
            "ARRAY_DOT_PRODUCT ARRAY_INNER_PRODUCT LIST_COSINE_DISTANCE LIST_DISTANCE"
        ),
        infer_list_element,
    ),
    **{op: json_path_rule(kind) for kind, names in JSON_PATH_TYPES.items() for op in names.split()},
    "LIST_PACK": infer_list_literal,
    "APPROX_TOP_K": array_rule(0),
    "HISTOGRAM_EXACT": infer_histogram,
    **dict.fromkeys(split_names("JSON_TRANSFORM JSON_TRANSFORM_STRICT FROMJSON FROM_JSON_STRICT"), infer_from_json),
    "REGEXPEXTRACT": infer_regexp_extract,
    "REPEAT": infer_repeat,
    "MAD": infer_mad,
    **dict.fromkeys(split_names("ROW TUPLE"), infer_row),
    **dict.fromkeys(split_names("LIST_REDUCE ARRAY_REDUCE REDUCE"), infer_list_reduce),
    "ARRAY": infer_list_literal,
    **dict.fromkeys(split_names("GCD LCM"), infer_gcd),
    "APPROXQUANTILE": infer_approx_quantile,
    "MAP_CONCAT": infer_list_concat,
    "ARRAYAGG": array_rule(0),
    "NEG": infer_negation,
    "SUM": infer_sum,
    "TRUNC": infer_trunc,
    "TIMESTAMPTRUNC": infer_date_trunc,
    "DATETRUNC": infer_date_trunc,
    "DATEBIN": infer_time_bucket,
    "ATTIMEZONE": timezone_rule(0),
    "TIMEZONE": timezone_rule(1),
    "DATEADD": infer_date_add,
    "UNIXTOTIME": infer_from_epoch,
    "DPIPE": infer_concat_operator,
    "CONCAT": infer_concat,
    "WITHINGROUP": infer_within_group,
    "MAPKEYS": infer_map_keys,
    "MAP_ENTRIES": infer_map_entries,
    "MAPFROMENTRIES": infer_map_from_entries,
    "HISTOGRAM": infer_histogram,
    "LIST_HISTOGRAM": infer_list_histogram,
    "ARRAY_VALUE": infer_array_value,
    "FLATTEN": infer_flatten,
    "GENERATESERIES": infer_range,
    "TOMAP": infer_map_literal,
    "COMPREHENSION": infer_list_comprehension,
}
"""Rules of DuckDB's functions; the common rules hold for the rest."""

DUCKDB_CONSTANT_OPERATORS = (
    split_names(
        "ADD() SUBTRACT MULTIPLY DIVIDE INTDIV ARRAY COALESCE GREATEST LEAST IFNULL DATEPART NEG LIST_AGGREGATE "
        "ARRAY_AGGREGATE LIST_AGGR ARRAY_AGGR UNIXTOTIME PERCENTILEDISC PERCENTILECONT JSON_TRANSFORM "
        "JSON_TRANSFORM_STRICT FROMJSON FROM_JSON_STRICT REGEXPEXTRACT"
    )
    | BIT_OPERATORS
)
"""Operators whose type also depends on the values of constants."""


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

_INTEGER_SYNONYMS = {"INT": "INTEGER", "INT4": "INTEGER", "INT8": "BIGINT", "INT2": "SMALLINT", "INT1": "TINYINT"}

DUCKDB_TYPES = TypeFamily(
    name="duckdb",
    integers=("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    digits=(3, 5, 10, 19, 38),
    integer="INTEGER",
    bigint="BIGINT",
    decimal="DECIMAL",
    real="FLOAT",
    double="DOUBLE",
    string="VARCHAR",
    boolean="BOOLEAN",
    binary="BLOB",
    zoned="TIMESTAMP WITH TIME ZONE",
    aliases={
        **_INTEGER_SYNONYMS,
        **{"TEXT": "VARCHAR", "STRING": "VARCHAR", "CHAR": "VARCHAR", "BPCHAR": "VARCHAR", "NUMERIC": "DECIMAL"},
        **{"REAL": "FLOAT", "FLOAT4": "FLOAT", "FLOAT8": "DOUBLE", "LONG": "BIGINT", "BOOL": "BOOLEAN"},
        **{"TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE", "DATETIME": "TIMESTAMP", "BYTEA": "BLOB", "VARBINARY": "BLOB"},
        **{"BINARY": "BLOB", "DOUBLE PRECISION": "DOUBLE", "INT128": "HUGEINT", "TIMETZ": "TIME WITH TIME ZONE"},
        **{
            "UINT8": "UTINYINT",
            "UINT16": "USMALLINT",
            "UINT32": "UINTEGER",
            "UINT64": "UBIGINT",
            "UINT128": "UHUGEINT",
        },
    },
    alone={"DECIMAL": "DECIMAL(18,3)"},
    unsigned={"UTINYINT": 3, "USMALLINT": 5, "UINTEGER": 10, "UBIGINT": 20, "UHUGEINT": 38},
    adapts=True,
    leading_zero=True,
    long_positions=True,
    days="BIGINT",
    notation=("{}[]", "MAP({},{})", "STRUCT({})", "{} {}"),
    strings=("VARCHAR",),
    bare_strings=True,
    null='"NULL"',
    literal=UNTYPED_CONSTANT,
    settled={UNTYPED_CONSTANT: "VARCHAR"},
    compute_digits=duckdb_digits,
    float_division=True,
    float_quotients=True,
    scale_yields=True,
    keeps_real=True,
    widening=(widen_to_string, _widen_boolean),
    conversions=ImplicitConversions(
        compares=parse_pairs("string-* number-boolean date-moment binary-uuid"),
        unites=parse_pairs("string-* number-boolean date-moment binary-uuid"),
        stores=parse_pairs("string-* number-boolean date-moment moment>time binary-uuid"),
        branches=parse_pairs("number-boolean date-moment"),
        computes=parse_operator_pairs(
            add=f"date-number date-time {COMMON_ADDITION_PAIRS}",
            sub=COMMON_SUBTRACTION_PAIRS,
            mul="interval-number",
            div="interval>number",
        ),
    ),
)


# ── the dialect ───────────────────────────────────────────────────────────────────────────────────────────────────────

_DESCRIBE_COLUMNS: dict[str, dict[str, bool]] = {
    "DESCRIBE": dict.fromkeys("column_name column_type null key default extra".split(), False),
    "SUMMARIZE": {
        **dict.fromkeys("column_name column_type".split(), False),
        **dict.fromkeys("min max approx_unique avg std q25 q50 q75 count null_percentage".split(), True),
    },
}
"""The columns of DESCRIBE and SUMMARIZE as sources, and whether they are computed from values."""

DUCKDB = DialectTraits(
    name="duckdb",
    family="duckdb",
    quotes="`",
    naming=UnaliasedNaming.PRINTED,
    printed_names=DUCKDB_COLUMN_NAMES,
    describe_columns=_DESCRIBE_COLUMNS,
    lateral_alias=True,
    alias_in_where=True,
    alias_in_having=True,
    row_names="col{0}",
    row_values=True,
    column_sets=True,
    file_tables=True,
    numbers_doubles=True,
    lateral_queries=True,
    merges_in_place=True,
    short_lists=True,
    stars_by_position=True,
    plain_functions=frozenset({"APPLY"}),
    callable_keywords=frozenset({"APPLY"}),
    json_documents=True,
    struct_unnesting_functions=frozenset({"EXPLODE", "UNNEST"}),
    table_arguments={
        "QUERY": TableArgument(text=0),
        "QUERY_TABLE": TableArgument((0,)),
        **dict.fromkeys(("POSTGRES_QUERY", "MYSQL_QUERY"), TableArgument(text=1, server=0)),
        **dict.fromkeys(
            ("POSTGRES_SCAN", "POSTGRES_SCAN_PUSHDOWN"), TableArgument((1, 2), server=0, scheme="postgresql")
        ),
        "MYSQL_SCAN": TableArgument((1, 2), server=0, scheme="mysql"),
        "SQLITE_SCAN": TableArgument((1,), server=0, scheme="sqlite"),
    },
    table_pseudo_columns=frozenset({"ROWID", "FILENAME", "FILE_ROW_NUMBER"}),
    pseudo_column_types={"ROWID": "BIGINT", "FILENAME": "VARCHAR", "FILE_ROW_NUMBER": "BIGINT"},
    system_catalog=SystemCatalog(
        schemas=STANDARD_SCHEMAS | {"pg_catalog", "pg_toast"}, prefixes=("duckdb_", "pg_", "sqlite_")
    ),
    client_commands=DOT_SHELL,
    procedural=ProceduralLanguage("macros", opens=frozenset()),
    types=DUCKDB_TYPES,
    type_rules=TypeRules(
        # COUNT_IF adds up ones: without a row whose condition is known, it gives NULL.
        nulls=msgspec.structs.replace(NULL_SKIPPING_RULES, never=NULL_SKIPPING_RULES.never - {"COUNTIF"}),
        functions=DUCKDB_RULES,
        constants=DUCKDB_CONSTANT_OPERATORS,
        table_functions={"GENERATESERIES": (ELEMENT_OF_EXPRESSION,), "RANGE": (ELEMENT_OF_EXPRESSION,)},
    ),
    signs=(
        build_sign(
            "read_parquet and friends",
            r"\bread_(parquet|csv|csv_auto|json|json_auto|ndjson)\s*\(",
            3,
            "read_parquet read_csv read_csv_auto read_json read_json_auto read_ndjson",
        ),
        build_sign(
            "FROM a file",
            r"\bSELECT\b[^;]{1,300}?\bFROM\s+'[^'\n]+\.(?:parquet|csv|json|tsv)[\w.]*'",
            4,
            "select&from&.parquet select&from&.csv select&from&.json select&from&.tsv",
        ),
        build_sign("INSTALL and LOAD", r"^\s*(?:INSTALL|LOAD)\s+'?\w+'?\s*;", 3, "install load"),
        build_sign(
            "functions such as LIST_TRANSFORM",
            r"\b(?:list_(?:value|transform|filter|aggregate|sort|contains)|struct_pack|duckdb_\w+)\s*\(",
            3,
            "list_value list_transform list_filter list_aggregate list_sort list_contains struct_pack duckdb_*",
        ),
        build_sign("SUMMARIZE", r"^\s*SUMMARIZE\s+\w", 3, "summarize"),
        build_sign("ATTACH … (TYPE …)", r"\bATTACH\b[^;]*\(\s*TYPE\b", 3, "attach&type"),
        STAR_EXCLUDE,
        DISTINCT_ON,
        GENERATE_SERIES,
        ARRAY_BRACKETS,
        CASTS,
        QUALIFY,
        ON_CONFLICT,
        INSERT_OR.with_worth(2),
        PRAGMA.with_worth(2),
        DOT_COMMANDS.with_worth(2),
        TIME_ZONE_TYPES,
        JSON_PATHS,
    ),
    path_words=frozenset({"duckdb"}),
    host_signs=(build_driver_sign("DuckDB", modules="duckdb", operators="DuckDB", scheme="duckdb"),),
)
