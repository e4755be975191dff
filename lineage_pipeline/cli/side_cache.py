"""Cached sides of a comparison: the files of a commit and its lineage, from which the next commit continues."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lineage_pipeline.cli.comparison_cache import hash_commits, load_cached, write_cached
from lineage_pipeline.cli.lineage_cache import hide_cache, is_worth_caching
from lineage_pipeline.discover.discovery import Discovery
from lineage_pipeline.model.analysis import LineageTables, SchemaImports

if TYPE_CHECKING:
    from lineage_pipeline.cli.local_analysis import ComparisonSide
    from lineage_pipeline.config.load import Settings
    from lineage_pipeline.discover.dialect_vote import AgreedDialects
    from lineage_pipeline.store.lineage_file import CachedLineage

COMMITS_FOLDER = "_cache/commits"

MOST_KEPT = 4
"""Files of each kind that are kept; the least recently used are deleted first."""


def locate_commit(settings: "Settings", repo: str, commit: str, agreed: "AgreedDialects") -> Path | None:
    """Return where the files of a commit are kept; None where they must not be."""
    name = hash_commits(settings, repo, commit, sorted(agreed.items()))
    return Path(settings.warehouse, COMMITS_FOLDER) / f"{name}.files" if name is not None else None


def load_commit(place: Path | None) -> Discovery | None:
    """Return the kept files of a commit; None where there are none, or they are damaged."""
    return load_cached(place, Discovery)


def save_commit(place: Path | None, found: Discovery) -> None:
    """Keep the files of a commit where that is worth it; who cannot write there reads again."""
    if place is None or not is_worth_caching(found.files):
        return
    with suppress(OSError):
        write_cached(place, found)
        _delete_old_files(place.parent)


def analyze_sides_incrementally(
    sides: "Sequence[tuple[ComparisonSide, SchemaImports]]",
) -> tuple[LineageTables, LineageTables] | None:
    """Analyze base and head from what is kept, and keep what is made; None where this cannot be done or is no gain."""
    if not all(_is_usable(side) for side, _ in sides) or not find_spec("pyarrow"):
        return None
    from lineage_pipeline.engine.diff.import_conflicts import find_import_conflicts, list_defined_objects

    (base, imports), (head, given) = sides
    before = _load_or_update(base, imports, None)
    after = _load_or_update(head, given, before) if before is not None else None
    if before is None or after is None:
        return None
    old, new = _read_rows(before), _read_rows(after)
    changed = find_import_conflicts(old, new)
    if not changed:
        return old, new
    defined = list_defined_objects(old)
    known = _yield_imports(imports, before, changed & defined, old), _yield_imports(given, after, changed, new)
    relinked = _update(base, known[0], before), _update(head, known[1], after)
    return (_read_rows(relinked[0]), _read_rows(relinked[1])) if relinked[0] and relinked[1] else None


def _is_usable(side: "ComparisonSide") -> bool:
    discovery, settings = side
    return settings.cache and "://" not in settings.warehouse and is_worth_caching(discovery.files)


def _load_or_update(
    side: "ComparisonSide", given: SchemaImports, nearest: "CachedLineage | None"
) -> "CachedLineage | None":
    """Return the kept lineage of a side, or one that continues from the nearest that is kept."""
    from lineage_pipeline.store.lineage_file import load_cached_lineage, save_cached_lineage

    place = _locate_lineage(side, given)
    found = load_cached_lineage(place)
    if found is not None:
        with suppress(OSError):
            place.touch(exist_ok=True)
        return found
    made = _update(side, given, nearest or next(_iter_kept(place), None))
    if made is not None:
        with suppress(OSError):
            hide_cache(place.parent)
            save_cached_lineage(place, made)
            _delete_old_files(place.parent)
    return made


def _locate_lineage(side: "ComparisonSide", given: SchemaImports) -> Path:
    """Return where the lineage of a side is kept: by the engine with its settings, and by the files and imports."""
    from lineage_pipeline.configured_schemas import compute_analysis_key
    from lineage_pipeline.files.fingerprints import hash_parts

    discovery, settings = side
    engine = hash_parts([compute_analysis_key(settings)])[:16]
    parts = [discovery.snapshot.repo, discovery.files, discovery.diagnostics, sorted(given.schemas.items())]
    content = hash_parts([*parts, given.findings])[:40]
    return Path(settings.warehouse, COMMITS_FOLDER) / f"{engine}-{content}.kept"


def _iter_kept(place: Path) -> "Iterator[CachedLineage]":
    """Yield the kept lineages of the same engine, the last used first."""
    from lineage_pipeline.store.lineage_file import load_cached_lineage

    engine = place.name.partition("-")[0]
    for one in sorted(place.parent.glob(f"{engine}-*.kept"), key=lambda file: -file.stat().st_mtime):
        found = load_cached_lineage(one)
        if found is not None:
            yield found


def _update(side: "ComparisonSide", given: SchemaImports, kept: "CachedLineage | None") -> "CachedLineage | None":
    from lineage_pipeline.cli.local_analysis import build_compiler
    from lineage_pipeline.incremental.refresh import EMPTY_SHELF, update_lineage

    discovery, settings = side
    return update_lineage(discovery, settings, given, build_compiler(settings), kept or EMPTY_SHELF)


def _yield_imports(
    given: SchemaImports, lineage: "CachedLineage", objects: frozenset[str], rows: LineageTables
) -> SchemaImports:
    from lineage_pipeline.engine.diff.import_conflicts import list_defined_objects
    from lineage_pipeline.incremental.state import AnalysisState
    from lineage_pipeline.pipeline import yield_imports

    known = AnalysisState.unpack(lineage.before).known
    schemas = yield_imports(given.schemas, known, objects, list_defined_objects(rows))
    return msgspec.structs.replace(given, schemas=schemas)


def _read_rows(lineage: "CachedLineage") -> LineageTables:
    from lineage_pipeline.store.stored_facts import StoredFacts

    return StoredFacts(lineage).rows()


def _delete_old_files(folder: Path) -> None:
    """Delete the least recently used files of each kind."""
    for suffix in (".files", ".kept"):
        files = sorted(folder.glob(f"*{suffix}"), key=lambda file: -file.stat().st_mtime)
        for file in files[MOST_KEPT:]:
            file.unlink(missing_ok=True)
