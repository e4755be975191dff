"""Oracle, MySQL, Redshift and Trino: what their functions give."""

from lineage_pipeline.dialects.typing import clickhouse
from lineage_pipeline.dialects.typing.arithmetic import Rule
from lineage_pipeline.dialects.typing.results import argument, array_of, exactly, mapping, words
from lineage_pipeline.dialects.typing.server_rules import (
    dated,
    listed,
    mapped,
    moment,
    mysql_average,
    mysql_operator,
    mysql_rounded,
    mysql_whole,
    name_of,
    oracle_number,
    oracle_operator,
    oracle_text,
    oracle_truncated,
    redshift_average,
    redshift_median,
    rows,
    total,
    trino_average,
    trino_bytes,
    trino_joined,
    trino_rounded,
    whole_decimal,
)

ORACLE: dict[str, Rule] = {
    **rows(
        {
            "NUMBER": (
                "AVG SUM COUNT EXTRACT TONUMBER TO_NUMBER LENGTH STRPOSITION INSTR ASCII BITAND MONTHSBETWEEN MEDIAN "
                "RATIO_TO_REPORT ROWNUMBER RANK DENSERANK NTILE CUMEDIST PERCENTRANK SIGN ORA_HASH ROWNUM LEVEL "
                "REGEXPCOUNT REGEXPINSTR WIDTHBUCKET UID SQLCODE STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP"
            ),
            "VARCHAR2": (
                "TOCHAR TO_CHAR TIMETOSTR TRANSLATE GROUPCONCAT LISTAGG CHR RAWTOHEX SYS_CONTEXT USERENV JSONVALUE "
                "JSON_VALUE SYS_CONNECT_BY_PATH CURRENTUSER SESSIONUSER USER DUMP SQLERRM"
            ),
            "NVARCHAR2": "UNISTR TO_NCHAR",
            "DATE": "STRTODATE LASTDAY NEXTDAY CURRENTDATE SYSDATE CURRENTTIMESTAMP:sysdate ADDMONTHS",
            "TIMESTAMP": "TO_TIMESTAMP STRTOTIME LOCALTIMESTAMP",
            "TIMESTAMP WITH TIME ZONE": "SYSTIMESTAMP CURRENTTIMESTAMP TO_TIMESTAMP_TZ FROM_TZ",
            "INTERVAL YEAR TO MONTH": "TO_YMINTERVAL NUMTOYMINTERVAL",
            "INTERVAL DAY TO SECOND": "TO_DSINTERVAL NUMTODSINTERVAL",
            "RAW(16)": "SYS_GUID",
            "RAW": "HEXTORAW STANDARDHASH STANDARD_HASH UTL_RAW.CAST_TO_RAW UTL_RAW.SUBSTR UTL_RAW.CONCAT",
            "CLOB": "TO_CLOB EMPTY_CLOB XMLSERIALIZE",
            "BLOB": "TO_BLOB EMPTY_BLOB",
        }
    ),
    **{op: oracle_operator(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **dict.fromkeys(words("FLOOR CEIL ABS POW SQRT EXP LN LOG NEG"), oracle_number),
    **dict.fromkeys(words("TRUNC ROUND TIMESTAMPTRUNC"), oracle_truncated),
    **dict.fromkeys(
        words("CONCAT DPIPE REPLACE REGEXPREPLACE REGEXPSUBSTR REGEXPEXTRACT PAD INITCAP SUBSTRING LEFT RIGHT REVERSE"),
        oracle_text,
    ),
    "NVL": argument(0),
}

MYSQL: dict[str, Rule] = {
    **rows(
        {
            "INT": "DATEDIFF LENGTH STRPOSITION FIND_IN_SET YEAR MONTH DAY DAYOFMONTH ROW_COUNT ASCII SIGN FIELD",
            "BIGINT": "EXTRACT INTDIV TIMESTAMPDIFF UNIX_TIMESTAMP CRC32 ROW_COUNT TOUNIX COUNT STRTOUNIX INET_ATON",
            "BIGINT UNSIGNED": (
                "CONNECTION_ID LAST_INSERT_ID FOUND_ROWS BITWISEAND BITWISEOR BITWISEXOR BITWISENOT BITWISEANDAGG "
                "BITWISEORAGG BITWISEXORAGG BITWISELEFTSHIFT BITWISERIGHTSHIFT ROWNUMBER RANK DENSERANK NTILE"
            ),
            "DATETIME": "NOW SYSDATE TSORDSTOTIMESTAMP CURRENTTIMESTAMP LOCALTIMESTAMP LOCALTIME UNIXTOTIME TIMESTAMP",
            "VARCHAR": "QUOTE JSON_UNQUOTE PAD REGEXPREPLACE REGEXPSUBSTR USER DATABASE CURRENTUSER TIMETOSTR",
            "TEXT": "GROUPCONCAT",
            "LONGTEXT": "JSONEXTRACTSCALAR",
            "DOUBLE": "STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP RAND SQRT POW EXP LN LOG",
        }
    ),
    **{op: mysql_operator(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **dict.fromkeys(words("DATEADD DATESUB TIMESTAMPADD TSORDSADD"), dated("DATETIME")),
    **dict.fromkeys(words("ADDDATE SUBDATE"), argument(0)),
    **dict.fromkeys(words("FLOOR CEIL"), mysql_whole),
    **dict.fromkeys(words("ROUND TRUNC"), mysql_rounded),
    "SUM": total(22, ""),
    "AVG": mysql_average,
}

REDSHIFT: dict[str, Rule] = {
    **rows(
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
    **dict.fromkeys(words("TSORDSADD DATEADD TIMESTAMPTRUNC DATETRUNC ADDMONTHS"), moment),
    **dict.fromkeys(words("FLOOR CEIL ROUND"), whole_decimal),
    "TRUNC": lambda family, types, texts: (
        family.date if name_of(types).startswith("TIMESTAMP") else whole_decimal(family, types, texts)
    ),
    "SUM": total(38, "BIGINT"),
    "AVG": redshift_average,
    "MEDIAN": redshift_median,
    "PERCENTILECONT": lambda family, types, texts: None,
    "WITHINGROUP": lambda family, types, texts: types[0] or redshift_median(family, types[1:], texts),
    "SIGN": lambda family, types, texts: (
        family.numeric(1, 0) if name_of(types) == family.decimal else argument(0)(family, types, texts)
    ),
    "TIMEZONE": lambda family, types, texts: family.timestamp if name_of(types, 1) == family.zoned else family.zoned,
    "PARSEJSON": exactly("SUPER"),
}

TRINO: dict[str, Rule] = {
    **rows(
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
    **dict.fromkeys(words("CONCAT DPIPE"), trino_joined),
    **dict.fromkeys(words("PAD SUBSTRING REVERSE TRIM"), trino_bytes),
    "TRANSFORM": lambda family, types, texts: family.array(types[-1]) if types and types[-1] else None,
    "REDUCE": lambda family, types, texts: types[-1] if types else None,
    "HISTOGRAM": lambda family, types, texts: family.map(types[0], family.bigint) if types and types[0] else None,
    **dict.fromkeys(words("DATEADD DATESUB TIMESTAMPTRUNC DATETRUNC TIMESTAMPADD ARRAYDISTINCT"), argument(0)),
    **dict.fromkeys(words("FLOOR CEIL"), trino_rounded),
    **dict.fromkeys(words("SPLIT REGEXPEXTRACTALL"), listed),
    **dict.fromkeys(words("MAP_AGG MAPAGG"), mapped),
    "GENERATESERIES": array_of(0),
    "MAP": mapping,
    "SUM": total(38, "BIGINT", "REAL"),
    "AVG": trino_average,
}

ROWS: dict[str, dict[str, Rule]] = {
    "oracle": ORACLE,
    "mysql": MYSQL,
    "redshift": REDSHIFT,
    "trino": TRINO,
    "clickhouse": clickhouse.ROWS,
}
"""The rows of these families; the common rows hold for the rest."""

CONSTANTS: dict[str, frozenset[str]] = {
    "mysql": words("DATEADD DATESUB TIMESTAMPADD TSORDSADD TRUNC"),
    "clickhouse": clickhouse.CONSTANTS,
}
"""Operators whose type depends on the values of constants, too."""
