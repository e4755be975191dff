"""Redshift: lateral aliases, paths into SUPER, system tables, types and signs; psql and PL/pgSQL as in PostgreSQL."""

from lineage_pipeline.dialects.dialect import DialectTraits, UnaliasedNaming
from lineage_pipeline.dialects.postgres import PLPGSQL, POSTGRES_VALUE_KEYWORDS, PSQL
from lineage_pipeline.dialects.signs import (
    CASTS,
    CONVERT_TIMEZONE,
    DATE_PARTS_FIRST,
    DOLLAR_QUOTES,
    IDENTITY_COLUMNS,
    NVL,
    PG_CATALOG,
    PLPGSQL_BODIES,
    POSTGRES_DRIVERS,
    PSQL_COMMANDS,
    QUALIFY,
    SYSTEM_DATE,
    TIME_ZONE_TYPES,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.system_catalogs import STANDARD_SCHEMAS, SystemCatalog
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule
from lineage_pipeline.dialects.types.common_rules import (
    argument_rule,
    argument_type_name,
    fixed_rule,
    fixed_rules,
    infer_same_decimal,
    split_names,
    sum_rule,
)
from lineage_pipeline.dialects.types.conversions import LENIENT_PAIRS, build_uniform_conversions
from lineage_pipeline.dialects.types.decimals import DEFAULT_PRECISION_LIMIT, EXACT_DIGIT_RULES, Digits
from lineage_pipeline.dialects.types.families import UNPARAMETERIZED_TYPES, TypeFamily
from lineage_pipeline.dialects.types.nullability import NULL_SKIPPING_RULES
from lineage_pipeline.dialects.types.shapes import parse_type_shape
from lineage_pipeline.dialects.types.type_rules import TypeRules

# ── result types of operators and functions ───────────────────────────────────────────────────────────────────────────


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


def infer_redshift_moment(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATEADD and DATE_TRUNC of Redshift: a date becomes a moment."""
    name = argument_type_name(types)
    return family.timestamp if name == family.date or name in family.strings else types[0] if types else None


def infer_redshift_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG of Redshift: of integers a long one, of decimals as many digits as there can be."""
    return sum_rule(38, family.bigint)(family, types, texts)


def infer_redshift_median(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """MEDIAN and PERCENTILE_CONT of Redshift: exact numbers are decimals, floating ones and moments stay."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    if shape.name == family.decimal or shape.name in family.integers:
        return types[0] if shape.name == family.decimal else family.decimal
    return family.double if shape.name == family.real else shape.name or None


DOCUMENTED_TYPES: dict[str, str] = {
    "VARCHAR": "JSON_SERIALIZE LOWERHEX TIMEOFDAY SOUNDEX CRC32",
    "INTEGER": "DATE_PART_YEAR OCTET_LENGTH PG_BACKEND_PID DIFFERENCE CHECKSUM DENSERANK",
    "BOOLEAN": "ISARRAY IS_OBJECT IS_SCALAR IS_INTEGER IS_VARCHAR CAN_JSON_PARSE",
    "BIGINT": "FROMBASE HLL GET_ARRAY_LENGTH",
    "DOUBLE PRECISION": "DEXP RATIO_TO_REPORT ATAN2",
    "DATE": "NEXTDAY NEXT_DAY",
    "SUPER": "ARRAY_FLATTEN ARRAYFLATTEN FLATTEN",
    "VARBYTE": "FROM_HEX UNHEX TO_VARBYTE JSON_SERIALIZE_TO_VARBYTE",
}
"""Types, and the functions whose manual says that they always return them; the rules below come first."""

REDSHIFT_RULES: dict[str, TypeRule] = {
    **fixed_rules(DOCUMENTED_TYPES),
    **dict.fromkeys(split_names("BITWISEANDAGG BITWISEORAGG"), argument_rule(0)),
    **fixed_rules(
        {
            "INTEGER": "EXTRACT GROUPING STRPOSITION LENGTH ASCII REGEXPCOUNT REGEXPINSTR DATE_CMP JSON_ARRAY_LENGTH",
            "BIGINT": "DATEDIFF TSORDSDIFF TIMESTAMPDIFF COUNT FNV_HASH STRTOL FARMFINGERPRINT",
            "VARCHAR": (
                "JSONEXTRACTSCALAR JSON_EXTRACT_PATH_TEXT JSON_EXTRACT_ARRAY_ELEMENT_TEXT QUOTE_IDENT QUOTE_LITERAL "
                "REGEXPEXTRACT REGEXPREPLACE REPLACE PAD TOCHAR TIMETOSTR CURRENTDATABASE INITCAP REVERSE SPLITPART "
                "REGEXP_SUBSTR FUNC_SHA1 TRANSLATE"
            ),
            "BOOLEAN": "IS_VALID_JSON IS_VALID_JSON_ARRAY PG_TABLE_IS_VISIBLE HAS_TABLE_PRIVILEGE",
            "DATE": "LASTDAY TO_DATE CURRENTDATE STRTODATE",
            "TIMESTAMP": "CURRENTTIMESTAMP SYSDATE GETDATE TO_TIMESTAMP CONVERTTIMEZONE",
            "DOUBLE PRECISION": "STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP SQRT POW EXP LN LOG MONTHSBETWEEN",
        }
    ),
    **dict.fromkeys(split_names("TSORDSADD DATEADD TIMESTAMPTRUNC DATETRUNC ADDMONTHS"), infer_redshift_moment),
    **dict.fromkeys(split_names("FLOOR CEIL ROUND"), infer_same_decimal),
    "TRUNC": lambda family, types, texts: (
        family.date if argument_type_name(types).startswith("TIMESTAMP") else infer_same_decimal(family, types, texts)
    ),
    "SUM": sum_rule(38, "BIGINT"),
    "AVG": infer_redshift_avg,
    "MEDIAN": infer_redshift_median,
    "PERCENTILECONT": lambda family, types, texts: None,
    "WITHINGROUP": lambda family, types, texts: types[0] or infer_redshift_median(family, types[1:], texts),
    "SIGN": lambda family, types, texts: (
        family.numeric(1, 0) if argument_type_name(types) == family.decimal else argument_rule(0)(family, types, texts)
    ),
    "TIMEZONE": lambda family, types, texts: (
        family.timestamp if argument_type_name(types, 1) == family.zoned else family.zoned
    ),
    "PARSEJSON": fixed_rule("SUPER"),
}


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

REDSHIFT_TYPES = TypeFamily(
    name="redshift",
    integers=("SMALLINT", "INTEGER", "BIGINT"),
    digits=(5, 10, 19),
    integer="INTEGER",
    bigint="BIGINT",
    decimal="DECIMAL",
    real="REAL",
    double="DOUBLE PRECISION",
    string="VARCHAR",
    boolean="BOOLEAN",
    binary="VARBYTE",
    zoned="TIMESTAMPTZ",
    aliases={"INT": "INTEGER", "NUMERIC": "DECIMAL", "FLOAT8": "DOUBLE PRECISION", "FLOAT": "DOUBLE PRECISION"},
    strings=("CHAR", "VARCHAR", "TEXT", "BPCHAR"),
    days="INTEGER",
    numbered=False,
    results=UNPARAMETERIZED_TYPES,
    compute_digits=redshift_digits,
    conversions=build_uniform_conversions(LENIENT_PAIRS, INTERVAL="", ARRAY=""),
)


# ── the dialect ───────────────────────────────────────────────────────────────────────────────────────────────────────

REDSHIFT = DialectTraits(
    name="redshift",
    family="redshift",
    naming=UnaliasedNaming.FUNCTION,
    uses_catalog=True,
    lateral_alias=True,
    implicit_unnest=True,
    short_insert=True,
    row_values=True,
    fixes_views=True,
    short_lists=True,
    value_keywords=POSTGRES_VALUE_KEYWORDS | {"SYSDATE", "LEVEL"},
    table_pseudo_columns=frozenset({"OID", "CTID"}),
    system_catalog=SystemCatalog(
        schemas=STANDARD_SCHEMAS | {"pg_catalog", "pg_toast", "pg_internal"},
        prefixes=("pg_", "stl_", "stv_", "svl_", "svv_", "svcs_", "sys_"),
    ),
    client_commands=PSQL,
    procedural=PLPGSQL,
    types=REDSHIFT_TYPES,
    type_rules=TypeRules(functions=REDSHIFT_RULES, nulls=NULL_SKIPPING_RULES),
    signs=(
        build_sign("DISTKEY, SORTKEY or DISTSTYLE", r"\b(DISTKEY|SORTKEY|DISTSTYLE)\b", 3, "distkey sortkey diststyle"),
        build_sign(
            "system tables such as STL_QUERY",
            r"\b(?:STL|STV|SVV|SVL|SVCS)_[A-Z]\w+",
            3,
            "stl_* stv_* svv_* svl_* svcs_*",
        ),
        build_sign("UNLOAD ('…')", r"\bUNLOAD\s*\(\s*'", 3, "unload"),
        build_sign(
            "IAM_ROLE or CREDENTIALS of COPY",
            r"\bIAM_ROLE\s+(?:AS\s+)?(?:'|DEFAULT\b)|\bCREDENTIALS\s+(?:AS\s+)?'aws_",
            3,
            "iam_role credentials",
        ),
        build_sign(
            "column encodings",
            r"\bENCODE\s+(?:ZSTD|LZO|AZ64|BYTEDICT|RUNLENGTH|MOSTLY\d+|DELTA|RAW|TEXT\d+)\b",
            3,
            "encode",
        ),
        build_sign(
            "WITH NO SCHEMA BINDING",
            r"\bNO\s+SCHEMA\s+BINDING\b|\bAPPROXIMATE\s+COUNT\b",
            4,
            "schema&binding approximate&count",
        ),
        build_sign("dbt settings of Redshift", r"\b(?:dist|sort|sort_type)\s*=\s*['\"\[]", 3, "dist sort sort_type"),
        build_sign("JSON_EXTRACT_PATH_TEXT", r"\bJSON_EXTRACT_PATH_TEXT\s*\(", 2, "json_extract_path_text"),
        PSQL_COMMANDS.with_worth(2),
        PLPGSQL_BODIES,
        PG_CATALOG,
        DOLLAR_QUOTES,
        CASTS,
        TIME_ZONE_TYPES,
        CONVERT_TIMEZONE,
        DATE_PARTS_FIRST,
        IDENTITY_COLUMNS,
        SYSTEM_DATE,
        QUALIFY,
        NVL,
    ),
    path_words=frozenset({"redshift"}),
    host_signs=(
        build_driver_sign("Redshift", modules="redshift_connector", operators="Redshift", scheme="redshift"),
        POSTGRES_DRIVERS.with_worth(1),
    ),
)
