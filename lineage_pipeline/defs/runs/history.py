"""Backfill of a repository's past, commit by commit, in one process and on one Spark session."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from lineage_pipeline.config.load import Settings
from lineage_pipeline.config.models import RepositorySettings
from lineage_pipeline.defs.runs.materialize import ProgressReport, materialize_targets
from lineage_pipeline.defs.runs.targets import SnapshotTarget, plan_targets
from lineage_pipeline.defs.runs.watched_repositories import ensure_watched
from lineage_pipeline.discover.git.refs import list_commits_between
from lineage_pipeline.discover.git.repository import find_toplevel, resolve_commit
from lineage_pipeline.model.summary import RunSummary


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
