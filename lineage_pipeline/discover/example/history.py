"""The commits before the example's base: their trees are computed backwards from the base and each commit's edits."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from lineage_pipeline.files.path_patterns import matches_path
from lineage_pipeline.model.errors import LineageError

FileTree = dict[str, bytes]


class CommitHeader(NamedTuple):
    """Date, author and message of a commit."""

    date: str
    author: str
    message: str


class HistoryEdit(BaseModel):
    """A text that a commit put into a file, and the one that it replaced."""

    model_config = ConfigDict(extra="forbid")
    path: str
    before: str
    after: str


class RemovedFile(BaseModel):
    """A file that a commit removed, and its text."""

    model_config = ConfigDict(extra="forbid")
    path: str
    text: str


class HistoryCommit(BaseModel):
    """A commit: the files of the base that it adds, its edits and the files it removes."""

    model_config = ConfigDict(extra="forbid")
    date: str
    author: str
    message: str
    files: tuple[str, ...]
    edits: tuple[HistoryEdit, ...] = ()
    drops: tuple[RemovedFile, ...] = ()


class ExampleHistory(BaseModel):
    """The commits, oldest first."""

    model_config = ConfigDict(extra="forbid")
    commits: tuple[HistoryCommit, ...]


def build_past_revisions(file: Path, base: Mapping[str, bytes]) -> Iterator[tuple[CommitHeader, FileTree]]:
    """Return each commit before the base with its tree."""
    try:
        history = ExampleHistory.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValidationError, tomllib.TOMLDecodeError) as error:
        raise LineageError(f"{file} is no history: {error}") from None
    for place, commit in enumerate(history.commits):
        known = tuple(pattern for earlier in history.commits[: place + 1] for pattern in earlier.files)
        tree = {path: text for path, text in base.items() if matches_path(path, known)}
        for later in reversed(history.commits[place + 1 :]):
            tree |= {
                drop.path: drop.text.lstrip("\n").encode() for drop in later.drops if matches_path(drop.path, known)
            }
            for edit in later.edits:
                _undo_edit(edit, tree)
        yield CommitHeader(commit.date, commit.author, commit.message), tree


def _undo_edit(edit: HistoryEdit, tree: FileTree) -> None:
    """Put back the text that an edit replaced."""
    if edit.path not in tree:
        return
    if tree[edit.path].count(edit.after.encode()) != 1:
        raise LineageError(f"{edit.path} must have {edit.after!r} once")
    tree[edit.path] = tree[edit.path].replace(edit.after.encode(), edit.before.encode())
