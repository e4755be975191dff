"""PostgreSQL prints views from their trees: `pg_get_viewdef`, and `pg_dump` of a database."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from lineage_pipeline_tests.oracles.rewrites.queries import Corpus
from lineage_pipeline_tests.oracles.rewrites.rewriter import Dump, Rewritten
from lineage_pipeline_tests.oracles.server import installed, running


@contextmanager
def database(*corpora: Corpus) -> Iterator[tuple[str, psycopg.Connection]]:
    """A server of its own with the tables of some queries: the folder of its socket, and a connection."""
    with (
        running(installed()) as home,
        psycopg.connect(host=home, user="lineage", dbname="postgres", autocommit=True) as connection,
    ):
        connection.execute("create schema s")
        for corpus in corpora:
            for name, columns in corpus.tables.items():
                connection.execute(f"create table {name} ({columns})".encode())
        yield home, connection


def print_views(connection: psycopg.Connection, corpus: Corpus) -> list[Rewritten]:
    """What `pg_get_viewdef` prints of each query that PostgreSQL takes."""
    found = []
    for query in corpus.queries:
        try:
            connection.execute(f"create temporary view asked as {query.sql}".encode())
        except psycopg.Error:
            continue
        row = connection.execute("select pg_get_viewdef('asked'::regclass)").fetchone()
        connection.execute("drop view asked")
        assert row is not None
        found.append(Rewritten(query, f"CREATE VIEW asked AS {row[0]}"))
    return found


def dump_views(home: str, connection: psycopg.Connection, corpus: Corpus) -> Dump:
    """What `pg_dump` prints of a database with all queries that PostgreSQL takes."""
    views = {}
    for at, query in enumerate(corpus.queries):
        try:
            connection.execute(f"create view public.v{at} as {query.sql}".encode())
        except psycopg.Error:
            continue
        views[f"v{at}"] = query
    text = dump(home, "postgres")
    for view in views:
        connection.execute(f"drop view public.{view}".encode())
    return Dump(text, views, "public")


def dump(home: str, name: str) -> str:
    """What `pg_dump` prints of a database without its rows."""
    command = [str(installed() / "pg_dump"), "--schema-only", "-h", home, "-U", "lineage", name]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.sub(r"(?m)^\\(un)?restrict \w+$", r"\\\1restrict key", text)
