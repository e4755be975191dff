"""DuckDB and PostgreSQL as oracles: the names and types of the columns of a query are those that we give."""

import os
from collections.abc import Callable

import pytest

from lineage_pipeline_tests.oracles import differences, duckdb, postgres
from lineage_pipeline_tests.oracles import engine as ours
from lineage_pipeline_tests.oracles.answers import questions
from lineage_pipeline_tests.oracles.generator.cells import cells
from lineage_pipeline_tests.oracles.generator.duckdb import DUCKDB as DUCKDB_GRAMMAR
from lineage_pipeline_tests.oracles.generator.grid import grid, summary
from lineage_pipeline_tests.oracles.generator.judgement import Judgement
from lineage_pipeline_tests.oracles.generator.postgres import POSTGRES as POSTGRES_GRAMMAR
from lineage_pipeline_tests.oracles.server import MISSING, binaries
from lineage_pipeline_tests.oracles.trial import Engine, generated, titled, written

DUCKDB = Engine("DuckDB's binder", "duckdb", duckdb.describe, duckdb.create, DUCKDB_GRAMMAR, differences.DUCKDB)
POSTGRES = Engine(
    "PostgreSQL's catalogue",
    "postgres",
    postgres.describe,
    postgres.create,
    POSTGRES_GRAMMAR,
    differences.POSTGRES,
)
NEEDS_POSTGRES = [
    pytest.mark.postgres,
    pytest.mark.skipif(
        binaries() is None and not os.environ.get("LINEAGE_REQUIRE_POSTGRES"),
        reason=MISSING,
    ),
]
POSTGRES_PARAM = pytest.param(POSTGRES, id="postgres", marks=NEEDS_POSTGRES)
ENGINES = [pytest.param(DUCKDB, id="duckdb"), POSTGRES_PARAM]
MANY_DIFFERENCES = 15
SEED = 1
FEW, MANY = 500, 10_000
Recorded = Callable[[str, object], None]


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_on_written_queries(engine: Engine, record_property: Recorded) -> None:
    found = written(engine)
    record_property("figure", found.figure(engine.name, "written", knows_nulls=False))
    assert found.refused == []
    assert found.share(lambda column: column.named) > 99
    assert found.share(lambda column: column.typed) > 98


@pytest.mark.parametrize("engine", ENGINES)
def test_differences_from_engines_have_reasons(engine: Engine) -> None:
    listed = [title for titles in engine.differences.values() for title in titles]
    differing = [column for column in written(engine).columns if not (column.named and column.typed)]
    assert sorted(titled(engine, differing)) == sorted(listed), "what differs needs a reason"
    assert len(listed) <= MANY_DIFFERENCES


@pytest.mark.parametrize("engine", [POSTGRES_PARAM])
def test_views_depend_on_the_columns_that_we_read(engine: Engine, record_property: Recorded) -> None:
    asked = questions(engine.dialect)
    differing = [item.title for item in asked if postgres.reads(item.sql) != ours.reads(item.sql, engine.dialect)]
    same = len(asked) - len(differing)
    record_property("figure", f"{engine.name}: {same} of {len(asked)} written queries read the same columns")
    listed = [title for titles in differences.POSTGRES_READS.values() for title in titles]
    assert sorted(differing) == sorted(listed)


def _assert_agreement(found: Judgement, engine: Engine) -> None:
    assert len(found.refused) <= 0.01 * found.queries, found.refused[0]
    assert found.empty(cells(engine.grammar)) == []
    assert [column.sql for column in found.columns if not column.named] == []
    assert found.share(lambda column: column.typed) > 99.5


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_on_generated_queries(engine: Engine, record_property: Recorded) -> None:
    found = generated(engine, SEED, FEW)
    record_property("figure", found.figure(engine.name, knows_nulls=False))
    record_property("figure", "\n".join(summary(engine.grammar, found.seen)))
    _assert_agreement(found, engine)


@pytest.mark.oracle
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_on_many_generated_queries(engine: Engine, record_property: Recorded) -> None:
    found = generated(engine, SEED, MANY)
    record_property("figure", found.figure(engine.name, knows_nulls=False))
    record_property("figure", "\n".join(grid(engine.grammar, found.seen)))
    _assert_agreement(found, engine)
