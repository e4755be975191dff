"""One object in full: its attributes, its columns with their sources, its statements, readers and callers."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from lineage_pipeline.engine.trace.facts import LineageFacts
from lineage_pipeline.export.answers.answer import Answer, Row
from lineage_pipeline.export.documents.lineage_json import CONSTRAINT_KEYS, OBJECT_KEYS, WITHOUT_SCHEMA, pick_fields
from lineage_pipeline.export.escaping import format_location
from lineage_pipeline.export.formats.lineage_text import format_diagnostic, format_object
from lineage_pipeline.model.enums import EdgeKind, Role
from lineage_pipeline.model.errors import NotThere
from lineage_pipeline.model.tables import Column, ColumnEdge, Diagnostic, ObjectRow, ObjectStatement


class ObjectPortrait(msgspec.Struct, frozen=True):
    """All that is known about one object."""

    row: ObjectRow
    columns: Sequence[Column]
    constraints: Sequence[msgspec.Struct]
    edges: Sequence[ColumnEdge]
    sources: Sequence[str]
    readers: Sequence[str]
    callers: Sequence[str]
    parts: Sequence[tuple[ObjectStatement, int | None]]
    findings: Sequence[Diagnostic]


def build_portrait(facts: LineageFacts, name: str) -> ObjectPortrait:
    """Collect what is known about an object."""
    row = next((row for row in facts.objects() if row.object == name), None)
    if row is None:
        raise NotThere(f"{name} is only a name in some statements: nothing is known of it")
    edges = facts.object_edges()
    parts = sorted(facts.parts([name]), key=lambda part: (part.role, part.path, part.ordinal))
    lines = {
        (one.path, one.ordinal): one.span.line if one.span else None
        for one in facts.statements({part.path for part in parts})
    }
    findings = [one for one in facts.findings() if one.object == name]
    return ObjectPortrait(
        row=row,
        columns=facts.columns([name]),
        constraints=facts.constraints([name]) if row.kind not in WITHOUT_SCHEMA else (),
        edges=facts.edges_into([name]),
        sources=_sorted_names(
            edge.from_object for edge in edges if edge.to_object == name and edge.kind is not EdgeKind.CALL
        ),
        readers=_sorted_names(
            edge.to_object for edge in edges if edge.from_object == name and edge.kind is not EdgeKind.CALL
        ),
        callers=_sorted_names(
            edge.to_object for edge in edges if edge.from_object == name and edge.kind is EdgeKind.CALL
        ),
        parts=[(part, lines.get((part.path, part.ordinal))) for part in parts],
        findings=sorted(findings, key=lambda one: (one.path or "", one.line or 0, one.column or 0, one.id)),
    )


def _sorted_names(found: Iterator[str]) -> list[str]:
    return sorted(set(found))


def answer_portrait(shown: ObjectPortrait) -> Answer:
    """Return an object in the three forms; as CSV, a row for each column."""
    return Answer(lambda: _portrait_document(shown), lambda: _portrait_rows(shown), lambda: _portrait_lines(shown))


def _edges_by_column(shown: ObjectPortrait) -> dict[str, list[ColumnEdge]]:
    found: dict[str, list[ColumnEdge]] = defaultdict(list)
    for edge in sorted(shown.edges, key=lambda edge: (edge.type, edge.from_object, edge.from_column, edge.subtype)):
        found[edge.to_column].append(edge)
    return found


def _source_documents(edges: Sequence[ColumnEdge]) -> list[Row]:
    return [
        {
            "object": edge.from_object,
            "column": edge.from_column,
            "type": edge.type.value,
            "subtype": edge.subtype.value,
            "expression": edge.expression,
        }
        for edge in edges
    ]


def _portrait_document(shown: ObjectPortrait) -> Row:
    incoming = _edges_by_column(shown)
    (about,) = pick_fields([shown.row], OBJECT_KEYS)
    return about | {
        "columns": [
            {
                "name": column.name,
                "type": column.type,
                "nullable": column.nullable,
                "origin": column.origin.value,
                "tags": list(column.tags),
                "description": column.description,
                "from": _source_documents(incoming[column.name]),
            }
            for column in shown.columns
        ],
        "depends_on": _source_documents(incoming["*"]),
        "constraints": pick_fields(shown.constraints, CONSTRAINT_KEYS),
        "sources": list(shown.sources),
        "readers": list(shown.readers),
        "callers": list(shown.callers),
        "statements": [_statement_document(part, line) for part, line in shown.parts],
        "diagnostics": [msgspec.to_builtins(one) for one in shown.findings],
    }


def _statement_document(part: ObjectStatement, line: int | None) -> dict[str, Any]:
    return {"role": part.role.value, "path": part.path, "statement": part.ordinal, "line": line}


def _portrait_rows(shown: ObjectPortrait) -> Iterator[Row]:
    incoming = _edges_by_column(shown)
    for column in shown.columns:
        yield {
            "object": column.object,
            "ordinal": column.ordinal,
            "column": column.name,
            "type": column.type,
            "nullable": column.nullable,
            "origin": column.origin.value,
            "from": [f"{edge.from_object}.{edge.from_column}" for edge in incoming[column.name]],
        }


ROLE_WORDS = {
    Role.DEFINE: "defined",
    Role.ALTER: "altered",
    Role.WRITE: "written",
    Role.READ: "read",
    Role.CALL: "called",
    Role.DROP: "dropped",
}


def _portrait_lines(shown: ObjectPortrait) -> Iterator[str]:
    yield from (line.rstrip("\n") for line in format_object(shown.row, shown.columns, shown.edges))
    about = {"tags": shown.row.tags, "owners": shown.row.owners, "reads": shown.sources}
    about |= {"read by": shown.readers, "called by": shown.callers}
    for title, names in about.items():
        if names:
            yield f"{title}: {', '.join(names)}"
    for part, line in shown.parts:
        yield f"{ROLE_WORDS[part.role]} at {format_location(part.path, line)}"
    yield from map(format_diagnostic, shown.findings)
