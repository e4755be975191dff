"""Changes on Spark are those of one process, of whatever can change, and only what bears on them is gathered."""

from pathlib import Path

import pytest

from benchmarks.generate import generate
from lineage_pipeline.engine.diff import Policy, diff
from lineage_pipeline.pipeline import analyse
from lineage_pipeline.settings import SparkSettings
from lineage_pipeline.store.arrays import from_arrow
from lineage_pipeline.store.run import Run
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.vocabulary.analysis import InputFile, Lineage, Options
from lineage_pipeline.vocabulary.tables import Change, Source
from lineage_pipeline_tests.changes import revisions
from lineage_pipeline_tests.materialised import materialised

pytestmark = pytest.mark.spark

POLICY = Policy(leaf="public")


def inputs(side: int) -> list[InputFile]:
    """Every case of changes in a system of its own, beside files of which nothing changes."""
    quiet = [InputFile(path, text, Options("postgres")) for path, text in generate(60, dialect="postgres").items()]
    return [*quiet, *revisions(side)]


def stored(warehouse: Warehouse, key: str, lineage: Lineage, text: str) -> Run:
    run = warehouse.begin(key, "r1", "k")
    for table in Lineage.__struct_fields__:
        run.write(table, getattr(lineage, table))
    run.write("sources", [Source(name, name, told, told, ()) for name, told in (("a", "select 1"), ("b", text))])
    return run


def test_every_case_of_a_change_is_found_on_spark_as_in_one_process(tmp_path: Path) -> None:
    from lineage_pipeline.spark.changes import Sides, compare, sources_with
    from lineage_pipeline.spark.session import job_count, session

    warehouse = Warehouse(tmp_path)
    base, head = (analyse(inputs(side), reach=False) for side in (0, 1))
    runs = (stored(warehouse, key, side, f"-- lineage: ignore {key}") for key, side in (("r@1", base), ("r@2", head)))
    sides = Sides(session(SparkSettings()), *runs)
    started = job_count()
    found: tuple[Change, ...] = compare(sides, POLICY)
    assert job_count() - started <= 8
    assert len({change.rule for change in found}) > 40
    assert found == diff(base, head, POLICY)
    assert [source.source_hash for source in sources_with(sides, "lineage: ignore")] == ["b"]
    assert compare(Sides(sides.session, sides.base, sides.base), POLICY) == ()


def test_the_published_changes_of_the_example_are_those_that_spark_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    from lineage_pipeline.defs import comparison
    from lineage_pipeline.defs.resources import StoreResource
    from lineage_pipeline.spark.session import session

    made = materialised()
    monkeypatch.setattr(comparison, "FEW", 0)
    found = comparison._compared(
        StoreResource(), made.settings, lambda: session(made.settings.spark), made.example.path, made.snapshots
    )
    published = from_arrow("changes", made.warehouse.read(made.snapshots, "changes"), Change)
    assert found.changes == published
    assert len(published) > 10
