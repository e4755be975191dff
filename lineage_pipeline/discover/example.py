"""The example: a throw-away git repository with two commits or a longer history, the same ids on every machine."""

import json
import os
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

import msgspec

from lineage_pipeline.discover.commands import git_environment
from lineage_pipeline.discover.git import resolve
from lineage_pipeline.discover.past import Revision, past_revisions
from lineage_pipeline.vocabulary.errors import LineageError

WHO = "Lineage Example <example@lineage.invalid>"

REVISIONS = {
    "base": Revision("2026-03-02T09:00:00+00:00", WHO, "Warehouses of retail and marketing"),
    "head": Revision("2026-03-09T09:00:00+00:00", WHO, "Changes of the week"),
}
"""The last two commits, by the folder of each example that holds them."""

BESIDE = ("CODEOWNERS",)
"""Files beside the examples that the repository has at its top."""

CONFIG = ("core.autocrlf=false", "core.fileMode=false", "core.safecrlf=false", "commit.gpgSign=false", "gc.auto=0")

SYSTEM_NAMES = {"tsql": "mssql"}
"""The system that a dialect is spoken by, where it has another name."""


class Example(msgspec.Struct, frozen=True):
    """The example repository, its last two commits, and whether it had to be built."""

    path: Path
    base: str
    head: str
    built: bool


def build_example(assets: Path, target: Path, *, history: bool = False) -> Example:
    """Make the repository at `target` from `assets/<name>/{base,head}`; an equal one that stands there is kept.

    With its history, the commits of `assets/history.toml` come before those two.
    """
    names = example_names(assets)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as folder:
        built = Path(folder, target.name)
        _commit_revisions(assets, names, built, history)
        base, head = resolve(built, "HEAD~1"), resolve(built, "HEAD")
        if _stands(target, built, head):
            return Example(target, base, head, built=False)
        shutil.rmtree(target, ignore_errors=True)
        built.rename(target)
    return Example(target, base, head, built=True)


def example_names(assets: Path) -> tuple[str, ...]:
    """Give the example warehouses: every folder with a base and a head."""
    folders = sorted(assets.iterdir()) if assets.is_dir() else []
    names = tuple(folder.name for folder in folders if all((folder / name).is_dir() for name in REVISIONS))
    if not names:
        raise LineageError(f"{assets} holds no example: a folder with base and head is needed")
    return names


def merged_settings(assets: Path, names: tuple[str, ...]) -> str:
    """Write the settings of all examples as one file, each as the system of its own folder."""
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
    _git(
        repository, REVISIONS["base"], "init", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=main"
    )
    trees = {name: {place: _files(assets / place / name) for place in names} for name in REVISIONS}
    whole = {
        name: {f"{place}/{path}": text for place, files in tree.items() for path, text in files.items()}
        for name, tree in trees.items()
    }
    if history:
        for revision, tree in past_revisions(assets / "history.toml", whole["base"]):
            _commit(repository, revision, tree | _beside(assets, names))
    for name, revision in REVISIONS.items():
        _commit(repository, revision, whole[name] | _beside(assets, names))


def _beside(assets: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """Give the files at the top of every revision."""
    found = {name: (assets / name).read_bytes() for name in BESIDE if (assets / name).is_file()}
    return found | {"lineage.toml": merged_settings(assets, names).encode()}


def _commit(repository: Path, revision: Revision, tree: dict[str, bytes]) -> None:
    """Make the working tree what a revision is, and commit it."""
    for path in repository.iterdir():
        if path.is_dir() and path.name != ".git":
            shutil.rmtree(path)
    for name, content in tree.items():
        place = repository / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    # Without this, git takes a file of the same size and time for unchanged.
    _git(repository, revision, "read-tree", "--empty")
    _git(repository, revision, "add", "--all", "--force")
    _git(repository, revision, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", revision.message)


def _stands(target: Path, built: Path, head: str) -> bool:
    """Say whether the repository at `target` is already at the same commit, with nothing changed."""
    if not (target / ".git").is_dir():
        return False
    try:
        return resolve(target, "HEAD") == head and _files(target) == _files(built)
    except LineageError:
        return False


def _files(repository: Path) -> dict[str, bytes]:
    """Read the working tree."""
    found = (path for path in repository.rglob("*") if path.is_file())
    inside = ((path.relative_to(repository), path) for path in found)
    return {name.as_posix(): path.read_bytes() for name, path in inside if name.parts[0] != ".git"}


def _git(repository: Path, revision: Revision, *arguments: str) -> None:
    """Run a writing git command as the author of a revision, at its time, whatever the user's settings are."""
    name, _, address = revision.author.rstrip(">").partition(" <")
    identity = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", name), ("EMAIL", address), ("DATE", revision.date))
    }
    nowhere = (f"core.hooksPath={os.devnull}", f"core.excludesFile={os.devnull}", f"core.attributesFile={os.devnull}")
    options = [part for setting in (*CONFIG, *nowhere) for part in ("-c", setting)]
    done = subprocess.run(
        ["git", *options, *arguments],
        cwd=repository,
        env=git_environment() | identity,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise LineageError(f"git {arguments[0]} failed: {(done.stderr or done.stdout).strip()}")
