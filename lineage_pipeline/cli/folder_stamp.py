"""Folder stamps: a folder that looks as it did last time is not read again.

A stamp is the paths, modes, inodes, sizes and times of all files, as in git's index. A file that was written just
before it was stamped may be written again with the same time, so such a stamp is not saved.
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

from lineage_pipeline import discover, files
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.discover.discovery import RecalledFile
from lineage_pipeline.discover.embedded_sql.extractor import HOST_NAMES
from lineage_pipeline.discover.folder import VERSION_CONTROL_FOLDERS
from lineage_pipeline.discover.ignore_rules import FOLDER_IGNORE_FILES
from lineage_pipeline.files.fingerprints import prepend_digest, verify_digest
from lineage_pipeline.files.sql_endings import find_file_kind

if TYPE_CHECKING:
    from lineage_pipeline.config.load import Settings

READING_PACKAGES = (Path(discover.__file__).parent, Path(files.__file__).parent)
"""Our own packages that affect what is read from a folder; the engine is part of the analysis key."""

MAX_STAMPED_FILES = 50_000
"""Files in a folder above which reading the relevant ones is as quick as stamping all."""

SECOND_NS = 1_000_000_000
WRITE_TICK_NS = SECOND_NS // 50
"""Nanoseconds within which two writes may get the same time; two seconds where times are whole seconds."""


INDEPENDENT_TEMPLATERS = frozenset({"", "jinja", "sqlcmd", *HOST_NAMES})
"""Templaters that do not affect files that are not templates."""

FileStamps = dict[bytes, tuple[int, ...]]
"""Files by path, each with its mode, inode, size and times."""


class StampIndex(msgspec.Struct, frozen=True):
    """The last stamp of a folder: its lineage file, the settled files, and what was discovered in them."""

    lineage: str
    seen: FileStamps
    files: dict[str, RecalledFile]


class FolderStamp:
    """A stamp of a folder before it is read, and the lineage that was saved for the same stamp."""

    def __init__(self, folder: Path, settings: "Settings", kept: Path) -> None:
        """Stamp all files in the folder except the warehouse; `kept` is the cache folder of lineages."""
        key = "\0".join((str(folder.resolve()), compute_analysis_key(settings)))
        self.folder, self.settings = folder, settings
        self._folder = folder.resolve()
        self._note = kept / f"{hashlib.sha256(os.fsencode(key)).hexdigest()[:40]}.seen"
        self._index = self._note.with_suffix(".index")
        self._seen, self._settled = _stamp_files(self._folder, Path(settings.warehouse).resolve())

    def lineage(self) -> Path | None:
        """Return the lineage file of the folder if its stamp has not changed."""
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

    def before(self) -> tuple[Path | None, dict[str, RecalledFile]]:
        """Return the lineage file of the last stamp, and what is still valid of the discovered files."""
        index = _read_index(self._index) if self._seen else None
        if index is None:
            return None, {}
        changed = {name for name, _ in index.seen.items() ^ self._seen.items()}
        inside = os.fsencode(self._folder) + b"/"
        untouched = all(_is_plain_sql(name) and name.startswith(inside) for name in changed)
        known = index.files if untouched else {}
        same = {name for name, sight in self._seen.items() if stat.S_ISREG(sight[0])} - changed
        files = {path: found for path, found in known.items() if inside + path.encode() in same}
        return self._note.with_name(index.lineage), files

    def note(self, lineage: Path, files: Mapping[str, RecalledFile]) -> None:
        """Save the stamp with the lineage file, and what was discovered in `files`."""
        if self._settled == self._seen:
            _write_atomically(self._note, f"{self._digest} {lineage.name}".encode())
        if self._seen:
            known = files if are_files_independent(files) else {}
            plain = {path: found for path, found in known.items() if not found.file.templater}
            _write_atomically(
                self._index, prepend_digest(msgspec.msgpack.encode(StampIndex(lineage.name, self._settled, plain)))
            )


def are_files_independent(files: Mapping[str, RecalledFile]) -> bool:
    """Tell whether the files that are not templates depend on nothing else in the folder."""
    return all(found.file.templater in INDEPENDENT_TEMPLATERS for found in files.values())


def _is_plain_sql(name: bytes) -> bool:
    """Tell whether a file affects no other file, by its ending; one that turns out to be a template may."""
    kind = find_file_kind(os.fsdecode(name))
    return kind is not None and not kind.templater


def _read_index(index: Path) -> StampIndex | None:
    """Read an index; None where there is none or it is damaged."""
    try:
        content = verify_digest(index.read_bytes())
        return msgspec.msgpack.decode(content, type=StampIndex) if content is not None else None
    except (OSError, msgspec.MsgspecError):
        return None


def _write_atomically(place: Path, content: bytes) -> None:
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(place)


def is_self_contained(settings: "Settings") -> bool:
    """Tell whether all that affects the files of a folder is in it or in the analysis key."""
    from lineage_pipeline.discover.templating.templaters import AUTO, DBT, NONE, TEMPLATERS

    templating, dbt = settings.templating, settings.dbt
    named = {templating.templater, *(rule.templater for rule in templating.rules)}
    ours = {AUTO, NONE, DBT, None, *TEMPLATERS}
    return not (templating.variables_file or dbt.manifest or dbt.trust) and named <= ours


def _stamp_files(folder: Path, skipped: Path) -> tuple[FileStamps, FileStamps]:
    """Stamp a folder, the ignore files above it and our own reading packages: all files, and those settled.

    A file that was written just now is not settled. Both are empty where there are too many files.
    """
    seen: FileStamps = {}
    settled: FileStamps = {}
    now = time.time_ns()
    try:
        for place, found in _iterate_relevant_files(folder, skipped):
            name = os.fsencode(place)
            times = found.st_mtime_ns, found.st_ctime_ns
            seen[name] = sight = (found.st_mode, found.st_ino, found.st_size, *times)
            youngest = max(times)
            if youngest + (WRITE_TICK_NS if youngest % SECOND_NS else 2 * SECOND_NS) < now:
                settled[name] = sight
            if len(seen) > MAX_STAMPED_FILES:
                return {}, {}
    except OSError:
        return {}, {}
    return seen, settled


def _iterate_relevant_files(folder: Path, skipped: Path) -> Iterator[tuple[str, os.stat_result]]:
    top = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
    above = [place for place in folder.parents if place.is_relative_to(top)]
    for file in (*(place / name for place in above for name in FOLDER_IGNORE_FILES), top / ".git" / "info" / "exclude"):
        if file.is_file():
            yield str(file), file.stat()
    for package in READING_PACKAGES:
        yield from _walk_files(package, skipped)
    yield from _walk_files(folder, skipped)


def _walk_files(folder: Path, skipped: Path) -> Iterator[tuple[str, os.stat_result]]:
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if entry.name in VERSION_CONTROL_FOLDERS or entry.path == str(skipped):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry.path, entry.stat(follow_symlinks=False)
