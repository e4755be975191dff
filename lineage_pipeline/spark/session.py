"""The one Spark session of a process, started when it is first needed."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Protocol

from pyspark.sql import SparkSession

from lineage_pipeline.spark.java import find_java
from lineage_pipeline.vocabulary.errors import LineageError

LOG_FILE = Path(__file__).with_name("log4j2.properties")

EVERYWHERE = {
    "spark.app.name": "lineage",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",  # a row is a whole file
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
}
"""What we tell Spark wherever it runs."""

LOCALLY = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    # On one machine, planning anew after each stage and collecting small sides cost more jobs than they save.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.shuffle.partitions": "2",
    "spark.shuffle.compress": "false",
    "spark.rdd.compress": "false",
    # A machine that slept or starved is no lost worker: Spark would give itself up, as it cannot take itself in again.
    "spark.storage.blockManagerHeartbeatTimeoutMs": "7d",
}
"""What helps where driver and workers are one process."""

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A short-lived JVM on few cores: no second compiler, no threads that collect."""


class SparkOptions(Protocol):
    """What the settings say about Spark."""

    @property
    def master(self) -> str:
        """Give the address of the cluster, or `local[…]`."""

    @property
    def config(self) -> dict[str, str]:
        """Give what Spark is told beyond our own defaults."""


def session(options: SparkOptions) -> SparkSession:
    """Give the session that runs, or start one as the settings say."""
    running = SparkSession.getActiveSession()
    return running if running is not None else _start(options)


def job_count() -> int:
    """Count the Spark jobs that this process has started; no session, no jobs."""
    running = SparkSession.getActiveSession()
    if running is None:
        return 0
    jobs = running.sparkContext.statusTracker().getJobIdsForGroup(None)
    return max(jobs, default=-1) + 1


def parallelism(running: SparkSession) -> int:
    """Give how many tasks run at a time."""
    return running.sparkContext.defaultParallelism


def _start(options: SparkOptions) -> SparkSession:
    _prepare_environment()
    builder = SparkSession.builder.master(options.master)
    for name, value in {**_defaults(options.master), **options.config}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _prepare_environment() -> None:
    """Tell the launcher which Java and which Python to take; whoever set one of them knows better."""
    java = find_java()
    if java.path is None:
        raise LineageError(java.problem or "Spark needs a Java")
    os.environ["JAVA_HOME"] = str(java.path)
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        os.environ.setdefault(name, sys.executable)


def _defaults(master: str) -> dict[str, str]:
    logging = f'"-Dlog4j2.configurationFile={LOG_FILE.as_uri()}"'
    own = {
        "spark.driver.extraJavaOptions": logging,
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir(), "lineage-spark-warehouse")),
    }
    if not master.startswith("local"):
        return EVERYWHERE | own
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return EVERYWHERE | LOCALLY | own | {"spark.driver.extraJavaOptions": f"{JAVA_OPTIONS} {logging}"}
