"""A standalone Spark cluster on loopback, from the installed pyspark; as a program, a driver of one snapshot."""

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
PATIENCE = 90.0
"""Seconds that a process of the cluster may take to come up on a busy machine."""


@dataclass(frozen=True)
class Node:
    """A process of the cluster, the leader of a group: an executor belongs to the group of its worker."""

    process: "subprocess.Popen[bytes]"
    folder: Path

    def kill(self) -> None:
        """End the process and all that it started, at once and without a word."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def runs(self, executor: str) -> bool:
        """Tell whether an executor was started here."""
        return any(self.folder.glob(f"app-*/{executor}"))


@dataclass(frozen=True)
class Cluster:
    """A master and its workers."""

    address: str
    workers: tuple[Node, ...]


@contextmanager
def standalone(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """Start a cluster; whatever happens, none of its processes is left."""
    port = _free_port()
    nodes: list[Node] = []
    try:
        nodes.append(_start(folder / "master", MASTER, "--port", str(port)))
        _await_port(port)
        address = f"spark://{HOST}:{port}"
        for number in range(workers):
            place = folder / f"worker{number}"
            nodes.append(_start(place, WORKER, "--cores", "1", "--memory", "1g", "--work-dir", str(place), address))
        yield Cluster(address, tuple(nodes[1:]))
    finally:
        for node in reversed(nodes):
            node.kill()


def _start(folder: Path, name: str, *arguments: str) -> Node:
    import pyspark

    from lineage_pipeline.spark.java import find_java_home

    folder.mkdir(parents=True)
    environment = {
        **os.environ,
        "JAVA_HOME": str(find_java_home()),
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
            preexec_fn=end_together,
        )
    return Node(process, folder)


def end_together() -> None:
    """Let the system end this process when the one that started it ends, however that comes (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


def _await_port(port: int) -> None:
    end = time.monotonic() + PATIENCE
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
    """Run one snapshot on the cluster, and say which executors are at work and what became of them."""
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
    watcher = threading.Thread(target=_watch, args=(spark, done), daemon=True)
    watcher.start()
    run_snapshot(found, settings, lambda: spark, run)
    done.set()
    watcher.join()
    _say(end=True, executors=_executors(spark), lost=_lost_tasks(spark))
    spark.stop()


def _watch(spark: Any, done: threading.Event) -> None:
    """Say which executors have a task while Python works in one."""
    while not done.wait(0.05):
        stages = spark.sparkContext.statusTracker().getActiveStageIds()
        busy = [one["id"] for one in _executors(spark) if one["tasks"]]
        if stages and busy:
            _say(busy=busy, stages=list(stages))


def _executors(spark: Any) -> list[dict[str, Any]]:
    found = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    rows = (found.apply(index) for index in range(found.size()))
    own = (row for row in rows if row.id() != "driver")
    return [{"id": row.id(), "active": row.isActive(), "tasks": row.activeTasks()} for row in own]


def _lost_tasks(spark: Any) -> int:
    """Count the tasks that did not end well, over all jobs."""
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    return sum(jobs.apply(index).numFailedTasks() for index in range(jobs.size()))


def _say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
