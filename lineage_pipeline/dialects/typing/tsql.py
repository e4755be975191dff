"""SQL Server: what its functions give. The rows; `tsql_rules` has the functions behind them."""

from lineage_pipeline.dialects.typing import tsql_rules as rules
from lineage_pipeline.dialects.typing.arithmetic import Rule
from lineage_pipeline.dialects.typing.results import argument, exactly, words

ALWAYS: dict[str, str] = {
    "INT": (
        "ASCII BINARY_CHECKSUM CHECKSUM CHECKSUM_AGG COLUMNPROPERTY DATABASE_PRINCIPAL_ID DATEDIFF DATEPART DAY DB_ID "
        "DIFFERENCE ERROR_LINE ERROR_NUMBER ERROR_SEVERITY ERROR_STATE EXTRACT FILEPROPERTY GETANSINULL GROUPINGID "
        "HAS_PERMS_BY_NAME INDEXPROPERTY ISDATE ISJSON ISNUMERIC IS_MEMBER IS_SRVROLEMEMBER MONTH OBJECTID OBJECT_ID "
        "OBJECTPROPERTY SCHEMA_ID SUSER_ID TYPE_ID TYPEPROPERTY UNICODE USER_ID YEAR DAYOFMONTH DAY_OF_MONTH"
    ),
    "BIGINT": "COUNT_BIG COUNT:big_int DATEDIFF:big_int DATEDIFF_BIG ROWCOUNT_BIG APPROXDISTINCT",
    "SMALLINT": "COL_LENGTH XACT_STATE CURSOR_STATUS",
    "TINYINT": "GROUPING",
    "DECIMAL(38,0)": "SCOPE_IDENTITY IDENT_CURRENT IDENT_INCR IDENT_SEED",
    "FLOAT": "ACOS ASIN ATAN ATAN2 ATN2 COS COT EXP LN LOG LOG10 PI RAND SIN SQRT SQUARE TAN STDDEV STDEVP VAR VARP",
    "DATE": "LASTDAY EOMONTH DATEFROMPARTS TSORDSTODATE",
    "DATETIME": "GETUTCDATE TIMESTAMPFROMPARTS DATETIMEFROMPARTS",
    "SMALLDATETIME": "SMALLDATETIMEFROMPARTS",
    "DATETIME2(7)": "SYSDATETIME SYSUTCDATETIME",
    "DATETIMEOFFSET(7)": "CURRENTTIMESTAMPLTZ SWITCHOFFSET TODATETIMEOFFSET",
    "DATETIMEOFFSET": "ATTIMEZONE DATETIMEOFFSETFROMPARTS",
    "DATETIME2": "DATETIME2FROMPARTS",
    "TIME": "TIMEFROMPARTS",
    "UNIQUEIDENTIFIER": "UUID NEWID NEWSEQUENTIALID",
    "VARBINARY(8000)": "HASHBYTES MD5 MD5DIGEST SHA SHA2",
    "VARBINARY(MAX)": "COMPRESS DECOMPRESS",
    "NVARCHAR(128)": (
        "APP_NAME COL_NAME CURRENTUSER DB_NAME ERROR_PROCEDURE FILEGROUP_NAME FILE_NAME HOST_NAME INDEX_COL "
        "OBJECT_NAME OBJECT_SCHEMA_NAME ORIGINAL_DB_NAME ORIGINAL_LOGIN PARSENAME SCHEMA_NAME SESSIONUSER "
        "SUSER_NAME SUSER_SNAME SYSTEM_USER TYPE_NAME USER_NAME"
    ),
    "NVARCHAR(258)": "QUOTENAME",
    "NVARCHAR(4000)": "ERROR_MESSAGE FORMAT NUMBERTOSTR JSONVALUE JSON_VALUE JSONEXTRACTSCALAR FORMATMESSAGE",
    "NVARCHAR(MAX)": "OBJECT_DEFINITION JSONEXTRACT JSON_QUERY JSON_MODIFY JSON_OBJECT JSON_ARRAY STRING_ESCAPE",
    "VARCHAR(4)": "SOUNDEX",
    "CHAR(1)": "CHR CHAR",
    "NCHAR(1)": "NCHAR",
    "SQL_VARIANT": (
        "CONNECTIONPROPERTY DATABASEPROPERTYEX SERVERPROPERTY SESSION_CONTEXT SESSIONPROPERTY SQL_VARIANT_PROPERTY "
        "EXTENDEDPROPERTY"
    ),
    "VARBINARY": "HEXSTRING",
    "XML": "NODES",
}
"""Types, and the functions that always give them."""

METHODS: dict[str, Rule] = {
    "METHOD EXIST": exactly("BIT"),
    "METHOD QUERY": exactly("XML"),
    "METHOD VALUE": rules.asked,
}
"""What is called on a value of XML."""

ROWS: dict[str, Rule] = {
    **{op: exactly(kind) for kind, names in ALWAYS.items() for op in names.split()},
    **METHODS,
    **{op: rules.operator(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **dict.fromkeys(words("UPPER LOWER TRIM REVERSE TRANSLATE STRING_SPLIT"), rules.variable),
    **dict.fromkeys(words("LEFT RIGHT SUBSTRING"), rules.cut),
    **dict.fromkeys(words("STUFF REPEAT SPACE"), rules.stuffed),
    **dict.fromkeys(words("LENGTH DATALENGTH STRPOSITION"), rules.counted),
    **dict.fromkeys(words("CEIL FLOOR"), rules.rounded),
    **dict.fromkeys(words("ABS ROUND SIGN DEGREES RADIANS"), rules.same),
    **dict.fromkeys(words("BITWISEAND BITWISEOR BITWISEXOR"), rules.bits),
    **dict.fromkeys(words("COLLATE ESCAPE BITWISENOT COALESCE:is_null"), argument(0)),
    **dict.fromkeys(words("DATEADD TSORDSADD"), rules.moved),
    **dict.fromkeys(words("TIMESTAMPTRUNC DATETRUNC"), rules.truncated),
    "AVG": rules.average,
    "CHOOSE": rules.chosen,
    "CONCAT": rules.concatenated,
    "CONCATWS": rules.separated,
    "CONVERT": rules.converted,
    "GROUPCONCAT": rules.listed,
    "NATIONAL": rules.national,
    "PATINDEX": rules.sought,
    "POW": rules.power,
    "REPLACE": rules.replaced,
    "STR": rules.number_text,
    "SUM": rules.total,
    "TIMETOSTR": rules.printed,
}
"""What SQL Server's functions give; the common rows hold for the rest."""

CONSTANTS = words("CONVERT LEFT RIGHT SUBSTRING NATIONAL STR TIMETOSTR") | {"METHOD VALUE"}
"""Operators whose type depends on the values of constants, too."""

VARIABLES: dict[str, str] = {
    **dict.fromkeys(
        "ROWCOUNT ERROR TRANCOUNT NESTLEVEL FETCH_STATUS CURSOR_ROWS MAX_CONNECTIONS LOCK_TIMEOUT "
        "OPTIONS PROCID TEXTSIZE CPU_BUSY IO_BUSY IDLE CONNECTIONS TOTAL_ERRORS".split(),
        "INT",
    ),
    "SPID": "SMALLINT",
    "DATEFIRST": "TINYINT",
    "IDENTITY": "DECIMAL(38,0)",
    "DBTS": "VARBINARY(8)",
    **dict.fromkeys("SERVERNAME SERVICENAME VERSION LANGUAGE REMSERVER".split(), "NVARCHAR(128)"),
}
"""Variables that the server sets, without the two marks before their names."""
