"""Folders that nobody touched since they were asked about: their files are not even read again.

A folder is known by the names, kinds, sizes, places and times of all that lies in it, as git knows its files. What was
written just before it was looked at may be written again without showing, so that such a look is not noted.
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lineage_pipeline import discover
from lineage_pipeline.discover.folder import SKIPPED
from lineage_pipeline.discover.hosts.reading import HOST_NAMES
from lineage_pipeline.discover.ignores import GIT_FILES
from lineage_pipeline.discover.raw import Recalled
from lineage_pipeline.store.damage import opened, sealed

if TYPE_CHECKING:
    from lineage_pipeline.settings import Settings

MOST = 50_000
"""Files below a folder beyond which reading those that count is as quick as looking at all."""

ENDING = b".sql"
"""What the names of files end in that bear on no file but themselves, as long as they are no templates."""

SECOND = 1_000_000_000
TICK = SECOND // 50
"""Nanoseconds within which two writes may have the same time; two seconds where times are whole seconds."""


ALONE = frozenset({"", "jinja", "sqlcmd", *HOST_NAMES})
"""Templaters that have no say in files that are no templates: what is known of those stays known."""

Seen = dict[bytes, tuple[int, ...]]
"""Files by their paths: the kind, place, size and times of each."""


class Index(msgspec.Struct, frozen=True):
    """A folder as it was looked at: the file of its lineage, what had settled there, and what was found in that."""

    lineage: str
    seen: Seen
    files: dict[str, Recalled]


class Glance:
    """A folder as it lies there before it is read, and the lineage that it had when it last looked so."""

    def __init__(self, folder: Path, settings: "Settings", kept: Path) -> None:
        """Look at all that lies in the folder, but for the warehouse; lineages are `kept` in a folder there."""
        key = "\0".join((str(folder.resolve()), settings.analysis_key()))
        self.folder, self.settings = folder, settings
        self._folder = folder.resolve()
        self._note = kept / f"{hashlib.sha256(os.fsencode(key)).hexdigest()[:40]}.seen"
        self._index = self._note.with_suffix(".index")
        self._seen, self._settled = _look(self._folder, Path(settings.warehouse).resolve())

    def lineage(self) -> Path | None:
        """Give the lineage file of the folder, where it looks as it looked."""
        if not self._seen or not self._note.is_file():
            return None
        digest, _, name = self._note.read_text(encoding="utf-8", errors="replace").partition(" ")
        return self._note.with_name(name) if digest == self._digest and name else None

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256()
        for name, sight in self._seen.items():
            digest.update(b"%b\0%b\n" % (name, str(sight).encode()))
        return digest.hexdigest()

    def before(self) -> tuple[Path | None, dict[str, Recalled]]:
        """Give the lineage file that the folder had when it was last looked at, and what is known of files since."""
        index = _read(self._index) if self._seen else None
        if index is None:
            return None, {}
        changed = {name for name, _ in index.seen.items() ^ self._seen.items()}
        inside = os.fsencode(self._folder) + b"/"
        untouched = all(name.endswith(ENDING) and name.startswith(inside) for name in changed)
        known = index.files if untouched else {}
        same = {name for name, sight in self._seen.items() if stat.S_ISREG(sight[0])} - changed
        files = {path: found for path, found in known.items() if inside + path.encode() in same}
        return self._note.with_name(index.lineage), files

    def note(self, lineage: Path, files: Mapping[str, Recalled]) -> None:
        """Keep which lineage file the folder has as it looked before it was read, and what was found about `files`."""
        if self._settled == self._seen:
            _write(self._note, f"{self._digest} {lineage.name}".encode())
        if self._seen:
            known = files if stands_alone(files) else {}
            plain = {path: found for path, found in known.items() if not found.file.templater}
            _write(self._index, sealed(msgspec.msgpack.encode(Index(lineage.name, self._settled, plain))))


def stands_alone(files: Mapping[str, Recalled]) -> bool:
    """Say whether what is found in files that are no templates is the same whatever else lies there."""
    return all(found.file.templater in ALONE for found in files.values())


def _read(index: Path) -> Index | None:
    """Read an index; None where there is none, or what there is was damaged."""
    try:
        content = opened(index.read_bytes())
        return msgspec.msgpack.decode(content, type=Index) if content is not None else None
    except (OSError, msgspec.MsgspecError):
        return None


def _write(place: Path, content: bytes) -> None:
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(place)


def is_plain(settings: "Settings") -> bool:
    """Say whether all that bears on the files of a folder lies in it, or is part of the key of the analysis."""
    from lineage_pipeline.discover.templating.choosing import AUTO, DBT, NONE, TEMPLATERS

    templating, dbt = settings.templating, settings.dbt
    named = {templating.templater, *(rule.templater for rule in templating.rules)}
    ours = {AUTO, NONE, DBT, None, *TEMPLATERS}
    return not (templating.variables_file or dbt.manifest or dbt.trust) and named <= ours


def _look(folder: Path, skipped: Path) -> tuple[Seen, Seen]:
    """Look at a folder, at the ignore files above it and at who reads them: all of it, and what has settled of it.

    What was written just now may be written again without showing. Nothing is to be seen where there is too much.
    """
    seen: Seen = {}
    settled: Seen = {}
    now = time.time_ns()
    try:
        for place, found in _entries(folder, skipped):
            name = os.fsencode(place)
            times = found.st_mtime_ns, found.st_ctime_ns
            seen[name] = sight = (found.st_mode, found.st_ino, found.st_size, *times)
            youngest = max(times)
            if youngest + (TICK if youngest % SECOND else 2 * SECOND) < now:
                settled[name] = sight
            if len(seen) > MOST:
                return {}, {}
    except OSError:
        return {}, {}
    return seen, settled


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
