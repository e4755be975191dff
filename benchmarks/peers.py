"""Peers on the same files: each in an environment of its own; one that is not there is a row that says so."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks.figures import Figure

SCRIPT = Path(__file__).with_name("peer_scripts.py")
FLOWSCOPE = Path(__file__).with_name("flowscope.mjs")
PACKAGE = "node_modules/@pondpilot/flowscope-core"
PATIENCE = 1200

PACKAGES = {
    "polyglot-sql": "polyglot-sql",
    "acryl-datahub": "acryl-datahub[sql-parser]",
    "sql-glider": "sql-glider",
    "sqllineage": "sqllineage",
    "infotracker": "infotracker",
}
"""What is installed for each peer that is a Python package."""

ONLY = {"infotracker": ("tsql",)}
"""Peers that know certain dialects alone."""


class Answer(msgspec.Struct, frozen=True):
    """What a peer took, and the texts that it gave up."""

    seconds: float
    failed: int


def install(folder: Path) -> None:
    """Put each peer into a folder of its own; one that cannot be had is left out, and said."""
    for name, package in PACKAGES.items():
        python = folder / name / "bin" / "python"
        made = _run([sys.executable, "-m", "venv", str(folder / name)])
        done = made and _run([str(python), "-m", "pip", "install", "--quiet", package])
        print(f"{name}: {'installed' if done else 'could not be installed'}", file=sys.stderr)
    place = folder / "flowscope"
    place.mkdir(parents=True, exist_ok=True)
    npm = shutil.which("npm")
    done = bool(npm) and _run([str(npm), "install", "--silent", "--prefix", str(place), "@pondpilot/flowscope-core"])
    print(f"flowscope: {'installed' if done else 'could not be installed'}", file=sys.stderr)


def compare(name: str, folder: Path, dialect: str, ours: float, peers: Path | None) -> Iterator[Figure]:
    """Give how many times longer than us each peer takes; `ours` are our CPU seconds up to the edges."""
    for peer, command in commands(folder, dialect, peers).items():
        what = f"{'sqlglot lineage' if peer == 'sqlglot' else peer} ÷ ours (CPU)"
        if peer in ONLY and dialect not in ONLY[peer]:
            continue
        answer = _ask(command) if command else None
        if answer is None:
            yield Figure(what, name, None, note="failed" if command else "not installed")
            continue
        gave_up = f", {answer.failed} texts given up" if answer.failed else ""
        yield Figure(what, name, answer.seconds / ours, note=f"{answer.seconds:.2f} s against {ours:.2f} s{gave_up}")


def commands(folder: Path, dialect: str, peers: Path | None) -> dict[str, list[str] | None]:
    """Say how each peer is asked; None where it is not installed."""
    found: dict[str, list[str] | None] = {
        "sqlglot": [sys.executable, "-P", str(SCRIPT), "sqlglot", str(folder), dialect]
    }
    for name in PACKAGES:
        python = peers / name / "bin" / "python" if peers else None
        there = python is not None and python.exists()
        found[name] = [str(python), "-P", str(SCRIPT), name, str(folder), dialect] if there else None
    package, node = (peers / "flowscope" / PACKAGE if peers else None), shutil.which("node")
    known = package is not None and package.is_dir() and node is not None
    found["flowscope"] = [str(node), str(FLOWSCOPE), str(package), str(folder), dialect] if known else None
    return found


def _ask(command: Sequence[str]) -> Answer | None:
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)
        return msgspec.json.decode(done.stdout.splitlines()[-1], type=Answer)
    except (OSError, subprocess.SubprocessError, IndexError, msgspec.DecodeError):
        return None


def _run(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False
