"""Differences between dbt adapters: dialect, quoting, seed types, and adapters whose macros they inherit."""

from collections.abc import Mapping

import msgspec

STRING_SEED_TYPES = {"varchar": "string", "numeric": "double", "integer": "bigint"}
BIGQUERY_SEED_TYPES = {
    "varchar": "string",
    "numeric": "float64",
    "integer": "int64",
    "boolean": "bool",
    "timestamp": "datetime",
}
SQLSERVER_SEED_TYPES = {
    "varchar": "varchar",
    "numeric": "float",
    "integer": "int",
    "boolean": "bit",
    "timestamp": "datetime",
}
ORACLE_SEED_TYPES = {"numeric": "number", "varchar": "varchar2(4000)"}
DOUBLE_SEED_TYPES = {"numeric": "double"}


class DbtAdapter(msgspec.Struct, frozen=True):
    """An adapter: its dialect, whether and with what it quotes names, and the adapters it inherits macros from.

    `types` are seed column types where they differ from PostgreSQL's. `schema` is used by a target that names none;
    one that `reads_files` reads sources from external locations.
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
        """Return the column type of a seed by the kind of its values."""
        return self.types.get(kind) or {"numeric": "float8", "varchar": "text"}.get(kind, kind)


ADAPTERS: Mapping[str, DbtAdapter] = {
    adapter.name: adapter
    for adapter in (
        DbtAdapter("athena", "athena", types=DOUBLE_SEED_TYPES),
        DbtAdapter("bigquery", "bigquery", mark="`", types=BIGQUERY_SEED_TYPES),
        DbtAdapter("clickhouse", "clickhouse", mark="`"),
        DbtAdapter("databricks", "databricks", mark="`", parents=("spark",), types=STRING_SEED_TYPES),
        DbtAdapter("doris", "doris", mark="`", types=DOUBLE_SEED_TYPES),
        DbtAdapter("dremio", "dremio"),
        DbtAdapter("duckdb", "duckdb", schema="main", reads_files=True),
        DbtAdapter("exasol", "exasol", quotes=False),
        DbtAdapter("fabric", "fabric", parents=("sqlserver",), types=SQLSERVER_SEED_TYPES),
        DbtAdapter("greenplum", "postgres", parents=("postgres",)),
        DbtAdapter("hive", "hive", quotes=False, mark="`", types=STRING_SEED_TYPES),
        DbtAdapter("impala", "hive", quotes=False, mark="`", types=STRING_SEED_TYPES),
        DbtAdapter("materialize", "materialize", parents=("postgres",)),
        DbtAdapter("mysql", "mysql", quotes=False, mark="`", types=DOUBLE_SEED_TYPES),
        DbtAdapter("oracle", "oracle", quotes=False, types=ORACLE_SEED_TYPES),
        DbtAdapter("postgres", "postgres"),
        DbtAdapter("redshift", "redshift", parents=("postgres",), types={"varchar": "varchar"}),
        DbtAdapter("risingwave", "risingwave", parents=("postgres",)),
        DbtAdapter("singlestore", "singlestore", mark="`", types=DOUBLE_SEED_TYPES),
        DbtAdapter("snowflake", "snowflake", quotes=False),
        DbtAdapter("spark", "spark", quotes=False, mark="`", types=STRING_SEED_TYPES),
        DbtAdapter("sqlite", "sqlite"),
        DbtAdapter("sqlserver", "tsql", types=SQLSERVER_SEED_TYPES),
        DbtAdapter("starrocks", "starrocks", mark="`", types=DOUBLE_SEED_TYPES),
        DbtAdapter("synapse", "tsql", parents=("sqlserver",), types=SQLSERVER_SEED_TYPES),
        DbtAdapter("teradata", "teradata"),
        DbtAdapter("trino", "trino", types=DOUBLE_SEED_TYPES),
        DbtAdapter("vertica", "vertica"),
    )
}
"""The adapters by the `type` of a profile."""


def find_adapter(name: str, dialect: str = "") -> DbtAdapter:
    """Return an adapter by its name, or by its dialect."""
    found = ADAPTERS.get(name)
    if found is None and dialect:
        found = ADAPTERS.get(dialect) or next((one for one in ADAPTERS.values() if one.dialect == dialect), None)
    return found or DbtAdapter(name)
