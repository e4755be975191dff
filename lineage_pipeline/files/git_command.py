"""Runs git without the user's settings, and without anything that the settings of a repository could start."""

import io
import os
import select
import subprocess
import tempfile
from pathlib import Path
from typing import IO, BinaryIO

from lineage_pipeline.model.errors import LineageError

GIT_ENVIRONMENT = {
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
"""Environment of git: no user settings, no prompts, no writing, no network, no replaced objects."""

# Somebody else's repository may be read: nothing that its own settings name is run, and they change no answer.
GIT_SETTINGS = (
    "safe.directory=*",
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "i18n.logOutputEncoding=UTF-8",
)
GIT_OPTIONS = ("--no-pager", *(word for setting in GIT_SETTINGS for word in ("-c", setting)))

MAX_OUTPUT_BYTES = 200_000_000
"""Most bytes of one answer: a list of two million files. A small tree may expand to any number of entries."""

MAX_SILENCE_SECONDS = 600.0
"""Seconds without output after which git is stopped: a repository may hold a pipe in place of a file."""


def run_git(repo: Path, *arguments: str) -> bytes:
    """Run git in a repository and return what it prints."""
    with (
        tempfile.TemporaryFile() as said,
        start_git(repo, *arguments, stdin=subprocess.DEVNULL, stderr=said) as process,
    ):
        given = open_git_output(process, repo).read(MAX_OUTPUT_BYTES + 1)
        if len(given) > MAX_OUTPUT_BYTES:
            process.kill()
            raise LineageError(f"git {arguments[0]} in {repo} gives more than {MAX_OUTPUT_BYTES // 1_000_000} MB")
        if process.wait():
            said.seek(0)
            raise LineageError(f"git {arguments[0]} failed in {repo}: {_extract_reason(said.read(MAX_OUTPUT_BYTES))}")
    return given


def _extract_reason(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
    return next((line for line in lines if line.startswith("fatal: ")), lines[0]).removeprefix("fatal: ")


def start_git(repo: Path, *arguments: str, stdin: int, stderr: int | IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a git process in a repository."""
    try:
        return subprocess.Popen(
            ["git", *GIT_OPTIONS, *arguments],
            cwd=repo, env=build_git_environment(), stdin=stdin, stdout=subprocess.PIPE, stderr=stderr,
        )  # fmt: skip
    except FileNotFoundError:
        raise LineageError("git is not installed, or not on the PATH") from None


def open_git_output(process: subprocess.Popen[bytes], repo: Path) -> BinaryIO:
    """Return the output stream of a git process, which is stopped with an error after too long a silence."""
    return io.BufferedReader(_TimedOutput(process, repo), 1 << 16)


class _TimedOutput(io.RawIOBase):
    """The output of a process, read with a timeout."""

    def __init__(self, process: subprocess.Popen[bytes], repo: Path) -> None:
        """Store the process, and the repository to name in errors."""
        assert process.stdout is not None
        self.process, self.repo, self.descriptor = process, repo, process.stdout.fileno()
        self.poll = select.poll()
        self.poll.register(self.descriptor, select.POLLIN)

    def readable(self) -> bool:
        """Return that the stream is readable."""
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        """Read the next bytes, or stop the process after the timeout."""
        if not self.poll.poll(MAX_SILENCE_SECONDS * 1000):
            self.process.kill()
            raise LineageError(f"git said nothing for {MAX_SILENCE_SECONDS:g} seconds in {self.repo}, and was ended")
        return os.readv(self.descriptor, [into])


def build_git_environment() -> dict[str, str]:
    """Return our environment without variables that point git at another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | GIT_ENVIRONMENT
