"""The files of a repository as templates see them: by path from the top, and nothing outside."""

import os
import posixpath
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from lineage_pipeline.discover.belonging import MARK, top_of
from lineage_pipeline.discover.bounded import DOCUMENT, read_bounded
from lineage_pipeline.discover.decode import decode

SKIPPED = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"})
"""Folders that no template is loaded from."""


class FolderLibrary:
    """The files below a folder on the disk."""

    def __init__(self, folder: Path, start: Path | None = None) -> None:
        """Take the folder, and the one that files are named from; nothing is read before it is asked for."""
        self.folder = folder.resolve()
        self.start = start.resolve() if start is not None else self.folder

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        found: list[str] = []
        in_git = top_of(self.folder) is not None
        for parent, folders, files in os.walk(self.folder):
            if in_git and Path(parent) != self.folder and (MARK in folders or MARK in files):
                folders.clear()  # another repository is not followed
                continue
            folders[:] = sorted(name for name in folders if name not in SKIPPED)
            base = Path(parent).relative_to(self.folder).as_posix()
            found.extend(posixpath.normpath(posixpath.join(base, name)) for name in files)
        return tuple(sorted(found))

    def paths(self) -> Sequence[str]:
        """Give the paths of all files, in order."""
        return self._paths

    def read(self, path: str) -> str | None:
        """Give the text of a file below the folder; links that lead out of it lead nowhere."""
        file = (self.folder / path).resolve()
        if not file.is_relative_to(self.folder) or not file.is_file():
            return None
        try:
            return decode(read_bounded(file, DOCUMENT)).text
        except OSError:
            return None

    def locate(self, path: str) -> str:
        """Give the path below the folder of a file that was named from where one stands."""
        if self.start == self.folder and not path.startswith("/") and ".." not in path:
            return path
        file = (self.start / path).resolve()
        return file.relative_to(self.folder).as_posix() if file.is_relative_to(self.folder) else path


class RevisionLibrary:
    """The files of a revision, read from the object database when they are asked for."""

    def __init__(self, blobs: Mapping[str, str], read: Callable[[str], bytes | None]) -> None:
        """Take the files by path and object id, and what reads an object."""
        self._blobs, self._read = blobs, read

    def paths(self) -> Sequence[str]:
        """Give the paths of all files, in order."""
        return sorted(self._blobs)

    def read(self, path: str) -> str | None:
        """Give the text of a file of the revision."""
        found = self._blobs.get(path)
        content = self._read(found) if found is not None else None
        return decode(content).text if content is not None else None

    def locate(self, path: str) -> str:
        """Give the path as it is."""
        return path
