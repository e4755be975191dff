"""What functions do to a value, by name: mask it, read files, generate rows, or change with every call."""

MASKING_FUNCTIONS = frozenset(
    "MD5 MD5_DIGEST MD5_BINARY MD5_HEX SHA SHA1 SHA1_DIGEST SHA2 SHA2_DIGEST SHA224 SHA256 SHA384 SHA512 HASH "
    "HASHBYTES CHECKSUM BINARY_CHECKSUM FARM_FINGERPRINT FARMFINGERPRINT XXHASH64 MURMUR_HASH ORA_HASH "
    "STANDARD_HASH FNV_HASH CITYHASH64 COUNT COUNTIF COUNT_IF COUNT_BIG APPROXDISTINCT APPROX_COUNT_DISTINCT "
    "APPROX_COUNT_DISTINCT_DS_HLL APPROX_COUNT_DISTINCT_DS_THETA "
    "APPROX_DISTINCT HLL MASK ENCRYPT AES_ENCRYPT CRC32 CRC32C XXHASH32 MINHASH MD5DIGEST SHA1DIGEST SHA2DIGEST "
    "MD5_NUMBER MD5_NUMBER_LOWER MD5_NUMBER_UPPER MD5NUMBERLOWER64 MD5NUMBERUPPER64 SHA1_HEX SHA1_BINARY SHA2_HEX "
    "SHA2_BINARY DIGEST HMAC CRYPT HASHTEXT HASHTEXTEXTENDED STANDARDHASH FARM_HASH SIPHASH64 "
    "UNIQ UNIQEXACT UNIQCOMBINED UNIQCOMBINED64 UNIQHLL12 UNIQTHETA".split()
)

FILE_FUNCTIONS = frozenset(
    "S3 S3CLUSTER FILE URL HDFS GCS OSS COSN AZUREBLOBSTORAGE READ_CSV READCSV READ_CSV_AUTO READ_PARQUET READPARQUET "
    "PARQUET_SCAN READ_JSON READ_JSON_AUTO READ_NDJSON READ_NDJSON_AUTO READ_TEXT READ_BLOB READ_XLSX READ_FILES "
    "CLOUD_FILES OPENROWSET ICEBERG_SCAN DELTA_SCAN".split()
)
"""Functions that read the file whose address is their first string."""

ADDRESS_ARGUMENTS = ("path", "uri", "url", "file_path")
"""Names of the address among named arguments: `files('path' = 's3://…')`."""

COUNT_FUNCTIONS = frozenset({"COUNT", "COUNTIF", "APPROXDISTINCT"})

VOLATILE_FUNCTIONS = frozenset(
    "RAND RANDOM RANDN UUID NEWID GEN_RANDOM_UUID GENERATE_UUID CURRENTTIMESTAMP CURRENTDATE CURRENTTIME "
    "CURRENTDATETIME GETDATE SYSDATETIME SYSDATE NOW GETUTCDATE SYSUTCDATETIME CURRENTUSER SESSIONUSER".split()
)

RANKING_FUNCTIONS = frozenset(
    "ROWNUMBER ROW_NUMBER RANK DENSE_RANK DENSERANK NTILE PERCENTRANK PERCENT_RANK CUMEDIST CUME_DIST".split()
)

ROW_GENERATORS = frozenset(
    "UNNEST EXPLODE EXPLODEOUTER EXPLODE_OUTER POSEXPLODE POSEXPLODEOUTER POSEXPLODE_OUTER INLINE INLINE_OUTER "
    "FLATTEN STACK JSON_TUPLE GENERATESERIES EXPLODINGGENERATESERIES GENERATE_SERIES GENERATEDATEARRAY STRING_SPLIT "
    "OPENJSON SPLIT_TO_TABLE STRTOK_SPLIT_TO_TABLE JSON_TABLE JSONTABLE XMLTABLE JSON_EACH JSONB_EACH JSON_EACH_TEXT "
    "JSONB_EACH_TEXT JSON_ARRAY_ELEMENTS JSONB_ARRAY_ELEMENTS JSON_ARRAY_ELEMENTS_TEXT JSONB_ARRAY_ELEMENTS_TEXT "
    "JSON_OBJECT_KEYS JSONB_OBJECT_KEYS JSON_TO_RECORD JSONB_TO_RECORD JSON_TO_RECORDSET JSONB_TO_RECORDSET "
    "JSON_POPULATE_RECORD JSONB_POPULATE_RECORD JSON_POPULATE_RECORDSET JSONB_POPULATE_RECORDSET "
    "JSONB_PATH_QUERY REGEXP_SPLIT_TO_TABLE REGEXP_MATCHES STRING_TO_TABLE GENERATE_SUBSCRIPTS GENERATOR RANGE "
    "NUMBERS ZEROS VARIANT_EXPLODE VARIANT_EXPLODE_OUTER ARRAYJOIN OPENXML CONTAINSTABLE FREETEXTTABLE "
    "RESULT_SCAN INFER_SCHEMA EXPLODE_SPLIT EXPLODE_SPLIT_OUTER EXPLODE_NUMBERS EXPLODE_BITMAP EXPLODE_MAP "
    "EXPLODE_JSON_OBJECT EXPLODE_JSON_ARRAY_INT EXPLODE_JSON_ARRAY_DOUBLE EXPLODE_JSON_ARRAY_STRING "
    "EXPLODE_JSON_ARRAY_JSON EXPLODE_VARIANT_ARRAY UNNEST_BITMAP SUBDIVIDE_BITMAP JSON_TO_ARRAY EXTERN".split()
)

NAVIGATION_FUNCTIONS = frozenset("LAG LEAD FIRSTVALUE LASTVALUE NTHVALUE".split())
"""Window functions that return a value of another row; sqlglot counts them among the aggregates."""

PATH_PRESERVING_FUNCTIONS = ROW_GENERATORS | frozenset(
    "JSONEXTRACT JSONEXTRACTSCALAR JSONBEXTRACT JSONBEXTRACTSCALAR GETEXTRACT JSONVALUE JSON_QUERY PARSEJSON "
    "TRY_PARSE_JSON FROMJSON FROM_JSON JSONCAST COALESCE NVL IFNULL NULLIF ARRAYAGG ARRAYUNIQUEAGG COLLECT_LIST "
    "COLLECT_SET ARRAYCONCATAGG ANYVALUE FIRST LAST MIN MAX ARGMAX ARGMIN LAG LEAD FIRSTVALUE LASTVALUE NTHVALUE "
    "ELEMENT ARRAYCONCAT ARRAYREVERSE ARRAYDISTINCT SORTARRAY ARRAYSLICE ARRAY TO_VARIANT TO_OBJECT JSON ARRAYFILTER "
    "FILTER PRIOR CONNECTBYROOT ARRAYCOMPACT ARRAY_SORT LISTFILTER LIST_FILTER".split()
)
"""Functions after which a path still leads into the column they are given."""

PAIR_FUNCTIONS = frozenset(
    "OBJECT_CONSTRUCT OBJECT_CONSTRUCT_KEEP_NULL JSON_BUILD_OBJECT JSONB_BUILD_OBJECT NAMED_STRUCT OBJECT".split()
)
"""Functions that build a document of alternating names and values."""

PATH_FUNCTIONS = frozenset(
    "STRUCT_EXTRACT STRUCTEXTRACT TUPLEELEMENT JSON_EXTRACT_PATH JSON_EXTRACT_PATH_TEXT JSONB_EXTRACT_PATH "
    "JSONB_EXTRACT_PATH_TEXT GET GET_PATH GET_IGNORE_CASE JSON_QUERY JSON_VALUE JSON_EXTRACT_STRING "
    "JSON_EXTRACT_SCALAR JSON_VALUE_ARRAY JSON_QUERY_ARRAY VARIANT_GET TRY_VARIANT_GET".split()
)
"""Functions that take a document and a constant path into it."""

TYPED_PATH_FUNCTIONS = frozenset({"VARIANT_GET", "TRY_VARIANT_GET"})
"""Path functions that name a type after the path."""

AS_TYPE_FUNCTIONS = frozenset({"PARSE", "TRY_PARSE"})
"""Functions that read a value `AS` a type, which the parser mistakes for an alias."""

VALUE_METHODS = frozenset(
    "VALUE QUERY EXIST NODES MODIFY TOSTRING GETLEVEL GETANCESTOR GETDESCENDANT ISDESCENDANTOF STASTEXT STDISTANCE "
    "STAREA STLENGTH STX STY GETSTRINGVAL GETCLOBVAL GETNUMBERVAL EXTRACT EXISTSNODE".split()
)
"""Methods called on a value with a dot; any other name between a dot and brackets is a schema's function."""

AGGREGATES = frozenset(
    "COUNT_BIG CHECKSUM_AGG STRING_AGG LISTAGG GROUP_CONCAT ARRAY_AGG COLLECT_LIST COLLECT_SET MEDIAN MODE "
    "BIT_AND BIT_OR BIT_XOR ANY_VALUE APPROX_PERCENTILE PERCENTILE PERCENTILE_APPROX HLL_SKETCH_AGG OBJECT_AGG "
    "MAP_AGG BOOL_AND BOOL_OR EVERY CORR COVAR_POP COVAR_SAMP SKEWNESS KURTOSIS "
    "UNIQ UNIQEXACT UNIQCOMBINED UNIQCOMBINED64 UNIQHLL12 UNIQTHETA GROUPARRAY GROUPUNIQARRAY SUMMAP MINMAP MAXMAP "
    "MEASURE EARLIEST EARLIEST_BY LATEST_BY APPROX_COUNT_DISTINCT_DS_HLL APPROX_COUNT_DISTINCT_DS_THETA "
    "APPROX_QUANTILE_DS DS_HLL DS_THETA DS_QUANTILES_SKETCH "
    "ANYLAST ANYHEAVY TOPK QUANTILES QUANTILEEXACT QUANTILETIMING SUMORNULL AVGORNULL".split()
)

UNNAMED_TABLE_FUNCTIONS = frozenset(
    "EXPLODINGGENERATESERIES GENERATESERIES REGEXP_SPLIT_TO_TABLE STRING_TO_TABLE JSON_OBJECT_KEYS JSONB_OBJECT_KEYS "
    "GENERATE_SUBSCRIPTS REGEXP_MATCHES JSONB_PATH_QUERY".split()
)
"""Table functions whose only column has no name of its own."""

PLAIN_FUNCTIONS: dict[str, frozenset[str]] = {
    "duckdb": frozenset({"APPLY"}),
    "postgres": frozenset({"DATE_PART"}),
    "tsql": frozenset({"SYSDATETIME", "SQUARE"}),
    "fabric": frozenset({"SYSDATETIME", "SQUARE"}),
    "oracle": frozenset({"TRANSLATE"}),
    **dict.fromkeys(("snowflake", "exasol"), frozenset({"ZEROIFNULL", "NULLIFZERO"})),
}
"""Functions that the parser mistakes for others with another type or other arguments."""

CALLABLE_KEYWORDS: dict[str, frozenset[str]] = {"postgres": frozenset({"OVERLAPS"}), "duckdb": frozenset({"APPLY"})}
"""Keywords that may be called as functions, by grammar."""

JSON_TEXT_GRAMMARS = frozenset({"postgres"})
"""Grammars in which JSON_OBJECT takes keys and values as texts."""

ORDINALITY_TYPES = {"postgres": "INT", "mysql": "INT UNSIGNED", "oracle": "NUMBER"}
"""Type of the FOR ORDINALITY column, by dialect family."""

OBJECT_NAME_FUNCTIONS = frozenset({"MAKE_REF"})
"""Functions whose first argument names an object."""

DOCUMENT_TYPES: dict[str, str] = {"JSON_BUILD_OBJECT": "JSON", "JSONB_BUILD_OBJECT": "JSONB"}
"""Functions of alternating names and values, and their result type."""

BUILTIN_SCHEMAS = {"bigquery": frozenset({"ML", "AI"})}
"""Schemas whose functions are built in and no objects, by dialect family."""

ROW_MEMBER_NAMES = {"postgres": "f{}"}
"""Names of the members of ROW(…), counted from 1, by dialect family."""

MEMBER_ADDING_FUNCTIONS = frozenset({"STRUCT_INSERT", "STRUCT_CONCAT"})
"""Functions that add members to a struct."""

JSON_OBJECT_FAMILIES = frozenset({"duckdb", "postgres", "bigquery", "mysql"})
"""Families in which JSON_OBJECT returns a document, not a string."""

EXPANDING_FUNCTIONS = frozenset(
    "EXPLODE EXPLODEOUTER EXPLODE_OUTER POSEXPLODE POSEXPLODEOUTER POSEXPLODE_OUTER INLINE INLINE_OUTER STACK "
    "JSON_TUPLE VARIANT_EXPLODE VARIANT_EXPLODE_OUTER".split()
)
"""Functions that produce columns and rows of their own in a select list."""

STRUCT_UNNESTING_FUNCTIONS: dict[str, frozenset[str]] = {"duckdb": frozenset({"EXPLODE", "UNNEST"})}
"""Functions that expand a struct in a select list into a column per member, by family."""

TABLE_FUNCTION_COLUMNS: dict[str, tuple[str, ...]] = {
    "EXPLODE": ("col",),
    "EXPLODEOUTER": ("col",),
    "EXPLODE_OUTER": ("col",),
    "POSEXPLODE": ("pos", "col"),
    "POSEXPLODEOUTER": ("pos", "col"),
    "POSEXPLODE_OUTER": ("pos", "col"),
    "VARIANT_EXPLODE": ("pos", "key", "value"),
    "VARIANT_EXPLODE_OUTER": ("pos", "key", "value"),
    "GENERATESERIES": ("generate_series",),
    "EXPLODINGGENERATESERIES": ("generate_series",),
    "GENERATESERIES:is_end_exclusive": ("range",),
    "NUMBERS": ("number",),
    "STRING_SPLIT": ("value",),
    "OPENJSON": ("key", "value", "type"),
    "SPLIT_TO_TABLE": ("SEQ", "INDEX", "VALUE"),
    "STRTOK_SPLIT_TO_TABLE": ("SEQ", "INDEX", "VALUE"),
    "FLATTEN": ("SEQ", "KEY", "PATH", "INDEX", "VALUE", "THIS"),
    "JSON_EACH": ("key", "value"),
    "JSONB_EACH": ("key", "value"),
    "JSON_EACH_TEXT": ("key", "value"),
    "JSONB_EACH_TEXT": ("key", "value"),
    "JSON_ARRAY_ELEMENTS": ("value",),
    "JSONB_ARRAY_ELEMENTS": ("value",),
    "JSON_ARRAY_ELEMENTS_TEXT": ("value",),
    "JSONB_ARRAY_ELEMENTS_TEXT": ("value",),
    "CONTAINSTABLE": ("key", "rank"),
    "FREETEXTTABLE": ("key", "rank"),
    "JSON_TO_ARRAY": ("table_col",),
}
"""Default column names of table functions."""

FAMILY_TABLE_FUNCTION_COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "spark": {"RANGE": ("id",), "SQL_KEYWORDS": ("keyword", "reserved")},
    "postgres": {
        name.upper(): (name,)
        for name in (
            "json_object_keys jsonb_object_keys regexp_matches regexp_split_to_table string_to_table "
            "generate_subscripts jsonb_path_query"
        ).split()
    },
}
"""Default column names of table functions that differ between dialect families."""

TIME_WINDOW_FUNCTIONS: dict[str, frozenset[str]] = {"spark": frozenset({"WINDOW", "SESSION_WINDOW"})}
"""Grouping functions that a query refers to by name, as structs of a start and an end."""

_WINDOW_COLUMNS = ("window_start", "window_end", "window_time")

WIDENING_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "TUMBLE": _WINDOW_COLUMNS,
    "HOP": _WINDOW_COLUMNS,
    "CUMULATE": _WINDOW_COLUMNS,
    "SESSION": _WINDOW_COLUMNS,
    "EXCLUDE_COLUMNS": (),
    "APPENDS": ("_CHANGE_TYPE", "_CHANGE_TIMESTAMP"),
    "CHANGES": ("_CHANGE_TYPE", "_CHANGE_TIMESTAMP"),
}
"""Functions that return the rows of a table with these columns added; none: without the columns they name."""

TABLE_ARGUMENT_DIALECTS: dict[str, tuple[str, ...]] = {"risingwave": _WINDOW_COLUMNS[:2]}
"""Dialects in which such a function takes a table and its time column by name, and what it adds then."""

TIME_UNITS = frozenset(
    "NANOSECOND MICROSECOND MILLISECOND SECOND MINUTE HOUR DAY DAYOFYEAR DAYOFWEEK WEEK ISOWEEK MONTH QUARTER YEAR "
    "DECADE CENTURY EPOCH DOW DOY".split()
)
"""Units of time by their full names."""

TIME_UNIT_ABBREVIATIONS = frozenset(
    "YY YYYY QQ Q MM M DY Y DD D WK WW DW HH MI N SS S MS MCS NS WEEKDAY ISO_WEEK".split()
)
"""Abbreviated units, where only a unit is possible."""

UNIT_FIRST_FUNCTIONS: dict[str, int] = {
    **dict.fromkeys("TIMESTAMPADD DATEADD TIMEADD TIMEDIFF DATEDIFF DATEDIFF_BIG DATE_BUCKET".split(), 3),
    **dict.fromkeys("DATEPART DATE_PART DATENAME DATETRUNC".split(), 2),
}
"""Functions whose first argument is a unit of time, with the minimum number of arguments."""
