"""States of runs that were requested, as the Dagster instance knows them."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import count, takewhile
from typing import Protocol

import dagster as dg

from lineage_pipeline.defs.snapshot_keys import extract_repository

OPEN_STATUSES = [
    status for status in dg.DagsterRunStatus if status.value not in ("SUCCESS", "FAILURE", "CANCELED", "MANAGED")
]

MAX_RUNS_READ = 10
"""How many runs with one tag are read."""


class RunState(StrEnum):
    """The state of a requested run."""

    UNKNOWN = "unknown"
    OPEN = "open"
    MADE = "made"
    FAILED = "failed"


class RunLookup(Protocol):
    """Looks up the states of runs."""

    def state(self, key: str) -> RunState:
        """Return the state of the run that was requested under a key."""

    def is_busy(self, snapshot: str) -> bool:
        """Tell whether a run of a snapshot has not ended, whoever requested it."""


class InstanceRuns(RunLookup):
    """The runs of a Dagster instance."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        """Take the instance to query."""
        self._instance = instance

    def state(self, key: str) -> RunState:
        """Return the state of the run that was requested under a key."""
        found = self._instance.get_runs(dg.RunsFilter(tags={"dagster/run_key": key}), limit=1)
        if not found:
            return RunState.UNKNOWN
        if not found[0].is_finished:
            return RunState.OPEN
        return RunState.MADE if found[0].status is dg.DagsterRunStatus.SUCCESS else RunState.FAILED

    def failures(self, tag: str, value: str) -> tuple[int, float]:
        """Count the failed runs with a tag since the last success, and return when the last one ended."""
        found = self._instance.get_run_records(dg.RunsFilter(tags={tag: value}), limit=MAX_RUNS_READ)
        failed = list(takewhile(lambda record: record.dagster_run.status is not dg.DagsterRunStatus.SUCCESS, found))
        return len(failed), (failed[0].end_time or failed[0].create_timestamp.timestamp()) if failed else 0.0

    def is_busy(self, snapshot: str) -> bool:
        """Tell whether a run of a snapshot has not ended, whoever requested it."""
        tags = {"dagster/partition": snapshot}
        filters = dg.RunsFilter(tags=tags, statuses=OPEN_STATUSES, updated_after=_oldest_update())
        return bool(self._instance.get_runs(filters, limit=1))

    def busy(self) -> set[str]:
        """Return the snapshots of runs that have not ended, and the bases these are compared with."""
        open_runs = self._instance.get_runs(dg.RunsFilter(statuses=OPEN_STATUSES, updated_after=_oldest_update()))
        found: set[str] = set()
        for run in open_runs:
            key = run.tags.get("dagster/partition", "")
            found.update((key, f"{extract_repository(key)}@{run.tags.get('git/base', '')}") if key else ())
        return found


def _oldest_update() -> datetime:
    """Return the time after which an open run must have been updated: older ones count as dead."""
    return datetime.now(UTC) - timedelta(days=1)


def find_run_key(runs: RunLookup, key: str) -> tuple[RunState, str]:
    """Return the state of the last run under a key, and a free key: itself, or a numbered one."""
    last, free = RunState.UNKNOWN, key
    for number in count(2):
        state = runs.state(free)
        if state is RunState.UNKNOWN:
            break
        last, free = state, f"{key}#{number}"
    return last, free
