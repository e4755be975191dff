"""Two published snapshots on Spark: hashes find what differs, names say how far to look, a task compares those rows.

The driver holds names, files, and the changes themselves; no column and no edge.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from lineage_pipeline.engine.diff import Policy, diff
from lineage_pipeline.engine.diff.extent import (
    LINKS,
    MAKING,
    NEEDED_AT,
    OWNERS,
    PLACED,
    Differing,
    Extent,
    extent,
    needed_by,
)
from lineage_pipeline.spark.frames import Batches, read, row_array, row_schema, spark_schema
from lineage_pipeline.store.arrays import from_arrow
from lineage_pipeline.store.run import Run
from lineage_pipeline.store.schemas import arrow_schema
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.tables import TABLES, Change, ObjectRow, ObjectStatement, Source

BASE, HEAD = 0, 1

PIECES = pa.schema([("side", pa.int32()), *((table, row_schema(table)) for table in OWNERS)])
"""What the task is given: a row of one table of one side."""

FOUND = pa.schema([("change", row_schema("changes"))])

ValueT = TypeVar("ValueT")


class Sides(msgspec.Struct, frozen=True):
    """Two published snapshots, and who opens their tables."""

    session: SparkSession
    base: Run
    head: Run

    def table(self, side: int, name: str) -> DataFrame:
        """Open a table of one side, without the snapshot that it is stored under."""
        run = self.base if side == BASE else self.head
        return read(self.session, run.files(name), arrow_schema(name)).drop("snapshot")

    def rows(self, row: type[ValueT]) -> Iterable[ValueT]:
        """Read the names of both sides."""
        return [one for run in (self.base, self.head) for one in run.rows(row)]  # type: ignore[type-var]


def compare(sides: Sides, policy: Policy) -> tuple[Change, ...]:
    """List the changes between two snapshots, as `diff` of the two lineages does."""
    differing = _differing(sides)
    if not differing.objects and not differing.paths:
        return ()
    found = extent(differing, sides.rows(ObjectRow), sides.rows(ObjectStatement), _links(sides))
    rows = _needed(sides, found).repartition(1).mapInArrow(_comparing(policy), spark_schema(FOUND))
    changes = rows.select("change.*").toArrow()
    return from_arrow("changes", changes, Change)


def sources_with(sides: Sides, pattern: str) -> tuple[Source, ...]:
    """Read the sources of the head that hold what fits a regular expression; all of them may be many."""
    found = sides.table(HEAD, "sources").where(f.col("text").rlike(pattern)).toArrow()
    return from_arrow("sources", found, Source)


def _differing(sides: Sides) -> Differing:
    """Hash the rows of both sides, and name the objects and files of those that have no counterpart."""
    hashed = [_hashed(sides.table(side, table), table, side) for table in OWNERS for side in (BASE, HEAD)]
    rows = reduce(DataFrame.union, hashed).groupBy("table", "object", "path", "hash").agg(f.sum("count").alias("count"))
    names = rows.where("count != 0").select("object", "path").distinct().toArrow()
    objects, paths = (frozenset(names[name].to_pylist()) - {None} for name in ("object", "path"))
    return Differing(objects, paths)


def _hashed(rows: DataFrame, table: str, side: int) -> DataFrame:
    """Give a row's owner, its file where that bears on it, and a hash of all that it says."""
    counted = f.col("role").isin([role.value for role in MAKING]) if table == "object_statements" else f.lit(True)  # noqa: FBT003
    return rows.select(
        f.lit(table).alias("table"),
        f.when(counted, f.col(OWNERS[table])).alias("object"),
        (f.col("path") if table in PLACED else f.lit(None).cast("string")).alias("path"),
        f.xxhash64(f.to_json(f.struct("*"))).alias("hash"),
        f.lit(1 if side == HEAD else -1).alias("count"),
    )


def _links(sides: Sides) -> list[tuple[str, str]]:
    """Say who feeds whom on either side, as edges and foreign keys tell it."""
    ends = ("source", "reader")
    tables = [
        sides.table(side, table).select(*(f.col(column).alias(end) for column, end in zip(columns, ends, strict=True)))
        for table, columns in LINKS.items()
        for side in (BASE, HEAD)
    ]
    pairs = reduce(DataFrame.union, tables).dropna().distinct().toArrow()
    return list(zip(*(pairs[name].to_pylist() for name in ends), strict=True))


def _needed(sides: Sides, found: Extent) -> DataFrame:
    """Gather the rows of both sides that the extent covers, one column for each table."""
    objects, paths = _names(sides.session, found.objects), _names(sides.session, found.paths)
    statements = reduce(DataFrame.union, [sides.table(side, "statements") for side in (BASE, HEAD)])
    near = statements.join(f.broadcast(paths), f.col("path") == f.col("one"), "left_semi")
    prints = near.select(f.col("fingerprint").alias("one")).distinct()
    pieces = []
    for table in OWNERS:
        ways: list[tuple[DataFrame, str]] = [(objects, name) for name in needed_by(table)]
        ways += [(paths, "path")] if table in NEEDED_AT else []
        ways += [(prints, "fingerprint")] if table == "statements" else []  # who stands elsewhere is known by it
        for side in (BASE, HEAD):
            kept = _any_of(sides.table(side, table), ways)
            pieces.append(kept.select(f.lit(side).alias("side"), f.struct(*row_names(table)).alias(table)))
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), pieces).select(*PIECES.names)


def _any_of(rows: DataFrame, ways: Iterable[tuple[DataFrame, str]]) -> DataFrame:
    """Keep the rows that one of the lists of names holds, each once."""
    marked = rows
    marks: list[Column] = []
    for number, (names, column) in enumerate(ways):
        mark = f"in_{number}"
        held = names.select(f.col("one").alias(f"name_{number}"), f.lit(True).alias(mark))  # noqa: FBT003
        marked = marked.join(f.broadcast(held), f.col(column) == f.col(f"name_{number}"), "left")
        marks.append(f.col(mark).isNotNull())
    return marked.where(reduce(Column.__or__, marks))


def _names(session: SparkSession, names: Iterable[str]) -> DataFrame:
    return session.createDataFrame(pa.table({"one": pa.array(sorted(names), pa.string())}))


def row_names(table: str) -> list[str]:
    """Name the fields of a table's rows."""
    return [field.name for field in row_schema(table)]


def _comparing(policy: Policy) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        """Run in a task: put the two sides together, compare them, and give the changes."""
        given = [batch for batch in batches if batch.num_rows]
        if not given:
            return
        content = pa.Table.from_batches(given)
        base, head = (_lineage(content.filter(pc.equal(content["side"], side))) for side in (BASE, HEAD))
        changes = row_array("changes", diff(base, head, policy))
        yield pa.RecordBatch.from_arrays([changes], schema=FOUND)

    return run


def _lineage(content: pa.Table) -> Lineage:
    """Give the rows of one side as a lineage, each table in the order of its key."""
    tables: dict[str, Any] = {}
    for table in OWNERS:
        held = content[table].filter(content[table].is_valid())
        rows = pa.Table.from_struct_array(held.combine_chunks())
        order = pc.sort_indices(rows, sort_keys=[(name, "ascending", "at_start") for name in TABLES[table].key])
        tables[table] = from_arrow(table, rows.take(order), TABLES[table].row)
    return Lineage(**tables)
