"""Nullability: which operators and functions may return null; whatever has no row may."""

import msgspec

from lineage_pipeline.dialects.types.common_rules import split_names


class NullRules(msgspec.Struct, frozen=True):
    """When the result of each operator may be null, in one family; an operator without a row always may be."""

    never: frozenset[str]
    """Operators whose result is never null: COUNT."""
    where_all: frozenset[str]
    """Operators whose result is null only where every argument is: COALESCE."""
    where_any: frozenset[str]
    """Operators whose result is null only where an argument is, or a conversion fails: UPPER."""
    by_argument: dict[str, tuple[int, ...]] = {}
    """Operators whose result is null only where one of these arguments, by position, is."""
    reads: dict[str, str] = {}
    """Operators of `where_any` that convert their first argument to this type, which may fail and give null."""
    formatted: frozenset[str] = frozenset()
    """Operators of `reads` whose conversion cannot give null where a second argument is the format."""
    fails_on: dict[str, frozenset[str]] = {}
    """Operators of `where_any` that give null for some values of a first argument of these types."""
    parts: dict[str, dict[str, str]] = {}
    """Operators of `where_any` that convert their second argument to the type that the unit in the first needs."""
    converts: frozenset[str] = frozenset()
    """Operators of `where_any` that may have to convert any of their arguments."""
    of_spans: frozenset[str] = frozenset()
    """Operators that belong to `where_any` only where their first argument is an interval."""
    recursion: bool = False
    """Every column of a recursive CTE may be null."""


_NEVER_NULL = split_names(
    "COUNT COUNT_BIG COUNTIF APPROXDISTINCT ROWNUMBER RANK DENSERANK NTILE IS EXISTS GROUPING NULLSAFEEQ NULLSAFENEQ "
    "ZEROIFNULL"
)
_NULL_IF_ALL = split_names("COALESCE IFNULL GREATEST LEAST NVL ISNULL")
_NULL_IF_ANY = split_names(
    "ADD SUB MUL AND OR NOT NEG EQ NEQ GT GTE LT LTE LIKE ILIKE UPPER LOWER TRIM CONCAT ABS ROUND DATEDIFF "
    "DATEADD DATESUB SUBSTRING LENGTH REPLACE YEAR MONTH DAY CEIL FLOOR EXTRACT DATETRUNC TIMESTRTOTIME "
    "TSORDSTODATE TIMESTAMPTRUNC DPIPE"
)
_WRAPPER_FUNCTIONS: dict[str, tuple[int, ...]] = dict.fromkeys(
    "FILTER DISTINCT ORDER WITHINGROUP IGNORENULLS RESPECTNULLS LIMIT PAREN".split(), (0,)
)

GENERAL_NULL_RULES = NullRules(_NEVER_NULL, _NULL_IF_ALL, _NULL_IF_ANY, _WRAPPER_FUNCTIONS)
"""What holds in most engines."""

_SPARK_NEVER_NULL = split_names(
    "COUNT COUNTIF APPROXDISTINCT ROWNUMBER RANK DENSERANK NTILE CUMEDIST PERCENTRANK IS GROUPING GROUPINGID "
    "GROUPING_ID ARRAY ARRAYAGG ARRAYUNIQUEAGG COLLECT_LIST COLLECT_SET COUNT_MIN_SKETCH EQUALNULL HASH "
    "HLL_SKETCH_AGG ISNAN ISNOTNULL ISNULL NULLSAFEEQ NULLSAFENEQ REGRCOUNT STRUCT TUPLE TYPEOF VARMAP XXHASH64 "
    "ZEROIFNULL RAND RANDN UUID PI E CURRENTCATALOG CURRENTDATABASE CURRENTDATE CURRENTTIMESTAMP CURRENTTIMEZONE "
    "CURRENTUSER SESSIONUSER USER VERSION NOW LOCALTIMESTAMP INPUT_FILE_NAME MONOTONICALLY_INCREASING_ID "
    "SPARK_PARTITION_ID HEXSTRING RANDSTR UNIFORM RAWSTRING CURRENT_PATH CURRENTSCHEMA CURRENTTIME LOCALTIME "
    "INPUT_FILE_BLOCK_LENGTH INPUT_FILE_BLOCK_START APPROXTOPK COLLECT_UNION IS_VARIANT_NULL BITMAP_CONSTRUCT_AGG "
    "SCHEMA_OF_VARIANT_AGG HLL_UNION_AGG"
)
_SPARK_NULL_IF_ANY = split_names(
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
_SPARK_READ_TYPES = {
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
    _SPARK_NEVER_NULL,
    _NULL_IF_ALL - {"ISNULL"},
    _SPARK_NULL_IF_ANY | frozenset(_SPARK_READ_TYPES) | frozenset(_UNREADABLE_TYPES),
    {
        **_WRAPPER_FUNCTIONS,
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
    _SPARK_READ_TYPES,
    split_names("TSORDSTODATE TO_TIMESTAMP_NTZ TO_TIMESTAMP_LTZ"),
    _UNREADABLE_TYPES,
    dict.fromkeys(("EXTRACT", "DATE_PART", "DATEPART"), dict.fromkeys(_DAY_PARTS, "DATE")),
    split_names("ADD SUB MUL DIV EQ NEQ GT GTE LT LTE BETWEEN IN AND OR BITWISEAND BITWISEOR BITWISEXOR"),
    split_names("DIV"),
    recursion=True,
)
"""The rules of Spark's analyzer."""

FAMILY_NULL_RULES: dict[str, NullRules] = {"spark": SPARK_NULL_RULES}
"""Families that have rules of their own."""
