"""What `lineage analyze` lists: sources of an output, or outputs of a source, statement by statement."""

from typing import TYPE_CHECKING, NamedTuple

from lineage_pipeline.engine.trace.facts import RowFacts
from lineage_pipeline.engine.trace.flows import Wanted, column_flows, table_flows, written_columns
from lineage_pipeline.engine.trace.graph import ColumnRef
from lineage_pipeline.engine.trace.selectors import parse_selector
from lineage_pipeline.export.answers import write_answer
from lineage_pipeline.export.json import expanded_edges
from lineage_pipeline.export.lists import flows_answer
from lineage_pipeline.questions.lineage import Lineage
from lineage_pipeline.vocabulary.errors import NotThere

if TYPE_CHECKING:
    from lineage_pipeline.export import Subject


class Asked(NamedTuple):
    """What was asked for."""

    tables: bool = False
    column: str | None = None
    source_column: str | None = None
    source_table: str | None = None
    table: str | None = None

    @property
    def narrows(self) -> bool:
        """Say whether anything narrows the list."""
        return any((self.column, self.source_column, self.source_table, self.table))


def flows_text(subject: "Subject", asked: Asked, format: str) -> str:
    """Write the list that was asked for."""
    wanted = _wanted(Lineage(RowFacts(subject.lineage, subject.files)), asked)
    if asked.tables:
        return write_answer(flows_answer("table", table_flows(subject.lineage, wanted)), format)
    edges = expanded_edges(subject.lineage)
    return write_answer(flows_answer("column", column_flows(subject.lineage, edges, wanted)), format)


def _wanted(lineage: Lineage, asked: Asked) -> Wanted:
    """Find what the names mean, or say which there are."""
    outputs = _outputs(lineage, asked.column) if asked.column else None
    sources = None
    if asked.source_column:
        sources = lineage.select(parse_selector(asked.source_column)).columns
    elif asked.source_table:
        names = lineage.select_objects(parse_selector(asked.source_table))
        known = lineage.facts.graph().refs
        sources = tuple(ref for ref in known if ref.object in names) or tuple(ColumnRef(name, "*") for name in names)
    tables = lineage.select_objects(parse_selector(asked.table)) if asked.table else None
    return Wanted(outputs, sources, tables)


def _outputs(lineage: Lineage, name: str) -> tuple[ColumnRef, ...]:
    """Give the outputs of a name, which need not say the table."""
    selector = parse_selector(name)
    written = sorted(written_columns(lineage.rows))
    if len(selector.parts) == 1:
        wanted = selector.parts[0].text.lower()
        found = tuple(ref for ref in written if ref.column.lower() == wanted)
        if not found:
            listed = ", ".join(dict.fromkeys(ref.column for ref in written))
            told = f"written are {listed}" if listed else "none of them writes a column"
            raise NotThere(f"no statement writes a column {name}; {told}")
        return found
    return lineage.select(selector).columns
