"""One snapshot on Spark, stage by stage, without Dagster, checks and dbt: what each stage took."""

import time
from collections.abc import Callable

from pyspark.sql import SparkSession

from lineage_pipeline.config.load import Settings
from lineage_pipeline.configured_schemas import compute_analysis_key, import_configured_schemas
from lineage_pipeline.discover.discovery import Discovery
from lineage_pipeline.discover.schemas.project_schemas import add_project_schemas
from lineage_pipeline.spark import stages
from lineage_pipeline.spark.compilation import compile_missing
from lineage_pipeline.spark.workspace import Workspace
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.run import WarehouseRun
from lineage_pipeline.store.warehouse import Warehouse

STEPS: dict[str, Callable[[Workspace], None]] = {
    "compile": compile_missing,
    "statements": stages.write_statements,
    "object graph": stages.write_object_graph,
    "schemas and edges": stages.write_schemas,
    "column graph": stages.write_column_graph,
}
"""The steps in order; the first one is part of the second, and has a time of its own here."""


def run_snapshot(
    found: Discovery,
    settings: Settings,
    spark: Callable[[], SparkSession],
    run: str = "r1",
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Put a snapshot into the warehouse of the settings, and give what the clock says of each step."""
    begun = clock()
    work = begin(found, settings, spark, run)
    spent = {"writing sources": clock() - begun}
    for name, step in STEPS.items():
        begun = clock()
        step(work)
        spent[name] = clock() - begun
    work.run.publish()
    return spent


def begin(found: Discovery, settings: Settings, spark: Callable[[], SparkSession], run: str) -> Workspace:
    """Write down what was found, as the first stage does."""
    opened: WarehouseRun = Warehouse(settings.warehouse).begin(found.key, run, compute_analysis_key(settings))
    opened.write("snapshots", [found.snapshot])
    opened.write("sources", found.sources)
    opened.write("sql_files", found.files)
    opened.write("diagnostics", found.diagnostics, part="discovery")
    imported = add_project_schemas(import_configured_schemas(settings), found.files, found.sources, settings).schemas
    return Workspace(opened, FileStore(settings.warehouse), settings, spark, imported)
