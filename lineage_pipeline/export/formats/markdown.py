"""Markdown: a page with a drawing of the objects and a table of columns for each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from lineage_pipeline.export.documents.lineage_json import summarize_lineage
from lineage_pipeline.export.drawing.picture import Picture
from lineage_pipeline.export.escaping import escape_hidden, shorten_middle
from lineage_pipeline.export.formats import mermaid
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.model.enums import EdgeType, Subtype
from lineage_pipeline.model.tables import Column, ColumnEdge, Diagnostic, ObjectRow

LONGEST = 200
MOST_OBJECTS, MOST_SOURCES, MOST_FINDINGS = 2000, 12, 200


def render_markdown(subject: Subject, picture: Picture) -> str:
    """Render a lineage as a page."""
    return "".join(f"{line}\n" for line in _page_lines(subject, picture))


def _page_lines(subject: Subject, picture: Picture) -> Iterator[str]:
    lineage, counts = subject.lineage, summarize_lineage(subject.lineage, subject.files)
    yield from ("# Lineage", "")
    if subject.snapshot:
        yield from (f"Of {format_code_cell(f'{subject.snapshot.repo}@{subject.snapshot.commit}')}.", "")
    yield f"{counts['objects']:,} objects, {counts['columns']:,} columns, {counts['column_edges']:,} edges."
    yield from ("", "```mermaid", mermaid.render_mermaid(picture).rstrip("\n"), "```", "")
    if picture.cut:
        yield from (f"Drawn are {picture.cut}.", "")
    columns: dict[str, list[Column]] = defaultdict(list)
    for column in lineage.columns:
        columns[column.object].append(column)
    edges: dict[str, list[ColumnEdge]] = defaultdict(list)
    for edge in lineage.column_edges:
        edges[edge.to_object].append(edge)
    for row in lineage.objects[:MOST_OBJECTS]:
        yield from _object_section(row, columns[row.object], edges[row.object])
    if len(lineage.objects) > MOST_OBJECTS:
        yield from (f"{len(lineage.objects) - MOST_OBJECTS:,} more objects are not listed.", "")
    yield from _findings_section(lineage.diagnostics)


def _object_section(row: ObjectRow, columns: Iterable[Column], edges: Iterable[ColumnEdge]) -> Iterator[str]:
    place = "" if row.path is None else f", {format_code_cell(f'{row.path}:{row.line}')}"
    yield from (f"## {format_code_cell(row.object)}", "", f"{row.kind.value.capitalize()}{place}.", "")
    if row.description:
        yield from (escape_markdown(row.description), "")
    sources: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        sources[edge.to_column].add(_format_source(edge))
    listed = list(columns)
    if listed:
        yield from ("| column | type | from |", "|---|---|---|")
        for column in listed:
            kind = format_code_cell(column.type) if column.type else ""
            yield f"| {format_code_cell(column.name)} | {kind} | {_list_sources(sources, column.name)} |"
        yield ""
    if sources["*"]:
        yield from (f"All depends on {_list_sources(sources, '*')}.", "")


def _list_sources(sources: Mapping[str, set[str]], column: str) -> str:
    found = sorted(sources.get(column, ()))
    more = f" and {len(found) - MOST_SOURCES} more" if len(found) > MOST_SOURCES else ""
    return ", ".join(found[:MOST_SOURCES]) + more


def _format_source(edge: ColumnEdge) -> str:
    how = "" if edge.type is EdgeType.DIRECT and edge.subtype is Subtype.IDENTITY else f" ({edge.subtype.value})"
    return format_code_cell(f"{edge.from_object}.{edge.from_column}") + how


def _findings_section(findings: Iterable[Diagnostic]) -> Iterator[str]:
    listed = list(findings)
    if listed:
        yield from ("## Findings", "")
    for row in listed[:MOST_FINDINGS]:
        where = ":".join(str(part) for part in (row.path, row.line, row.column) if part is not None)
        yield (
            f"* {row.severity.value} {row.code}"
            + (f" at {format_code_cell(where)}" if where else "")
            + f": {escape_markdown(row.message)}"
        )
    if len(listed) > MOST_FINDINGS:
        yield f"* and {len(listed) - MOST_FINDINGS:,} more"


def format_code_cell(text: str) -> str:
    """Format a name as code that a table cell can hold."""
    shown = shorten_middle(text, LONGEST).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in _backtick_runs(shown)), default=0) + 1)
    pad = " " if "`" in shown or shown != shown.strip() or not shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def escape_markdown(text: str) -> str:
    """Escape a text so that nothing in it is markup."""
    shown = shorten_middle(escape_hidden(text), 2 * LONGEST)
    return "".join(f"\\{character}" if character in "\\`*_{}[]<>()#+!|~&" else character for character in shown)


def _backtick_runs(text: str) -> list[str]:
    return [run for run in "".join(character if character == "`" else " " for character in text).split() if run]
