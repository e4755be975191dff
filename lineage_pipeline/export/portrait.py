"""One object in full: what it is, its columns with what feeds them, who makes it and who reads it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from lineage_pipeline.engine.trace.facts import Facts
from lineage_pipeline.export.answers import Answer, Row
from lineage_pipeline.export.json import CONSTRAINT_KEYS, OBJECT_KEYS, WITHOUT_SCHEMA, pick
from lineage_pipeline.export.report import place
from lineage_pipeline.export.text import diagnostic_line, object_lines
from lineage_pipeline.vocabulary.errors import NotThere
from lineage_pipeline.vocabulary.sets import EdgeKind, Role
from lineage_pipeline.vocabulary.tables import Column, ColumnEdge, Diagnostic, ObjectRow, ObjectStatement


class Portrait(msgspec.Struct, frozen=True):
    """All that is known of one object."""

    row: ObjectRow
    columns: Sequence[Column]
    constraints: Sequence[msgspec.Struct]
    edges: Sequence[ColumnEdge]
    sources: Sequence[str]
    readers: Sequence[str]
    callers: Sequence[str]
    parts: Sequence[tuple[ObjectStatement, int | None]]
    findings: Sequence[Diagnostic]


def portrait_of(facts: Facts, name: str) -> Portrait:
    """Gather what is known of an object."""
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
    return Portrait(
        row,
        facts.columns([name]),
        facts.constraints([name]) if row.kind not in WITHOUT_SCHEMA else (),
        facts.edges_into([name]),
        _names(edge.from_object for edge in edges if edge.to_object == name and edge.kind is not EdgeKind.CALL),
        _names(edge.to_object for edge in edges if edge.from_object == name and edge.kind is not EdgeKind.CALL),
        _names(edge.to_object for edge in edges if edge.from_object == name and edge.kind is EdgeKind.CALL),
        [(part, lines.get((part.path, part.ordinal))) for part in parts],
        sorted(findings, key=lambda one: (one.path or "", one.line or 0, one.column or 0, one.id)),
    )


def _names(found: Iterator[str]) -> list[str]:
    return sorted(set(found))


def portrait_answer(shown: Portrait) -> Answer:
    """Give an object in the three shapes; as CSV, a row for each column."""
    return Answer(lambda: _document(shown), lambda: _rows(shown), lambda: _lines(shown))


def _incoming(shown: Portrait) -> dict[str, list[ColumnEdge]]:
    found: dict[str, list[ColumnEdge]] = defaultdict(list)
    for edge in sorted(shown.edges, key=lambda edge: (edge.type, edge.from_object, edge.from_column, edge.subtype)):
        found[edge.to_column].append(edge)
    return found


def _feeds(edges: Sequence[ColumnEdge]) -> list[Row]:
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


def _document(shown: Portrait) -> Row:
    incoming = _incoming(shown)
    (about,) = pick([shown.row], OBJECT_KEYS)
    return about | {
        "columns": [
            {
                "name": column.name,
                "type": column.type,
                "nullable": column.nullable,
                "origin": column.origin.value,
                "tags": list(column.tags),
                "description": column.description,
                "from": _feeds(incoming[column.name]),
            }
            for column in shown.columns
        ],
        "depends_on": _feeds(incoming["*"]),
        "constraints": pick(shown.constraints, CONSTRAINT_KEYS),
        "sources": list(shown.sources),
        "readers": list(shown.readers),
        "callers": list(shown.callers),
        "statements": [_part(part, line) for part, line in shown.parts],
        "diagnostics": [msgspec.to_builtins(one) for one in shown.findings],
    }


def _part(part: ObjectStatement, line: int | None) -> dict[str, Any]:
    return {"role": part.role.value, "path": part.path, "statement": part.ordinal, "line": line}


def _rows(shown: Portrait) -> Iterator[Row]:
    incoming = _incoming(shown)
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


WORDS = {
    Role.DEFINE: "defined",
    Role.ALTER: "altered",
    Role.WRITE: "written",
    Role.READ: "read",
    Role.CALL: "called",
    Role.DROP: "dropped",
}


def _lines(shown: Portrait) -> Iterator[str]:
    yield from (line.rstrip("\n") for line in object_lines(shown.row, shown.columns, shown.edges))
    about = {"tags": shown.row.tags, "owners": shown.row.owners, "reads": shown.sources}
    about |= {"read by": shown.readers, "called by": shown.callers}
    for title, names in about.items():
        if names:
            yield f"{title}: {', '.join(names)}"
    for part, line in shown.parts:
        yield f"{WORDS[part.role]} at {place(part.path, line)}"
    yield from map(diagnostic_line, shown.findings)
