"""Oracle, MySQL, Redshift and Trino: what their functions give, as rows and the functions behind them."""

from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types, arithmetic
from lineage_pipeline.dialects.typing.decimals import mysql_digits, written_digits
from lineage_pipeline.dialects.typing.family import Family
from lineage_pipeline.dialects.typing.results import argument, array_of, exactly, mapping, widest, words
from lineage_pipeline.dialects.typing.shapes import shape_of
from lineage_pipeline.dialects.typing.snowflake import DATE_PARTS
from lineage_pipeline.dialects.typing.widening import digits_of, is_number


def name_of(types: Types, position: int = 0) -> str:
    """The name of the type of an argument, or nothing."""
    return shape_of(types[position] or "").name if len(types) > position else ""


def total(grow: int, whole: str, short: str = "") -> Rule:
    """SUM: of integers one type, of decimals some digits more, as many as fit; of floating numbers one of them."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        shape = shape_of(types[0] or "") if types else shape_of("")
        digits = digits_of(shape, family)
        if shape.name != family.decimal and digits is not None and whole:
            return whole
        if digits is not None:
            return family.numeric(min(digits[0] + grow, family.cap), digits[1])
        return (short if shape.name == family.real and short else family.double) if shape.name else None

    return rule


def oracle_operator(op: str) -> Rule:
    """An operator of Oracle: numbers have any number of digits, and a day is the unit of dates."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        left, right = name_of(types), name_of(types, 1)
        if not left or not right:
            return None
        for kind in (family.double, family.real):
            if kind in (left, right):
                return kind
        if left.startswith("INTERVAL") or right.startswith("INTERVAL"):
            moment = right if left.startswith("INTERVAL") else left
            return moment if moment == family.date or moment.startswith("TIMESTAMP") else left
        moments = [name for name in (left, right) if name == family.date or name.startswith("TIMESTAMP")]
        if len(moments) == 2:
            return family.decimal if left == right == family.date else "INTERVAL DAY TO SECOND"
        return family.date if moments else family.decimal

    return rule


def oracle_number(family: Family, types: Types, texts: Texts) -> str | None:
    """A number of Oracle: floating where its argument is, else with any number of digits."""
    name = name_of(types)
    return name if name in (family.real, family.double) else family.decimal if name else None


def oracle_truncated(family: Family, types: Types, texts: Texts) -> str | None:
    """TRUNC and ROUND: a date of dates and moments, a number of numbers."""
    name = name_of(types)
    return family.date if name == family.date or name.startswith("TIMESTAMP") else oracle_number(family, types, texts)


def oracle_text(family: Family, types: Types, texts: Texts) -> str | None:
    """A function of strings: a long one where an argument is."""
    names = {name_of(types, at) for at in range(len(types))}
    return next((name for name in ("NCLOB", "CLOB") if name in names), family.string)


def mysql_operator(op: str) -> Rule:
    """An operator of MySQL: integers become long ones, quotients are decimals."""
    plain = arithmetic(op)

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        names = [name_of(types), name_of(types, 1)]
        whole = [name in family.integers or name in family.unsigned for name in names]
        if family.date in names and not any(name.startswith("INTERVAL") for name in names):
            return family.bigint if all(names) else None  # a date is a number of eight digits there
        if all(whole) and op == "DIV":
            sides = [written_digits(text) for text in (*texts, "", "")[:2]]
            full = [digits_of(shape_of(kind or ""), family) or (0, 0) for kind in types]
            return family.numeric(*mysql_digits("DIV", sides[0] or full[0], sides[1] or full[1]))
        if all(whole):
            return "BIGINT UNSIGNED" if any(name in family.unsigned for name in names) else family.bigint
        if family.real in names and all(is_number(shape_of(kind or ""), family) for kind in types):
            return family.double
        return plain(family, types, texts)

    return rule


def mysql_average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG of MySQL: four digits more."""
    digits = digits_of(shape_of(types[0] or ""), family) if types else None
    if digits is None:
        return family.double if name_of(types) else None
    return family.numeric(digits[0] + 4, digits[1] + 4)


def dated(kind: str) -> Rule:
    """A function that moves dates and moments: a date becomes a moment where hours or less are added."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        name = name_of(types)
        if name == family.date:
            return name if texts and texts[-1].strip("'").upper() in DATE_PARTS else kind
        return types[0] if types and name not in family.strings else None

    return rule


def moment(family: Family, types: Types, texts: Texts) -> str | None:
    """DATEADD and DATE_TRUNC of Redshift: a date becomes a moment."""
    name = name_of(types)
    return family.timestamp if name == family.date or name in family.strings else types[0] if types else None


def whole_decimal(family: Family, types: Types, texts: Texts) -> str | None:
    """FLOOR and CEIL: the same number."""
    return types[0] if types and is_number(shape_of(types[0] or ""), family) else None


def trino_rounded(family: Family, types: Types, texts: Texts) -> str | None:
    """FLOOR and CEIL of Trino: a decimal without digits behind the point, which may carry one more before it."""
    digits = digits_of(shape_of(types[0] or ""), family) if types and name_of(types) == family.decimal else None
    if digits is None:
        return types[0] if types else None
    return family.numeric(min(digits[0] - digits[1] + min(digits[1], 1), 38), 0)


def trino_average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG of Trino: of decimals and short floating numbers the same type, else a floating number."""
    name = name_of(types)
    return types[0] if name in (family.decimal, family.real) or name.startswith("INTERVAL") else family.double


def redshift_average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG of Redshift: of integers a long one, of decimals as many digits as there can be."""
    return total(38, family.bigint)(family, types, texts)


def listed(family: Family, types: Types, texts: Texts) -> str | None:
    """SPLIT: an array of strings."""
    return family.array(family.string)


def mapped(family: Family, types: Types, texts: Texts) -> str | None:
    """MAP_AGG: a map of what it is given."""
    known = len(types) > 1 and types[0] and types[1]
    return family.map(types[0] or "", types[1] or "") if known else None


def rows(always: dict[str, str]) -> dict[str, Rule]:
    """Rows of functions that always give one type."""
    return {op: exactly(kind) for kind, names in always.items() for op in names.split()}


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
            "DATE": "STRTODATE STRTOTIME LASTDAY NEXTDAY CURRENTDATE SYSDATE CURRENTTIMESTAMP:sysdate ADDMONTHS",
            "TIMESTAMP": "TO_TIMESTAMP LOCALTIMESTAMP",
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
            "INT": "DATEDIFF LENGTH STRPOSITION FIND_IN_SET YEAR MONTH DAY DAYOFMONTH ROW_COUNT ASCII SIGN",
            "BIGINT": "EXTRACT INTDIV TIMESTAMPDIFF UNIX_TIMESTAMP CRC32 ROW_COUNT TOUNIX COUNT STRTOUNIX",
            "BIGINT UNSIGNED": (
                "CONNECTION_ID LAST_INSERT_ID FOUND_ROWS BITWISEAND BITWISEOR BITWISEXOR BITWISENOT BITWISEANDAGG "
                "BITWISEORAGG BITWISEXORAGG BITWISELEFTSHIFT BITWISERIGHTSHIFT ROWNUMBER RANK DENSERANK NTILE"
            ),
            "DATETIME": "NOW SYSDATE TSORDSTOTIMESTAMP CURRENTTIMESTAMP LOCALTIMESTAMP LOCALTIME UNIXTOTIME",
            "VARCHAR": "QUOTE JSON_UNQUOTE PAD REGEXPREPLACE REGEXPSUBSTR USER DATABASE CURRENTUSER TIMETOSTR",
            "TEXT": "GROUPCONCAT",
            "DOUBLE": "STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP RAND SQRT POW EXP LN LOG",
        }
    ),
    **{op: mysql_operator(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **dict.fromkeys(words("DATEADD DATESUB TIMESTAMPADD TSORDSADD"), dated("DATETIME")),
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
    "MEDIAN": widest,
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
                "REPLACE PAD FORMAT HEX URL_EXTRACT_HOST URL_EXTRACT_PATH URL_EXTRACT_PARAMETER TIMETOSTR "
                "SUBSTRING CONCAT DPIPE REVERSE ARRAYTOSTRING GROUPCONCAT"
            ),
            "JSON": "JSONEXTRACT JSON_EXTRACT JSON_PARSE PARSEJSON",
            "VARBINARY": "MD5DIGEST SHA1DIGEST SHA2DIGEST SHA256 SHA512 UNHEX TO_UTF8 FROMBASE64",
            "TIMESTAMP(3)": "DATE_PARSE STRTOTIME",
            "TIMESTAMP(3) WITH TIME ZONE": "NOW CURRENTTIMESTAMP UNIXTOTIME",
        }
    ),
    **dict.fromkeys(words("DATEADD DATESUB TIMESTAMPTRUNC DATETRUNC TIMESTAMPADD ARRAYDISTINCT"), argument(0)),
    **dict.fromkeys(words("FLOOR CEIL"), trino_rounded),
    **dict.fromkeys(words("SPLIT REGEXPEXTRACTALL"), listed),
    **dict.fromkeys(words("MAP_AGG MAPAGG"), mapped),
    "GENERATESERIES": array_of(0),
    "MAP": mapping,
    "SUM": total(38, "BIGINT", "REAL"),
    "AVG": trino_average,
}

CLICKHOUSE: dict[str, Rule] = rows(
    {
        "FLOAT64": "AVG DIV",
        "UINT64": "COUNT COUNTIF APPROXDISTINCT UNIQ LENGTH STRPOSITION ROWNUMBER RANK DENSERANK CITYHASH64 SIPHASH64",
        "STRING": "TOSTRING CONCAT UPPER LOWER SUBSTRING REPLACE TOCHAR TIMETOSTR FORMATDATETIME HEX",
        "DATE": "TODATE TOSTARTOFMONTH TOSTARTOFYEAR TOSTARTOFQUARTER TOSTARTOFWEEK TOMONDAY TODAY YESTERDAY",
        "DATETIME": "NOW TODATETIME TOSTARTOFHOUR TOSTARTOFDAY TOSTARTOFMINUTE PARSEDATETIMEBESTEFFORT",
        "UINT16": "TOYEAR TODAYOFYEAR",
        "UINT8": "TOMONTH TODAYOFMONTH TODAYOFWEEK TOHOUR TOMINUTE TOSECOND TOUINT8",
        "UINT32": "TOYYYYMM TOUINT32",
        "INT64": "DATEDIFF TOINT64 TIMESTAMPDIFF",
        "INT32": "TOINT32",
        "FLOAT32": "TOFLOAT32",
    }
)

ROWS: dict[str, dict[str, Rule]] = {
    "oracle": ORACLE,
    "mysql": MYSQL,
    "redshift": REDSHIFT,
    "trino": TRINO,
    "clickhouse": CLICKHOUSE,
}
"""The rows of these families; the common rows hold for the rest."""

CONSTANTS: dict[str, frozenset[str]] = {"mysql": words("DATEADD DATESUB TIMESTAMPADD TSORDSADD")}
"""Operators whose type depends on the values of constants, too."""
