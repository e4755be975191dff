"""What the functions of DuckDB give."""

from lineage_pipeline.dialects.typing import duckdb_lists as lists
from lineage_pipeline.dialects.typing import duckdb_rules as rules
from lineage_pipeline.dialects.typing.arithmetic import Rule
from lineage_pipeline.dialects.typing.results import argument, array_of, exactly, negated, words

ALWAYS: dict[str, str] = {
    "VARCHAR": (
        "BASE64 TOBASE64 BIN CURRENTDATABASE ENUM_FIRST ENUM_LAST FORMATREADABLESIZE FORMAT_BYTES GROUPCONCAT HEX "
        "JSONEXTRACTSCALAR JSONTYPE JSON_PRETTY JSON_VALUE LEFT LISTAGG NFC_NORMALIZE OVERLAY PAD PARSE_FILENAME "
        "PARSE_DIRNAME PRINTF REGEXPEXTRACT REGEXPREPLACE REGEXP_ESCAPE REPEAT REPLACE REVERSE RIGHT SPLITPART "
        "STRIP_ACCENTS SUBSTRING TO_BASE TOBINARY TO_BINARY URL_DECODE URL_ENCODE USER SESSIONUSER CURRENTROLE "
        "CURRENTCATALOG"
    ),
    "BIGINT": (
        "CENTURY COUNT_STAR CURRVAL DAMERAU_LEVENSHTEIN DATE_SUB DATESUB DATE_DIFF DECADE EPOCH_NS EPOCH_US ERA "
        "GROUPING GROUPINGID GROUPING_ID HAMMING ISOYEAR LENGTH LENGTH_GRAPHEME LEVENSHTEIN MICROSECOND MILLENNIUM "
        "MILLISECOND MISMATCHES NANOSECOND NEXTVAL OCTET_LENGTH STRLEN STRPOSITION TIMEZONE_HOUR TIMEZONE_MINUTE "
        "WEEKDAY WEEKOFYEAR YEARWEEK LIST_COUNT RANK ROWNUMBER DENSERANK NTILE DATEDIFF"
    ),
    "HUGEINT": "BINOM COUNTIF FACTORIAL",
    "INTEGER": "ARRAY_INDEXOF ARRAYPOSITION BIT_POSITION LIST_INDEXOF LIST_POSITION ORD",
    "TINYINT": "SIGN BIT_COUNT BITWISECOUNT",
    "UINTEGER": "REGRCOUNT",
    "UBIGINT": "ARRAY_UNIQUE CARDINALITY HASH LIST_UNIQUE JSON_ARRAY_LENGTH TXID_CURRENT",
    "DOUBLE": (
        "CORR ENTROPY EVEN FAVG FDIV FMOD FSUM GAMMA GEOMEAN GEOMETRIC_MEAN JACCARD JARO_SIMILARITY "
        "JARO_WINKLER_SIMILARITY JULIAN KAHAN_SUM KURTOSIS KURTOSIS_POP LGAMMA PRODUCT REGRAVGX REGRAVGY "
        "REGRINTERCEPT REGRR2 REGRSLOPE REGRSXX REGRSXY REGRSYY SEM SUMKAHAN WAVG WEIGHTED_AVG POW"
    ),
    "BOOLEAN": (
        "ARRAYCONTAINS ARRAYCONTAINSALL ARRAYOVERLAPS ARRAY_HAS_ANY GLOB ISFINITE JSON_CONTAINS JSON_EXISTS "
        "JSON_VALID LIST_HAS_ALL MAP_CONTAINS PREFIX REGEXPFULLMATCH SIMILARTO SUFFIX ENDSWITH ANY ALL ESCAPE"
    ),
    "JSON": (
        "ARRAY_TO_JSON JSONARRAY JSONEXTRACT JSONOBJECT JSON_GROUP_ARRAY JSON_GROUP_OBJECT JSON_MERGE_PATCH "
        "JSON_QUOTE JSON_STRUCTURE ROW_TO_JSON TO_JSON"
    ),
    "INTERVAL": (
        "AGE TO_CENTURIES TO_DAYS TO_DECADES TO_HOURS TO_MICROSECONDS TO_MILLENNIA TO_MILLISECONDS TO_MINUTES "
        "TO_MONTHS TO_QUARTERS TO_SECONDS TO_WEEKS TO_YEARS"
    ),
    "TIMESTAMP WITH TIME ZONE": "CURRENTTIMESTAMP GET_CURRENT_TIMESTAMP MAKE_TIMESTAMPTZ NOW TRANSACTION_TIMESTAMP",
    "TIME WITH TIME ZONE": "CURRENTTIME",
    "TIMESTAMP": "LOCALTIMESTAMP TRY_STRPTIME",
    "TIME": "LOCALTIME",
    "DATE": "TODAY",
    "UUID": "UUID UUIDV4 UUIDV7",
    "BLOB": "FROMBASE64 UNHEX UNBIN FROM_BINARY ENCODE",
    "VARCHAR[]": "JSONKEYS REGEXPEXTRACTALL REGEXP_SPLIT_TO_ARRAY REGEXPSPLIT SPLIT STRINGTOARRAY STRUCT_KEYS",
    "BIGINT[]": "ARRAY_GRADE_UP GRADE_UP LIST_GRADE_UP",
    "FLOAT": "ARRAY_DISTANCE ARRAY_COSINE_SIMILARITY LIST_COSINE_SIMILARITY COSINEDISTANCE EUCLIDEANDISTANCE",
}
"""Types, and the functions that always give them."""

SAME = words(
    "BITWISEANDAGG BITWISEORAGG BITWISEXORAGG BITWISENOT MODE ARBITRARY ARRAYDISTINCT ARRAYFILTER ARRAYSORT "
    "ARRAYREVERSE ARRAYSLICE LIST_SORT LIST_REVERSE LIST_REVERSE_SORT LIST_SLICE LIST_SELECT LIST_WHERE LIST_RESIZE "
    "LIST_FILTER LIST_DISTINCT ARRAY_SORT ARRAY_RESIZE ARRAY_POP_BACK ARRAY_POP_FRONT ARRAY_SELECT ARRAY_WHERE "
    "LIST_INTERSECT ARRAYINTERSECT TRY STRUCTEXTRACT STRUCT_EXTRACT"
)
BITS = words("BITWISEAND BITWISEOR BITWISEXOR BITWISELEFTSHIFT BITWISERIGHTSHIFT")
CALLED = {"ADD()": "ADD", "SUBTRACT": "SUB", "MULTIPLY": "MUL", "DIVIDE": "INTDIV", "INTDIV": "INTDIV"}
LISTED = {f"LIST_{name.upper()}": name for name in lists.LISTED} | {"ARRAYMAX": "max", "ARRAYMIN": "min"}

ROWS: dict[str, Rule] = {
    **{op: exactly(kind) for kind, names in ALWAYS.items() for op in names.split()},
    **dict.fromkeys(SAME, argument(0)),
    **{op: rules.operator(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **{name: rules.operator(op) for name, op in CALLED.items()},
    **dict.fromkeys(BITS, rules.operator("ADD")),
    **{op: lists.listed(name) for op, name in LISTED.items()},
    **dict.fromkeys(words("COALESCE GREATEST LEAST IFNULL"), rules.widest),
    **dict.fromkeys(words("MIN MAX"), rules.extreme),
    **dict.fromkeys(words("ARGMIN ARGMAX"), rules.extreme_by),
    **dict.fromkeys(words("MEDIAN PERCENTILECONT"), rules.quantile),
    **dict.fromkeys(words("QUANTILE PERCENTILEDISC QUANTILE_DISC"), rules.discrete),
    **dict.fromkeys(words("CEIL FLOOR"), rules.whole),
    **dict.fromkeys(words("ROUND ROUND_EVEN ROUNDBANKERS"), rules.rounded),
    **dict.fromkeys(words("EXTRACT DATE_PART DATEPART"), rules.part),
    **dict.fromkeys(words("AVG MEAN"), rules.average),
    **dict.fromkeys(words("ARRAYAPPEND ARRAYPREPEND ARRAY_PUSH_BACK ARRAY_PUSH_FRONT"), lists.grown),
    **dict.fromkeys(words("ARRAYCONCAT LIST_CAT"), lists.merged),
    **dict.fromkeys(words("MAP_VALUES MAPVALUES ELEMENT_AT MAP_EXTRACT"), lists.values),
    **dict.fromkeys(words("TRANSFORM LIST_APPLY LIST_TRANSFORM ARRAY_TRANSFORM ARRAY_APPLY"), lists.transformed),
    **dict.fromkeys(
        words("ELEMENT EXPLODE UNNEST LIST_EXTRACT LIST_ELEMENT ARRAY_EXTRACT MAP_EXTRACT_VALUE"), lists.element
    ),
    **dict.fromkeys(words("LIST_AGGREGATE ARRAY_AGGREGATE LIST_AGGR ARRAY_AGGR AGGREGATE"), lists.aggregated),
    **dict.fromkeys(words("LIST_ZIP ARRAY_ZIP"), lists.zipped),
    **dict.fromkeys(words("ROW TUPLE"), lists.tuple_of),
    **dict.fromkeys(words("LIST_REDUCE ARRAY_REDUCE REDUCE"), lists.reduced),
    "ARRAY": rules.array,
    **dict.fromkeys(words("GCD LCM"), rules.divisor),
    "APPROXQUANTILE": rules.approximate,
    "MAP_CONCAT": lists.merged,
    "ARRAYAGG": array_of(0),
    "NEG": negated,
    "SUM": rules.total,
    "TRUNC": rules.truncated,
    "TIMESTAMPTRUNC": rules.date_truncated,
    "DATETRUNC": rules.date_truncated,
    "DATEBIN": rules.bucketed,
    "ATTIMEZONE": rules.zoned(0),
    "TIMEZONE": rules.zoned(1),
    "DATEADD": rules.shifted,
    "UNIXTOTIME": rules.from_epoch,
    "DPIPE": rules.joined,
    "CONCAT": rules.concatenated,
    "WITHINGROUP": rules.within,
    "MAPKEYS": lists.keys,
    "MAP_ENTRIES": lists.entries,
    "MAPFROMENTRIES": lists.from_entries,
    "HISTOGRAM": lists.counted,
    "ARRAY_VALUE": lists.sized,
    "FLATTEN": lists.flattened,
    "GENERATESERIES": lists.ranged,
    "TOMAP": lists.mapped,
    "COMPREHENSION": lists.comprehended,
}
"""What DuckDB's functions give; the common rows hold for the rest."""

CONSTANTS = (
    words(
        "ADD() SUBTRACT MULTIPLY DIVIDE INTDIV ARRAY COALESCE GREATEST LEAST IFNULL DATEPART NEG LIST_AGGREGATE "
        "ARRAY_AGGREGATE UNIXTOTIME PERCENTILEDISC PERCENTILECONT"
    )
    | BITS
)
"""Operators whose type depends on the values of constants, too."""
