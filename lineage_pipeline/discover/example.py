"""The example: a throw-away git repository with two commits, the same ids on every machine."""

import json
import os
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

import msgspec

from lineage_pipeline.discover.git import git_environment, resolve
from lineage_pipeline.vocabulary.errors import LineageError

REVISIONS = (
    ("base", "2026-03-02T09:00:00+00:00", "Warehouses of retail and marketing"),
    ("head", "2026-03-09T09:00:00+00:00", "Changes of the week"),
)
"""Folder below each example, date and message of each commit, in order."""

CONFIG = ("core.autocrlf=false", "core.fileMode=false", "core.safecrlf=false", "commit.gpgSign=false", "gc.auto=0")

WHO = "Lineage Example"
ADDRESS = "example@lineage.invalid"

SYSTEM_NAMES = {"tsql": "mssql"}
"""The system that a dialect is spoken by, where it has another name."""


class Example(msgspec.Struct, frozen=True):
    """The example repository, its two commits, and whether it had to be built."""

    path: Path
    base: str
    head: str
    built: bool


def build_example(assets: Path, target: Path) -> Example:
    """Make the repository at `target` from `assets/<name>/{base,head}`; an equal one that stands there is kept."""
    names = example_names(assets)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as folder:
        built = Path(folder, target.name)
        _commit_revisions(assets, names, built)
        base, head = resolve(built, "HEAD~1"), resolve(built, "HEAD")
        if _stands(target, built, head):
            return Example(target, base, head, built=False)
        shutil.rmtree(target, ignore_errors=True)
        built.rename(target)
    return Example(target, base, head, built=True)


def example_names(assets: Path) -> tuple[str, ...]:
    """Give the example warehouses: every folder with a base and a head."""
    folders = sorted(assets.iterdir()) if assets.is_dir() else []
    names = tuple(folder.name for folder in folders if all((folder / name).is_dir() for name, _, _ in REVISIONS))
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
    return "\n".join(blocks)


def _commit_revisions(assets: Path, names: tuple[str, ...], repository: Path) -> None:
    """Commit each revision of all examples, one after the other."""
    repository.mkdir()
    _git(repository, "", "init", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=main")
    for revision, date, message in REVISIONS:
        for name in names:
            shutil.rmtree(repository / name, ignore_errors=True)
            shutil.copytree(assets / name / revision, repository / name)
        (repository / "lineage.toml").write_text(merged_settings(assets, names), encoding="utf-8", newline="\n")
        # Without this, git takes a file of the same size and time for unchanged, and the times come with the copy.
        _git(repository, date, "read-tree", "--empty")
        _git(repository, date, "add", "--all", "--force")
        _git(repository, date, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", message)


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
    return {str(name): path.read_bytes() for name, path in inside if name.parts[0] != ".git"}


def _git(repository: Path, date: str, *arguments: str) -> None:
    """Run a writing git command as nobody in particular, at a fixed time, whatever the user's settings are."""
    identity = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", WHO), ("EMAIL", ADDRESS), ("DATE", date))
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
