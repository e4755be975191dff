"""Spark on one core and on two: `python -m benchmarks.spark_runs FOLDER CORES` is one run, and prints JSON."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.clocks import cpu_seconds
from benchmarks.figures import Figure
from benchmarks.generate import generate, write
from benchmarks.growth import DIALECT
from benchmarks.processes import Meter
from lineage_pipeline import pipeline
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.folder import discover_folder

MEMORY = "4g"


class SparkRun(msgspec.Struct, frozen=True):
    """A snapshot on Spark: wall seconds of start and steps, CPU of all processes, counted work, bytes stored, held."""

    cores: int
    start: float
    steps: dict[str, float]
    cpu: float
    jobs: int
    shuffled_rows: int
    shuffled_bytes: int
    stored: dict[str, int]
    memory: dict[str, int]

    @property
    def seconds(self) -> float:
        """Give the wall time of the snapshot, without the start of Spark."""
        return sum(self.steps.values())


class Local(msgspec.Struct, frozen=True):
    """The same in one process, with the reach of columns as on Spark."""

    wall: float
    cpu: float


def measure(statements: int, cores: Sequence[int] = (1, 2)) -> tuple[Local, list[SparkRun]]:
    """Measure one repository in process and on Spark."""
    with tempfile.TemporaryDirectory(prefix="lineage-bench-") as folder:
        write(generate(statements, dialect=DIALECT), Path(folder))
        Path(folder, "lineage.toml").write_text(f'[analysis]\ndialect = "{DIALECT}"\n', encoding="utf-8")
        local = _call(folder, "0", type_of=Local)
        return local, [_call(folder, str(count), type_of=SparkRun) for count in cores]


def _call(folder: str, cores: str, type_of: Any) -> Any:
    command = [sys.executable, "-m", "benchmarks.spark_runs", folder, cores]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=type_of)


def figures(statements: int, local: Local, runs: Sequence[SparkRun]) -> Iterator[Figure]:
    """Compare the runs with each other and with one process."""
    name = f"{statements:,} statements"
    one = runs[0]
    for run in runs:
        whole = run.seconds / (local.wall / run.cores)
        label = "Spark, whole snapshot ÷ (in process ÷ cores) (wall)"
        note = f"{run.cores} cores: {run.seconds:.1f} s against {local.wall:.1f} s in process; start {run.start:.1f} s"
        yield Figure(label if run.cores > 1 else f"{label}, 1 core", name, whole, note=note)
        spent, label = f"{run.cpu:.1f} s of all processes against {local.cpu:.1f} s", f"Spark, {run.cores} cores"
        yield Figure(f"{label}, whole snapshot ÷ in process (CPU)", name, run.cpu / local.cpu, note=spent)
        if run is not one:
            times = f"{one.steps['compile']:.1f} s → {run.steps['compile']:.1f} s"
            ratio = one.steps["compile"] / run.steps["compile"]
            yield Figure("Spark, compile stage, 1 core ÷ 2 cores (wall)", name, ratio, note=times)
        counted = f"{run.shuffled_rows:,} rows and {run.shuffled_bytes / 1e6:.1f} MB shuffled"
        yield Figure(f"Spark, {run.cores} cores, jobs", name, run.jobs, "jobs", counted)


def run_local(folder: Path) -> Local:
    """Analyze a folder in this process."""
    settings = load_settings(folder, {}, {})
    wall, cpu = time.perf_counter(), cpu_seconds()
    pipeline.build_lineage(build_input_files(discover_folder(folder, settings), settings))
    return Local(time.perf_counter() - wall, cpu_seconds() - cpu)


def run_spark(folder: Path, cores: int) -> SparkRun:
    """Analyze a folder on Spark, after a first job that no figure counts."""
    from benchmarks.snapshots import run_snapshot
    from benchmarks.stages import shuffled
    from lineage_pipeline.spark.session import count_jobs, get_session

    with tempfile.TemporaryDirectory(prefix="lineage-warehouse-") as warehouse:
        config = {"spark.driver.memory": MEMORY}
        given = {"warehouse": warehouse, "spark": {"master": f"local[{cores},4]", "config": config}}
        settings = load_settings(folder, given, {})
        begun = time.perf_counter()
        spark = get_session(settings.spark)
        spark.range(2).mapInArrow(lambda batches: batches, "id long").collect()
        start = time.perf_counter() - begun
        meter, jobs = Meter(), count_jobs()
        before = meter.seconds()
        begun = time.perf_counter()
        found = discover_folder(folder, settings)
        discovery = time.perf_counter() - begun
        steps = {"discovery": discovery, **run_snapshot(found, settings, lambda: spark)}
        rows, size = shuffled(spark)
        spent = meter.seconds() - before
        counted, stored = count_jobs() - jobs, _stored(Path(warehouse))
        made = SparkRun(cores, start, steps, spent, counted, rows, size, stored, meter.largest)
        spark.stop()
        return made


def _stored(warehouse: Path) -> dict[str, int]:
    """Add up the bytes of each folder of a warehouse."""
    return {
        folder.name: sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        for folder in sorted(warehouse.iterdir())
        if folder.is_dir()
    }


def main(folder: str, cores: str) -> None:
    """Run once, in this process."""
    made = run_spark(Path(folder), int(cores)) if int(cores) else run_local(Path(folder))
    print(msgspec.json.encode(made).decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
