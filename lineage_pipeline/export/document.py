"""The JSON of `lineage scan` back into rows: what it leaves out is what no question asks for."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from lineage_pipeline.export.json import SCHEMA_VERSION
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import EdgeKind
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

RowT = TypeVar("RowT", bound=msgspec.Struct)
Row = dict[str, Any]

NEEDED = ("objects", "columns", "column_edges", "object_edges", "object_statements", "facets", "files")
LEFT_OUT: dict[type[msgspec.Struct], Row] = {
    StatementRow: {"fingerprint": "", "bytes": 0, "features": ()},
    ColumnEdge: {"uses": ()},
    SqlFile: {"source_hash": ""},
    Constraint: {"id": ""},
}


def read_document(content: bytes, place: str) -> tuple[Lineage, tuple[SqlFile, ...]]:
    """Give the lineage and the files of a document, or say why it is none."""
    try:
        document = msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise LineageError(f"{place} is not JSON: {error}") from None
    version = document.get("schema_version") if isinstance(document, dict) else None
    if version != SCHEMA_VERSION or any(key not in document for key in NEEDED):
        raise LineageError(f"{place} is not a lineage file; `lineage scan PATH --format json -o FILE` writes one")
    try:
        return _lineage(document), _rows(SqlFile, document["files"])
    except msgspec.ValidationError as error:
        raise LineageError(f"{place} is not a lineage file of this version: {error}") from None


def _lineage(document: Mapping[str, Any]) -> Lineage:
    schemas = document.get("resolved_schema", ())
    constraints = [{"object": row["object"], **one} for row in schemas for one in row.get("constraints", ())]
    return Lineage(
        statements=_rows(StatementRow, document["statements"]),
        objects=_rows(ObjectRow, document["objects"]),
        object_statements=_rows(ObjectStatement, document["object_statements"]),
        object_edges=tuple(_object_edges(document["object_edges"])),
        columns=_rows(Column, document["columns"]),
        constraints=_rows(Constraint, constraints),
        column_edges=_rows(ColumnEdge, _joined(document["column_edges"])),
        facets=_rows(Facet, document["facets"]),
        diagnostics=_rows(Diagnostic, document["diagnostics"]),
    )


def _rows(row: type[RowT], values: Iterable[Row]) -> tuple[RowT, ...]:
    missing = LEFT_OUT.get(row, {})
    return msgspec.convert([missing | value for value in values], tuple[row, ...])  # type: ignore[valid-type]


def _joined(edges: Iterable[Row]) -> Iterable[Row]:
    """Give each edge of a whole statement once, with `*` for all the columns that it was written out for."""
    seen = set()
    for edge in edges:
        if edge.pop("wide", False):
            edge["to_column"] = "*"
            key = tuple(edge[name] for name in ("path", "statement", *_ENDS))
            if key in seen:
                continue
            seen.add(key)
        yield edge


_ENDS = ("from_object", "from_column", "from_path", "to_object", "type", "subtype")


def _object_edges(rows: Iterable[Row]) -> Iterable[ObjectEdge]:
    places: dict[tuple[str, str, str], list[StatementRef]] = {}
    for row in rows:
        key = (row["from_object"], row["to_object"], row["kind"])
        places.setdefault(key, []).append(StatementRef(row["path"], row["statement"]))
    return (ObjectEdge(key[0], key[1], EdgeKind(key[2]), tuple(found)) for key, found in places.items())
