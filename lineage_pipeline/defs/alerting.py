"""A sensor that reads what checks said, by storage id, and tells those whom it concerns; it starts no run."""

import os
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.storage.event_log import SqlEventLogStorage

from lineage_pipeline.alerts.model import Evaluation, Gravity, identify
from lineage_pipeline.alerts.outbox import Memory, Outbox, Outcome
from lineage_pipeline.alerts.sinks import Surroundings
from lineage_pipeline.alerts.ticking import give_out, take_in
from lineage_pipeline.alerts.wording import line, plain
from lineage_pipeline.defs.keys import HISTORY, REF, repository_of
from lineage_pipeline.defs.repositories import PREFIX as REPOSITORIES
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.specs import OWNERS
from lineage_pipeline.settings import Settings

NAME = "check_alerts_sensor"
PAST = frozenset({HISTORY, "dagster/backfill"})
"""The tags of runs over what is past: nobody is told what was wrong then."""

MOST = 5_000
"""Evaluations in one tick; the next one goes on."""

HOUR = 3_600.0
EVALUATION = dg.DagsterEventType.ASSET_CHECK_EVALUATION


@dg.sensor(
    name=NAME,
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Tells log, webhooks, Slack and mail of checks that fail, and of those that pass again.",
)
def check_alerts_sensor(context: dg.SensorEvaluationContext, project: dg.ResourceParam[Project]) -> dg.SensorResult:
    """Take in what checks said since the last tick, and send what is due."""
    settings = project.anew().settings  # what an operator changes counts with the next tick
    outbox = Outbox(folder_of(settings))
    with outbox.locked() as alone:
        if not alone:
            return dg.SensorResult(skip_reason="another process sends alerts", cursor=context.cursor)
        cursor, told = tick(context, settings, outbox)
    return dg.SensorResult(skip_reason=told, cursor=str(cursor))


def folder_of(settings: Settings) -> Path:
    """Say where messages wait."""
    return settings.home / "alerts"


def tick(context: dg.SensorEvaluationContext, settings: Settings, outbox: Outbox) -> tuple[int, str]:
    """Do one round, and give up to where it has read, and what became of it."""
    alerts, now = settings.alerts, time.time()
    for told in outbox.set_aside():
        context.log.error(told)
    (last, at), memory = _newest(context.instance), outbox.recall()
    cursor, since = place(context.instance, memory, now - alerts.lookback_hours * HOUR)
    found = list(evaluations(context.instance, cursor, since, alerts.dagster_url))
    if not found:
        memory = Memory(last, memory.state, max(at, memory.at))
    new, unrouted = take_in(outbox, memory, found, alerts.options(), now)
    around = Surroundings(os.environ, outbox.folder, alerts.timeout)
    outcome = give_out(outbox, alerts.options(), around, alerts.patience(), time.time)
    for alert in new:
        context.log.warning(line(alert))
    for alert in unrouted:
        context.log.error(f"no sink takes this: {line(alert)}")
    _log_outcome(context, outcome)
    told = f"{len(new)} new, {len(outcome.sent)} sent, {len(outcome.kept)} waiting, {len(outcome.aside)} put aside"
    return outbox.recall().cursor, told


def _log_outcome(context: dg.SensorEvaluationContext, outcome: Outcome) -> None:
    for one in outcome.kept:
        if one.reason:
            context.log.warning(f"sink {plain(one.sink)}: {plain(one.reason)}; kept, {one.attempts} tries")
    for one in outcome.aside:
        why = f" ({plain(one.reason)})" if one.reason else ""
        context.log.error(f"sink {plain(one.sink)} never took this{why}, it is put aside: {line(one.alert)}")


def evaluations(
    instance: dg.DagsterInstance, after: int, since: float | None = None, address: str = ""
) -> Iterator[Evaluation]:
    """Read evaluations of checks behind a storage id, and not older than a time, the oldest first."""

    @cache
    def tags(run: str) -> Mapping[str, str]:
        found = instance.get_run_by_id(run)
        return found.tags if found else {}

    wanted = dg.EventRecordsFilter(EVALUATION, after_cursor=after, after_timestamp=since)
    for record in _records(instance, wanted, limit=MOST, ascending=True):
        event = record.event_log_entry.dagster_event
        if event is not None:
            yield _evaluation(record, event.event_specific_data, tags(record.run_id), address)


def _records(instance: dg.DagsterInstance, wanted: dg.EventRecordsFilter, limit: int, ascending: bool) -> Any:
    """Read events of checks under ids that grow over all runs.

    SQLite files events by run, and copies those of checks into its index; only the method of its base class reads
    that. May go when Dagster offers `fetch_` for evaluations as it does for materialisations.
    """
    storage = instance.event_log_storage
    if isinstance(storage, SqlEventLogStorage):
        return SqlEventLogStorage.get_event_records(storage, wanted, limit=limit, ascending=ascending)
    return storage.get_event_records(wanted, limit=limit, ascending=ascending)


def _newest(instance: dg.DagsterInstance) -> tuple[int, float]:
    """Give the storage id and the time of the newest evaluation."""
    newest = _records(instance, dg.EventRecordsFilter(EVALUATION), limit=1, ascending=False)
    return (int(newest[0].storage_id), newest[0].timestamp) if newest else (0, 0.0)


def place(instance: dg.DagsterInstance, memory: Memory, earliest: float) -> tuple[int, float | None]:
    """Say behind which storage id we go on, and behind which time where the ids tell nothing.

    Where the evaluation that was read last is gone, its run was deleted, and its id may be given away again; or it is
    another instance. What is older than it was read; in the beginning, what is older than `earliest` is past.
    """
    wanted = dg.EventRecordsFilter(EVALUATION, after_cursor=memory.cursor - 1, before_cursor=memory.cursor + 1)
    known = _records(instance, wanted, limit=1, ascending=True) if memory.cursor else ()
    if known and memory.at in (0.0, known[0].timestamp):
        return memory.cursor, None
    return 0, memory.at or earliest


def _evaluation(record: Any, said: dg.AssetCheckEvaluation, tags: Mapping[str, str], address: str) -> Evaluation:
    key, partition = said.asset_key.to_user_string(), said.partition or ""
    gravity = Gravity.ERROR if said.severity is dg.AssetCheckSeverity.ERROR else Gravity.WARN
    ref, repository = tags.get(REF, ""), _repository(said)
    owners = _value(said, "owners")
    return Evaluation(
        storage_id=record.storage_id,
        asset=key,
        check=said.check_name,
        partition=partition,
        thread=f"{repository}:{ref}" if partition and ref else partition,
        repository=repository,
        past=not ref and not PAST.isdisjoint(tags),
        passed=said.passed,
        gravity=gravity,
        fingerprint=str(_value(said, "fingerprint") or identify(key, said.check_name, gravity.value)),
        description=said.description or "",
        findings=str(_value(said, "findings") or ""),
        owners=tuple(map(str, owners)) if isinstance(owners, list) and owners else tuple(OWNERS),
        run=record.run_id,
        at=record.timestamp,
        link=f"{address.rstrip('/')}/assets/{key}?view=checks" if address else "",
    )


def _repository(said: dg.AssetCheckEvaluation) -> str:
    """Name the repository that an evaluation is about: that of its snapshot, or the one that was looked at."""
    if said.partition:
        return repository_of(said.partition)
    return said.asset_key.path[-1] if said.asset_key.path[0] == REPOSITORIES else ""


def _value(said: dg.AssetCheckEvaluation, name: str) -> Any:
    found = said.metadata.get(name)
    return found.value if found is not None else None
