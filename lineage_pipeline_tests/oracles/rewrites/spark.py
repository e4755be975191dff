"""Spark keeps the texts of views, and writes a list of their columns before them: `SHOW CREATE TABLE`."""

from lineage_pipeline_tests.oracles import spark
from lineage_pipeline_tests.oracles.rewrites.queries import Corpus
from lineage_pipeline_tests.oracles.rewrites.rewriter import Rewritten

DATABASE = "rewritten"


def print_views(corpus: Corpus) -> list[Rewritten]:
    """What `SHOW CREATE TABLE` prints of each query that Spark takes."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    session = spark.start_session()
    session.sql(f"create database {DATABASE}")
    found = []
    try:
        session.sql(f"use {DATABASE}")
        for name, columns in corpus.tables.items():
            session.sql(f"create table {name} ({' '.join(columns.split())}) using parquet")
        for query in corpus.queries:
            try:
                session.sql(f"create or replace view asked as {query.sql}")
            except (PySparkException, Py4JJavaError):
                continue
            row = session.sql("show create table asked").collectAsList().get(0)
            found.append(Rewritten(query, row.getString(0).replace(f"{DATABASE}.", "")))
    finally:
        session.sql("use default")
        session.sql(f"drop database {DATABASE} cascade")
    return found
