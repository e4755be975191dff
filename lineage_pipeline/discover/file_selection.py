"""File selection: which files of a folder or a revision are read, and which look like SQL and are not.

A folder and a revision ask the same questions here. They differ only in how they get at the first bytes of a file.
"""

import posixpath
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Protocol, Self

import msgspec

from lineage_pipeline.discover.sql_sniffing import decode_head, find_shebang_dialect, looks_like_sql, unpack_head
from lineage_pipeline.engine.graph.script_scopes import natural_path_key
from lineage_pipeline.files.sql_endings import (
    VENDORED_FOLDERS,
    FileChoice,
    find_file_kind,
    is_archive_of_sql,
    name_ending,
)

MAX_SNIFFED_IN_FOLDER, MAX_SNIFFED = 100, 2_000
"""How many files of unknown endings are opened in one folder, and in all."""

MAX_FOLDERS_REPORTED = 10
"""How many findings there are at most; folders beyond that are reported together, with those around them."""

BUILD_FILES = frozenset({"dbt_project.yml", "pom.xml", "build.sbt", "Cargo.toml"})
"""Files beside which the folder `target` is output of a tool, made from files that are read."""

VIRTUAL_ENVIRONMENT_FILE = "pyvenv.cfg"


class SelectionRules(Protocol):
    """The settings that say which files are read."""

    def choose(self, path: str) -> FileChoice:
        """Return what becomes of the file at this path."""


class UnreadReason(StrEnum):
    """Why a file that looks like SQL is not read."""

    UNKNOWN_ENDING = "unknown ending"
    EXCLUDED = "excluded by default"
    PACKED = "compressed, and not with gzip"
    ABSENT = "may be SQL, content not in this clone"
    TOO_LARGE = "over the limit"


class UnreadFile(msgspec.Struct, frozen=True):
    """A file that looks like SQL and is not read."""

    path: str
    reason: UnreadReason

    @property
    def ending(self) -> str:
        """Return the ending of its name."""
        return name_ending(self.path) or "without an ending"


class UnreadFolder(msgspec.Struct, frozen=True):
    """The unread files at or below a folder, and how many files of unknown endings were opened there of how many."""

    path: str
    files: tuple[UnreadFile, ...]
    opened: int
    unknown: int

    def move_below(self, folder: str) -> Self:
        """Return the same with all paths below another folder."""
        files = [msgspec.structs.replace(file, path=posixpath.join(folder, file.path)) for file in self.files]
        return msgspec.structs.replace(
            self, path=posixpath.normpath(posixpath.join(folder, self.path)), files=tuple(files)
        )


class FileSelection:
    """Decides for each file of a folder or a revision whether it is read, and collects what is not."""

    def __init__(self, rules: SelectionRules) -> None:
        """Start with the settings; no file is known yet."""
        self._rules = rules
        self._sniffed: set[str] = set()
        self._unread: list[UnreadFile] = []
        self._unknown: Counter[str] = Counter()
        self._opened: Counter[str] = Counter()

    def select(self, paths: Iterable[str]) -> list[str]:
        """Return the paths to open, in natural order; `needs_look` says of which only the head is read at first."""
        choices: dict[str, FileChoice] = {}
        skipped: set[str] = set()
        for path in paths:
            if (choice := self._rules.choose(path)) is not FileChoice.LEFT_OUT:
                choices[path] = choice
            if (name := posixpath.basename(path)) == VIRTUAL_ENVIRONMENT_FILE:
                skipped.add(posixpath.dirname(path))
            elif name in BUILD_FILES:
                skipped.add(posixpath.join(posixpath.dirname(path), "target"))
        ordered = sorted(choices, key=natural_path_key)
        return [path for path in ordered if self._is_opened(path, choices[path], skipped)]

    def _is_opened(self, path: str, choice: FileChoice, skipped: set[str]) -> bool:
        if choice is FileChoice.READ:
            return True
        if _is_below(path, skipped):
            return False
        if choice is FileChoice.EXCLUDED_BY_DEFAULT:
            kind = find_file_kind(path)
            if kind is not None and not kind.sniffed:
                self._unread.append(UnreadFile(path, UnreadReason.EXCLUDED))
            return False
        if is_archive_of_sql(path):
            self._unread.append(UnreadFile(path, UnreadReason.PACKED))
            return False
        if choice is FileChoice.OTHER and not self._has_budget(posixpath.dirname(path)):
            return False
        self._sniffed.add(path)
        return True

    def _has_budget(self, folder: str) -> bool:
        """Count a file of an unknown ending, and return whether it may still be opened."""
        self._unknown[folder] += 1
        if self._opened[folder] >= MAX_SNIFFED_IN_FOLDER or self._opened.total() >= MAX_SNIFFED:
            return False
        self._opened[folder] += 1
        return True

    def needs_look(self, path: str) -> bool:
        """Return whether the content of a selected file decides if it is read."""
        return path in self._sniffed

    def takes(self, path: str, head: bytes) -> bool:
        """Return whether a file is read, by its first bytes; a file that looks like SQL and is not is remembered."""
        known = find_file_kind(path) is not None
        content = unpack_head(path, head)
        if known:
            return looks_like_sql(content, expected=True)
        if not name_ending(path) and find_shebang_dialect(decode_head(content)) is not None:
            return True
        if looks_like_sql(content):
            self._unread.append(UnreadFile(path, UnreadReason.UNKNOWN_ENDING))
        return False

    def expects(self, path: str) -> bool:
        """Return whether a file is missed if a clone has not got its content; a dump, which may be binary, is not."""
        kind = find_file_kind(path)
        if kind is not None and kind.rows:
            self._unread.append(UnreadFile(path, UnreadReason.ABSENT))
        return kind is not None and not kind.rows

    def unread(self) -> tuple[UnreadFile, ...]:
        """Return the files that look like SQL and are not read, in natural order."""
        return tuple(sorted(self._unread, key=lambda file: natural_path_key(file.path)))

    def unread_folders(self) -> list[UnreadFolder]:
        """Return the unread files by folder; where there are too many folders, by the folders above them."""
        files = self.unread()
        deepest = max((file.path.count("/") for file in files), default=0)
        groups: dict[str, list[UnreadFile]] = {}
        for depth in range(deepest, -1, -1):
            groups = {}
            for file in files:
                groups.setdefault(_folder_to_depth(file.path, depth), []).append(file)
            if len(groups) <= MAX_FOLDERS_REPORTED:
                break
        return [self._describe_folder(folder, found) for folder, found in groups.items()]

    def _describe_folder(self, folder: str, files: Sequence[UnreadFile]) -> UnreadFolder:
        own = {posixpath.dirname(file.path) for file in files}
        opened, unknown = (sum(counts[inner] for inner in own) for counts in (self._opened, self._unknown))
        return UnreadFolder(folder or ".", tuple(files), opened, unknown)


def _is_below(path: str, skipped: set[str]) -> bool:
    """Return whether a file is in a vendored folder, or below one of some folders."""
    parts = path.split("/")[:-1]
    if not VENDORED_FOLDERS.isdisjoint(parts):
        return True
    return bool(skipped) and any("/".join(parts[:end]) in skipped for end in range(len(parts) + 1))


def _folder_to_depth(path: str, depth: int) -> str:
    """Return the folder of a file, cut to so many parts."""
    return "/".join(path.split("/")[:-1][:depth])


def describe_unread(number: int) -> str:
    """Return the subject of a sentence about so many unread files."""
    return "1 file looks like SQL and is" if number == 1 else f"{number} files look like SQL and are"


def count_by_ending(files: Iterable[UnreadFile]) -> str:
    """Format unread files as counts by reason and ending: `2 .txt (unknown ending), 1 .sql (excluded by default)`."""
    counts = Counter((file.reason, file.ending) for file in files)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number} {ending} ({reason.value})" for (reason, ending), number in ranked)
