"""Targets of a run: which snapshots are wanted, and what is missing of each; does not import Dagster."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from lineage_pipeline.config.load import Settings
from lineage_pipeline.config.models import RepositorySettings
from lineage_pipeline.defs.dbt_project import hash_marts_inputs
from lineage_pipeline.defs.home import Home, locate_home
from lineage_pipeline.defs.runs.published import hash_diff_inputs, hash_event_inputs, is_published
from lineage_pipeline.defs.snapshot_keys import HISTORY_TAG, REF_TAG, extract_commit, extract_repository
from lineage_pipeline.discover.folder import open_folder
from lineage_pipeline.discover.git.repository import (
    FIRST_PARENT,
    LAST_LOOK,
    WORKTREE,
    find_snapshot_base,
    find_toplevel,
    has_commit,
    is_repository,
    read_commit,
    resolve_commit,
    select_refs,
)
from lineage_pipeline.export import REPORTERS
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import Snapshot
from lineage_pipeline.store.row_conversion import arrow_to_rows
from lineage_pipeline.store.warehouse import Warehouse


class SnapshotTarget(msgspec.Struct, frozen=True):
    """A wanted snapshot and its base; an implied one is wanted only as a base.

    `rule` is how the base was chosen, `ref` the watched ref at the commit; `past` marks a snapshot made for others.
    """

    snapshot: str
    base: str | None = None
    implied: bool = False
    rule: str = ""
    ref: str = ""
    past: bool = False


class MissingOutputs(msgspec.Struct, frozen=True):
    """What is missing of a target."""

    target: SnapshotTarget
    snapshot: bool
    changes: bool
    report: bool
    events: bool

    def __bool__(self) -> bool:
        """Tell whether anything is missing."""
        return self.snapshot or self.changes or self.report or self.events


def plan_targets(
    settings: Settings, repo: Path, row: RepositorySettings, revisions: Sequence[str]
) -> list[SnapshotTarget]:
    """List the snapshots of revisions, each after its base."""
    found: dict[str, SnapshotTarget] = {}
    for revision in revisions:
        target = keep_last_look(resolve_snapshot_target(settings, repo, row, revision), Warehouse(settings.warehouse))
        if target.base is not None and target.base not in found and has_commit(repo, extract_commit(target.base)):
            found[target.base] = SnapshotTarget(target.base, implied=True, past=True)
        found[target.snapshot] = target
    tips = read_tip_refs(repo, row)
    return [msgspec.structs.replace(one, ref=tips.get(extract_commit(one.snapshot), "")) for one in found.values()]


def read_tip_refs(repo: Path, row: RepositorySettings) -> dict[str, str]:
    """Map commits to the watched refs that point to them; the base ref wins."""
    try:
        refs = select_refs(repo, row.refs, row.base_ref)
    except LineageError:  # there is no such ref, or no repository of git
        return {}
    return map_tip_refs(refs, row.base_ref)


def map_tip_refs(refs: Mapping[str, str], base_ref: str) -> dict[str, str]:
    """Map each commit to one ref: the base ref, else the first by name."""
    return {refs[name]: name for name in sorted(refs, key=lambda name: (name != base_ref, name), reverse=True)}


def build_run_tags(target: SnapshotTarget) -> dict[str, str]:
    """Return the tags of a snapshot's run; alerts use them to tell whether it is past."""
    place = {REF_TAG: target.ref} if target.ref else {HISTORY_TAG: "true"} if target.past else {}
    return {"git/repository": extract_repository(target.snapshot), "git/sha": extract_commit(target.snapshot), **place}


def resolve_snapshot_target(settings: Settings, repo: Path, row: RepositorySettings, revision: str) -> SnapshotTarget:
    """Return the snapshot of a revision and its base."""
    if revision == WORKTREE or not is_repository(repo):
        return SnapshotTarget(open_folder(repo, settings, name=row.name).key())
    top = find_toplevel(repo)
    commit = read_commit(top, resolve_commit(top, revision))
    base, rule, _ = find_snapshot_base(top, commit, row.base_ref)
    return SnapshotTarget(f"{row.name}@{commit.id}", f"{row.name}@{base}" if base else None, rule=rule)


def find_missing(target: SnapshotTarget, settings: Settings, warehouse: Warehouse) -> MissingOutputs:
    """Return what is missing of a target."""
    snapshot = not is_published(warehouse, target.snapshot, settings)
    if target.implied:
        return MissingOutputs(target, snapshot, changes=False, report=False, events=False)
    home = locate_home(settings)
    snapshot = snapshot or _has_other_base(target, warehouse)
    events = snapshot or not home.is_made(home.events_of(target.snapshot), hash_event_inputs(settings))
    changes = snapshot or _lacks_changes(target, settings, warehouse)
    return MissingOutputs(
        target=target,
        snapshot=snapshot,
        changes=changes,
        report=changes or _lacks_report(target, settings, home),
        events=events,
    )


def _has_other_base(target: SnapshotTarget, warehouse: Warehouse) -> bool:
    """Tell whether a snapshot was made with another base, as before its branch became the base ref."""
    rows = arrow_to_rows("snapshots", warehouse.read(target.snapshot, "snapshots"), Snapshot) if target.rule else ()
    wanted = (extract_commit(target.base) if target.base else None, target.rule)
    return any((row.base, row.base_rule) != wanted for row in rows)


def keep_last_look(target: SnapshotTarget, warehouse: Warehouse) -> SnapshotTarget:
    """Keep the base of a snapshot that was compared with an earlier commit than its parent: that says more."""
    if target.rule != FIRST_PARENT or warehouse.manifest(target.snapshot) is None:
        return target
    (row,) = arrow_to_rows("snapshots", warehouse.read(target.snapshot, "snapshots"), Snapshot)
    return compare_with_last_look(target, row.base or "") if row.base_rule == LAST_LOOK else target


def compare_with_last_look(target: SnapshotTarget, seen: str) -> SnapshotTarget:
    """Take the commit where a ref was at the last look as the base, in the place of the first parent."""
    base = f"{extract_repository(target.snapshot)}@{seen}"
    if target.rule != FIRST_PARENT or target.base == base:
        return target
    return msgspec.structs.replace(target, base=base, rule=LAST_LOOK)


def require_all(target: SnapshotTarget) -> MissingOutputs:
    """Return all outputs of a target as missing, whether they exist or not."""
    rest = not target.implied
    return MissingOutputs(target, snapshot=True, changes=rest, report=rest, events=rest)


def _lacks_changes(target: SnapshotTarget, settings: Settings, warehouse: Warehouse) -> bool:
    if target.base is None:
        return False
    manifest = warehouse.manifest((target.base, target.snapshot))
    return manifest is None or manifest.analysis_key != hash_diff_inputs(settings)


def _lacks_report(target: SnapshotTarget, settings: Settings, home: Home) -> bool:
    if target.base is None:
        return False
    reports = [home.report_of(target.base, target.snapshot, REPORTERS[name].suffix) for name in ("markdown", "json")]
    return not all(home.is_made(report, hash_diff_inputs(settings)) for report in reports)


def are_marts_stale(settings: Settings, warehouse: Warehouse) -> bool:
    """Tell whether the marts differ from what is published."""
    home = locate_home(settings)
    listing = msgspec.json.encode(warehouse.published_files(), order="sorted") + b"\n"
    return not home.is_made(home.marts, hash_marts_inputs(listing))
