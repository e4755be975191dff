"""Folders that nobody touched since they were asked about: their files are not even read again.

A folder is known by the names, kinds, sizes, places and times of all that lies in it, as git knows its files. What was
written just before it was looked at may be written again without showing, so that such a look is not noted.
"""

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lineage_pipeline import discover
from lineage_pipeline.discover.folder import SKIPPED
from lineage_pipeline.discover.ignores import GIT_FILES

if TYPE_CHECKING:
    from lineage_pipeline.settings import Settings

MOST = 50_000
"""Files below a folder beyond which reading those that count is as quick as looking at all."""

SECOND = 1_000_000_000
TICK = SECOND // 50
"""Nanoseconds within which two writes may have the same time; two seconds where times are whole seconds."""


class Glance:
    """A folder as it lies there before it is read, and the lineage that it had when it last looked so."""

    def __init__(self, folder: Path, settings: "Settings", kept: Path) -> None:
        """Look at all that lies in the folder, but for the warehouse; lineages are `kept` in a folder there."""
        key = "\0".join((str(folder.resolve()), settings.analysis_key()))
        self._note = kept / f"{hashlib.sha256(os.fsencode(key)).hexdigest()[:40]}.seen"
        self._digest, self._settled = _look(folder.resolve(), Path(settings.warehouse).resolve())

    def lineage(self) -> Path | None:
        """Give the lineage file of the folder, where it looks as it looked."""
        if not self._digest or not self._note.is_file():
            return None
        digest, _, name = self._note.read_text(encoding="utf-8", errors="replace").partition(" ")
        return self._note.with_name(name) if digest == self._digest and name else None

    def note(self, lineage: Path) -> None:
        """Keep which lineage file the folder has as it looked before it was read."""
        if self._settled:
            temporary = self._note.with_suffix(f".{os.getpid()}")
            temporary.write_text(f"{self._digest} {lineage.name}", encoding="utf-8")
            temporary.replace(self._note)


def is_plain(settings: "Settings") -> bool:
    """Say whether all that bears on the files of a folder lies in it, or is part of the key of the analysis."""
    from lineage_pipeline.discover.templating.choosing import AUTO, DBT, NONE, TEMPLATERS

    templating, dbt = settings.templating, settings.dbt
    named = {templating.templater, *(rule.templater for rule in templating.rules)}
    ours = {AUTO, NONE, DBT, None, *TEMPLATERS}
    return not (templating.variables_file or dbt.manifest or dbt.trust) and named <= ours


def _look(folder: Path, skipped: Path) -> tuple[str, bool]:
    """Give a digest of a folder, of the ignore files above it and of who reads them, and whether it can be noted."""
    digest, youngest, now = hashlib.sha256(), 0, time.time_ns()
    try:
        for count, (name, found) in enumerate(_entries(folder, skipped)):
            if count > MOST:
                return "", False
            times = found.st_mtime_ns, found.st_ctime_ns
            digest.update(os.fsencode(f"{name}\0{found.st_mode} {found.st_ino} {found.st_size} {times}\n"))
            youngest = max(youngest, *times)
    except OSError:
        return "", False
    return digest.hexdigest(), youngest + (TICK if youngest % SECOND else 2 * SECOND) < now


def _entries(folder: Path, skipped: Path) -> Iterator[tuple[str, os.stat_result]]:
    top = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
    above = [place for place in folder.parents if place.is_relative_to(top)]
    for file in (*(place / name for place in above for name in GIT_FILES), top / ".git" / "info" / "exclude"):
        if file.is_file():
            yield str(file), file.stat()
    yield from _below(Path(discover.__file__).parent, skipped)  # the engine is part of the key
    yield from _below(folder, skipped)


def _below(folder: Path, skipped: Path) -> Iterator[tuple[str, os.stat_result]]:
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if entry.name in SKIPPED or entry.path == str(skipped):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry.path, entry.stat(follow_symlinks=False)
