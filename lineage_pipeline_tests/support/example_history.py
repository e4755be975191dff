"""The example's whole history as marts, analyzed in this process and built with dbt once per process."""

import atexit
import tempfile
from functools import cache
from pathlib import Path

import msgspec

from lineage_pipeline.config.load import load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.discover.discovery import Discovery, build_input_files
from lineage_pipeline.discover.example.repository import build_example
from lineage_pipeline.discover.git.repository import discover_revision, list_first_parents
from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.trace.reach import build_column_reach
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.pipeline import AnalysisCache, analyze_files
from lineage_pipeline.store.run import required_tables
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.dbt_builds import DbtBuild, run_dbt
from lineage_pipeline_tests.support.paths import ROOT


@cache
def build_history() -> DbtBuild:
    """Ten commits by five people, each compared with the one before it."""
    folder = tempfile.TemporaryDirectory(prefix="lineage history ")
    atexit.register(folder.cleanup)
    warehouse = publish_history(Path(folder.name))
    return run_dbt(Path(folder.name), warehouse)


def publish_history(folder: Path) -> Warehouse:
    """Put every commit of the example into a warehouse, each compared with the one before it."""
    example = build_example(ROOT / "sql_assets", folder / "example", history=True)
    settings = load_settings(example.path, {}, {})
    warehouse, memory = Warehouse(folder / "warehouse"), AnalysisCache()
    last: tuple[str, LineageTables] | None = None
    for commit in list_first_parents(example.path, "HEAD"):
        found = discover_revision(example.path, commit, settings, name="example")
        lineage = analyze_files(build_input_files(found, settings), memory=memory).lineage
        publish_snapshot(warehouse, found, lineage, compute_analysis_key(settings))
        if last is not None:
            both = (last[0], found.key)
            run = warehouse.begin(both, "r1")
            for table in required_tables(both):
                run.write(table, diff(last[1], lineage) if table == "changes" else ())
            run.publish()
        last = found.key, lineage
    return warehouse


def publish_snapshot(warehouse: Warehouse, found: Discovery, lineage: LineageTables, analysis_key: str) -> None:
    """Write and publish a snapshot with the reach of its columns."""
    whole = msgspec.structs.replace(lineage, column_reach=build_column_reach(lineage))
    run = warehouse.begin(found.key, "r1", analysis_key)
    snapshot = msgspec.structs.replace(found.snapshot, analysis_key=analysis_key)
    run.write("snapshots", [snapshot])
    run.write("sources", found.sources)
    run.write("sql_files", found.files)
    for name in whole.__struct_fields__:
        run.write(name, getattr(whole, name))
    run.publish()
