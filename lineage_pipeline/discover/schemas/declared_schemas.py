"""Declared schemas: files beside a query with the columns of its table, as BigQuery's tools and Avro write them."""

import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

from lineage_pipeline.discover.schemas.imported_tables import ImportedColumn, ImportedTable
from lineage_pipeline.engine.graph.query_names import name_path, split_folders
from lineage_pipeline.files.bounded_yaml import load_yaml

FOLDER_SCHEMAS = frozenset({"schema.yaml", "schema.yml", "schema.json"})
"""Files that describe the table of their folder."""

STEM_SCHEMAS = (".schema.yaml", ".schema.yml", ".schema.json", ".avsc")
"""Endings of files that describe the table of a file with the same stem."""

QUERY_ENDING = ".sql"

UNWRITTEN_QUERY = "query.sql"
"""The file that a folder with a schema would have, if its table were filled by a query."""

MAX_NAME_PARTS = 3

SOURCE_FOLDERS = frozenset({"sql", "src", "queries", "query", "models", "tables", "schemas", "bigquery"})
"""Folders that hold catalogs or schemas and are none."""

REPEATED, REQUIRED = "REPEATED", "REQUIRED"

STRUCT_TYPES = frozenset({"RECORD", "STRUCT"})

COLUMN_TYPES: Mapping[str, str] = {
    "INTEGER": "INT64",
    "FLOAT": "FLOAT64",
    "BOOLEAN": "BOOL",
}
"""Types of BigQuery's schema files whose names in SQL differ."""

AVRO_TYPES: Mapping[str, str] = {
    "string": "STRING",
    "enum": "STRING",
    "bytes": "BYTES",
    "fixed": "BYTES",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "time-millis": "TIME",
    "time-micros": "TIME",
    "timestamp-millis": "TIMESTAMP",
    "timestamp-micros": "TIMESTAMP",
    "decimal": "DECIMAL",
}
"""Types of Avro by their names in SQL; a logical type counts before the type that holds it."""


class DeclaredSchema(NamedTuple):
    """A file with a declared schema: its text, the table that it describes, and why it could not be read."""

    path: str
    text: str
    table: ImportedTable | None
    problem: str = ""


def find_declared_schemas(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return the files that may declare a schema, each with the query that it describes.

    In a root where folders have queries and schemas, a folder may have a schema alone: its table is filled elsewhere.
    """
    queries = {path for path in paths if path.endswith(QUERY_ENDING)}
    named = {name_path(path): path for path in sorted(queries, reverse=True)}
    whole = [path for path in paths if posixpath.basename(path) in FOLDER_SCHEMAS and "/" in path]
    roots = {split_folders(path)[:-MAX_NAME_PARTS] for path in whole if split_folders(path) in named}
    for path in whole:
        folders = split_folders(path)
        if folders in named:
            yield path, named[folders]
        elif len(folders) > MAX_NAME_PARTS and folders[:-MAX_NAME_PARTS] in roots:
            yield path, posixpath.join(posixpath.dirname(path), UNWRITTEN_QUERY)
    for path in paths:
        ending = next((one for one in STEM_SCHEMAS if path.endswith(one)), "")
        if ending and f"{path.removesuffix(ending)}{QUERY_ENDING}" in queries:
            yield path, f"{path.removesuffix(ending)}{QUERY_ENDING}"


@lru_cache(maxsize=5_000)  # both sides of a comparison have most of them
def read_declared_schema(path: str, text: str, query: str) -> DeclaredSchema | None:
    """Return the schema that a file declares for the table of a query; None where it is about something else."""
    try:
        document = json.loads(text) if path.endswith((".json", ".avsc")) else load_yaml(text, lenient=True)
    except (yaml.YAMLError, ValueError) as error:
        return DeclaredSchema(path, text, None, " ".join(str(error).split()))
    except RecursionError:
        return DeclaredSchema(path, text, None, "it is nested too deeply")
    fields = document.get("fields") if isinstance(document, Mapping) else document
    listed = fields if isinstance(fields, list) else []
    fields = [field for field in listed if field is not None]  # what a tag includes is not known
    if not fields or not all(_is_field(field) for field in fields):
        return None
    avro = isinstance(document, Mapping) and document.get("type") == "record"
    columns = tuple(_read_avro_column(field) if avro else _read_column(field) for field in fields)
    parts = name_path(query)[-MAX_NAME_PARTS:]
    while len(parts) > 1 and parts[0].lower() in SOURCE_FOLDERS:
        parts = parts[1:]
    said = document.get("description", document.get("doc")) if isinstance(document, Mapping) else None
    table = ImportedTable(
        tuple((part, False) for part in parts),
        columns,
        partial=len(fields) < len(listed),
        description=str(said) if said else None,
        source=path,
    )
    return DeclaredSchema(path, text, table)


def _is_field(field: object) -> bool:
    return isinstance(field, Mapping) and isinstance(field.get("name"), str) and "type" in field


def _read_column(field: Mapping[str, Any]) -> ImportedColumn:
    """Return a column of BigQuery's schema files."""
    mode = str(field.get("mode") or "").upper()
    said = field.get("description")
    nullable = None if not mode or mode == REPEATED else mode != REQUIRED
    return ImportedColumn(field["name"], _write_type(field), nullable, description=str(said).strip() if said else None)


def _write_type(field: Mapping[str, Any]) -> str | None:
    """Return the type of a field in SQL, with its members."""
    kind = str(field["type"]).upper()
    members = [member for member in field.get("fields") or () if _is_field(member)]
    if kind in STRUCT_TYPES:
        inner = ", ".join(f"`{member['name']}` {_write_type(member)}" for member in members)
        kind = f"STRUCT<{inner}>" if members else "STRUCT"
    else:
        kind = COLUMN_TYPES.get(kind, kind)
    return f"ARRAY<{kind}>" if str(field.get("mode") or "").upper() == REPEATED else kind


def _read_avro_column(field: Mapping[str, Any]) -> ImportedColumn:
    """Return a column of an Avro record; it may be null if `null` is one of its types."""
    kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
    said = field.get("doc")
    return ImportedColumn(
        field["name"],
        _write_avro_type(kinds),
        "null" in kinds,
        description=str(said).strip() if said else None,
    )


def _write_avro_type(kind: object) -> str | None:
    """Return an Avro type in SQL; one of several types is none that SQL has."""
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"]
        return _write_avro_type(others[0]) if len(others) == 1 else None
    if not isinstance(kind, Mapping):
        return AVRO_TYPES.get(str(kind))
    match kind.get("type"):
        case "record":
            members = [member for member in kind.get("fields") or () if _is_field(member)]
            inner = ", ".join(f"`{one['name']}` {_write_avro_type(one['type']) or 'STRING'}" for one in members)
            return f"STRUCT<{inner}>"
        case "array":
            return f"ARRAY<{_write_avro_type(kind.get('items')) or 'STRING'}>"
        case "map":
            return f"MAP<STRING, {_write_avro_type(kind.get('values')) or 'STRING'}>"
    if kind.get("logicalType") == "decimal" and "precision" in kind:
        return f"DECIMAL({kind['precision']}, {kind.get('scale', 0)})"
    return AVRO_TYPES.get(str(kind.get("logicalType"))) or AVRO_TYPES.get(str(kind.get("type")))
