"""Impact questions on column graphs of a million edges and more, once the graph is loaded."""

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.figures import Figure
from lineage_pipeline.engine.trace.column_graph import find_downstream
from lineage_pipeline.store.stored_facts import load_column_graph

COLUMNS = 10
"""Columns of an object."""

INPUTS = 2
"""Columns that each column is made of."""

LAYERS = 8
QUESTIONS = 300


class Made:
    """Tables in Parquet files of a folder: what a graph is loaded from, and nothing else."""

    def __init__(self, folder: Path) -> None:
        """Take the folder."""
        self.key: tuple[str, ...] = ("benchmark",)
        self._folder = folder

    def open(self, table: str) -> "Iterator[pq.ParquetFile]":
        """Open the one file of a table."""
        yield pq.ParquetFile(self._folder / f"{table}.parquet")


def write_graph(folder: Path, edges: int, seed: int = 0) -> None:
    """Write a layered warehouse of about that many edges; each column reads columns of the layers below."""
    chance = Random(seed)
    objects = edges // (COLUMNS * INPUTS)
    layer = max(1, objects // LAYERS)
    rows: dict[str, list[str]] = {name: [] for name in ("from_object", "from_column", "to_object", "to_column")}
    for number in range(layer, objects + layer):
        below = max(0, (number // layer - 1) * layer)
        for column in range(COLUMNS):
            for _ in range(INPUTS):
                rows["from_object"].append(f"layer.object_{below + chance.randrange(layer)}")
                rows["from_column"].append(f"column_{chance.randrange(COLUMNS)}")
                rows["to_object"].append(f"layer.object_{number}")
                rows["to_column"].append(f"column_{column}")
    content: dict[str, Any] = {name: pa.array(values, pa.string()) for name, values in rows.items()}
    content["type"] = pa.repeat(pa.scalar("DIRECT"), len(rows["to_object"]))
    pq.write_table(pa.table(content), folder / "column_edges.parquet")
    names = [(f"layer.object_{number}", f"column_{c}") for number in range(objects + layer) for c in range(COLUMNS)]
    listed = {"object": [name for name, _ in names], "name": [column for _, column in names]}
    pq.write_table(pa.table(listed), folder / "columns.parquet")


def questions(edges: int) -> Iterator[Figure]:
    """Give the median and the 95th percentile of questions about columns drawn by lot."""
    with tempfile.TemporaryDirectory(prefix="lineage-graph-") as folder:
        write_graph(Path(folder), edges)
        begun = time.process_time()
        graph = load_column_graph(Made(Path(folder)))
        loading = time.process_time() - begun
    chance, taken, reached = Random(1), [], []
    for _ in range(QUESTIONS):
        start = graph.refs[chance.randrange(graph.columns)]
        begun = time.process_time()
        found = find_downstream(graph, [start])
        taken.append((time.process_time() - begun) * 1000)
        reached.append(len(found))
    name = f"{edges / 1e6:g}M edges, {graph.columns:,} columns"
    share = statistics.quantiles(taken, n=20)
    note = f"median {share[9]:.2f} ms; {statistics.median(reached):.0f} columns in an answer, at most {max(reached)}"
    yield Figure(f"impact question, {edges / 1e6:g}M edges, loaded, p95", name, share[18], "ms", note)
    yield Figure(f"loading a graph of {edges / 1e6:g}M edges (CPU)", name, loading, "s")
