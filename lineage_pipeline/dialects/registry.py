"""The dialects by name, and other names of them."""

import difflib
from functools import cache

import msgspec

from lineage_pipeline.dialects.athena import ATHENA
from lineage_pipeline.dialects.bigquery import BIGQUERY
from lineage_pipeline.dialects.clickhouse import CLICKHOUSE
from lineage_pipeline.dialects.databricks import DATABRICKS
from lineage_pipeline.dialects.dialect import DialectTraits, derive_dialect
from lineage_pipeline.dialects.duckdb import DUCKDB
from lineage_pipeline.dialects.exasol import EXASOL
from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.hive import HIVE
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.materialize import MATERIALIZE
from lineage_pipeline.dialects.mysql import MYSQL
from lineage_pipeline.dialects.oracle import ORACLE
from lineage_pipeline.dialects.postgres import POSTGRES
from lineage_pipeline.dialects.presto import PRESTO
from lineage_pipeline.dialects.redshift import REDSHIFT
from lineage_pipeline.dialects.risingwave import RISINGWAVE
from lineage_pipeline.dialects.snowflake import SNOWFLAKE
from lineage_pipeline.dialects.spark import SPARK
from lineage_pipeline.dialects.sqlite import SQLITE
from lineage_pipeline.dialects.starrocks import STARROCKS
from lineage_pipeline.dialects.teradata import TERADATA
from lineage_pipeline.dialects.trino import TRINO
from lineage_pipeline.dialects.tsql import TSQL

DIALECTS: dict[str, DialectTraits] = {
    traits.name: traits
    for traits in (
        GENERIC,
        ATHENA,
        BIGQUERY,
        CLICKHOUSE,
        DATABRICKS,
        derive_dialect(MYSQL, "doris", path_words=frozenset({"doris"})),
        derive_dialect(GENERIC, "dremio", path_words=frozenset({"dremio"})),
        derive_dialect(GENERIC, "drill"),
        derive_dialect(GENERIC, "druid", path_words=frozenset({"druid"})),
        derive_dialect(TRINO, "dune"),
        DUCKDB,
        EXASOL,
        derive_dialect(TSQL, "fabric", plain_functions=TSQL.plain_functions),
        HIVE,
        MATERIALIZE,
        MYSQL,
        ORACLE,
        POSTGRES,
        PRESTO,
        REDSHIFT,
        RISINGWAVE,
        derive_dialect(MYSQL, "singlestore", path_words=frozenset({"singlestore", "memsql"})),
        SNOWFLAKE,
        derive_dialect(GENERIC, "solr"),
        SPARK,
        derive_dialect(SPARK, "spark2"),
        SQLITE,
        STARROCKS,
        derive_dialect(GENERIC, "tableau"),
        TERADATA,
        TRINO,
        TSQL,
    )
}
"""The dialects by name; one that only shares the rules of another has a row here and no file."""

DIALECT_ALIASES = {
    "": "",
    "ansi": "",
    "cockroachdb": "postgres",
    "flink": "",
    "generic": "",
    "greenplum": "postgres",
    "impala": "hive",
    "mariadb": "mysql",
    "mssql": "tsql",
    "postgresql": "postgres",
    "sparksql": "spark",
    "sqlserver": "tsql",
    "synapse": "tsql",
}
"""Other names of dialects."""

CASE_FOLDINGS = {
    "lower": IdentifierFolding.INSENSITIVE,
    "upper": IdentifierFolding.CAPITAL,
    "exact": IdentifierFolding.EXACT,
}
"""Identifier folding by the setting `case_sensitivity`."""


@cache
def find_traits(dialect: str, case: str = "dialect") -> DialectTraits | None:
    """Return the traits of a dialect by one of its names, or None where it is unknown."""
    name = dialect.lower()
    traits = DIALECTS.get(DIALECT_ALIASES.get(name, name))
    folding = CASE_FOLDINGS.get(case)
    return traits if traits is None or folding is None else _fold_all_names(traits, folding)


@cache
def _fold_all_names(traits: DialectTraits, folding: IdentifierFolding) -> DialectTraits:
    """Return a dialect that compares all names in one way; the same object for all names of a dialect."""
    return msgspec.structs.replace(traits, tables=folding, columns=folding, aliases=None)


def suggest_dialect(dialect: str) -> str:
    """Return a hint which dialect was meant by an unknown name, or which there are."""
    names = sorted(name for name in {*DIALECTS, *DIALECT_ALIASES} if name)
    close = difflib.get_close_matches(dialect.lower(), names, n=1)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(names)}"
