"""Revisions in, a warehouse out: every stage through Dagster in this process, on one Spark session.

What is there already is not made again; where nothing is missing, neither Dagster nor Spark is started.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lineage_pipeline.defs.home import Home, prepare_dagster
from lineage_pipeline.defs.summary import summarise
from lineage_pipeline.defs.targets import Target, Todo, everything, lacks_marts, run_tags, targets, todo_of, watched
from lineage_pipeline.settings import Settings
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.summary import RunSummary

if TYPE_CHECKING:
    from dagster import DagsterInstance, Definitions, ExecuteInProcessResult

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""People read our own lines; Dagster keeps its events in its home."""


Report: TypeAlias = Callable[[str], None]


def materialise(
    settings: Settings, repo: Path, revisions: Sequence[str], report: Report, *, force: bool = False
) -> RunSummary:
    """Put the lineage of revisions into the warehouse, with checks, marts, events and the change report."""
    settings, row = watched(settings, repo)
    return make(settings, targets(settings, repo, row, revisions), report, force=force)


def make(settings: Settings, wanted: Sequence[Target], report: Report, *, force: bool = False) -> RunSummary:
    """Make what is missing of snapshots, one after the other in this process; by force, what is there as well."""
    warehouse = Warehouse(settings.warehouse)
    todos = (todo_of(target, settings, warehouse) for target in wanted)
    missing = [everything(todo.target) if force else todo for todo in todos if todo or force]
    if not missing and not lacks_marts(settings, warehouse):
        return summarise(settings, wanted, jobs=0, skipped=True)
    jobs = _execute(settings, missing, report)
    return summarise(settings, wanted, jobs, skipped=False)


def _execute(settings: Settings, missing: Sequence[Todo], report: Report) -> int:
    """Run what is missing, and give the number of Spark jobs that it took."""
    report("starting Dagster")
    from sqlalchemy.exc import OperationalError

    try:
        return _executed(settings, missing, report)
    except OperationalError as error:  # a disk that is full, most likely: Dagster's records are on it
        raise LineageError(f"{settings.home}: Dagster cannot write what happens: {error.orig}") from error


def _executed(settings: Settings, missing: Sequence[Todo], report: Report) -> int:
    from lineage_pipeline.defs.compose import compose
    from lineage_pipeline.defs.dbt import prepare
    from lineage_pipeline.defs.resources import Project

    prepare()
    definitions = compose(Project(settings, report))
    before = _spark_jobs()
    with open_instance(settings) as instance:
        held = [_run_snapshot(definitions, instance, todo) for todo in missing]
        if all(held) and lacks_marts(settings, Warehouse(settings.warehouse)):
            report("building the marts with dbt")
            _run_marts(definitions, instance)
    return _spark_jobs() - before


def _run_snapshot(definitions: "Definitions", instance: "DagsterInstance", todo: Todo) -> bool:
    """Run the stages that are missing of one snapshot; False where a check kept it from being published."""
    from lineage_pipeline.defs.jobs import SNAPSHOT_JOB, selected
    from lineage_pipeline.defs.partitions import SNAPSHOTS

    key = todo.target.snapshot
    instance.add_dynamic_partitions(SNAPSHOTS, [key])
    result = definitions.resolve_job_def(SNAPSHOT_JOB).execute_in_process(
        instance=instance,
        partition_key=key,
        asset_selection=selected(todo),
        tags=run_tags(todo.target),
        run_config=QUIET,
        raise_on_error=False,
    )
    return _judge(result, key)


def _run_marts(definitions: "Definitions", instance: "DagsterInstance") -> None:
    from lineage_pipeline.defs.jobs import MARTS_JOB

    job = definitions.resolve_job_def(MARTS_JOB)
    result = job.execute_in_process(instance=instance, run_config=QUIET, raise_on_error=False)
    if not _judge(result, "the marts"):
        failed = [check.check_name for check in result.get_asset_check_evaluations() if not check.passed]
        raise LineageError(f"the marts were not built: {', '.join(failed)} failed")


def _judge(result: "ExecuteInProcessResult", what: str) -> bool:
    """Tell a check that failed, which the summary counts, from a step that broke, which is an error."""
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
def open_instance(settings: Settings) -> "Iterator[DagsterInstance]":
    """Open the project's own Dagster instance, so that the UI shows what was run here."""
    from dagster import DagsterInstance

    with Home(settings.home).alone("dagster"):  # it makes its tables where there are none, and two would make them
        opened = DagsterInstance.from_config(str(prepare_dagster(settings)))
        for storage in (opened.run_storage, opened.event_log_storage, opened.schedule_storage):
            assert storage is not None
    with opened as instance:
        yield instance


def _spark_jobs() -> int:
    from lineage_pipeline.spark.session import job_count

    return job_count()
