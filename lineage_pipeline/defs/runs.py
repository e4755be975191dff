"""What the instance knows about runs."""

from datetime import UTC, datetime, timedelta

import dagster as dg

from lineage_pipeline.defs.watching import Runs, State

UNFINISHED = [
    status for status in dg.DagsterRunStatus if status.value not in ("SUCCESS", "FAILURE", "CANCELED", "MANAGED")
]


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
        return State.ENDED if found[0].is_finished else State.OPEN

    def is_busy(self, snapshot: str) -> bool:
        """Say whether a run of a snapshot has not ended, whoever asked for it."""
        tags = {"dagster/partition": snapshot}
        filters = dg.RunsFilter(tags=tags, statuses=UNFINISHED, updated_after=_lately())
        return bool(self._instance.get_runs(filters, limit=1))

    def are_busy(self) -> bool:
        """Say whether a run of any snapshot has not ended."""
        open_runs = self._instance.get_runs(dg.RunsFilter(statuses=UNFINISHED, updated_after=_lately()))
        return any("dagster/partition" in run.tags for run in open_runs)


def _lately() -> datetime:
    """Give since when a run must have said something: one that stopped without a word is not waited for."""
    return datetime.now(UTC) - timedelta(days=1)
