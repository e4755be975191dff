"""Spellings that the parser does not know, and what stands for them where a statement could not be read."""

import msgspec


class Spelling(msgspec.Struct, frozen=True):
    """Words, and the words that mean the same to the parser; none where they have no bearing on lineage.

    `brackets` or a number of `values` behind the words go with them; `leading` ones begin the statement; `within` are
    the first words of the statements they stand in (none listed: any).
    """

    words: tuple[str, ...]
    instead: tuple[str, ...] = ()
    brackets: bool = False
    values: int = 0
    leading: bool = False
    within: frozenset[str] = frozenset()


_STRICTNESS = ("ANY", "ALL", "ASOF", "SEMI", "ANTI")


def _rows(*pairs: tuple[str, str]) -> tuple[Spelling, ...]:
    """Plain spellings: words, and the words instead."""
    return tuple(Spelling(tuple(words.split()), tuple(instead.split())) for words, instead in pairs)


_DEFINITION = frozenset({"CREATE", "REPLACE", "ALTER"})

SPELLINGS: dict[str, tuple[Spelling, ...]] = {
    "": (
        Spelling(("TABLE",), ("SELECT", "*", "FROM"), leading=True),
        Spelling(("TABLESAMPLE",), brackets=True),
        Spelling(("OVERRIDING", "SYSTEM", "VALUE")),
        Spelling(("OVERRIDING", "USER", "VALUE")),
        Spelling(("USING", "KEY"), brackets=True),
        *(Spelling(("AT", kind), values=1) for kind in ("BRANCH", "TAG", "COMMIT", "REFERENCE")),
        *_rows(
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
        *(Spelling((word, "OUTER"), (word,)) for word in _STRICTNESS),
        Spelling(("SYNC",), within=frozenset({"TRUNCATE"})),
        Spelling(("COMMENT",), values=1, within=_DEFINITION),
    ),
    "sqlite": tuple(
        Spelling(("UPDATE", "OR", word), ("UPDATE",), leading=True)
        for word in ("ABORT", "FAIL", "IGNORE", "REPLACE", "ROLLBACK")
    ),
    "postgres": (
        Spelling(("VARIADIC",)),
        Spelling(("OPTIONS",), brackets=True, within=_DEFINITION),
        *_rows(("BIT VARYING", "VARBIT"), ("CREATE SOURCE", "CREATE EXTERNAL TABLE"), ("EMIT ON WINDOW CLOSE", "")),
        *_rows(("WITHOUT OVERLAPS", "")),
    ),
    "duckdb": (Spelling(("BY", "POSITION")),),
    "mysql": (
        Spelling(("SQL_CACHE",)),
        Spelling(("SQL_NO_CACHE",)),
        Spelling(("WITH", "LABEL"), values=1, within=frozenset({"INSERT"})),
        Spelling(("SRID",), values=1, within=_DEFINITION),
        Spelling(("PARTITION",), values=1, within=frozenset({"DELETE"})),
    ),
    "teradata": (
        Spelling(("NORMALIZE", "ON", "MEETS", "OR", "OVERLAPS")),
        Spelling(("NORMALIZE", "ON", "OVERLAPS", "OR", "MEETS")),
        Spelling(("NORMALIZE", "ON", "MEETS")),
        Spelling(("NORMALIZE", "ON", "OVERLAPS")),
    ),
    "snowflake": (
        *_rows(
            ("HYBRID TABLE", "TABLE"),
            ("DYNAMIC ICEBERG TABLE", "DYNAMIC TABLE"),
            ("SECURE RECURSIVE VIEW", "SECURE VIEW"),
            ("RECURSIVE VIEW", "VIEW"),
            ("SECURE MATERIALIZED VIEW", "MATERIALIZED VIEW"),
        ),
        Spelling(("RESAMPLE",), brackets=True),
        Spelling(("CLUSTER", "BY", "LINEAR"), brackets=True, within=_DEFINITION),
        Spelling(("CLUSTER BY", "LINEAR"), brackets=True, within=_DEFINITION),
        Spelling(("EXTERNAL_VOLUME",), values=1, within=_DEFINITION),
        Spelling(("BASE_LOCATION",), values=1, within=_DEFINITION),
        Spelling(("CATALOG",), values=1, within=_DEFINITION),
        Spelling(("REFRESH_MODE",), values=1, within=_DEFINITION),
        Spelling(("INITIALIZE",), values=1, within=_DEFINITION),
        Spelling(("TARGET_LAG",), values=1, within=_DEFINITION),
        Spelling(("WAREHOUSE",), values=1, within=_DEFINITION),
    ),
    "bigquery": _rows(
        ("CREATE SNAPSHOT TABLE", "CREATE TABLE"),
        ("DROP TABLE FUNCTION", "DROP FUNCTION"),
        ("AS REPLICA OF", "AS SELECT * FROM"),
    ),
    "spark": (
        *_rows(
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
        Spelling(("SCHEDULE", "CRON"), values=1, within=_DEFINITION),
        Spelling(("SCHEDULE", "EVERY"), values=2, within=_DEFINITION),
        Spelling(("TRIGGER", "ON", "UPDATE"), within=_DEFINITION),
    ),
    "oracle": (
        *_rows(("BY DEFAULT ON NULL AS", "BY DEFAULT AS"), ("USING NCHAR_CS", ""), ("USING CHAR_CS", "")),
        *_rows(("AT LOCAL", "AT TIME ZONE SESSIONTIMEZONE")),
        Spelling(("BUILD", "IMMEDIATE"), within=_DEFINITION),
        Spelling(("BUILD", "DEFERRED"), within=_DEFINITION),
        Spelling(("REFRESH", "FAST"), within=_DEFINITION),
        Spelling(("REFRESH", "COMPLETE"), within=_DEFINITION),
        Spelling(("REFRESH", "FORCE"), within=_DEFINITION),
        Spelling(("ON", "DEMAND"), within=_DEFINITION),
        Spelling(("ON", "COMMIT"), within=_DEFINITION),
        Spelling(("ENABLE", "QUERY", "REWRITE"), within=_DEFINITION),
        Spelling(("DISABLE", "QUERY", "REWRITE"), within=_DEFINITION),
        Spelling(("EDITIONABLE",), within=_DEFINITION),
        Spelling(("NONEDITIONABLE",), within=_DEFINITION),
    ),
    "tsql": (
        *_rows(("AS CLONE OF", "CLONE")),
        Spelling(("BULK",), within=frozenset({"SELECT", "INSERT", "WITH", "CREATE", "MERGE"})),
        Spelling(("USING",), values=1, within=frozenset({"SELECT", "INSERT", "UPDATE", "SET"})),  # PARSE(… USING …)
    ),
    "redshift": (
        Spelling(("BACKUP",), values=1, within=_DEFINITION),
        Spelling(("AUTO", "REFRESH"), values=1, within=_DEFINITION),
        Spelling(("DISTSTYLE",), values=1, within=_DEFINITION),
        Spelling(("DISTKEY",), brackets=True, within=_DEFINITION),
        Spelling(("INTERLEAVED", "SORTKEY"), brackets=True, within=_DEFINITION),
        Spelling(("COMPOUND", "SORTKEY"), brackets=True, within=_DEFINITION),
        Spelling(("SORTKEY",), brackets=True, within=_DEFINITION),
    ),
}
"""The spellings of each family of dialects; those of the empty family are tried for all."""

TABLE_QUERIES = frozenset({"spark", "spark2", "databricks", "snowflake"})
"""Grammars that know `TABLE t` as a query, although the parser does not say so."""

PREFIX_SIGNS = frozenset({"postgres", "redshift", "duckdb", "materialize", "risingwave"})
"""Grammars in which signs before an operand are functions of it: `@ x`, `|/ x`, `||/ x`."""

INTERVAL_UNITS = frozenset("YEAR MONTH DAY HOUR MINUTE SECOND".split())
"""Units that may stand behind the text of an interval."""

HASH_COMMENTS = frozenset({"starrocks"})
"""Grammars without comments that begin with #, whose client is that of MySQL and takes them away."""

TEXT_TYPES = frozenset(
    "XML CIDR MACADDR MACADDR8 PATH LINE LSEG BOX CIRCLE POLYGON TSVECTOR TSQUERY REGCLASS REGTYPE PG_LSN NUMRANGE "
    "INT4RANGE INT8RANGE TSRANGE TSTZRANGE DATERANGE LTREE LQUERY CITEXT HSTORE GEOMETRY GEOGRAPHY".split()
)
"""Types that may stand before a text and make a constant of it, and that the parser does not know there."""
