"""Builds the example: a throw-away git repository with two commits or a longer history, the same ids everywhere."""

import json
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
from pydantic import BaseModel, ConfigDict, ValidationError

from lineage_pipeline.discover.git.repository import resolve_commit
from lineage_pipeline.files.git_command import build_git_environment
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


EXAMPLE_AUTHOR = "Lineage Example <example@lineage.invalid>"

EXAMPLE_REVISIONS = {
    "base": CommitHeader("2026-03-02T09:00:00+00:00", EXAMPLE_AUTHOR, "Warehouses of retail and marketing"),
    "head": CommitHeader("2026-03-09T09:00:00+00:00", EXAMPLE_AUTHOR, "Changes of the week"),
}
"""The last two commits, by the folder of each example that holds them."""

SHARED_FILES = ("CODEOWNERS",)
"""Files beside the examples that the repository has at its top."""

EXAMPLE_GIT_SETTINGS = (
    "core.autocrlf=false",
    "core.fileMode=false",
    "core.safecrlf=false",
    "commit.gpgSign=false",
    "gc.auto=0",
)

SYSTEM_NAMES = {"tsql": "mssql"}
"""System names of dialects, where they differ from the dialect."""


class ExampleRepository(msgspec.Struct, frozen=True):
    """The example repository, its last two commits, and whether it had to be built."""

    path: Path
    base: str
    head: str
    built: bool


def build_example(assets: Path, target: Path, *, history: bool = False) -> ExampleRepository:
    """Build the repository at `target` from `assets/<name>/{base,head}`; an equal one that exists is kept.

    With `history`, the commits of `assets/history.toml` come before those two.
    """
    names = list_example_names(assets)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as folder:
        built = Path(folder, target.name)
        _commit_revisions(assets, names, built, history)
        base, head = resolve_commit(built, "HEAD~1"), resolve_commit(built, "HEAD")
        if _is_up_to_date(target, built, head):
            return ExampleRepository(target, base, head, built=False)
        shutil.rmtree(target, ignore_errors=True)
        built.rename(target)
    return ExampleRepository(target, base, head, built=True)


def list_example_names(assets: Path) -> tuple[str, ...]:
    """Return the example warehouses: every folder with a base and a head."""
    folders = sorted(assets.iterdir()) if assets.is_dir() else []
    names = tuple(folder.name for folder in folders if all((folder / name).is_dir() for name in EXAMPLE_REVISIONS))
    if not names:
        raise LineageError(f"{assets} holds no example: a folder with base and head is needed")
    return names


def merge_example_settings(assets: Path, names: tuple[str, ...]) -> str:
    """Return the settings of all examples as one file, each as a system of its own folder."""
    blocks = ["# The settings of the example warehouses: each folder is a system of its own.\n"]
    for name in names:
        file = assets / name / "lineage.toml"
        analysis = tomllib.loads(file.read_text(encoding="utf-8")).get("analysis", {}) if file.is_file() else {}
        dialect = str(analysis.get("dialect", name))
        row = {"name": SYSTEM_NAMES.get(dialect, dialect), "paths": [f"{name}/**"], **analysis}
        lines = (f"{key} = {json.dumps(value)}\n" for key, value in row.items() if not isinstance(value, dict))
        blocks.append("[[systems]]\n" + "".join(lines))
    labels = assets / "labels.toml"
    if labels.is_file():
        blocks.append(labels.read_text(encoding="utf-8"))
    return "\n".join(blocks)


def _commit_revisions(assets: Path, names: tuple[str, ...], repository: Path, history: bool) -> None:
    """Commit each revision of all examples, one after the other."""
    repository.mkdir()
    _run_git_as_author(
        repository,
        EXAMPLE_REVISIONS["base"],
        "init",
        "--quiet",
        "--template=",
        "--object-format=sha1",
        "--initial-branch=main",
    )
    trees = {name: {place: _read_worktree(assets / place / name) for place in names} for name in EXAMPLE_REVISIONS}
    whole = {
        name: {f"{place}/{path}": text for place, files in tree.items() for path, text in files.items()}
        for name, tree in trees.items()
    }
    if history:
        for revision, tree in build_past_revisions(assets / "history.toml", whole["base"]):
            _commit_tree(repository, revision, tree | _read_shared_files(assets, names))
    for name, revision in EXAMPLE_REVISIONS.items():
        _commit_tree(repository, revision, whole[name] | _read_shared_files(assets, names))


def _read_shared_files(assets: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """Return the files at the top of every revision."""
    found = {name: (assets / name).read_bytes() for name in SHARED_FILES if (assets / name).is_file()}
    return found | {"lineage.toml": merge_example_settings(assets, names).encode()}


def _commit_tree(repository: Path, revision: CommitHeader, tree: dict[str, bytes]) -> None:
    """Make the working tree equal to a revision, and commit it."""
    for path in repository.iterdir():
        if path.is_dir() and path.name != ".git":
            shutil.rmtree(path)
    for name, content in tree.items():
        place = repository / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    # Without this, git takes a file of the same size and time for unchanged.
    _run_git_as_author(repository, revision, "read-tree", "--empty")
    _run_git_as_author(repository, revision, "add", "--all", "--force")
    _run_git_as_author(
        repository, revision, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", revision.message
    )


def _is_up_to_date(target: Path, built: Path, head: str) -> bool:
    """Return whether the repository at `target` is at the same commit, with nothing changed."""
    if not (target / ".git").is_dir():
        return False
    try:
        return resolve_commit(target, "HEAD") == head and _read_worktree(target) == _read_worktree(built)
    except LineageError:
        return False


def _read_worktree(repository: Path) -> dict[str, bytes]:
    """Read the working tree."""
    found = (path for path in repository.rglob("*") if path.is_file())
    inside = ((path.relative_to(repository), path) for path in found)
    return {name.as_posix(): path.read_bytes() for name, path in inside if name.parts[0] != ".git"}


def _run_git_as_author(repository: Path, revision: CommitHeader, *arguments: str) -> None:
    """Run a writing git command as the author of a revision, at its time, without the user's settings."""
    name, _, address = revision.author.rstrip(">").partition(" <")
    identity = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", name), ("EMAIL", address), ("DATE", revision.date))
    }
    nowhere = (f"core.hooksPath={os.devnull}", f"core.excludesFile={os.devnull}", f"core.attributesFile={os.devnull}")
    options = [part for setting in (*EXAMPLE_GIT_SETTINGS, *nowhere) for part in ("-c", setting)]
    done = subprocess.run(
        ["git", *options, *arguments],
        cwd=repository,
        env=build_git_environment() | identity,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise LineageError(f"git {arguments[0]} failed: {(done.stderr or done.stdout).strip()}")
