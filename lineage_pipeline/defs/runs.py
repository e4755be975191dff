"""What the instance knows about runs."""

from datetime import UTC, datetime, timedelta
from itertools import takewhile

import dagster as dg

from lineage_pipeline.defs.keys import repository_of
from lineage_pipeline.defs.watching import Runs, State

UNFINISHED = [
    status for status in dg.DagsterRunStatus if status.value not in ("SUCCESS", "FAILURE", "CANCELED", "MANAGED")
]

MOST_TRIED = 10
"""How many runs of one thing are looked at."""


class KnownRuns(Runs):
    """What the instance knows about runs."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        """Ask this instance."""
        self._instance = instance

    def state(self, key: str) -> State:
        """Say what became of the run that was asked for under a key."""
        found = self._instance.get_runs(dg.RunsFilter(tags={"dagster/run_key": key}), limit=1)
        if not found:
            return State.UNKNOWN
        if not found[0].is_finished:
            return State.OPEN
        return State.MADE if found[0].status is dg.DagsterRunStatus.SUCCESS else State.FAILED

    def failures(self, tag: str, value: str) -> tuple[int, float]:
        """Count the runs with a tag that failed since one succeeded, and say when the last of them ended."""
        found = self._instance.get_run_records(dg.RunsFilter(tags={tag: value}), limit=MOST_TRIED)
        failed = list(takewhile(lambda record: record.dagster_run.status is not dg.DagsterRunStatus.SUCCESS, found))
        return len(failed), (failed[0].end_time or failed[0].create_timestamp.timestamp()) if failed else 0.0

    def is_busy(self, snapshot: str) -> bool:
        """Say whether a run of a snapshot has not ended, whoever asked for it."""
        tags = {"dagster/partition": snapshot}
        filters = dg.RunsFilter(tags=tags, statuses=UNFINISHED, updated_after=_lately())
        return bool(self._instance.get_runs(filters, limit=1))

    def busy(self) -> set[str]:
        """Name the snapshots that runs which have not ended are making, and those that these are compared with."""
        open_runs = self._instance.get_runs(dg.RunsFilter(statuses=UNFINISHED, updated_after=_lately()))
        found: set[str] = set()
        for run in open_runs:
            key = run.tags.get("dagster/partition", "")
            found.update((key, f"{repository_of(key)}@{run.tags.get('git/base', '')}") if key else ())
        return found


def _lately() -> datetime:
    """Give since when a run must have said something: one that stopped without a word is not waited for."""
    return datetime.now(UTC) - timedelta(days=1)
