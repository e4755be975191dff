"""How long snapshots stay: what is too old or one too many goes, with its partition, its files and its caches."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from lineage_pipeline.defs.home import home_of
from lineage_pipeline.defs.targets import place_of
from lineage_pipeline.discover.detect import options_of
from lineage_pipeline.discover.folder import repository_name
from lineage_pipeline.discover.git import base_of, is_repository, read_commit, toplevel
from lineage_pipeline.discover.refs import chosen_refs, list_refs
from lineage_pipeline.settings import RepositorySettings, Settings
from lineage_pipeline.settings.snapshots import PREFIX
from lineage_pipeline.store.arrays import from_arrow
from lineage_pipeline.store.caches import collect_caches
from lineage_pipeline.store.compaction import MANY, compact_compiled
from lineage_pipeline.store.files import Files
from lineage_pipeline.store.packing import compile_key
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import Snapshot, SqlFile

DAY = 86_400

FOLDER = "tree-"
"""What the key of a snapshot of a folder without git has in place of a commit; nobody can tag it."""

STRANGE = "it is not among [[repositories]], and nobody else can say which of its commits have a tag"


class Pruned(msgspec.Struct, frozen=True):
    """What was removed, or would be: snapshots, the number of files, and what was kept since nobody could say more."""

    snapshots: tuple[str, ...]
    files: int = 0
    caches: int = 0
    problems: tuple[str, ...] = ()


class Protected(msgspec.Struct, frozen=True):
    """What is kept whatever its age: commits by repository, and repositories that could not be asked, as a whole.

    A base is made before its head: until that is there, only `bases` says what it is for.
    """

    commits: Mapping[str, frozenset[str]]
    unknown: Mapping[str, str]
    bases: frozenset[str] = frozenset()


def doomed(rows: Sequence[Snapshot], settings: Settings, protected: Protected, now: datetime) -> list[str]:
    """Name the snapshots that go: too old or too many, and neither protected nor the base of one that stays."""
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
            unsure = name in protected.unknown and not row.commit.startswith(FOLDER)
            if late and not unsure and row.commit not in kept:
                gone.add(_key(row))
    bases = {f"{row.repo}@{row.base}" for row in rows if row.base and _key(row) not in gone}
    return sorted(gone - bases - protected.bases)


def _key(row: Snapshot) -> str:
    return f"{row.repo}@{row.commit}"


def protected_of(settings: Settings, found: Collection[str]) -> Protected:
    """Ask the repositories that snapshots were found of for their tags and for where the watched refs are."""
    known = {row.name: row for row in (*_here(settings), *settings.repositories) if row.name in found}
    unknown = {name: STRANGE for name in found if name not in known}
    commits: dict[str, frozenset[str]] = {}
    bases: set[str] = set()
    for name, row in known.items():
        try:
            tips = frozenset(chosen_refs(place_of(settings, row), row.refs, row.base_ref).values())
            commits[name] = tips | _tagged(settings, row)
            bases |= _bases(settings, row, tips)
        except LineageError as error:
            unknown[name] = str(error)
    return Protected(commits, unknown, frozenset(bases))


def _here(settings: Settings) -> tuple[RepositorySettings, ...]:
    """Give the repository that the settings lie in: `lineage run` takes it where no other is named."""
    root = settings.root
    return (RepositorySettings(name=repository_name(toplevel(root)), path="."),) if is_repository(root) else ()


def _tagged(settings: Settings, row: RepositorySettings) -> frozenset[str]:
    refs = list_refs(place_of(settings, row))
    return frozenset(commit for name, commit in refs.items() if name.startswith("tags/"))


def _bases(settings: Settings, row: RepositorySettings, tips: Collection[str]) -> set[str]:
    """Name the snapshots that the tips of refs are compared with, or will be."""
    repo = place_of(settings, row)
    return {f"{row.name}@{base_of(repo, read_commit(repo, tip), row.base_ref)[0]}" for tip in tips}


def prune(
    settings: Settings,
    reading: Callable[[str], Settings],
    forget: Callable[[Collection[str]], None],
    *,
    dry: bool = False,
    busy: Collection[str] = (),
) -> Pruned:
    """Remove what the settings say, and what runs left behind.

    `reading` gives the settings with which a snapshot is read, and `forget` drops what others know of snapshots; what
    runs that go on are `busy` with stays, and so do all caches then, which they may need.
    """
    warehouse, home = Warehouse(settings.warehouse), home_of(settings)
    keys = [manifest.key[0] for manifest in warehouse.snapshots()]
    rows = [from_arrow("snapshots", warehouse.read(key, "snapshots"), Snapshot)[0] for key in keys]
    protected = protected_of(settings, {row.repo for row in rows})
    pinned = {*_pinned(settings, keys, reading), *busy}
    gone = [key for key in doomed(rows, settings, protected, datetime.now(UTC)) if key not in pinned]
    problems = _problems(rows, settings, protected)
    if dry:
        return Pruned(tuple(gone), problems=problems)
    with home.alone("marts"):  # they are built from files that must not vanish meanwhile
        warehouse.forget(gone)
        home.forget(gone)
        forget(gone)
        files = warehouse.collect()
    cached = 0 if busy else _collect(settings, warehouse, reading)
    return Pruned(tuple(gone), len(files), cached, problems)


def _problems(rows: Sequence[Snapshot], settings: Settings, protected: Protected) -> tuple[str, ...]:
    """Say of what nothing is removed since nobody could be asked, where something may have to go at all."""
    if not settings.retention.days and not settings.retention.snapshots:
        return ()
    of_git = {row.repo for row in rows if not row.commit.startswith(FOLDER)}
    unsure = sorted(of_git & set(protected.unknown))
    return tuple(f"{name}: {protected.unknown[name]}: nothing of it is removed" for name in unsure)


def _pinned(settings: Settings, keys: Sequence[str], reading: Callable[[str], Settings]) -> set[str]:
    """Give the snapshots from which schemas are imported."""
    newest = {key.rpartition("@")[0]: key for key in keys}.values()
    read = [settings, *(found for key in newest if (found := _read(reading, key)) is not None)]
    lists = [(one.analysis.schemas, *(system.schemas or () for system in one.systems)) for one in read]
    places = [place for parts in lists for part in parts for place in part]
    return {place.removeprefix(PREFIX).rpartition("#")[2] for place in places if place.startswith(PREFIX)}


def _read(reading: Callable[[str], Settings], key: str) -> Settings | None:
    try:
        return reading(key)
    except LineageError:  # its repository is not watched any more
        return None


def _collect(settings: Settings, warehouse: Warehouse, reading: Callable[[str], Settings]) -> int:
    """Collect what was compiled for no snapshot that is left, and what else was worked out a while ago.

    What is left of the first is put together, where it lies in many batches.
    """
    needed: set[str] = set()
    for manifest in warehouse.snapshots():
        rules = _read(reading, manifest.key[0])
        if rules is not None:
            files = from_arrow("sql_files", warehouse.read(manifest.key[0], "sql_files"), SqlFile)
            options = ((file.source_hash, options_of(file, rules.options_for(file.path))) for file in files)
            needed.update(compile_key(source, one) for source, one in options)
    store, before = Files(settings.warehouse), time.time() - settings.retention.cache_days * DAY
    return len(collect_caches(store, needed, before)) + len(compact_compiled(store, MANY))
