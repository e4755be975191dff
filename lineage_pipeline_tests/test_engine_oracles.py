"""DuckDB and PostgreSQL say what the columns of a query are called and what types they have; so do we."""

import os
from collections.abc import Callable

import pytest

from lineage_pipeline_tests.oracles import differences, duckdb, postgres
from lineage_pipeline_tests.oracles.server import binaries
from lineage_pipeline_tests.oracles.trial import Engine, titled, written

DUCKDB = Engine("DuckDB's binder", "duckdb", duckdb.describe, duckdb.create, differences.DUCKDB)
POSTGRES = Engine("PostgreSQL's catalogue", "postgres", postgres.describe, postgres.create, differences.POSTGRES)
ENGINES = [
    pytest.param(DUCKDB, id="duckdb"),
    pytest.param(
        POSTGRES,
        id="postgres",
        marks=[
            pytest.mark.postgres,
            pytest.mark.skipif(
                binaries() is None and not os.environ.get("LINEAGE_REQUIRE_POSTGRES"),
                reason="no PostgreSQL server is installed (Debian: apt-get install postgresql)",
            ),
        ],
    ),
]
MANY_DIFFERENCES = 15
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
