"""Reach: how far every column reaches; a task holds the whole graph as arrays, one by values, one by all edges."""

from array import array

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from lineage_pipeline.engine.trace.reach import Counts, Net, count_ways, spread
from lineage_pipeline.spark.frames import Batches, batch, spark_schema
from lineage_pipeline.spark.work import Work
from lineage_pipeline.store.graph import ENDS, Layout

DIRECT, EVERY = 0, 1
"""The two ways to count; each is a task."""

LISTED = pa.schema([("object", pa.string()), ("ordinal", pa.int64()), ("name", pa.string())])
PIECES = pa.schema([*LISTED, *((name, pa.string()) for name in ENDS), ("way", pa.int32())])
"""What a task is given: columns and the ends of edges; a row is one of them."""

NUMBERS = (
    "upstream_columns",
    "upstream_objects",
    "upstream_depth",
    "downstream_columns",
    "downstream_objects",
    "downstream_depth",
    "leaves",
)
COUNTED = pa.schema([*LISTED, ("way", pa.int32()), ("exact", pa.bool_()), *((name, pa.int64()) for name in NUMBERS)])
WANTED = {
    DIRECT: ("direct", NUMBERS),
    EVERY: ("all", tuple(name for name in NUMBERS if name != "leaves" and "depth" not in name)),
}
"""What the table has of each way, and how the names of those columns begin."""

ROWS = 10_000
"""Rows that a task gives at a time."""


def reach_rows(work: Work) -> DataFrame:
    """Count in tasks; no column and no edge comes to the driver."""
    edges, listed = work.table("column_edges").select(*ENDS), work.table("columns").select(*LISTED.names)
    both = edges.distinct().unionByName(listed, allowMissingColumns=True)
    ways = both.withColumn("way", f.explode(f.array(f.lit(DIRECT), f.lit(EVERY))))
    counted = ways.select(*PIECES.names).repartitionById(2, "way").mapInArrow(_count, spark_schema(COUNTED))
    (snapshot,) = work.run.key
    picked = [_pick(way, name) for way, (_, names) in WANTED.items() for name in names]
    joint = counted.groupBy(*LISTED.names).agg(*picked, f.min("exact").alias("exact"))
    return joint.select(f.lit(snapshot).alias("snapshot"), "*")


def _pick(way: int, name: str) -> Column:
    return f.max(f.when(f.col("way") == way, f.col(name))).alias(f"{WANTED[way][0]}_{name}")


def _count(batches: Batches) -> Batches:
    """Run in a task: gather the graph, count one way, and give a row for each column."""
    given = list(batches)
    if not given:
        return
    content = pa.Table.from_batches(given)
    given.clear()
    way = content["way"][0].as_py()
    edges = content.filter(content["type"].is_valid()).select(list(ENDS))
    listed = content.filter(content["ordinal"].is_valid()).select(LISTED.names)
    del content
    laid = Layout(edges, listed.select(["object", "name"]))
    del edges
    up, down = count_ways(_net(laid, way == DIRECT))
    for first in range(0, listed.num_rows, ROWS):
        some = listed.slice(first, ROWS)
        nodes = laid.nodes(some.select(["object", "name"]))
        counts = dict(zip(NUMBERS, _numbers(up, down, nodes), strict=True))
        exact = [node not in up.estimated and node not in down.estimated for node in nodes]
        own = {name: some[name].to_pylist() for name in LISTED.names}
        yield batch(COUNTED, {**own, "way": [way] * len(nodes), "exact": exact, **counts})


def _net(laid: Layout, direct_only: bool) -> Net:
    def spreads() -> "array[int]":
        found = array("L")
        for some in laid.refs.to_batches(max_chunksize=ROWS):
            found.extend(map(spread, some["object"].to_pylist(), some["column"].to_pylist()))
        return found

    return Net(laid.columns, laid.into, laid.links(direct_only), laid.owners(), spreads)


def _numbers(up: Counts, down: Counts, nodes: list[int]) -> list[list[int]]:
    series = (up.columns, up.objects, up.depth, down.columns, down.objects, down.depth, down.leaves)
    return [[values[node] for node in nodes] for values in series]
