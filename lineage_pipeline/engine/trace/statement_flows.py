"""Flows within single statements: outputs and their sources, forward from an output or back from a source."""

from collections import defaultdict
from collections.abc import Collection, Iterator

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


class WrittenColumns:
    """The columns that each statement writes: those an edge of the whole statement goes into."""

    def __init__(self, lineage: LineageTables) -> None:
        """Collect them from the facets, and the columns of objects for statements that name none."""
        self._written: dict[tuple[str, int, str], dict[str, None]] = defaultdict(dict)
        for facet in lineage.facets:
            if facet.name == "projection":
                self._written[facet.path, facet.statement, facet.object][facet.column] = None
        self._columns: dict[str, dict[str, None]] = defaultdict(dict)
        for column in lineage.columns:
            self._columns[column.object][column.name] = None

    def find(self, edge: ColumnEdge) -> Collection[str]:
        """The columns that the statement of an edge writes into the object where it ends."""
        written = self._written.get((edge.path, edge.statement, edge.to_object))
        return written or self._columns.get(edge.to_object) or (ALL,)


def is_statement_wide(edge: ColumnEdge) -> bool:
    """Say whether an edge is an indirect one into all columns that its statement writes."""
    return edge.to_column == ALL and edge.type is EdgeType.INDIRECT


def count_expanded_edges(lineage: LineageTables) -> int:
    """How many edges there are where those of whole statements are expanded."""
    written = WrittenColumns(lineage)
    return sum(len(written.find(edge)) if is_statement_wide(edge) else 1 for edge in lineage.column_edges)


def list_column_flows(lineage: LineageTables, wanted: FlowFilter, *, expand: bool = False) -> tuple[StatementFlow, ...]:
    """The flows between columns; a source that is a whole object matches each of its columns.

    An edge of a whole statement is one flow into `*`, or `expand`ed one into each column that the statement writes.
    """
    touched = _statements_of_tables(lineage, wanted.tables)
    written = WrittenColumns(lineage) if expand else None
    found = {
        StatementFlow(
            *(edge.path, edge.statement, edge.to_object, column, edge.from_object, edge.from_column),
            *(edge.type, edge.subtype, edge.expression, edge_line(edge)),
        )
        for edge in lineage.column_edges
        if (touched is None or (edge.path, edge.statement) in touched) and _has_source(edge, wanted.sources)
        for column in (written.find(edge) if written is not None and is_statement_wide(edge) else (edge.to_column,))
        if wanted.outputs is None or ColumnRef(edge.to_object, column) in wanted.outputs
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


def _has_source(edge: ColumnEdge, sources: Collection[ColumnRef] | None) -> bool:
    if sources is None:
        return True
    if edge.from_column == ALL:
        return any(ref.object == edge.from_object for ref in sources)
    return ColumnRef(edge.from_object, edge.from_column) in sources


def _statements_of_tables(lineage: LineageTables, tables: Collection[str] | None) -> set[tuple[str, int]] | None:
    """The statements that involve some tables."""
    if tables is None:
        return None
    return {(part.path, part.ordinal) for part in lineage.object_statements if part.object in tables}


def _flow_order(flow: StatementFlow) -> tuple[str, int, str, str, bool, str, str, str]:
    direct = flow.type is not EdgeType.DIRECT
    ends = (flow.to_object, flow.to_column or "", direct, flow.from_object, flow.from_column or "")
    return flow.path, flow.statement, *ends, flow.subtype or ""
