"""Cached lineages of folders and revisions: what did not change is not analyzed again."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from lineage_pipeline.cli.read_files import list_read_files, note_cached_folder

if TYPE_CHECKING:
    from lineage_pipeline.cli.folder_stamp import FolderStamp
    from lineage_pipeline.cli.inputs import DiscoveredInputs, ReadingFlags
    from lineage_pipeline.discover.discovery import RecalledFile
    from lineage_pipeline.model.tables import SqlFile
    from lineage_pipeline.queries.lineage import Lineage
    from lineage_pipeline.store.lineage_file import CachedLineage

CACHE_FOLDER = "_cache/lineages"

MIN_CACHED_FILES = 200
"""Number of files from which a lineage is cached: fewer are analyzed as quickly as a cache is opened."""

MIN_CACHED_BYTES = 100_000
"""Bytes of SQL from which a lineage is cached, however few the files."""

CACHE_LIMITS = {".kept": 8, ".seen": 16, ".index": 16, ".lineage": 0}
"""How many files are kept for each suffix; the least recently used are deleted first.

Only older versions wrote files with the last suffix.
"""


def load_or_analyze(places: Sequence[str], reading: "ReadingFlags") -> "Lineage":
    """Return the lineage of some inputs; a folder that has not changed since last time is not read."""
    from lineage_pipeline.cli.inputs import discover_inputs

    glance = _stamp_folder(places, reading)
    if glance is None:
        found = discover_inputs(places, reading)
        return _load_or_update(found, _cache_file(found), None)
    known = glance.lineage()
    kept = _read_cached(known) if known is not None else None
    if kept is None:
        return _refresh_folder(glance)
    note_cached_folder(places[0])
    return kept


def _stamp_folder(places: Sequence[str], reading: "ReadingFlags") -> "FolderStamp | None":
    """Stamp a folder; None where the input is not a folder or nothing may be cached."""
    if len(places) != 1 or not Path(places[0]).is_dir() or not find_spec("pyarrow"):
        return None
    from lineage_pipeline.cli.folder_stamp import FolderStamp, is_self_contained
    from lineage_pipeline.config.load import load_settings

    settings = load_settings(Path(places[0]), reading.flags(), os.environ)
    if not settings.cache or "://" in settings.warehouse or not is_self_contained(settings):
        return None
    return FolderStamp(Path(places[0]), settings, Path(settings.warehouse, CACHE_FOLDER))


def _refresh_folder(glance: "FolderStamp") -> "Lineage":
    """Return the lineage of a folder that is new or has changed, and save its stamp."""
    from lineage_pipeline.cli.folder_stamp import are_files_independent
    from lineage_pipeline.store.lineage_file import load_cached_lineage

    before, recalled = glance.before()
    shelf = load_cached_lineage(before) if before is not None else None
    found, files = _discover_folder(glance, recalled if shelf is not None else {})
    place = _cache_file(found)
    if recalled and (place is None or not are_files_independent(files)):
        found, files = _discover_folder(glance, {})
    list_read_files(found.discovery)
    lineage = _load_or_update(found, place, shelf)
    if place is not None and place.is_file():
        with suppress(OSError):  # who cannot write there reads again
            glance.note(place, files)
    return lineage


def _discover_folder(
    glance: "FolderStamp", recalled: "Mapping[str, RecalledFile]"
) -> "tuple[DiscoveredInputs, dict[str, RecalledFile]]":
    """Discover a folder, and return what may be recalled next time."""
    from lineage_pipeline.cli.inputs import DiscoveredInputs
    from lineage_pipeline.configured_schemas import compute_analysis_key, import_configured_schemas
    from lineage_pipeline.discover.folder import open_folder

    settings = glance.settings
    gathering = open_folder(glance.folder, settings, analysis_key=compute_analysis_key(settings), recalled=recalled)
    found = gathering.whole()
    return DiscoveredInputs(found, settings, settings, import_configured_schemas(settings)), gathering.to_recall()


def _load_or_update(found: "DiscoveredInputs", place: Path | None, before: "CachedLineage | None" = None) -> "Lineage":
    """Return the lineage of discovered files: the cached one, or a new one, which is cached if it is worth it."""
    from lineage_pipeline.queries.lineage import Lineage

    if place is None:
        from lineage_pipeline.cli.inputs import analyze_inputs
        from lineage_pipeline.engine.trace.facts import RowFacts

        subject = analyze_inputs(found)
        return Lineage(RowFacts(subject.lineage, subject.files))
    from lineage_pipeline.store.lineage_file import save_cached_lineage
    from lineage_pipeline.store.stored_facts import StoredFacts

    kept = _read_cached(place)
    if kept is not None:
        return kept
    made = _analyze_incrementally(found, before)
    with suppress(OSError):  # a folder that cannot be written to is no reason to fail
        hide_cache(place.parent)
        save_cached_lineage(place, made)
        _delete_old_files(place.parent)
    return Lineage(StoredFacts(made))


def _analyze_incrementally(found: "DiscoveredInputs", before: "CachedLineage | None") -> "CachedLineage":
    """Analyze discovered files, reusing what has not changed."""
    from lineage_pipeline.cli.local_analysis import build_compiler
    from lineage_pipeline.discover.schemas.project_schemas import add_project_schemas
    from lineage_pipeline.incremental.refresh import EMPTY_SHELF, refresh_lineage

    discovery, rules, settings, imports = found
    given = add_project_schemas(imports, discovery.files, discovery.sources, rules)
    return refresh_lineage(discovery, rules, given, build_compiler(settings), before or EMPTY_SHELF)


def _cache_file(found: "DiscoveredInputs") -> Path | None:
    """Return the cache file, keyed by all that the lineage depends on; None where it is not to be cached."""
    from lineage_pipeline.configured_schemas import compute_analysis_key
    from lineage_pipeline.files.fingerprints import hash_parts

    settings, discovery = found.settings, found.discovery
    usable = settings.cache and "://" not in settings.warehouse and found.rules is settings
    if not usable or not is_worth_caching(discovery.files) or not find_spec("pyarrow"):
        return None
    imported = [sorted(found.imports.schemas.items()), found.imports.findings]
    parts = [compute_analysis_key(settings), discovery.snapshot, discovery.files, discovery.diagnostics, imported]
    return Path(settings.warehouse, CACHE_FOLDER) / f"{hash_parts(parts)[:40]}.kept"


def hide_cache(folder: Path) -> None:
    """Make a folder of the cache; git ignores the cache, since it lies in somebody's repository."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.with_name(".gitignore").write_text("*\n", encoding="ascii")


def is_worth_caching(files: "Sequence[SqlFile]") -> bool:
    """Tell whether files are so many or so large that reading them takes longer than opening a cache."""
    return len(files) >= MIN_CACHED_FILES or sum(file.bytes for file in files) >= MIN_CACHED_BYTES


def _read_cached(place: Path) -> "Lineage | None":
    from lineage_pipeline.queries.lineage import Lineage
    from lineage_pipeline.store.lineage_file import load_cached_lineage
    from lineage_pipeline.store.stored_facts import StoredFacts

    shelf = load_cached_lineage(place)
    if shelf is None:
        return None
    with suppress(OSError):  # gone in between
        place.touch(exist_ok=True)
    return Lineage(StoredFacts(shelf))


def _delete_old_files(folder: Path) -> None:
    """Delete the least recently used files of the cache."""
    for suffix, most in CACHE_LIMITS.items():
        files = sorted(folder.glob(f"*{suffix}"), key=lambda file: -file.stat().st_mtime)
        for file in files[most:]:
            file.unlink(missing_ok=True)
