"""Lineages of folders and revisions that were asked about before: the same files are not analysed again."""

import os
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from lineage_pipeline.vocabulary.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.cli.places import Found, Reading
    from lineage_pipeline.cli.untouched import Glance
    from lineage_pipeline.questions.lineage import Lineage

FOLDER = "_cache/lineages"

WORTH = 200
"""Files that are worth a lineage file of their own: fewer are analysed as quickly as one is opened."""

KEPT = 8
"""How many are kept; the one that was asked last stays longest."""


def asked(places: Sequence[str], reading: "Reading") -> "Lineage":
    """Give the lineage of what lies at some places; a folder that looks as it looked before is not read."""
    from lineage_pipeline.cli.places import find

    glance = _glance(places, reading)
    known = glance.lineage() if glance is not None else None
    kept = _kept(known) if known is not None else None
    if kept is not None:
        return kept
    found = find(places, reading)
    place = _place(found)
    lineage = _remembered(found, place)
    if glance is not None and place is not None and place.is_file():
        with suppress(OSError):  # who cannot write there reads again
            glance.note(place)
    return lineage


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


def _remembered(found: "Found", place: Path | None) -> "Lineage":
    """Give the lineage of what was found: the one that is kept, or a new one, which is kept if that pays."""
    from lineage_pipeline.cli.files import write_tables
    from lineage_pipeline.cli.places import analysed
    from lineage_pipeline.engine.trace.facts import RowFacts
    from lineage_pipeline.questions.lineage import Lineage

    kept = _kept(place) if place is not None else None
    if kept is not None:
        return kept
    subject = analysed(found)
    if place is not None:
        try:
            hidden = place.parents[1] / ".gitignore"
            hidden.parent.mkdir(parents=True, exist_ok=True)
            hidden.write_text("*\n", encoding="ascii")  # it lies in somebody's repository
            write_tables(place, found, subject)
            _forget(place.parent)
        except OSError:
            pass  # a folder that cannot be written to is no reason to fail
    return Lineage(RowFacts(subject.lineage, subject.files))


def _place(found: "Found") -> Path | None:
    """Say where this lineage is kept, by all that it depends on; None where it is not worth it, or not wanted."""
    from lineage_pipeline.store.hashes import hash_of

    settings, discovery = found.settings, found.discovery
    usable = settings.cache and "://" not in settings.warehouse and found.rules is settings
    if not usable or len(discovery.files) < WORTH or not find_spec("pyarrow"):
        return None
    imported = [sorted(found.imports.schemas.items()), found.imports.findings]
    parts = [settings.analysis_key(), discovery.snapshot, discovery.files, discovery.diagnostics, imported]
    return Path(settings.warehouse, FOLDER) / f"{hash_of(parts)[:40]}.lineage"


def _kept(place: Path) -> "Lineage | None":
    from lineage_pipeline.questions.lineage import Lineage

    if not place.is_file():
        return None
    try:
        with zipfile.ZipFile(place) as archive:
            whole = archive.testzip() is None
        place.touch()
        return Lineage.load(place) if whole else None
    except (LineageError, OSError, zipfile.BadZipFile):  # damaged, or gone in between
        return None


def _forget(folder: Path) -> None:
    """Drop the lineages that nobody asked for longest, and what is noted of folders about as many times over."""
    for suffix, most in ((".lineage", KEPT), (".seen", 2 * KEPT)):
        files = sorted(folder.glob(f"*{suffix}"), key=lambda file: -file.stat().st_mtime)
        for file in files[most:]:
            file.unlink(missing_ok=True)
