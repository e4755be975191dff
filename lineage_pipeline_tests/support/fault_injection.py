"""Fault injection: a process that writes a snapshot while others kill it, and what a reader may see meanwhile.

`python -m lineage_pipeline_tests.support.fault_injection write WAREHOUSE FOLDER RUN` writes and publishes the lineage
of a folder, without Spark; `… kill ROUNDS` kills that many such writers, each at another moment; `… points STEP` kills
a writer at every so many of its calls, and around its publication; `… runs ROUNDS` kills whole runs of the pipeline.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lineage_pipeline import pipeline
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.tables import TABLES
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.example_run import canonical_rows
from lineage_pipeline_tests.support.paths import ROOT


def write_many_files(folder: Path) -> None:
    """Write enough files that writing their lineage takes a while."""
    for number in range(40):
        text = "".join(
            f"create table t{number}_{at} (a int, b int);\ncreate view v{number}_{at} as select a, b + {at} as c from "
            f"t{number}_{at};\n"
            for at in range(20)
        )
        (folder / f"f{number}.sql").write_text(text)


def write_lineage_of_folder(warehouse: Path, folder: Path, run: str) -> None:
    """Write and publish the lineage of a folder; print `ready` when writing begins."""
    settings = load_settings(folder, {"analysis": {"dialect": "postgres"}}, {})
    key = compute_analysis_key(settings)
    found = discover_folder(folder, settings, name="repo", analysis_key=key)
    lineage = pipeline.build_lineage(build_input_files(found, settings))
    print("ready", flush=True)
    opened = Warehouse(warehouse).begin(found.key, run, key)
    opened.write("snapshots", [found.snapshot])
    opened.write("sources", found.sources)
    opened.write("sql_files", found.files)
    for table in LineageTables.__struct_fields__:
        if table in TABLES:
            opened.write(table, getattr(lineage, table))
    opened.publish()
    print("published", flush=True)


def start_writer(warehouse: Path, folder: Path, run: str) -> subprocess.Popen[str]:
    """Start a writer, and wait until it begins to write."""
    command = [sys.executable, "-W", "ignore", "-m", "lineage_pipeline_tests.support.fault_injection", "write"]
    process = subprocess.Popen(
        [*command, str(warehouse), str(folder), run],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    return process


def run_writer(warehouse: Path, folder: Path, run: str) -> float:
    """Run a writer to its end, and return the seconds that it took."""
    with start_writer(warehouse, folder, run) as process:
        began = time.monotonic()
        assert process.wait() == 0
        return time.monotonic() - began


def read_published(warehouse: Path) -> list[dict[str, list[bytes]]]:
    """The rows of every published snapshot, complete, or an error."""
    opened = Warehouse(warehouse)
    return [canonical_rows(opened.load(manifest.key[0])) for manifest in opened.snapshots()]


def kill_writers(place: Path, rounds: int, chance: random.Random) -> int:
    """Kill writers at random moments; return how many were killed before they had published."""
    folder, calm = place / "repo", place / "calm"
    folder.mkdir()
    write_many_files(folder)
    takes = run_writer(calm, folder, "calm")
    (expected,) = read_published(calm)
    killed, warehouse, earlier = 0, place / "warehouse", set[str]()
    for number in range(rounds):
        with start_writer(warehouse, folder, f"run{number}") as process:
            time.sleep(chance.random() * takes)
            process.send_signal(signal.SIGKILL)
            killed += process.wait() != 0
        assert read_published(warehouse) in ([], [expected])
        earlier |= published_files(warehouse)  # killed behind its publication: somebody may be reading it
        if chance.random() < 0.5:  # sometimes the next one comes upon what is left of two
            continue
        takes = run_writer(warehouse, folder, f"again{number}")
        assert read_published(warehouse) == [expected]
        assert _list_parquet_files(warehouse) == earlier | published_files(
            warehouse
        )  # nothing of those that were killed
        Warehouse(warehouse).collect()
        assert _list_parquet_files(warehouse) == published_files(warehouse)
        assert read_published(warehouse) == [expected]
        shutil.rmtree(warehouse)
        earlier = set()
    return killed


def _list_parquet_files(warehouse: Path) -> set[str]:
    return {path.relative_to(warehouse).as_posix() for path in warehouse.rglob("*.parquet")}


def published_files(warehouse: Path) -> set[str]:
    """The files of the published snapshots."""
    return {path for manifest in Warehouse(warehouse).snapshots() for path in manifest.paths()}


def kill_runs(place: Path, rounds: int, chance: random.Random) -> int:
    """Kill whole runs of the pipeline on the example; the last run is not killed and must give the same rows."""
    from lineage_pipeline.discover.example.repository import build_example

    example = build_example(ROOT / "sql_assets", place / "repo")
    command = [sys.executable, "-W", "ignore", "-m", "lineage_pipeline.cli", "run", "--repo", str(example.path)]
    command += ["--rev", example.base, "--rev", example.head]
    expected = _run_and_read(command, place / "calm")
    killed, disturbed = 0, place / "disturbed"
    disturbed.mkdir()
    for _ in range(rounds):
        process = subprocess.Popen(
            command, cwd=disturbed, start_new_session=True, stdout=-3, stderr=-3, env=_environment()
        )
        time.sleep(5 + chance.random() * 60)
        os.killpg(process.pid, signal.SIGKILL)
        killed += process.wait() != 0
        assert all(seen_one in expected for seen_one in read_published(disturbed / ".lineage" / "warehouse"))
    assert _run_and_read(command, disturbed) == expected
    return killed


def _run_and_read(command: list[str], folder: Path) -> list[dict[str, list[bytes]]]:
    folder.mkdir(exist_ok=True)
    subprocess.run(command, cwd=folder, check=True, stdout=-3, stderr=-3, env=_environment())
    return read_published(folder / ".lineage" / "warehouse")


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def kill_at_points(place: Path, step: int) -> str:
    """Kill a writer at every so many of its calls, and at each call around its publication."""
    from lineage_pipeline_tests.support.killed_writers import KilledWriters

    writers = KilledWriters(place)
    for point in range(1, writers.points, step):
        writers.is_published_after(point)
    shown = writers.find_publication_point()
    seen_after = [writers.is_published_after(point, alone=True) for point in range(shown - 20, shown + 20)]
    assert seen_after == [False] * 20 + [True] * 20
    return f"{writers.points} points, {writers.killed} writers killed at one; the new rows are seen from {shown} on"


def main() -> None:
    """Write, or kill writers."""
    match sys.argv[1:]:
        case ["write", warehouse, folder, run]:
            write_lineage_of_folder(Path(warehouse), Path(folder), run)
        case ["kill", rounds]:
            with tempfile.TemporaryDirectory() as place:
                chance = random.Random(0)
                killed = kill_writers(Path(place), int(rounds), chance)
                print(f"{rounds} rounds, {killed} writers killed before they had published; no reader saw a part")
                assert killed, "none was killed"
        case ["points", step]:
            with tempfile.TemporaryDirectory() as place:
                print(kill_at_points(Path(place), int(step)))
        case ["runs", rounds]:
            with tempfile.TemporaryDirectory() as place:
                killed = kill_runs(Path(place), int(rounds), random.Random(0))
                print(f"{rounds} whole runs, {killed} killed before their end; the rows are those of a calm run")
                assert killed, "none was killed"
        case _:
            sys.exit(str(__doc__))


if __name__ == "__main__":
    main()
