"""Spellings and clauses that the parser does not know, and what replaces them."""

import msgspec


class DroppedClause(msgspec.Struct, frozen=True):
    """A clause that does not affect lineage and that the parser does not know."""

    words: tuple[str, ...]
    """Its words, in upper case."""
    brackets: bool = False
    """Brackets follow the words and are dropped with them; without any, it is not this clause."""
    name: bool = False
    """A name follows the words and is dropped with them."""
    within: frozenset[str] = frozenset()
    """The first words of statements that have it, TABLE for one that defines a table; empty: any."""


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
    DroppedClause(("FILESTREAM",), within=_TABLE_STATEMENTS),
    DroppedClause(("AS", "NODE"), within=_TABLE_STATEMENTS),
    DroppedClause(("AS", "EDGE"), within=_TABLE_STATEMENTS),
)

HIVE_DROPPED_CLAUSES: tuple[DroppedClause, ...] = (
    DroppedClause(("DISABLE", "REWRITE")),
    DroppedClause(("IF", "NOT", "EXISTS"), within=frozenset({"INSERT"})),
)


DROPPED_CLAUSES: dict[str, tuple[DroppedClause, ...]] = {"tsql": TSQL_DROPPED_CLAUSES, "hive": HIVE_DROPPED_CLAUSES}
"""Clauses to drop before parsing, by dialect family."""


JSON_CLAUSES: tuple[tuple[str, ...], ...] = (
    ("RETURNING",),
    ("WITH",),
    ("WITHOUT",),
    ("KEEP",),
    ("OMIT",),
    ("ERROR", "ON"),
    ("EMPTY",),
    ("ABSENT", "ON"),
    ("NULL", "ON"),
    ("FORMAT",),
)
"""Words that begin the options of a JSON function, after its arguments."""

LITERAL_FORMATS = frozenset("FORMAT CASESPECIFIC CS UPPERCASE UC TITLE".split())
"""Words in brackets after a value that only say how it is displayed or compared."""

VALUE_TYPES = frozenset(
    "DATE INTEGER INT SMALLINT BIGINT BYTEINT DECIMAL NUMERIC FLOAT CHAR VARCHAR TIMESTAMP TIME DEC NAMED".split()
)
"""Types that may stand there too."""

SCORING_PREFIXES = ("PREDICTION", "CLUSTER_", "FEATURE_", "ORA_DM_")
"""Prefixes of functions that apply a model to columns: `PREDICTION(model USING a, b)`."""


class Spelling(msgspec.Struct, frozen=True):
    """Words, and the words that the parser understands instead."""

    words: tuple[str, ...]
    """The words as they are written, in upper case."""
    instead: tuple[str, ...] = ()
    """The words that replace them; empty where they do not affect lineage."""
    brackets: bool = False
    """Brackets follow the words and are dropped with them; without any, nothing is replaced."""
    values: int = 0
    """How many values after the words are dropped with them."""
    leading: bool = False
    """The words count only at the beginning of a statement."""
    within: frozenset[str] = frozenset()
    """The first words of statements that have it; empty: any."""


_JOIN_STRICTNESS = ("ANY", "ALL", "ASOF")


def _plain_spellings(*pairs: tuple[str, str]) -> tuple[Spelling, ...]:
    """Build plain spellings: words, and the words instead."""
    return tuple(Spelling(tuple(words.split()), tuple(instead.split())) for words, instead in pairs)


_DEFINITION_STATEMENTS = frozenset({"CREATE", "REPLACE", "ALTER"})

SPELLINGS: dict[str, tuple[Spelling, ...]] = {
    "": (
        Spelling(("TABLESAMPLE",), brackets=True),
        Spelling(("OVERRIDING", "SYSTEM", "VALUE")),
        Spelling(("OVERRIDING", "USER", "VALUE")),
        *(Spelling(("AT", kind), values=1) for kind in ("BRANCH", "TAG", "COMMIT", "REFERENCE")),
        *_plain_spellings(
            ("CREATE VDS", "CREATE VIEW"),
            ("CREATE OR REPLACE VDS", "CREATE OR REPLACE VIEW"),
            ("LOCAL TEMPORARY", "TEMPORARY"),
            ("LOCAL TEMP", "TEMPORARY"),
            ("CREATE FOREIGN TABLE", "CREATE EXTERNAL TABLE"),
            ("DROP FOREIGN TABLE", "DROP TABLE"),
            ("DROP EXTERNAL TABLE", "DROP TABLE"),
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
        *_plain_spellings(
            ("BIT VARYING", "VARBIT"), ("CREATE SOURCE", "CREATE EXTERNAL TABLE"), ("EMIT ON WINDOW CLOSE", "")
        ),
        *_plain_spellings(("WITHOUT OVERLAPS", "")),
    ),
    "duckdb": (Spelling(("BY", "POSITION")),),
    "mysql": (
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
        *_plain_spellings(("HYBRID TABLE", "TABLE")),
        Spelling(("RESAMPLE",), brackets=True),
        Spelling(("CLUSTER BY", "LINEAR"), brackets=True, within=_DEFINITION_STATEMENTS),
    ),
    "bigquery": _plain_spellings(
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
            ("PRIVATE STREAMING TABLE", "TABLE"),
            ("PRIVATE MATERIALIZED VIEW", "MATERIALIZED VIEW"),
            ("LIVE TABLE", "TABLE"),
            ("LIVE VIEW", "VIEW"),
        ),
        Spelling(("USING",), values=1, within=frozenset({"INSERT", "WITH"})),
        Spelling(("MAX", "RECURSION", "LEVEL"), values=1),
        Spelling(("OPTIONS",), brackets=True, within=frozenset({"INSERT", "WITH"})),
        Spelling(("SCHEDULE", "CRON"), values=1, within=_DEFINITION_STATEMENTS),
        Spelling(("SCHEDULE", "EVERY"), values=2, within=_DEFINITION_STATEMENTS),
        Spelling(("TRIGGER", "ON", "UPDATE"), within=_DEFINITION_STATEMENTS),
    ),
    "oracle": (
        *_plain_spellings(("USING NCHAR_CS", ""), ("USING CHAR_CS", "")),
        *_plain_spellings(("AT LOCAL", "AT TIME ZONE SESSIONTIMEZONE")),
    ),
    "tsql": (
        *_plain_spellings(("AS CLONE OF", "CLONE")),
        Spelling(("BULK",), within=frozenset({"SELECT", "INSERT", "WITH", "CREATE", "MERGE"})),
        Spelling(("USING",), values=1, within=frozenset({"SELECT", "INSERT", "UPDATE", "SET"})),  # PARSE(… USING …)
    ),
    "redshift": (Spelling(("INTERLEAVED", "SORTKEY"), brackets=True, within=_DEFINITION_STATEMENTS),),
}
"""The spellings by dialect family; those of the empty family are tried for all."""

TABLE_QUERIES = frozenset({"spark2", "databricks", "snowflake"})
"""Grammars that know `TABLE t` as a query, although the parser does not say so."""

PREFIX_OPERATOR_GRAMMARS = frozenset({"postgres", "redshift", "risingwave"})
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
