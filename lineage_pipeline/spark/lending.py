"""Lending: the few edges that touch temporary objects of several modules come to the driver to be joined there."""

from collections.abc import Sequence

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from lineage_pipeline.engine.link.lending import bridged
from lineage_pipeline.vocabulary.plan import Lent
from lineage_pipeline.vocabulary.tables import ColumnEdge


def lead_through(
    linked: DataFrame, lent: Sequence[Lent], inferred: list[ColumnEdge]
) -> tuple[DataFrame, list[ColumnEdge]]:
    """Give what was linked without those edges, and the edges that take their place together with the inferred ones."""
    if not lent:
        return linked, inferred
    touching = linked.where(_touches(sorted({use.object for use in lent}))).select("edge.path", "edge.statement")
    statements = sorted({(row.path, row.statement) for row in touching.collect()})
    if not statements:
        return linked, bridged(lent, inferred)
    # An edge that is led through a shared object may have the key of another edge of its statement: all of them come.
    gathered = _of_statements(statements)
    rows = linked.where(gathered).select("edge.*").toArrow().to_pylist()
    edges = msgspec.convert(rows, list[ColumnEdge])
    return linked.where(~gathered), bridged(lent, [*edges, *inferred])


def _of_statements(statements: Sequence[tuple[str, int]]) -> Column:
    """Whether a row is an edge of one of some statements."""
    place = f.concat_ws("\0", f.col("edge.path"), f.col("edge.statement").cast("string"))
    return f.col("edge").isNotNull() & place.isin(*(f"{path}\0{ordinal}" for path, ordinal in statements))


def _touches(shared: Sequence[str]) -> Column:
    """Whether an edge begins, ends or passes at one of some objects."""
    ends = f.col("edge.from_object").isin(*shared) | f.col("edge.to_object").isin(*shared)
    return f.coalesce(ends | f.exists("edge.hops", lambda hop: hop["object"].isin(*shared)), f.lit(False))
