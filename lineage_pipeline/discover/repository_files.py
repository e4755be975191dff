"""The files of a repository as templates see them: by path from the top, and nothing outside."""

import os
import posixpath
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from lineage_pipeline.discover.git.boundary import GIT_FOLDER, find_worktree_top
from lineage_pipeline.files.bounded_files import DOCUMENT, read_bounded_file
from lineage_pipeline.files.encoding import decode_content

UNTEMPLATED_FOLDERS = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"})
"""Folders from which no template is loaded."""


class FolderLibrary:
    """The files below a folder on disk."""

    def __init__(self, folder: Path, start: Path | None = None) -> None:
        """Store the folder, and the folder that relative names start from; files are read on demand."""
        self.folder = folder.resolve()
        self.start = start.resolve() if start is not None else self.folder

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        found: list[str] = []
        in_git = find_worktree_top(self.folder) is not None
        for parent, folders, files in os.walk(self.folder):
            if in_git and Path(parent) != self.folder and (GIT_FOLDER in folders or GIT_FOLDER in files):
                folders.clear()  # another repository is not followed
                continue
            folders[:] = sorted(name for name in folders if name not in UNTEMPLATED_FOLDERS)
            base = Path(parent).relative_to(self.folder).as_posix()
            found.extend(posixpath.normpath(posixpath.join(base, name)) for name in files)
        return tuple(sorted(found))

    def paths(self) -> Sequence[str]:
        """Return the paths of all files, in order."""
        return self._paths

    def read(self, path: str) -> str | None:
        """Return the text of a file below the folder; symbolic links that lead outside are not followed."""
        file = (self.folder / path).resolve()
        if not file.is_relative_to(self.folder) or not file.is_file():
            return None
        try:
            return decode_content(read_bounded_file(file, DOCUMENT)).text
        except OSError:
            return None

    def locate(self, path: str) -> str:
        """Return the path below the folder of a file named relative to the working directory."""
        if self.start == self.folder and not path.startswith("/") and ".." not in path:
            return path
        file = (self.start / path).resolve()
        return file.relative_to(self.folder).as_posix() if file.is_relative_to(self.folder) else path


class RevisionLibrary:
    """The files of a git revision, read from the object database on demand."""

    def __init__(self, blobs: Mapping[str, str], read: Callable[[str], bytes | None]) -> None:
        """Store the files by path and object id, and the function that reads an object."""
        self._blobs, self._read = blobs, read

    def paths(self) -> Sequence[str]:
        """Return the paths of all files, in order."""
        return sorted(self._blobs)

    def read(self, path: str) -> str | None:
        """Return the text of a file of the revision."""
        found = self._blobs.get(path)
        content = self._read(found) if found is not None else None
        return decode_content(content).text if content is not None else None

    def locate(self, path: str) -> str:
        """Return the path unchanged."""
        return path
