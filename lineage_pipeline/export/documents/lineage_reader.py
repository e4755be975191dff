"""Reads the JSON of `lineage scan` back into rows; fields that no query needs get default values."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from lineage_pipeline.export.documents.lineage_json import SCHEMA_VERSION
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeKind
from lineage_pipeline.model.errors import LineageError
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

RowT = TypeVar("RowT", bound=msgspec.Struct)
Row = dict[str, Any]

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
    if version != SCHEMA_VERSION or any(key not in document for key in REQUIRED_KEYS):
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
