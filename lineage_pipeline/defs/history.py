"""The past of a repository, commit by commit, in one process and on one Spark session."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from lineage_pipeline.defs.run import Report, make
from lineage_pipeline.defs.targets import Target, targets, watched
from lineage_pipeline.discover.git import resolve, toplevel
from lineage_pipeline.discover.refs import commits_since
from lineage_pipeline.settings import RepositorySettings, Settings
from lineage_pipeline.vocabulary.summary import RunSummary


class Walk(msgspec.Struct, frozen=True):
    """Which commits are meant: those after a revision up to another, and every how many of them."""

    since: str
    until: str = ""
    every: int = 1


def backfill(settings: Settings, repo: Path, walk: Walk, report: Report, *, force: bool = False) -> RunSummary:
    """Make the snapshots of commits along first parents, the oldest first."""
    settings, row = watched(settings, repo)
    top = toplevel(repo)
    end = resolve(top, walk.until or row.base_ref or "HEAD")
    commits = commits_since(top, resolve(top, walk.since), end)
    wanted = past(settings, top, row, commits, walk.every)
    report(f"{row.name}: {len(wanted)} snapshots of {len(commits)} commits since {walk.since}")
    return make(settings, wanted, report, force=force)


def past(
    settings: Settings, repo: Path, row: RepositorySettings, commits: Sequence[str], every: int = 1
) -> list[Target]:
    """List the snapshots; where some are left out, only the newest is compared, since others lack their bases."""
    if every == 1:
        found = targets(settings, repo, row, commits)
        return [msgspec.structs.replace(target, past=True) for target in found]
    some = commits[::-1][::every][::-1]
    passed = [Target(f"{row.name}@{commit}", implied=True, past=True) for commit in some[:-1]]
    last = targets(settings, repo, row, some[-1:])
    known = {target.snapshot for target in last}
    return [*(target for target in passed if target.snapshot not in known), *last]
