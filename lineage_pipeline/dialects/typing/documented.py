"""What the manuals of engines say of the functions that always give one type, or that of their first argument."""

from lineage_pipeline.dialects.typing.arithmetic import Rule
from lineage_pipeline.dialects.typing.results import argument, element, exactly, key, values, words

ALWAYS: dict[str, dict[str, str]] = {
    "trino": {
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
    },
    "mysql": {
        "VARCHAR": "REVERSE CONV BIN OCT SOUNDEX EXPORT_SET",
        "TIME": "TIMEDIFF SEC_TO_TIME",
        "DATE": "MAKEDATE",
        "JSON": "JSON_ARRAY JSON_ARRAYAGG JSON_OBJECTAGG JSON_MERGE_PATCH JSON_MERGE_PRESERVE JSON_SEARCH",
        "INT": "JSON_LENGTH JSON_DEPTH JSON_CONTAINS JSON_VALID WEEKDAY YEARWEEK STRCMP MICROSECOND",
        "BIGINT": "TIME_TO_SEC PERIOD_DIFF",
    },
    "oracle": {
        "NUMBER": "VSIZE GROUPING REMAINDER",
        "VARCHAR2": "JSON_QUERY TZ_OFFSET SOUNDEX NLS_UPPER NLS_LOWER NLS_INITCAP",
        "XMLTYPE": "XMLAGG",
        "TIMESTAMP": "SYS_EXTRACT_UTC",
        "DATE": "DATETRUNC",
    },
    "redshift": {
        "VARCHAR": "JSON_SERIALIZE LOWERHEX TIMEOFDAY",
        "INTEGER": "GET_ARRAY_LENGTH DATE_PART_YEAR OCTET_LENGTH PG_BACKEND_PID",
        "BOOLEAN": "ISARRAY IS_OBJECT IS_SCALAR IS_INTEGER IS_VARCHAR",
        "BIGINT": "FROMBASE HLL",
        "DOUBLE PRECISION": "DEXP RATIO_TO_REPORT",
    },
    "snowflake": {
        "VARIANT": "STRIPNULLVALUE",
        "FLOAT": "REGRSLOPE REGRINTERCEPT REGRR2 CORR COVARPOP COVARSAMP HAVERSINE STDISTANCE",
        "NUMBER(38,0)": "ARRAYPOSITION",
        "NUMBER(18,0)": "HLL",
    },
    "bigquery": {"ARRAY<STRING>": "JSONKEYSATDEPTH"},
    "tsql": {"BIGINT": "BIT_COUNT"},
}
"""By family: types, and the functions that always give them."""

SAME: dict[str, str] = {
    "trino": "ARRAYFILTER ARRAYSLICE ARRAYSORT ARRAY_UNION ARRAYINTERSECT ARRAYEXCEPT MAP_FILTER MAP_UNION MAP_CONCAT "
    "SHUFFLE TRY",
    "redshift": "BITWISEANDAGG BITWISEORAGG",
    "bigquery": "PERCENTILEDISC",
    "tsql": "LEFT_SHIFT RIGHT_SHIFT",
    "oracle": "NANVL",
}
"""By family: functions that give the type of their first argument."""

ELEMENTS: dict[str, str] = {"trino": "ARRAYMAX ARRAYMIN FLATTEN", "bigquery": "ARRAYFIRST ARRAYLAST"}
"""By family: functions that give an element of an array."""

MAPS: dict[str, Rule] = {"MAPKEYS": key, "MAP_VALUES": values}


def documented(family: str) -> dict[str, Rule]:
    """What is known of the functions of a family."""
    return {
        **{op: exactly(kind) for kind, names in ALWAYS.get(family, {}).items() for op in names.split()},
        **dict.fromkeys(words(SAME.get(family, "")), argument(0)),
        **dict.fromkeys(words(ELEMENTS.get(family, "")), element),
        **(MAPS if family == "trino" else {}),
    }
