"""The sensor that reads check evaluations by storage id and sends alerts; it starts no run."""

import os
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.storage.event_log import SqlEventLogStorage

from lineage_pipeline.alerts.alert import CheckEvaluation, hash_identity
from lineage_pipeline.alerts.outbox import DeliveryOutcome, Outbox, OutboxState, deliver_due, queue_alerts
from lineage_pipeline.alerts.sinks import SinkContext, escape_line, format_log_line
from lineage_pipeline.config.load import Settings
from lineage_pipeline.defs.assets.external_assets import REPOSITORY_PREFIX as REPOSITORIES
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.snapshot_keys import HISTORY_TAG, REF_TAG, extract_repository
from lineage_pipeline.defs.specs import ASSET_OWNERS
from lineage_pipeline.model.alerting import AlertSeverity

ALERTS_SENSOR = "check_alerts_sensor"
PAST_TAGS = frozenset({HISTORY_TAG, "dagster/backfill"})
"""Tags of runs over past commits: their failures are not sent."""

MAX_EVALUATIONS = 5_000
"""Evaluations in one tick; the next one continues."""

HOUR_SECONDS = 3_600.0
EVALUATION_EVENT = dg.DagsterEventType.ASSET_CHECK_EVALUATION


@dg.sensor(
    name=ALERTS_SENSOR,
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Tells log, webhooks, Slack and mail of checks that fail, and of those that pass again.",
)
def check_alerts_sensor(context: dg.SensorEvaluationContext, project: dg.ResourceParam[Project]) -> dg.SensorResult:
    """Take in what checks said since the last tick, and send what is due."""
    settings = project.anew().settings  # what an operator changes counts with the next tick
    outbox = Outbox(locate_outbox(settings))
    with outbox.lock() as alone:
        if not alone:
            return dg.SensorResult(skip_reason="another process sends alerts", cursor=context.cursor)
        cursor, outcome = run_tick(context, settings, outbox)
    return dg.SensorResult(skip_reason=outcome, cursor=str(cursor))


def locate_outbox(settings: Settings) -> Path:
    """Return the folder in which messages wait."""
    return settings.home / "alerts"


def run_tick(context: dg.SensorEvaluationContext, settings: Settings, outbox: Outbox) -> tuple[int, str]:
    """Do one tick, and return the new cursor and a summary."""
    alerts, now = settings.alerts, time.time()
    for problem in outbox.set_aside_unreadable():
        context.log.error(problem)
    (last, at), memory = _read_newest(context.instance), outbox.load_state()
    cursor, since = find_start(context.instance, memory, now - alerts.lookback_hours * HOUR_SECONDS)
    found = list(read_evaluations(context.instance, cursor, since, alerts.dagster_url))
    if not found:
        memory = OutboxState(last, memory.state, max(at, memory.at))
    new, unrouted = queue_alerts(outbox, memory, found, alerts.sink_options(), now)
    around = SinkContext(os.environ, outbox.folder, alerts.timeout)
    outcome = deliver_due(outbox, alerts.sink_options(), around, alerts.retry_policy(), time.time)
    for alert in new:
        context.log.warning(format_log_line(alert))
    for alert in unrouted:
        context.log.error(f"no sink takes this: {format_log_line(alert)}")
    _log_outcome(context, outcome)
    result = f"{len(new)} new, {len(outcome.sent)} sent, {len(outcome.kept)} waiting, {len(outcome.aside)} put aside"
    return outbox.load_state().cursor, result


def _log_outcome(context: dg.SensorEvaluationContext, outcome: DeliveryOutcome) -> None:
    for one in outcome.kept:
        if one.reason:
            context.log.warning(f"sink {escape_line(one.sink)}: {escape_line(one.reason)}; kept, {one.attempts} tries")
    for one in outcome.aside:
        why = f" ({escape_line(one.reason)})" if one.reason else ""
        context.log.error(
            f"sink {escape_line(one.sink)} never took this{why}, it is put aside: {format_log_line(one.alert)}"
        )


def read_evaluations(
    instance: dg.DagsterInstance, after: int, since: float | None = None, address: str = ""
) -> Iterator[CheckEvaluation]:
    """Read check evaluations after a storage id and not older than a time, the oldest first."""

    @cache
    def tags(run: str) -> Mapping[str, str]:
        found = instance.get_run_by_id(run)
        return found.tags if found else {}

    wanted = dg.EventRecordsFilter(EVALUATION_EVENT, after_cursor=after, after_timestamp=since)
    for record in _read_records(instance, wanted, limit=MAX_EVALUATIONS, ascending=True):
        event = record.event_log_entry.dagster_event
        if event is not None:
            yield _build_evaluation(record, event.event_specific_data, tags(record.run_id), address)


def _read_records(instance: dg.DagsterInstance, wanted: dg.EventRecordsFilter, limit: int, ascending: bool) -> Any:
    """Read check events by storage ids that grow over all runs.

    SQLite stores events by run and copies those of checks into its index; only the method of its base class reads
    that. May go when Dagster offers `fetch_` for evaluations as it does for materializations.
    """
    storage = instance.event_log_storage
    if isinstance(storage, SqlEventLogStorage):
        return SqlEventLogStorage.get_event_records(storage, wanted, limit=limit, ascending=ascending)
    return storage.get_event_records(wanted, limit=limit, ascending=ascending)


def _read_newest(instance: dg.DagsterInstance) -> tuple[int, float]:
    """Return the storage id and the time of the newest evaluation."""
    newest = _read_records(instance, dg.EventRecordsFilter(EVALUATION_EVENT), limit=1, ascending=False)
    return (int(newest[0].storage_id), newest[0].timestamp) if newest else (0, 0.0)


def find_start(instance: dg.DagsterInstance, memory: OutboxState, earliest: float) -> tuple[int, float | None]:
    """Return the storage id to continue after, and the time to start from where ids are not reliable.

    Where the last evaluation is gone, its run was deleted and its id may be reused, or it is another instance.
    Without any, evaluations older than `earliest` are skipped.
    """
    wanted = dg.EventRecordsFilter(EVALUATION_EVENT, after_cursor=memory.cursor - 1, before_cursor=memory.cursor + 1)
    known = _read_records(instance, wanted, limit=1, ascending=True) if memory.cursor else ()
    if known and memory.at in (0.0, known[0].timestamp):
        return memory.cursor, None
    return 0, memory.at or earliest


def _build_evaluation(
    record: Any, said: dg.AssetCheckEvaluation, tags: Mapping[str, str], address: str
) -> CheckEvaluation:
    key, partition = said.asset_key.to_user_string(), said.partition or ""
    gravity = AlertSeverity.ERROR if said.severity is dg.AssetCheckSeverity.ERROR else AlertSeverity.WARN
    ref, repository = tags.get(REF_TAG, ""), _find_repository_name(said)
    owners = _metadata_value(said, "owners")
    return CheckEvaluation(
        storage_id=record.storage_id,
        asset=key,
        check=said.check_name,
        partition=partition,
        thread=f"{repository}:{ref}" if partition and ref else partition,
        repository=repository,
        past=not ref and not PAST_TAGS.isdisjoint(tags),
        passed=said.passed,
        gravity=gravity,
        fingerprint=str(_metadata_value(said, "fingerprint") or hash_identity(key, said.check_name, gravity.value)),
        description=said.description or "",
        findings=str(_metadata_value(said, "findings") or ""),
        owners=tuple(map(str, owners)) if isinstance(owners, list) and owners else tuple(ASSET_OWNERS),
        run=record.run_id,
        at=record.timestamp,
        link=f"{address.rstrip('/')}/assets/{key}?view=checks" if address else "",
    )


def _find_repository_name(said: dg.AssetCheckEvaluation) -> str:
    """Return the repository of an evaluation: that of its snapshot, or the asset itself."""
    if said.partition:
        return extract_repository(said.partition)
    return said.asset_key.path[-1] if said.asset_key.path[0] == REPOSITORIES else ""


def _metadata_value(said: dg.AssetCheckEvaluation, name: str) -> Any:
    found = said.metadata.get(name)
    return found.value if found is not None else None
