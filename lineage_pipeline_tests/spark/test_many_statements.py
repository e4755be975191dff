"""A hundred thousand statements on Spark, with little memory: `make soak`."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from benchmarks.generate import generate, write
from benchmarks.spark_runs import SparkRun

STATEMENTS = int(os.environ.get("LINEAGE_SOAK_STATEMENTS", "100000"))
GIB = 1 << 30


@pytest.mark.soak
def test_many_statements_pass_with_little_memory(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """The driver's two processes stay below 4 GiB each: Java by its setting, Python as measured here."""
    write(generate(STATEMENTS, dialect="snowflake"), tmp_path)
    (tmp_path / "lineage.toml").write_text('[analysis]\ndialect = "snowflake"\n', encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.spark_runs", str(tmp_path), "2"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    run = msgspec.json.decode(done.stdout.splitlines()[-1], type=SparkRun)
    memory = ", ".join(f"{name} {size / 1e6:,.0f} MB" for name, size in sorted(run.memory.items()))
    steps = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in run.steps.items())
    record_property("figure", f"{STATEMENTS:,} statements: {run.cpu:.0f} s of CPU; at most {memory}; {steps}")
    assert run.memory["driver"] < 4 * GIB
    assert run.memory["worker"] < 2 * GIB  # one task has the schemas of all objects, one the graph of all columns
    assert run.jobs <= 20
