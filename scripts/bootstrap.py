"""Make `.venv` from `requirements.lock`, or say in one sentence why that cannot be.

Standard library only, and no syntax newer than Python 3.6: an old python3 must get far enough to be told its age.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "setup.stamp"
LOCK = ROOT / "requirements.lock"

OLDEST, NEWEST = (3, 11), (3, 13)
NAMES = ("python3", "python3.13", "python3.12", "python3.11")
FREE_BYTES = 2.5e9
PIP = [str(VENV_PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "2"]
UV = [str(VENV / "bin" / "uv"), "pip", "install", "--python", str(VENV_PYTHON)]
# The lock file is whole, so nothing is resolved again; older versions of pip stumble over its extras if they try.
STEPS = (["--no-deps", "--require-hashes", "-r", str(LOCK)], ["--no-deps", "--no-build-isolation", "-e", str(ROOT)])
PROBE = (
    "import sys; print(sys.executable, *sys.version_info[:3], sep='\\n', flush=True); import venv, ensurepip.__main__"
)

# These point an installer at another place than our environment.
MISLEADING = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "UV_PYTHON", "VIRTUAL_ENV")

# What installers say → what we say. The first row that matches counts.
DISK_FULL = r"No space left on device|os error 28|Errno 28"
REASONS = (
    (DISK_FULL, "the disk is full: free some gigabytes where .venv and your caches are, and try again"),
    (
        r"do not match the hashes|[Hh]ash mismatch",
        "a downloaded package is not the one named in requirements.lock: try again, or check your package index",
    ),
    (
        r"NewConnectionError|ConnectTimeout|ProxyError|Failed to establish|[Nn]ame resolution|dns error|tcp connect|"
        r"[Cc]onnection refused|error sending request|Failed to fetch|timed out|Could not find a version",
        "the packages cannot be fetched: check the network, the proxy and the index that pip is set to, and try again",
    ),
    (
        r"Permission denied|Read-only file system|Errno 13",
        "this user may not write where the installation must: check who owns this folder and your caches",
    ),
)


class Interpreter(NamedTuple):
    """One Python that answered, and whether it can make environments."""

    path: str
    version: Tuple[int, ...]
    has_venv: bool

    @property
    def suits(self) -> bool:
        """Whether the product runs on this version."""
        return OLDEST <= self.version[:2] <= NEWEST


class SetupError(Exception):
    """The one sentence that the user gets."""


def main() -> int:
    """Bring `.venv` up to date; cheap when it already is."""
    try:
        with only_one_at_a_time():
            if not is_current():
                install()
    except SetupError as error:
        return complain(str(error))
    except OSError as error:
        return complain(explain(str(error)) or str(error))
    except KeyboardInterrupt:
        return complain("interrupted: run it again to go on")
    return 0


def complain(sentence: str) -> int:
    """Print the reason and give the exit code that goes with it."""
    print("setup: " + sentence, file=sys.stderr)
    return 1


@contextlib.contextmanager
def only_one_at_a_time() -> Iterator[None]:
    """Hold a lock on the folder itself, which leaves no file behind."""
    handle = os.open(str(ROOT), os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_current() -> bool:
    """Whether `.venv` was made here, from these files, with the Python that is asked for."""
    if not STAMP.is_file() or not os.access(str(VENV_PYTHON), os.X_OK):
        return False
    python, key = STAMP.read_text().split()
    wanted = os.environ.get("PYTHON")
    return key == stamp_key(python) and (not wanted or python == version_text(probe(wanted)))


def stamp_key(python: str) -> str:
    """Give a hash of all that decides what `.venv` holds; scripts in it name the folder, so that counts too."""
    digest = hashlib.sha256()
    for part in (LOCK.read_bytes(), (ROOT / "pyproject.toml").read_bytes(), str(ROOT).encode(), python.encode()):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def version_text(interpreter: Optional[Interpreter]) -> str:
    """Give the version as people write it."""
    return ".".join(map(str, interpreter.version)) if interpreter else ""


def install() -> None:
    """Make the environment if there is no usable one, fill it, and stamp it."""
    interpreter = usable_environment() or create_environment()
    say("installing the packages of requirements.lock (a minute or two the first time)")
    if not with_uv():
        with_pip()
    python = version_text(interpreter)
    STAMP.write_text("{} {}\n".format(python, stamp_key(python)))
    say("ready: .venv, Python {}".format(python))


def usable_environment() -> Optional[Interpreter]:
    """Give the Python of a `.venv` that was once finished, in this folder, with the version that is asked for."""
    if not STAMP.is_file() or str(VENV) not in (VENV / "pyvenv.cfg").read_text():
        return None
    present, wanted = probe(str(VENV_PYTHON)), os.environ.get("PYTHON")
    if not present or not present.suits or (wanted and version_text(probe(wanted)) != version_text(present)):
        return None
    return present


def create_environment() -> Interpreter:
    """Make an empty environment with the best Python at hand."""
    if VENV.is_symlink():  # to clear it would empty the environment of whoever it leads to
        raise SetupError(".venv is a link to {}: run setup there, or remove the link".format(VENV.resolve()))
    interpreter = choose_interpreter()
    check_disk()
    say("making .venv with Python {} ({})".format(version_text(interpreter), interpreter.path))
    done = run([interpreter.path, "-m", "venv", "--clear", str(VENV)])
    if done.returncode:
        raise SetupError(explain(done.stdout) or "python -m venv failed: " + last_line(done.stdout))
    return interpreter


def check_disk() -> None:
    """Refuse early what would fail late."""
    needed, free = FREE_BYTES / 1e9, shutil.disk_usage(str(ROOT)).free / 1e9
    if free < needed:
        raise SetupError("the disk is too full: .venv needs {:.1f} GB, {:.1f} GB are free".format(needed, free))


def choose_interpreter() -> Interpreter:
    """Give the first Python that suits, or say what is missing."""
    names = [os.environ["PYTHON"]] if os.environ.get("PYTHON") else [*NAMES, sys.executable]
    found = [interpreter for interpreter in map(probe, names) if interpreter]
    suitable = [interpreter for interpreter in found if interpreter.suits]
    for interpreter in suitable:
        if interpreter.has_venv:
            return interpreter
    if suitable:
        minor = ".".join(map(str, suitable[0].version[:2]))
        raise SetupError("Python {0} lacks the venv module: run `apt-get install python{0}-venv` as root".format(minor))
    seen = "{} is {}".format(found[0].path, version_text(found[0])) if found else "none was found"
    raise SetupError("Python 3.11, 3.12 or 3.13 is needed ({}): name one with make PYTHON=/path/to/it".format(seen))


def probe(name: str) -> Optional[Interpreter]:
    """Ask a Python where it is, how old it is and whether it can make environments."""
    path = shutil.which(name)
    done = run([path, "-c", PROBE]) if path else None
    lines = done.stdout.splitlines() if done else []
    if done is None or len(lines) < 4 or not all(line.isdigit() for line in lines[1:4]):
        return None
    return Interpreter(lines[0], tuple(map(int, lines[1:4])), done.returncode == 0)


def with_uv() -> bool:
    """Install quickly with uv, itself from the lock file; False where uv cannot be had or does not manage."""
    with tempfile.TemporaryDirectory() as folder:
        pinned = Path(folder) / "uv.lock"
        pinned.write_text(locked_block("uv"))
        had = succeeds(PIP + ["--only-binary", ":all:", "--require-hashes", "-r", str(pinned)])
    return had and all(succeeds(UV + step) for step in STEPS)


def with_pip() -> None:
    """Install with plain pip: slower, but it knows settings of pip that uv does not."""
    say("uv did not manage; going on with pip, which takes longer")
    for step in STEPS:
        done = run(PIP + step)
        if done.returncode:
            raise SetupError(explain(done.stdout) or "pip failed: " + last_line(done.stdout))


def succeeds(command: List[str]) -> bool:
    """Say whether an installer managed; a full disk is the end, as the next one would meet it too."""
    done = run(command)
    if done.returncode and re.search(DISK_FULL, done.stdout):
        raise SetupError(explain(done.stdout))
    return done.returncode == 0


def locked_block(name: str) -> str:
    """Give the lines of one package, hashes included, from the lock file."""
    found = re.search(r"^{}==.*\n(?:    .*\n)*".format(re.escape(name)), LOCK.read_text(), re.MULTILINE)
    if not found:
        raise SetupError("requirements.lock does not name {}: run `make lock`".format(name))
    return found.group(0)


def run(command: List[str]) -> "subprocess.CompletedProcess[str]":
    """Run a command and keep all that it says."""
    return subprocess.run(
        command,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )


def environment() -> Dict[str, str]:
    """Give our environment without what would lead an installer astray."""
    kept = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    kept.setdefault("UV_HTTP_TIMEOUT", "180")
    kept.setdefault("UV_SYSTEM_CERTS", "1")  # as pip's users expect behind a proxy with a certificate of its own
    if not has_cache_folder():
        kept.setdefault("UV_NO_CACHE", "1")
    return kept


def has_cache_folder() -> bool:
    """Say whether this user has a place for caches; uv gives up where there is none."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # the latter: nobody knows where this user's home is
        return False
    return os.access(str(folder), os.W_OK)


def explain(output: str) -> str:
    """Turn an installer's words into one sentence, or nothing if they are new to us."""
    return next((sentence for pattern, sentence in REASONS if re.search(pattern, output)), "")


def last_line(output: str) -> str:
    """Give the last line that says something."""
    return ([line.strip() for line in output.splitlines() if line.strip()] or ["it said nothing"])[-1]


def say(sentence: str) -> None:
    """Tell the user what goes on."""
    print("setup: " + sentence, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
