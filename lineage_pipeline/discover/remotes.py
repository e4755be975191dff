"""Repositories that are elsewhere: fetched into a mirror of our own, bare, which is then read like any other."""

import base64
import fcntl
import hashlib
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from lineage_pipeline.discover.git import SAFE, git_environment
from lineage_pipeline.vocabulary.errors import LineageError

PROTOCOLS = "https:http:ssh:git:file"
"""What is fetched with; nothing that runs a command of the address."""

TOKEN = "LINEAGE_GIT_TOKEN"  # noqa: S105 - the name of the variable, not what it holds
"""The variable that holds the token for addresses with https."""

REFS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")

ADDRESS = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+")

PATIENCE = 1800
"""How many seconds a fetch may take."""


def is_remote(place: str) -> bool:
    """Say whether a place is an address and no folder."""
    return ADDRESS.fullmatch(place) is not None and not Path(place).exists()


def repository_of(url: str) -> str:
    """Name a repository after the end of its address."""
    name = re.split(r"[/:]", url.rstrip("/").removesuffix(".git"))[-1]
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "repository"


def mirrored(url: str, folder: Path, environ: Mapping[str, str]) -> Path:
    """Fetch all branches and tags of an address into its mirror below a folder, and give the mirror."""
    if urlsplit(url).password or ("://" in url and "https" in url[:5] and urlsplit(url).username):
        raise LineageError(f"{shown(url)}: leave secrets out of the address; set {TOKEN}")
    identity = hashlib.sha256(url.encode()).hexdigest()[:12]
    mirror = folder / identity / f"{repository_of(url)}.git"
    mirror.mkdir(parents=True, exist_ok=True)
    with _alone(mirror.parent / "lock"):
        if not (mirror / "HEAD").is_file():
            _run(mirror, environ, url, "init", "--quiet", "--bare", "--template=", ".")
        _run(mirror, environ, url, "fetch", "--quiet", "--prune", "--no-recurse-submodules", "--", url, *REFS)
        _point(mirror, environ, url)
    return mirror


def _point(mirror: Path, environ: Mapping[str, str], url: str) -> None:
    """Let HEAD be the branch that it is there."""
    said = _run(mirror, environ, url, "ls-remote", "--symref", "--", url, "HEAD").decode("utf-8", "replace")
    branch = re.match(r"ref: (refs/heads/\S+)\tHEAD", said)
    if branch is not None:
        _run(mirror, environ, url, "symbolic-ref", "HEAD", branch[1])


def _run(mirror: Path, environ: Mapping[str, str], url: str, *arguments: str) -> bytes:
    environment = git_environment() | {"GIT_ALLOW_PROTOCOL": PROTOCOLS, "GIT_SSH_COMMAND": "ssh -oBatchMode=yes"}
    if environ.get(TOKEN) and url.startswith("https://"):
        # In the environment and not among the arguments, which everybody on the machine can read.
        secret = base64.b64encode(f"x-access-token:{environ[TOKEN]}".encode()).decode()
        header = {"GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": f"Authorization: Basic {secret}"}
        environment |= {"GIT_CONFIG_COUNT": "1", **header}
    command = ["git", *SAFE, *arguments]
    try:
        done = subprocess.run(
            command, cwd=mirror, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE
        )
    except FileNotFoundError:
        raise LineageError("git is not installed, or not on the PATH") from None
    except subprocess.TimeoutExpired:
        raise LineageError(f"{shown(url)} does not answer") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise LineageError(f"{shown(url)} cannot be fetched: {said[0].removeprefix('fatal: ')}")
    return done.stdout


def shown(url: str) -> str:
    """Give an address without a secret in it."""
    return re.sub(r"//[^/@]*@", "//***@", url) if "://" in url else url


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Let one process fetch at a time."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def local(place: str, home: Path, environ: Mapping[str, str] | None = None) -> Path:
    """Give the folder of a place: itself, or the mirror of an address."""
    if not is_remote(place):
        return Path(place)
    return mirrored(place, home / "mirrors", os.environ if environ is None else environ)
