"""What differs between the adapters of dbt: the dialect they speak, how they quote, and whose macros they inherit."""

from collections.abc import Mapping

import msgspec


class Adapter(msgspec.Struct, frozen=True):
    """An adapter: its dialect, whether it quotes names, with what, and the adapters it stands in for."""

    name: str = ""
    dialect: str = ""
    quotes: bool = True
    mark: str = '"'
    parents: tuple[str, ...] = ()


ADAPTERS: Mapping[str, Adapter] = {
    adapter.name: adapter
    for adapter in (
        Adapter("athena", "athena"),
        Adapter("bigquery", "bigquery", mark="`"),
        Adapter("clickhouse", "clickhouse", mark="`"),
        Adapter("databricks", "databricks", mark="`", parents=("spark",)),
        Adapter("doris", "doris", mark="`"),
        Adapter("dremio", "dremio"),
        Adapter("duckdb", "duckdb"),
        Adapter("exasol", "exasol", quotes=False),
        Adapter("fabric", "fabric", parents=("sqlserver",)),
        Adapter("greenplum", "postgres", parents=("postgres",)),
        Adapter("hive", "hive", quotes=False, mark="`"),
        Adapter("impala", "hive", quotes=False, mark="`"),
        Adapter("materialize", "materialize", parents=("postgres",)),
        Adapter("mysql", "mysql", quotes=False, mark="`"),
        Adapter("oracle", "oracle", quotes=False),
        Adapter("postgres", "postgres"),
        Adapter("redshift", "redshift", parents=("postgres",)),
        Adapter("risingwave", "risingwave", parents=("postgres",)),
        Adapter("singlestore", "singlestore", mark="`"),
        Adapter("snowflake", "snowflake", quotes=False),
        Adapter("spark", "spark", quotes=False, mark="`"),
        Adapter("sqlite", "sqlite"),
        Adapter("sqlserver", "tsql"),
        Adapter("starrocks", "starrocks", mark="`"),
        Adapter("synapse", "tsql", parents=("sqlserver",)),
        Adapter("teradata", "teradata"),
        Adapter("trino", "trino"),
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
