"""The stages over DataFrames: statements, object graph, schemas and column graph, each written as tables."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pyarrow as pa

from lineage_pipeline.engine.graph.statement_rows import build_statement_rows
from lineage_pipeline.engine.link.rows import build_inferred_rows
from lineage_pipeline.model import ir
from lineage_pipeline.model.enums import Stage
from lineage_pipeline.model.plan import NameBindings, ScriptInterface
from lineage_pipeline.model.tables import StatementRow
from lineage_pipeline.spark.column_linking import (
    bridge_shared_tables,
    get_inferred_columns,
    link_missing_files,
    read_linked_rows,
)
from lineage_pipeline.spark.column_reach import count_reach
from lineage_pipeline.spark.compilation import read_scripts
from lineage_pipeline.spark.frames import Batches, to_spark_schema
from lineage_pipeline.spark.object_plan import BINDINGS_SCHEMA, get_plan
from lineage_pipeline.spark.schema_resolution import read_schema_rows, resolve_all_schemas, select_public_rows
from lineage_pipeline.spark.tag_propagation import tag_columns
from lineage_pipeline.spark.workspace import Workspace
from lineage_pipeline.store.row_conversion import rows_to_arrow
from lineage_pipeline.store.table_schemas import arrow_schema

__all__ = ["write_column_graph", "write_object_graph", "write_schemas", "write_statements"]


def write_statements(work: Workspace) -> None:
    """Write the statements of all files, and the findings of parsing."""
    findings = get_plan(work).findings
    bounds = work.read_frame([work.result_path("bounds.parquet")], BINDINGS_SCHEMA).select("path", "bounds")
    files = read_scripts(work, "script", "face", "rendered").join(bounds, "path")
    (snapshot,) = work.run.key

    def rows(batches: Batches) -> Batches:
        return _statement_batches(batches, snapshot)

    work.publish_table("statements", files.mapInArrow(rows, to_spark_schema(arrow_schema("statements"))))
    work.run.write("diagnostics", findings, part="parsing")


def _statement_batches(batches: Batches, snapshot: str) -> Batches:
    """Run in a task: convert scripts to rows, many files at a time."""
    for batch in batches:
        rows = [statement for row in batch.to_pylist() for statement in _statement_rows(row)]
        made: pa.Table = rows_to_arrow("statements", [snapshot], rows)
        yield from made.to_batches()


def _statement_rows(row: Mapping[str, Any]) -> Iterator[StatementRow]:
    face = msgspec.msgpack.decode(row["face"], type=ScriptInterface)
    script = msgspec.msgpack.decode(row["script"], type=ir.Script)
    bound = msgspec.msgpack.decode(row["bounds"], type=tuple[NameBindings, ...])
    yield from build_statement_rows(face.text(row["path"], row["rendered"]), script, bound)


INFERRED_PART = "inferred"
"""The part of a table that is inferred from what readers request of open objects."""

SHARED_PART = "shared"
"""The part of the findings about temporary tables that modules share."""


def write_object_graph(work: Workspace) -> None:
    """Write the objects and who reads whom, from the plan that the driver holds."""
    plan = get_plan(work).plan
    work.run.write("objects", (known.row for _, known in sorted(plan.objects.items())))
    work.run.write("object_statements", plan.object_statements)
    work.run.write("object_edges", plan.object_edges)
    distinct = {finding.id: finding for finding in plan.diagnostics}
    work.run.write("diagnostics", distinct.values(), part=Stage.OBJECT_GRAPH.value)


def write_schemas(work: Workspace) -> None:
    """Write the columns of definitions, then those that only readers know."""
    _run_linking(work)  # who reads an unknown column is known only now
    inferred, plan = get_inferred_columns(work), get_plan(work).plan
    rows = select_public_rows(work, read_schema_rows(work), "column")
    further = list(build_inferred_rows(inferred.columns, inferred.schemas, plan.objects))
    if plan.tagged:
        rows, further = tag_columns(work, rows, further)
    work.publish_table("columns", rows)
    work.run.write("columns", further, part=INFERRED_PART)
    work.publish_table("constraints", select_public_rows(work, read_schema_rows(work), "constraint"))


def write_column_graph(work: Workspace) -> None:
    """Write the edges, the facets of each statement, and the reach of every column."""
    _run_linking(work)
    linked = read_linked_rows(work)
    lent, inferred = get_plan(work).plan.lent, get_inferred_columns(work).edges
    untouched, others, findings = bridge_shared_tables(linked, lent, inferred)
    work.publish_table("column_edges", select_public_rows(work, untouched, "edge"))
    work.run.write("column_edges", others, part=INFERRED_PART)
    work.publish_table("facets", select_public_rows(work, linked, "facet"))
    work.publish_table("diagnostics", select_public_rows(work, linked, "finding"), part=Stage.COLUMN_GRAPH.value)
    work.run.write("diagnostics", findings, part=SHARED_PART)
    work.publish_table("column_reach", count_reach(work))


def _run_linking(work: Workspace) -> None:
    """Run the steps up to linking that were not run for these files yet."""
    get_plan(work)
    resolve_all_schemas(work)
    link_missing_files(work)
