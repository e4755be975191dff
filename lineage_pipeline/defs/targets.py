"""What a run has to do: which snapshots, and what is not there yet of each; only files are asked."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from lineage_pipeline.defs.dbt import marts_key
from lineage_pipeline.defs.home import Home, home_of
from lineage_pipeline.defs.keys import HISTORY, REF, commit_of, repository_of
from lineage_pipeline.defs.published import diff_key, events_key, is_published
from lineage_pipeline.discover.folder import gather_folder, repository_name
from lineage_pipeline.discover.git import WORKTREE, base_of, has_commit, is_repository, read_commit, resolve, toplevel
from lineage_pipeline.discover.refs import chosen_refs
from lineage_pipeline.discover.remotes import is_remote, mirror_of
from lineage_pipeline.export import REPORTERS
from lineage_pipeline.settings import RepositorySettings, Settings
from lineage_pipeline.store.arrays import from_arrow
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import Snapshot


class Target(msgspec.Struct, frozen=True):
    """A snapshot that is wanted, and the one it is compared with; an implied one is wanted as a base only.

    `rule` is how the base was chosen, and `ref` the watched ref that is there; one of the past is there for others.
    """

    snapshot: str
    base: str | None = None
    implied: bool = False
    rule: str = ""
    ref: str = ""
    past: bool = False


class Todo(msgspec.Struct, frozen=True):
    """What is missing of a target."""

    target: Target
    snapshot: bool
    changes: bool
    report: bool
    events: bool

    def __bool__(self) -> bool:
        """Say whether anything is."""
        return self.snapshot or self.changes or self.report or self.events


def watched(settings: Settings, repo: Path) -> tuple[Settings, RepositorySettings]:
    """Give the settings with the repository among those that are watched, under its configured name if it has one."""
    known = row_at(settings, repo)
    if known is not None:
        return settings, known
    row = RepositorySettings(name=repository_name(repo), path=str(repo.resolve()))
    others = tuple(other for other in settings.repositories if other.name != row.name)
    return settings.model_copy(update={"repositories": (*others, row)}), row


def row_at(settings: Settings, repo: Path) -> RepositorySettings | None:
    """Find the repository that lies in a folder among those that are watched."""
    places = ((row, place_of(settings, row)) for row in settings.repositories)
    return next((row for row, place in places if place.resolve() == repo.resolve()), None)


def place_of(settings: Settings, row: RepositorySettings) -> Path:
    """Say where a watched repository lies: its folder, or the mirror of its address."""
    return mirror_of(row.path, settings.home) if is_remote(row.path) else settings.root / row.path


def targets(settings: Settings, repo: Path, row: RepositorySettings, revisions: Sequence[str]) -> list[Target]:
    """List the snapshots of revisions, each behind its base."""
    found: dict[str, Target] = {}
    for revision in revisions:
        target = target_of(settings, repo, row, revision)
        if target.base is not None and target.base not in found and has_commit(repo, commit_of(target.base)):
            found[target.base] = Target(target.base, implied=True, past=True)
        found[target.snapshot] = target
    tips = tips_of(repo, row)
    return [msgspec.structs.replace(one, ref=tips.get(commit_of(one.snapshot), "")) for one in found.values()]


def tips_of(repo: Path, row: RepositorySettings) -> dict[str, str]:
    """Give the watched ref at each commit where there is one, the base ref before others."""
    try:
        refs = chosen_refs(repo, row.refs, row.base_ref)
    except LineageError:  # there is no such ref, or no repository of git
        return {}
    return name_tips(refs, row.base_ref)


def name_tips(refs: Mapping[str, str], base_ref: str) -> dict[str, str]:
    """Give one ref for each commit, the base ref before others, which come by their names."""
    return {refs[name]: name for name in sorted(refs, key=lambda name: (name != base_ref, name), reverse=True)}


def run_tags(target: Target) -> dict[str, str]:
    """Give the tags by which the run of a snapshot is found, and by which alerts know whether it is past."""
    place = {REF: target.ref} if target.ref else {HISTORY: "true"} if target.past else {}
    return {"git/repository": repository_of(target.snapshot), "git/sha": commit_of(target.snapshot), **place}


def target_of(settings: Settings, repo: Path, row: RepositorySettings, revision: str) -> Target:
    """Give the snapshot of a revision, and what it is compared with."""
    if revision == WORKTREE or not is_repository(repo):
        return Target(gather_folder(repo, settings, name=row.name).key())
    top = toplevel(repo)
    commit = read_commit(top, resolve(top, revision))
    base, rule, _ = base_of(top, commit, row.base_ref)
    return Target(f"{row.name}@{commit.id}", f"{row.name}@{base}" if base else None, rule=rule)


def todo_of(target: Target, settings: Settings, warehouse: Warehouse) -> Todo:
    """Say what is missing of a target."""
    snapshot = not is_published(warehouse, target.snapshot, settings)
    if target.implied:
        return Todo(target, snapshot, changes=False, report=False, events=False)
    home = home_of(settings)
    snapshot = snapshot or _is_based_otherwise(target, warehouse)
    events = snapshot or not home.is_made(home.events_of(target.snapshot), events_key(settings))
    changes = snapshot or _lacks_changes(target, settings, warehouse)
    return Todo(target, snapshot, changes, changes or _lacks_report(target, settings, home), events)


def _is_based_otherwise(target: Target, warehouse: Warehouse) -> bool:
    """Say whether a snapshot was made when its commit had another base, as before its branch became the base ref."""
    rows = from_arrow("snapshots", warehouse.read(target.snapshot, "snapshots"), Snapshot) if target.rule else ()
    wanted = (commit_of(target.base) if target.base else None, target.rule)
    return any((row.base, row.base_rule) != wanted for row in rows)


def everything(target: Target) -> Todo:
    """Say that all of a target is to be made, whether it is there or not."""
    rest = not target.implied
    return Todo(target, snapshot=True, changes=rest, report=rest, events=rest)


def _lacks_changes(target: Target, settings: Settings, warehouse: Warehouse) -> bool:
    if target.base is None:
        return False
    manifest = warehouse.manifest((target.base, target.snapshot))
    return manifest is None or manifest.analysis_key != diff_key(settings)


def _lacks_report(target: Target, settings: Settings, home: Home) -> bool:
    if target.base is None:
        return False
    reports = [home.report_of(target.base, target.snapshot, REPORTERS[name].suffix) for name in ("markdown", "json")]
    return not all(home.is_made(report, diff_key(settings)) for report in reports)


def lacks_marts(settings: Settings, warehouse: Warehouse) -> bool:
    """Say whether the marts show something else than what is published."""
    home = home_of(settings)
    listing = msgspec.json.encode(warehouse.published_files(), order="sorted") + b"\n"
    return not home.is_made(home.marts, marts_key(listing))
