"""Words of definitions: what is kept of a table or a view that the parser cannot read as a whole."""

KINDS = frozenset("OR REPLACE ALTER TEMPORARY TEMP GLOBAL MATERIALIZED EXTERNAL TRANSIENT".split())
"""Words before TABLE or VIEW that say what is created."""

LISTED = frozenset("OF AS".split())
"""Words that may stand between a name and the brackets of its columns."""

BEFORE_QUERY = frozenset("SELECT WITH VALUES FROM TABLE".split())
"""Words that begin the query of a definition."""

BEHIND_QUERY: tuple[tuple[str, ...], ...] = (
    ("WITH", "NO", "DATA"),
    ("WITH", "DATA"),
    ("WITH", "CHECK"),
    ("WITH", "CASCADED"),
    ("WITH", "LOCAL"),
    ("WITH", "READ"),
    ("WITH", "NO", "SCHEMA"),
    ("COMMENT", "IS"),
    ("DISTRIBUTED", "BY"),
    ("DISTRIBUTED", "RANDOMLY"),
)
"""What may stand behind that query and is no part of it."""

KEPT_CLAUSES: tuple[tuple[str, ...], ...] = (
    ("PARTITIONED", "BY"),
    ("PARTITIONED BY",),
    ("LIKE",),
    ("CLONE",),
    ("INHERITS",),
)
"""Clauses behind the columns that name columns or another table."""

TABLE_KEYS = frozenset(
    "CONSTRAINT UNIQUE CHECK KEY INDEX EXCLUDE PERIOD FULLTEXT SPATIAL LIKE WATERMARK PROJECTION SHARD PARTITION "
    "SUPPLEMENTAL".split()
) | {"PRIMARY KEY", "FOREIGN KEY"}
"""Words that begin an item of a column list which is no column."""

TYPE_ENDS = frozenset(
    "NOT NULL DEFAULT UNIQUE REFERENCES CHECK COLLATE COMMENT GENERATED AS IDENTITY AUTO_INCREMENT AUTOINCREMENT "
    "ENCODE CONSTRAINT STORAGE COMPRESSION ENABLE DISABLE MASKING VIRTUAL STORED INVISIBLE VISIBLE SRID ON KEY CHARSET "
    "ZEROFILL BINARY FORMAT CODEC TTL METADATA OPTIONS SORTKEY DISTKEY FOR EPHEMERAL ALIAS MATERIALIZED PERSISTENT "
    "SPARSE ENCRYPT CASESPECIFIC COMPRESS TITLE TAG PROJECTION STATISTICS ENFORCED RELY NORELY DEFERRABLE INITIALLY "
    "SUM MIN MAX REPLACE HLL_UNION BITMAP_UNION REPLACE_IF_NOT_NULL UPPERCASE LOGGED INLINE NOVALIDATE "
    "PERCENTILE_UNION QUANTILE_UNION".split()
) | {"PRIMARY KEY", "CHARACTER SET"}
"""Words behind the type of a column."""

BEHIND_TYPE: tuple[tuple[str, ...], ...] = (
    ("NOT", "NULL"),
    ("PRIMARY KEY",),
    ("GENERATED", "ALWAYS", "AS", "IDENTITY"),
    ("GENERATED", "BY", "DEFAULT", "AS", "IDENTITY"),
    ("GENERATED", "BY", "DEFAULT", "ON", "NULL", "AS", "IDENTITY"),
    ("AUTO_INCREMENT",),
    ("AUTOINCREMENT",),
)
"""What is kept of them, beside the expression of a computed column."""
