"""Functions that are told a table by its name, or a query by its text, and give back the rows of it."""

import msgspec


class Naming(msgspec.Struct, frozen=True):
    """Where a function says what it reads, as positions of its arguments.

    `parts` name a table from the outermost part in, as texts or as a dotted name; `text` is a query; `server` says
    where both are. A table behind a `scheme` is an object outside, known by its address.
    """

    parts: tuple[int, ...] = ()
    text: int = -1
    server: int = -1
    scheme: str = ""


def _rows(*parts: int, server: int = -1, schemes: str = "") -> dict[str, Naming]:
    """Functions that are called as the scheme of what they read."""
    return {scheme.upper(): Naming(parts, server=server, scheme=scheme) for scheme in schemes.split()}


NAMINGS: dict[str, dict[str, Naming]] = {
    "clickhouse": {
        **dict.fromkeys(("REMOTE", "REMOTESECURE", "CLUSTER", "CLUSTERALLREPLICAS"), Naming((1, 2))),
        "MERGE": Naming((0, 1)),
        "DICTIONARY": Naming((0,)),
        **_rows(1, 2, server=0, schemes="mysql postgresql mongodb jdbc odbc"),
        **_rows(1, server=0, schemes="sqlite"),
    },
    "tsql": {"OPENQUERY": Naming(text=1, server=0), "OPENROWSET": Naming(text=2, server=1)},
    "bigquery": {"EXTERNAL_QUERY": Naming(text=1, server=0)},
    "duckdb": {
        "QUERY": Naming(text=0),
        "QUERY_TABLE": Naming((0,)),
        **dict.fromkeys(("POSTGRES_QUERY", "MYSQL_QUERY"), Naming(text=1, server=0)),
        **dict.fromkeys(("POSTGRES_SCAN", "POSTGRES_SCAN_PUSHDOWN"), Naming((1, 2), server=0, scheme="postgresql")),
        "MYSQL_SCAN": Naming((1, 2), server=0, scheme="mysql"),
        "SQLITE_SCAN": Naming((1,), server=0, scheme="sqlite"),
    },
    "postgres": {"DBLINK": Naming(text=1, server=0)},
    "spark": {"TABLE_CHANGES": Naming((0,))},
    "trino": {"QUERY": Naming(text=0)},
}
"""Such functions, by family of dialects."""

ADDED: dict[str, tuple[str, ...]] = {
    "TABLE_CHANGES": ("_change_type", "_commit_version", "_commit_timestamp"),
}
"""The columns that some of them add to those of the table."""

LOOKUPS: dict[str, frozenset[str]] = {
    "clickhouse": frozenset(
        "DICTGET DICTGETORDEFAULT DICTGETORNULL DICTGETHIERARCHY JOINGET JOINGETORNULL DICTGETSTRING DICTGETUINT8 "
        "DICTGETUINT16 DICTGETUINT32 DICTGETUINT64 DICTGETINT8 DICTGETINT16 DICTGETINT32 DICTGETINT64 DICTGETFLOAT32 "
        "DICTGETFLOAT64 DICTGETDATE DICTGETDATETIME DICTGETUUID".split()
    ),
}
"""Functions that look a value up: a table as text, a column or several as text, a key, what is given otherwise."""
