"""Many files stream into the warehouse; memory grows only with their number, not with their content."""

import subprocess
import sys
from pathlib import Path

import pytest

STREAM = """
import resource, sys, time
from pathlib import Path
from lineage_pipeline.discover.folder import open_folder
from lineage_pipeline.config.load import Settings
from lineage_pipeline.store.warehouse import Warehouse

folder, warehouse = map(Path, sys.argv[1:])
settings = Settings(analysis={"dialect": "duckdb"})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.process_time()
gathering = open_folder(folder, settings, name="many")
run = Warehouse(warehouse).begin("many@1", "run", "key")
run.write("sources", gathering.sources())
found = gathering.done()
run.write("sql_files", found.files)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
seconds = round(time.process_time() - started, 1)
print(len(found.files), run.read("sql_files").num_rows, before // 1024, after // 1024, seconds)
"""


def make_files(folder: Path, count: int, size: int) -> None:
    """Files in folders of a thousand, each of its own content."""
    padding = "-- " + "x" * (size - 60) + "\n"
    for number in range(count):
        parent = folder / f"{number // 1000:04}"
        if number % 1000 == 0:
            parent.mkdir(parents=True)
        (parent / f"t{number}.sql").write_text(f"{padding}create table t{number} (id int, a{number} text);\n")


def stream(folder: Path, warehouse: Path) -> tuple[int, int, int, int, float]:
    """Stream a folder in a process of its own: files, rows, megabytes before and after, CPU seconds."""
    command = [sys.executable, "-W", "ignore", "-c", STREAM, str(folder), str(warehouse)]
    files, rows, before, after, seconds = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.split()
    return int(files), int(rows), int(before), int(after), float(seconds)


@pytest.mark.slow
def test_memory_does_not_grow_with_what_is_in_the_files(tmp_path: Path) -> None:
    make_files(tmp_path / "small", 1000, 1000)
    make_files(tmp_path / "large", 1000, 200_000)
    small, large = (stream(tmp_path / name, tmp_path / f"{name}-warehouse") for name in ("small", "large"))
    assert (small[0], small[1], large[0], large[1]) == (1000, 1000, 1000, 1000)
    assert large[3] - large[2] < (small[3] - small[2]) + 120  # of 200 MB of text, which are there twice


@pytest.mark.soak
def test_two_hundred_thousand_files_pass_in_bounded_memory(tmp_path: Path) -> None:
    make_files(tmp_path / "many", 200_000, 2000)
    files, rows, before, after, seconds = stream(tmp_path / "many", tmp_path / "warehouse")
    print(f"\n{files} files, {after - before} MB over {before} MB, {seconds} CPU seconds")
    assert (files, rows) == (200_000, 200_000)
    assert after - before < 1000
