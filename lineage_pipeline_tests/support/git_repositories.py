"""Git repositories for tests: files written to a folder, and git run with a fixed identity and date."""

import os
import subprocess
from pathlib import Path


def write_files(folder: Path, **files: str | bytes) -> None:
    """Write files; `x__b_sql` is x/b.sql."""
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_sql", ".sql")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def run_git(repo: Path, *arguments: str, **variables: str) -> str:
    """Run git with a fixed identity, date and configuration, and return its output."""
    identity = {f"GIT_{role}_{field}": "x" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
    dates = {"GIT_AUTHOR_DATE": "2026-01-02T03:04:05+02:00", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05+02:00"}
    environ = {"PATH": os.environ["PATH"], "HOME": str(repo), "GIT_CONFIG_NOSYSTEM": "1"} | identity | dates | variables
    return subprocess.run(["git", *arguments], cwd=repo, env=environ, check=True, capture_output=True, text=True).stdout


def commit_folder(folder: Path) -> Path:
    """Make a repository of a folder, with all its files in one commit."""
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "all")
    return folder
