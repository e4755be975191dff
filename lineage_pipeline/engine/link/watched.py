"""Rows that triggers hand to a function: those of one table, or of any of several."""

from collections.abc import Mapping, Sequence

from lineage_pipeline.engine.link.flows import Flow, united
from lineage_pipeline.engine.link.model import Input, InputColumn, Opening
from lineage_pipeline.vocabulary import ir

Names = Mapping[tuple[str, ...], str]


def watched(names: Names) -> list[str]:
    """The tables whose rows the function that a statement stands in is given."""
    return [identity for parts, identity in names.items() if parts[:1] == ir.ROWS]


def merged(inputs: Sequence[Input]) -> Input:
    """Rows that may be of any of several tables: a column has the values of all that have it."""
    if len(inputs) == 1:
        return inputs[0]
    columns: dict[str, InputColumn] = {}
    for table in inputs:
        for column in table.columns:
            own = (Flow(table.object, column.name, approximate=column.approximate),)
            before = columns.get(column.name)
            columns[column.name] = InputColumn(
                column.name,
                column.written,
                column.type if before is None or before.type == column.type else None,
                column.nullable or (before is not None and before.nullable),
                united([before.flows or (), own]) if before is not None else own,
            )
    passes = tuple(Opening(table.object, ir.NOWHERE, ir.NOWHERE) for table in inputs if table.open)
    return Input("", tuple(columns.values()), bool(passes), passes=passes)
