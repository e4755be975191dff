"""The binder of the real DuckDB, asked about queries on empty tables."""

import re
from collections.abc import Mapping
from functools import cache

import duckdb

from lineage_pipeline_tests.oracles.answers import Answer, Answered, tables


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """A database in memory."""
    return duckdb.connect(config={"autoinstall_known_extensions": "false"})


def create(wanted: Mapping[str, str]) -> None:
    """Make empty tables: by name, their columns as a list of definitions."""
    for name, columns in wanted.items():
        _database().execute(f"create or replace table {name} ({columns})")


@cache
def _ground() -> duckdb.DuckDBPyConnection:
    """The database once the tables of the fixtures are there."""
    create(tables("duckdb"))
    return _database()


def spelt(kind: str) -> str:
    """A type of DuckDB as we write it: in capitals, no blanks behind commas, no quotes around members."""
    return re.sub(r'"(\w+)" ', r"\1 ", kind.upper().replace(", ", ","))


def describe(sql: str) -> Answer | str:
    """What DuckDB says about the columns of a query, or why it refuses it."""
    try:
        rows = _ground().execute(f"describe {sql}").fetchall()
    except duckdb.Error as refusal:
        return str(refusal).partition("\n")[0]
    return tuple(Answered(row[0], spelt(row[1])) for row in rows)
