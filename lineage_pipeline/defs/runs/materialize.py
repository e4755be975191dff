"""Materializes revisions into the warehouse: all stages through Dagster in this process, on one Spark session.

What exists is not made again; where nothing is missing, neither Dagster nor Spark is started.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lineage_pipeline.config.load import Settings
from lineage_pipeline.defs.home import Home, prepare_dagster_home
from lineage_pipeline.defs.runs.run_summary import summarize_run
from lineage_pipeline.defs.runs.targets import (
    MissingOutputs,
    SnapshotTarget,
    are_marts_stale,
    build_run_tags,
    find_missing,
    plan_targets,
    require_all,
)
from lineage_pipeline.defs.runs.watched_repositories import ensure_watched
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.summary import RunSummary
from lineage_pipeline.store.warehouse import Warehouse

if TYPE_CHECKING:
    from dagster import DagsterInstance, Definitions, ExecuteInProcessResult

QUIET_LOGGERS = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Run config without Dagster's console log: people read our own lines."""


ProgressReport: TypeAlias = Callable[[str], None]


def materialize_revisions(
    settings: Settings, repo: Path, revisions: Sequence[str], report: ProgressReport, *, force: bool = False
) -> RunSummary:
    """Put the lineage of revisions into the warehouse, with checks, marts, events and the change report."""
    settings, row = ensure_watched(settings, repo)
    return materialize_targets(settings, plan_targets(settings, repo, row, revisions), report, force=force)


def materialize_targets(
    settings: Settings, wanted: Sequence[SnapshotTarget], report: ProgressReport, *, force: bool = False
) -> RunSummary:
    """Make what is missing of snapshots, one after the other in this process; with `force`, everything."""
    warehouse = Warehouse(settings.warehouse)
    todos = (find_missing(target, settings, warehouse) for target in wanted)
    missing = [require_all(todo.target) if force else todo for todo in todos if todo or force]
    if not missing and not are_marts_stale(settings, warehouse):
        return summarize_run(settings, wanted, jobs=0, skipped=True)
    jobs = _run_missing(settings, missing, report)
    return summarize_run(settings, wanted, jobs, skipped=False)


def _run_missing(settings: Settings, missing: Sequence[MissingOutputs], report: ProgressReport) -> int:
    """Run what is missing, and return the number of Spark jobs it took."""
    report("starting Dagster")
    from sqlalchemy.exc import OperationalError

    try:
        return _run_definitions(settings, missing, report)
    except OperationalError as error:  # a disk that is full, most likely: Dagster's records are on it
        raise LineageError(f"{settings.home}: Dagster cannot write what happens: {error.orig}") from error


def _run_definitions(settings: Settings, missing: Sequence[MissingOutputs], report: ProgressReport) -> int:
    from lineage_pipeline.defs.compose import compose_definitions
    from lineage_pipeline.defs.dbt_project import prepare_manifest
    from lineage_pipeline.defs.resources import Project

    prepare_manifest()
    definitions = compose_definitions(Project(settings, report))
    before = _count_spark_jobs()
    with open_dagster_instance(settings) as instance:
        held = [_run_snapshot(definitions, instance, todo) for todo in missing]
        if all(held) and are_marts_stale(settings, Warehouse(settings.warehouse)):
            report("building the marts with dbt")
            _run_marts(definitions, instance)
    return _count_spark_jobs() - before


def _run_snapshot(definitions: "Definitions", instance: "DagsterInstance", todo: MissingOutputs) -> bool:
    """Run the missing stages of one snapshot; False where a check prevented its publication."""
    from lineage_pipeline.defs.jobs import SNAPSHOT_JOB, select_missing_assets
    from lineage_pipeline.defs.specs import SNAPSHOT_PARTITIONS

    key = todo.target.snapshot
    instance.add_dynamic_partitions(SNAPSHOT_PARTITIONS, [key])
    result = definitions.resolve_job_def(SNAPSHOT_JOB).execute_in_process(
        instance=instance,
        partition_key=key,
        asset_selection=select_missing_assets(todo),
        tags=build_run_tags(todo.target),
        run_config=QUIET_LOGGERS,
        raise_on_error=False,
    )
    return _is_successful(result, key)


def _run_marts(definitions: "Definitions", instance: "DagsterInstance") -> None:
    from lineage_pipeline.defs.jobs import MARTS_JOB

    job = definitions.resolve_job_def(MARTS_JOB)
    result = job.execute_in_process(instance=instance, run_config=QUIET_LOGGERS, raise_on_error=False)
    if not _is_successful(result, "the marts"):
        failed = [check.check_name for check in result.get_asset_check_evaluations() if not check.passed]
        raise LineageError(f"the marts were not built: {', '.join(failed)} failed")


def _is_successful(result: "ExecuteInProcessResult", what: str) -> bool:
    """Return False where a check failed, which the summary counts; raise an error where a step failed."""
    if result.success:
        return True
    if any(not check.passed for check in result.get_asset_check_evaluations()):
        return False
    for event in result.filter_events(lambda event: event.is_step_failure):
        error = event.step_failure_data.error
        while error is not None and error.cause is not None:
            error = error.cause
        raise LineageError(f"{what}: {event.step_key} failed: {error.message.strip() if error else 'no reason given'}")
    raise LineageError(f"{what} failed")


@contextmanager
def open_dagster_instance(settings: Settings) -> "Iterator[DagsterInstance]":
    """Open the project's own Dagster instance, so that the UI shows what was run here."""
    from dagster import DagsterInstance

    with Home(settings.home).alone("dagster"):  # it makes its tables where there are none, and two would make them
        opened = DagsterInstance.from_config(str(prepare_dagster_home(settings)))
        for storage in (opened.run_storage, opened.event_log_storage, opened.schedule_storage):
            assert storage is not None
    with opened as instance:
        yield instance


def _count_spark_jobs() -> int:
    from lineage_pipeline.spark.session import count_jobs

    return count_jobs()
