"""Fingerprints: the version of the engine, part of every cache key, and hashes that are stable across processes."""

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path

import msgspec

import lineage_pipeline


def hash_parts(parts: object) -> str:
    """Return a stable hash of some parts."""
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()


ENGINE_PACKAGES = ("dialects", "engine", "model")

DIGEST_SIZE = hashlib.sha256().digest_size

FileStamps = Mapping[str, tuple[int, int]]
"""Modification time and size of files by path."""


@cache
def engine_version() -> str:
    """Hash the source of the engine and the version of its parser: whatever changes rows changes this."""
    root = Path(lineage_pipeline.__file__).parent
    return compute_version(root, version("sqlglot"), Path(cache_from_source(__file__)).with_suffix(".version"))


@cache
def program_version() -> str:
    """Hash all our sources: whatever changes a report changes this, wherever and whenever they were installed."""
    root = Path(lineage_pipeline.__file__).parent
    return _hash_sources(root, version("sqlglot"), dict(_stamp_files(root)))


def compute_version(root: Path, parser: str, note: Path) -> str:
    """Return the version of the engine below a folder, cached in a note beside Python's bytecode.

    Like Python's own bytecode, the note is valid while time and size of every source file are unchanged.
    """
    rooms = [root / room for room in ENGINE_PACKAGES if (root / room).is_dir()]  # in an archive, none is
    looks = {path: seen for room in rooms for path, seen in _stamp_files(room)}
    shown = hashlib.sha256(repr((parser, sorted(looks.items()))).encode()).hexdigest()
    with suppress(OSError, ValueError):
        known, found = note.read_text(encoding="ascii").split()
        if known == shown:
            return found
    made = _hash_sources(root, parser, looks)
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            own = note.with_name(f"{note.name}.{os.getpid()}")
            own.write_text(f"{shown} {made}", encoding="ascii")
            own.replace(note)
    return made


def _stamp_files(folder: Path | str) -> Iterator[tuple[str, tuple[int, int]]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _stamp_files(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                yield entry.path, (status.st_mtime_ns, status.st_size)


def _hash_sources(root: Path, parser: str, looks: FileStamps) -> str:
    digest = hashlib.sha256(parser.encode())
    for file in sorted(map(Path, looks)):
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def prepend_digest(content: bytes) -> bytes:
    """Return a content with its digest before it."""
    return hashlib.sha256(content).digest() + content


def verify_digest(stored: bytes | None) -> bytes | None:
    """Return the content behind its digest; None where there is none, or it does not match."""
    if stored is None or len(stored) < DIGEST_SIZE:
        return None
    content = stored[DIGEST_SIZE:]
    return content if hashlib.sha256(content).digest() == stored[:DIGEST_SIZE] else None
