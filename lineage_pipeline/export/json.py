"""The JSON of `lineage analyze` and `lineage scan`; within a `schema_version`, keys are only added."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import msgspec

from lineage_pipeline.engine.diff.index import is_former
from lineage_pipeline.engine.graph.drops import dropped
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.graph import Graph
from lineage_pipeline.vocabulary.sets import EdgeType, Level, ObjectKind, Origin, Role, Status
from lineage_pipeline.vocabulary.tables import ColumnEdge, ObjectEdge, SqlFile

SCHEMA_VERSION = 1

STATEMENT_KEYS = (
    *("path", "ordinal", "kind", "target", "targets", "parent", "reads", "preview"),
    *("span", "status", "complexity", "features"),
)
OBJECT_KEYS = (
    *("object", "kind", "origin", "level", "temporary", "open", "tags", "owners", "description"),
    *("system", "catalog", "schema", "name", "written", "path", "line"),
)
COLUMN_KEYS = (
    *("object", "ordinal", "name", "type", "nullable", "origin", "approximate", "path", "statement", "tags"),
    *("description", "written"),
)
EDGE_KEYS = (
    *("from_object", "from_column", "to_object", "to_column", "type", "subtype", "masking", "approximate"),
    *("conditional", "expression", "path", "statement", "span", "from_span", "from_path", "hops"),
)
PART_KEYS = ("object", "path", "ordinal", "role")
FACET_KEYS = ("object", "column", "name", "path", "statement", "fingerprint", "text", "expression", "span")
FILE_KEYS = ("path", "system", "dialect", "bytes", "encoding", "templater", "status", "owners")
DIAGNOSTIC_KEYS = ("id", "code", "severity", "message", "path", "line", "column", "object", "stage")
GRAPH_KEYS = ("nodes", "edges")
SCHEMA_COLUMN_KEYS = ("ordinal", "name", "type", "nullable", "origin")
CONSTRAINT_KEYS = ("kind", "name", "columns", "expression")

WITHOUT_SCHEMA = frozenset({ObjectKind.QUERY, ObjectKind.PROCEDURE, ObjectKind.TRIGGER})

Row = dict[str, Any]


CHUNK = 2_000
"""Rows that are plain values at one time: a million of them take gigabytes."""


def write_lineage(subject: Subject) -> Iterator[str]:
    """Give the document as text, in parts, so that it need not be there as a whole."""
    before = "{\n"
    for key, value in _members(subject.lineage, subject.files):
        yield before
        yield from _rows(key, value) if isinstance(value, Iterator) else (dump({key: value})[2:-3],)
        before = ",\n"
    yield "\n}\n"


def _rows(key: str, rows: Iterator[Row]) -> Iterator[str]:
    """Give a list of rows as it stands in the document."""
    opening, closing = f'  "{key}": [\n', "\n  ]"
    before = opening
    while some := list(islice(rows, CHUNK)):
        yield before
        yield dump({key: some})[2 + len(opening) : -len(closing) - 3]
        before = ",\n"
    yield f'  "{key}": []' if before is opening else closing


def lineage_document(lineage: Lineage, files: Sequence[SqlFile] = ()) -> Row:
    """Give the document as plain values; `files` add those that could not be read to the summary."""
    members = _members(lineage, files)
    return {key: list(value) if isinstance(value, Iterator) else value for key, value in members}


def _members(lineage: Lineage, files: Sequence[SqlFile]) -> Iterator[tuple[str, Any]]:
    """Give the members of the document in order; what may be many rows comes one by one."""
    yield "schema_version", SCHEMA_VERSION
    yield "statements", _picked(lineage.statements, STATEMENT_KEYS)
    yield "objects", _picked(lineage.objects, OBJECT_KEYS)
    yield "columns", _picked(lineage.columns, COLUMN_KEYS)
    yield "column_edges", _column_edges(lineage)
    yield "object_edges", chain.from_iterable(map(_object_edges, lineage.object_edges))
    yield "diagnostics", _picked(lineage.diagnostics, DIAGNOSTIC_KEYS)
    yield "resolved_schema", _resolved_schema(lineage)
    yield "object_statements", _picked(lineage.object_statements, PART_KEYS)
    yield "facets", _picked(lineage.facets, FACET_KEYS)
    yield "files", _picked(files, FILE_KEYS)
    yield "summary", summarise(lineage, files)


def graph_documents(graphs: Iterable[Graph]) -> Row:
    """Give the graphs of statements as plain values."""
    return {"schema_version": SCHEMA_VERSION, "graphs": [msgspec.to_builtins(graph) for graph in graphs]}


def global_document(graph: Graph) -> Row:
    """Give the graph of all statements as plain values."""
    return {"schema_version": SCHEMA_VERSION, **{key: msgspec.to_builtins(getattr(graph, key)) for key in GRAPH_KEYS}}


def expanded_edges(lineage: Lineage) -> Iterator[ColumnEdge]:
    """Give every column edge; one that decides about the whole statement goes into each column that it writes."""
    return (edge for edge, _ in _spread(lineage))


def _spread(lineage: Lineage) -> Iterator[tuple[ColumnEdge, bool]]:
    """Give every column edge, written out, and whether it is of the whole statement."""
    written: dict[tuple[str, int, str], list[str]] = defaultdict(list)
    for facet in lineage.facets:
        if facet.name == "projection":
            written[facet.path, facet.statement, facet.object].append(facet.column)
    columns: dict[str, list[str]] = defaultdict(list)
    for column in lineage.columns:
        columns[column.object].append(column.name)
    for edge in lineage.column_edges:
        if edge.to_column != "*" or edge.type is EdgeType.DIRECT:
            yield edge, False
            continue
        targets = written.get((edge.path, edge.statement, edge.to_object)) or columns.get(edge.to_object) or ["*"]
        yield from ((msgspec.structs.replace(edge, to_column=column), True) for column in dict.fromkeys(targets))


def summarise(lineage: Lineage, files: Sequence[SqlFile] = ()) -> Row:
    """Count what was found, and what was not analysed."""
    statements = Counter(statement.status for statement in lineage.statements)
    sizes = Counter({Status.FAILED: sum(file.bytes for file in files if file.status is Status.FAILED)})
    for statement in lineage.statements:
        sizes[statement.status] += statement.bytes
    findings = Counter(diagnostic.severity for diagnostic in lineage.diagnostics)
    approximate = any(row.approximate for row in lineage.columns) or any(e.approximate for e in lineage.column_edges)
    return {
        "statements": {status.value: statements[status] for status in Status},
        "bytes": {status.value: sizes[status] for status in Status},
        "dropped_bytes": sum(statement.dropped or 0 for statement in lineage.statements),
        "objects": len(lineage.objects),
        "columns": len(lineage.columns),
        "column_edges": len(lineage.column_edges),
        "diagnostics": {level.value: findings[level] for level in Level},
        "has_errors": findings[Level.ERROR] > 0,
        "has_approximations": approximate or any(row.open for row in lineage.objects),
    }


def pick(rows: Iterable[msgspec.Struct], keys: Sequence[str]) -> list[Row]:
    """Give the named fields of each row, in this order."""
    return list(_picked(rows, keys))


def _picked(rows: Iterable[msgspec.Struct], keys: Sequence[str]) -> Iterator[Row]:
    return ({key: msgspec.to_builtins(getattr(row, key)) for key in keys} for row in rows)


def dump(document: object) -> str:
    """Write a document as people and line-based tools like it."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _column_edges(lineage: Lineage) -> Iterator[Row]:
    """Give the edges, written out; `wide` marks those of the whole statement, so that a reader can join them again."""
    for edge, wide in _spread(lineage):
        row = {key: msgspec.to_builtins(getattr(edge, key)) for key in EDGE_KEYS}
        row["wide"] = wide
        yield row


def _object_edges(edge: ObjectEdge) -> Iterator[Row]:
    """Give an edge once for each statement that connects the two."""
    for place in edge.statements:
        yield {
            "from_object": edge.from_object,
            "to_object": edge.to_object,
            "kind": edge.kind.value,
            "path": place.path,
            "statement": place.statement,
        }


def _resolved_schema(lineage: Lineage) -> Iterator[Row]:
    """Give the schema of each object that has one, and where the knowledge comes from."""
    columns: dict[str, list[msgspec.Struct]] = defaultdict(list)
    constraints: dict[str, list[msgspec.Struct]] = defaultdict(list)
    owners = {row.object: row for row in lineage.objects}
    for column in lineage.columns:
        if not is_former(column, owners.get(column.object)):
            columns[column.object].append(column)
    for constraint in lineage.constraints:
        constraints[constraint.object].append(constraint)
    gone = dropped(lineage.object_statements)
    definers = {
        row.object: {"path": row.path, "statement": row.ordinal}
        for row in reversed(lineage.object_statements)
        if row.role is Role.DEFINE
    }
    return (
        {
            "object": row.object,
            "origin": row.origin.value,
            "source_statement": definers.get(row.object) if row.origin is not Origin.IMPORTED else None,
            "updated_at": None,
            "temporary": row.temporary,
            "constraints": pick(constraints[row.object], CONSTRAINT_KEYS),
            "columns": pick(columns[row.object], SCHEMA_COLUMN_KEYS),
        }
        for row in lineage.objects
        if row.kind not in WITHOUT_SCHEMA and row.object not in gone
    )
