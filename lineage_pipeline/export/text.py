"""Lineage as plain text for people at a terminal."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from lineage_pipeline.export.escaping import visible
from lineage_pipeline.export.json import summarise
from lineage_pipeline.export.report import many, place
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.vocabulary.sets import EdgeType, ObjectKind, Subtype
from lineage_pipeline.vocabulary.tables import Column, ColumnEdge, Diagnostic, ObjectRow

WIDEST = 80
"""Characters that are shown on either side of a place."""


def write_lineage(subject: Subject) -> Iterator[str]:
    """Give each produced object with its columns and what feeds them, then the findings, then the counts."""
    lineage = subject.lineage
    columns: dict[str, list[Column]] = defaultdict(list)
    for column in lineage.columns:
        columns[column.object].append(column)
    edges: dict[str, list[ColumnEdge]] = defaultdict(list)
    for edge in lineage.column_edges:
        edges[edge.to_object].append(edge)
    for row in lineage.objects:
        if edges[row.object] or row.path:
            yield from object_lines(row, columns[row.object], edges[row.object])
            yield "\n"
    read: tuple[str | None, list[str]] = None, []
    for diagnostic in lineage.diagnostics:
        if diagnostic.path != read[0]:  # they are in order of their files
            read = diagnostic.path, subject.texts.get(diagnostic.path or "", "").split("\n")
        yield diagnostic_line(diagnostic) + "\n"
        yield from pointed(diagnostic, read[1] if diagnostic.path in subject.texts else [])
    yield summary_line(subject) + "\n"


def object_lines(row: ObjectRow, columns: Iterable[Column], edges: Iterable[ColumnEdge]) -> Iterator[str]:
    """Give an object's name and place, and a line for each column."""
    listed = list(columns)
    incoming: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        incoming[edge.to_column].add(_source(edge))
    where = "" if row.path is None else f"  {visible(place(row.path, row.line))}"
    yield f"{visible(row.object)}  ({row.kind}){where}\n"
    names = [visible(column.name) for column in listed]
    width = max(map(len, names), default=0)
    for column, name in zip(listed, names, strict=True):
        shown = _typed(column) if row.kind is not ObjectKind.QUERY else column.type or ""
        sources = ", ".join(sorted(incoming[column.name]))
        line = f"  {name:<{width}}  {visible(shown)}" + (f"  <- {visible(sources)}" if sources else "")
        yield line.rstrip() + "\n"
    if incoming["*"]:
        yield f"  all columns depend on {visible(', '.join(sorted(incoming['*'])))}\n"


def diagnostic_line(diagnostic: Diagnostic) -> str:
    """Write a finding as compilers do."""
    where = ":".join(str(part) for part in (diagnostic.path, diagnostic.line, diagnostic.column) if part is not None)
    named = where or diagnostic.object or "-"
    return visible(f"{named}: {diagnostic.severity}: {diagnostic.message} [{diagnostic.code}]")


def pointed(diagnostic: Diagnostic, lines: Sequence[str]) -> Iterator[str]:
    """Give the line of a finding with a mark below its place, where the lines of its file are at hand."""
    if diagnostic.line is None or diagnostic.column is None or not 0 < diagnostic.line <= len(lines):
        return
    start = max(0, diagnostic.column - WIDEST)  # a statement may be one line of thousands of characters
    line = lines[diagnostic.line - 1].rstrip("\r")[start : start + 2 * WIDEST]
    before, after = (
        "\t".join(map(visible, part.split("\t")))
        for part in (line[: diagnostic.column - 1 - start], line[diagnostic.column - 1 - start :])
    )
    yield f"    {before}{after}\n"
    yield f"    {''.join(sign if sign == chr(9) else ' ' for sign in before)}^\n"


def summary_line(subject: Subject) -> str:
    """Count in one line what was found."""
    summary = summarise(subject.lineage, subject.files)
    statements, findings = summary["statements"], summary["diagnostics"]
    size = max(sum(summary["bytes"].values()), 1)
    dropped = (
        f" ({100 * summary['dropped_bytes'] / size:.1f} % of bytes passed over)" if summary["dropped_bytes"] else ""
    )
    return (
        f"{many(statements['analysed'], 'statement')} analysed{dropped}, {statements['partial']} in part, "
        f"{statements['failed']} not; {many(summary['objects'], 'object')}, {many(summary['columns'], 'column')}, "
        f"{many(summary['column_edges'], 'edge')}; {many(findings['error'], 'error')}, "
        f"{many(findings['warning'], 'warning')}, {many(findings['info'], 'note')}"
    )


def _source(edge: ColumnEdge) -> str:
    """Name what feeds a column, and how where it is more than a copy."""
    path = "" if edge.from_path is None else f".{edge.from_path}"
    how = "" if edge.type is EdgeType.DIRECT and edge.subtype is Subtype.IDENTITY else f" ({edge.subtype})"
    return f"{edge.from_object}.{edge.from_column}{path}{how}"


def _typed(column: Column) -> str:
    return (column.type or "?") + ("" if column.nullable else " not null")
