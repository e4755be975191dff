"""What gives a dialect away: words and signs that hardly any other dialect has, and how much each is worth."""

import re

import msgspec


class Sign(msgspec.Struct, frozen=True):
    """One sign of a dialect: what it is called, what it looks like, and its worth; 3 is as good as certain.

    No text without one of its `words` has it, which is quicker to see.
    """

    dialect: str
    name: str
    pattern: re.Pattern[str]
    worth: int = 1
    words: tuple[str, ...] = ()

    def is_in(self, text: str, lowered: str) -> bool:
        """Say whether a text has the sign."""
        return any(word in lowered for word in self.words or ("",)) and self.pattern.search(text) is not None


def _sign(dialect: str, name: str, pattern: str, worth: int = 1, words: str = "") -> Sign:
    return Sign(dialect, name, re.compile(pattern, re.IGNORECASE | re.MULTILINE), worth, tuple(words.split()))


SIGNS: tuple[Sign, ...] = (
    _sign("tsql", "GO on a line of its own", r"^[ \t]*GO[ \t]*\r?$", 3, "go"),
    _sign("tsql", "names in brackets", r"\[\w+\]\.\[\w+\]", 3, "].["),
    _sign("tsql", "SET NOCOUNT ON", r"\bSET\s+NOCOUNT\s+ON\b", 3, "nocount"),
    _sign("tsql", "variables with @", r"\bDECLARE\s+@\w+", 2, "declare"),
    _sign("tsql", "NVARCHAR(MAX)", r"\bN?VARCHAR\s*\(\s*MAX\s*\)", 2, "varchar"),
    _sign(
        "tsql",
        "GETDATE, ISNULL, CONVERT or DATEADD",
        r"\b(GETDATE\(\)|ISNULL\(|CONVERT\(\s*N?\w+(\(\d+\))?\s*,)",
        words="getdate isnull convert",
    ),
    _sign("tsql", "SELECT TOP", r"\bSELECT\s+TOP\s*\(?\d+", words="top"),
    _sign("tsql", "the schema dbo", r"\bdbo\.\w", words="dbo."),
    _sign("postgres", "LANGUAGE plpgsql", r"\bLANGUAGE\s+'?plpgsql", 3, "plpgsql"),
    _sign("postgres", "SERIAL columns", r"\b(BIG)?SERIAL\b", 2, "serial"),
    _sign("postgres", "casts with ::", r"[\w)'\"]::\s*[a-z]\w*", words="::"),
    _sign(
        "postgres",
        "JSONB, TIMESTAMPTZ or BYTEA",
        r"\b(JSONB|TIMESTAMPTZ|BYTEA|TSVECTOR)\b",
        words="jsonb timestamptz bytea tsvector",
    ),
    _sign("postgres", "ON CONFLICT", r"\bON\s+CONFLICT\s*(\(|DO\b)", words="conflict"),
    _sign("snowflake", "QUALIFY", r"\bQUALIFY\b", 2, "qualify"),
    _sign(
        "snowflake", "paths into VARIANT with a cast", r"[\w\"\])]:[a-z_]\w*(?:[.\[][\w'.\[\]]*)?::\s*[a-z]", 4, "::"
    ),
    _sign("snowflake", "VARIANT columns", r"\bVARIANT\b", 2, "variant"),
    _sign(
        "snowflake", "LATERAL FLATTEN", r"\b(LATERAL|TABLE\s*\()\s*FLATTEN\s*\(|\bFLATTEN\s*\(\s*INPUT\b", 3, "flatten"
    ),
    _sign(
        "snowflake",
        "OBJECT_CONSTRUCT, TRY_TO_… or IFF",
        r"\b(OBJECT_CONSTRUCT|TRY_TO_\w+|TO_VARIANT|IFF|ZEROIFNULL)\s*\(",
        words="object_construct try_to_ to_variant iff zeroifnull",
    ),
    _sign("snowflake", "TRANSIENT tables", r"\bTRANSIENT\s+TABLE\b|\bCOPY\s+GRANTS\b", 3, "transient grants"),
    _sign("snowflake", "TIMESTAMP_NTZ", r"\bTIMESTAMP_(NTZ|LTZ|TZ)\b", 2, "timestamp_"),
    _sign(
        "snowflake",
        "stages, streams, tasks and warehouses",
        r"\bCREATE\s+(OR\s+REPLACE\s+)?(STAGE|STREAM|TASK|PIPE|WAREHOUSE|FILE\s+FORMAT)\b",
        3,
        "stage stream task pipe warehouse format",
    ),
    _sign("snowflake", "COPY INTO from a stage", r"\bCOPY\s+INTO\b[^;]*\bFROM\s+@", 3, "copy"),
    _sign("bigquery", "names of projects in backticks", r"`[\w-]+\.\w+\.\w+`", 3, "`"),
    _sign(
        "bigquery", "SAFE_CAST, SAFE_DIVIDE or SAFE.", r"\bSAFE(_CAST|_DIVIDE)\s*\(|\bSAFE\.\w+\s*\(", 3, "safe_ safe."
    ),
    _sign("bigquery", "STRUCT< or ARRAY< with INT64", r"\b(INT64|FLOAT64|BIGNUMERIC)\b", 2, "int64 float64 bignumeric"),
    _sign("bigquery", "UNNEST WITH OFFSET", r"\bWITH\s+OFFSET\b", 2, "offset"),
    _sign("bigquery", "* EXCEPT (…)", r"\*\s*EXCEPT\s*\(\s*\w+\s*[,)]", 3, "except"),
    _sign(
        "bigquery",
        "_TABLE_SUFFIX or _PARTITIONTIME",
        r"\b_(TABLE_SUFFIX|PARTITIONTIME|PARTITIONDATE)\b",
        3,
        "_table_ _partition",
    ),
    _sign(
        "bigquery",
        "PARSE_DATE, FORMAT_DATE or TIMESTAMP_TRUNC",
        r"\b((PARSE|FORMAT)_(DATE|DATETIME|TIMESTAMP)|TIMESTAMP_(TRUNC|DIFF|SECONDS|MILLIS)|GENERATE_DATE_ARRAY)\s*\(",
        2,
        "parse_ format_ timestamp_ generate_",
    ),
    _sign("oracle", "VARCHAR2 or NUMBER columns", r"\bVARCHAR2\b", 3, "varchar2"),
    _sign("oracle", "a block that ends with a slash", r"^[ \t]*END\b[^;\n]*;\s*\n/[ \t]*\r?$", 3, "\n/"),
    _sign("oracle", "SYSDATE, DUAL or NVL2", r"\b(FROM\s+DUAL|SYSDATE|NVL2\()\b", words="dual sysdate nvl2"),
    _sign("oracle", "CONNECT BY", r"\bCONNECT\s+BY\s+(PRIOR|NOCYCLE|LEVEL|\w+)", 3, "connect"),
    _sign("oracle", "outer joins with (+)", r"\w\s*\(\+\)", 3, "(+)"),
    _sign("oracle", "ROWNUM", r"\b(WHERE|AND|ON)\s+ROWNUM\s*[<=>]|[<=>]\s*ROWNUM\b", 3, "rownum"),
    _sign("oracle", "%TYPE or %ROWTYPE", r"\w%(ROW)?TYPE\b", 2, "%type %rowtype"),
    _sign("mysql", "names in backticks with ENGINE=", r"\)\s*ENGINE\s*=\s*\w+", 3, "engine"),
    _sign("mysql", "AUTO_INCREMENT", r"\bAUTO_INCREMENT\b", 3, "auto_increment"),
    _sign("mysql", "DELIMITER", r"^DELIMITER\s+\S+", 3, "delimiter"),
    _sign("spark", "USING DELTA or PARQUET", r"\bUSING\s+(DELTA|PARQUET|ICEBERG|ORC|CSV|JSON)\b", 3, "using"),
    _sign("spark", "LATERAL VIEW", r"\bLATERAL\s+VIEW\b", 2, "lateral"),
    _sign("spark", "INSERT OVERWRITE", r"\bINSERT\s+OVERWRITE\b", 2, "overwrite"),
    _sign(
        "spark",
        "INSERT OVERWRITE of a partition",
        r"\bINSERT\s+OVERWRITE\s+(TABLE\s+)?[^\s(;]+\s+PARTITION\s*\(",
        1,
        "overwrite",
    ),
    _sign("hive", "STORED AS", r"\bSTORED\s+AS\s+\w+", 2, "stored"),
    _sign("hive", "ROW FORMAT", r"\bROW\s+FORMAT\s+(SERDE|DELIMITED)\b", 3, "format"),
    _sign("hive", "settings of Hive", r"^[ \t]*SET\s+hive\.|\$\{hive(conf|var):", 4, "hive"),
    _sign(
        "databricks",
        "OPTIMIZE, ZORDER or LIVE tables",
        r"\b(ZORDER\s+BY|(STREAMING|LIVE)\s+(LIVE\s+)?TABLE)\b",
        3,
        "zorder live streaming",
    ),
    _sign("redshift", "DISTKEY, SORTKEY or DISTSTYLE", r"\b(DISTKEY|SORTKEY|DISTSTYLE)\b", 3, "dist sortkey"),
    _sign("duckdb", "read_parquet and friends", r"\bread_(parquet|csv|csv_auto|json|json_auto)\s*\(", 3, "read_"),
    _sign(
        "teradata",
        "PRIMARY INDEX, MULTISET or SEL",
        r"\b(MULTISET|VOLATILE)\s+TABLE\b|\bPRIMARY\s+INDEX\s*\(",
        3,
        "multiset volatile index",
    ),
    _sign("clickhouse", "MergeTree", r"\bENGINE\s*=\s*\w*MergeTree\b", 4, "mergetree"),
    _sign(
        "sqlite",
        "AUTOINCREMENT or WITHOUT ROWID",
        r"\bPRIMARY\s+KEY\s+AUTOINCREMENT\b|\bWITHOUT\s+ROWID\b",
        3,
        "autoincrement rowid",
    ),
    _sign(
        "trino", "tables WITH (format = …)", r"\bWITH\s*\(\s*(format|partitioned_by|external_location)\s*=", 3, "with"
    ),
)
"""The signs; a dialect is told by what those found in a text are worth together."""


def _driver(dialect: str, name: str, modules: str, operators: str, scheme: str, worth: int = 4) -> Sign:
    """Make a sign of the modules, the operators and hooks, and the addresses by which a program reaches a database."""
    imported = rf"\b(?:import|from)\s+(?:{modules})\b"
    tasks = rf"\b(?:{operators})\w*(?:Operator|Hook|Sensor)\b"
    said = re.sub(r"\w\?|\\s\+import", " ", f"{modules} {operators} {scheme}".lower())
    words = " ".join(re.findall(r"[a-z0-9_]{4,}", said))
    return _sign(
        dialect, f"a connector for {name}", rf"{imported}|{tasks}|['\"](?:{scheme})(?:\+\w+)?://", worth, words
    )


HOST_SIGNS: tuple[Sign, ...] = (
    _sign("databricks", "a Databricks notebook", r"\A\ufeff?(#|--|//) Databricks notebook source", 9),
    _sign("spark", "spark.sql", r"\b(spark\w*|sql_?context|hive_?context)\.sql\s*\(", 3),
    _driver("databricks", "Databricks", r"databricks\s+import\s+sql|databricks\.sql", "DatabricksSql", "databricks", 5),
    _driver("spark", "Spark", "pyspark", "SparkSql", "spark", 3),
    _driver("snowflake", "Snowflake", "snowflake", "Snowflake", "snowflake"),
    _driver(
        "bigquery", "BigQuery", r"google\.cloud\.bigquery|google\.cloud\s+import\s+bigquery", "BigQuery", "bigquery"
    ),
    _sign("bigquery", "%%bigquery", r"%%bigquery\b|%load_ext\s+google\.cloud\.bigquery|\bread_gbq\b", 4),
    # Redshift is reached by the drivers of PostgreSQL as well.
    _driver("postgres", "PostgreSQL", "psycopg2?|asyncpg|pg8000|aiopg", "Postgres", "postgres(?:ql)?", 3),
    _driver("redshift", "Redshift", "redshift_connector", "Redshift", "redshift"),
    _driver("mysql", "MySQL", r"pymysql|MySQLdb|aiomysql|mysql\.connector", "MySql", "mysql|mariadb"),
    _driver("tsql", "SQL Server", "pymssql", "MsSql", "mssql"),
    _driver("oracle", "Oracle", "cx_Oracle|oracledb", "Oracle", "oracle"),
    _driver("sqlite", "SQLite", "sqlite3|aiosqlite", "Sqlite", "sqlite"),
    _driver("duckdb", "DuckDB", "duckdb", "DuckDB", "duckdb"),
    _driver("trino", "Trino", "trino", "Trino", "trino"),
    _driver("presto", "Presto", "prestodb", "Presto", "presto"),
    _driver("athena", "Athena", "pyathena", "Athena", "awsathena"),
    _driver("hive", "Hive", "pyhive", "Hive", "hive"),
    _driver("clickhouse", "ClickHouse", "clickhouse_connect|clickhouse_driver", "ClickHouse", "clickhouse"),
    _driver("teradata", "Teradata", "teradatasql", "Teradata", "teradatasql"),
)
"""What a program or a notebook gives away by whom it hands its SQL to."""

PROJECTS = {".sqlproj": "tsql"}
"""The files of projects whose SQL is all of one dialect, by the ends of their names."""

ENOUGH = 3
"""What the signs of a dialect have to be worth."""

LONGEST = 200_000
"""How many characters of a text are looked at."""


class Guess(msgspec.Struct, frozen=True):
    """A dialect and the signs of it that were found."""

    dialect: str
    signs: tuple[str, ...]


def guess_dialect(text: str, host: str = "") -> Guess | None:
    """Give the dialect whose signs are worth most, or None where they are worth little or as much as another's.

    `host` is the program or the notebook that the text was taken from.
    """
    found: dict[str, list[Sign]] = {}
    for signs, sample in ((SIGNS, text[:LONGEST]), (HOST_SIGNS, host[:LONGEST])):
        lowered = sample.lower()
        for sign in signs if sample else ():
            if sign.is_in(sample, lowered):
                found.setdefault(sign.dialect, []).append(sign)
    worth = sorted(((sum(sign.worth for sign in signs), dialect) for dialect, signs in found.items()), reverse=True)
    if not worth or worth[0][0] < ENOUGH or (len(worth) > 1 and worth[1][0] == worth[0][0]):
        return None
    dialect = worth[0][1]
    return Guess(dialect, tuple(sign.name for sign in found[dialect]))
