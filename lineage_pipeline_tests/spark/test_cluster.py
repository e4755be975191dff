"""A real cluster gives the rows that one process gives, even if a worker is killed on the way."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import IO, Any

import pytest

from lineage_pipeline import pipeline
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.example.repository import build_example
from lineage_pipeline.discover.git.repository import discover_revision
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support import fault_injection
from lineage_pipeline_tests.support.example_run import canonical_rows
from lineage_pipeline_tests.support.paths import ROOT
from lineage_pipeline_tests.support.spark_cluster import ClusterNode, SparkCluster, die_with_parent, start_cluster

pytestmark = pytest.mark.cluster


def test_a_snapshot_survives_the_death_of_a_worker(tmp_path: Path) -> None:
    example = build_example(ROOT / "sql_assets", tmp_path / "example")
    settings = load_settings(example.path, {}, {}).for_repository(example.path, {}, {})
    found = discover_revision(example.path, example.head, settings, name="example")
    warehouse = tmp_path / "warehouse"
    with (
        start_cluster(tmp_path / "cluster") as cluster,
        _start_driver(tmp_path, str(example.path), example.head, str(warehouse), cluster.address) as output,
    ):
        said = list(_read_driver_records(output, cluster, warehouse))
    assert said and said[-1].get("end"), (tmp_path / "log").read_text()[-3000:]
    executors = said[-1]["executors"]
    assert sorted(one["active"] for one in executors) == [False, True], executors
    assert said[-1]["lost"] > 0, "the worker was idle when it died"
    got = canonical_rows(Warehouse(warehouse).load(found.key))
    assert got == canonical_rows(pipeline.build_lineage(build_input_files(found, settings)))


MOMENTS = (5, 25)
"""How many files more a run has put into the warehouse when it is killed; before it publishes it puts some fifty."""


def test_one_core_gives_the_same_rows_after_two_killed_runs(tmp_path: Path) -> None:
    example = build_example(ROOT / "sql_assets", tmp_path / "example")
    settings = load_settings(example.path, {}, {}).for_repository(example.path, {}, {})
    found = discover_revision(example.path, example.head, settings, name="example")
    expected = canonical_rows(pipeline.build_lineage(build_input_files(found, settings)))
    warehouse, earlier = tmp_path / "warehouse", set[str]()
    command = (str(example.path), example.head, str(warehouse), "local[1]")
    for number, moment in enumerate(MOMENTS):
        before = _count_files(warehouse)
        with _start_driver(tmp_path, *command, f"killed{number}") as output:
            while _count_files(warehouse) < before + moment:
                assert not select([output], (), (), 0.05)[0], "it came to its end"
        assert fault_injection.read_published(warehouse) in ([], [expected]), (
            f"killed when it had written {moment} files"
        )
        earlier |= fault_injection.published_files(warehouse)
    with _start_driver(tmp_path, *command) as output:
        said = [json.loads(line) for line in output]
    assert said and said[-1].get("end"), (tmp_path / "log").read_text()[-3000:]
    # The session of the other tests has all cores, and gives these rows as well.
    assert fault_injection.read_published(warehouse) == [expected]
    left = {path.relative_to(warehouse).as_posix() for path in warehouse.glob("[!_]*/**/*.parquet")}
    assert left == earlier | fault_injection.published_files(warehouse)


def _count_files(warehouse: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(warehouse))


@contextmanager
def _start_driver(folder: Path, *arguments: str) -> Iterator[IO[bytes]]:
    command = [sys.executable, "-m", "lineage_pipeline_tests.support.spark_cluster", *arguments]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, start_new_session=True, preexec_fn=die_with_parent
        )
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        process.stdout.close()
        ClusterNode(process, folder).kill()


def _read_driver_records(output: IO[bytes], cluster: SparkCluster, warehouse: Path) -> Iterator[dict[str, Any]]:
    """Give what the driver says; the first worker that is seen to compile is killed."""
    killed = False
    for line in output:
        told: dict[str, Any] = json.loads(line)
        if not killed and "busy" in told and any(warehouse.glob("_cache/compiled/*/*/_temporary")):
            victim = next(node for node in cluster.workers if node.has_executor(told["busy"][0]))
            victim.kill()
            killed = True
        yield told


def test_local_spark_continues_after_the_machine_slept(tmp_path: Path) -> None:
    """Java is stopped for longer than a worker may be silent, as a machine is that goes to sleep."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SLEEPER, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.split() == ["5", "7"], done.stderr[-2000:]


SLEEPER = """
import os, signal, sys, time
from pathlib import Path
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.spark.session import get_session

impatient = {
    "spark.network.timeout": "3s",
    "spark.network.timeoutInterval": "1s",
    "spark.executor.heartbeatInterval": "1s",
    "spark.executor.heartbeat.maxFailures": "2",
}
settings = load_settings(Path(sys.argv[1]), {"spark": {"master": "local[1]", "config": impatient}}, {})
spark = get_session(settings.spark)
print(spark.range(5).count())
java = spark.sparkContext._gateway.proc.pid
os.kill(java, signal.SIGSTOP)
time.sleep(8)
os.kill(java, signal.SIGCONT)
time.sleep(12)
print(spark.range(7).mapInArrow(lambda batches: batches, "id long").count())
spark.stop()
"""
