"""The JSON Schemas of our documents, built from the structs of their rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

import msgspec

from lineage_pipeline.engine.diff.verification import Verification
from lineage_pipeline.export.dialect_use import DialectUse
from lineage_pipeline.export.documents import lineage_json
from lineage_pipeline.model.graph import Graph, GraphEdge, GraphNode
from lineage_pipeline.model.runtime import RuntimeComparison
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

SCHEMA_DRAFT = "https://json-schema.org/draft/2020-12/schema"
REF_TEMPLATE = "#/$defs/{name}"

Json = dict[str, Any]
Fields = Mapping[str, Any]


def build_lineage_schema() -> Json:
    """Return the schema of what `analyze`, `scan`, `import` and `export json` write."""
    counts = dict[str, int]
    summary = {
        **dict.fromkeys(("statements", "bytes", "diagnostics"), counts),
        **dict.fromkeys(("dropped_bytes", "objects", "columns", "column_edges"), int),
        **dict.fromkeys(("has_errors", "has_approximations"), bool),
        "dialects": list[DialectUse],
    }
    rows = {
        "statements": _row_struct("Statement", StatementRow, lineage_json.STATEMENT_KEYS),
        "objects": _row_struct("Object", ObjectRow, lineage_json.OBJECT_KEYS),
        "columns": _row_struct("Column", Column, lineage_json.COLUMN_KEYS),
        "column_edges": _row_struct("ColumnEdge", ColumnEdge, lineage_json.EDGE_KEYS, wide=bool),
        "object_edges": _row_struct(
            "ObjectEdge", ObjectEdge, ("from_object", "to_object", "kind"), **_field_types(StatementRef)
        ),
        "diagnostics": _row_struct("Diagnostic", Diagnostic, lineage_json.DIAGNOSTIC_KEYS),
        "resolved_schema": _resolved_schema_struct(),
        "object_statements": _row_struct("ObjectStatement", ObjectStatement, lineage_json.PART_KEYS),
        "facets": _row_struct("Facet", Facet, lineage_json.FACET_KEYS),
        "files": _row_struct("File", SqlFile, lineage_json.FILE_KEYS),
    }
    fields = {name: list[row] for name, row in rows.items()}  # type: ignore[valid-type]
    members = fields | {"summary": _define_struct("Summary", summary)}
    return _document_schema("lineage", "The lineage of SQL", members, lineage_json.LINEAGE_VERSION)


def build_graphs_schema() -> Json:
    """Return the schema of what `analyze --graph statement` writes."""
    return _document_schema("graphs", "The graph of each statement", {"graphs": list[Graph]})


def build_graph_schema() -> Json:
    """Return the schema of what `analyze --graph global` writes."""
    return _document_schema(
        "graph", "The graph of all statements", {"nodes": list[GraphNode], "edges": list[GraphEdge]}
    )


def build_runs_schema() -> Json:
    """Return the schema of what `import --compare --format json` writes."""
    return _document_schema("runs", "Static lineage against what runs told", _field_types(RuntimeComparison))


def build_verification_schema() -> Json:
    """Return the schema of what `verify --format json` writes."""
    return _document_schema(
        "verification", "Our columns against an engine's", {"catalog": str, **_field_types(Verification)}
    )


DOCUMENT_SCHEMAS: Mapping[str, Callable[[], Json]] = {
    "lineage": build_lineage_schema,
    "graphs": build_graphs_schema,
    "graph": build_graph_schema,
    "runs": build_runs_schema,
    "verification": build_verification_schema,
}


def _resolved_schema_struct() -> type[msgspec.Struct]:
    """Build the struct of a resolved schema as the document has it."""
    known = _field_types(ObjectRow)
    fields = {
        "object": str,
        "origin": known["origin"],
        "source_statement": StatementRef | None,
        "updated_at": str | None,
        "temporary": bool,
        "constraints": list[_row_struct("Constraint", Constraint, lineage_json.CONSTRAINT_KEYS)],  # type: ignore[misc]
        "columns": list[_row_struct("SchemaColumn", Column, lineage_json.SCHEMA_COLUMN_KEYS)],  # type: ignore[misc]
    }
    return _define_struct("ResolvedSchema", fields)


def _document_schema(name: str, title: str, fields: Fields, number: int = lineage_json.SCHEMA_VERSION) -> Json:
    """Return the schema of a document: its version and these keys, all required; further keys are allowed."""
    (place,), definitions = msgspec.json.schema_components(
        [_define_struct("Document", fields)], ref_template=REF_TEMPLATE
    )
    document = definitions.pop(place["$ref"].rpartition("/")[2])
    for definition in definitions.values():  # what a row leaves open with a default, a document still has
        if "properties" in definition:
            definition["required"] = list(definition["properties"])
    version = {"schema_version": {"const": number}}
    return {
        "$schema": SCHEMA_DRAFT,
        "$id": f"urn:lineage-pipeline:{name}:{number}",
        "title": title,
        "type": "object",
        "required": ["schema_version", *document["required"]],
        "properties": version | document["properties"],
        "$defs": dict(sorted(definitions.items())),
    }


def _row_struct(name: str, row: type[msgspec.Struct], keys: Sequence[str], **more: Any) -> type[msgspec.Struct]:
    """Build a struct of some fields of another struct and further ones."""
    hints = _field_types(row)
    return _define_struct(name, {key: hints[key] for key in keys} | more, row.__doc__ or "")


def _define_struct(name: str, fields: Fields, about: str = "") -> type[msgspec.Struct]:
    return msgspec.defstruct(name, list(fields.items()), namespace={"__doc__": about} if about else None)


def _field_types(row: type[msgspec.Struct]) -> Json:
    return get_type_hints(row)
