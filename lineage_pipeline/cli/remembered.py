"""Lineages of folders and revisions that were asked about before: what did not change is not analysed again."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineage_pipeline.cli.places import Found, Reading
    from lineage_pipeline.cli.untouched import Glance
    from lineage_pipeline.discover.raw import Recalled
    from lineage_pipeline.questions.lineage import Lineage
    from lineage_pipeline.store.shelf import Shelf
    from lineage_pipeline.vocabulary.tables import SqlFile

FOLDER = "_cache/lineages"

WORTH = 200
"""Small files that are worth a lineage file of their own: fewer are analysed as quickly as one is opened."""

LARGE = 100_000
"""Bytes that are worth one in however few files: they take some tenths of a second."""

KEPT = {".kept": 8, ".seen": 16, ".index": 16, ".lineage": 0}
"""How many files are kept by the ends of their names; the one that was asked last stays longest.

Versions before this one left files that end in the last.
"""


def asked(places: Sequence[str], reading: "Reading") -> "Lineage":
    """Give the lineage of what lies at some places; a folder that looks as it looked before is not read."""
    from lineage_pipeline.cli.places import find

    glance = _glance(places, reading)
    if glance is None:
        found = find(places, reading)
        return _remembered(found, _place(found), None)
    known = glance.lineage()
    kept = _kept(known) if known is not None else None
    return kept if kept is not None else _again(glance)


def _glance(places: Sequence[str], reading: "Reading") -> "Glance | None":
    """Look at a folder that is asked about; None where something else is, or nothing is to be kept."""
    if len(places) != 1 or not Path(places[0]).is_dir() or not find_spec("pyarrow"):
        return None
    from lineage_pipeline.cli.untouched import Glance, is_plain
    from lineage_pipeline.settings import load_settings

    settings = load_settings(Path(places[0]), reading.flags(), os.environ)
    if not settings.cache or "://" in settings.warehouse or not is_plain(settings):
        return None
    return Glance(Path(places[0]), settings, Path(settings.warehouse, FOLDER))


def _again(glance: "Glance") -> "Lineage":
    """Give the lineage of a folder that changed since it was asked about, or never was; note what it looks like."""
    from lineage_pipeline.cli.untouched import stands_alone
    from lineage_pipeline.store.shelf import take_down

    before, recalled = glance.before()
    shelf = take_down(before) if before is not None else None
    found, files = _gathered(glance, recalled if shelf is not None else {})
    place = _place(found)
    if recalled and (place is None or not stands_alone(files)):
        found, files = _gathered(glance, {})
    lineage = _remembered(found, place, shelf)
    if place is not None and place.is_file():
        with suppress(OSError):  # who cannot write there reads again
            glance.note(place, files)
    return lineage


def _gathered(glance: "Glance", recalled: "Mapping[str, Recalled]") -> "tuple[Found, dict[str, Recalled]]":
    """Discover a folder, and give what may be recalled of it the next time."""
    from lineage_pipeline.cli.places import Found
    from lineage_pipeline.discover.folder import gather_folder

    settings = glance.settings
    gathering = gather_folder(glance.folder, settings, recalled=recalled)
    return Found(gathering.whole(), settings, settings, settings.imports()), gathering.to_recall()


def _remembered(found: "Found", place: Path | None, before: "Shelf | None" = None) -> "Lineage":
    """Give the lineage of what was found: the one that is kept, or a new one, which is kept if that pays."""
    from lineage_pipeline.questions.lineage import Lineage

    if place is None:
        from lineage_pipeline.cli.places import analysed
        from lineage_pipeline.engine.trace.facts import RowFacts

        subject = analysed(found)
        return Lineage(RowFacts(subject.lineage, subject.files))
    from lineage_pipeline.store.facts import StoredFacts
    from lineage_pipeline.store.shelf import put_up

    kept = _kept(place)
    if kept is not None:
        return kept
    made = _resumed(found, before)
    with suppress(OSError):  # a folder that cannot be written to is no reason to fail
        hidden = place.parents[1] / ".gitignore"
        hidden.parent.mkdir(parents=True, exist_ok=True)
        hidden.write_text("*\n", encoding="ascii")  # it lies in somebody's repository
        put_up(place, made)
        _forget(place.parent)
    return Lineage(StoredFacts(made))


def _resumed(found: "Found", before: "Shelf | None") -> "Shelf":
    """Analyse what was found, as far as it is not what it was before."""
    from lineage_pipeline.cli.subject import compiler_of
    from lineage_pipeline.discover.schemas.found import with_found
    from lineage_pipeline.resumed.lineage import NOTHING, resume

    discovery, rules, settings, imports = found
    given = with_found(imports, discovery.files, discovery.sources, rules)
    return resume(discovery, rules, given, compiler_of(settings), before or NOTHING)


def _place(found: "Found") -> Path | None:
    """Say where this lineage is kept, by all that it depends on; None where it is not worth it, or not wanted."""
    from lineage_pipeline.store.hashes import hash_of

    settings, discovery = found.settings, found.discovery
    usable = settings.cache and "://" not in settings.warehouse and found.rules is settings
    if not usable or not _is_much(discovery.files) or not find_spec("pyarrow"):
        return None
    imported = [sorted(found.imports.schemas.items()), found.imports.findings]
    parts = [settings.analysis_key(), discovery.snapshot, discovery.files, discovery.diagnostics, imported]
    return Path(settings.warehouse, FOLDER) / f"{hash_of(parts)[:40]}.kept"


def _is_much(files: "Sequence[SqlFile]") -> bool:
    return len(files) >= WORTH or sum(file.bytes for file in files) >= LARGE


def _kept(place: Path) -> "Lineage | None":
    from lineage_pipeline.questions.lineage import Lineage
    from lineage_pipeline.store.facts import StoredFacts
    from lineage_pipeline.store.shelf import take_down

    shelf = take_down(place)
    if shelf is None:
        return None
    with suppress(OSError):  # gone in between
        place.touch(exist_ok=True)
    return Lineage(StoredFacts(shelf))


def _forget(folder: Path) -> None:
    """Drop the lineages that nobody asked for longest, and what is noted of folders about as many times over."""
    for suffix, most in KEPT.items():
        files = sorted(folder.glob(f"*{suffix}"), key=lambda file: -file.stat().st_mtime)
        for file in files[most:]:
            file.unlink(missing_ok=True)
