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
    touches = _touches(sorted({use.object for use in lent}))
    rows = linked.where(f.col("edge").isNotNull() & touches).select("edge.*").toArrow().to_pylist()
    edges = msgspec.convert(rows, list[ColumnEdge])
    return linked.where(f.col("edge").isNull() | ~touches), bridged(lent, [*edges, *inferred])


def _touches(shared: Sequence[str]) -> Column:
    """Whether an edge begins, ends or passes at one of some objects."""
    ends = f.col("edge.from_object").isin(*shared) | f.col("edge.to_object").isin(*shared)
    return f.coalesce(ends | f.exists("edge.hops", lambda hop: hop["object"].isin(*shared)), f.lit(False))
