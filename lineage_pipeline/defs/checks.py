"""The suites of Great Expectations as asset checks: one validation a table, one result a property."""

import warnings
from collections.abc import Iterator
from typing import Any

import dagster as dg
import msgspec

from lineage_pipeline.defs.home import write_text
from lineage_pipeline.defs.partitions import SPARK, snapshots
from lineage_pipeline.defs.published import base_of
from lineage_pipeline.defs.resources import Project, SparkResource, StoreResource
from lineage_pipeline.defs.specs import asset_key
from lineage_pipeline.quality.checks import CheckResult, check_table
from lineage_pipeline.quality.preparations import needs
from lineage_pipeline.quality.suites import SUITES, Check
from lineage_pipeline.settings import Settings
from lineage_pipeline.store.run import Run
from lineage_pipeline.store.schemas import DIFF, address
from lineage_pipeline.vocabulary.sets import Level

LARGE = 200_000
"""Rows beyond which a table is looked at by Spark; below, a frame in memory answers sooner."""

SEVERITIES = {Level.ERROR: dg.AssetCheckSeverity.ERROR}


def check_specs(table: str) -> list[dg.AssetCheckSpec]:
    """Describe the properties of a table to Dagster."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)  # checks by partition are new in Dagster
        return [_spec(table, check) for check in SUITES[table]]


def _spec(table: str, check: Check) -> dg.AssetCheckSpec:
    described = f"{check.name.replace('_', ' ').capitalize()} ({check.expectation})."
    return dg.AssetCheckSpec(
        check.name,
        asset=asset_key(table),
        description=described,
        blocking=check.blocking,
        partitions_def=snapshots,
    )


def table_checks(table: str) -> dg.AssetChecksDefinition:
    """Make the checks of one table."""

    @dg.multi_asset_check(name=f"{table}_hold", specs=check_specs(table), pool=SPARK)
    def hold(
        context: dg.AssetCheckExecutionContext,
        project: dg.ResourceParam[Project],
        store: StoreResource,
        spark: SparkResource,
    ) -> Iterator[dg.AssetCheckResult]:
        snapshot = context.partition_key
        settings = project.settings_for(snapshot)
        run = _run(store, settings, table, snapshot, context.run.run_id)
        results = check_table(table, _frames(run, table, spark, settings)) if run else _nothing(table)
        keep(project, snapshot, table, results)
        yield from map(_told, results)

    return hold


CHECKS = [table_checks(table) for table in SUITES]


def _run(store: StoreResource, settings: Settings, table: str, snapshot: str, own: str) -> Run | None:
    """Open what holds the table; a snapshot without a base has no changes."""
    if address(table) != DIFF:
        return store.view(settings, snapshot, own)
    base = base_of(store.warehouse(settings), snapshot)
    manifest = store.warehouse(settings).manifest((base, snapshot)) if base else None
    return store.view(settings, (base, snapshot), own) if base and manifest else None


def _frames(run: Run, table: str, spark: SparkResource, settings: Settings) -> dict[str, Any]:
    wanted = needs(table)
    stored = run.manifest.tables
    if sum(stored[name].rows for name in wanted) <= LARGE:
        return {name: run.read(name) for name in wanted}
    from lineage_pipeline.spark.frames import read
    from lineage_pipeline.store.schemas import arrow_schema

    session = spark.open(settings.spark)
    return {name: read(session, run.files(name), arrow_schema(name)) for name in wanted}


def _nothing(table: str) -> tuple[CheckResult, ...]:
    told = "there are no rows"
    return tuple(CheckResult(table, row.name, True, row.severity, row.blocking, told, 0, "[]") for row in SUITES[table])


def keep(project: Project, snapshot: str, table: str, results: tuple[CheckResult, ...]) -> None:
    """Write down what was found, for the summary of a later run."""
    write_text(project.home.checks_of(snapshot, table), msgspec.json.encode(results).decode() + "\n")


def _told(result: CheckResult) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=result.passed,
        check_name=result.check,
        asset_key=asset_key(result.table),
        severity=SEVERITIES.get(result.severity, dg.AssetCheckSeverity.WARN),
        description=result.observed,
        metadata={"unexpected": result.unexpected, "sample": dg.MetadataValue.json(msgspec.json.decode(result.sample))},
    )
