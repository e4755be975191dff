"""DuckDB prints views from their trees; SQLite keeps their texts, and writes into them when a table is renamed."""

import sqlite3

import duckdb

from lineage_pipeline_tests.oracles.rewrites.queries import Corpus
from lineage_pipeline_tests.oracles.rewrites.rewriter import Rewritten


def print_duckdb_views(corpus: Corpus) -> list[Rewritten]:
    """What `duckdb_views()` has of each query that DuckDB takes."""
    found = []
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        connection.execute("create schema s")
        for name, columns in corpus.tables.items():
            connection.execute(f"create table {name} ({columns})")
        for query in corpus.queries:
            try:
                connection.execute(f"create or replace view asked as {query.sql}")
            except duckdb.Error:
                continue
            row = connection.execute("select sql from duckdb_views() where view_name = 'asked'").fetchone()
            assert row is not None
            found.append(Rewritten(query, row[0]))
    return found


def print_sqlite_views(corpus: Corpus) -> list[Rewritten]:
    """What `sqlite_master` has of each query that SQLite takes after every table was renamed and named back."""
    found = []
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("attach ':memory:' as s")
    for name, columns in corpus.tables.items():
        connection.execute(f"create table {name} ({columns})")
    for query in corpus.queries:
        try:
            connection.execute(f"create view s.asked as {query.sql}")
        except sqlite3.Error:
            continue
        if _renames(connection, corpus):
            (text,) = connection.execute("select sql from s.sqlite_master where name = 'asked'").fetchone()
            found.append(Rewritten(query, text))
        connection.execute("drop view s.asked")
    connection.close()
    return found


def _renames(connection: sqlite3.Connection, corpus: Corpus) -> bool:
    """Rename all tables, and name them as they were; SQLite refuses that for a view that it cannot run."""
    try:
        for name in corpus.tables:
            bare = name.rpartition(".")[2]
            connection.execute(f"alter table {name} rename to other")
            connection.execute(f"alter table s.other rename to {bare}")
    except sqlite3.Error:
        return False
    return True
