"""A folder as it lies on the disk, uncommitted changes included."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from lineage_pipeline.discover.decode import decode
from lineage_pipeline.discover.gather import Discovery, RawFile, Rules, gather
from lineage_pipeline.discover.owners import PLACES, Owners, parse_owners
from lineage_pipeline.discover.waivers import FILE_NAME
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import Snapshot

SKIPPED = frozenset({".git", ".hg", ".svn"})
"""Folders that belong to version control, never to a repository's content."""


def discover_folder(folder: Path, rules: Rules, *, name: str = "") -> Discovery:
    """Read every selected file below a folder; its snapshot is named after the content and has no times."""
    if not folder.is_dir():
        raise LineageError(f"{folder} is not a folder")
    snapshot = Snapshot(
        repo=name or repository_name(folder),
        refs=(),
        commit="",
        parents=(),
        base=None,
        base_rule="none",
        committed_at=None,
        author=None,
        files=0,
        analysis_key="",
    )
    found = gather(snapshot, read_folder(folder, rules), rules, owners=_owners(folder))
    return msgspec.structs.replace(found, waivers=_text(folder / FILE_NAME))


def _owners(folder: Path) -> Owners | None:
    """Read who owns the files, where somebody says so."""
    found = next((folder / place for place in PLACES if (folder / place).is_file()), None)
    return parse_owners(_text(found)) if found is not None else None


def _text(path: Path) -> str:
    return decode(_read_file(path, "").content).text if path.is_file() else ""


def read_folder(folder: Path, rules: Rules) -> Iterator[RawFile]:
    """Give the selected files below a folder, one by one."""
    inside = folder.resolve()
    for path in _walk(folder):
        relative = os.fsencode(path.relative_to(folder).as_posix()).decode("utf-8", "backslashreplace")
        if rules.selects(relative) and path.resolve().is_relative_to(inside) and path.is_file():
            yield _read_file(path, relative)


def repository_name(folder: Path) -> str:
    """Name a repository after its folder, with nothing in it that a key or a path could not hold."""
    return re.sub(r"[^\w.-]+", "-", folder.resolve().name.removesuffix(".git")).strip("-.") or "repository"


def _walk(folder: Path) -> Iterator[Path]:
    """Give every file; linked folders are not entered, so that no loop and no file outside is met."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        yield from (Path(parent, name) for name in sorted(files))


def _read_file(path: Path, relative: str) -> RawFile:
    try:
        return RawFile(relative, path.read_bytes())
    except OSError as error:
        return RawFile(relative, b"", f"it cannot be read: {error.strerror}")
