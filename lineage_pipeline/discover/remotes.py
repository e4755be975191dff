"""Repositories that are elsewhere: fetched into a mirror of our own, bare, which is then read like any other."""

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

from lineage_pipeline.discover.commands import SAFE, git_environment
from lineage_pipeline.vocabulary.errors import LineageError

PROTOCOLS = "https:http:ssh:git:file"
"""What is fetched with; nothing that runs a command of the address."""

TOKEN = "LINEAGE_GIT_TOKEN"  # noqa: S105 - the name of the variable, not what it holds
"""The variable that holds the token for addresses with https."""

OWN = ("GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH")
"""Variables of the user, not of a repository, by which servers are reached: keys, and who vouches for them."""

REFS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")

ADDRESS = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+")

PATIENCE = 1800
"""How many seconds a fetch may take."""


def is_remote(place: str) -> bool:
    """Say whether a place is an address and no folder."""
    return ADDRESS.fullmatch(place) is not None and not Path(place).exists()


def parted(word: str) -> tuple[str, str]:
    """Take REPO@REVISION apart where a folder or an address ends; a revision may be `@` or `main@{1}` itself."""
    at = len(word)
    while (at := word.rfind("@", 0, at)) > 0:
        revision = word[at + 1 :]
        if Path(word[:at]).is_dir():
            return word[:at], f"@{revision}" if revision.startswith("{") else revision
    repo, _, revision = word.rpartition("@")
    return repo, f"@{revision}" if revision.startswith("{") and not repo else revision


def repository_of(url: str) -> str:
    """Name a repository after the end of its address."""
    name = re.split(r"[/:]", url.rstrip("/").removesuffix(".git"))[-1]
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "repository"


def mirror_of(url: str, home: Path) -> Path:
    """Say where the mirror of an address lies, whether it is there or not."""
    return _place(url, home / "mirrors")


def _place(url: str, folder: Path) -> Path:
    return folder / hashlib.sha256(url.encode()).hexdigest()[:12] / f"{repository_of(url)}.git"


def mirrored(url: str, folder: Path, environ: Mapping[str, str], patience: float = PATIENCE) -> Path:
    """Fetch all branches and tags of an address into its mirror below a folder, and give the mirror."""
    if _holds_secret(url):
        raise LineageError(f"{shown(url)}: leave secrets out of the address; set {TOKEN}")
    remote = _Remote(url, _place(url, folder), environ, time.monotonic() + patience)
    remote.mirror.mkdir(parents=True, exist_ok=True)
    with _alone(remote):
        if not (remote.mirror / "HEAD").is_file():
            remote.run("init", "--quiet", "--bare", "--template=", ".")
        remote.run("fetch", "--quiet", "--prune", "--no-recurse-submodules", "--", url, *REFS)
        _point(remote)
    return remote.mirror


def _holds_secret(url: str) -> bool:
    """Say whether an address has a password, or what may be a token: a name or a query where http needs neither."""
    if "://" not in url:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        raise LineageError(f"{shown(url)} is no address") from None
    return bool(parts.password or (parts.scheme in ("http", "https") and (parts.username or parts.query)))


class _Remote(NamedTuple):
    """An address with its mirror, and until when it may take."""

    url: str
    mirror: Path
    environ: Mapping[str, str]
    deadline: float

    def run(self, *arguments: str) -> bytes:
        """Run git in the mirror."""
        environment = git_environment() | {"GIT_ALLOW_PROTOCOL": PROTOCOLS, "GIT_SSH_COMMAND": "ssh -oBatchMode=yes"}
        environment |= {name: self.environ[name] for name in OWN if self.environ.get(name)}
        if self.environ.get(TOKEN) and self.url.startswith("https://"):
            # In the environment and not among the arguments, which everybody on the machine can read.
            secret = base64.b64encode(f"x-access-token:{self.environ[TOKEN]}".encode()).decode()
            header = {"GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": f"Authorization: Basic {secret}"}
            environment |= {"GIT_CONFIG_COUNT": "1", **header}
        command, left = ["git", *SAFE, *arguments], max(self.deadline - time.monotonic(), 0.1)
        quiet = subprocess.DEVNULL
        try:
            done = subprocess.run(
                command, cwd=self.mirror, env=environment, capture_output=True, stdin=quiet, timeout=left
            )
        except FileNotFoundError:
            raise LineageError("git is not installed, or not on the PATH") from None
        except subprocess.TimeoutExpired:
            raise self.late() from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
            why = shown(said[0].removeprefix("fatal: "))  # git repeats the address
            raise LineageError(f"{shown(self.url)} cannot be fetched: {why}")
        return done.stdout

    def late(self) -> LineageError:
        """Say that it took too long."""
        return LineageError(f"{shown(self.url)} could not be fetched in the time that there was")


def _point(remote: _Remote) -> None:
    """Let HEAD be the branch that it is there."""
    said = remote.run("ls-remote", "--symref", "--", remote.url, "HEAD").decode("utf-8", "replace")
    branch = re.match(r"ref: (refs/heads/\S+)\tHEAD", said)
    if branch is not None:
        remote.run("symbolic-ref", "HEAD", branch[1])


def shown(text: str) -> str:
    """Give an address, or words with one in them, without a secret in it."""
    masked = re.sub(r"(?<=://)[^/\s]*@", "***@", text)
    return re.sub(r"(?<=[?&])([^=&\s'\"]*)=[^&\s'\"]*", r"\1=***", masked) if "://" in masked else masked


@contextmanager
def _alone(remote: _Remote) -> Iterator[None]:
    """Let one process fetch at a time."""
    with (remote.mirror.parent / "lock").open("w") as held:
        while not _locked(held):
            if time.monotonic() > remote.deadline:
                raise remote.late()
            time.sleep(0.1)
        yield


def _locked(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def local(place: str, home: Path, environ: Mapping[str, str] | None = None) -> Path:
    """Give the folder of a place: itself, or the mirror of an address."""
    if not is_remote(place):
        return Path(place)
    return mirrored(place, home / "mirrors", os.environ if environ is None else environ)
