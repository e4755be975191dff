"""Clauses without bearing on lineage that the parser does not know: they are left out before it reads a statement."""

import msgspec


class Clause(msgspec.Struct, frozen=True):
    """A clause: its words, whether brackets or a name follow, and the statements it stands in (none listed: any).

    Statements are named by their first word; one that defines a table is a TABLE.
    """

    words: tuple[str, ...]
    brackets: bool = False
    name: bool = False
    within: frozenset[str] = frozenset()


_TABLES = frozenset({"TABLE"})
_HINTS = (
    "NOLOCK READUNCOMMITTED UPDLOCK REPEATABLEREAD SERIALIZABLE READCOMMITTED TABLOCK TABLOCKX PAGLOCK ROWLOCK NOWAIT "
    "READPAST XLOCK SNAPSHOT NOEXPAND FORCESEEK FORCESCAN HOLDLOCK INDEX KEEPIDENTITY IGNORE_TRIGGERS".split()
)

HINTS = frozenset(_HINTS)
"""What may stand first in the brackets of a table hint."""

TSQL: tuple[Clause, ...] = (
    Clause(("OPTION",), brackets=True),
    Clause(("CLUSTERED", "COLUMNSTORE"), within=_TABLES),
    Clause(("NONCLUSTERED", "HASH"), within=_TABLES),
    Clause(("CLUSTERED",), within=_TABLES),
    Clause(("NONCLUSTERED",), within=_TABLES),
    Clause(("ROWGUIDCOL",), within=_TABLES),
    Clause(("ASC",), within=_TABLES),
    Clause(("DESC",), within=_TABLES),
    Clause(("SPARSE",), within=_TABLES),
    Clause(("NOT", "FOR", "REPLICATION"), within=_TABLES),
    Clause(("MASKED", "WITH"), brackets=True, within=_TABLES),
    Clause(("TEXTIMAGE_ON",), name=True, within=_TABLES),
    Clause(("FILESTREAM_ON",), name=True, within=_TABLES),
    Clause(("WITH", "RESULT", "SETS"), brackets=True),
    Clause(("AS", "NODE"), within=_TABLES),
    Clause(("AS", "EDGE"), within=_TABLES),
)

HIVE: tuple[Clause, ...] = (
    Clause(("DISABLE", "REWRITE")),
    Clause(("ENABLE", "REWRITE")),
    Clause(("IF", "NOT", "EXISTS"), within=frozenset({"INSERT"})),
)

MERGED_IN_PLACE = frozenset({"duckdb", "sqlite", "clickhouse"})
"""Dialects in which a column that USING merges stays where the left side has it; in all others it comes first."""

MERGED_FIRST = frozenset({"spark"})
"""Families in which a column that USING merges comes first even where a star is asked of one side."""

SHORT_LISTS = frozenset({"", "postgres", "redshift", "duckdb"})
"""Families in which a list of names may be shorter than the columns that it names."""

DROPPED: dict[str, tuple[Clause, ...]] = {"tsql": TSQL, "hive": HIVE}
"""The clauses to leave out, by family of dialects."""

LENIENT_STARS = frozenset({"clickhouse"})
"""Dialects in which a star may leave out a column that is not there."""

STARS_BY_POSITION = frozenset({"duckdb"})
"""Families in which the star of a MERGE goes by position; in all others it goes by name."""
