"""Nulls: which operators and functions may give null, as rows; whatever has no row may."""

import msgspec

from lineage_pipeline.dialects.typing.results import words


class Nulls(msgspec.Struct, frozen=True):
    """Operators that never give null, that do where every argument is null, and that do only where one is.

    `reads` are those of the last that read their first argument as a type, which may fail, unless a format says how
    (`formatted`); `fails_on` are the types that others cannot always read, and `parts` those operators that read their
    second argument as a type that the first one tells; `converts` are those that may have to convert any of their
    arguments. Some are of the last only where they work on intervals (`of_spans`). In some, certain arguments decide
    alone (`by_argument`). Where `recursion`, whatever comes out of a recursion may be null.
    """

    never: frozenset[str]
    where_all: frozenset[str]
    where_any: frozenset[str]
    by_argument: dict[str, tuple[int, ...]] = {}
    reads: dict[str, str] = {}
    formatted: frozenset[str] = frozenset()
    fails_on: dict[str, frozenset[str]] = {}
    parts: dict[str, dict[str, str]] = {}
    converts: frozenset[str] = frozenset()
    of_spans: frozenset[str] = frozenset()
    recursion: bool = False


_NEVER = words("COUNT COUNT_BIG COUNTIF APPROXDISTINCT ROWNUMBER RANK DENSERANK NTILE IS EXISTS GROUPING")
_ALL = words("COALESCE IFNULL GREATEST LEAST NVL ISNULL")
_ANY = words(
    "ADD SUB MUL AND OR NOT NEG EQ NEQ GT GTE LT LTE LIKE ILIKE UPPER LOWER TRIM CONCAT ABS ROUND DATEDIFF "
    "DATEADD DATESUB SUBSTRING LENGTH REPLACE YEAR MONTH DAY CEIL FLOOR EXTRACT DATETRUNC TIMESTRTOTIME "
    "TSORDSTODATE TIMESTAMPTRUNC DPIPE"
)
_WRAPPERS: dict[str, tuple[int, ...]] = dict.fromkeys(
    "FILTER DISTINCT ORDER WITHINGROUP IGNORENULLS RESPECTNULLS LIMIT PAREN".split(), (0,)
)

GENERAL = Nulls(_NEVER, _ALL, _ANY, _WRAPPERS)
"""What holds in most engines."""

_SPARK_NEVER = words(
    "COUNT COUNTIF APPROXDISTINCT ROWNUMBER RANK DENSERANK NTILE CUMEDIST PERCENTRANK IS GROUPING GROUPINGID "
    "GROUPING_ID ARRAY ARRAYAGG ARRAYUNIQUEAGG COLLECT_LIST COLLECT_SET COUNT_MIN_SKETCH EQUALNULL HASH "
    "HLL_SKETCH_AGG ISNAN ISNOTNULL ISNULL NULLSAFEEQ NULLSAFENEQ REGRCOUNT STRUCT TUPLE TYPEOF VARMAP XXHASH64 "
    "ZEROIFNULL RAND RANDN UUID PI E CURRENTCATALOG CURRENTDATABASE CURRENTDATE CURRENTTIMESTAMP CURRENTTIMEZONE "
    "CURRENTUSER SESSIONUSER USER VERSION NOW LOCALTIMESTAMP INPUT_FILE_NAME MONOTONICALLY_INCREASING_ID "
    "SPARK_PARTITION_ID HEXSTRING RANDSTR UNIFORM"
)
_SPARK_ANY = words(
    "MAP ESCAPE STRTODATE ADD SUB MUL AND OR NOT NEG EQ NEQ GT GTE LT LTE LIKE BETWEEN IN UPPER LOWER TRIM CONCAT "
    "ABS NEGATIVE POSITIVE ARRAYAPPEND ARRAYCOMPACT ARRAYDISTINCT ARRAYEXCEPT ARRAYINSERT ARRAYINTERSECT "
    "ARRAYPOSITION ARRAYPREPEND ARRAYREMOVE ARRAYSIZE ARRAYSLICE ARRAYSORT ARRAYSZIP ARRAY_UNION CARDINALITY "
    "GENERATESERIES MAPFROMENTRIES MAPKEYS MAP_CONCAT MAP_ENTRIES MAP_VALUES SHUFFLE "
    "STRTOMAP ASCII BITLENGTH COLLATION CONTAINS CRC32 FIND_IN_SET FROMBASE64 INITCAP LENGTH LEVENSHTEIN "
    "MD5 OCTET_LENGTH OVERLAY PAD REGEXPCOUNT REGEXPEXTRACT REGEXPEXTRACTALL REGEXPINSTR REGEXPLIKE REGEXPREPLACE "
    "REGEXPSPLIT REPEAT REPLACE REVERSE SHA SOUNDEX STARTSWITH STRPOSITION SUBSTRING SUBSTRINGINDEX TOBASE64 "
    "TRANSLATE DPIPE BINARY SCHEMA_OF_JSON PARSEJSON IS_VARIANT_NULL TOCHAR TONUMBER INTERVAL INTERVALSPAN "
    "MAKEINTERVAL MAKE_DT_INTERVAL MAKE_YM_INTERVAL MAKE_DATE MAKE_TIMESTAMP_NTZ TIMESTAMPFROMPARTS "
    "CONVERTTIMEZONE DATE_PART EXTRACT FROM_CSV NANVL GETBIT STRTOTIME WINDOW PROPERTYEQ KWARG IDENTIFIER "
    "STRTOUNIX LEFT ENDSWITH BTRIM ARRAYTOSTRING TIMESTRTOTIME TIMETOSTR BITWISEAND BITWISEOR BITWISEXOR "
    "TO_TIMESTAMP_NTZ TO_TIMESTAMP_LTZ ILIKE"
)
_SPARK_READS = {
    **dict.fromkeys(
        words(
            "YEAR MONTH DAY QUARTER DAYOFWEEK DAYOFMONTH DAYOFYEAR WEEKOFYEAR WEEKDAY LASTDAY DAYNAME MONTHNAME "
            "DATEDIFF ADDMONTHS TSORDSADD DATEADD DATESUB UNIXDATE TSORDSTODATE TRY_TO_DATE"
        ),
        "DATE",
    ),
    **dict.fromkeys(
        words(
            "HOUR TSORDSTOTIMESTAMP MINUTE SECOND TIMETOSTR MONTHSBETWEEN TIMESTAMPADD TIMESTAMPDIFF UNIXMICROS "
            "UNIXMILLIS UNIXSECONDS ATTIMEZONE FROMTIMEZONE TRY_TO_TIMESTAMP"
        ),
        "TIMESTAMP",
    ),
    "TO_TIMESTAMP_NTZ": "TIMESTAMP_NTZ",
    "TO_TIMESTAMP_LTZ": "TIMESTAMP",
    **dict.fromkeys(
        words(
            "BIN CHR DATEFROMUNIXDATE SPACE TIMESTAMP_MICROS TIMESTAMP_MILLIS BITWISENOT "
            " BITWISELEFTSHIFT BITWISERIGHTSHIFT BITWISECOUNT"
        ),
        "BIGINT",
    ),
    "TIMESTAMP_SECONDS": "DECIMAL(38,10)",
    "NOT": "BOOLEAN",
    "HEX": "STRING",
    **{
        kind: kind
        for kind in ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP")
    },
    "DECIMAL": "DECIMAL(10,0)",
}

_FAILS_ON = {
    **dict.fromkeys(words("ABS NEG NEGATIVE POSITIVE ATAN2 HYPOT POW"), words("STRING")),
    "TOCHAR": words("STRING FLOAT DOUBLE"),
}

_DAYS = words(
    "YEAR Y YEARS YR YRS YEAROFWEEK QUARTER QTR MONTH MON MONS MONTHS WEEK W WEEKS DAY D DAYS DAYOFWEEK DOW "
    "DAYOFWEEK_ISO DOW_ISO DOY"
)
"""The parts of a moment that its day tells."""

SPARK = Nulls(
    _SPARK_NEVER,
    _ALL - {"ISNULL"},
    _SPARK_ANY | frozenset(_SPARK_READS) | frozenset(_FAILS_ON),
    {
        **_WRAPPERS,
        **dict.fromkeys(
            "FORMAT PRINTF FORMAT_STRING CONCATWS TRANSFORM ARRAYFILTER TRANSFORM_KEYS TRANSFORM_VALUES "
            "MAP_FILTER".split(),
            (0,),
        ),
        "ZIP_WITH": (0, 1),
        "MAP_ZIP_WITH": (0, 1),
        "ARRAY_REPEAT": (1,),
    },
    _SPARK_READS,
    words("TSORDSTODATE TO_TIMESTAMP_NTZ TO_TIMESTAMP_LTZ"),
    _FAILS_ON,
    dict.fromkeys(("EXTRACT", "DATE_PART"), dict.fromkeys(_DAYS, "DATE")),
    words("ADD SUB MUL DIV EQ NEQ GT GTE LT LTE BETWEEN IN AND OR BITWISEAND BITWISEOR BITWISEXOR"),
    words("DIV"),
    recursion=True,
)
"""What Spark's analyser says."""

NULLS: dict[str, Nulls] = {"spark": SPARK}
"""The families that have rows of their own."""
