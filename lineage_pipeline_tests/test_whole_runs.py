"""Whole runs, Dagster, Spark and dbt included, on a disk that fails them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lineage_pipeline_tests.materialised import ROOT

pytestmark = pytest.mark.slow

ALONE = ["unshare", "--map-root-user", "--mount"]


def test_a_run_on_a_closed_or_full_disk_is_one_error_and_the_next_one_is_whole(tmp_path: Path) -> None:
    if shutil.which("unshare") is None or subprocess.run([*ALONE, "true"], capture_output=True).returncode:
        pytest.skip("a disk of its own cannot be mounted here")
    command = [*ALONE, sys.executable, "-W", "ignore", "-m", "lineage_pipeline_tests.whole_runs", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
