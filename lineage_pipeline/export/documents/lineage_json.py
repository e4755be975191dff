"""The JSON of `lineage analyze` and `scan`, written and read; within a `schema_version`, keys are only added.

Version 2 has an edge of a whole statement once, as the tables do, with `*` for the columns that the statement writes.
Version 1 had it once for each of them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from lineage_pipeline.engine.diff.index import is_reference_only
from lineage_pipeline.engine.graph.script_scopes import find_dropped
from lineage_pipeline.engine.trace.statement_flows import WrittenColumns, count_expanded_edges, is_statement_wide
from lineage_pipeline.export.dialect_use import list_dialects
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeKind, Level, ObjectKind, Origin, Role, Status
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.graph import Graph
from lineage_pipeline.model.tables import (
    Column,
    ColumnEdge,
    Constraint,
    Diagnostic,
    Facet,
    ObjectEdge,
    ObjectRow,
    ObjectStatement,
    SqlFile,
    StatementRef,
    StatementRow,
)

SCHEMA_VERSION = 1

LINEAGE_VERSION = 2
READABLE_VERSIONS = (1, LINEAGE_VERSION)

MAX_EXPANDED_EDGES = 1_000_000
"""Edges of a document in which those of whole statements are expanded: about 1 GB of text."""

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
"""Rows that are converted at a time: a million rows of plain values take gigabytes."""


def write_lineage_json(subject: Subject, *, expand: bool = False) -> Iterator[str]:
    """Return the document as text in parts, so that it is never in memory as a whole."""
    if expand:
        check_expanded_size(subject.lineage)
    return _write_members(_document_members(subject.lineage, subject.files, expand))


def check_expanded_size(lineage: LineageTables) -> None:
    """Raise an error where expanded edges would be too many."""
    count = count_expanded_edges(lineage)
    if count > MAX_EXPANDED_EDGES:
        limit = f"{MAX_EXPANDED_EDGES:,}"
        raise LineageError(
            f"--expand would write {count:,} column edges, more than {limit}; without it, they are fewer"
        )


def _write_members(members: Iterable[tuple[str, Any]]) -> Iterator[str]:
    before = "{\n"
    for key, value in members:
        yield before
        yield from _dump_rows(key, value) if isinstance(value, Iterator) else (dump_json({key: value})[2:-3],)
        before = ",\n"
    yield "\n}\n"


_ENCODER = msgspec.json.Encoder()


def _dump_rows(key: str, rows: Iterator[Row]) -> Iterator[str]:
    """Yield a list of rows as text of the document, each row on a line of its own."""
    opening, closing = f'  "{key}": [\n', "\n  ]"
    before = opening
    while some := list(islice(rows, CHUNK)):
        yield before
        lines = _ENCODER.encode_lines(some)[:-1].decode()  # a text in JSON has no line feed of its own
        yield "    " + lines.replace("\n", ",\n    ")
        before = ",\n"
    yield f'  "{key}": []' if before is opening else closing


def build_lineage_document(lineage: LineageTables, files: Sequence[SqlFile] = (), *, expand: bool = False) -> Row:
    """Return the document as plain values; `files` add unreadable files to the summary."""
    if expand:
        check_expanded_size(lineage)
    members = _document_members(lineage, files, expand)
    return {key: msgspec.to_builtins(list(value)) if isinstance(value, Iterator) else value for key, value in members}


def _document_members(lineage: LineageTables, files: Sequence[SqlFile], expand: bool) -> Iterator[tuple[str, Any]]:
    """Yield the members of the document in order; long tables as iterators of rows, with their structs."""
    yield "schema_version", LINEAGE_VERSION
    yield "statements", _iterate_fields(lineage.statements, STATEMENT_KEYS)
    yield "objects", _iterate_fields(lineage.objects, OBJECT_KEYS)
    yield "columns", _iterate_fields(lineage.columns, COLUMN_KEYS)
    yield "column_edges", _column_edge_rows(lineage, expand)
    yield "object_edges", chain.from_iterable(map(_object_edge_rows, lineage.object_edges))
    yield "diagnostics", _iterate_fields(lineage.diagnostics, DIAGNOSTIC_KEYS)
    yield "resolved_schema", _resolved_schema_rows(lineage)
    yield "object_statements", _iterate_fields(lineage.object_statements, PART_KEYS)
    yield "facets", _iterate_fields(lineage.facets, FACET_KEYS)
    yield "files", _iterate_fields(files, FILE_KEYS)
    yield "summary", summarize_lineage(lineage, files)


def build_graphs_document(graphs: Iterable[Graph]) -> Row:
    """Return the graphs of statements as plain values."""
    return {"schema_version": SCHEMA_VERSION, "graphs": [msgspec.to_builtins(graph) for graph in graphs]}


def build_graph_document(graph: Graph) -> Row:
    """Return the graph of all statements as plain values."""
    return {"schema_version": SCHEMA_VERSION, **{key: msgspec.to_builtins(getattr(graph, key)) for key in GRAPH_KEYS}}


def summarize_lineage(lineage: LineageTables, files: Sequence[SqlFile] = ()) -> Row:
    """Count what was found, and what was not analyzed."""
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
        "dialects": [msgspec.to_builtins(use) for use in list_dialects(files)],
    }


def pick_fields(rows: Iterable[msgspec.Struct], keys: Sequence[str]) -> list[Row]:
    """Return the named fields of each row, in this order."""
    found: list[Row] = msgspec.to_builtins(list(_iterate_fields(rows, keys)))
    return found


def _iterate_fields(rows: Iterable[msgspec.Struct], keys: Sequence[str]) -> Iterator[Row]:
    read = attrgetter(*keys)
    return (dict(zip(keys, read(row), strict=True)) for row in rows)


def dump_json(document: object) -> str:
    """Encode a document as indented JSON with a final line feed."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _column_edge_rows(lineage: LineageTables, expand: bool) -> Iterator[Row]:
    """Yield the edges; `wide` marks those of a whole statement, so that a reader can merge them again."""
    written = WrittenColumns(lineage) if expand else None
    for edge, row in zip(lineage.column_edges, _iterate_fields(lineage.column_edges, EDGE_KEYS), strict=True):
        row["wide"] = is_statement_wide(edge)
        if written is None or not row["wide"]:
            yield row
        else:
            yield from (row | {"to_column": column} for column in written.find(edge))


def _object_edge_rows(edge: ObjectEdge) -> Iterator[Row]:
    """Yield an object edge once for each statement that connects the two objects."""
    for place in edge.statements:
        yield {
            "from_object": edge.from_object,
            "to_object": edge.to_object,
            "kind": edge.kind.value,
            "path": place.path,
            "statement": place.statement,
        }


def _resolved_schema_rows(lineage: LineageTables) -> Iterator[Row]:
    """Return the schema of each object that has one, and where it is known from."""
    columns: dict[str, list[msgspec.Struct]] = defaultdict(list)
    constraints: dict[str, list[msgspec.Struct]] = defaultdict(list)
    owners = {row.object: row for row in lineage.objects}
    for column in lineage.columns:
        if not is_reference_only(column, owners.get(column.object)):
            columns[column.object].append(column)
    for constraint in lineage.constraints:
        constraints[constraint.object].append(constraint)
    gone = find_dropped(lineage.object_statements)
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
            "constraints": pick_fields(constraints[row.object], CONSTRAINT_KEYS),
            "columns": pick_fields(columns[row.object], SCHEMA_COLUMN_KEYS),
        }
        for row in lineage.objects
        if row.kind not in WITHOUT_SCHEMA and row.object not in gone
    )


RowT = TypeVar("RowT", bound=msgspec.Struct)

REQUIRED_KEYS = ("objects", "columns", "column_edges", "object_edges", "object_statements", "facets", "files")
OMITTED_FIELDS: dict[type[msgspec.Struct], Row] = {
    StatementRow: {"fingerprint": "", "bytes": 0, "features": ()},
    ColumnEdge: {"uses": ()},
    SqlFile: {"source_hash": ""},
    Constraint: {"id": ""},
}


def read_lineage_document(content: bytes, place: str) -> tuple[LineageTables, tuple[SqlFile, ...]]:
    """Read the lineage and the files of a document, or raise an error that says why it is not one."""
    try:
        document = msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise LineageError(f"{place} is not JSON: {error}") from None
    version = document.get("schema_version") if isinstance(document, dict) else None
    if version not in READABLE_VERSIONS or any(key not in document for key in REQUIRED_KEYS):
        raise LineageError(f"{place} is not a lineage file; `lineage scan PATH --format json -o FILE` writes one")
    try:
        return _convert_lineage(document), _convert_rows(SqlFile, document["files"])
    except msgspec.ValidationError as error:
        raise LineageError(f"{place} is not a lineage file of this version: {error}") from None


def _convert_lineage(document: Mapping[str, Any]) -> LineageTables:
    schemas = document.get("resolved_schema", ())
    constraints = [{"object": row["object"], **one} for row in schemas for one in row.get("constraints", ())]
    return LineageTables(
        statements=_convert_rows(StatementRow, document["statements"]),
        objects=_convert_rows(ObjectRow, document["objects"]),
        object_statements=_convert_rows(ObjectStatement, document["object_statements"]),
        object_edges=tuple(_merge_object_edges(document["object_edges"])),
        columns=_convert_rows(Column, document["columns"]),
        constraints=_convert_rows(Constraint, constraints),
        column_edges=_convert_rows(ColumnEdge, _merge_wide_edges(document["column_edges"])),
        facets=_convert_rows(Facet, document["facets"]),
        diagnostics=_convert_rows(Diagnostic, document["diagnostics"]),
    )


def _convert_rows(row: type[RowT], values: Iterable[Row]) -> tuple[RowT, ...]:
    missing = OMITTED_FIELDS.get(row, {})
    return msgspec.convert([missing | value for value in values], tuple[row, ...])  # type: ignore[valid-type]


def _merge_wide_edges(edges: Iterable[Row]) -> Iterable[Row]:
    """Yield each edge of a whole statement once, with `*` for the columns it was expanded to."""
    seen = set()
    for edge in edges:
        if edge.pop("wide", False):
            edge["to_column"] = "*"
            key = tuple(edge[name] for name in ("path", "statement", *_WIDE_EDGE_KEY))
            if key in seen:
                continue
            seen.add(key)
        yield edge


_WIDE_EDGE_KEY = ("from_object", "from_column", "from_path", "to_object", "type", "subtype")


def _merge_object_edges(rows: Iterable[Row]) -> Iterable[ObjectEdge]:
    places: dict[tuple[str, str, str], list[StatementRef]] = {}
    for row in rows:
        key = (row["from_object"], row["to_object"], row["kind"])
        places.setdefault(key, []).append(StatementRef(row["path"], row["statement"]))
    return (ObjectEdge(key[0], key[1], EdgeKind(key[2]), tuple(found)) for key, found in places.items())
