"""The analyser of the real Spark judges generated queries: over every rule of types and nulls, none left out."""

from collections.abc import Callable
from functools import cache

import pytest

from lineage_pipeline_tests.oracles import engine, spark
from lineage_pipeline_tests.oracles.generator.cells import cells
from lineage_pipeline_tests.oracles.generator.grid import grid, summary
from lineage_pipeline_tests.oracles.generator.judgement import Judgement, judge
from lineage_pipeline_tests.oracles.generator.scopes import tables
from lineage_pipeline_tests.oracles.generator.spark import SPARK
from lineage_pipeline_tests.oracles.generator.writer import generate

pytestmark = pytest.mark.spark

SEED = 1
FEW, MANY = 500, 10_000
Recorded = Callable[[str, object], None]


@cache
def judged(count: int) -> Judgement:
    """What came of so many queries."""
    wanted = tables(SPARK, SEED)
    spark.create(wanted)
    given = engine.schemas(wanted, "spark")
    return judge(generate(SPARK, SEED, count), spark.describe, lambda sql: engine.ask(sql, "spark", given))


def _holds(found: Judgement) -> None:
    assert len(found.refused) <= 0.01 * found.queries, found.refused[0]
    assert found.empty(cells(SPARK)) == []
    assert found.share(lambda column: column.named) > 99
    assert found.share(lambda column: column.typed) > 98
    assert found.share(lambda column: column.nulled) > 97


def test_spark_agrees_on_generated_queries(record_property: Recorded) -> None:
    found = judged(FEW)
    record_property("figure", found.figure("Spark's analyser"))
    record_property("figure", "\n".join(summary(SPARK, found.seen)))
    _holds(found)


@pytest.mark.oracle
def test_spark_agrees_on_many_generated_queries(record_property: Recorded) -> None:
    found = judged(MANY)
    record_property("figure", found.figure("Spark's analyser"))
    record_property("figure", "\n".join(grid(SPARK, found.seen)))
    _holds(found)


def test_a_seed_always_gives_the_same_queries() -> None:
    first, again, other = ([query.sql for query in generate(SPARK, seed, 20)] for seed in (1, 1, 2))
    assert first == again
    assert first != other
