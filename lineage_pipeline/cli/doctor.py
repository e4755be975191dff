"""`lineage doctor`: what this machine has, what is missing, and how to mend it."""

import os
import shutil
import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import typer

from lineage_pipeline.cli.words import put
from lineage_pipeline.vocabulary.errors import LineageError

NEEDED_BYTES = 1_000_000_000
PIPELINE = "pip install 'lineage-pipeline[pipeline]'"

PARTS = {"Spark": "pyspark", "Dagster": "dagster", "dbt": "dbt-core", "Great Expectations": "great-expectations"}
"""What only the pipeline needs, and the package that brings it."""


class Check(NamedTuple):
    """What was looked at: what there is, or a problem with its remedy; only a needed part makes the doctor frown."""

    name: str
    found: str = ""
    problem: str = ""
    remedy: str = ""
    needed: bool = True


def doctor() -> None:
    """Check what this machine has, and say how to mend it.

    It looks at git, settings, disk, Spark, Dagster, dbt and Java, and exits with 1
    where something needed is broken. A light install needs no Java, Spark, Dagster or dbt.

    Example: lineage doctor
    """
    checks = [check for look in CHECKS for check in look()]
    put("".join(f"{line(check)}\n" for check in checks))
    if any(check.problem and check.needed for check in checks):
        raise typer.Exit(1)


def line(check: Check) -> str:
    """Write one check as one line."""
    if not check.problem:
        return f"ok       {check.name}: {check.found}"
    word = "problem" if check.needed else "absent "
    return f"{word}  {check.name}: {check.problem}; {check.remedy}"


def look_at_git() -> list[Check]:
    """Ask git for its version."""
    remedy = "install git and put it on the PATH"
    try:
        shown = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return [Check("git", problem="it does not run", remedy=remedy)]
    return [Check("git", found=shown.strip().removeprefix("git version "))]


def look_at_settings() -> list[Check]:
    """Read the settings that hold here."""
    from lineage_pipeline.settings import load_settings

    try:
        settings = load_settings(Path.cwd(), {}, os.environ)
    except LineageError as error:
        return [Check("settings", problem=str(error), remedy="correct the file")]
    found = Check("settings", found=str(settings.file or "defaults, there is no lineage.toml"))
    return [found, *_warehouse(settings.warehouse)]


def look_at_parts() -> list[Check]:
    """Look which parts of the pipeline are installed; without any of them this is a light install."""
    versions = {name: _version(package) for name, package in PARTS.items()}
    needed = any(versions.values())
    return [
        Check(name, found=version) if version else Check(name, "", "it is not installed", PIPELINE, needed)
        for name, version in versions.items()
    ]


def look_at_java() -> list[Check]:
    """Find the Java that Spark would run on."""
    from lineage_pipeline.spark.java import find_java

    java = find_java(os.environ)
    if java.problem:
        return [Check("Java", "", java.problem, "see the lines above", bool(_version(PARTS["Spark"])))]
    passed_over = "".join(f"; passed over: {reason}" for reason in java.passed_over)
    return [Check("Java", found=f"{java.version} from {java.origin}{passed_over}")]


CHECKS: tuple[Callable[[], list[Check]], ...] = (
    look_at_git,
    look_at_settings,
    look_at_parts,
    look_at_java,
)


def _warehouse(place: str) -> list[Check]:
    """Say whether the warehouse can be written where it is on this machine's disk, and what is free there."""
    if "://" in place:
        return [Check("warehouse", found=place)]
    nearest = next(folder for folder in (Path(place), *Path(place).parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        return [Check("warehouse", problem=f"{nearest} cannot be written", remedy="set `warehouse` to another folder")]
    free = shutil.disk_usage(nearest).free
    told = f"{free / 1e9:.1f} GB are free"
    disk = Check("disk", found=told) if free >= NEEDED_BYTES else Check("disk", problem=told, remedy="make room: 1 GB")
    return [Check("warehouse", found=place), disk]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
