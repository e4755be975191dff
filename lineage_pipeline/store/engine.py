"""Which engine wrote a row: part of every key under which results are kept."""

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path

import lineage_pipeline

ROOMS = ("dialects", "engine", "vocabulary")

Looks = Mapping[str, tuple[int, int]]
"""Files by their paths: the time and size of each."""


@cache
def engine_version() -> str:
    """Hash the source of the engine and the version of its parser: whatever changes rows changes this."""
    root = Path(lineage_pipeline.__file__).parent
    return version_of(root, version("sqlglot"), Path(cache_from_source(__file__)).with_suffix(".version"))


def version_of(root: Path, parser: str, note: Path) -> str:
    """Give the version of the engine below a folder, which is noted beside Python's own notes and trusted as those are.

    Python takes compiled code for current by the time and size of its source; reading hundreds of files tells no more.
    """
    rooms = [root / room for room in ROOMS if (root / room).is_dir()]  # in an archive, none is
    looks = {path: seen for room in rooms for path, seen in _looks(room)}
    shown = hashlib.sha256(repr((parser, sorted(looks.items()))).encode()).hexdigest()
    with suppress(OSError, ValueError):
        known, found = note.read_text(encoding="ascii").split()
        if known == shown:
            return found
    made = _made(root, parser, looks)
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            own = note.with_name(f"{note.name}.{os.getpid()}")
            own.write_text(f"{shown} {made}", encoding="ascii")
            own.replace(note)
    return made


def _looks(folder: Path | str) -> Iterator[tuple[str, tuple[int, int]]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _looks(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                yield entry.path, (status.st_mtime_ns, status.st_size)


def _made(root: Path, parser: str, looks: Looks) -> str:
    digest = hashlib.sha256(parser.encode())
    for file in sorted(map(Path, looks)):
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
