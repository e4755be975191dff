"""Lineage as plain text for the terminal."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from lineage_pipeline.export.documents.lineage_json import summarize_lineage
from lineage_pipeline.export.escaping import escape_hidden, format_count, format_location
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.model.enums import EdgeType, ObjectKind, Subtype
from lineage_pipeline.model.tables import Column, ColumnEdge, Diagnostic, ObjectRow

CONTEXT_WIDTH = 80
"""Characters of a line that are shown before and after a location."""


def write_lineage_text(subject: Subject) -> Iterator[str]:
    """Yield each defined or written object with its columns and sources, then the findings, then the counts."""
    lineage = subject.lineage
    columns: dict[str, list[Column]] = defaultdict(list)
    for column in lineage.columns:
        columns[column.object].append(column)
    edges: dict[str, list[ColumnEdge]] = defaultdict(list)
    for edge in lineage.column_edges:
        edges[edge.to_object].append(edge)
    for row in lineage.objects:
        if edges[row.object] or row.path:
            yield from format_object(row, columns[row.object], edges[row.object])
            yield "\n"
    read: tuple[str | None, list[str]] = None, []
    for diagnostic in lineage.diagnostics:
        if diagnostic.path != read[0]:  # they are in order of their files
            read = diagnostic.path, subject.texts.get(diagnostic.path or "", "").split("\n")
        yield format_diagnostic(diagnostic) + "\n"
        yield from format_source_line(diagnostic, read[1] if diagnostic.path in subject.texts else [])
    yield format_summary(subject) + "\n"


def format_object(row: ObjectRow, columns: Iterable[Column], edges: Iterable[ColumnEdge]) -> Iterator[str]:
    """Yield an object's name and location, and a line for each column."""
    listed = list(columns)
    incoming: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        incoming[edge.to_column].add(_describe_source(edge))
    where = "" if row.path is None else f"  {escape_hidden(format_location(row.path, row.line))}"
    yield f"{escape_hidden(row.object)}  ({row.kind}){where}\n"
    names = [escape_hidden(column.name) for column in listed]
    width = max(map(len, names), default=0)
    for column, name in zip(listed, names, strict=True):
        shown = _describe_type(column) if row.kind is not ObjectKind.QUERY else column.type or ""
        sources = ", ".join(sorted(incoming[column.name]))
        line = f"  {name:<{width}}  {escape_hidden(shown)}" + (f"  <- {escape_hidden(sources)}" if sources else "")
        yield line.rstrip() + "\n"
    if incoming["*"]:
        yield f"  all columns depend on {escape_hidden(', '.join(sorted(incoming['*'])))}\n"


def format_diagnostic(diagnostic: Diagnostic) -> str:
    """Format a finding as compilers do: location, severity, message and code."""
    where = ":".join(str(part) for part in (diagnostic.path, diagnostic.line, diagnostic.column) if part is not None)
    named = where or diagnostic.object or "-"
    return escape_hidden(f"{named}: {diagnostic.severity}: {diagnostic.message} [{diagnostic.code}]")


def format_source_line(diagnostic: Diagnostic, lines: Sequence[str]) -> Iterator[str]:
    """Yield the line of a finding with a mark below its column, where the text is available."""
    if diagnostic.line is None or diagnostic.column is None or not 0 < diagnostic.line <= len(lines):
        return
    start = max(0, diagnostic.column - CONTEXT_WIDTH)  # a statement may be one line of thousands of characters
    line = lines[diagnostic.line - 1].rstrip("\r")[start : start + 2 * CONTEXT_WIDTH]
    before, after = (
        "\t".join(map(escape_hidden, part.split("\t")))
        for part in (line[: diagnostic.column - 1 - start], line[diagnostic.column - 1 - start :])
    )
    yield f"    {before}{after}\n"
    yield f"    {''.join(sign if sign == chr(9) else ' ' for sign in before)}^\n"


def format_summary(subject: Subject) -> str:
    """Format the counts of a lineage as one line."""
    summary = summarize_lineage(subject.lineage, subject.files)
    statements, findings = summary["statements"], summary["diagnostics"]
    size = max(sum(summary["bytes"].values()), 1)
    dropped = (
        f" ({100 * summary['dropped_bytes'] / size:.1f} % of bytes passed over)" if summary["dropped_bytes"] else ""
    )
    return (
        f"{format_count(statements['analysed'], 'statement')} analyzed{dropped}, {statements['partial']} in part, "
        f"{statements['failed']} not; {format_count(summary['objects'], 'object')}, "
        f"{format_count(summary['columns'], 'column')}, "
        f"{format_count(summary['column_edges'], 'edge')}; {format_count(findings['error'], 'error')}, "
        f"{format_count(findings['warning'], 'warning')}, {format_count(findings['info'], 'note')}"
    )


def _describe_source(edge: ColumnEdge) -> str:
    """Format the source of a column, with the subtype unless it is a copy."""
    path = "" if edge.from_path is None else f".{edge.from_path}"
    how = "" if edge.type is EdgeType.DIRECT and edge.subtype is Subtype.IDENTITY else f" ({edge.subtype})"
    return f"{edge.from_object}.{edge.from_column}{path}{how}"


def _describe_type(column: Column) -> str:
    return (column.type or "?") + ("" if column.nullable else " not null")
