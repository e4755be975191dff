"""Dialect detection: words and characters that hardly any other dialect has, with weights."""

import re

import msgspec


class DialectSign(msgspec.Struct, frozen=True):
    """One sign of a dialect in a text."""

    dialect: str
    """The dialect that it speaks for."""
    name: str
    """What it is called in the reasons for a detected dialect."""
    pattern: re.Pattern[str]
    """The expression that finds it."""
    worth: int = 1
    """Its weight; 3 is as good as certain."""
    words: tuple[str, ...] = ()
    """A text without any of these cannot match, which is quicker to test; empty: always try."""

    def matches(self, text: str, lowered: str) -> bool:
        """Return whether a text has the sign."""
        return any(word in lowered for word in self.words or ("",)) and self.pattern.search(text) is not None


def _build_sign(dialect: str, name: str, pattern: str, worth: int = 1, words: str = "") -> DialectSign:
    return DialectSign(dialect, name, re.compile(pattern, re.IGNORECASE | re.MULTILINE), worth, tuple(words.split()))


SIGNS: tuple[DialectSign, ...] = (
    _build_sign("tsql", "GO on a line of its own", r"^[ \t]*GO[ \t]*\r?$", 3, "go"),
    _build_sign("tsql", "names in brackets", r"\[\w+\]\.\[\w+\]", 3, "].["),
    _build_sign("tsql", "SET NOCOUNT ON", r"\bSET\s+NOCOUNT\s+ON\b", 3, "nocount"),
    _build_sign("tsql", "variables with @", r"\bDECLARE\s+@\w+", 2, "declare"),
    _build_sign("tsql", "NVARCHAR(MAX)", r"\bN?VARCHAR\s*\(\s*MAX\s*\)", 2, "varchar"),
    _build_sign(
        "tsql",
        "GETDATE, ISNULL, CONVERT or DATEADD",
        r"\b(GETDATE\(\)|ISNULL\(|CONVERT\(\s*N?\w+(\(\d+\))?\s*,)",
        words="getdate isnull convert",
    ),
    _build_sign("tsql", "SELECT TOP", r"\bSELECT\s+TOP\s*\(?\d+", words="top"),
    _build_sign("tsql", "the schema dbo", r"\bdbo\.\w", words="dbo."),
    _build_sign("postgres", "LANGUAGE plpgsql", r"\bLANGUAGE\s+'?plpgsql", 3, "plpgsql"),
    _build_sign("postgres", "SERIAL columns", r"\b(BIG)?SERIAL\b", 2, "serial"),
    _build_sign("postgres", "casts with ::", r"[\w)'\"]::\s*[a-z]\w*", words="::"),
    _build_sign(
        "postgres",
        "JSONB, TIMESTAMPTZ or BYTEA",
        r"\b(JSONB|TIMESTAMPTZ|BYTEA|TSVECTOR)\b",
        words="jsonb timestamptz bytea tsvector",
    ),
    _build_sign("postgres", "ON CONFLICT", r"\bON\s+CONFLICT\s*(\(|DO\b)", words="conflict"),
    _build_sign("snowflake", "QUALIFY", r"\bQUALIFY\b", 2, "qualify"),
    _build_sign(
        "snowflake", "paths into VARIANT with a cast", r"[\w\"\])]:[a-z_]\w*(?:[.\[][\w'.\[\]]*)?::\s*[a-z]", 4, "::"
    ),
    _build_sign("snowflake", "VARIANT columns", r"\bVARIANT\b", 2, "variant"),
    _build_sign(
        "snowflake", "LATERAL FLATTEN", r"\b(LATERAL|TABLE\s*\()\s*FLATTEN\s*\(|\bFLATTEN\s*\(\s*INPUT\b", 3, "flatten"
    ),
    _build_sign(
        "snowflake",
        "OBJECT_CONSTRUCT, TRY_TO_… or IFF",
        r"\b(OBJECT_CONSTRUCT|TRY_TO_\w+|TO_VARIANT|IFF|ZEROIFNULL)\s*\(",
        words="object_construct try_to_ to_variant iff zeroifnull",
    ),
    _build_sign("snowflake", "TRANSIENT tables", r"\bTRANSIENT\s+TABLE\b|\bCOPY\s+GRANTS\b", 3, "transient grants"),
    _build_sign("snowflake", "TIMESTAMP_NTZ", r"\bTIMESTAMP_(NTZ|LTZ|TZ)\b", 2, "timestamp_"),
    _build_sign(
        "snowflake",
        "stages, streams, tasks and warehouses",
        r"\bCREATE\s+(OR\s+REPLACE\s+)?(STAGE|STREAM|TASK|PIPE|WAREHOUSE|FILE\s+FORMAT)\b",
        3,
        "stage stream task pipe warehouse format",
    ),
    _build_sign("snowflake", "COPY INTO from a stage", r"\bCOPY\s+INTO\b[^;]*\bFROM\s+@", 3, "copy"),
    _build_sign("bigquery", "names of projects in backticks", r"`[\w-]+\.\w+\.\w+`", 3, "`"),
    _build_sign(
        "bigquery", "SAFE_CAST, SAFE_DIVIDE or SAFE.", r"\bSAFE(_CAST|_DIVIDE)\s*\(|\bSAFE\.\w+\s*\(", 3, "safe_ safe."
    ),
    _build_sign(
        "bigquery", "STRUCT< or ARRAY< with INT64", r"\b(INT64|FLOAT64|BIGNUMERIC)\b", 2, "int64 float64 bignumeric"
    ),
    _build_sign("bigquery", "UNNEST WITH OFFSET", r"\bWITH\s+OFFSET\b", 2, "offset"),
    _build_sign("bigquery", "* EXCEPT (…)", r"\*\s*EXCEPT\s*\(\s*\w+\s*[,)]", 3, "except"),
    _build_sign(
        "bigquery",
        "_TABLE_SUFFIX or _PARTITIONTIME",
        r"\b_(TABLE_SUFFIX|PARTITIONTIME|PARTITIONDATE)\b",
        3,
        "_table_ _partition",
    ),
    _build_sign(
        "bigquery",
        "PARSE_DATE, FORMAT_DATE or TIMESTAMP_TRUNC",
        r"\b((PARSE|FORMAT)_(DATE|DATETIME|TIMESTAMP)|TIMESTAMP_(TRUNC|DIFF|SECONDS|MILLIS)|GENERATE_DATE_ARRAY)\s*\(",
        2,
        "parse_ format_ timestamp_ generate_",
    ),
    _build_sign("oracle", "VARCHAR2 or NUMBER columns", r"\bVARCHAR2\b", 3, "varchar2"),
    _build_sign("oracle", "a block that ends with a slash", r"^[ \t]*END\b[^;\n]*;\s*\n/[ \t]*\r?$", 3, "\n/"),
    _build_sign("oracle", "SYSDATE, DUAL or NVL2", r"\b(FROM\s+DUAL|SYSDATE|NVL2\()\b", words="dual sysdate nvl2"),
    _build_sign("oracle", "CONNECT BY", r"\bCONNECT\s+BY\s+(PRIOR|NOCYCLE|LEVEL|\w+)", 3, "connect"),
    _build_sign("oracle", "outer joins with (+)", r"\w\s*\(\+\)", 3, "(+)"),
    _build_sign("oracle", "ROWNUM", r"\b(WHERE|AND|ON)\s+ROWNUM\s*[<=>]|[<=>]\s*ROWNUM\b", 3, "rownum"),
    _build_sign("oracle", "%TYPE or %ROWTYPE", r"\w%(ROW)?TYPE\b", 2, "%type %rowtype"),
    _build_sign("mysql", "names in backticks with ENGINE=", r"\)\s*ENGINE\s*=\s*\w+", 3, "engine"),
    _build_sign("mysql", "AUTO_INCREMENT", r"\bAUTO_INCREMENT\b", 3, "auto_increment"),
    _build_sign("mysql", "DELIMITER", r"^DELIMITER\s+\S+", 3, "delimiter"),
    _build_sign("spark", "USING DELTA or PARQUET", r"\bUSING\s+(DELTA|PARQUET|ICEBERG|ORC|CSV|JSON)\b", 3, "using"),
    _build_sign("spark", "LATERAL VIEW", r"\bLATERAL\s+VIEW\b", 2, "lateral"),
    _build_sign("spark", "INSERT OVERWRITE", r"\bINSERT\s+OVERWRITE\b", 2, "overwrite"),
    _build_sign(
        "spark",
        "INSERT OVERWRITE of a partition",
        r"\bINSERT\s+OVERWRITE\s+(TABLE\s+)?[^\s(;]+\s+PARTITION\s*\(",
        1,
        "overwrite",
    ),
    _build_sign("hive", "STORED AS", r"\bSTORED\s+AS\s+\w+", 2, "stored"),
    _build_sign("hive", "ROW FORMAT", r"\bROW\s+FORMAT\s+(SERDE|DELIMITED)\b", 3, "format"),
    _build_sign("hive", "settings of Hive", r"^[ \t]*SET\s+hive\.|\$\{hive(conf|var):", 4, "hive"),
    _build_sign(
        "databricks",
        "OPTIMIZE, ZORDER or LIVE tables",
        r"\b(ZORDER\s+BY|(STREAMING|LIVE)\s+(LIVE\s+)?TABLE)\b",
        3,
        "zorder live streaming",
    ),
    _build_sign("redshift", "DISTKEY, SORTKEY or DISTSTYLE", r"\b(DISTKEY|SORTKEY|DISTSTYLE)\b", 3, "dist sortkey"),
    _build_sign("duckdb", "read_parquet and friends", r"\bread_(parquet|csv|csv_auto|json|json_auto)\s*\(", 3, "read_"),
    _build_sign(
        "teradata",
        "PRIMARY INDEX, MULTISET or SEL",
        r"\b(MULTISET|VOLATILE)\s+TABLE\b|\bPRIMARY\s+INDEX\s*\(",
        3,
        "multiset volatile index",
    ),
    _build_sign("clickhouse", "MergeTree", r"\bENGINE\s*=\s*\w*MergeTree\b", 4, "mergetree"),
    _build_sign(
        "sqlite",
        "AUTOINCREMENT or WITHOUT ROWID",
        r"\bPRIMARY\s+KEY\s+AUTOINCREMENT\b|\bWITHOUT\s+ROWID\b",
        3,
        "autoincrement rowid",
    ),
    _build_sign(
        "trino", "tables WITH (format = …)", r"\bWITH\s*\(\s*(format|partitioned_by|external_location)\s*=", 3, "with"
    ),
)
"""The signs; a dialect is detected by the total weight of the signs found in a text."""


def _build_driver_sign(
    dialect: str, name: str, modules: str, operators: str, scheme: str, worth: int = 4
) -> DialectSign:
    """Build a sign of the modules, operators and addresses by which a program reaches a database."""
    imported = rf"\b(?:import|from)\s+(?:{modules})\b"
    tasks = rf"\b(?:{operators})\w*(?:Operator|Hook|Sensor)\b"
    said = re.sub(r"\w\?|\\s\+import", " ", f"{modules} {operators} {scheme}".lower())
    words = " ".join(re.findall(r"[a-z0-9_]{4,}", said))
    return _build_sign(
        dialect, f"a connector for {name}", rf"{imported}|{tasks}|['\"](?:{scheme})(?:\+\w+)?://", worth, words
    )


HOST_SIGNS: tuple[DialectSign, ...] = (
    _build_sign("databricks", "a Databricks notebook", r"\A\ufeff?(#|--|//) Databricks notebook source", 9),
    _build_sign("spark", "spark.sql", r"\b(spark\w*|sql_?context|hive_?context)\.sql\s*\(", 3),
    _build_driver_sign(
        "databricks", "Databricks", r"databricks\s+import\s+sql|databricks\.sql", "DatabricksSql", "databricks", 5
    ),
    _build_driver_sign("spark", "Spark", "pyspark", "SparkSql", "spark", 3),
    _build_driver_sign("snowflake", "Snowflake", "snowflake", "Snowflake", "snowflake"),
    _build_driver_sign(
        "bigquery", "BigQuery", r"google\.cloud\.bigquery|google\.cloud\s+import\s+bigquery", "BigQuery", "bigquery"
    ),
    _build_sign("bigquery", "%%bigquery", r"%%bigquery\b|%load_ext\s+google\.cloud\.bigquery|\bread_gbq\b", 4),
    # Redshift is reached by the drivers of PostgreSQL as well.
    _build_driver_sign("postgres", "PostgreSQL", "psycopg2?|asyncpg|pg8000|aiopg", "Postgres", "postgres(?:ql)?", 3),
    _build_driver_sign("redshift", "Redshift", "redshift_connector", "Redshift", "redshift"),
    _build_driver_sign("mysql", "MySQL", r"pymysql|MySQLdb|aiomysql|mysql\.connector", "MySql", "mysql|mariadb"),
    _build_driver_sign("tsql", "SQL Server", "pymssql", "MsSql", "mssql"),
    _build_driver_sign("oracle", "Oracle", "cx_Oracle|oracledb", "Oracle", "oracle"),
    _build_driver_sign("sqlite", "SQLite", "sqlite3|aiosqlite", "Sqlite", "sqlite"),
    _build_driver_sign("duckdb", "DuckDB", "duckdb", "DuckDB", "duckdb"),
    _build_driver_sign("trino", "Trino", "trino", "Trino", "trino"),
    _build_driver_sign("presto", "Presto", "prestodb", "Presto", "presto"),
    _build_driver_sign("athena", "Athena", "pyathena", "Athena", "awsathena"),
    _build_driver_sign("hive", "Hive", "pyhive", "Hive", "hive"),
    _build_driver_sign("clickhouse", "ClickHouse", "clickhouse_connect|clickhouse_driver", "ClickHouse", "clickhouse"),
    _build_driver_sign("teradata", "Teradata", "teradatasql", "Teradata", "teradatasql"),
)
"""Signs in a program or notebook: the drivers it passes its SQL to."""

PROJECT_DIALECTS = {".sqlproj": "tsql"}
"""Project files whose SQL is all of one dialect, by file suffix."""

MIN_WEIGHT = 3
"""Total weight from which a dialect is detected."""

MAX_TEXT_LENGTH = 200_000
"""How many characters of a text are searched."""


class DialectGuess(msgspec.Struct, frozen=True):
    """A detected dialect and the signs found."""

    dialect: str
    signs: tuple[str, ...]


def guess_dialect(text: str, host: str = "") -> DialectGuess | None:
    """Return the dialect with the highest total weight, or None where it is low or tied.

    `host` is the program or notebook that the text was extracted from.
    """
    found: dict[str, list[DialectSign]] = {}
    for signs, sample in ((SIGNS, text[:MAX_TEXT_LENGTH]), (HOST_SIGNS, host[:MAX_TEXT_LENGTH])):
        lowered = sample.lower()
        for sign in signs if sample else ():
            if sign.matches(sample, lowered):
                found.setdefault(sign.dialect, []).append(sign)
    worth = sorted(((sum(sign.worth for sign in signs), dialect) for dialect, signs in found.items()), reverse=True)
    if not worth or worth[0][0] < MIN_WEIGHT or (len(worth) > 1 and worth[1][0] == worth[0][0]):
        return None
    dialect = worth[0][1]
    return DialectGuess(dialect, tuple(sign.name for sign in found[dialect]))
