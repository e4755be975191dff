"""Reach: how far every column reaches, over the whole graph."""

from collections.abc import Sequence

from pyspark.sql import DataFrame

from lineage_pipeline.engine.trace.reach import column_reach
from lineage_pipeline.spark.work import Work
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.sets import EdgeType, Origin, Subtype
from lineage_pipeline.vocabulary.tables import Column, ColumnEdge, ColumnReach

EDGE = ("from_object", "from_column", "to_object", "to_column", "type")
COLUMN = ("object", "ordinal", "name")


def reach_rows(work: Work) -> Sequence[ColumnReach]:
    """Count on the driver, which holds the names of columns and their distinct edges and nothing else of the rows.

    Beyond some millions of edges this wants the graph broadcast as arrays and slices of columns swept in tasks.
    """
    edges = tuple(map(_edge, *_values(work.table("column_edges").select(*EDGE).distinct(), EDGE)))
    columns = tuple(map(_column, *_values(work.table("columns").select(*COLUMN), COLUMN)))
    ordered = sorted(columns, key=lambda column: (column.object, column.ordinal))
    return column_reach(Lineage(columns=tuple(ordered), column_edges=edges))


def _values(frame: DataFrame, names: Sequence[str]) -> list[list[object]]:
    content = frame.toArrow()
    return [content[name].to_pylist() for name in names]


def _edge(from_object: str, from_column: str, to_object: str, to_column: str, kind: str) -> ColumnEdge:
    ends = (from_object, from_column, None, to_object, to_column)
    return ColumnEdge(
        "", 0, *ends, EdgeType(kind), Subtype.IDENTITY, False, False, False, "", None, None, hops=(), uses=()
    )


def _column(name: str, ordinal: int, column: str) -> Column:
    return Column(name, ordinal, column, column, None, True, Origin.UNKNOWN, False, None, None, (), None)
