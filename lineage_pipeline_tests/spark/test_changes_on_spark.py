"""Changes computed on Spark equal those of one process, and only the rows that matter are collected."""

from pathlib import Path

import pytest

from benchmarks.generate import generate
from lineage_pipeline.config.models import SparkSettings
from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.policy import Policy
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options
from lineage_pipeline.model.tables import Change, Source
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline.store.row_conversion import arrow_to_rows
from lineage_pipeline.store.run import WarehouseRun
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.change_cases import iter_side_files
from lineage_pipeline_tests.support.example_run import run_example

pytestmark = pytest.mark.spark

POLICY = Policy(leaf="public")


def side_inputs(side: int) -> list[InputFile]:
    """Every case of changes in a system of its own, beside files of which nothing changes."""
    quiet = [InputFile(path, text, Options("postgres")) for path, text in generate(60, dialect="postgres").items()]
    return [*quiet, *iter_side_files(side)]


def store_snapshot(warehouse: Warehouse, key: str, lineage: LineageTables, text: str) -> WarehouseRun:
    run = warehouse.begin(key, "r1", "k")
    for table in LineageTables.__struct_fields__:
        run.write(table, getattr(lineage, table))
    run.write("sources", [Source(name, name, told, told, ()) for name, told in (("a", "select 1"), ("b", text))])
    return run


def test_every_case_of_a_change_is_found_on_spark_as_in_one_process(tmp_path: Path) -> None:
    from lineage_pipeline.spark.session import count_jobs, get_session
    from lineage_pipeline.spark.snapshot_diff import SnapshotPair, diff_snapshots, find_sources

    warehouse = Warehouse(tmp_path)
    base, head = (build_lineage(side_inputs(side), reach=False) for side in (0, 1))
    runs = (
        store_snapshot(warehouse, key, side, f"-- lineage: ignore {key}")
        for key, side in (("r@1", base), ("r@2", head))
    )
    sides = SnapshotPair(get_session(SparkSettings()), *runs)
    started = count_jobs()
    found: tuple[Change, ...] = diff_snapshots(sides, POLICY)
    assert count_jobs() - started <= 8
    assert len({change.rule for change in found}) > 40
    assert found == diff(base, head, POLICY)
    assert [source.source_hash for source in find_sources(sides, "lineage: ignore")] == ["b"]
    assert diff_snapshots(SnapshotPair(sides.session, sides.base, sides.base), POLICY) == ()


def test_the_published_changes_of_the_example_are_those_that_spark_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    from lineage_pipeline.defs.assets import comparison
    from lineage_pipeline.defs.resources import StoreResource
    from lineage_pipeline.spark.session import get_session

    made = run_example()
    monkeypatch.setattr(comparison, "LOCAL_DIFF_ROWS", 0)
    found = comparison._compare_snapshots(
        StoreResource(), made.settings, lambda: get_session(made.settings.spark), made.example.path, made.snapshots
    )
    published = arrow_to_rows("changes", made.warehouse.read(made.snapshots, "changes"), Change)
    assert found.changes == published
    assert len(published) > 10
