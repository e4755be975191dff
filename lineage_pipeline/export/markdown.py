"""Markdown: a page to read, with a drawing of the objects and a table of columns for each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from lineage_pipeline.export import mermaid
from lineage_pipeline.export.escaping import short, visible
from lineage_pipeline.export.json import summarise
from lineage_pipeline.export.picture import Picture
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.vocabulary.sets import EdgeType, Subtype
from lineage_pipeline.vocabulary.tables import Column, ColumnEdge, Diagnostic, ObjectRow

LONGEST = 200
MOST_OBJECTS, MOST_SOURCES, MOST_FINDINGS = 2000, 12, 200


def render(subject: Subject, picture: Picture) -> str:
    """Give a lineage as a page."""
    return "".join(f"{line}\n" for line in _lines(subject, picture))


def _lines(subject: Subject, picture: Picture) -> Iterator[str]:
    lineage, counts = subject.lineage, summarise(subject.lineage, subject.files)
    yield from ("# Lineage", "")
    if subject.snapshot:
        yield from (f"Of {code(f'{subject.snapshot.repo}@{subject.snapshot.commit}')}.", "")
    yield f"{counts['objects']:,} objects, {counts['columns']:,} columns, {counts['column_edges']:,} edges."
    yield from ("", "```mermaid", mermaid.render(picture).rstrip("\n"), "```", "")
    if picture.cut:
        yield from (f"Drawn are {picture.cut}.", "")
    columns: dict[str, list[Column]] = defaultdict(list)
    for column in lineage.columns:
        columns[column.object].append(column)
    edges: dict[str, list[ColumnEdge]] = defaultdict(list)
    for edge in lineage.column_edges:
        edges[edge.to_object].append(edge)
    for row in lineage.objects[:MOST_OBJECTS]:
        yield from _object(row, columns[row.object], edges[row.object])
    if len(lineage.objects) > MOST_OBJECTS:
        yield from (f"{len(lineage.objects) - MOST_OBJECTS:,} more objects are not listed.", "")
    yield from _findings(lineage.diagnostics)


def _object(row: ObjectRow, columns: Iterable[Column], edges: Iterable[ColumnEdge]) -> Iterator[str]:
    place = "" if row.path is None else f", {code(f'{row.path}:{row.line}')}"
    yield from (f"## {code(row.object)}", "", f"{row.kind.value.capitalize()}{place}.", "")
    if row.description:
        yield from (plain(row.description), "")
    sources: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        sources[edge.to_column].add(_source(edge))
    listed = list(columns)
    if listed:
        yield from ("| column | type | from |", "|---|---|---|")
        for column in listed:
            kind = code(column.type) if column.type else ""
            yield f"| {code(column.name)} | {kind} | {_sources(sources, column.name)} |"
        yield ""
    if sources["*"]:
        yield from (f"All depends on {_sources(sources, '*')}.", "")


def _sources(sources: Mapping[str, set[str]], column: str) -> str:
    found = sorted(sources.get(column, ()))
    more = f" and {len(found) - MOST_SOURCES} more" if len(found) > MOST_SOURCES else ""
    return ", ".join(found[:MOST_SOURCES]) + more


def _source(edge: ColumnEdge) -> str:
    how = "" if edge.type is EdgeType.DIRECT and edge.subtype is Subtype.IDENTITY else f" ({edge.subtype.value})"
    return code(f"{edge.from_object}.{edge.from_column}") + how


def _findings(findings: Iterable[Diagnostic]) -> Iterator[str]:
    listed = list(findings)
    if listed:
        yield from ("## Findings", "")
    for row in listed[:MOST_FINDINGS]:
        where = ":".join(str(part) for part in (row.path, row.line, row.column) if part is not None)
        yield f"* {row.severity.value} {row.code}" + (f" at {code(where)}" if where else "") + f": {plain(row.message)}"
    if len(listed) > MOST_FINDINGS:
        yield f"* and {len(listed) - MOST_FINDINGS:,} more"


def code(text: str) -> str:
    """Write a name as code that also a cell of a table can hold."""
    shown = short(text, LONGEST).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in _runs(shown)), default=0) + 1)
    pad = " " if "`" in shown or shown != shown.strip() or not shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def plain(text: str) -> str:
    """Write words so that none of them is markup."""
    shown = short(visible(text), 2 * LONGEST)
    return "".join(f"\\{character}" if character in "\\`*_{}[]<>()#+!|~&" else character for character in shown)


def _runs(text: str) -> list[str]:
    return [run for run in "".join(character if character == "`" else " " for character in text).split() if run]
