"""Whole runs with Dagster, Spark and dbt: killed, on a failing disk, and two of them at once."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from lineage_pipeline_tests.support.fault_injection import read_published
from lineage_pipeline_tests.support.paths import ROOT
from lineage_pipeline_tests.support.pipeline_faults import WAREHOUSE, analyze_revision, make_three_commits

pytestmark = pytest.mark.slow

OWN_NAMESPACE = ["unshare", "--map-root-user", "--mount"]


def test_a_killed_run_or_a_full_disk_leaves_nothing_partial_and_the_next_run_succeeds(tmp_path: Path) -> None:
    """Where no disk can be mounted, only the kill is tried."""
    mounting = (
        shutil.which("unshare") is not None
        and not subprocess.run([*OWN_NAMESPACE, "true"], capture_output=True).returncode
    )
    command = [sys.executable, "-W", "ignore", "-m", "lineage_pipeline_tests.support.pipeline_faults", str(tmp_path)]
    command = [*OWN_NAMESPACE, *command, "disk"] if mounting else command
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


MARTS = Path(".lineage", "warehouse.duckdb")
SECONDS = 1_200
"""How long two runs may take on a machine that has other work."""


def test_two_runs_of_one_snapshot_that_start_together_give_its_rows(tmp_path: Path) -> None:
    """In a folder where nothing was before, so that both come to make everything."""
    repo, work = make_three_commits(tmp_path / "repo"), tmp_path / "work"
    work.mkdir()
    expected = analyze_revision(repo, "HEAD~2")
    command = [sys.executable, "-W", "ignore", "-m", "lineage_pipeline.cli", "run", "--repo", str(repo)]
    logs = [tmp_path / name for name in ("one", "other")]
    running = [_start_run([*command, "--rev", "HEAD~2"], work, log) for log in logs]
    try:
        _watch(running, work, expected)
    finally:
        for process in running:
            process.kill()
    said = [log.read_text().strip().splitlines()[-1] for log, run in zip(logs, running, strict=True) if run.wait()]
    assert all("was published by the later run" in sentence for sentence in said), said
    assert len(said) < len(running)
    assert read_published(work / WAREHOUSE) == [expected]
    assert _columns(work) == len(expected["columns"])


def _watch(running: list[subprocess.Popen[str]], work: Path, expected: dict[str, list[bytes]]) -> None:
    """Read what is published, again and again, until both runs are at their end."""
    until = time.monotonic() + SECONDS
    while any(process.poll() is None for process in running):
        assert time.monotonic() < until, "they wait for each other"
        assert read_published(work / WAREHOUSE) in ([], [expected])
        assert _columns(work) in (0, len(expected["columns"]))
        time.sleep(0.5)


def _columns(work: Path) -> int:
    """Count the columns that readers of the marts see."""
    if not (work / MARTS).is_file():
        return 0
    with duckdb.connect(str(work / MARTS), read_only=True) as marts:
        return int(marts.sql("select count(*) from marts.columns").fetchall()[0][0])


def _start_run(command: list[str], work: Path, log: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with log.open("w") as said:
        return subprocess.Popen(command, cwd=work, stdout=subprocess.DEVNULL, stderr=said, env=environment, text=True)
