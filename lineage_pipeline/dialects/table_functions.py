"""Table functions that take a table by its name, or a query as text, and return its rows."""

import msgspec


class TableArgument(msgspec.Struct, frozen=True):
    """Which arguments of a function, by position, name what it reads."""

    parts: tuple[int, ...] = ()
    """The arguments that name a table, outermost part first, as strings or as one dotted name; empty: none do."""
    text: int = -1
    """The argument that is a query; -1: none is."""
    server: int = -1
    """The argument that says where the table or query is; -1: none does."""
    scheme: str = ""
    """The scheme of an external object's address, as `mysql`; empty: the table is not external."""


def _scheme_functions(*parts: int, server: int = -1, schemes: str = "") -> dict[str, TableArgument]:
    """Build rows of functions that are named like the scheme of what they read."""
    return {scheme.upper(): TableArgument(parts, server=server, scheme=scheme) for scheme in schemes.split()}


TABLE_ARGUMENTS: dict[str, dict[str, TableArgument]] = {
    "clickhouse": {
        **dict.fromkeys(("REMOTE", "REMOTESECURE", "CLUSTER", "CLUSTERALLREPLICAS"), TableArgument((1, 2))),
        "MERGE": TableArgument((0, 1)),
        "DICTIONARY": TableArgument((0,)),
        **_scheme_functions(1, 2, server=0, schemes="mysql postgresql mongodb jdbc odbc"),
        **_scheme_functions(1, server=0, schemes="sqlite"),
    },
    "tsql": {"OPENQUERY": TableArgument(text=1, server=0), "OPENROWSET": TableArgument(text=2, server=1)},
    "bigquery": {"EXTERNAL_QUERY": TableArgument(text=1, server=0)},
    "duckdb": {
        "QUERY": TableArgument(text=0),
        "QUERY_TABLE": TableArgument((0,)),
        **dict.fromkeys(("POSTGRES_QUERY", "MYSQL_QUERY"), TableArgument(text=1, server=0)),
        **dict.fromkeys(
            ("POSTGRES_SCAN", "POSTGRES_SCAN_PUSHDOWN"), TableArgument((1, 2), server=0, scheme="postgresql")
        ),
        "MYSQL_SCAN": TableArgument((1, 2), server=0, scheme="mysql"),
        "SQLITE_SCAN": TableArgument((1,), server=0, scheme="sqlite"),
    },
    "postgres": {"DBLINK": TableArgument(text=1, server=0)},
    "spark": {"TABLE_CHANGES": TableArgument((0,))},
    "trino": {"QUERY": TableArgument(text=0)},
}
"""The functions and their table arguments, by dialect family."""

ADDED_COLUMNS: dict[str, tuple[str, ...]] = {
    "TABLE_CHANGES": ("_change_type", "_commit_version", "_commit_timestamp"),
}
"""The columns that some of them add to those of the table."""

LOOKUP_FUNCTIONS: dict[str, frozenset[str]] = {
    "clickhouse": frozenset(
        "DICTGET DICTGETORDEFAULT DICTGETORNULL DICTGETHIERARCHY JOINGET JOINGETORNULL DICTGETSTRING DICTGETUINT8 "
        "DICTGETUINT16 DICTGETUINT32 DICTGETUINT64 DICTGETINT8 DICTGETINT16 DICTGETINT32 DICTGETINT64 DICTGETFLOAT32 "
        "DICTGETFLOAT64 DICTGETDATE DICTGETDATETIME DICTGETUUID".split()
    ),
}
"""Functions that look up a value: table as text, column(s) as text, key, default."""
