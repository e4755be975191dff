"""Running git: with nothing of the user's settings, and nothing that a repository's own settings name."""

import io
import os
import select
import subprocess
import tempfile
from pathlib import Path
from typing import IO, BinaryIO

from lineage_pipeline.vocabulary.errors import LineageError

QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
"""Nothing of the user's settings, no questions, no writing, no network, and of a commit what its hash stands for."""

# Somebody else's repository may be read: nothing that its own settings name is run, and they change no answer.
SETTINGS = ("safe.directory=*", f"core.hooksPath={os.devnull}", "core.fsmonitor=false", "i18n.logOutputEncoding=UTF-8")
SAFE = ("--no-pager", *(word for setting in SETTINGS for word in ("-c", setting)))

MOST = 200_000_000
"""Bytes that one answer may have: a list of two million files. A tree of a few lines may stand for any number."""

PATIENCE = 600.0
"""Seconds that git may be silent: where a repository has a pipe in place of a file, it would wait for ever."""


def git(repo: Path, *arguments: str) -> bytes:
    """Run git in a repository and give what it prints."""
    with tempfile.TemporaryFile() as said, started(repo, *arguments, stdin=subprocess.DEVNULL, stderr=said) as process:
        given = answers(process, repo).read(MOST + 1)
        if len(given) > MOST:
            process.kill()
            raise LineageError(f"git {arguments[0]} in {repo} gives more than {MOST // 1_000_000} MB")
        if process.wait():
            said.seek(0)
            raise LineageError(f"git {arguments[0]} failed in {repo}: {_reason(said.read(MOST))}")
    return given


def _reason(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
    return next((line for line in lines if line.startswith("fatal: ")), lines[0]).removeprefix("fatal: ")


def started(repo: Path, *arguments: str, stdin: int, stderr: int | IO[bytes]) -> subprocess.Popen[bytes]:
    """Start git in a repository."""
    try:
        return subprocess.Popen(
            ["git", *SAFE, *arguments],
            cwd=repo, env=git_environment(), stdin=stdin, stdout=subprocess.PIPE, stderr=stderr,
        )  # fmt: skip
    except FileNotFoundError:
        raise LineageError("git is not installed, or not on the PATH") from None


def answers(process: subprocess.Popen[bytes], repo: Path) -> BinaryIO:
    """Give what git prints; one that is silent for too long is ended, and that is said."""
    return io.BufferedReader(_Watched(process, repo), 1 << 16)


class _Watched(io.RawIOBase):
    """The output of a process, read as long as something comes in time."""

    def __init__(self, process: subprocess.Popen[bytes], repo: Path) -> None:
        """Take the process, and the repository to tell of."""
        assert process.stdout is not None
        self.process, self.repo, self.descriptor = process, repo, process.stdout.fileno()
        self.poll = select.poll()
        self.poll.register(self.descriptor, select.POLLIN)

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        """Wait for what comes next."""
        if not self.poll.poll(PATIENCE * 1000):
            self.process.kill()
            raise LineageError(f"git said nothing for {PATIENCE:g} seconds in {self.repo}, and was ended")
        return os.readv(self.descriptor, [into])


def git_environment() -> dict[str, str]:
    """Give our environment without what would lead git to another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | QUIET
