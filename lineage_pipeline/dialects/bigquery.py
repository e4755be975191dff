"""BigQuery: exact table names, partition decorators, pseudo columns, scripting, types and signs."""

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits, UnaliasedNaming
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import (
    ANGLE_TYPES,
    BACKTICKS,
    IFNULL,
    JSON_EXTRACT_SCALAR,
    QUALIFY,
    STAR_EXCEPT,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.table_functions import TableArgument
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule, arithmetic_rule
from lineage_pipeline.dialects.types.common_rules import (
    argument_rule,
    argument_type_name,
    array_rule,
    fixed_rules,
    infer_array,
    infer_element,
    split_names,
)
from lineage_pipeline.dialects.types.conversions import (
    STRICT_CONVERSIONS,
    STRICT_OPERANDS,
)
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.shapes import parse_type_shape
from lineage_pipeline.dialects.types.type_rules import TypeRules

# ── result types of operators and functions ───────────────────────────────────────────────────────────────────────────

WIDE_DECIMAL = "BIGNUMERIC"
"""The decimal type with more digits."""


def bigquery_operator_rule(op: str) -> TypeRule:
    """Build the rule of an operator: BIGNUMERIC wins where nothing is floating."""
    plain = arithmetic_rule(op)

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        names = {argument_type_name(types), argument_type_name(types, 1)}
        if WIDE_DECIMAL in names:
            return family.double if family.double in names else WIDE_DECIMAL if names <= _NUMERIC_TYPES else None
        return plain(family, types, texts)

    return rule


_NUMERIC_TYPES = frozenset({"INT64", "NUMERIC", WIDE_DECIMAL})


def infer_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG: of integers a floating number, else of the same type."""
    name = argument_type_name(types)
    return family.double if name in family.integers else name or None


def infer_same(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """The type of the argument, without its digits."""
    return argument_type_name(types) or None


def infer_round(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """FLOOR, CEIL, ROUND, TRUNC: of integers a floating number, else of the same type."""
    return infer_avg(family, types, texts)


def moment_rule(kind: str) -> TypeRule:
    """Build the rule of a function that returns the moment it is given; a string literal has its own kind."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        name = argument_type_name(types)
        return kind if name == family.string else name or None

    return rule


def infer_date_trunc(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATE_TRUNC, whose unit comes first."""
    return moment_rule("DATE")(family, types[1:], texts)


def infer_extract(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """EXTRACT: an integer, but for the date and the time of a moment."""
    unit = texts[0].upper() if texts else ""
    return unit if unit in ("DATE", "TIME", "DATETIME") else family.integer


def infer_string_or_bytes(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str:
    """A function that takes strings or bytes, and returns the same."""
    return family.binary if argument_type_name(types) == family.binary else family.string


def infer_array_of_strings(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A function that returns an array of the strings or bytes it takes."""
    return family.array(infer_string_or_bytes(family, types, texts))


def infer_json_part(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str:
    """A part of a document: a document of one, a string of a string."""
    name = argument_type_name(types)
    return "JSON" if name == "JSON" else family.string


def infer_json_parts(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An array of parts of a document."""
    return family.array(infer_json_part(family, types, texts))


def infer_approx_top_count(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """APPROX_TOP_COUNT: values, each with a number."""
    kind = argument_type_name(types)
    return family.array(family.struct([("value", kind), ("count", family.integer)])) if kind else None


def infer_approx_top_sum(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """APPROX_TOP_SUM: values, each with a total."""
    kind, weight = argument_type_name(types), argument_type_name(types, 1)
    return family.array(family.struct([("value", kind), ("sum", weight)])) if kind and weight else None


def infer_approx_quantiles(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """APPROX_QUANTILES: an array of its argument."""
    return array_rule(0)(family, (argument_type_name(types) or None,), texts)


def infer_safe_divide(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """SAFE_DIVIDE: the type of a quotient."""
    return bigquery_operator_rule("DIV")(family, types, texts)


def infer_unnest(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """UNNEST: an element of an array."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    return shape.members[0][1] if shape.name == "ARRAY" and shape.members else None


FIXED_TYPES: dict[str, str] = {
    "INT64": "DATEDIFF TIMEDIFF JUSTIFY HLL_COUNT.MERGE HLL_COUNT.EXTRACT GROUPING UNIXSECONDS",
    "FLOAT64": "IEEE_DIVIDE STDISTANCE ST_DISTANCE ST_AREA ST_LENGTH ST_X ST_Y COSINEDISTANCE",
    "STRING": "REGEXP_SUBSTR JSONFORMAT SESSIONUSER",
    "BYTES": "HLL_COUNT.INIT HLL_COUNT.MERGE_PARTIAL",
    "JSON": "JSONFORMAT:to_json JSON_SET JSON_REMOVE JSONSTRIPNULLS JSON_STRIP_NULLS JSON_ARRAY_APPEND",
    "DATETIME": "TSORDSTODATETIME PARSEDATETIME",
    "TIMESTAMP": "TSORDSTOTIMESTAMP TIMESTAMP",
    "GEOGRAPHY": "ST_GEOGPOINT ST_GEOGFROMTEXT ST_CENTROID ST_UNION ST_BUFFER ST_INTERSECTION",
    "ARRAY<INT64>": "TOCODEPOINTS",
    "ARRAY<STRING>": "JSONVALUEARRAY JSON_VALUE_ARRAY",
    "ARRAY<DATE>": "GENERATEDATEARRAY",
    "ARRAY<TIMESTAMP>": "GENERATETIMESTAMPARRAY",
}
"""Types, and the functions that always return them."""

DOCUMENTED_TYPES: dict[str, str] = {
    "ARRAY<BOOL>": "BOOL_ARRAY LAX_BOOL_ARRAY",
    "ARRAY<GEOGRAPHY>": "ST_DUMP",
    "ARRAY<INT64>": "INT64_ARRAY LAX_INT64_ARRAY S2_COVERINGCELLIDS",
    "ARRAY<JSON>": "JSON_FLATTEN",
    "ARRAY<STRING>": "JSONKEYSATDEPTH LAX_STRING_ARRAY STRING_ARRAY",
    "BOOL": (
        "ARRAY_INCLUDES_ALL ARRAY_INCLUDES_ANY ARRAY_IS_DISTINCT RANGE_OVERLAPS ST_CONTAINS ST_COVEREDBY ST_COVERS "
        "ST_DISJOINT ST_DWITHIN ST_EQUALS ST_HAUSDORFFDWITHIN ST_INTERSECTS ST_INTERSECTSBOX ST_ISCLOSED "
        "ST_ISCOLLECTION ST_ISEMPTY ST_ISRING ST_TOUCHES ST_WITHIN"
    ),
    "BYTES": "DETERMINISTIC_DECRYPT_BYTES DETERMINISTIC_ENCRYPT ST_ASBINARY",
    "DATE": "DATE_BUCKET LASTDAY",
    "DATETIME": "DATETIME_BUCKET",
    "FLOAT64": (
        "ST_ANGLE ST_AZIMUTH ST_HAUSDORFFDISTANCE ST_LINELOCATEPOINT ST_MAXDISTANCE ST_PERIMETER ST_AREA ST_LENGTH "
        "ST_X ST_Y"
    ),
    "GEOGRAPHY": (
        "ST_BOUNDARY ST_CONVEXHULL ST_DIFFERENCE ST_GEOGFROM ST_GEOGFROMGEOJSON ST_GEOGFROMTEXT ST_GEOGFROMWKB "
        "ST_GEOGPOINT ST_LINEINTERPOLATEPOINT ST_MAKEPOLYGON ST_MAKEPOLYGONORIENTED ST_SIMPLIFY ST_SNAPTOGRID "
        "ST_UNION_AGG ST_UNION ST_BUFFER ST_CENTROID ST_MAKELINE ST_INTERSECTION ST_CLOSESTPOINT"
    ),
    "INT64": "S2_CELLIDFROMPOINT ST_DIMENSION ST_NUMGEOMETRIES ST_NUMPOINTS",
    "STRING": "DETERMINISTIC_DECRYPT_STRING ST_ASGEOJSON ST_ASTEXT ST_GEOHASH ST_GEOMETRYTYPE",
    "TIMESTAMP": "TIMESTAMP_BUCKET",
}
"""Types, and the functions whose manual says that they always return them; the rules below come first."""

BIGQUERY_RULES: dict[str, TypeRule] = {
    **fixed_rules(DOCUMENTED_TYPES),
    **dict.fromkeys(split_names("PERCENTILEDISC"), argument_rule(0)),
    **dict.fromkeys(split_names("ARRAYFIRST ARRAYLAST"), infer_element),
    **fixed_rules(FIXED_TYPES),
    **{op: bigquery_operator_rule(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **{
        f"SAFE{name}": bigquery_operator_rule(op)
        for name, op in (("ADD", "ADD"), ("SUBTRACT", "SUB"), ("MULTIPLY", "MUL"))
    },
    **dict.fromkeys(split_names("SUM SAFENEGATE ABS SIGN"), infer_same),
    **dict.fromkeys(split_names("FLOOR CEIL ROUND TRUNC"), infer_round),
    **dict.fromkeys(split_names("DATEADD DATESUB TSORDSADD"), moment_rule("DATE")),
    **dict.fromkeys(split_names("TIMESTAMPTRUNC TIMESTAMPADD TIMESTAMPSUB"), moment_rule("TIMESTAMP")),
    **dict.fromkeys(split_names("DATETIMETRUNC DATETIMEADD DATETIMESUB"), moment_rule("DATETIME")),
    **dict.fromkeys(
        split_names("UPPER LOWER TRIM LEFT RIGHT SUBSTRING REVERSE REPLACE REPEAT PAD REGEXPEXTRACT"),
        infer_string_or_bytes,
    ),
    **dict.fromkeys(split_names("REGEXPREPLACE"), infer_string_or_bytes),
    **dict.fromkeys(split_names("SPLIT REGEXPEXTRACTALL"), infer_array_of_strings),
    **dict.fromkeys(split_names("JSONEXTRACT JSON_QUERY"), infer_json_part),
    **dict.fromkeys(split_names("JSONEXTRACTARRAY JSON_QUERY_ARRAY"), infer_json_parts),
    **dict.fromkeys(
        split_names("ARRAYCONCAT ARRAYCONCATAGG ARRAYREVERSE ARRAYSLICE SAFEFUNC NETFUNC COLLATE"), argument_rule(0)
    ),
    **dict.fromkeys(split_names("GENERATESERIES"), lambda family, types, texts: infer_array(family, types[:2], ())),
    "APPROXQUANTILES": infer_approx_quantiles,
    "APPROXTOPK": infer_approx_top_count,
    "APPROXTOPSUM": infer_approx_top_sum,
    "AVG": infer_avg,
    "DATETRUNC": infer_date_trunc,
    "EXTRACT": infer_extract,
    "SAFEDIVIDE": infer_safe_divide,
    "UNNEST": infer_unnest,
    "EXPLODE": infer_unnest,
}
"""Rules of BigQuery's functions; the common rules hold for the rest."""


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

BIGQUERY_TYPES = TypeFamily(
    name="bigquery",
    integers=("INT64",),
    digits=(19,),
    integer="INT64",
    bigint="INT64",
    decimal="NUMERIC",
    real="FLOAT64",
    double="FLOAT64",
    string="STRING",
    boolean="BOOL",
    binary="BYTES",
    timestamp="DATETIME",
    zoned="TIMESTAMP",
    aliases={
        **{"INT": "INT64", "INTEGER": "INT64", "BIGINT": "INT64", "SMALLINT": "INT64", "TINYINT": "INT64"},
        **{
            "DECIMAL": "NUMERIC",
            "BIGDECIMAL": "BIGNUMERIC",
            "FLOAT": "FLOAT64",
            "DOUBLE": "FLOAT64",
            "BOOLEAN": "BOOL",
            "VARCHAR": "STRING",
        },
    },
    cap=0,
    notation=("ARRAY<{}>", "", "STRUCT<{}>", "{} {}"),
    strings=("STRING",),
    fraction="FLOAT64",
    float_division=True,
    conversions=msgspec.structs.replace(
        STRICT_CONVERSIONS,
        computes=STRICT_OPERANDS,
        refused=frozenset((kind, "INT64") for kind in ("FLOAT64", "NUMERIC", "BIGNUMERIC")),
    ),
)


# ── the dialect ───────────────────────────────────────────────────────────────────────────────────────────────────────

BIGQUERY = DialectTraits(
    name="bigquery",
    family="bigquery",
    tables=IdentifierFolding.EXACT,
    aliases=IdentifierFolding.INSENSITIVE,
    naming=UnaliasedNaming.F0,
    alias_in_having=True,
    implicit_unnest=True,
    count="INT64",
    alias_first_in_group=True,
    row_values=True,
    label_first=False,
    decorators="$",
    triple_quotes=True,
    json_documents=True,
    builtin_schemas=frozenset({"ML", "AI"}),
    table_arguments={"EXTERNAL_QUERY": TableArgument(text=1, server=0)},
    table_pseudo_columns=frozenset(
        "_PARTITIONTIME _PARTITIONDATE _TABLE_SUFFIX _FILE_NAME _CHANGE_TYPE _CHANGE_TIMESTAMP".split()
    ),
    pseudo_column_types={
        **dict.fromkeys("_TABLE_SUFFIX _FILE_NAME _CHANGE_TYPE".split(), "STRING"),
        **dict.fromkeys("_PARTITIONTIME _CHANGE_TIMESTAMP".split(), "TIMESTAMP"),
        "_PARTITIONDATE": "DATE",
    },
    procedural=ProceduralLanguage("BigQuery scripting", scripts=True),
    types=BIGQUERY_TYPES,
    type_rules=TypeRules(functions=BIGQUERY_RULES),
    signs=(
        build_sign("names of projects in backticks", r"`[\w-]+\.[\w-]+\.[\w*-]+`|`region-\w+", 3, "`"),
        build_sign(
            "SAFE_CAST, SAFE_DIVIDE or SAFE.",
            r"\bSAFE(_CAST|_DIVIDE)\s*\(|\bSAFE\.\w+\s*\(",
            3,
            "safe_cast safe_divide safe&safe.",
        ),
        build_sign(
            "INT64 and FLOAT64",
            r"(?-i:\b(?:INT64|FLOAT64)\b|\b(?:int64|float64)\b)|\bBIGNUMERIC\b",
            2,
            "int64 float64 INT64 FLOAT64 bignumeric",
        ),
        build_sign(
            "UNNEST WITH OFFSET",
            r"\bWITH\s+OFFSET\b|\[(?:SAFE_)?(?:OFFSET|ORDINAL)\s*\(",
            3,
            "with&offset offset&[ safe_offset ordinal safe_ordinal",
        ),
        STAR_EXCEPT.with_worth(3),
        build_sign(
            "_TABLE_SUFFIX or _PARTITIONTIME",
            r"\b_(TABLE_SUFFIX|PARTITIONTIME|PARTITIONDATE)\b",
            3,
            "_table_suffix _partitiontime _partitiondate",
        ),
        build_sign(
            "PARSE_DATE, FORMAT_DATE or TIMESTAMP_TRUNC",
            r"\b((PARSE|FORMAT)_(DATE|DATETIME|TIMESTAMP)|TIMESTAMP_(TRUNC|DIFF|SECONDS|MILLIS)|GENERATE_DATE_ARRAY)\s*\(",
            2,
            "parse_date parse_datetime parse_timestamp format_date format_datetime format_timestamp "
            "timestamp_trunc timestamp_diff timestamp_seconds timestamp_millis generate_date_array",
        ),
        build_sign(
            "date functions with the unit last",
            r"\b(?:DATE|DATETIME)_(?:TRUNC|DIFF)\s*\([^;]{1,200}?,\s*(?:ISO)?(?:DAY|WEEK|MONTH|QUARTER|YEAR|HOUR|MINUTE|SECOND)\s*\)",
            2,
            "date_trunc date_diff datetime_trunc datetime_diff",
        ),
        build_sign(
            "COUNTIF or REGEXP_CONTAINS",
            r"\b(?:COUNTIF|REGEXP_CONTAINS|FARM_FINGERPRINT)\s*\(",
            2,
            "countif regexp_contains farm_fingerprint",
        ),
        build_sign("LANGUAGE js", r"\bLANGUAGE\s+js\b|\bCREATE\s+TEMP\s+FUNCTION\b", 3, "language&js temp&function"),
        ANGLE_TYPES,
        BACKTICKS,
        QUALIFY,
        IFNULL,
        JSON_EXTRACT_SCALAR,
        build_sign(
            "dbt settings of BigQuery",
            r"\b(?:hours_to_expiration|partition_expiration_days|require_partition_filter|kms_key_name)\b|\bpartition_by\s*=\s*\{",
            3,
            "hours_to_expiration partition_expiration_days require_partition_filter kms_key_name partition_by&{",
        ),
    ),
    path_words=frozenset({"bigquery", "bq"}),
    host_signs=(
        build_driver_sign(
            "BigQuery",
            modules=r"google\.cloud\.bigquery|google\.cloud\s+import\s+bigquery",
            operators="BigQuery",
            scheme="bigquery",
        ),
        build_sign("%%bigquery", r"%%bigquery\b|%load_ext\s+google\.cloud\.bigquery|\bread_gbq\b", 4),
    ),
)
