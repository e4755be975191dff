"""Trino: UNNEST of rows, hidden columns, SQL routines, types and signs."""

from lineage_pipeline.dialects.dialect import DialectTraits, UnaliasedNaming
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import (
    ARRAY_BRACKETS,
    JSON_EXTRACT_SCALAR,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.system_catalogs import SystemCatalog
from lineage_pipeline.dialects.table_functions import TableArgument
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule
from lineage_pipeline.dialects.types.coercion import type_digits
from lineage_pipeline.dialects.types.common_rules import (
    argument_rule,
    argument_type_name,
    array_rule,
    fixed_rules,
    infer_element,
    infer_map_agg,
    infer_map_from_arrays,
    infer_map_keys,
    infer_map_values,
    infer_split,
    split_names,
    sum_rule,
)
from lineage_pipeline.dialects.types.conversions import STRICT_CONVERSIONS
from lineage_pipeline.dialects.types.decimals import DEFAULT_PRECISION_LIMIT, Digits
from lineage_pipeline.dialects.types.families import UNPARAMETERIZED_TYPES, TypeFamily
from lineage_pipeline.dialects.types.shapes import parse_type_shape
from lineage_pipeline.dialects.types.type_rules import TypeRules

# ── result types of operators and functions ───────────────────────────────────────────────────────────────────────────


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


def infer_trino_round(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """FLOOR and CEIL of Trino: a decimal without digits behind the point, which may carry one more before it."""
    digits = (
        type_digits(parse_type_shape(types[0] or ""), family)
        if types and argument_type_name(types) == family.decimal
        else None
    )
    if digits is None:
        return types[0] if types else None
    return family.numeric(min(digits[0] - digits[1] + min(digits[1], 1), 38), 0)


def infer_trino_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG of Trino: of decimals and short floating numbers the same type, else a floating number."""
    name = argument_type_name(types)
    return types[0] if name in (family.decimal, family.real) or name.startswith("INTERVAL") else family.double


def infer_trino_string(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A function of texts that takes bytes, too."""
    return family.binary if argument_type_name(types) == family.binary else family.string


def infer_trino_concat(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CONCAT and `||` of Trino: of arrays an array, of anything else a string."""
    lists = (kind for kind in types if (kind or "").startswith("ARRAY"))
    return next(lists, infer_trino_string(family, types, texts))


DOCUMENTED_TYPES: dict[str, str] = {
    "DATE": "FROMISO8601DATE",
    "BOOLEAN": (
        "ARRAYCONTAINS ANY_MATCH ALL_MATCH NONE_MATCH EVERY ARRAYS_OVERLAP CONTAINS_SEQUENCE JSONARRAYCONTAINS "
        "IS_JSON_SCALAR IS_FINITE IS_INFINITE LUHN_CHECK"
    ),
    "DOUBLE": (
        "CORR COVARPOP COVARSAMP REGRSLOPE REGRINTERCEPT E ATAN2 COSINE_SIMILARITY COSINE_DISTANCE NAN INFINITY "
        "NORMAL_CDF INVERSE_NORMAL_CDF BETA_CDF T_CDF DOT_PRODUCT EUCLIDEAN_DISTANCE WILSON_INTERVAL_LOWER "
        "WILSON_INTERVAL_UPPER FROM_IEEE754_64 CUMEDIST PERCENTRANK"
    ),
    "BIGINT": (
        "JSON_ARRAY_LENGTH JSON_SIZE ARRAYPOSITION HAMMING_DISTANCE CRC32 BITWISEORAGG BITWISEANDAGG "
        "TIMEZONE_HOUR TIMEZONE_MINUTE TO_MILLISECONDS WEEKOFYEAR YEAROFWEEK YOW MILLISECOND BITWISEXORAGG "
        "BIT_COUNT REGEXPCOUNT URL_EXTRACT_PORT FROMBASE FROM_BASE FROM_BIG_ENDIAN_64"
    ),
    "VARCHAR": (
        "DECODE SOUNDEX NORMALIZE TO_ISO8601 CURRENTTIMEZONE CURRENT_TIMEZONE TO_BASE TO_BASE64URL URL_ENCODE "
        "URL_DECODE URL_EXTRACT_FRAGMENT URL_EXTRACT_PROTOCOL URL_EXTRACT_QUERY FORMAT_NUMBER WORD_STEM TITLE_CASE "
        "HUMAN_READABLE_SECONDS"
    ),
    "VARBINARY": (
        "ENCODE XXHASH64 CHECKSUM SHA MURMUR3 SPOOKY_HASH_V2_32 SPOOKY_HASH_V2_64 HMAC_MD5 HMAC_SHA1 HMAC_SHA256 "
        "HMAC_SHA512 FROM_BASE64URL TO_BIG_ENDIAN_32 TO_BIG_ENDIAN_64 TO_IEEE754_32 TO_IEEE754_64"
    ),
    "INTEGER": "CODEPOINT FROM_BIG_ENDIAN_32 REGEXP_POSITION",
    "ARRAY(VARCHAR)": "REGEXPSPLIT",
    "UUID": "UUID",
    "TIMESTAMP(3) WITH TIME ZONE": "FROMISO8601TIMESTAMP PARSEDATETIME",
}
"""Types, and the functions whose manual says that they always return them; the rules below come first."""

TRINO_RULES: dict[str, TypeRule] = {
    **fixed_rules(DOCUMENTED_TYPES),
    **dict.fromkeys(
        split_names(
            "ARRAYFILTER ARRAYSLICE ARRAYSORT ARRAY_UNION ARRAYINTERSECT ARRAYEXCEPT MAP_FILTER MAP_UNION MAP_CONCAT "
            "SHUFFLE TRY"
        ),
        argument_rule(0),
    ),
    **dict.fromkeys(split_names("ARRAYMAX ARRAYMIN FLATTEN"), infer_element),
    "MAPKEYS": infer_map_keys,
    "MAP_VALUES": infer_map_values,
    **fixed_rules(
        {
            "BIGINT": (
                "EXTRACT DATEDIFF YEAR MONTH DAY WEEK QUARTER HOUR MINUTE SECOND DAYOFWEEK DAYOFWEEKISO DAY_OF_WEEK "
                "DAYOFYEAR DAYOFMONTH COUNT COUNTIF APPROXDISTINCT LENGTH STRPOSITION ARRAYSIZE CARDINALITY ROWNUMBER "
                "RANK DENSERANK NTILE GROUPING"
            ),
            "DOUBLE": "TIMETOUNIX TO_UNIXTIME STDDEV VARIANCE SQRT POW EXP LN LOG RAND GEOMETRIC_MEAN",
            "VARCHAR": (
                "JSONEXTRACTSCALAR JSON_EXTRACT_SCALAR JSON_FORMAT JSONFORMAT SPLITPART REGEXPEXTRACT REGEXPREPLACE "
                "REPLACE FORMAT HEX URL_EXTRACT_HOST URL_EXTRACT_PATH URL_EXTRACT_PARAMETER TIMETOSTR "
                "ARRAYTOSTRING GROUPCONCAT FORMAT_DATETIME"
            ),
            "JSON": "JSONEXTRACT JSON_EXTRACT JSON_PARSE PARSEJSON",
            "VARBINARY": "MD5DIGEST SHA1DIGEST SHA2DIGEST SHA256 SHA512 UNHEX TO_UTF8 FROMBASE64",
            "TIMESTAMP(3)": "DATE_PARSE STRTOTIME LOCALTIMESTAMP",
            "TIMESTAMP(3) WITH TIME ZONE": "NOW CURRENTTIMESTAMP UNIXTOTIME AT_TIMEZONE",
        }
    ),
    **dict.fromkeys(split_names("CONCAT DPIPE"), infer_trino_concat),
    **dict.fromkeys(split_names("PAD SUBSTRING REVERSE TRIM"), infer_trino_string),
    "TRANSFORM": lambda family, types, texts: family.array(types[-1]) if types and types[-1] else None,
    "REDUCE": lambda family, types, texts: types[-1] if types else None,
    "HISTOGRAM": lambda family, types, texts: family.map(types[0], family.bigint) if types and types[0] else None,
    **dict.fromkeys(
        split_names("DATEADD DATESUB TIMESTAMPTRUNC DATETRUNC TIMESTAMPADD ARRAYDISTINCT"), argument_rule(0)
    ),
    **dict.fromkeys(split_names("FLOOR CEIL"), infer_trino_round),
    **dict.fromkeys(split_names("SPLIT REGEXPEXTRACTALL"), infer_split),
    **dict.fromkeys(split_names("MAP_AGG MAPAGG"), infer_map_agg),
    "GENERATESERIES": array_rule(0),
    "MAP": infer_map_from_arrays,
    "SUM": sum_rule(38, "BIGINT", "REAL"),
    "AVG": infer_trino_avg,
}


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

TRINO_TYPES = TypeFamily(
    name="trino",
    integers=("TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
    digits=(3, 5, 10, 19),
    integer="INTEGER",
    bigint="BIGINT",
    decimal="DECIMAL",
    real="REAL",
    double="DOUBLE",
    string="VARCHAR",
    boolean="BOOLEAN",
    binary="VARBINARY",
    zoned="TIMESTAMP WITH TIME ZONE",
    aliases={"INT": "INTEGER"},
    notation=("ARRAY({})", "MAP({},{})", "ROW({})", "{} {}"),
    strings=("CHAR", "VARCHAR"),
    literal="VARCHAR({})",
    whole_days=True,
    results=UNPARAMETERIZED_TYPES,
    compute_digits=trino_digits,
    conversions=STRICT_CONVERSIONS,
)


# ── the dialect ───────────────────────────────────────────────────────────────────────────────────────────────────────

TRINO = DialectTraits(
    name="trino",
    family="trino",
    naming=UnaliasedNaming.COL0,
    alias_in_group=False,
    row_names="_col{0}",
    unnest_expands=True,
    table_arguments={"QUERY": TableArgument(text=0)},
    table_pseudo_columns=frozenset(
        "$PATH $BUCKET $PARTITION $FILE_SIZE $FILE_MODIFIED_TIME $ROW_ID $SNAPSHOT_ID".split()
    ),
    pseudo_column_types={"$PATH": "VARCHAR", "$PARTITION": "VARCHAR", "$BUCKET": "INTEGER", "$FILE_SIZE": "BIGINT"},
    system_catalog=SystemCatalog(databases=frozenset({"system"})),
    procedural=ProceduralLanguage("SQL routines", marks=frozenset(), opens=frozenset({"BEGIN", "RETURN"})),
    types=TRINO_TYPES,
    type_rules=TypeRules(functions=TRINO_RULES),
    signs=(
        build_sign(
            "tables WITH (format = …)",
            r"\bWITH\s*\(\s*(format|partitioned_by|external_location|partitioning|location)\s*=",
            3,
            "with&format with&partitioned_by with&external_location with&partitioning with&location",
        ),
        build_sign(
            "DATE_PARSE or APPROX_DISTINCT",
            r"\b(?:DATE_PARSE|APPROX_DISTINCT|FROM_ISO8601_\w+|TO_ISO8601|MAP_AGG|MULTIMAP_AGG)\s*\(",
            2,
            "date_parse approx_distinct from_iso8601_* to_iso8601 map_agg multimap_agg",
        ),
        build_sign("WITH ORDINALITY of UNNEST", r"\bUNNEST\s*\([^)]*\)\s*WITH\s+ORDINALITY\b", 1, "unnest&ordinality"),
        JSON_EXTRACT_SCALAR,
        ARRAY_BRACKETS,
    ),
    path_words=frozenset({"trino"}),
    host_signs=(build_driver_sign("Trino", modules="trino", operators="Trino", scheme="trino"),),
)
