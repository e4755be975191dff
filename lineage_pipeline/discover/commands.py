"""Running git: with nothing of the user's settings, and nothing that a repository's own settings name."""

import os
import subprocess
from pathlib import Path

from lineage_pipeline.vocabulary.errors import LineageError

QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
"""Nothing of the user's settings, no questions, no writing, no network, and of a commit what its hash stands for."""

# Somebody else's repository may be read: nothing that its own settings name is run.
SAFE = ("--no-pager", "-c", "safe.directory=*", "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")


def git(repo: Path, *arguments: str) -> bytes:
    """Run git in a repository and give what it prints."""
    try:
        done = subprocess.run(
            ["git", *SAFE, *arguments], cwd=repo, env=git_environment(), capture_output=True, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise LineageError("git is not installed, or not on the PATH") from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        said = next((line for line in lines if line.startswith("fatal: ")), lines[0])
        raise LineageError(f"git {arguments[0]} failed in {repo}: {said.removeprefix('fatal: ')}")
    return done.stdout


def git_environment() -> dict[str, str]:
    """Give our environment without what would lead git to another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | QUIET
