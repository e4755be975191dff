"""The Spark session of the process, started on first use."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Protocol

from pyspark.sql import SparkSession

from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.spark.java import find_java

LOG_FILE = Path(__file__).with_name("log4j2.properties")

COMMON_CONFIG = {
    "spark.app.name": "lineage",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",  # a row is a whole file
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
}
"""Spark configuration everywhere."""

LOCAL_CONFIG = {
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
"""Spark configuration where driver and workers are one process."""

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A short-lived JVM on few cores: no second compiler, no collector threads."""


class SparkOptions(Protocol):
    """The Spark settings that a session needs."""

    @property
    def master(self) -> str:
        """Return the address of the cluster, or `local[…]`."""

    @property
    def config(self) -> dict[str, str]:
        """Return the Spark configuration beyond our own defaults."""


def get_session(options: SparkOptions) -> SparkSession:
    """Return the running session, or start one with these options."""
    running = SparkSession.getActiveSession()
    return running if running is not None else _start_session(options)


def count_jobs() -> int:
    """Count the Spark jobs that this process has started; without a session none."""
    running = SparkSession.getActiveSession()
    if running is None:
        return 0
    jobs = running.sparkContext.statusTracker().getJobIdsForGroup(None)
    return max(jobs, default=-1) + 1


def default_parallelism(running: SparkSession) -> int:
    """Return how many tasks run at a time."""
    return running.sparkContext.defaultParallelism


def _start_session(options: SparkOptions) -> SparkSession:
    _prepare_environment()
    builder = SparkSession.builder.master(options.master)
    for name, value in {**_default_config(options.master), **options.config}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _prepare_environment() -> None:
    """Set the Java and, unless already set, the Python for Spark."""
    java = find_java()
    if java.path is None:
        raise LineageError(java.problem or "Spark needs a Java")
    os.environ["JAVA_HOME"] = str(java.path)
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        os.environ.setdefault(name, sys.executable)


def _default_config(master: str) -> dict[str, str]:
    logging = f'"-Dlog4j2.configurationFile={LOG_FILE.as_uri()}"'
    own = {
        "spark.driver.extraJavaOptions": logging,
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir(), "lineage-spark-warehouse")),
    }
    if not master.startswith("local"):
        return COMMON_CONFIG | own
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return COMMON_CONFIG | LOCAL_CONFIG | own | {"spark.driver.extraJavaOptions": f"{JAVA_OPTIONS} {logging}"}
