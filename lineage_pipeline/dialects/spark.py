"""Spark: printed names, lateral aliases, files as tables, SQL scripting, types, nullability and signs."""

from lineage_pipeline.dialects.dialect import DialectTraits, UnaliasedNaming
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import (
    ANGLE_TYPES,
    BACKTICKS,
    COLLECT_FUNCTIONS,
    INSERT_OVERWRITE,
    LATERAL_VIEW,
    NVL,
    PARTITIONED_BY,
    ROW_FORMAT,
    STAR_EXCEPT,
    STORED_AS,
    USING_FORMAT,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.spark_column_names import SPARK_COLUMN_NAMES
from lineage_pipeline.dialects.table_functions import TableArgument
from lineage_pipeline.dialects.types import decimals
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule, arithmetic_rule
from lineage_pipeline.dialects.types.coercion import common_type, interval_type, is_numeric_type, type_digits
from lineage_pipeline.dialects.types.common_rules import (
    argument_rule,
    array_rule,
    fixed_rule,
    infer_array,
    infer_common_type,
    infer_element,
    infer_map_keys,
    infer_map_values,
    role_rule,
    split_names,
)
from lineage_pipeline.dialects.types.conversions import (
    ALL_KINDS,
    COMMON_ADDITION_PAIRS,
    COMMON_SUBTRACTION_PAIRS,
    ImplicitConversions,
    parse_operator_pairs,
    parse_pairs,
)
from lineage_pipeline.dialects.types.decimals import DEFAULT_PRECISION_LIMIT, EXACT_DIGIT_RULES, Digits
from lineage_pipeline.dialects.types.families import TypeFamily, normalize_type
from lineage_pipeline.dialects.types.nullability import NULL_IF_ALL, WRAPPER_FUNCTIONS, NullRules
from lineage_pipeline.dialects.types.shapes import TypeShape, member_type, parse_type_shape, uppercase_type
from lineage_pipeline.dialects.types.type_rules import TypeRules

# ── result types of operators and functions ───────────────────────────────────────────────────────────────────────────


def _adjust_digits(precision: int, scale: int) -> Digits:
    """Spark: with too many digits the scale shrinks, down to six."""
    if precision <= DEFAULT_PRECISION_LIMIT:
        return precision, scale
    return DEFAULT_PRECISION_LIMIT, max(DEFAULT_PRECISION_LIMIT - (precision - scale), min(scale, 6))


def spark_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in Spark."""
    return _adjust_digits(*EXACT_DIGIT_RULES[op](left, right))


def _rounded_digits(digits: Digits, to: int) -> Digits:
    """ROUND in Spark: one digit more before the point, and the requested scale."""
    whole = digits[0] - digits[1] + 1
    if to < 0:
        return min(max(whole, -to + 1), DEFAULT_PRECISION_LIMIT), 0
    scale = min(digits[1], to)
    return min(whole + scale, DEFAULT_PRECISION_LIMIT), scale


def _widen_string(family: TypeFamily, left: TypeShape, right: TypeShape) -> str | None:
    """Spark reads a string as the type beside it."""
    if left.name != family.string or right.members:
        return None
    if right.name in family.integers:
        return family.bigint
    if is_numeric_type(right, family):
        return family.double
    return None if right.name.startswith("INTERVAL") else right.name


def _widen_interval(family: TypeFamily, left: TypeShape, right: TypeShape) -> str | None:
    """Two intervals of one kind: from the first unit of either to the last one."""
    for units in (("YEAR", "MONTH"), ("DAY", "HOUR", "MINUTE", "SECOND")):
        spans = [[unit for unit in shape.name.split()[1:] if unit != "TO"] for shape in (left, right)]
        if all(span and set(span) <= set(units) for span in spans):
            found = sorted((unit for span in spans for unit in span), key=units.index)
            return interval_type(found[0], found[-1])
    return None


_INTERVAL_UNITS = {
    **{"WEEK": "DAY", "QUARTER": "MONTH", "MILLISECOND": "SECOND", "MICROSECOND": "SECOND", "NANOSECOND": "SECOND"},
}


def infer_sum(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """SUM: integers grow long, decimals by ten digits."""
    shape = parse_type_shape(types[0] or "") if types else None
    if shape is None or not shape.name:
        return None
    if shape.name in family.integers:
        return family.bigint
    digits = type_digits(shape, family)
    if digits is not None:
        return family.numeric(*decimals.limit_digits(digits[0] + 10, digits[1]))
    return _full_interval(shape.name) or _double_if_float(shape.name, family)


def infer_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG: decimals by four digits behind the point, all else is floating."""
    shape = parse_type_shape(types[0] or "") if types else None
    if shape is None or not shape.name:
        return None
    digits = type_digits(shape, family) if shape.name == family.decimal else None
    if digits is not None:
        return family.numeric(*decimals.limit_digits(digits[0] + 4, digits[1] + 4))
    return _full_interval(shape.name) or (
        family.double if shape.name in family.integers else _double_if_float(shape.name, family)
    )


def _double_if_float(name: str, family: TypeFamily) -> str | None:
    """DOUBLE for a floating type, and for a string or NULL that is read as one; else None."""
    return family.double if name in (family.real, family.double, family.string, family.null) else None


def _full_interval(name: str) -> str | None:
    if not name.startswith("INTERVAL"):
        return None
    return interval_type("YEAR", "MONTH") if "YEAR" in name or "MONTH" in name else interval_type("DAY", "SECOND")


def infer_round(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ROUND: a decimal keeps as many digits behind the point as are asked for."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    digits = type_digits(shape, family) if shape.name == family.decimal else None
    if digits is None:
        return family.double if shape.name == family.string else types[0] if types else None
    text = texts[1] if len(texts) > 1 else "0"
    number = text.removeprefix("neg(").removesuffix(")")
    if not number.isdigit():
        return None
    return family.numeric(
        *_rounded_digits(digits, -parse_whole_number(number) if text.startswith("neg(") else parse_whole_number(number))
    )


def infer_ceil_floor(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CEIL and FLOOR: a decimal without digits behind the point, or a long integer."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    digits = type_digits(shape, family) if shape.name == family.decimal else None
    if len(texts) > 1:
        shown = digits or type_digits(shape, family) or ((14, 7) if shape.name == family.real else (30, 15))
        return infer_round(family, (family.numeric(*shown), None), texts)
    if digits is None:
        return family.bigint if shape.name else None
    return family.numeric(*(digits if digits[1] == 0 else decimals.limit_digits(digits[0] - digits[1] + 1, 0)))


def infer_interval(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """INTERVAL with a unit, or from one unit to another."""
    if len(types) > 1 and types[1]:
        return types[1]
    unit = texts[-1].upper().removesuffix("S")
    unit = _INTERVAL_UNITS.get(unit, unit)
    return (
        interval_type(unit, unit) if unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND") else family.interval
    )


def infer_interval_units(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """The units of an interval."""
    return interval_type(texts[0].upper(), texts[-1].upper())


def infer_extract(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """EXTRACT: integers, but for seconds; the smaller parts of an interval are small."""
    unit = texts[0].strip("'").upper().removesuffix("S") if texts else ""
    if unit in ("SECOND", "", "SEC"):
        return "DECIMAL(8,6)"
    spans = len(types) > 1 and (types[1] or "").startswith("INTERVAL ")
    return "TINYINT" if spans and unit in ("MONTH", "MON", "HOUR", "H", "MINUTE", "MIN", "M") else family.integer


def infer_date_shift(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A moment moved by a unit: a date stays one for whole days and more."""
    return family.timestamp if not types or types[0] != "TIMESTAMP_NTZ" else types[0]


def infer_concat(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CONCAT of arrays is an array; of anything else, a string."""
    if any((kind or "").startswith("ARRAY") for kind in types):
        return common_type(types, family)
    return family.binary if types and all(kind == family.binary for kind in types) else family.string


def infer_flatten(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An array of arrays becomes one."""
    return member_type(types[0], "") if types else None


def infer_arrays_zip(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ARRAYS_ZIP: an array of structs whose members are named after the columns, or numbered."""
    kinds = [member_type(kind, "") for kind in types]
    if not kinds or not all(kinds):
        return None
    return family.array(family.struct([(texts[at] or str(at), kind or "") for at, kind in enumerate(kinds)]))


def infer_map_entries(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A map as an array of its entries."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    if shape.name != "MAP" or len(shape.members) != 2:
        return None
    return family.array(family.struct([("key", shape.members[0][1]), ("value", shape.members[1][1])]))


def infer_map_from_entries(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A map made of an array of entries."""
    inner = parse_type_shape(member_type(types[0], "") or "") if types else parse_type_shape("")
    return family.map(inner.members[0][1], inner.members[1][1]) if len(inner.members) == 2 else None


def infer_sequence(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """SEQUENCE: an array of the type that holds both ends."""
    kind = common_type(types[:2], family)
    return family.array(kind) if kind else None


def infer_transform(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """TRANSFORM: an array of the lambda's result."""
    return family.array(types[-1]) if types and types[-1] else None


def infer_transform_values(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A map with other values."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    return family.map(shape.members[0][1], types[-1] or "") if shape.members and types[-1] else None


def infer_transform_keys(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A map with other keys."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    return family.map(types[-1] or "", shape.members[-1][1]) if shape.members and types[-1] else None


def infer_aggregate(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AGGREGATE: the result of the last lambda."""
    return types[-1] if len(types) > 3 else types[1] if len(types) > 1 else None


def infer_percentile_approx(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """One percentile, or an array of them."""
    several = len(types) > 1 and (types[1] or "").startswith("ARRAY")
    kind = types[0] if types else None
    return family.array(kind) if several and kind else kind


def infer_percentile(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """One percentile, or an array of them, as floating numbers; those of intervals are intervals."""
    kind = _full_interval(types[0] or "") if types else None
    several = len(types) > 1 and (types[1] or "").startswith("ARRAY")
    return family.array(kind or family.double) if several else kind or family.double


def infer_max_min_by(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """MAX_BY and MIN_BY: a value, or an array of as many as requested."""
    kind = types[0] if types else None
    return family.array(kind) if kind and len(types) > 2 else kind


def counted_values_rule(*names: str) -> TypeRule:
    """Build the rule of a function that returns an array of values, each with a count."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        number = family.double if names[1] == "Y" else family.bigint
        kind = types[0] if types else None
        return family.array(family.struct([(names[0], kind), (names[1], number)])) if kind else None

    return rule


def infer_signed_number(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A number stays as it is; a string is read as DOUBLE."""
    kind = types[0] if types else None
    if kind == family.bigint and texts and texts[0] == "2147483648":
        return family.integer
    return family.double if kind == family.string else kind


def infer_reverse(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An array or a string the other way round."""
    kept = types and (types[0] or "").startswith(("ARRAY", family.binary))
    return types[0] if kept else family.string


def infer_moment_difference(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """The time between two moments: in days, or as BIGINT in another unit."""
    return family.integer if not texts or texts[-1] in ("day", "") else family.bigint


def infer_from_schema(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """FROM_JSON and the like: the type given as a column list or a type."""
    text = texts[1].strip("'") if len(texts) > 1 and texts[1].startswith("'") else ""
    if not text:
        return None
    nested = text.upper().startswith(("STRUCT<", "ARRAY<", "MAP<"))
    return normalize_type(uppercase_type(text if nested else f"STRUCT<{text}>"), family)


def infer_variant_get(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """VARIANT_GET: a part of a document, as the type given as text, if any."""
    text = texts[1] if len(texts) > 1 else ""
    return normalize_type(text.strip("'").upper(), family) if text.startswith("'") else "VARIANT"


def infer_within_group(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An aggregate over an order; one that has no argument gives what is ordered, and so do those of intervals."""
    if len(types) > 1 and (types[1] or "").startswith("INTERVAL"):
        return _full_interval(types[1] or "")
    return types[0] or (types[1] if len(types) > 1 else None) if types else None


def infer_substring(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A part of a string or of bytes."""
    return family.binary if types and types[0] == family.binary else family.string


def infer_nanvl(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """NANVL: FLOAT only where both are."""
    return family.real if set(types) == {family.real} else family.double


def infer_zeroifnull(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ZEROIFNULL: a number, or an integer that is zero."""
    return common_type((types[0], family.integer), family) if types else None


def infer_to_number(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """TO_NUMBER: as many digits as its format shows."""
    if len(texts) < 2 or not texts[1].startswith("'"):
        return None
    whole, _, behind = texts[1].upper().replace("D", ".").partition(".")
    digits = [sum(character in "09" for character in part) for part in (whole, behind)]
    return family.numeric(sum(digits), digits[1])


def infer_get(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """GET: the element of an array; a numbered access already has that type."""
    return infer_element(family, types, texts) or (types[0] if types else None)


def infer_shift(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A bit shift: short integers become INT first."""
    return family.integer if types and types[0] in ("TINYINT", "SMALLINT") else types[0] if types else None


STRING_FUNCTIONS = split_names(
    "UPPER LOWER TRIM BTRIM LTRIM RTRIM RIGHT REPLACE REPEAT INITCAP SPLITPART SUBSTRINGINDEX OVERLAY "
    "TRANSLATE LPAD RPAD FORMAT_STRING PRINTF FORMAT_NUMBER NUMBERTOSTR MASK PARSE_URL REGEXPSUBSTR REGEXPEXTRACT "
    "REGEXPREPLACE TIMETOSTR DATE_FORMAT UNIXTOSTR HEX BIN BASE64 TOBASE64 SOUNDEX TO_JSON TOJSON JSONFORMAT "
    "TO_CSV TOCSV TO_CHAR TOCHAR TO_VARCHAR CHR CHAR SPACE MD5 SHA SHA1 SHA2 CONV CURRENTUSER UUID "
    "INPUT_FILE_NAME VERSION CURRENT_TIMEZONE TYPEOF DAYNAME MONTHNAME SCHEMA_OF_JSON DECODE ELT STUFF "
    "RANDSTR URL_ENCODE URL_DECODE QUOTE GROUPCONCAT STRING_AGG LISTAGG ARRAYTOSTRING CONCATWS JSONEXTRACTSCALAR "
    "USER CURRENT_USER CURRENT_DATABASE CURRENT_SCHEMA CURRENT_CATALOG REVERSE_STRING STRING SESSIONUSER "
    "CURRENTVERSION CURRENTTIMEZONE "
    "CURRENT_PATH JAVA_METHOD MAKE_VALID_UTF8 REFLECT SCHEMA_OF_CSV SCHEMA_OF_VARIANT "
    "SCHEMA_OF_VARIANT_AGG SCHEMA_OF_XML TO_XML TRY_PARSE_URL TRY_REFLECT TRY_URL_DECODE "
    "TRY_VALIDATE_UTF8 VALIDATE_UTF8"
)
INTEGER_FUNCTIONS = split_names(
    "LENGTH CHAR_LENGTH OCTET_LENGTH BYTELENGTH BITLENGTH BIT_LENGTH ASCII UNICODE YEAR MONTH DAY QUARTER HOUR "
    "MINUTE SECOND DAYOFWEEK DAYOFMONTH DAYOFYEAR WEEKOFYEAR WEEKDAY DATEDIFF ARRAYSIZE CARDINALITY SIZE "
    "STRPOSITION LEVENSHTEIN HASH UNIXDATE UNIX_DATE BITWISECOUNT BIT_COUNT FINDINSET FIND_IN_SET REGEXPCOUNT "
    "REGEXP_COUNT REGEXPINSTR REGEXP_INSTR JSON_ARRAY_LENGTH JSONARRAYLENGTH SPARK_PARTITION_ID ROWNUMBER RANK "
    "DENSERANK NTILE DAYOFWEEKISO WEEK "
    "XPATH_INT ST_SRID"
)
BIGINT_FUNCTIONS = split_names(
    "COUNT COUNTIF APPROXDISTINCT UNIX_SECONDS UNIXSECONDS UNIX_MILLIS UNIXMILLIS UNIX_MICROS UNIXMICROS "
    "STRTOUNIX UNIX_TIMESTAMP CRC32 XXHASH64 FACTORIAL INTDIV ARRAYPOSITION ARRAY_POSITION "
    "MONOTONICALLY_INCREASING_ID WIDTHBUCKET WIDTH_BUCKET GROUPINGID GROUPING_ID TIMESTAMPDIFF REGRCOUNT "
    "REGR_COUNT BITMAPCOUNT "
    "BITMAPBITPOSITION BITMAPBUCKETNUMBER BITMAP_COUNT HLL_SKETCH_ESTIMATE INPUT_FILE_BLOCK_LENGTH "
    "INPUT_FILE_BLOCK_START KLL_SKETCH_GET_N_BIGINT KLL_SKETCH_GET_N_DOUBLE KLL_SKETCH_GET_N_FLOAT "
    "THETA_SKETCH_ESTIMATE TUPLE_SKETCH_SUMMARY_INTEGER XPATH_LONG"
)
DOUBLE_FUNCTIONS = split_names(
    "SQRT CBRT EXP LN LOG LOG10 LOG2 LOG1P EXPM1 SIN COS TAN ASIN ACOS ATAN SINH COSH TANH DEGREES RADIANS POW "
    "POWER ATAN2 HYPOT RAND RANDN RANDOM PI E RINT STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP CORR COVARPOP "
    "COVARSAMP KURTOSIS SKEWNESS PERCENTRANK CUMEDIST MONTHSBETWEEN REGRSLOPE PERCENTILECONT "
    "PERCENTILEDISC SIGN PRODUCT "
    "CSC SEC JARO_WINKLER_SIMILARITY REGRAVGX REGRAVGY REGRINTERCEPT REGRR2 REGRSXX REGRSXY REGRSYY STD "
    "TUPLE_SKETCH_ESTIMATE_DOUBLE TUPLE_SKETCH_ESTIMATE_INTEGER TUPLE_SKETCH_SUMMARY_DOUBLE "
    "TUPLE_SKETCH_THETA_DOUBLE TUPLE_SKETCH_THETA_INTEGER XPATH_DOUBLE XPATH_NUMBER"
)
SAME_TYPE_FUNCTIONS = split_names(
    "ARRAYDISTINCT ARRAYSORT SORTARRAY ARRAYSLICE SLICE ARRAYFILTER FILTER_ARRAY ARRAYREMOVE ARRAYAPPEND "
    "ARRAYPREPEND ARRAYINSERT ARRAYCOMPACT SHUFFLE REVERSE ARRAYREVERSE ARRAYEXCEPT ARRAYINTERSECT MAP_FILTER "
    "BITWISENOT BITWISEANDAGG BITWISEORAGG BITWISEXORAGG JSONEXTRACT "
    "NULLIFZERO ANY_VALUE ARRAY_COMPACT "
    "COLLECT_UNION VECTOR_AVG VECTOR_NORMALIZE VECTOR_SUM"
)
COMMON_TYPE_FUNCTIONS = split_names(
    "COALESCE GREATEST LEAST IFNULL NVL ARRAY_UNION ARRAYUNION MAP_CONCAT MAPCONCAT ARRAYCONCAT BITWISEAND "
    "BITWISEOR BITWISEXOR"
)
BOOLEAN_FUNCTIONS = split_names(
    "ARRAYCONTAINS ARRAY_CONTAINS ARRAYS_OVERLAP ARRAYOVERLAPS FORALL EXISTS ANY EVERY SOME LOGICALAND LOGICALOR "
    "BOOL_AND BOOL_OR ISNULL ISNOTNULL ISNAN ISINF ENDSWITH STARTSWITH CONTAINS MAPCONTAINSKEY MAP_CONTAINS_KEY "
    "EQUALNULL LUHN_CHECK IS_VALID_UTF8 IS_VARIANT_NULL BOOL BOOLEAN RLIKE REGEXPILIKE REGEXPFULLMATCH "
    "IS_VALID_VARIANT REGEXP XPATH_BOOLEAN"
)
DATE_FUNCTIONS = split_names(
    "CURRENTDATE LASTDAY NEXTDAY ADDMONTHS TSORDSADD DATESUB DATE_SUB DATEADD TSORDSTODATE STRTODATE DATE "
    "DATEFROMPARTS MAKE_DATE DATEFROMUNIXDATE DATETRUNC TRY_TO_DATE"
)
TIMESTAMP_FUNCTIONS = split_names(
    "CURRENTTIMESTAMP NOW STRTOTIME TIMESTAMP TIMESTAMPTRUNC TIMESTAMP_SECONDS TIMESTAMP_MILLIS TIMESTAMP_MICROS "
    "FROM_UTC_TIMESTAMP TO_UTC_TIMESTAMP MAKE_TIMESTAMP TIMESTAMPFROMPARTS TRY_TO_TIMESTAMP ATTIMEZONE UNIXTOTIME "
    "TIMESTRTOTIME "
    "MAKE_TIMESTAMP_LTZ TIME_BUCKET TRY_MAKE_TIMESTAMP TRY_MAKE_TIMESTAMP_LTZ"
)
BINARY_FUNCTIONS = split_names(
    "UNHEX UNBASE64 FROMBASE64 ENCODE TO_BINARY TOBINARY AES_ENCRYPT ENCRYPT HLL_SKETCH_AGG COUNT_MIN_SKETCH "
    "AES_DECRYPT TRY_AES_DECRYPT TRY_TO_BINARY BITMAP_AND_AGG BITMAP_OR_AGG BITMAP_CONSTRUCT_AGG "
    "HLL_UNION HLL_UNION_AGG"
)

SPARK_RULES: dict[str, TypeRule] = {
    **dict.fromkeys(STRING_FUNCTIONS, role_rule("string")),
    **dict.fromkeys(INTEGER_FUNCTIONS, role_rule("integer")),
    **dict.fromkeys(BIGINT_FUNCTIONS, role_rule("bigint")),
    **dict.fromkeys(DOUBLE_FUNCTIONS, role_rule("double")),
    **dict.fromkeys(BOOLEAN_FUNCTIONS, role_rule("boolean")),
    **dict.fromkeys(DATE_FUNCTIONS, role_rule("date")),
    **dict.fromkeys(TIMESTAMP_FUNCTIONS, role_rule("timestamp")),
    **dict.fromkeys(BINARY_FUNCTIONS, role_rule("binary")),
    **dict.fromkeys(SAME_TYPE_FUNCTIONS, argument_rule(0)),
    **dict.fromkeys(COMMON_TYPE_FUNCTIONS, infer_common_type),
    "SUM": infer_sum,
    "TRY_SUM": infer_sum,
    "AVG": infer_avg,
    "MEAN": infer_avg,
    "ESCAPE": role_rule("boolean"),
    "XPATH_STRING": role_rule("string"),
    "FROMJSON": infer_from_schema,
    "FROM_CSV": infer_from_schema,
    "VARIANT_GET": infer_variant_get,
    "TRY_AVG": infer_avg,
    "ROUND": infer_round,
    "BROUND": infer_round,
    "CEIL": infer_ceil_floor,
    "FLOOR": infer_ceil_floor,
    "INTERVAL": infer_interval,
    "INTERVALSPAN": infer_interval_units,
    "MAKEINTERVAL": fixed_rule("INTERVAL"),
    "MAKE_DT_INTERVAL": fixed_rule("INTERVAL DAY TO SECOND"),
    "MAKE_YM_INTERVAL": fixed_rule("INTERVAL YEAR TO MONTH"),
    "EXTRACT": infer_extract,
    "DATE_PART": infer_extract,
    "DATEPART": infer_extract,
    "ARGMAX": infer_max_min_by,
    "ARGMIN": infer_max_min_by,
    "MEDIAN": infer_percentile,
    "HISTOGRAM_NUMERIC": counted_values_rule("X", "Y"),
    "APPROXTOPK": counted_values_rule("ITEM", "COUNT"),
    "FROM_XML": infer_from_schema,
    "TRY_VARIANT_GET": infer_variant_get,
    **dict.fromkeys(("OVERLAY", "LEFT", "PAD"), infer_substring),
    **dict.fromkeys(
        split_names("VECTOR_COSINE_SIMILARITY VECTOR_INNER_PRODUCT VECTOR_L2_DISTANCE VECTOR_NORM XPATH_FLOAT"),
        role_rule("real"),
    ),
    **dict.fromkeys(
        split_names(
            "TO_VARIANT_OBJECT TRY_VARIANT_ARRAY_APPEND TRY_VARIANT_INSERT TRY_VARIANT_SET VARIANT_ARRAY_APPEND "
            "VARIANT_DELETE VARIANT_INSERT VARIANT_SET VARIANT_STRIP_NULLS"
        ),
        fixed_rule("VARIANT"),
    ),
    "XPATH": fixed_rule("ARRAY<STRING>"),
    "XPATH_SHORT": fixed_rule("SMALLINT"),
    "TRY_MAKE_TIMESTAMP_NTZ": fixed_rule("TIMESTAMP_NTZ"),
    "TRY_MAKE_INTERVAL": fixed_rule("INTERVAL"),
    "TIMESTAMPADD": infer_date_shift,
    "CONCAT": infer_concat,
    "REVERSE": infer_reverse,
    "DATEDIFF": infer_moment_difference,
    **dict.fromkeys(("ABS", "NEG", "NEGATIVE", "POSITIVE"), infer_signed_number),
    **{f"SAFE{name}": arithmetic_rule(op) for name, op in (("ADD", "ADD"), ("SUBTRACT", "SUB"), ("MULTIPLY", "MUL"))},
    "TRY_MOD": arithmetic_rule("MOD"),
    "HEXSTRING": role_rule("binary"),
    "PARSEURL": role_rule("string"),
    "FROMTIMEZONE": role_rule("timestamp"),
    "CONVERTTIMEZONE": fixed_rule("TIMESTAMP_NTZ"),
    "MAKE_TIMESTAMP_NTZ": fixed_rule("TIMESTAMP_NTZ"),
    **dict.fromkeys(("WINDOW", "SESSION_WINDOW"), fixed_rule("STRUCT<start:TIMESTAMP,end:TIMESTAMP>")),
    "WINDOW_TIME": role_rule("timestamp"),
    **dict.fromkeys(("CURRENTTIME", "LOCALTIME"), fixed_rule("TIME(6)")),
    **dict.fromkeys(("SHIFTRIGHTUNSIGNED", "COUNTER_DIFF"), argument_rule(0)),
    "EXPLODE": infer_element,
    "EXPLODEOUTER": infer_element,
    "JSON_TUPLE": role_rule("string"),
    "WITHINGROUP": infer_within_group,
    "UNIFORM": infer_common_type,
    "FLATTEN": infer_flatten,
    "ARRAYSZIP": infer_arrays_zip,
    "ARRAYMAX": infer_element,
    "ARRAYMIN": infer_element,
    "GET": infer_get,
    "SUBSTRING": infer_substring,
    "DPIPE": infer_concat,
    "NANVL": infer_nanvl,
    "ZEROIFNULL": infer_zeroifnull,
    "PMOD": arithmetic_rule("MOD"),
    "SAFEDIVIDE": arithmetic_rule("DIV"),
    "TONUMBER": infer_to_number,
    "TRY_TO_NUMBER": infer_to_number,
    "TO_TIMESTAMP_NTZ": fixed_rule("TIMESTAMP_NTZ"),
    "TO_TIMESTAMP_LTZ": role_rule("timestamp"),
    "MAP_KEYS": infer_map_keys,
    "MAPKEYS": infer_map_keys,
    "MAP_VALUES": infer_map_values,
    "MAPVALUES": infer_map_values,
    "MAP_ENTRIES": infer_map_entries,
    "MAPFROMENTRIES": infer_map_from_entries,
    "ARRAYUNIQUEAGG": array_rule(0),
    "COLLECT_SET": array_rule(0),
    "COLLECT_LIST": array_rule(0),
    "ARRAY_REPEAT": array_rule(0),
    "ARRAY": infer_array,
    "GENERATESERIES": infer_sequence,
    "TRANSFORM": infer_transform,
    "ZIP_WITH": infer_transform,
    "TRANSFORM_VALUES": infer_transform_values,
    "TRANSFORM_KEYS": infer_transform_keys,
    "MAP_ZIP_WITH": infer_transform_values,
    "REDUCE": infer_aggregate,
    "APPROXQUANTILE": infer_percentile_approx,
    "QUANTILE": infer_percentile,
    "GROUPING": fixed_rule("TINYINT"),
    "GETBIT": fixed_rule("TINYINT"),
    **dict.fromkeys(
        split_names("BITWISELEFTSHIFT BITWISERIGHTSHIFT SHIFTLEFT SHIFTRIGHT SHIFTRIGHTUNSIGNED"), infer_shift
    ),
    "LOCALTIMESTAMP": fixed_rule("TIMESTAMP_NTZ"),
    "REGEXPSPLIT": fixed_rule("ARRAY<STRING>"),
    "REGEXPEXTRACTALL": fixed_rule("ARRAY<STRING>"),
    "SENTENCES": fixed_rule("ARRAY<ARRAY<STRING>>"),
    "JSONKEYS": fixed_rule("ARRAY<STRING>"),
    "STRTOMAP": fixed_rule("MAP<STRING,STRING>"),
    "PARSEJSON": fixed_rule("VARIANT"),
    "TRY_PARSE_JSON": fixed_rule("VARIANT"),
    **{
        name: fixed_rule(kind)
        for name, kind in {
            **{"INT": "INT", "BIGINT": "BIGINT", "DOUBLE": "DOUBLE", "FLOAT": "FLOAT", "SMALLINT": "SMALLINT"},
            **{"TINYINT": "TINYINT", "DECIMAL": "DECIMAL(10,0)", "BINARY": "BINARY", "RAISE_ERROR": "VOID"},
            "ASSERT_TRUE": "VOID",
        }.items()
    },
}
"""Rules of Spark's functions; the common rules hold for the rest."""


# ── nullability ───────────────────────────────────────────────────────────────────────────────────────────────────────

_NEVER_NULL = split_names(
    "COUNT COUNTIF APPROXDISTINCT ROWNUMBER RANK DENSERANK NTILE CUMEDIST PERCENTRANK IS GROUPING GROUPINGID "
    "GROUPING_ID ARRAY ARRAYAGG ARRAYUNIQUEAGG COLLECT_LIST COLLECT_SET COUNT_MIN_SKETCH EQUALNULL HASH "
    "HLL_SKETCH_AGG ISNAN ISNOTNULL ISNULL NULLSAFEEQ NULLSAFENEQ REGRCOUNT STRUCT TUPLE TYPEOF VARMAP XXHASH64 "
    "ZEROIFNULL RAND RANDN UUID PI E CURRENTCATALOG CURRENTDATABASE CURRENTDATE CURRENTTIMESTAMP CURRENTTIMEZONE "
    "CURRENTUSER SESSIONUSER USER VERSION NOW LOCALTIMESTAMP INPUT_FILE_NAME MONOTONICALLY_INCREASING_ID "
    "SPARK_PARTITION_ID HEXSTRING RANDSTR UNIFORM RAWSTRING CURRENT_PATH CURRENTSCHEMA CURRENTTIME LOCALTIME "
    "INPUT_FILE_BLOCK_LENGTH INPUT_FILE_BLOCK_START APPROXTOPK COLLECT_UNION IS_VARIANT_NULL BITMAP_CONSTRUCT_AGG "
    "SCHEMA_OF_VARIANT_AGG HLL_UNION_AGG"
)
_NULL_IF_ANY = split_names(
    "MAP ESCAPE STRTODATE ADD SUB MUL AND OR NOT NEG EQ NEQ GT GTE LT LTE LIKE BETWEEN IN UPPER LOWER TRIM CONCAT "
    "ABS NEGATIVE POSITIVE ARRAYCOMPACT ARRAYDISTINCT ARRAYEXCEPT ARRAYINSERT ARRAYINTERSECT "
    "ARRAYPOSITION ARRAYREMOVE ARRAYSIZE ARRAYSLICE ARRAYSORT ARRAYSZIP ARRAY_UNION CARDINALITY "
    "GENERATESERIES MAPFROMENTRIES MAPKEYS MAP_CONCAT MAP_ENTRIES MAP_VALUES SHUFFLE "
    "STRTOMAP ASCII BITLENGTH COLLATION CONTAINS CRC32 FIND_IN_SET FROMBASE64 INITCAP LENGTH LEVENSHTEIN "
    "MD5 OCTET_LENGTH OVERLAY PAD REGEXPCOUNT REGEXPEXTRACT REGEXPEXTRACTALL REGEXPINSTR REGEXPLIKE REGEXPREPLACE "
    "REGEXPSPLIT REPEAT REPLACE REVERSE SHA SOUNDEX STARTSWITH STRPOSITION SUBSTRING SUBSTRINGINDEX TOBASE64 "
    "TRANSLATE DPIPE BINARY SCHEMA_OF_JSON PARSEJSON TOCHAR TONUMBER INTERVAL INTERVALSPAN "
    "MAKEINTERVAL MAKE_DT_INTERVAL MAKE_YM_INTERVAL MAKE_DATE MAKE_TIMESTAMP_NTZ TIMESTAMPFROMPARTS "
    "CONVERTTIMEZONE DATE_PART EXTRACT FROM_CSV NANVL GETBIT STRTOTIME WINDOW PROPERTYEQ KWARG IDENTIFIER "
    "STRTOUNIX LEFT ENDSWITH BTRIM ARRAYTOSTRING TIMETOSTR BITWISEAND BITWISEOR BITWISEXOR "
    "TO_TIMESTAMP_NTZ TO_TIMESTAMP_LTZ ILIKE DATEPART TO_VARIANT_OBJECT VARIANT_SET VARIANT_INSERT "
    "VARIANT_ARRAY_APPEND VARIANT_DELETE VARIANT_STRIP_NULLS REGEXP SHIFTRIGHTUNSIGNED BITMAPBITPOSITION "
    "BITMAPBUCKETNUMBER IS_VALID_VARIANT SCHEMA_OF_VARIANT SCHEMA_OF_CSV SCHEMA_OF_XML COLLATE TOBASE32 FROMBASE32 "
    "HLL_SKETCH_ESTIMATE HLL_UNION"
)
_READ_TYPES = {
    **dict.fromkeys(
        split_names(
            "YEAR MONTH DAY QUARTER DAYOFWEEK DAYOFMONTH DAYOFYEAR WEEKOFYEAR WEEKDAY LASTDAY DAYNAME MONTHNAME "
            "DATEDIFF ADDMONTHS TSORDSADD DATEADD DATESUB UNIXDATE TSORDSTODATE TRY_TO_DATE"
        ),
        "DATE",
    ),
    **dict.fromkeys(
        split_names(
            "HOUR TSORDSTOTIMESTAMP MINUTE SECOND TIMETOSTR MONTHSBETWEEN TIMESTAMPADD TIMESTAMPDIFF UNIXMICROS "
            "UNIXMILLIS UNIXSECONDS ATTIMEZONE FROMTIMEZONE TRY_TO_TIMESTAMP"
        ),
        "TIMESTAMP",
    ),
    "TIMESTRTOTIME": "TIMESTAMP",
    "TO_TIMESTAMP_NTZ": "TIMESTAMP_NTZ",
    "TO_TIMESTAMP_LTZ": "TIMESTAMP",
    **dict.fromkeys(
        split_names(
            "BIN CHR DATEFROMUNIXDATE SPACE TIMESTAMP_MICROS TIMESTAMP_MILLIS BITWISENOT "
            " BITWISELEFTSHIFT BITWISERIGHTSHIFT BITWISECOUNT"
        ),
        "BIGINT",
    ),
    "TIMESTAMP_SECONDS": "DECIMAL(38,10)",
    "NOT": "BOOLEAN",
    **dict.fromkeys(("HEX", "LOWERHEX"), "STRING"),
    **{
        kind: kind
        for kind in ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP")
    },
    "DECIMAL": "DECIMAL(10,0)",
}

_UNREADABLE_TYPES = {
    **dict.fromkeys(split_names("ABS NEG NEGATIVE POSITIVE ATAN2 HYPOT POW"), split_names("STRING")),
    **dict.fromkeys(("TOCHAR", "TO_VARCHAR"), split_names("STRING FLOAT DOUBLE")),
    **dict.fromkeys(split_names("CONTAINS STARTSWITH ENDSWITH"), split_names("BINARY")),
    "MAKE_TIMESTAMP_NTZ": split_names("DATE"),
}

_DAY_PARTS = split_names(
    "YEAR Y YEARS YR YRS YEAROFWEEK QUARTER QTR MONTH MON MONS MONTHS WEEK W WEEKS DAY D DAYS DAYOFWEEK DOW "
    "DAYOFWEEK_ISO DOW_ISO DOY"
)
"""The parts of a moment that its day determines."""

SPARK_NULL_RULES = NullRules(
    never=_NEVER_NULL,
    where_all=(NULL_IF_ALL - {"ISNULL"}) | split_names("GREATEST LEAST"),
    where_any=_NULL_IF_ANY | frozenset(_READ_TYPES) | frozenset(_UNREADABLE_TYPES),
    by_argument={
        **WRAPPER_FUNCTIONS,
        **dict.fromkeys(
            "FORMAT PRINTF FORMAT_STRING CONCATWS TRANSFORM ARRAYFILTER TRANSFORM_KEYS TRANSFORM_VALUES "
            "MAP_FILTER".split(),
            (0,),
        ),
        "ZIP_WITH": (0, 1),
        "MAP_ZIP_WITH": (0, 1),
        "ARRAYAPPEND": (0,),
        "ARRAYPREPEND": (0,),
        "ARRAY_REPEAT": (1,),
    },
    reads=_READ_TYPES,
    formatted=split_names("TSORDSTODATE TO_TIMESTAMP_NTZ TO_TIMESTAMP_LTZ"),
    fails_on=_UNREADABLE_TYPES,
    parts=dict.fromkeys(("EXTRACT", "DATE_PART", "DATEPART"), dict.fromkeys(_DAY_PARTS, "DATE")),
    converts=split_names("ADD SUB MUL DIV EQ NEQ GT GTE LT LTE BETWEEN IN AND OR BITWISEAND BITWISEOR BITWISEXOR"),
    of_spans=split_names("DIV"),
    recursion=True,
)
"""The rules of Spark's analyzer."""


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

SPARK_TYPES = TypeFamily(
    name="spark",
    integers=("TINYINT", "SMALLINT", "INT", "BIGINT"),
    digits=(3, 5, 10, 20),
    integer="INT",
    bigint="BIGINT",
    decimal="DECIMAL",
    real="FLOAT",
    double="DOUBLE",
    string="STRING",
    boolean="BOOLEAN",
    binary="BINARY",
    aliases={
        **{
            "INTEGER": "INT",
            "LONG": "BIGINT",
            "INT64": "BIGINT",
            "BYTE": "TINYINT",
            "SHORT": "SMALLINT",
            "REAL": "FLOAT",
        },
        **{"NUMERIC": "DECIMAL", "DEC": "DECIMAL", "TEXT": "STRING", "BOOL": "BOOLEAN", "NULL": "VOID"},
        **{"DOUBLE PRECISION": "DOUBLE", "TIMESTAMPNTZ": "TIMESTAMP_NTZ", "TIMESTAMP_LTZ": "TIMESTAMP"},
    },
    alone={"DECIMAL": "DECIMAL(10,0)"},
    bare_strings=True,
    null="VOID",
    null_on_failure=True,
    compute_digits=spark_digits,
    float_division=True,
    double_quotients=True,
    reads_strings=True,
    reads_whole_strings=True,
    literal_digits=True,
    unit_intervals=True,
    scale_yields=True,
    scale_yields_to_integers=True,
    widening=(_widen_string, _widen_interval),
    conversions=ImplicitConversions(
        # Whether a number is compared with a boolean is a setting of the session.
        compares=parse_pairs(
            "string-number string-boolean string-date string-moment string-binary number-boolean date-moment"
        ),
        unites=parse_pairs("string-number string-boolean string-date string-moment string-binary date-moment"),
        stores=parse_pairs(" ".join(f"{kind}>string" for kind in ALL_KINDS if kind != "array") + " date-moment"),
        names={"TIME": "", "TIMETZ": ""},
        computes=parse_operator_pairs(
            add=f"date-number number-string string-interval {COMMON_ADDITION_PAIRS}",
            sub=f"{COMMON_SUBTRACTION_PAIRS} string-date string-moment string-number string>interval",
            mul="interval-number interval-string number-string",
            div="interval>number interval>string number-string",
            mod="number-string",
        ),
    ),
)


# ── the dialect ───────────────────────────────────────────────────────────────────────────────────────────────────────

SPARK_TABLE_FUNCTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("POSEXPLODE", "POSEXPLODEOUTER", "POSEXPLODE_OUTER"), ("INT",)),
    "JSON_TUPLE": ("STRING",) * 100,
    "RANGE": ("BIGINT",),
    **dict.fromkeys(("WINDOW", "SESSION_WINDOW"), ("TIMESTAMP", "TIMESTAMP")),
    **dict.fromkeys(("VARIANT_EXPLODE", "VARIANT_EXPLODE_OUTER"), ("INT", "STRING", "VARIANT")),
}
"""Types of the first columns of table functions."""


SPARK_SCRIPTING = ProceduralLanguage(
    "SQL scripting",
    marks=frozenset({"AS"}),
    opens=frozenset({"BEGIN", "RETURN"}),
    dollars=True,
    identifiers=True,
)


SPARK = DialectTraits(
    name="spark",
    family="spark",
    grammar="databricks",
    naming=UnaliasedNaming.CAPTION,
    printed_names=SPARK_COLUMN_NAMES,
    lateral_alias=True,
    alias_in_having=True,
    short_insert=True,
    row_names="col{1}",
    generator_names=True,
    file_tables=True,
    virtual=("live",),
    decorators="@",
    copies_names=True,
    one_way_exchange=True,
    fixes_views=True,
    merges_first=True,
    table_function_columns={"RANGE": ("id",), "SQL_KEYWORDS": ("keyword", "reserved")},
    time_window_functions=frozenset({"WINDOW", "SESSION_WINDOW"}),
    table_arguments={
        "TABLE_CHANGES": TableArgument((0,), added=("_change_type", "_commit_version", "_commit_timestamp"))
    },
    value_keywords=frozenset("GROUPING__ID CURRENT_DATE CURRENT_TIMESTAMP CURRENT_USER".split()),
    reserved_values=frozenset({"GROUPING__ID"}),
    table_pseudo_columns=frozenset("_METADATA _CHANGE_TYPE _COMMIT_VERSION _COMMIT_TIMESTAMP".split()),
    pseudo_column_types={"_CHANGE_TYPE": "STRING", "_COMMIT_VERSION": "BIGINT", "_COMMIT_TIMESTAMP": "TIMESTAMP"},
    procedural=SPARK_SCRIPTING,
    types=SPARK_TYPES,
    type_rules=TypeRules(
        functions=SPARK_RULES,
        nulls=SPARK_NULL_RULES,
        table_functions=SPARK_TABLE_FUNCTIONS,
        counting_functions=frozenset({"RANGE"}),
    ),
    signs=(
        USING_FORMAT,
        LATERAL_VIEW,
        INSERT_OVERWRITE,
        build_sign(
            "INSERT OVERWRITE of a partition",
            r"\bINSERT\s+OVERWRITE\s+(TABLE\s+)?[^\s(;]+\s+PARTITION\s*\(",
            1,
            "insert&overwrite&partition",
        ),
        build_sign(
            "CACHE TABLE",
            r"^\s*(?:UN)?CACHE\s+(?:LAZY\s+)?TABLE\b|\bSET\s+spark\.",
            3,
            "cache&table uncache&table set&spark.",
        ),
        COLLECT_FUNCTIONS,
        PARTITIONED_BY,
        STORED_AS.with_worth(1),
        ROW_FORMAT.with_worth(1),
        ANGLE_TYPES,
        STAR_EXCEPT,
        BACKTICKS,
        NVL,
    ),
    path_words=frozenset({"spark", "sparksql", "pyspark"}),
    host_signs=(
        build_sign("spark.sql", r"\b(spark\w*|sql_?context|hive_?context)\.sql\s*\(", 3),
        build_driver_sign("Spark", modules="pyspark", operators="SparkSql", scheme="spark", worth=3),
    ),
)
