"""The JSON Schemas of our documents, made from the rows that they hold; a schema never says what no row does."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

import msgspec

from lineage_pipeline.engine.diff.verification import Verification
from lineage_pipeline.export import json
from lineage_pipeline.vocabulary.graph import Graph, GraphEdge, GraphNode
from lineage_pipeline.vocabulary.runtime import RuntimeComparison
from lineage_pipeline.vocabulary.tables import (
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

DRAFT = "https://json-schema.org/draft/2020-12/schema"
PLACE = "#/$defs/{name}"

Json = dict[str, Any]
Fields = Mapping[str, Any]


def lineage_schema() -> Json:
    """Describe what `analyze`, `scan`, `import` and `export json` write."""
    counts = dict[str, int]
    summary = {
        **dict.fromkeys(("statements", "bytes", "diagnostics"), counts),
        **dict.fromkeys(("dropped_bytes", "objects", "columns", "column_edges"), int),
        **dict.fromkeys(("has_errors", "has_approximations"), bool),
    }
    rows = {
        "statements": _row("Statement", StatementRow, json.STATEMENT_KEYS),
        "objects": _row("Object", ObjectRow, json.OBJECT_KEYS),
        "columns": _row("Column", Column, json.COLUMN_KEYS),
        "column_edges": _row("ColumnEdge", ColumnEdge, json.EDGE_KEYS, wide=bool),
        "object_edges": _row("ObjectEdge", ObjectEdge, ("from_object", "to_object", "kind"), **_hints(StatementRef)),
        "diagnostics": _row("Diagnostic", Diagnostic, json.DIAGNOSTIC_KEYS),
        "resolved_schema": _resolved(),
        "object_statements": _row("ObjectStatement", ObjectStatement, json.PART_KEYS),
        "facets": _row("Facet", Facet, json.FACET_KEYS),
        "files": _row("File", SqlFile, json.FILE_KEYS),
    }
    fields = {name: list[row] for name, row in rows.items()}  # type: ignore[valid-type]
    return _document("lineage", "The lineage of SQL", fields | {"summary": _struct("Summary", summary)})


def graphs_schema() -> Json:
    """Describe what `analyze --graph statement` writes."""
    return _document("graphs", "The graph of each statement", {"graphs": list[Graph]})


def graph_schema() -> Json:
    """Describe what `analyze --graph global` writes."""
    return _document("graph", "The graph of all statements", {"nodes": list[GraphNode], "edges": list[GraphEdge]})


def runs_schema() -> Json:
    """Describe what `import --compare --format json` writes."""
    return _document("runs", "Static lineage against what runs told", _hints(RuntimeComparison))


def verification_schema() -> Json:
    """Describe what `verify --format json` writes."""
    return _document("verification", "Our columns against an engine's", {"catalog": str, **_hints(Verification)})


SCHEMAS: Mapping[str, Callable[[], Json]] = {
    "lineage": lineage_schema,
    "graphs": graphs_schema,
    "graph": graph_schema,
    "runs": runs_schema,
    "verification": verification_schema,
}


def _resolved() -> type[msgspec.Struct]:
    """Describe the schema of an object, as the document puts it together."""
    known = _hints(ObjectRow)
    fields = {
        "object": str,
        "origin": known["origin"],
        "source_statement": StatementRef | None,
        "updated_at": str | None,
        "temporary": bool,
        "constraints": list[_row("Constraint", Constraint, json.CONSTRAINT_KEYS)],  # type: ignore[misc]
        "columns": list[_row("SchemaColumn", Column, json.SCHEMA_COLUMN_KEYS)],  # type: ignore[misc]
    }
    return _struct("ResolvedSchema", fields)


def _document(name: str, title: str, fields: Fields) -> Json:
    """Give the schema of a document: its version, and these keys, each of them always; more may come."""
    (place,), definitions = msgspec.json.schema_components([_struct("Document", fields)], ref_template=PLACE)
    document = definitions.pop(place["$ref"].rpartition("/")[2])
    for definition in definitions.values():  # what a row leaves open with a default, a document still has
        if "properties" in definition:
            definition["required"] = list(definition["properties"])
    version = {"schema_version": {"const": json.SCHEMA_VERSION}}
    return {
        "$schema": DRAFT,
        "$id": f"urn:lineage-pipeline:{name}:{json.SCHEMA_VERSION}",
        "title": title,
        "type": "object",
        "required": ["schema_version", *document["required"]],
        "properties": version | document["properties"],
        "$defs": dict(sorted(definitions.items())),
    }


def _row(name: str, row: type[msgspec.Struct], keys: Sequence[str], **more: Any) -> type[msgspec.Struct]:
    """Make a struct of some fields of another, and of further ones."""
    hints = _hints(row)
    return _struct(name, {key: hints[key] for key in keys} | more, row.__doc__ or "")


def _struct(name: str, fields: Fields, about: str = "") -> type[msgspec.Struct]:
    return msgspec.defstruct(name, list(fields.items()), namespace={"__doc__": about} if about else None)


def _hints(row: type[msgspec.Struct]) -> Json:
    return get_type_hints(row)
