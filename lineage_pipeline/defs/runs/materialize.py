"""Materializes revisions or a repository's past: all stages through Dagster in this process, on one Spark session.

What exists is not made again; where nothing is missing, neither Dagster nor Spark is started.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from lineage_pipeline.config.load import Settings
from lineage_pipeline.config.models import RepositorySettings
from lineage_pipeline.defs.home import Home, locate_home, prepare_dagster_home
from lineage_pipeline.defs.runs.published import read_comparison
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
from lineage_pipeline.discover.git.repository import find_toplevel, list_commits_between, resolve_commit
from lineage_pipeline.engine.diff.policy import list_failing_changes
from lineage_pipeline.export import REPORTERS
from lineage_pipeline.export.subject import Comparison
from lineage_pipeline.model.enums import Level, Severity
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.summary import FailedCheck, RunSummary, TableCount
from lineage_pipeline.quality.checks import BREAKING_CHECK, CheckResult
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


class CommitRange(msgspec.Struct, frozen=True):
    """A range of commits: those after a revision up to another, and every Nth of them."""

    since: str
    until: str = ""
    every: int = 1


def backfill_repository(
    settings: Settings, repo: Path, walk: CommitRange, report: ProgressReport, *, force: bool = False
) -> RunSummary:
    """Make the snapshots of commits along first parents, the oldest first."""
    settings, row = ensure_watched(settings, repo)
    top = find_toplevel(repo)
    end = resolve_commit(top, walk.until or row.base_ref or "HEAD")
    commits = list_commits_between(top, resolve_commit(top, walk.since), end)
    wanted = plan_backfill(settings, top, row, commits, walk.every)
    report(f"{row.name}: {len(wanted)} snapshots of {len(commits)} commits since {walk.since}")
    return materialize_targets(settings, wanted, report, force=force)


def plan_backfill(
    settings: Settings, repo: Path, row: RepositorySettings, commits: Sequence[str], every: int = 1
) -> list[SnapshotTarget]:
    """List the snapshots; where commits are skipped, only the newest is compared, since the others lack bases."""
    if every == 1:
        found = plan_targets(settings, repo, row, commits)
        return [msgspec.structs.replace(target, past=True) for target in found]
    some = commits[::-1][::every][::-1]
    passed = [SnapshotTarget(f"{row.name}@{commit}", implied=True, past=True) for commit in some[:-1]]
    last = plan_targets(settings, repo, row, some[-1:])
    known = {target.snapshot for target in last}
    return [*(target for target in passed if target.snapshot not in known), *last]


def summarize_run(settings: Settings, targets: Sequence[SnapshotTarget], jobs: int, skipped: bool) -> RunSummary:
    """Return what was found and where it is; an unpublished snapshot counts only by its checks."""
    home, warehouse = locate_home(settings), Warehouse(settings.warehouse)
    keys = [target.snapshot for target in targets]
    published = [key for key in keys if warehouse.manifest(key) is not None]
    compared = [target.snapshot for target in targets if not target.implied and target.snapshot in published]
    comparisons = [found for key in compared if (found := read_comparison(warehouse, key)) is not None]
    changes = [change for comparison in comparisons for change in comparison.changes]
    results = list(_read_check_results(home, keys))
    return RunSummary(
        snapshots=tuple(published),
        tables=tuple(_count_tables(warehouse, published)),
        findings=dict(Counter(_read_severities(warehouse, published))),
        changes=dict(Counter(change.effective.value for change in changes if change.root and change.waiver is None)),
        derived=sum(not change.root for change in changes),
        breaking=tuple(list_failing_changes(changes, Severity.BREAKING)),
        checks_passed=sum(result.passed for _, result in results),
        failed=tuple(
            FailedCheck(
                snapshot=snapshot,
                table=result.table,
                check=result.check,
                observed=result.observed,
                about_changes=result.check == BREAKING_CHECK,
            )
            for snapshot, result in results
            if not result.passed and result.severity is Level.ERROR
        ),
        withheld=tuple(key for key in keys if key not in published),
        spark_jobs=jobs,
        skipped=skipped,
        warehouse=settings.warehouse,
        marts=str(home.marts) if home.marts.exists() else "",
        events=str(home.events) if home.events.exists() else "",
        report=_report_path(home, comparisons),
    )


def _count_tables(warehouse: Warehouse, snapshots: Sequence[str]) -> Iterator[TableCount]:
    rows: Counter[str] = Counter()
    for snapshot in snapshots:
        manifest = warehouse.manifest(snapshot)
        for table, stored in manifest.tables.items() if manifest else ():
            rows[table] += stored.rows
    rows.pop("sources", None)  # they are shared: their files hold those of other snapshots, too
    yield from (TableCount(table, count) for table, count in rows.items())


def _read_severities(warehouse: Warehouse, snapshots: Sequence[str]) -> Iterator[str]:
    for snapshot in snapshots:
        yield from warehouse.read(snapshot, "diagnostics")["severity"].to_pylist()


def _read_check_results(home: Home, snapshots: Sequence[str]) -> Iterator[tuple[str, CheckResult]]:
    for snapshot in snapshots:
        for file in sorted(home.checks_of(snapshot, "any").parent.glob("*.json")):
            for result in msgspec.json.decode(file.read_bytes(), type=list[CheckResult]):
                yield snapshot, result


def _report_path(home: Home, comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return ""
    last = comparisons[-1]
    return str(home.report_of(last.base, last.head, REPORTERS["markdown"].suffix))
