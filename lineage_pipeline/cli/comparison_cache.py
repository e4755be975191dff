"""Cached comparisons: two commits that were compared are not compared again while settings and program are the same."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from lineage_pipeline.cli.output import OUTPUT_SETTINGS
from lineage_pipeline.export.subject import Comparison
from lineage_pipeline.model.tables import Diagnostic, SqlFile, Waiver

if TYPE_CHECKING:
    from lineage_pipeline.config.load import Settings

CachedT = TypeVar("CachedT")

COMPARISON_FOLDER = "_cache/comparisons"

MOST_KEPT = 16
"""Comparisons that are kept; the least recently used are deleted first."""


class ComparedSides(msgspec.Struct, frozen=True):
    """What two sides differ in, before the waivers of the day apply: the waivers of head, and problems with them.

    `files` are those of head: they tell its dialects.
    """

    comparison: Comparison
    waivers: tuple[Waiver, ...]
    problems: tuple[Diagnostic, ...]
    files: tuple[SqlFile, ...]


def locate_comparison(settings: "Settings", repo: str, base: str, head: str) -> Path | None:
    """Return where the comparison of two commits is kept; None where it must not be."""
    from lineage_pipeline.diff_settings import build_policy

    name = hash_commits(settings, repo, base, head, build_policy(settings))
    return Path(settings.warehouse, COMPARISON_FOLDER) / f"{name}.compared" if name is not None else None


def hash_commits(settings: "Settings", repo: str, *parts: object) -> str | None:
    """Return a name for what the program makes of commits with some settings; None where it must not be kept."""
    from lineage_pipeline.cli.folder_stamp import is_self_contained
    from lineage_pipeline.configured_schemas import compute_analysis_key
    from lineage_pipeline.files.fingerprints import hash_parts, program_version

    local = settings.cache and "://" not in settings.warehouse
    if not local or OUTPUT_SETTINGS.verbose or not is_self_contained(settings):
        return None
    shown = settings.model_dump(mode="json", exclude={"home", "warehouse"})
    return hash_parts([program_version(), compute_analysis_key(settings), shown, repo, *parts])[:40]


def load_comparison(place: Path | None) -> ComparedSides | None:
    """Return a kept comparison; None where there is none, or it is damaged."""
    return load_cached(place, ComparedSides)


def load_cached(place: Path | None, kind: type[CachedT]) -> CachedT | None:
    """Return the content of a cache file; None where there is none, or it is damaged."""
    from lineage_pipeline.files.fingerprints import verify_digest

    if place is None or not place.is_file():
        return None
    try:
        content = verify_digest(place.read_bytes())
        found = msgspec.msgpack.decode(content, type=kind) if content is not None else None
        place.touch(exist_ok=True)
    except (OSError, msgspec.MsgspecError):
        return None
    return found


def save_comparison(place: Path | None, found: ComparedSides) -> None:
    """Keep a comparison where that is worth it; who cannot write there compares again."""
    from lineage_pipeline.cli.lineage_cache import is_worth_caching

    if place is None or not is_worth_caching(found.files):
        return
    with suppress(OSError):
        write_cached(place, found)
        kept = sorted(place.parent.glob("*.compared"), key=lambda file: -file.stat().st_mtime)
        for file in kept[MOST_KEPT:]:
            file.unlink(missing_ok=True)


def write_cached(place: Path, found: msgspec.Struct) -> None:
    """Write a cache file whole, with its digest; another process may write the same one."""
    from lineage_pipeline.cli.lineage_cache import hide_cache
    from lineage_pipeline.files.fingerprints import prepend_digest

    hide_cache(place.parent)
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    temporary.write_bytes(prepend_digest(msgspec.msgpack.encode(found)))
    temporary.replace(place)
