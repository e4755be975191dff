"""`lineage doctor`: what this machine has, what is missing, and how to fix it."""

import os
import shutil
import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import typer

from lineage_pipeline.cli.output import write_output
from lineage_pipeline.model.errors import LineageError

MIN_FREE_BYTES = 1_000_000_000
PIPELINE_REMEDY = "pip install 'lineage-pipeline[pipeline]'"

PIPELINE_PACKAGES = {
    "Spark": "pyspark",
    "Dagster": "dagster",
    "dbt": "dbt-core",
    "Great Expectations": "great-expectations",
}
"""Programs that only the pipeline needs, and the package that installs each."""


class MachineCheck(NamedTuple):
    """The result of a check: what was found, or a problem with its remedy; only `needed` ones set the exit code."""

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
    write_output("".join(f"{format_check(check)}\n" for check in checks))
    if any(check.problem and check.needed for check in checks):
        raise typer.Exit(1)


def format_check(check: MachineCheck) -> str:
    """Format a check as one line."""
    if not check.problem:
        return f"ok       {check.name}: {check.found}"
    word = "problem" if check.needed else "absent "
    return f"{word}  {check.name}: {check.problem}; {check.remedy}"


def check_git() -> list[MachineCheck]:
    """Check that git runs, and its version."""
    remedy = "install git and put it on the PATH"
    try:
        shown = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return [MachineCheck("git", problem="it does not run", remedy=remedy)]
    return [MachineCheck("git", found=shown.strip().removeprefix("git version "))]


def check_settings() -> list[MachineCheck]:
    """Check the settings of this folder and their warehouse."""
    from lineage_pipeline.config.load import load_settings

    try:
        settings = load_settings(Path.cwd(), {}, os.environ)
    except LineageError as error:
        return [MachineCheck("settings", problem=str(error), remedy="correct the file")]
    found = MachineCheck("settings", found=str(settings.file or "defaults, there is no lineage.toml"))
    return [found, *_check_warehouse(settings.warehouse)]


def check_parts() -> list[MachineCheck]:
    """Check which parts of the pipeline are installed; with none of them, it is a light install."""
    versions = {name: _package_version(package) for name, package in PIPELINE_PACKAGES.items()}
    needed = any(versions.values())
    return [
        MachineCheck(name, found=version)
        if version
        else MachineCheck(name=name, found="", problem="it is not installed", remedy=PIPELINE_REMEDY, needed=needed)
        for name, version in versions.items()
    ]


def check_java() -> list[MachineCheck]:
    """Find the Java that Spark would run on."""
    from lineage_pipeline.spark.java import find_java

    java = find_java(os.environ)
    if java.problem:
        return [
            MachineCheck(
                name="Java",
                found="",
                problem=java.problem,
                remedy="see the lines above",
                needed=bool(_package_version(PIPELINE_PACKAGES["Spark"])),
            )
        ]
    passed_over = "".join(f"; passed over: {reason}" for reason in java.passed_over)
    return [MachineCheck("Java", found=f"{java.version} from {java.origin}{passed_over}")]


CHECKS: tuple[Callable[[], list[MachineCheck]], ...] = (
    check_git,
    check_settings,
    check_parts,
    check_java,
)


def _check_warehouse(place: str) -> list[MachineCheck]:
    """Check that a local warehouse is writable, and the free space of its disk."""
    if "://" in place:
        return [MachineCheck("warehouse", found=place)]
    nearest = next(folder for folder in (Path(place), *Path(place).parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        return [
            MachineCheck(
                "warehouse", problem=f"{nearest} cannot be written", remedy="set `warehouse` to another folder"
            )
        ]
    free = shutil.disk_usage(nearest).free
    left = f"{free / 1e9:.1f} GB are free"
    disk = (
        MachineCheck("disk", found=left)
        if free >= MIN_FREE_BYTES
        else MachineCheck("disk", problem=left, remedy="make room: 1 GB")
    )
    return [MachineCheck("warehouse", found=place), disk]


def _package_version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
