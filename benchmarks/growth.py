"""Growth: ten times the statements, and what that costs in time and memory, each size in a process of its own."""

import gc
import resource
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks.apart import apart
from benchmarks.clocks import cpu_seconds
from benchmarks.figures import Figure
from benchmarks.generate import generate
from lineage_pipeline import pipeline
from lineage_pipeline.engine.trace.reach import build_column_reach
from lineage_pipeline.model.analysis import InputFile, Options

DIALECT = "snowflake"


class Cost(msgspec.Struct, frozen=True):
    """What a repository of one size costs: CPU seconds up to the edges and for reach, and memory in MB."""

    statements: int
    edges: int
    columns: int
    seconds: float
    reach: float
    memory: float


def measure_sizes(sizes: Sequence[int]) -> Iterator[Cost]:
    """Measure sizes one after the other; the smallest is measured thrice, since it is over so soon."""
    for size in sizes:
        runs = [apart(cost_of, size, "spawn") for _ in range(3 if size < 5_000 else 1)]
        yield min(runs, key=lambda cost: cost.seconds)


def cost_of(statements: int) -> Cost:
    """Measure one size in this process."""
    files = [InputFile(path, text, Options(DIALECT)) for path, text in sorted(generate(statements).items())]
    pipeline.build_lineage(files[:20])  # imports are no part of the work
    gc.collect()
    before = resident()
    begun = cpu_seconds()
    lineage = pipeline.build_lineage(files, reach=False)
    seconds = cpu_seconds() - begun
    after = resident()
    begun = cpu_seconds()
    build_column_reach(lineage)
    spent = cpu_seconds() - begun
    return Cost(
        len(lineage.statements), len(lineage.column_edges), len(lineage.columns), seconds, spent, after - before
    )


def resident() -> float:
    """Give the memory of this process in MB, now where the system tells, else the most that it ever was."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def figures(costs: Sequence[Cost]) -> Iterator[Figure]:
    """Compare each size with the one before."""
    for small, large in zip(costs, costs[1:], strict=False):
        scale = large.statements / small.statements / 10
        name = f"{small.statements:,} → {large.statements:,}"
        times = f"{small.seconds:.2f} s → {large.seconds:.2f} s"
        yield Figure("10 × the statements, time (CPU)", name, large.seconds / small.seconds / scale, note=times)
        sizes = f"{small.memory:.0f} MB → {large.memory:.0f} MB"
        yield Figure("10 × the statements, memory", name, large.memory / small.memory / scale, note=sizes)
        spent = f"{small.reach:.2f} s → {large.reach:.2f} s"
        yield Figure("10 × the statements, reach of columns (CPU)", name, large.reach / small.reach / scale, note=spent)
