"""Snowflake: folding, staged files, stream metadata, scripting, system schemas, types and signs."""

import re

from lineage_pipeline.dialects.client_commands import COMMAND_KINDS, ClientCommands
from lineage_pipeline.dialects.dialect import DialectTraits, UnaliasedNaming
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import (
    CASTS,
    CONVERT_TIMEZONE,
    DATE_PARTS_FIRST,
    DOLLAR_QUOTES,
    IDENTITY_COLUMNS,
    IFNULL,
    NVL,
    QUALIFY,
    STAR_EXCLUDE,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.system_catalogs import STANDARD_SCHEMAS, SystemCatalog
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule, arithmetic_rule
from lineage_pipeline.dialects.types.coercion import common_type, type_digits
from lineage_pipeline.dialects.types.common_rules import DATE_UNITS, argument_rule, fixed_rule, fixed_rules, split_names
from lineage_pipeline.dialects.types.conversions import build_uniform_conversions
from lineage_pipeline.dialects.types.decimals import DEFAULT_PRECISION_LIMIT, Digits
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.shapes import parse_type_shape
from lineage_pipeline.dialects.types.type_rules import TypeRules

# ── result types of operators and functions ───────────────────────────────────────────────────────────────────────────


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


def _argument_digits(types: ArgumentTypes, family: TypeFamily) -> tuple[int, int] | None:
    return type_digits(parse_type_shape(types[0] or ""), family) if types else None


def infer_dateadd(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATEADD: the moved type; a date becomes a timestamp with hours or less, and so does a string."""
    kind = types[0] if types else None
    name = parse_type_shape(kind or "").name
    if name == family.date:
        return kind if texts and texts[-1].strip("'").upper() in DATE_UNITS else family.timestamp
    return family.timestamp if name in family.strings else kind


def infer_sum(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """SUM: decimals as long as they can be."""
    digits = _argument_digits(types, family)
    return family.numeric(38, digits[1]) if digits is not None else family.double if types and types[0] else None


def infer_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG: a quotient, of a total by a count."""
    digits = _argument_digits(types, family)
    if digits is None:
        return family.double if types and types[0] else None
    return family.numeric(38, max(digits[1], min(digits[1] + 6, 12)))


def infer_median(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """MEDIAN: three digits more behind the point."""
    digits = _argument_digits(types, family)
    if digits is None:
        return types[0] if types else None
    return family.numeric(min(digits[0] + 3, 38), min(digits[1] + 3, 37))


def infer_variance(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """VARIANCE: six digits behind the point for integers, at least twelve for decimals."""
    digits = _argument_digits(types, family)
    if digits is None:
        return family.double if types and types[0] else None
    return family.numeric(38, 6 if digits[1] == 0 else max(12, digits[1]))


def infer_within_group(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An aggregate over an order: a percentile has the type of what is ordered."""
    return types[1] if len(types) > 1 and types[0] == UNKNOWN_PERCENTILE else types[0] if types else None


UNKNOWN_PERCENTILE = "PERCENTILE"
"""The type of a percentile before the ordered type is known."""


def infer_to_number(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """TO_NUMBER: as many digits as it says, else 38 and none behind the point."""
    stated = [text for text in texts[1:] if text.isdigit()][-2:]
    if len(stated) == 2:
        return family.numeric(parse_whole_number(stated[0]), parse_whole_number(stated[1]))
    return family.numeric(parse_whole_number(stated[0]), 0) if stated else family.integer


def infer_floor_ceil(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """FLOOR and CEIL: no digits behind the point unless some are asked for."""
    digits = _argument_digits(types, family)
    if digits is None:
        return family.double if types and types[0] else None
    if len(types) > 1:
        return types[0]
    return family.numeric(min(digits[0] - digits[1] + 1, 38), 0) if digits[1] else types[0]


def infer_date_trunc(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATE_TRUNC and the like: what is cut, and a moment of a string."""
    kind = types[0] if types else None
    return family.timestamp if parse_type_shape(kind or "").name in family.strings else kind


def infer_convert_timezone(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CONVERT_TIMEZONE: with both zones a moment without one, else a moment with it."""
    return family.timestamp if len(types) > 2 else "TIMESTAMP_TZ"


def infer_timestamp_from_parts(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """TIMESTAMP_FROM_PARTS: with a zone where one is given behind all parts."""
    return "TIMESTAMP_TZ" if len(types) > 7 else family.timestamp


def infer_variant_part(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A part of a VARIANT is a VARIANT; so is what FLATTEN returns."""
    return "VARIANT"


def infer_variant_element(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An element of an array or an object is a document."""
    return "VARIANT"


FIXED_TYPES: dict[str, str] = {
    "NUMBER(38,0)": (
        "DATEDIFF EXTRACT DATE_PART REGEXPCOUNT REGEXPINSTR BITWISEANDAGG BITWISEORAGG BITWISEXORAGG BITWISEAND "
        "BITWISEOR BITWISEXOR BITWISENOT BITWISELEFTSHIFT BITWISERIGHTSHIFT GROUPING GROUPING_ID DAY HOUR "
        "CONDITIONAL_TRUE_EVENT CONDITIONAL_CHANGE_EVENT AS_INTEGER"
    ),
    "NUMBER(19,0)": "HASH HASHAGG HASH_AGG",
    "FLOAT": "RATIO_TO_REPORT AS_DOUBLE",
    "VARCHAR": "JSONFORMAT PAD LAST_QUERY_ID AS_VARCHAR AS_CHAR COLLATE BASE64ENCODE TO_JSON",
    "BOOLEAN": "ARRAYCONTAINS ARRAYOVERLAPS AS_BOOLEAN IS_ARRAY IS_OBJECT IS_INTEGER IS_VARCHAR IS_DATE ISNULLVALUE",
    "DATE": "AS_DATE",
    "TIMESTAMP_NTZ": (
        "TO_TIMESTAMP TRY_TO_TIMESTAMP TO_TIMESTAMP_NTZ TRY_TO_TIMESTAMP_NTZ STRTOTIME UNIXTOTIME TSORDSTOTIMESTAMP "
        "CURRENTTIMESTAMP:sysdate SYSDATE"
    ),
    "TIMESTAMP_LTZ": "TO_TIMESTAMP_LTZ TRY_TO_TIMESTAMP_LTZ",
    "TIMESTAMP_TZ": "TO_TIMESTAMP_TZ TRY_TO_TIMESTAMP_TZ",
    "VARIANT": "TOVARIANT TO_VARIANT JSONEXTRACT GETEXTRACT GET_PATH GET PARSEJSON TRY_PARSE_JSON XMLGET",
    "OBJECT": (
        "TO_OBJECT OBJECT_CONSTRUCT OBJECT_CONSTRUCT_KEEP_NULL OBJECTINSERT OBJECT_INSERT OBJECT_DELETE OBJECT_PICK "
        "OBJECTAGG AS_OBJECT"
    ),
    "ARRAY": (
        "ARRAY ARRAYAGG ARRAYUNIQUEAGG TOARRAY TO_ARRAY JSONKEYS OBJECT_KEYS ARRAYDISTINCT ARRAYSLICE ARRAYCAT "
        "ARRAYCONCAT ARRAYINTERSECT ARRAYINTERSECTION ARRAYEXCEPT ARRAYFLATTEN ARRAY_FLATTEN SORTARRAY "
        "ARRAYSORT ARRAY_INSERT AS_ARRAY SPLIT STRTOKTOARRAY REGEXPEXTRACTALL ARRAYREVERSE "
        "ARRAY_GENERATE_RANGE TRANSFORM FILTER()"
    ),
}
"""Types, and the functions that always return them."""

DOCUMENTED_TYPES: dict[str, str] = {
    "VARIANT": "STRIPNULLVALUE",
    "FLOAT": "REGRSLOPE REGRINTERCEPT REGRR2 CORR COVARPOP COVARSAMP HAVERSINE STDISTANCE",
    "NUMBER(38,0)": "ARRAYPOSITION",
    "NUMBER(18,0)": "HLL",
}
"""Types, and the functions whose manual says that they always return them; the rules below come first."""

SNOWFLAKE_RULES: dict[str, TypeRule] = {
    **fixed_rules(DOCUMENTED_TYPES),
    **fixed_rules(FIXED_TYPES),
    **dict.fromkeys(split_names("ADDMONTHS TIMESLICE TIMESTAMPTRUNC DATETRUNC"), infer_date_trunc),
    **dict.fromkeys(split_names("DATEADD TIMESTAMPADD TSORDSADD DATESUB"), infer_dateadd),
    **dict.fromkeys(split_names("VARIANCE VARIANCEPOP"), infer_variance),
    **dict.fromkeys(split_names("PERCENTILECONT PERCENTILEDISC"), fixed_rule(UNKNOWN_PERCENTILE)),
    **dict.fromkeys(split_names("FLOOR CEIL TRUNC"), infer_floor_ceil),
    **dict.fromkeys(split_names("SUBSTRING REVERSE"), argument_rule(0)),
    "AVG": infer_avg,
    "SUM": infer_sum,
    "MEDIAN": infer_median,
    "MOD": arithmetic_rule("MOD"),
    "WITHINGROUP": infer_within_group,
    "TONUMBER": infer_to_number,
    "CONVERTTIMEZONE": infer_convert_timezone,
    "TIMESTAMPFROMPARTS": infer_timestamp_from_parts,
    "ELEMENT": infer_variant_element,
    "EXPLODE": infer_variant_part,
    "UNIFORM": lambda family, types, texts: common_type(types[:2], family),
}
"""Rules of Snowflake's functions; the common rules hold for the rest."""

SNOWFLAKE_CONSTANT_OPERATORS = split_names("DATEADD TIMESTAMPADD TSORDSADD DATESUB TONUMBER")
"""Operators whose type also depends on the values of constants."""


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

SNOWFLAKE_TYPES = TypeFamily(
    name="snowflake",
    integers=(),
    digits=(),
    integer="NUMBER(38,0)",
    bigint="NUMBER(38,0)",
    decimal="NUMBER",
    real="FLOAT",
    double="FLOAT",
    string="VARCHAR",
    boolean="BOOLEAN",
    binary="BINARY",
    timestamp="TIMESTAMP_NTZ",
    zoned="TIMESTAMP_LTZ",
    aliases={
        **dict.fromkeys("DECIMAL NUMERIC DEC INT INTEGER BIGINT SMALLINT TINYINT BYTEINT".split(), "NUMBER"),
        **dict.fromkeys(("DOUBLE", "REAL", "FLOAT8", "FLOAT4", "DOUBLE PRECISION"), "FLOAT"),
        **dict.fromkeys(("TEXT", "STRING", "NVARCHAR", "NVARCHAR2", "CHAR VARYING"), "VARCHAR"),
        **dict.fromkeys(("TIMESTAMP", "DATETIME", "TIMESTAMPNTZ"), "TIMESTAMP_NTZ"),
        **{"TIMESTAMPLTZ": "TIMESTAMP_LTZ", "TIMESTAMPTZ": "TIMESTAMP_TZ", "VARBINARY": "BINARY"},
    },
    alone={"NUMBER": "NUMBER(38,0)"},
    notation=("ARRAY", "MAP({},{})", "OBJECT", "{} {}"),
    strings=("VARCHAR", "CHAR"),
    days="NUMBER(38,0)",
    whole_days=True,
    compute_digits=snowflake_digits,
    conversions=build_uniform_conversions("string-* number-boolean date-moment binary-uuid", INTERVAL="", ARRAY=""),
)


# ── the dialect ───────────────────────────────────────────────────────────────────────────────────────────────────────

SNOWFLAKE = DialectTraits(
    name="snowflake",
    family="snowflake",
    tables=IdentifierFolding.UPPER,
    columns=IdentifierFolding.UPPER,
    naming=UnaliasedNaming.UPPER,
    stages=True,
    count="NUMBER(18,0)",
    dotted_members=False,
    uses_catalog=True,
    lateral_alias=True,
    alias_in_where=True,
    alias_in_having=True,
    implicit_recursion=True,
    dual=True,
    positions=True,
    row_names="COLUMN{1}",
    flattens=True,
    plain_functions=frozenset({"ZEROIFNULL", "NULLIFZERO"}),
    value_keywords=frozenset(
        "CURRENT_USER CURRENT_DATE CURRENT_TIMESTAMP LEVEL SQLCODE SQLERRM SQLSTATE SQLROWCOUNT SQLFOUND "
        "SQLNOTFOUND".split()
    ),
    reserved_values=frozenset({"LEVEL"}),
    sequence_columns=frozenset({"NEXTVAL"}),
    table_pseudo_columns=frozenset(
        "METADATA$ACTION METADATA$ISUPDATE METADATA$ROW_ID METADATA$FILENAME METADATA$FILE_ROW_NUMBER "
        "METADATA$FILE_CONTENT_KEY METADATA$FILE_LAST_MODIFIED METADATA$START_SCAN_TIME".split()
    ),
    pseudo_column_types={
        **dict.fromkeys(
            "METADATA$ACTION METADATA$ROW_ID METADATA$FILENAME METADATA$FILE_CONTENT_KEY SQLERRM SQLSTATE".split(),
            "VARCHAR",
        ),
        **dict.fromkeys("METADATA$ISUPDATE SQLFOUND SQLNOTFOUND".split(), "BOOLEAN"),
        **dict.fromkeys("METADATA$FILE_ROW_NUMBER LEVEL NEXTVAL SQLCODE SQLROWCOUNT".split(), "NUMBER(38,0)"),
        "METADATA$FILE_LAST_MODIFIED": "TIMESTAMP_NTZ",
        "METADATA$START_SCAN_TIME": "TIMESTAMP_LTZ",
    },
    system_catalog=SystemCatalog(
        schemas=STANDARD_SCHEMAS | {"account_usage", "organization_usage", "reader_account_usage", "data_sharing_usage"}
    ),
    client_commands=ClientCommands(re.compile(r"!(?P<word>[a-z]+)"), COMMAND_KINDS),
    procedural=ProceduralLanguage(
        "Snowflake scripting",
        sections=True,
        opens=frozenset({"BEGIN", "DECLARE"}),
        transactions=frozenset("TRANSACTION WORK NAME ;".split()),
        marked=True,
        identifiers=True,
    ),
    types=SNOWFLAKE_TYPES,
    type_rules=TypeRules(
        functions=SNOWFLAKE_RULES,
        constants=SNOWFLAKE_CONSTANT_OPERATORS,
        table_functions={
            "FLATTEN": ("NUMBER(38,0)", "VARCHAR", "VARCHAR", "NUMBER(38,0)", "VARIANT", "VARIANT"),
            "EXPLODE": ("NUMBER(38,0)", "VARCHAR", "VARCHAR", "NUMBER(38,0)", "VARIANT", "VARIANT"),
            "SPLIT_TO_TABLE": ("NUMBER(38,0)", "NUMBER(38,0)", "VARCHAR"),
            "STRTOK_SPLIT_TO_TABLE": ("NUMBER(38,0)", "NUMBER(38,0)", "VARCHAR"),
        },
    ),
    signs=(
        QUALIFY.with_worth(2),
        build_sign("paths into VARIANT with a cast", r"[\w\"\])]:[a-z_]\w*(?:[.\[][\w'.\[\]]*)?::\s*[a-z]", 4, "::"),
        build_sign("VARIANT columns", r"\bVARIANT\b", 2, "variant"),
        build_sign(
            "LATERAL FLATTEN",
            r"\b(LATERAL|TABLE\s*\()\s*FLATTEN\s*\(|\bFLATTEN\s*\(\s*INPUT\b",
            3,
            "flatten lateralflatten",
        ),
        build_sign(
            "OBJECT_CONSTRUCT or TRY_TO_…",
            r"\b(OBJECT_CONSTRUCT|TRY_TO_\w+|TO_VARIANT|TRY_PARSE_JSON|ARRAY_CONSTRUCT\w*|BOOL(?:OR|AND)_AGG|UUID_STRING)\s*\(",
            2,
            "object_construct try_to_* to_variant try_parse_json array_construct* boolor_agg booland_agg uuid_string",
        ),
        build_sign("IFF or ZEROIFNULL", r"\b(IFF|ZEROIFNULL|DIV0)\s*\(", words="iff zeroifnull div0"),
        build_sign("TRANSIENT tables", r"\bTRANSIENT\s+TABLE\b|\bCOPY\s+GRANTS\b", 3, "transient&table copy&grants"),
        build_sign(
            "TIMESTAMP_NTZ",
            r"\b(?:TO_)?TIMESTAMP_(NTZ|LTZ|TZ)\b",
            2,
            "timestamp_ntz timestamp_ltz timestamp_tz to_timestamp_ntz to_timestamp_ltz to_timestamp_tz",
        ),
        build_sign(
            "stages, streams, tasks and warehouses",
            r"\bCREATE\s+(OR\s+REPLACE\s+)?(STAGE|STREAM|TASK|PIPE|WAREHOUSE|FILE\s+FORMAT|DYNAMIC\s+TABLE|NETWORK\s+RULE)\b",
            3,
            "create~stage replace~stage create~stream replace~stream create~task replace~task create~pipe "
            "replace~pipe create~warehouse replace~warehouse create~file~format replace~file~format "
            "create~dynamic~table replace~dynamic~table create~network~rule replace~network~rule",
        ),
        build_sign("COPY INTO from a stage", r"\bCOPY\s+INTO\b[^;]*\bFROM\s+@", 3, "copy&into&@"),
        build_sign(
            "USE WAREHOUSE or USE ROLE",
            r"^\s*USE\s+(?:WAREHOUSE|ROLE|SECONDARY)\b",
            3,
            "use~warehouse use~role use~secondary",
        ),
        build_sign(
            "ACCOUNT_USAGE",
            r"\bACCOUNT_USAGE\.\w|\bRESULT_SCAN\s*\(|\bTABLE\s*\(\s*GENERATOR\b",
            3,
            "account_usage result_scan table&generator",
        ),
        build_sign(
            "dbt settings of Snowflake",
            r"\b(?:snowflake_warehouse|query_tag|copy_grants|transient)\b['\"]?\s*[=:]",
            3,
            "snowflake_warehouse query_tag copy_grants transient",
        ),
        STAR_EXCLUDE,
        CASTS,
        CONVERT_TIMEZONE,
        DATE_PARTS_FIRST,
        IDENTITY_COLUMNS.with_worth(1),
        DOLLAR_QUOTES,
        IFNULL,
        NVL,
    ),
    path_words=frozenset({"snowflake"}),
    host_signs=(build_driver_sign("Snowflake", modules="snowflake", operators="Snowflake", scheme="snowflake"),),
)
