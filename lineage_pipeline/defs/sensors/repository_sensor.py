"""The sensor of the watched repositories: each new commit becomes a partition and a run request."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from lineage_pipeline.config.load import Settings
from lineage_pipeline.defs.assets.repositories import READABLE_CHECK, make_repository_key
from lineage_pipeline.defs.jobs import SNAPSHOT_JOB, select_missing_assets
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.run_states import InstanceRuns
from lineage_pipeline.defs.sensors.repository_watch import (
    LookBudget,
    RepositoryLook,
    RepositoryWatcher,
    WatchCursor,
    WatchRequest,
    decode_cursor,
    encode_cursor,
    look_at_repositories,
)
from lineage_pipeline.defs.specs import snapshot_partitions
from lineage_pipeline.model.errors import LineageError


def repositories_sensor(settings: Settings) -> dg.SensorDefinition:
    """Build the sensor with the interval of the settings."""

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
        watcher = RepositoryWatcher(current, InstanceRuns(context.instance), LookBudget(watch.seconds, watch.requests))
        cursor = decode_cursor(context.cursor)
        return _build_result(context, cursor, dict(look_at_repositories(watcher, cursor)))

    return look


def _build_result(
    context: dg.SensorEvaluationContext, cursor: WatchCursor, looks: dict[str, RepositoryLook | LineageError]
) -> Any:
    """Return the requests and the cursor; errors are logged and fail the check of their repository."""
    after: WatchCursor = {}
    asked: list[WatchRequest] = []
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
        run_requests=[_build_request(one) for one in asked],
        skip_reason=None if asked else dg.SkipReason("; ".join(said) or _describe_skip(looks)),
        cursor=encode_cursor(after),
        dynamic_partitions_requests=[snapshot_partitions.build_add_request(keys)] if keys else [],
        asset_events=list(_evaluate_repositories(context.instance, looks)),
    )


def _describe_skip(looks: dict[str, RepositoryLook | LineageError]) -> str:
    return "nothing has changed" if looks else "there are no [[repositories]] in the settings"


def _build_request(asked: WatchRequest) -> dg.RunRequest:
    todo = asked.todo
    return dg.RunRequest(
        run_key=asked.key,
        partition_key=todo.target.snapshot,
        tags=asked.tags,
        asset_selection=select_missing_assets(todo),
    )


def _evaluate_repositories(
    instance: dg.DagsterInstance, looks: dict[str, RepositoryLook | LineageError]
) -> Iterator[dg.AssetCheckEvaluation]:
    """Yield the check of each repository whose result has changed."""
    keys = {name: dg.AssetCheckKey(make_repository_key(name), READABLE_CHECK) for name in looks}
    known = instance.event_log_storage.get_latest_asset_check_execution_by_key(list(keys.values()))
    for name, look in looks.items():
        problem = str(look) if isinstance(look, LineageError) else None
        last = known.get(keys[name])
        said = last.evaluation if last else None
        if not isinstance(said, dg.AssetCheckEvaluation) or (said.passed, said.description) != (not problem, problem):
            yield dg.AssetCheckEvaluation(keys[name].asset_key, READABLE_CHECK, not problem, description=problem)
