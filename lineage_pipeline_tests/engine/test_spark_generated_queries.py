"""Spark's analyzer judges generated queries, over every rule of types and nullability."""

from collections.abc import Callable
from functools import cache

import pytest

from lineage_pipeline_tests.oracles import engine, spark
from lineage_pipeline_tests.oracles.answers import Answer
from lineage_pipeline_tests.oracles.generator.cells import cells
from lineage_pipeline_tests.oracles.generator.differences import SPARK as DIFFERENCES
from lineage_pipeline_tests.oracles.generator.differences import no_more, unexplained
from lineage_pipeline_tests.oracles.generator.grid import grid, summary
from lineage_pipeline_tests.oracles.generator.judgement import Judgement, judge
from lineage_pipeline_tests.oracles.generator.refusals import taken_anyway
from lineage_pipeline_tests.oracles.generator.scopes import tables
from lineage_pipeline_tests.oracles.generator.spark import SPARK
from lineage_pipeline_tests.oracles.generator.writer import generate

pytestmark = pytest.mark.spark

SEED = 1
FEW, MANY = 500, 10_000
MANY_DIFFERENCES = 10
Recorded = Callable[[str, object], None]


@cache
def _analyze_all() -> Callable[[str], Answer]:
    """Our engine, once the tables are there in both."""
    wanted = tables(SPARK, SEED)
    spark.create(wanted)
    given = engine.schemas(wanted, "spark")
    return lambda sql: engine.ask(sql, "spark", given)


@cache
def judge_queries(count: int) -> Judgement:
    """What came of so many queries."""
    return judge(generate(SPARK, SEED, count), spark.describe, _analyze_all())


def _assert_agreement(found: Judgement) -> None:
    assert len(found.refused) <= 0.01 * found.queries, found.refused[0]
    assert found.empty(cells(SPARK)) == []
    assert found.share(lambda column: column.named) > 99.8
    assert found.share(lambda column: column.typed) > 99.5
    assert found.share(lambda column: column.nulled) > 99.5
    assert [column.text for column in found.columns if column.unsound] == []


def test_spark_agrees_on_generated_queries(record_property: Recorded) -> None:
    found = judge_queries(FEW)
    record_property("figure", found.figure("Spark's analyser"))
    record_property("figure", "\n".join(summary(SPARK, found.seen)))
    _assert_agreement(found)


def test_what_differs_from_spark_has_a_reason() -> None:
    assert unexplained(judge_queries(FEW).columns, DIFFERENCES) == []


def test_a_difference_from_spark_is_still_one() -> None:
    assert no_more(DIFFERENCES, spark.describe, _analyze_all()) == [], "take these off the list"
    assert len(DIFFERENCES) <= MANY_DIFFERENCES


@pytest.mark.oracle
def test_spark_agrees_on_many_generated_queries(record_property: Recorded) -> None:
    found = judge_queries(MANY)
    record_property("figure", found.figure("Spark's analyser"))
    record_property("figure", "\n".join(grid(SPARK, found.seen)))
    _assert_agreement(found)


@pytest.mark.oracle
def test_spark_refuses_what_the_grammar_leaves_out() -> None:
    _analyze_all()
    assert taken_anyway(SPARK, spark.describe) == []


def test_a_seed_always_gives_the_same_queries() -> None:
    first, again, other = ([query.sql for query in generate(SPARK, seed, 20)] for seed in (1, 1, 2))
    assert first == again
    assert first != other
