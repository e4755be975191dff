"""Flows that `lineage analyze` lists: sources of an output, or outputs of a source, for each statement."""

from typing import TYPE_CHECKING, NamedTuple

from lineage_pipeline.engine.trace.column_graph import ColumnRef
from lineage_pipeline.engine.trace.facts import RowFacts
from lineage_pipeline.engine.trace.selectors import parse_selector
from lineage_pipeline.engine.trace.statement_flows import (
    FlowFilter,
    list_column_flows,
    list_table_flows,
    list_written_columns,
)
from lineage_pipeline.export.answers.answer import write_answer
from lineage_pipeline.export.answers.list_answers import answer_flows
from lineage_pipeline.export.documents.lineage_json import check_expanded_size
from lineage_pipeline.model.errors import NotThere
from lineage_pipeline.queries.lineage import Lineage

if TYPE_CHECKING:
    from lineage_pipeline.export.subject import Subject


class FlowQuery(NamedTuple):
    """Which flows to list."""

    tables: bool = False
    column: str | None = None
    source_column: str | None = None
    source_table: str | None = None
    table: str | None = None
    expand: bool = False

    @property
    def narrows(self) -> bool:
        """Tell whether the query has any filter."""
        return any((self.column, self.source_column, self.source_table, self.table))


def write_flows(subject: "Subject", asked: FlowQuery, format: str) -> str:
    """Write the flows that match a query."""
    wanted = _resolve_query(Lineage(RowFacts(subject.lineage, subject.files)), asked)
    if asked.tables:
        return write_answer(answer_flows("table", list_table_flows(subject.lineage, wanted)), format)
    if asked.expand:
        check_expanded_size(subject.lineage)
    expand = asked.expand or wanted.outputs is not None or wanted.sources is not None  # a question is about columns
    return write_answer(answer_flows("column", list_column_flows(subject.lineage, wanted, expand=expand)), format)


def _resolve_query(lineage: Lineage, asked: FlowQuery) -> FlowFilter:
    """Resolve the names of a query; an unknown name is an error that lists the known ones."""
    outputs = _find_outputs(lineage, asked.column) if asked.column else None
    sources = None
    if asked.source_column:
        sources = lineage.select(parse_selector(asked.source_column)).columns
    elif asked.source_table:
        names = lineage.select_objects(parse_selector(asked.source_table))
        known = lineage.facts.graph().refs
        sources = tuple(ref for ref in known if ref.object in names) or tuple(ColumnRef(name, "*") for name in names)
    tables = lineage.select_objects(parse_selector(asked.table)) if asked.table else None
    return FlowFilter(outputs, sources, tables)


def _find_outputs(lineage: Lineage, name: str) -> tuple[ColumnRef, ...]:
    """Find output columns by name, with or without the table."""
    selector = parse_selector(name)
    written = sorted(list_written_columns(lineage.rows))
    if len(selector.parts) == 1:
        wanted = selector.parts[0].text.lower()
        found = tuple(ref for ref in written if ref.column.lower() == wanted)
        if not found:
            listed = ", ".join(dict.fromkeys(ref.column for ref in written))
            hint = f"written are {listed}" if listed else "none of them writes a column"
            raise NotThere(f"no statement writes a column {name}; {hint}")
        return found
    return lineage.select(selector).columns
