"""`python -m benchmarks.explorer [MARTS]`: how long the explorer's server takes to search and to look around.

Without marts it analyses a repository of so many statements (11,000 have about 100,000 columns) and builds them.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.generate import generate, write
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.pipeline import analyze_files
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.web import mart_queries
from lineage_pipeline.web.marts import Marts
from lineage_pipeline.web.neighborhood import NeighborhoodView, build_drawing, find_neighborhood
from lineage_pipeline_tests.support.dbt_builds import run_dbt
from lineage_pipeline_tests.support.example_history import publish_snapshot

OWED = {"search": 0.300, "neighborhood": 0.050}
"""Seconds at the 95th percentile."""


class Timing(NamedTuple):
    """How long something took, half of the times and nineteen times of twenty; `cpu` is what it computed meanwhile."""

    name: str
    rounds: int
    median: float
    most: float
    cpu: float


def make_marts(folder: Path, statements: int, dialect: str = "postgres") -> tuple[Path, float]:
    """Analyze a synthetic repository and build its marts; give the file and the seconds that dbt took."""
    write(generate(statements, dialect=dialect), folder / "repository")
    rules = load_settings(folder / "repository", {"analysis": {"dialect": dialect}}, {})
    found = discover_folder(folder / "repository", rules, name="synthetic")
    warehouse = Warehouse(folder / "warehouse")
    lineage = analyze_files(list(build_input_files(found, rules))).lineage
    publish_snapshot(warehouse, found, lineage, compute_analysis_key(rules))
    started = time.monotonic()
    built = run_dbt(folder, warehouse)
    if built.failed or built.message != "None":
        raise SystemExit(f"dbt failed: {sorted(built.failed)} {built.message}")
    return built.marts, time.monotonic() - started


def measure(path: Path, rounds: int = 60, seed: int = 0) -> list[Timing]:
    """Search for parts of names and look around objects, drawn by lot."""
    marts, chance = Marts(path), Random(seed)
    snapshot = mart_queries.list_snapshots(marts)[0]["snapshot"]
    sql = "select object, column_name from marts.columns where snapshot = ? order by all"
    names = [(row["object"], row["column_name"]) for row in marts.ask(sql, snapshot)]
    drawn = [chance.choice(names) for _ in range(rounds)]

    def search(name: tuple[str, str]) -> None:
        mart_queries.search_marts(marts, snapshot, f"{name[0].rpartition('.')[2][:6]} {name[1][:4]}", 100)

    def look(name: tuple[str, str]) -> None:
        build_drawing(find_neighborhood(marts, NeighborhoodView(snapshot, name[0])))

    found = [_timed("search", search, drawn), _timed("neighborhood", look, drawn)]
    marts.close()
    return found


def _timed(name: str, act: Callable[[tuple[str, str]], None], drawn: Sequence[tuple[str, str]]) -> Timing:
    act(drawn[0])
    times, computed = [], []
    for one in drawn:
        started, before = time.perf_counter(), time.process_time()
        act(one)
        computed.append(time.process_time() - before)
        times.append(time.perf_counter() - started)
    last = min(len(times) - 1, len(times) * 95 // 100)
    times.sort()
    return Timing(name, len(times), times[len(times) // 2], times[last], sorted(computed)[last])


def report(timings: Sequence[Timing]) -> str:
    """Give the figures as a table."""
    lines = ["| what | rounds | p50 ms | p95 ms | p95 ms of CPU | aim |", "|---|--:|--:|--:|--:|--:|"]
    for one in timings:
        figures = (
            f"{1000 * one.median:.1f} | {1000 * one.most:.1f} | {1000 * one.cpu:.1f} | {1000 * OWED[one.name]:.0f}"
        )
        lines.append(f"| {one.name} | {one.rounds} | {figures} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser("python -m benchmarks.explorer", description=__doc__)
    parser.add_argument("marts", nargs="?", type=Path, help="a DuckDB file of marts; a synthetic one otherwise")
    parser.add_argument("--statements", type=int, default=11_000, help="size of the synthetic repository")
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args(arguments)
    if options.marts is not None:
        print(report(measure(options.marts, options.rounds)))
        return 0
    with tempfile.TemporaryDirectory(prefix="lineage explorer ") as folder:
        marts, seconds = make_marts(Path(folder), options.statements)
        print(f"dbt build: {seconds:.1f} s")
        print(report(measure(marts, options.rounds)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
