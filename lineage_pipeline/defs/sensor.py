"""The sensor on the repositories: a commit becomes a partition and a run of it; and whether each can be read at all."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from lineage_pipeline.defs.jobs import SNAPSHOT_JOB, selected
from lineage_pipeline.defs.partitions import snapshots
from lineage_pipeline.defs.repositories import READABLE, repository_key
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.runs import KnownRuns
from lineage_pipeline.defs.watching import (
    Asked,
    Budget,
    Cursor,
    Look,
    Watcher,
    look_at_all,
    read_cursor,
    write_cursor,
)
from lineage_pipeline.settings import Settings
from lineage_pipeline.vocabulary.errors import LineageError


def repositories_sensor(settings: Settings) -> dg.SensorDefinition:
    """Make the sensor, as often as the settings say."""

    @dg.sensor(
        name="repositories_sensor",
        job_name=SNAPSHOT_JOB,
        minimum_interval_seconds=settings.watch.interval,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Asks for a run of every new commit of the refs in [[repositories]].",
    )
    def look(context: dg.SensorEvaluationContext, project: dg.ResourceParam[Project]) -> Any:
        current = project.anew()
        watch = current.settings.watch
        watcher = Watcher(current, KnownRuns(context.instance), Budget(watch.seconds, watch.requests))
        cursor = read_cursor(context.cursor)
        return _result(context, cursor, dict(look_at_all(watcher, cursor)))

    return look


def _result(context: dg.SensorEvaluationContext, cursor: Cursor, looks: dict[str, Look | LineageError]) -> Any:
    """Tell Dagster what was found; what went wrong is logged, and the result of a check of its repository."""
    after: Cursor = {}
    asked: list[Asked] = []
    said = []
    for name, look in looks.items():
        if isinstance(look, LineageError):
            context.log.error(f"{name}: {look}")
            said.append(f"{name}: {look}")
            after[name] = cursor.get(name, {})
        else:
            for line in look.told:
                context.log.info(line)
            said += look.told
            after[name] = look.refs
            asked += look.asked
    keys = [one.todo.target.snapshot for one in asked]
    return dg.SensorResult(
        run_requests=[_request(one) for one in asked],
        skip_reason=None if asked else dg.SkipReason("; ".join(said) or _nothing(looks)),
        cursor=write_cursor(after),
        dynamic_partitions_requests=[snapshots.build_add_request(keys)] if keys else [],
        asset_events=list(_judged(context.instance, looks)),
    )


def _nothing(looks: dict[str, Look | LineageError]) -> str:
    return "nothing has changed" if looks else "there are no [[repositories]] in the settings"


def _request(asked: Asked) -> dg.RunRequest:
    todo = asked.todo
    return dg.RunRequest(
        run_key=asked.key, partition_key=todo.target.snapshot, tags=asked.tags, asset_selection=selected(todo)
    )


def _judged(instance: dg.DagsterInstance, looks: dict[str, Look | LineageError]) -> Iterator[dg.AssetCheckEvaluation]:
    """Say which repositories can be read, where that is something new."""
    keys = {name: dg.AssetCheckKey(repository_key(name), READABLE) for name in looks}
    known = instance.event_log_storage.get_latest_asset_check_execution_by_key(list(keys.values()))
    for name, look in looks.items():
        problem = str(look) if isinstance(look, LineageError) else None
        last = known.get(keys[name])
        said = last.evaluation if last else None
        if not isinstance(said, dg.AssetCheckEvaluation) or (said.passed, said.description) != (not problem, problem):
            yield dg.AssetCheckEvaluation(keys[name].asset_key, READABLE, not problem, description=problem)
