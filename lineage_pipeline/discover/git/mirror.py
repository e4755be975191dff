"""Mirrors of remote repositories: bare clones of our own, fetched first and then read like any repository."""

import base64
import fcntl
import hashlib
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO
from urllib.parse import urlsplit

from lineage_pipeline.files.git_command import GIT_OPTIONS, build_git_environment
from lineage_pipeline.model.errors import LineageError

ALLOWED_PROTOCOLS = "https:http:ssh:git:file"
"""Protocols that git may fetch with; none that runs a command named in the address."""

TOKEN_VARIABLE = "LINEAGE_GIT_TOKEN"  # noqa: S105 - the name of the variable, not what it holds
"""Environment variable with the token for https addresses."""

USER_VARIABLES = ("GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH")
"""Environment variables of the user by which git reaches servers: SSH command and certificates."""

MIRRORED_REFS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")

REMOTE_ADDRESS = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+")

MAX_FETCH_SECONDS = 1800
"""Seconds that a fetch may take."""


def is_remote_address(place: str) -> bool:
    """Return whether a place is an address and not a folder."""
    return REMOTE_ADDRESS.fullmatch(place) is not None and not Path(place).exists()


def split_revision(word: str) -> tuple[str, str]:
    """Split REPO@REVISION where a folder or an address ends; the revision may contain `@`, as in `main@{1}`."""
    at = len(word)
    while (at := word.rfind("@", 0, at)) > 0:
        revision = word[at + 1 :]
        if Path(word[:at]).is_dir():
            return word[:at], f"@{revision}" if revision.startswith("{") else revision
    repo, _, revision = word.rpartition("@")
    return repo, f"@{revision}" if revision.startswith("{") and not repo else revision


def name_remote_repository(url: str) -> str:
    """Return a repository name from the end of its address."""
    name = re.split(r"[/:]", url.rstrip("/").removesuffix(".git"))[-1]
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "repository"


def mirror_path(url: str, home: Path) -> Path:
    """Return the folder of the mirror of an address, whether it exists or not."""
    return _mirror_folder(url, home / "mirrors")


def _mirror_folder(url: str, folder: Path) -> Path:
    return folder / hashlib.sha256(url.encode()).hexdigest()[:12] / f"{name_remote_repository(url)}.git"


def fetch_mirror(url: str, folder: Path, environ: Mapping[str, str], patience: float = MAX_FETCH_SECONDS) -> Path:
    """Fetch all branches and tags of an address into its mirror below a folder, and return the mirror."""
    if _has_secret(url):
        raise LineageError(f"{redact_address(url)}: leave secrets out of the address; set {TOKEN_VARIABLE}")
    remote = _RemoteRepository(url, _mirror_folder(url, folder), environ, time.monotonic() + patience)
    remote.mirror.mkdir(parents=True, exist_ok=True)
    with _lock_mirror(remote):
        if not (remote.mirror / "HEAD").is_file():
            remote.run("init", "--quiet", "--bare", "--template=", ".")
        remote.run("fetch", "--quiet", "--prune", "--no-recurse-submodules", "--", url, *MIRRORED_REFS)
        _set_head(remote)
    return remote.mirror


def _has_secret(url: str) -> bool:
    """Return whether an address contains a password, or a user name or query that may be a token."""
    if "://" not in url:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        raise LineageError(f"{redact_address(url)} is no address") from None
    return bool(parts.password or (parts.scheme in ("http", "https") and (parts.username or parts.query)))


class _RemoteRepository(NamedTuple):
    """An address with its mirror and the deadline of the fetch."""

    url: str
    mirror: Path
    environ: Mapping[str, str]
    deadline: float

    def run(self, *arguments: str) -> bytes:
        """Run git in the mirror."""
        environment = build_git_environment() | {
            "GIT_ALLOW_PROTOCOL": ALLOWED_PROTOCOLS,
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        }
        environment |= {name: self.environ[name] for name in USER_VARIABLES if self.environ.get(name)}
        if self.environ.get(TOKEN_VARIABLE) and self.url.startswith("https://"):
            # In the environment and not among the arguments, which everybody on the machine can read.
            secret = base64.b64encode(f"x-access-token:{self.environ[TOKEN_VARIABLE]}".encode()).decode()
            header = {"GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": f"Authorization: Basic {secret}"}
            environment |= {"GIT_CONFIG_COUNT": "1", **header}
        command, left = ["git", *GIT_OPTIONS, *arguments], max(self.deadline - time.monotonic(), 0.1)
        quiet = subprocess.DEVNULL
        try:
            done = subprocess.run(
                command, cwd=self.mirror, env=environment, capture_output=True, stdin=quiet, timeout=left
            )
        except FileNotFoundError:
            raise LineageError("git is not installed, or not on the PATH") from None
        except subprocess.TimeoutExpired:
            raise self.timeout_error() from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
            why = redact_address(said[0].removeprefix("fatal: "))  # git repeats the address
            raise LineageError(f"{redact_address(self.url)} cannot be fetched: {why}")
        return done.stdout

    def timeout_error(self) -> LineageError:
        """Build the error for a fetch that took too long."""
        return LineageError(f"{redact_address(self.url)} could not be fetched in the time that there was")


def _set_head(remote: _RemoteRepository) -> None:
    """Set HEAD of the mirror to the default branch of the remote."""
    said = remote.run("ls-remote", "--symref", "--", remote.url, "HEAD").decode("utf-8", "replace")
    branch = re.match(r"ref: (refs/heads/\S+)\tHEAD", said)
    if branch is not None:
        remote.run("symbolic-ref", "HEAD", branch[1])


def redact_address(text: str) -> str:
    """Return a text with the secrets of addresses in it removed."""
    masked = re.sub(r"(?<=://)[^/\s]*@", "***@", text)
    return re.sub(r"(?<=[?&])([^=&\s'\"]*)=[^&\s'\"]*", r"\1=***", masked) if "://" in masked else masked


@contextmanager
def _lock_mirror(remote: _RemoteRepository) -> Iterator[None]:
    """Let one process fetch at a time."""
    with (remote.mirror.parent / "lock").open("w") as held:
        while not _try_lock(held):
            if time.monotonic() > remote.deadline:
                raise remote.timeout_error()
            time.sleep(0.1)
        yield


def _try_lock(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def local_repository(place: str, home: Path, environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of a place: itself, or the fetched mirror of an address."""
    if not is_remote_address(place):
        return Path(place)
    return fetch_mirror(place, home / "mirrors", os.environ if environ is None else environ)
