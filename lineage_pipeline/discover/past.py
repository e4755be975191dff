"""The commits before the example's base: what was there then, worked out from the base and what each commit did."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from lineage_pipeline.discover.globs import matches
from lineage_pipeline.vocabulary.errors import LineageError

Tree = dict[str, bytes]


class Revision(NamedTuple):
    """When, by whom and why a commit was made."""

    date: str
    author: str
    message: str


class Edit(BaseModel):
    """A text that a commit put into a file, and the one that it took out."""

    model_config = ConfigDict(extra="forbid")
    path: str
    before: str
    after: str


class Drop(BaseModel):
    """A file that a commit removed, and what stood in it."""

    model_config = ConfigDict(extra="forbid")
    path: str
    text: str


class Commit(BaseModel):
    """A commit: the files of the base that it adds, its edits and what it drops."""

    model_config = ConfigDict(extra="forbid")
    date: str
    author: str
    message: str
    files: tuple[str, ...]
    edits: tuple[Edit, ...] = ()
    drops: tuple[Drop, ...] = ()


class History(BaseModel):
    """The commits, the oldest first."""

    model_config = ConfigDict(extra="forbid")
    commits: tuple[Commit, ...]


def past_revisions(file: Path, base: Mapping[str, bytes]) -> Iterator[tuple[Revision, Tree]]:
    """Give each commit before the base with its tree."""
    try:
        history = History.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValidationError, tomllib.TOMLDecodeError) as error:
        raise LineageError(f"{file} is no history: {error}") from None
    for place, commit in enumerate(history.commits):
        known = tuple(pattern for earlier in history.commits[: place + 1] for pattern in earlier.files)
        tree = {path: text for path, text in base.items() if matches(path, known)}
        for later in reversed(history.commits[place + 1 :]):
            tree |= {drop.path: drop.text.lstrip("\n").encode() for drop in later.drops if matches(drop.path, known)}
            for edit in later.edits:
                _undo(edit, tree)
        yield Revision(commit.date, commit.author, commit.message), tree


def _undo(edit: Edit, tree: Tree) -> None:
    """Put back what an edit took out."""
    if edit.path not in tree:
        return
    if tree[edit.path].count(edit.after.encode()) != 1:
        raise LineageError(f"{edit.path} must have {edit.after!r} once")
    tree[edit.path] = tree[edit.path].replace(edit.after.encode(), edit.before.encode())
