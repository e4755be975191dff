"""The suites of Great Expectations as asset checks: one validation per table, one result per property."""

import warnings
from collections.abc import Iterator
from typing import Any

import dagster as dg
import msgspec

from lineage_pipeline.config.load import Settings
from lineage_pipeline.defs.home import write_text_atomically
from lineage_pipeline.defs.resources import Project, SparkResource, StoreResource
from lineage_pipeline.defs.runs.published import read_base_key
from lineage_pipeline.defs.specs import SPARK_POOL, make_asset_key, snapshot_partitions
from lineage_pipeline.model.enums import Level
from lineage_pipeline.quality.checks import CheckResult, check_table
from lineage_pipeline.quality.suites import SUITES, TableCheck, required_columns
from lineage_pipeline.store.run import WarehouseRun
from lineage_pipeline.store.table_schemas import DIFF_ADDRESS, address_columns

SPARK_ROWS = 200_000
"""Rows above which a table is checked by Spark; below, a frame in memory is quicker."""

CHECK_SEVERITIES = {Level.ERROR: dg.AssetCheckSeverity.ERROR}


def build_check_specs(table: str) -> list[dg.AssetCheckSpec]:
    """Return the check specs of a table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)  # checks by partition are new in Dagster
        return [_build_check_spec(table, check) for check in SUITES[table]]


def _build_check_spec(table: str, check: TableCheck) -> dg.AssetCheckSpec:
    described = f"{check.name.replace('_', ' ').capitalize()} ({check.expectation})."
    return dg.AssetCheckSpec(
        check.name,
        asset=make_asset_key(table),
        description=described,
        blocking=check.blocking,
        partitions_def=snapshot_partitions,
    )


def build_table_checks(table: str) -> dg.AssetChecksDefinition:
    """Build the checks of one table."""

    @dg.multi_asset_check(name=f"{table}_hold", specs=build_check_specs(table), pool=SPARK_POOL)
    def hold(
        context: dg.AssetCheckExecutionContext,
        project: dg.ResourceParam[Project],
        store: StoreResource,
        spark: SparkResource,
    ) -> Iterator[dg.AssetCheckResult]:
        snapshot = context.partition_key
        settings = project.settings_for(snapshot)
        run = _open_run(store, settings, table, snapshot, context.run.run_id)
        results = check_table(table, _frames(run, table, spark, settings)) if run else _empty_results(table)
        save_results(project, snapshot, table, results)
        yield from map(_to_dagster_result, results)

    return hold


TABLE_CHECKS = [build_table_checks(table) for table in SUITES]


def _open_run(store: StoreResource, settings: Settings, table: str, snapshot: str, own: str) -> WarehouseRun | None:
    """Open the run that holds the table; a snapshot without a base has no changes."""
    if address_columns(table) != DIFF_ADDRESS:
        return store.view(settings, snapshot, own)
    base = read_base_key(store.warehouse(settings), snapshot)
    manifest = store.warehouse(settings).manifest((base, snapshot)) if base else None
    return store.view(settings, (base, snapshot), own) if base and manifest else None


def _frames(run: WarehouseRun, table: str, spark: SparkResource, settings: Settings) -> dict[str, Any]:
    wanted = required_columns(table)
    stored = run.manifest.tables
    if sum(stored[name].rows for name in wanted) <= SPARK_ROWS:
        return {name: run.read(name) for name in wanted}
    from lineage_pipeline.spark.frames import read_parquet_frame
    from lineage_pipeline.store.table_schemas import arrow_schema

    session = spark.open(settings.spark)
    return {name: read_parquet_frame(session, run.files(name), arrow_schema(name)) for name in wanted}


def _empty_results(table: str) -> tuple[CheckResult, ...]:
    described = "there are no rows"
    return tuple(
        CheckResult(
            table=table,
            check=row.name,
            passed=True,
            severity=row.severity,
            blocking=row.blocking,
            observed=described,
            unexpected=0,
            sample="[]",
        )
        for row in SUITES[table]
    )


def save_results(project: Project, snapshot: str, table: str, results: tuple[CheckResult, ...]) -> None:
    """Save the results for the summary of a later run."""
    write_text_atomically(project.home.checks_of(snapshot, table), msgspec.json.encode(results).decode() + "\n")


def _to_dagster_result(result: CheckResult) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=result.passed,
        check_name=result.check,
        asset_key=make_asset_key(result.table),
        severity=CHECK_SEVERITIES.get(result.severity, dg.AssetCheckSeverity.WARN),
        description=result.observed,
        metadata={"unexpected": result.unexpected, "sample": dg.MetadataValue.json(msgspec.json.decode(result.sample))},
    )
