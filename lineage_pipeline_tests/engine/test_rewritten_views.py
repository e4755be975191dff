"""Queries as other tools write them have the same lineage: real databases print views, libraries print trees."""

from collections.abc import Callable, Sequence

import pytest

from lineage_pipeline_tests.oracles.generator.duckdb import DUCKDB
from lineage_pipeline_tests.oracles.generator.postgres import POSTGRES
from lineage_pipeline_tests.oracles.rewrites import (
    django_queries,
    embedded,
    ibis_queries,
    mariadb,
    postgres,
    spark,
    sqlalchemy_queries,
    trees,
)
from lineage_pipeline_tests.oracles.rewrites.differences import DIFFERENCES
from lineage_pipeline_tests.oracles.rewrites.queries import Corpus, drawn, from_recipes, generated, written
from lineage_pipeline_tests.oracles.rewrites.recipes import build_queries
from lineage_pipeline_tests.oracles.rewrites.rewriter import (
    ASPECTS,
    DIRECT,
    FINDINGS,
    INDIRECT,
    NAMES,
    Judge,
    Rewritten,
)

Recorded = Callable[[str, object], None]

FEW, MANY = 60, 600
SIZES = (
    pytest.param(FEW, id="few"),
    pytest.param(MANY, id="many", marks=pytest.mark.oracle),
)
KEPT_BY_MARIADB = tuple(aspect for aspect in ASPECTS if aspect != INDIRECT)
"""MariaDB drops conditions of USING inside common table expressions, and sorts windows by aliases of outputs."""
KEPT_BY_OPTIMIZERS = (NAMES, DIRECT)
"""An optimizer drops the columns, joins and conditions that nothing needs, and converts what has another type."""
KEPT_BY_IBIS = (NAMES, DIRECT, INDIRECT, FINDINGS)
"""ibis has types of its own: it writes small numbers as TINYINT."""


def conclude(judge: Judge, count: int, record_property: Recorded, taken: int) -> None:
    """Report what was found; everything has a reason, and in a whole run every reason is needed."""
    record_property("figure", judge.verdict.figure())
    assert not judge.verdict.unexplained, "\n".join(judge.verdict.unexplained)
    assert judge.verdict.taken >= taken, "hardly any query was compared"
    if count == MANY:
        listed = {item.reason for item in DIFFERENCES if item.rewriter == judge.verdict.rewriter}
        assert listed == set(judge.verdict.reasons), "what does not differ any more leaves the list"


@pytest.mark.postgres
@pytest.mark.parametrize("count", SIZES)
def test_views_that_postgres_prints_keep_their_lineage(count: int, record_property: Recorded) -> None:
    prints, dumps = Judge("pg_get_viewdef", DIFFERENCES), Judge("pg_dump", DIFFERENCES)
    corpora = (written("postgres"), generated(POSTGRES, count), drawn("postgres", count * 2, texts=False))
    with postgres.database(*corpora) as (home, connection):
        for corpus in corpora:
            prints.judge_views(corpus, postgres.print_views(connection, corpus))
            dumps.judge_dump(corpus, postgres.dump_views(home, connection, corpus))
    for judge in (prints, dumps):
        conclude(judge, count, record_property, taken=260 + count)


@pytest.mark.mariadb
@pytest.mark.parametrize("count", SIZES)
def test_views_that_mariadb_prints_keep_their_lineage(count: int, record_property: Recorded) -> None:
    prints = Judge("SHOW CREATE VIEW", DIFFERENCES, KEPT_BY_MARIADB)
    dumps = Judge("mariadb-dump", DIFFERENCES, KEPT_BY_MARIADB)
    for corpus in (written("mysql"), drawn("mysql", count * 2)):
        with mariadb.database(corpus) as server:  # one each: both have tables of the same names
            prints.judge_views(corpus, mariadb.print_views(server, corpus))
            dumps.judge_dump(corpus, mariadb.dump_views(server, corpus))
    for judge in (prints, dumps):
        conclude(judge, count, record_property, taken=count)


@pytest.mark.parametrize("count", SIZES)
def test_views_that_duckdb_prints_keep_their_lineage(count: int, record_property: Recorded) -> None:
    judge = Judge("duckdb_views", DIFFERENCES)
    for corpus in (written("duckdb"), generated(DUCKDB, count), drawn("duckdb", count)):
        judge.judge_views(corpus, embedded.print_duckdb_views(corpus))
    conclude(judge, count, record_property, taken=250 + count)


@pytest.mark.parametrize("count", SIZES)
def test_views_that_sqlite_renames_keep_their_lineage(count: int, record_property: Recorded) -> None:
    judge = Judge("sqlite_master", DIFFERENCES)
    corpus = drawn("sqlite", count * 3, syntax="", lateral="")
    judge.judge_views(corpus, embedded.print_sqlite_views(corpus))
    conclude(judge, count, record_property, taken=count)


@pytest.mark.spark
@pytest.mark.parametrize("count", SIZES)
def test_views_that_spark_prints_keep_their_lineage(count: int, record_property: Recorded) -> None:
    judge = Judge("SHOW CREATE TABLE", DIFFERENCES)
    corpus = written("spark")
    few = Corpus(corpus.dialect, corpus.tables, corpus.queries[:: MANY // count])
    judge.judge_views(few, spark.print_views(few))
    conclude(judge, count, record_property, taken=len(few.queries) // 2)


TRANSLATIONS = (
    ("postgres", "duckdb"),
    ("postgres", "tsql"),
    ("snowflake", "bigquery"),
    ("bigquery", "snowflake"),
    ("tsql", "postgres"),
    ("mysql", "postgres"),
    ("oracle", "postgres"),
    ("trino", "spark"),
    ("duckdb", "snowflake"),
)


@pytest.mark.parametrize("count", SIZES)
def test_queries_that_sqlglot_prints_keep_their_lineage(count: int, record_property: Recorded) -> None:
    pretty, qualified = Judge("sqlglot pretty", DIFFERENCES), Judge("sqlglot qualify", DIFFERENCES)
    optimized = Judge("sqlglot optimize", DIFFERENCES, KEPT_BY_OPTIMIZERS)
    for dialect in ("postgres", "tsql", "snowflake", "bigquery", "duckdb", "mysql", "oracle", "redshift"):
        corpus = drawn(dialect, count // 6, texts=False)
        pretty.judge_views(corpus, trees.print_trees(corpus, trees.print_pretty))
        plain = drawn(dialect, count // 6, texts=False, using=False, natural=False)
        qualified.judge_views(plain, trees.print_trees(plain, trees.print_qualified))
        if dialect in ("tsql", "oracle"):  # sqlglot writes CROSS JOIN before their APPLY once it has optimized a query
            plain = drawn(dialect, count // 6, texts=False, using=False, natural=False, lateral="")
        optimized.judge_views(plain, trees.print_trees(plain, trees.print_optimized))
    for judge in (pretty, qualified, optimized):
        conclude(judge, count, record_property, taken=count)


@pytest.mark.parametrize("count", SIZES)
def test_queries_that_sqlglot_translates_keep_their_values(count: int, record_property: Recorded) -> None:
    judge = Judge("sqlglot transpile", DIFFERENCES)
    for source, target in TRANSLATIONS:
        trees.judge_translations(
            judge, drawn(source, count // 6, texts=False, lateral_alias=False, recursive=""), target
        )
    conclude(judge, count, record_property, taken=count)


@pytest.mark.parametrize("count", SIZES)
def test_queries_that_sqlalchemy_compiles_have_the_lineage_of_those_by_hand(
    count: int, record_property: Recorded
) -> None:
    judge = Judge("SQLAlchemy", DIFFERENCES)
    for dialect in sqlalchemy_queries.DIALECTS:
        corpus = from_recipes(dialect, count // 3)
        texts = build_queries(sqlalchemy_queries.SqlalchemyBuilder(dialect), count // 3)
        judge.judge_views(corpus, _pair(corpus, texts))
    conclude(judge, count, record_property, taken=count)


@pytest.mark.parametrize("count", SIZES)
def test_queries_that_ibis_compiles_have_the_lineage_of_those_by_hand(count: int, record_property: Recorded) -> None:
    judge = Judge("ibis", DIFFERENCES, KEPT_BY_IBIS)
    for dialect, texts in ibis_queries.compile_queries(count // 5).items():
        corpus = from_recipes(dialect, count // 5)
        judge.judge_views(corpus, _pair(corpus, texts))
    conclude(judge, count, record_property, taken=count)


def _pair(corpus: Corpus, texts: Sequence[str]) -> list[Rewritten]:
    """The queries of a corpus, each with the text that a library made of it."""
    pairs = zip(corpus.queries, texts, strict=True)
    return [Rewritten(query, f"create view asked as {text}") for query, text in pairs]


@pytest.mark.parametrize("dialect", django_queries.ENGINES)
def test_queries_that_django_compiles_have_the_lineage_of_those_by_hand(
    dialect: str, record_property: Recorded
) -> None:
    judge = Judge("Django", DIFFERENCES)
    corpus, made = django_queries.compile_queries(dialect)
    judge.judge_views(corpus, made)
    conclude(judge, FEW, record_property, taken=len(django_queries.QUERIES))
