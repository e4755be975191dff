"""What differs between the adapters of dbt: the dialect they speak, how they quote, and whose macros they inherit."""

from collections.abc import Mapping

import msgspec

STRINGS = {"varchar": "string", "numeric": "double", "integer": "bigint"}
BIGQUERY = {"varchar": "string", "numeric": "float64", "integer": "int64", "boolean": "bool", "timestamp": "datetime"}
SQLSERVER = {"varchar": "varchar", "numeric": "float", "integer": "int", "boolean": "bit", "timestamp": "datetime"}
ORACLE = {"numeric": "number", "varchar": "varchar2(4000)"}
DOUBLES = {"numeric": "double"}


class Adapter(msgspec.Struct, frozen=True):
    """An adapter: its dialect, whether it quotes names, with what, and the adapters it stands in for.

    `types` are those that it gives the columns of seeds where they are not called as in PostgreSQL. `schema` is the one
    of a target that names none; one that `reads_files` takes sources from where they lie.
    """

    name: str = ""
    dialect: str = ""
    quotes: bool = True
    mark: str = '"'
    parents: tuple[str, ...] = ()
    types: Mapping[str, str] = {}
    schema: str = ""
    reads_files: bool = False

    def seed_type(self, kind: str) -> str:
        """Give the type of a column of a seed by the kind of its values."""
        return self.types.get(kind) or {"numeric": "float8", "varchar": "text"}.get(kind, kind)


ADAPTERS: Mapping[str, Adapter] = {
    adapter.name: adapter
    for adapter in (
        Adapter("athena", "athena", types=DOUBLES),
        Adapter("bigquery", "bigquery", mark="`", types=BIGQUERY),
        Adapter("clickhouse", "clickhouse", mark="`"),
        Adapter("databricks", "databricks", mark="`", parents=("spark",), types=STRINGS),
        Adapter("doris", "doris", mark="`", types=DOUBLES),
        Adapter("dremio", "dremio"),
        Adapter("duckdb", "duckdb", schema="main", reads_files=True),
        Adapter("exasol", "exasol", quotes=False),
        Adapter("fabric", "fabric", parents=("sqlserver",), types=SQLSERVER),
        Adapter("greenplum", "postgres", parents=("postgres",)),
        Adapter("hive", "hive", quotes=False, mark="`", types=STRINGS),
        Adapter("impala", "hive", quotes=False, mark="`", types=STRINGS),
        Adapter("materialize", "materialize", parents=("postgres",)),
        Adapter("mysql", "mysql", quotes=False, mark="`", types=DOUBLES),
        Adapter("oracle", "oracle", quotes=False, types=ORACLE),
        Adapter("postgres", "postgres"),
        Adapter("redshift", "redshift", parents=("postgres",), types={"varchar": "varchar"}),
        Adapter("risingwave", "risingwave", parents=("postgres",)),
        Adapter("singlestore", "singlestore", mark="`", types=DOUBLES),
        Adapter("snowflake", "snowflake", quotes=False),
        Adapter("spark", "spark", quotes=False, mark="`", types=STRINGS),
        Adapter("sqlite", "sqlite"),
        Adapter("sqlserver", "tsql", types=SQLSERVER),
        Adapter("starrocks", "starrocks", mark="`", types=DOUBLES),
        Adapter("synapse", "tsql", parents=("sqlserver",), types=SQLSERVER),
        Adapter("teradata", "teradata"),
        Adapter("trino", "trino", types=DOUBLES),
        Adapter("vertica", "vertica"),
    )
}
"""The adapters by the type that a profile gives them."""


def adapter_of(name: str, dialect: str = "") -> Adapter:
    """Give an adapter by its name, or by the dialect that it speaks."""
    found = ADAPTERS.get(name)
    if found is None and dialect:
        found = ADAPTERS.get(dialect) or next((one for one in ADAPTERS.values() if one.dialect == dialect), None)
    return found or Adapter(name)
