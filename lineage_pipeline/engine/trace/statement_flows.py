"""Flows within single statements: outputs and their sources, forward from an output or back from a source."""

from collections.abc import Collection, Iterable, Iterator

import msgspec

from lineage_pipeline.engine.trace.column_graph import ALL, ColumnRef
from lineage_pipeline.engine.trace.impact import edge_line
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeKind, EdgeType, Subtype
from lineage_pipeline.model.tables import DECLARATION, ColumnEdge


class StatementFlow(msgspec.Struct, frozen=True):
    """One source of one output in one statement; the columns are null at table level."""

    path: str
    statement: int
    to_object: str
    to_column: str | None
    from_object: str
    from_column: str | None
    type: EdgeType | None
    subtype: Subtype | None
    expression: str | None
    line: int | None


class FlowFilter(msgspec.Struct, frozen=True):
    """What a query is about: outputs, sources or tables; None means all."""

    outputs: Collection[ColumnRef] | None = None
    sources: Collection[ColumnRef] | None = None
    tables: Collection[str] | None = None


def list_column_flows(
    lineage: LineageTables, edges: Iterable[ColumnEdge], wanted: FlowFilter
) -> tuple[StatementFlow, ...]:
    """The flows between columns; a source that is a whole object matches each of its columns."""
    touched = _statements_of_tables(lineage, wanted.tables)
    found = {
        StatementFlow(
            *(edge.path, edge.statement, edge.to_object, edge.to_column, edge.from_object, edge.from_column),
            *(edge.type, edge.subtype, edge.expression, edge_line(edge)),
        )
        for edge in edges
        if (touched is None or (edge.path, edge.statement) in touched) and _matches_filter(edge, wanted)
    }
    return tuple(sorted(found, key=_flow_order))


def list_table_flows(lineage: LineageTables, wanted: FlowFilter) -> tuple[StatementFlow, ...]:
    """The flows between objects, statement by statement."""
    touched = _statements_of_tables(lineage, wanted.tables)
    outputs = None if wanted.outputs is None else {ref.object for ref in wanted.outputs}
    sources = None if wanted.sources is None else {ref.object for ref in wanted.sources}
    found = {
        StatementFlow(
            path=place.path,
            statement=place.statement,
            to_object=edge.to_object,
            to_column=None,
            from_object=edge.from_object,
            from_column=None,
            type=None,
            subtype=None,
            expression=None,
            line=None,
        )
        for edge in lineage.object_edges
        if edge.kind is not EdgeKind.CALL
        and (outputs is None or edge.to_object in outputs)
        and (sources is None or edge.from_object in sources)
        for place in edge.statements
        if touched is None or (place.path, place.statement) in touched
    }
    return tuple(sorted(found, key=_flow_order))


def list_written_columns(lineage: LineageTables) -> Iterator[ColumnRef]:
    """The columns that statements write."""
    filled = {row.object for row in lineage.facets if row.name != DECLARATION}
    written = {edge.to_object for edge in lineage.column_edges} | filled
    return (ColumnRef(row.object, row.name) for row in lineage.columns if row.object in written)


def _matches_filter(edge: ColumnEdge, wanted: FlowFilter) -> bool:
    if wanted.outputs is not None and ColumnRef(edge.to_object, edge.to_column) not in wanted.outputs:
        return False
    if wanted.sources is None:
        return True
    if edge.from_column == ALL:
        return any(ref.object == edge.from_object for ref in wanted.sources)
    return ColumnRef(edge.from_object, edge.from_column) in wanted.sources


def _statements_of_tables(lineage: LineageTables, tables: Collection[str] | None) -> set[tuple[str, int]] | None:
    """The statements that involve some tables."""
    if tables is None:
        return None
    return {(part.path, part.ordinal) for part in lineage.object_statements if part.object in tables}


def _flow_order(flow: StatementFlow) -> tuple[str, int, str, str, bool, str, str, str]:
    direct = flow.type is not EdgeType.DIRECT
    ends = (flow.to_object, flow.to_column or "", direct, flow.from_object, flow.from_column or "")
    return flow.path, flow.statement, *ends, flow.subtype or ""
