"""Diff of two published snapshots: hashes find what differs, names bound the scope, a task compares those rows.

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

from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.comparison_scope import (
    FILE_NEEDED_TABLES,
    FILE_TABLES,
    LINK_COLUMNS,
    MAKING_ROLES,
    OWNER_COLUMNS,
    ComparisonScope,
    DifferingRows,
    find_comparison_scope,
    needed_columns,
)
from lineage_pipeline.engine.diff.policy import Policy
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.tables import TABLES, Change, ObjectRow, ObjectStatement, Source
from lineage_pipeline.spark.frames import Batches, build_row_array, read_parquet_frame, row_struct_type, to_spark_schema
from lineage_pipeline.store.row_conversion import arrow_to_rows
from lineage_pipeline.store.run import WarehouseRun
from lineage_pipeline.store.table_schemas import arrow_schema

BASE, HEAD = 0, 1

DIFF_INPUT_SCHEMA = pa.schema([("side", pa.int32()), *((table, row_struct_type(table)) for table in OWNER_COLUMNS)])
"""Input of the task: a row of one table of one side."""

CHANGE_SCHEMA = pa.schema([("change", row_struct_type("changes"))])

ValueT = TypeVar("ValueT")


class SnapshotPair(msgspec.Struct, frozen=True):
    """Two published snapshots, and the session that opens their tables."""

    session: SparkSession
    base: WarehouseRun
    head: WarehouseRun

    def read_table(self, side: int, name: str) -> DataFrame:
        """Open a table of one side, without the snapshot key."""
        run = self.base if side == BASE else self.head
        return read_parquet_frame(self.session, run.files(name), arrow_schema(name)).drop("snapshot")

    def read_rows(self, row: type[ValueT]) -> Iterable[ValueT]:
        """Read the rows of a table of both sides."""
        return [one for run in (self.base, self.head) for one in run.rows(row)]  # type: ignore[type-var]


def diff_snapshots(sides: SnapshotPair, policy: Policy) -> tuple[Change, ...]:
    """Return the changes between two snapshots, as `diff` of the two lineages does."""
    differing = _find_differing(sides)
    if not differing.objects and not differing.paths:
        return ()
    found = find_comparison_scope(
        differing, sides.read_rows(ObjectRow), sides.read_rows(ObjectStatement), _read_links(sides)
    )
    rows = (
        _collect_needed(sides, found)
        .repartition(1)
        .mapInArrow(_comparison_task(policy), to_spark_schema(CHANGE_SCHEMA))
    )
    changes = rows.select("change.*").toArrow()
    return arrow_to_rows("changes", changes, Change)


def find_sources(sides: SnapshotPair, pattern: str) -> tuple[Source, ...]:
    """Read the sources of head that match a regular expression."""
    found = sides.read_table(HEAD, "sources").where(f.col("text").rlike(pattern)).toArrow()
    return arrow_to_rows("sources", found, Source)


def _find_differing(sides: SnapshotPair) -> DifferingRows:
    """Hash the rows of both sides, and return the objects and files of those without a counterpart."""
    hashed = [
        _hash_rows(sides.read_table(side, table), table, side) for table in OWNER_COLUMNS for side in (BASE, HEAD)
    ]
    rows = reduce(DataFrame.union, hashed).groupBy("table", "object", "path", "hash").agg(f.sum("count").alias("count"))
    names = rows.where("count != 0").select("object", "path").distinct().toArrow()
    objects, paths = (frozenset(names[name].to_pylist()) - {None} for name in ("object", "path"))
    return DifferingRows(objects, paths)


def _hash_rows(rows: DataFrame, table: str, side: int) -> DataFrame:
    """Return each row's owner, its file where that matters, and a hash of the row."""
    counted = f.col("role").isin([role.value for role in MAKING_ROLES]) if table == "object_statements" else f.lit(True)  # noqa: FBT003
    return rows.select(
        f.lit(table).alias("table"),
        f.when(counted, f.col(OWNER_COLUMNS[table])).alias("object"),
        (f.col("path") if table in FILE_TABLES else f.lit(None).cast("string")).alias("path"),
        f.xxhash64(f.to_json(f.struct("*"))).alias("hash"),
        f.lit(1 if side == HEAD else -1).alias("count"),
    )


def _read_links(sides: SnapshotPair) -> list[tuple[str, str]]:
    """Return who feeds whom on either side, by edges and foreign keys."""
    ends = ("source", "reader")
    tables = [
        sides.read_table(side, table).select(
            *(f.col(column).alias(end) for column, end in zip(columns, ends, strict=True))
        )
        for table, columns in LINK_COLUMNS.items()
        for side in (BASE, HEAD)
    ]
    pairs = reduce(DataFrame.union, tables).dropna().distinct().toArrow()
    return list(zip(*(pairs[name].to_pylist() for name in ends), strict=True))


def _collect_needed(sides: SnapshotPair, found: ComparisonScope) -> DataFrame:
    """Collect the rows of both sides that the scope covers, one column for each table."""
    objects, paths = _name_frame(sides.session, found.objects), _name_frame(sides.session, found.paths)
    statements = reduce(DataFrame.union, [sides.read_table(side, "statements") for side in (BASE, HEAD)])
    near = statements.join(f.broadcast(paths), f.col("path") == f.col("one"), "left_semi")
    prints = near.select(f.col("fingerprint").alias("one")).distinct()
    pieces = []
    for table in OWNER_COLUMNS:
        ways: list[tuple[DataFrame, str]] = [(objects, name) for name in needed_columns(table)]
        ways += [(paths, "path")] if table in FILE_NEEDED_TABLES else []
        ways += [(prints, "fingerprint")] if table == "statements" else []  # who stands elsewhere is known by it
        for side in (BASE, HEAD):
            kept = _keep_listed(sides.read_table(side, table), ways)
            pieces.append(kept.select(f.lit(side).alias("side"), f.struct(*row_field_names(table)).alias(table)))
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), pieces).select(
        *DIFF_INPUT_SCHEMA.names
    )


def _keep_listed(rows: DataFrame, ways: Iterable[tuple[DataFrame, str]]) -> DataFrame:
    """Keep the rows that one of the lists of names holds, each once."""
    marked = rows
    marks: list[Column] = []
    for number, (names, column) in enumerate(ways):
        mark = f"in_{number}"
        held = names.select(f.col("one").alias(f"name_{number}"), f.lit(True).alias(mark))  # noqa: FBT003
        marked = marked.join(f.broadcast(held), f.col(column) == f.col(f"name_{number}"), "left")
        marks.append(f.col(mark).isNotNull())
    return marked.where(reduce(Column.__or__, marks))


def _name_frame(session: SparkSession, names: Iterable[str]) -> DataFrame:
    return session.createDataFrame(pa.table({"one": pa.array(sorted(names), pa.string())}))


def row_field_names(table: str) -> list[str]:
    """Return the field names of a table's rows."""
    return [field.name for field in row_struct_type(table)]


def _comparison_task(policy: Policy) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        """Run in a task: put the two sides together, compare them, and give the changes."""
        given = [batch for batch in batches if batch.num_rows]
        if not given:
            return
        content = pa.Table.from_batches(given)
        base, head = (_side_lineage(content.filter(pc.equal(content["side"], side))) for side in (BASE, HEAD))
        changes = build_row_array("changes", diff(base, head, policy))
        yield pa.RecordBatch.from_arrays([changes], schema=CHANGE_SCHEMA)

    return run


def _side_lineage(content: pa.Table) -> LineageTables:
    """Return the rows of one side as a lineage, each table in the order of its key."""
    tables: dict[str, Any] = {}
    for table in OWNER_COLUMNS:
        held = content[table].filter(content[table].is_valid())
        rows = pa.Table.from_struct_array(held.combine_chunks())
        order = pc.sort_indices(rows, sort_keys=[(name, "ascending", "at_start") for name in TABLES[table].key])
        tables[table] = arrow_to_rows(table, rows.take(order), TABLES[table].row)
    return LineageTables(**tables)
