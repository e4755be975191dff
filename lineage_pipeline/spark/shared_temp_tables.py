"""Temp tables that several routines share: the driver joins the edges of the statements that touch them."""

from collections.abc import Sequence

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from lineage_pipeline.engine.link.shared_temp_tables import compose_shared_edges
from lineage_pipeline.model.plan import SharedTempUse
from lineage_pipeline.model.tables import ColumnEdge


def bridge_shared_tables(
    linked: DataFrame, lent: Sequence[SharedTempUse], inferred: list[ColumnEdge]
) -> tuple[DataFrame, list[ColumnEdge]]:
    """Return the linked rows without the edges of statements at shared temp tables, and their replacements."""
    if not lent:
        return linked, inferred
    touching = linked.where(_touches_shared(sorted({use.object for use in lent}))).select("edge.path", "edge.statement")
    statements = sorted({(row.path, row.statement) for row in touching.collect()})
    if not statements:
        return linked, compose_shared_edges(lent, inferred)
    # An edge that is led through a shared object may have the key of another edge of its statement: all of them come.
    gathered = _is_edge_of(statements)
    rows = linked.where(gathered).select("edge.*").toArrow().to_pylist()
    edges = msgspec.convert(rows, list[ColumnEdge])
    return linked.where(~gathered), compose_shared_edges(lent, [*edges, *inferred])


def _is_edge_of(statements: Sequence[tuple[str, int]]) -> Column:
    """Return the condition that a row is an edge of one of these statements."""
    place = f.concat_ws("\0", f.col("edge.path"), f.col("edge.statement").cast("string"))
    return f.col("edge").isNotNull() & place.isin(*(f"{path}\0{ordinal}" for path, ordinal in statements))


def _touches_shared(shared: Sequence[str]) -> Column:
    """Return the condition that an edge starts at, ends at or passes one of these objects."""
    ends = f.col("edge.from_object").isin(*shared) | f.col("edge.to_object").isin(*shared)
    return f.coalesce(ends | f.exists("edge.hops", lambda hop: hop["object"].isin(*shared)), f.lit(False))
