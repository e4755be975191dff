"""Retention: removes snapshots that are too old or too many, with their partitions, files and caches."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg
import msgspec

from lineage_pipeline.config.load import Settings
from lineage_pipeline.config.models import RepositorySettings
from lineage_pipeline.configured_schemas import SNAPSHOT_PREFIX
from lineage_pipeline.defs.home import locate_home
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.run_states import InstanceRuns
from lineage_pipeline.defs.runs.materialize import open_dagster_instance
from lineage_pipeline.defs.runs.targets import keep_last_look, resolve_snapshot_target
from lineage_pipeline.defs.runs.watched_repositories import locate_repository
from lineage_pipeline.defs.specs import ASSET_OWNERS, CODE_VERSION, SNAPSHOT_PARTITIONS, SPARK_POOL
from lineage_pipeline.discover.file_options import options_of_row
from lineage_pipeline.discover.folder import name_repository
from lineage_pipeline.discover.git.repository import (
    find_toplevel,
    is_repository,
    list_refs,
    select_refs,
)
from lineage_pipeline.export.escaping import format_code
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import Snapshot, SqlFile
from lineage_pipeline.store.compiled_scripts import MIN_COMPACTED_BATCHES, compact_compiled, remove_unused_caches
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.packed_script import compile_key
from lineage_pipeline.store.row_conversion import arrow_to_rows
from lineage_pipeline.store.warehouse import Warehouse

DAY_SECONDS = 86_400

TREE_PREFIX = "tree-"
"""Prefix in place of a commit in the key of a folder without git; such a snapshot cannot be tagged."""

UNKNOWN_REPOSITORY = "it is not among [[repositories]], and nobody else can say which of its commits have a tag"


class PruneResult(msgspec.Struct, frozen=True):
    """What was removed, or would be: snapshots, numbers of files, and why something was kept."""

    snapshots: tuple[str, ...]
    files: int = 0
    caches: int = 0
    problems: tuple[str, ...] = ()


class ProtectedSnapshots(msgspec.Struct, frozen=True):
    """What is kept whatever its age: commits by repository, and repositories that could not be read.

    A base is made before its head: until the head exists, only `bases` protects it.
    """

    commits: Mapping[str, frozenset[str]]
    unknown: Mapping[str, str]
    bases: frozenset[str] = frozenset()


def select_expired(
    rows: Sequence[Snapshot], settings: Settings, protected: ProtectedSnapshots, now: datetime
) -> list[str]:
    """Return the snapshots to remove: too old or too many, not protected, and not the base of one that stays."""
    days, most = settings.retention.days, settings.retention.snapshots
    oldest = (now - timedelta(days=days)).isoformat() if days else ""
    gone: set[str] = set()
    by_repository: dict[str, list[Snapshot]] = defaultdict(list)
    for row in rows:
        by_repository[row.repo].append(row)
    for name, found in by_repository.items():
        newest_first = sorted(found, key=lambda row: (row.committed_at or "", row.commit), reverse=True)
        kept = protected.commits.get(name, frozenset())
        for number, row in enumerate(newest_first):
            late = (row.committed_at is not None and row.committed_at < oldest) or (most and number >= most)
            unsure = name in protected.unknown and not row.commit.startswith(TREE_PREFIX)
            if late and not unsure and row.commit not in kept:
                gone.add(_snapshot_key(row))
    bases = {f"{row.repo}@{row.base}" for row in rows if row.base and _snapshot_key(row) not in gone}
    return sorted(gone - bases - protected.bases)


def _snapshot_key(row: Snapshot) -> str:
    return f"{row.repo}@{row.commit}"


def find_protected(settings: Settings, found: Collection[str]) -> ProtectedSnapshots:
    """Read the tags and the watched refs of the repositories of some snapshots."""
    known = {row.name: row for row in (*_current_repository(settings), *settings.repositories) if row.name in found}
    unknown = {name: UNKNOWN_REPOSITORY for name in found if name not in known}
    commits: dict[str, frozenset[str]] = {}
    bases: set[str] = set()
    for name, row in known.items():
        try:
            tips = frozenset(select_refs(locate_repository(settings, row), row.refs, row.base_ref).values())
            commits[name] = tips | _find_tagged(settings, row)
            bases |= _find_bases(settings, row, tips)
        except LineageError as error:
            unknown[name] = str(error)
    return ProtectedSnapshots(commits, unknown, frozenset(bases))


def _current_repository(settings: Settings) -> tuple[RepositorySettings, ...]:
    """Return the repository of the settings' own folder: `lineage run` uses it where no other is named."""
    root = settings.root
    return (RepositorySettings(name=name_repository(find_toplevel(root)), path="."),) if is_repository(root) else ()


def _find_tagged(settings: Settings, row: RepositorySettings) -> frozenset[str]:
    refs = list_refs(locate_repository(settings, row))
    return frozenset(commit for name, commit in refs.items() if name.startswith("tags/"))


def _find_bases(settings: Settings, row: RepositorySettings, tips: Collection[str]) -> set[str]:
    """Return the snapshots that the tips of refs are or will be compared with."""
    repo, warehouse = locate_repository(settings, row), Warehouse(settings.warehouse)
    targets = (keep_last_look(resolve_snapshot_target(settings, repo, row, tip), warehouse) for tip in tips)
    return {target.base for target in targets if target.base is not None}


def prune_snapshots(
    settings: Settings,
    reading: Callable[[str], Settings],
    forget: Callable[[Collection[str]], None],
    *,
    dry: bool = False,
    busy: Collection[str] = (),
) -> PruneResult:
    """Remove what the settings say, and what runs left behind.

    `reading` returns the settings of a snapshot, and `forget` drops it elsewhere. The snapshots of open runs (`busy`)
    stay, and so do all caches then, which those runs may need.
    """
    warehouse, home = Warehouse(settings.warehouse), locate_home(settings)
    keys = [manifest.key[0] for manifest in warehouse.snapshots()]
    rows = [arrow_to_rows("snapshots", warehouse.read(key, "snapshots"), Snapshot)[0] for key in keys]
    protected = find_protected(settings, {row.repo for row in rows})
    pinned = {*_find_pinned(settings, keys, reading), *busy}
    gone = [key for key in select_expired(rows, settings, protected, datetime.now(UTC)) if key not in pinned]
    problems = _describe_problems(rows, settings, protected)
    if dry:
        return PruneResult(tuple(gone), problems=problems)
    with home.alone("marts"):  # they are built from files that must not vanish meanwhile
        warehouse.forget(gone)
        home.forget(gone)
        forget(gone)
        files = warehouse.collect()
    cached = 0 if busy else _collect_caches(settings, warehouse, reading)
    return PruneResult(tuple(gone), len(files), cached, problems)


def _describe_problems(rows: Sequence[Snapshot], settings: Settings, protected: ProtectedSnapshots) -> tuple[str, ...]:
    """Say which repositories keep all snapshots because they could not be read, if retention is set at all."""
    if not settings.retention.days and not settings.retention.snapshots:
        return ()
    of_git = {row.repo for row in rows if not row.commit.startswith(TREE_PREFIX)}
    unsure = sorted(of_git & set(protected.unknown))
    return tuple(f"{name}: {protected.unknown[name]}: nothing of it is removed" for name in unsure)


def _find_pinned(settings: Settings, keys: Sequence[str], reading: Callable[[str], Settings]) -> set[str]:
    """Return the snapshots that schemas are imported from."""
    newest = {key.rpartition("@")[0]: key for key in keys}.values()
    read = [settings, *(found for key in newest if (found := _read_settings(reading, key)) is not None)]
    lists = [(one.analysis.schemas, *(system.schemas or () for system in one.systems)) for one in read]
    places = [place for parts in lists for part in parts for place in part]
    return {
        place.removeprefix(SNAPSHOT_PREFIX).rpartition("#")[2] for place in places if place.startswith(SNAPSHOT_PREFIX)
    }


def _read_settings(reading: Callable[[str], Settings], key: str) -> Settings | None:
    try:
        return reading(key)
    except LineageError:  # its repository is not watched any more
        return None


def _collect_caches(settings: Settings, warehouse: Warehouse, reading: Callable[[str], Settings]) -> int:
    """Delete compiled sources of no remaining snapshot and old caches; compact what is in many batches.

    Returns the number of files.
    """
    needed: set[str] = set()
    for manifest in warehouse.snapshots():
        rules = _read_settings(reading, manifest.key[0])
        if rules is not None:
            files = arrow_to_rows("sql_files", warehouse.read(manifest.key[0], "sql_files"), SqlFile)
            options = ((file.source_hash, options_of_row(file, rules.options_for(file.path))) for file in files)
            needed.update(compile_key(source, one) for source, one in options)
    store, before = FileStore(settings.warehouse), time.time() - settings.retention.cache_days * DAY_SECONDS
    return len(remove_unused_caches(store, needed, before)) + len(compact_compiled(store, MIN_COMPACTED_BATCHES))


RETENTION_KEY = dg.AssetKey(["operations", "retention"])

MAX_SNAPSHOTS_SHOWN = 20
"""Snapshots that a preview lists."""


@dg.asset(
    key=RETENTION_KEY,
    group_name="operations",
    kinds={"parquet"},
    owners=ASSET_OWNERS,
    pool=SPARK_POOL,
    code_version=CODE_VERSION,
    description="What was removed last: snapshots by age and number, files of old runs, caches.",
)
def retention(context: dg.AssetExecutionContext, project: dg.ResourceParam[Project]) -> dg.MaterializeResult[None]:
    """Remove what [retention] says."""
    started = time.monotonic()
    busy = InstanceRuns(context.instance).busy()
    pruned = prune_snapshots(
        project.settings, project.settings_for, _make_partition_deleter(context.instance), busy=busy
    )
    for problem in pruned.problems:
        context.log.warning(problem)
    return dg.MaterializeResult(
        metadata={
            "dagster/uri": FileStore(project.settings.warehouse).address("").rstrip("/"),
            "seconds": round(time.monotonic() - started, 2),
            "snapshots": len(pruned.snapshots),
            "files": pruned.files,
            "cached_files": pruned.caches,
            "removed": dg.MetadataValue.json(list(pruned.snapshots)),
            "problems": dg.MetadataValue.json(list(pruned.problems)),
            "preview": dg.MetadataValue.md(_preview_pruned(pruned)),
        }
    )


def _preview_pruned(pruned: PruneResult) -> str:
    """List what was removed, and what was kept and why."""
    gone = [f"- removed {format_code(key)}" for key in pruned.snapshots[:MAX_SNAPSHOTS_SHOWN]]
    more = len(pruned.snapshots) - len(gone)
    rest = [f"- and {more} more"] if more else []
    return (
        "\n".join([*gone, *rest, *(f"- {format_code(problem)}" for problem in pruned.problems)])
        or "nothing was removed"
    )


def prune_project(settings: Settings, *, dry: bool = False) -> PruneResult:
    """Remove what the settings say, and update the project's own Dagster instance."""
    project = Project.over(settings)
    if dry:
        return prune_snapshots(settings, project.settings_for, lambda _: None, dry=True)
    with open_dagster_instance(settings) as instance:
        busy = InstanceRuns(instance).busy()
        return prune_snapshots(settings, project.settings_for, _make_partition_deleter(instance), busy=busy)


def _make_partition_deleter(instance: dg.DagsterInstance) -> Callable[[Collection[str]], None]:
    """Return a function that deletes the partitions of snapshots."""

    def forget(snapshots: Collection[str]) -> None:
        for key in sorted(set(snapshots) & set(instance.get_dynamic_partitions(SNAPSHOT_PARTITIONS))):
            instance.delete_dynamic_partition(SNAPSHOT_PARTITIONS, key)

    return forget
