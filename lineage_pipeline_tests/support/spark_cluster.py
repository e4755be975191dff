"""A standalone Spark cluster on loopback, from the installed pyspark; run as a program, a driver of one snapshot."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
STARTUP_TIMEOUT = 90.0
"""Seconds that a process of the cluster may take to start on a busy machine."""


@dataclass(frozen=True)
class ClusterNode:
    """A process of the cluster and the leader of its process group: an executor belongs to the group of its worker."""

    process: "subprocess.Popen[bytes]"
    folder: Path

    def kill(self) -> None:
        """Kill the process and all its children at once."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def has_executor(self, executor: str) -> bool:
        """Say whether an executor was started here."""
        return any(self.folder.glob(f"app-*/{executor}"))


@dataclass(frozen=True)
class SparkCluster:
    """A master and its workers."""

    address: str
    workers: tuple[ClusterNode, ...]


@contextmanager
def start_cluster(folder: Path, workers: int = 2) -> Iterator[SparkCluster]:
    """Start a cluster, and kill all its processes at the end."""
    port = _free_port()
    nodes: list[ClusterNode] = []
    try:
        nodes.append(_start(folder / "master", MASTER, "--port", str(port)))
        _await_port(port)
        address = f"spark://{HOST}:{port}"
        for number in range(workers):
            place = folder / f"worker{number}"
            nodes.append(_start(place, WORKER, "--cores", "1", "--memory", "1g", "--work-dir", str(place), address))
        yield SparkCluster(address, tuple(nodes[1:]))
    finally:
        for node in reversed(nodes):
            node.kill()


def _start(folder: Path, name: str, *arguments: str) -> ClusterNode:
    import pyspark

    from lineage_pipeline.spark.java import find_java

    folder.mkdir(parents=True)
    environment = {
        **os.environ,
        "JAVA_HOME": str(find_java().path),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "SPARK_LOCAL_DIRS": str(folder),
    }
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    command = [str(program), name, "--host", HOST, "--webui-port", "0", *arguments]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
    return ClusterNode(process, folder)


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent ends (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


def _await_port(port: int) -> None:
    end = time.monotonic() + STARTUP_TIMEOUT
    while True:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


def main(repository: str, commit: str, warehouse: str, master: str, run: str = "r1") -> None:
    """Run one snapshot on the cluster, and print which executors are busy and which were lost."""
    from benchmarks.snapshots import run_snapshot
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.discover.git.repository import discover_revision
    from lineage_pipeline.spark.session import get_session

    config = {
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.executor.memory": "512m",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # the first job finds both workers
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
    }
    given = {"warehouse": warehouse, "spark": {"master": master, "config": config}}
    settings = load_settings(Path(repository), given, {}).for_repository(Path(repository), given, {})
    found = discover_revision(Path(repository), commit, settings, name="example")
    spark = get_session(settings.spark)
    done = threading.Event()
    watcher = threading.Thread(target=_report_busy_executors, args=(spark, done), daemon=True)
    watcher.start()
    run_snapshot(found, settings, lambda: spark, run)
    done.set()
    watcher.join()
    _print_record(end=True, executors=_executors(spark), lost=_count_failed_tasks(spark))
    spark.stop()


def _report_busy_executors(spark: Any, done: threading.Event) -> None:
    """Print which executors have a task while Python works in one."""
    while not done.wait(0.05):
        stages = spark.sparkContext.statusTracker().getActiveStageIds()
        busy = [one["id"] for one in _executors(spark) if one["tasks"]]
        if stages and busy:
            _print_record(busy=busy, stages=list(stages))


def _executors(spark: Any) -> list[dict[str, Any]]:
    found = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    rows = (found.apply(index) for index in range(found.size()))
    own = (row for row in rows if row.id() != "driver")
    return [{"id": row.id(), "active": row.isActive(), "tasks": row.activeTasks()} for row in own]


def _count_failed_tasks(spark: Any) -> int:
    """Count the failed tasks over all jobs."""
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    return sum(jobs.apply(index).numFailedTasks() for index in range(jobs.size()))


def _print_record(**line: Any) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
