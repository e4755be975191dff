"""Pseudo columns: columns that engines provide without a declaration, and keywords that are values."""

_TRIGGER_VARIABLES = frozenset(
    "TG_OP TG_NAME TG_WHEN TG_LEVEL TG_RELID TG_RELNAME TG_TABLE_NAME TG_TABLE_SCHEMA TG_NARGS TG_ARGV TG_EVENT "
    "TG_TAG".split()
)
"""Variables of a trigger function in PL/pgSQL."""

_ROLE_KEYWORDS = frozenset("CURRENT_USER SESSION_USER USER CURRENT_ROLE".split())
"""PostgreSQL: role keywords, which are columns only in quotes."""

_POSTGRES = (
    _TRIGGER_VARIABLES | _ROLE_KEYWORDS | frozenset("CURRENT_DATE CURRENT_TIMESTAMP FOUND SQLSTATE SQLERRM".split())
)

VALUE_KEYWORDS: dict[str, frozenset[str]] = {
    "": frozenset(
        "ROWNUM LEVEL SYSDATE SYSTIMESTAMP ROWID USER CURRENT_USER SESSION_USER CURRENT_DATE CURRENT_TIMESTAMP".split()
    ),
    "hive": frozenset("GROUPING__ID CURRENT_DATE CURRENT_TIMESTAMP".split()),
    "spark": frozenset("GROUPING__ID CURRENT_DATE CURRENT_TIMESTAMP CURRENT_USER".split()),
    "oracle": frozenset(
        "ROWNUM LEVEL SYSDATE SYSTIMESTAMP USER UID CURRENT_DATE CURRENT_TIMESTAMP LOCALTIMESTAMP SESSIONTIMEZONE "
        "DBTIMEZONE CONNECT_BY_ISLEAF CONNECT_BY_ISCYCLE SQLCODE SQLERRM".split()
    ),
    "postgres": _POSTGRES,
    "redshift": _POSTGRES | frozenset(["SYSDATE", "LEVEL"]),
    "snowflake": frozenset(
        "CURRENT_USER CURRENT_DATE CURRENT_TIMESTAMP LEVEL SQLCODE SQLERRM SQLSTATE SQLROWCOUNT SQLFOUND "
        "SQLNOTFOUND".split()
    ),
}
"""Keywords that are values of the engine, by dialect; the empty name is for all dialects without a row."""

_SEQUENCE_COLUMNS = frozenset("NEXTVAL CURRVAL".split())

SEQUENCE_COLUMNS: dict[str, frozenset[str]] = {
    "": _SEQUENCE_COLUMNS,
    "oracle": _SEQUENCE_COLUMNS,
    "snowflake": frozenset(["NEXTVAL"]),
    "exasol": _SEQUENCE_COLUMNS,
}
"""Pseudo columns of a sequence, by dialect."""

RESERVED_VALUES: dict[str, frozenset[str]] = {
    "postgres": _TRIGGER_VARIABLES | _ROLE_KEYWORDS,
    "oracle": frozenset("ROWNUM LEVEL SYSDATE SYSTIMESTAMP USER UID CONNECT_BY_ISLEAF CONNECT_BY_ISCYCLE".split()),
    "snowflake": frozenset(["LEVEL"]),
    "exasol": frozenset("ROWNUM LEVEL SYSDATE USER CURRENT_SESSION CURRENT_STATEMENT CURRENT_SCHEMA".split()),
    "teradata": frozenset("DATE TIME USER".split()),
    "hive": frozenset(["GROUPING__ID"]),
    "spark": frozenset(["GROUPING__ID"]),
    "databricks": frozenset(["GROUPING__ID"]),
}
"""Value keywords that no table can have as a column."""

TABLE_PSEUDO_COLUMNS: dict[str, frozenset[str]] = {
    "bigquery": frozenset(
        "_PARTITIONTIME _PARTITIONDATE _TABLE_SUFFIX _FILE_NAME _CHANGE_TYPE _CHANGE_TIMESTAMP".split()
    ),
    "snowflake": frozenset(
        "METADATA$ACTION METADATA$ISUPDATE METADATA$ROW_ID METADATA$FILENAME METADATA$FILE_ROW_NUMBER "
        "METADATA$FILE_CONTENT_KEY METADATA$FILE_LAST_MODIFIED METADATA$START_SCAN_TIME".split()
    ),
    "oracle": frozenset(
        "ROWID ORA_ROWSCN VERSIONS_STARTTIME VERSIONS_STARTSCN VERSIONS_ENDTIME VERSIONS_ENDSCN VERSIONS_XID "
        "VERSIONS_OPERATION COLUMN_VALUE OBJECT_VALUE".split()
    ),
    "postgres": frozenset("CTID XMIN XMAX CMIN CMAX TABLEOID".split()),
    "redshift": frozenset("OID CTID".split()),
    "hive": frozenset("INPUT__FILE__NAME BLOCK__OFFSET__INSIDE__FILE ROW__ID".split()),
    "spark": frozenset("_METADATA _CHANGE_TYPE _COMMIT_VERSION _COMMIT_TIMESTAMP".split()),
    "databricks": frozenset("_METADATA _CHANGE_TYPE _COMMIT_VERSION _COMMIT_TIMESTAMP _RESCUED_DATA".split()),
    "duckdb": frozenset("ROWID FILENAME FILE_ROW_NUMBER".split()),
    "clickhouse": frozenset(
        "_PART _PART_INDEX _PARTITION_ID _PARTITION_VALUE _TABLE _DATABASE _FILE _PATH _SIZE _SAMPLE_FACTOR "
        "_ROW_EXISTS _PART_OFFSET".split()
    ),
    "trino": frozenset("$PATH $BUCKET $PARTITION $FILE_SIZE $FILE_MODIFIED_TIME $ROW_ID $SNAPSHOT_ID".split()),
    "tsql": frozenset("$ACTION $IDENTITY $ROWGUID $PARTITION $NODE_ID $EDGE_ID $FROM_ID $TO_ID".split()),
    "sqlite": frozenset("ROWID OID _ROWID_".split()),
}
"""Columns that tables have beside those of their schema, by dialect."""

TABLE_PSEUDO_COLUMNS |= dict.fromkeys(("athena", "presto"), TABLE_PSEUDO_COLUMNS["trino"])
"""Columns that tables have beside those of their schema, by dialect."""

_CHANGE_COLUMNS = {"_CHANGE_TYPE": "STRING", "_COMMIT_VERSION": "BIGINT", "_COMMIT_TIMESTAMP": "TIMESTAMP"}

PSEUDO_COLUMN_TYPES: dict[str, dict[str, str]] = {
    "oracle": {
        **dict.fromkeys("ROWNUM LEVEL UID CONNECT_BY_ISLEAF CONNECT_BY_ISCYCLE ORA_ROWSCN SQLCODE".split(), "NUMBER"),
        **dict.fromkeys(_SEQUENCE_COLUMNS, "NUMBER"),
        **dict.fromkeys("SYSDATE CURRENT_DATE".split(), "DATE"),
        **dict.fromkeys("SYSTIMESTAMP CURRENT_TIMESTAMP".split(), "TIMESTAMP WITH TIME ZONE"),
        **dict.fromkeys("USER SESSIONTIMEZONE DBTIMEZONE SQLERRM VERSIONS_OPERATION".split(), "VARCHAR2"),
        "LOCALTIMESTAMP": "TIMESTAMP",
        "ROWID": "ROWID",
    },
    "postgres": {
        **dict.fromkeys("TG_OP TG_WHEN TG_LEVEL TG_EVENT TG_TAG SQLSTATE SQLERRM".split(), "TEXT"),
        **dict.fromkeys("TG_NAME TG_RELNAME TG_TABLE_NAME TG_TABLE_SCHEMA".split(), "NAME"),
        **dict.fromkeys(sorted(_ROLE_KEYWORDS), "NAME"),
        **{"TG_NARGS": "INT", "TG_ARGV": "TEXT[]", "FOUND": "BOOLEAN", "CTID": "TID", "XMIN": "XID", "XMAX": "XID"},
        **{"CMIN": "CID", "CMAX": "CID", "TABLEOID": "OID", "TG_RELID": "OID"},
    },
    "bigquery": {
        **dict.fromkeys("_TABLE_SUFFIX _FILE_NAME _CHANGE_TYPE".split(), "STRING"),
        **dict.fromkeys("_PARTITIONTIME _CHANGE_TIMESTAMP".split(), "TIMESTAMP"),
        "_PARTITIONDATE": "DATE",
    },
    "snowflake": {
        **dict.fromkeys(
            "METADATA$ACTION METADATA$ROW_ID METADATA$FILENAME METADATA$FILE_CONTENT_KEY SQLERRM SQLSTATE".split(),
            "VARCHAR",
        ),
        **dict.fromkeys("METADATA$ISUPDATE SQLFOUND SQLNOTFOUND".split(), "BOOLEAN"),
        **dict.fromkeys("METADATA$FILE_ROW_NUMBER LEVEL NEXTVAL SQLCODE SQLROWCOUNT".split(), "NUMBER(38,0)"),
        "METADATA$FILE_LAST_MODIFIED": "TIMESTAMP_NTZ",
        "METADATA$START_SCAN_TIME": "TIMESTAMP_LTZ",
    },
    "spark": _CHANGE_COLUMNS,
    "databricks": {**_CHANGE_COLUMNS, "_RESCUED_DATA": "STRING"},
    "hive": {"INPUT__FILE__NAME": "STRING", "BLOCK__OFFSET__INSIDE__FILE": "BIGINT"},
    "duckdb": {"ROWID": "BIGINT", "FILENAME": "VARCHAR", "FILE_ROW_NUMBER": "BIGINT"},
    **dict.fromkeys(
        ("trino", "athena", "presto"),
        {"$PATH": "VARCHAR", "$PARTITION": "VARCHAR", "$BUCKET": "INTEGER", "$FILE_SIZE": "BIGINT"},
    ),
    "sqlite": dict.fromkeys("ROWID OID _ROWID_".split(), "INTEGER"),
}
"""Types of pseudo columns, as documented by each dialect."""
