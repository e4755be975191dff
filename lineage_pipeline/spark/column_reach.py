"""The reach of every column: a task holds the whole graph as arrays, one for values, one for all edges."""

from array import array

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from lineage_pipeline.engine.trace.reach import CountingGraph, ReachCounts, count_both_directions, sampling_hash
from lineage_pipeline.spark.frames import Batches, build_batch, to_spark_schema
from lineage_pipeline.spark.workspace import Workspace
from lineage_pipeline.store.stored_facts import EDGE_COLUMNS, GraphLayout

DIRECT, EVERY = 0, 1
"""The two sets of edges to count by; each is a task."""

COLUMN_KEYS_SCHEMA = pa.schema([("object", pa.string()), ("ordinal", pa.int64()), ("name", pa.string())])
REACH_INPUT_SCHEMA = pa.schema(
    [*COLUMN_KEYS_SCHEMA, *((name, pa.string()) for name in EDGE_COLUMNS), ("way", pa.int32())]
)
"""Input of a task: a row is a column or the ends of an edge."""

COUNT_COLUMNS = (
    "upstream_columns",
    "upstream_objects",
    "upstream_depth",
    "downstream_columns",
    "downstream_objects",
    "downstream_depth",
    "leaves",
)
COUNTED_SCHEMA = pa.schema(
    [*COLUMN_KEYS_SCHEMA, ("way", pa.int32()), ("exact", pa.bool_()), *((name, pa.int64()) for name in COUNT_COLUMNS)]
)
PUBLIC_COUNTS = {
    DIRECT: ("direct", COUNT_COLUMNS),
    EVERY: ("all", tuple(name for name in COUNT_COLUMNS if name != "leaves" and "depth" not in name)),
}
"""The prefix and the counts that the table has of each set of edges."""

ROWS_A_BATCH = 10_000
"""Rows that a task yields at a time."""


def count_reach(work: Workspace) -> DataFrame:
    """Count in tasks; no column and no edge comes to the driver."""
    edges, listed = (
        work.read_table("column_edges").select(*EDGE_COLUMNS),
        work.read_table("columns").select(*COLUMN_KEYS_SCHEMA.names),
    )
    both = edges.distinct().unionByName(listed, allowMissingColumns=True)
    ways = both.withColumn("way", f.explode(f.array(f.lit(DIRECT), f.lit(EVERY))))
    counted = (
        ways.select(*REACH_INPUT_SCHEMA.names)
        .repartitionById(2, "way")
        .mapInArrow(_count_batches, to_spark_schema(COUNTED_SCHEMA))
    )
    (snapshot,) = work.run.key
    picked = [_pick_count(way, name) for way, (_, names) in PUBLIC_COUNTS.items() for name in names]
    joint = counted.groupBy(*COLUMN_KEYS_SCHEMA.names).agg(*picked, f.min("exact").alias("exact"))
    return joint.select(f.lit(snapshot).alias("snapshot"), "*")


def _pick_count(way: int, name: str) -> Column:
    return f.max(f.when(f.col("way") == way, f.col(name))).alias(f"{PUBLIC_COUNTS[way][0]}_{name}")


def _count_batches(batches: Batches) -> Batches:
    """Run in a task: collect the graph, count one set of edges, and yield a row for each column."""
    given = list(batches)
    if not given:
        return
    content = pa.Table.from_batches(given)
    given.clear()
    way = content["way"][0].as_py()
    edges = content.filter(content["type"].is_valid()).select(list(EDGE_COLUMNS))
    listed = content.filter(content["ordinal"].is_valid()).select(COLUMN_KEYS_SCHEMA.names)
    del content
    laid = GraphLayout(edges, listed.select(["object", "name"]))
    del edges
    up, down = count_both_directions(_build_reach_net(laid, way == DIRECT))
    for first in range(0, listed.num_rows, ROWS_A_BATCH):
        some = listed.slice(first, ROWS_A_BATCH)
        nodes = laid.nodes(some.select(["object", "name"]))
        counts = dict(zip(COUNT_COLUMNS, _count_series(up, down, nodes), strict=True))
        exact = [node not in up.estimated and node not in down.estimated for node in nodes]
        own = {name: some[name].to_pylist() for name in COLUMN_KEYS_SCHEMA.names}
        yield build_batch(COUNTED_SCHEMA, {**own, "way": [way] * len(nodes), "exact": exact, **counts})


def _build_reach_net(laid: GraphLayout, direct_only: bool) -> CountingGraph:
    def spreads() -> "array[int]":
        found = array("L")
        for some in laid.refs.to_batches(max_chunksize=ROWS_A_BATCH):
            found.extend(map(sampling_hash, some["object"].to_pylist(), some["column"].to_pylist()))
        return found

    return CountingGraph(
        columns=laid.columns, into=laid.into, links=laid.links(direct_only), owners=laid.owners(), spread=spreads
    )


def _count_series(up: ReachCounts, down: ReachCounts, nodes: list[int]) -> list[list[int]]:
    series = (up.columns, up.objects, up.depth, down.columns, down.objects, down.depth, down.leaves)
    return [[values[node] for node in nodes] for values in series]
