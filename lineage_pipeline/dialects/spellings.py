"""Spellings and clauses that the parser does not know, and what replaces them."""

import msgspec


class DroppedClause(msgspec.Struct, frozen=True):
    """A clause: its words, whether brackets or a name follow, and its statements (none listed: any).

    Statements are given by their first word; one that defines a table is a TABLE.
    """

    words: tuple[str, ...]
    brackets: bool = False
    name: bool = False
    within: frozenset[str] = frozenset()


_TABLE_STATEMENTS = frozenset({"TABLE"})
_HINT_WORDS = (
    "NOLOCK READUNCOMMITTED UPDLOCK REPEATABLEREAD SERIALIZABLE READCOMMITTED TABLOCK TABLOCKX PAGLOCK ROWLOCK NOWAIT "
    "READPAST XLOCK SNAPSHOT NOEXPAND FORCESEEK FORCESCAN HOLDLOCK INDEX KEEPIDENTITY IGNORE_TRIGGERS".split()
)

TABLE_HINTS = frozenset(_HINT_WORDS)
"""T-SQL: words that may stand first in the brackets of a table hint."""

TSQL_DROPPED_CLAUSES: tuple[DroppedClause, ...] = (
    DroppedClause(("OPTION",), brackets=True),
    DroppedClause(("CLUSTERED", "COLUMNSTORE"), within=_TABLE_STATEMENTS),
    DroppedClause(("NONCLUSTERED", "HASH"), within=_TABLE_STATEMENTS),
    DroppedClause(("CLUSTERED",), within=_TABLE_STATEMENTS),
    DroppedClause(("NONCLUSTERED",), within=_TABLE_STATEMENTS),
    DroppedClause(("ROWGUIDCOL",), within=_TABLE_STATEMENTS),
    DroppedClause(("ASC",), within=_TABLE_STATEMENTS),
    DroppedClause(("DESC",), within=_TABLE_STATEMENTS),
    DroppedClause(("SPARSE",), within=_TABLE_STATEMENTS),
    DroppedClause(("NOT", "FOR", "REPLICATION"), within=_TABLE_STATEMENTS),
    DroppedClause(("MASKED", "WITH"), brackets=True, within=_TABLE_STATEMENTS),
    DroppedClause(("TEXTIMAGE_ON",), name=True, within=_TABLE_STATEMENTS),
    DroppedClause(("FILESTREAM_ON",), name=True, within=_TABLE_STATEMENTS),
    DroppedClause(("WITH", "RESULT", "SETS"), brackets=True),
    DroppedClause(("AS", "NODE"), within=_TABLE_STATEMENTS),
    DroppedClause(("AS", "EDGE"), within=_TABLE_STATEMENTS),
)

HIVE_DROPPED_CLAUSES: tuple[DroppedClause, ...] = (
    DroppedClause(("DISABLE", "REWRITE")),
    DroppedClause(("ENABLE", "REWRITE")),
    DroppedClause(("IF", "NOT", "EXISTS"), within=frozenset({"INSERT"})),
)


DROPPED_CLAUSES: dict[str, tuple[DroppedClause, ...]] = {"tsql": TSQL_DROPPED_CLAUSES, "hive": HIVE_DROPPED_CLAUSES}
"""Clauses to drop before parsing, by dialect family."""


GROUP_ENDS = frozenset({"HAVING", "ORDER BY", "LIMIT", "WINDOW", "QUALIFY", "UNION", "INTO", "FOR", ")"})
"""Words that end GROUP BY."""

JSON_CLAUSES: tuple[tuple[str, ...], ...] = (
    ("RETURNING",),
    ("WITH",),
    ("WITHOUT",),
    ("KEEP",),
    ("OMIT",),
    ("PASSING",),
    ("ERROR", "ON"),
    ("EMPTY",),
    ("ABSENT", "ON"),
    ("NULL", "ON"),
    ("FORMAT",),
)
"""Words that begin the options of a JSON function, after its arguments."""

PIPE_STARS = {"DROP": "EXCEPT", "RENAME": "RENAME", "SET": "REPLACE"}
"""Pipe operators, and the star modifier with the same meaning."""

LITERAL_FORMATS = frozenset("FORMAT CASESPECIFIC CS UPPERCASE UC TITLE".split())
"""Words in brackets after a value that only say how it is displayed or compared."""

VALUE_TYPES = frozenset(
    "DATE INTEGER INT SMALLINT BIGINT BYTEINT DECIMAL NUMERIC FLOAT CHAR VARCHAR TIMESTAMP TIME DEC NAMED".split()
)
"""Types that may stand there too."""

SCORING_PREFIXES = ("PREDICTION", "CLUSTER_", "FEATURE_", "ORA_DM_")
"""Prefixes of functions that apply a model to columns: `PREDICTION(model USING a, b)`."""


class Spelling(msgspec.Struct, frozen=True):
    """Words, and the words that the parser understands instead; none where they do not affect lineage.

    `brackets` or a number of `values` after the words are dropped with them; `leading` ones begin the statement;
    `within` are the first words of their statements (none listed: any).
    """

    words: tuple[str, ...]
    instead: tuple[str, ...] = ()
    brackets: bool = False
    values: int = 0
    leading: bool = False
    within: frozenset[str] = frozenset()


_JOIN_STRICTNESS = ("ANY", "ALL", "ASOF", "SEMI", "ANTI")


def _plain_spellings(*pairs: tuple[str, str]) -> tuple[Spelling, ...]:
    """Build plain spellings: words, and the words instead."""
    return tuple(Spelling(tuple(words.split()), tuple(instead.split())) for words, instead in pairs)


_DEFINITION_STATEMENTS = frozenset({"CREATE", "REPLACE", "ALTER"})

SPELLINGS: dict[str, tuple[Spelling, ...]] = {
    "": (
        Spelling(("TABLE",), ("SELECT", "*", "FROM"), leading=True),
        Spelling(("TABLESAMPLE",), brackets=True),
        Spelling(("OVERRIDING", "SYSTEM", "VALUE")),
        Spelling(("OVERRIDING", "USER", "VALUE")),
        Spelling(("USING", "KEY"), brackets=True),
        *(Spelling(("AT", kind), values=1) for kind in ("BRANCH", "TAG", "COMMIT", "REFERENCE")),
        *_plain_spellings(
            ("CREATE VDS", "CREATE VIEW"),
            ("CREATE OR REPLACE VDS", "CREATE OR REPLACE VIEW"),
            ("CREATE LOCAL TEMPORARY", "CREATE TEMPORARY"),
            ("CREATE LOCAL TEMP", "CREATE TEMPORARY"),
            ("CREATE FOREIGN TABLE", "CREATE EXTERNAL TABLE"),
            ("DROP FOREIGN TABLE", "DROP TABLE"),
            ("DROP EXTERNAL TABLE", "DROP TABLE"),
            ("DROP ICEBERG TABLE", "DROP TABLE"),
            ("DROP DYNAMIC TABLE", "DROP TABLE"),
            ("DROP STREAMING TABLE", "DROP TABLE"),
        ),
    ),
    "clickhouse": (
        *(Spelling((word, "OUTER"), (word,)) for word in _JOIN_STRICTNESS),
        Spelling(("SYNC",), within=frozenset({"TRUNCATE"})),
        Spelling(("COMMENT",), values=1, within=_DEFINITION_STATEMENTS),
    ),
    "sqlite": tuple(
        Spelling(("UPDATE", "OR", word), ("UPDATE",), leading=True)
        for word in ("ABORT", "FAIL", "IGNORE", "REPLACE", "ROLLBACK")
    ),
    "postgres": (
        Spelling(("VARIADIC",)),
        Spelling(("OPTIONS",), brackets=True, within=_DEFINITION_STATEMENTS),
        *_plain_spellings(
            ("BIT VARYING", "VARBIT"), ("CREATE SOURCE", "CREATE EXTERNAL TABLE"), ("EMIT ON WINDOW CLOSE", "")
        ),
        *_plain_spellings(("WITHOUT OVERLAPS", "")),
    ),
    "duckdb": (Spelling(("BY", "POSITION")),),
    "mysql": (
        Spelling(("SQL_CACHE",)),
        Spelling(("SQL_NO_CACHE",)),
        Spelling(("WITH", "LABEL"), values=1, within=frozenset({"INSERT"})),
        Spelling(("SRID",), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("PARTITION",), values=1, within=frozenset({"DELETE"})),
    ),
    "teradata": (
        Spelling(("NORMALIZE", "ON", "MEETS", "OR", "OVERLAPS")),
        Spelling(("NORMALIZE", "ON", "OVERLAPS", "OR", "MEETS")),
        Spelling(("NORMALIZE", "ON", "MEETS")),
        Spelling(("NORMALIZE", "ON", "OVERLAPS")),
    ),
    "snowflake": (
        *_plain_spellings(
            ("HYBRID TABLE", "TABLE"),
            ("DYNAMIC ICEBERG TABLE", "DYNAMIC TABLE"),
            ("SECURE RECURSIVE VIEW", "SECURE VIEW"),
            ("RECURSIVE VIEW", "VIEW"),
            ("SECURE MATERIALIZED VIEW", "MATERIALIZED VIEW"),
        ),
        Spelling(("RESAMPLE",), brackets=True),
        Spelling(("CLUSTER", "BY", "LINEAR"), brackets=True, within=_DEFINITION_STATEMENTS),
        Spelling(("CLUSTER BY", "LINEAR"), brackets=True, within=_DEFINITION_STATEMENTS),
        Spelling(("EXTERNAL_VOLUME",), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("BASE_LOCATION",), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("CATALOG",), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("REFRESH_MODE",), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("INITIALIZE",), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("TARGET_LAG",), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("WAREHOUSE",), values=1, within=_DEFINITION_STATEMENTS),
    ),
    "bigquery": _plain_spellings(
        ("CREATE SNAPSHOT TABLE", "CREATE TABLE"),
        ("DROP TABLE FUNCTION", "DROP FUNCTION"),
        ("AS REPLICA OF", "AS SELECT * FROM"),
    ),
    "spark": (
        *_plain_spellings(
            ("OR REFRESH", "OR REPLACE"),
            ("TEMPORARY STREAMING LIVE TABLE", "TABLE"),
            ("TEMPORARY STREAMING LIVE VIEW", "VIEW"),
            ("TEMPORARY LIVE TABLE", "TABLE"),
            ("TEMPORARY LIVE VIEW", "VIEW"),
            ("STREAMING LIVE TABLE", "TABLE"),
            ("STREAMING LIVE VIEW", "VIEW"),
            ("STREAMING TABLE", "TABLE"),
            ("PRIVATE STREAMING TABLE", "TABLE"),
            ("PRIVATE MATERIALIZED VIEW", "MATERIALIZED VIEW"),
            ("PRIVATE TABLE", "TABLE"),
            ("LIVE TABLE", "TABLE"),
            ("LIVE VIEW", "VIEW"),
            ("DEEP CLONE", "CLONE"),
            ("SHALLOW CLONE", "CLONE"),
            ("CACHE LAZY TABLE", "CACHE TABLE"),
        ),
        Spelling(("USING",), values=1, within=frozenset({"INSERT", "WITH"})),
        Spelling(("MAX", "RECURSION", "LEVEL"), values=1),
        Spelling(("OPTIONS",), brackets=True, within=frozenset({"INSERT", "WITH"})),
        Spelling(("SCHEDULE", "CRON"), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("SCHEDULE", "EVERY"), values=2, within=_DEFINITION_STATEMENTS),
        Spelling(("TRIGGER", "ON", "UPDATE"), within=_DEFINITION_STATEMENTS),
    ),
    "oracle": (
        *_plain_spellings(("BY DEFAULT ON NULL AS", "BY DEFAULT AS"), ("USING NCHAR_CS", ""), ("USING CHAR_CS", "")),
        *_plain_spellings(("AT LOCAL", "AT TIME ZONE SESSIONTIMEZONE")),
        Spelling(("BUILD", "IMMEDIATE"), within=_DEFINITION_STATEMENTS),
        Spelling(("BUILD", "DEFERRED"), within=_DEFINITION_STATEMENTS),
        Spelling(("REFRESH", "FAST"), within=_DEFINITION_STATEMENTS),
        Spelling(("REFRESH", "COMPLETE"), within=_DEFINITION_STATEMENTS),
        Spelling(("REFRESH", "FORCE"), within=_DEFINITION_STATEMENTS),
        Spelling(("ON", "DEMAND"), within=_DEFINITION_STATEMENTS),
        Spelling(("ON", "COMMIT"), within=_DEFINITION_STATEMENTS),
        Spelling(("ENABLE", "QUERY", "REWRITE"), within=_DEFINITION_STATEMENTS),
        Spelling(("DISABLE", "QUERY", "REWRITE"), within=_DEFINITION_STATEMENTS),
        Spelling(("EDITIONABLE",), within=_DEFINITION_STATEMENTS),
        Spelling(("NONEDITIONABLE",), within=_DEFINITION_STATEMENTS),
    ),
    "tsql": (
        *_plain_spellings(("AS CLONE OF", "CLONE")),
        Spelling(("BULK",), within=frozenset({"SELECT", "INSERT", "WITH", "CREATE", "MERGE"})),
        Spelling(("USING",), values=1, within=frozenset({"SELECT", "INSERT", "UPDATE", "SET"})),  # PARSE(… USING …)
    ),
    "redshift": (
        Spelling(("BACKUP",), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("AUTO", "REFRESH"), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("DISTSTYLE",), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("DISTKEY",), brackets=True, within=_DEFINITION_STATEMENTS),
        Spelling(("INTERLEAVED", "SORTKEY"), brackets=True, within=_DEFINITION_STATEMENTS),
        Spelling(("COMPOUND", "SORTKEY"), brackets=True, within=_DEFINITION_STATEMENTS),
        Spelling(("SORTKEY",), brackets=True, within=_DEFINITION_STATEMENTS),
    ),
}
"""The spellings by dialect family; those of the empty family are tried for all."""

TABLE_QUERIES = frozenset({"spark", "spark2", "databricks", "snowflake"})
"""Grammars that know `TABLE t` as a query, although the parser does not say so."""

PREFIX_OPERATOR_GRAMMARS = frozenset({"postgres", "redshift", "duckdb", "materialize", "risingwave"})
"""Grammars in which prefix operators are functions: `@ x`, `|/ x`, `||/ x`."""

INTERVAL_SUFFIX_UNITS = frozenset("YEAR MONTH DAY HOUR MINUTE SECOND".split())
"""Units that may follow the text of an interval."""

HASH_COMMENTS = frozenset({"starrocks"})
"""Grammars without # comments whose MySQL client strips them."""

TEXT_TYPES = frozenset(
    "XML CIDR MACADDR MACADDR8 PATH LINE LSEG BOX CIRCLE POLYGON TSVECTOR TSQUERY REGCLASS REGTYPE PG_LSN NUMRANGE "
    "INT4RANGE INT8RANGE TSRANGE TSTZRANGE DATERANGE LTREE LQUERY CITEXT HSTORE GEOMETRY GEOGRAPHY".split()
)
"""Types that may precede a text constant, and that the parser does not know there."""
