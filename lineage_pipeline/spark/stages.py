"""The stages in reading order: each writes its public tables, and its part of the findings, into the run.

write_statements       compile, resolve names       → statements
write_object_graph     from the plan                → objects, object_statements, object_edges
write_schemas          bundle by bundle, then links → columns, constraints
write_column_graph     projections, then reach      → column_edges, facets, column_reach
"""

from lineage_pipeline.engine.link.columns import inferred_rows
from lineage_pipeline.spark.edges import infer_columns, link_files, linked_rows
from lineage_pipeline.spark.lending import lead_through
from lineage_pipeline.spark.plan import planned
from lineage_pipeline.spark.reach import reach_rows
from lineage_pipeline.spark.schemas import public_rows, resolve_schemas, schema_rows
from lineage_pipeline.spark.statements import write_statements
from lineage_pipeline.spark.tags import tagged
from lineage_pipeline.spark.work import Work
from lineage_pipeline.vocabulary.sets import Stage

__all__ = ["write_column_graph", "write_object_graph", "write_schemas", "write_statements"]

INFERRED = "inferred"
"""The part of a table that follows from what is asked of open objects."""


def write_object_graph(work: Work) -> None:
    """Write the objects and who reads whom; the driver holds the names already."""
    plan = planned(work).plan
    work.run.write("objects", (known.row for _, known in sorted(plan.objects.items())))
    work.run.write("object_statements", plan.object_statements)
    work.run.write("object_edges", plan.object_edges)
    distinct = {finding.id: finding for finding in plan.diagnostics}
    work.run.write("diagnostics", distinct.values(), part=Stage.OBJECT_GRAPH.value)


def write_schemas(work: Work) -> None:
    """Write the columns that definitions give, and behind them those that only readers know."""
    _link(work)  # who reads an unknown column is known only now
    inferred, plan = infer_columns(work), planned(work).plan
    rows = public_rows(work, schema_rows(work), "column")
    further = list(inferred_rows(inferred.columns, inferred.schemas, plan.objects))
    if plan.tagged:
        rows, further = tagged(work, rows, further)
    work.adopt("columns", rows)
    work.run.write("columns", further, part=INFERRED)
    work.adopt("constraints", public_rows(work, schema_rows(work), "constraint"))


def write_column_graph(work: Work) -> None:
    """Write the edges, what each statement does in canonical form, and how far every column reaches."""
    _link(work)
    linked = linked_rows(work)
    untouched, others = lead_through(linked, planned(work).plan.lent, infer_columns(work).edges)
    work.adopt("column_edges", public_rows(work, untouched, "edge"))
    work.run.write("column_edges", others, part=INFERRED)
    work.adopt("facets", public_rows(work, linked, "facet"))
    work.adopt("diagnostics", public_rows(work, linked, "finding"), part=Stage.COLUMN_GRAPH.value)
    work.adopt("column_reach", reach_rows(work))


def _link(work: Work) -> None:
    """Do what has not been done for these files yet."""
    planned(work)
    resolve_schemas(work)
    link_files(work)
