"""The Arrow schema of each table, derived from its row struct, and the layout of its files."""

from functools import cache

import msgspec
import pyarrow as pa
from msgspec import inspect

from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import TABLES

SCHEMA_VERSION = 1  # within a version, nullable fields are added and nothing else changes

SNAPSHOT_ADDRESS = ("snapshot",)
DIFF_ADDRESS = ("base", "head")

# What a table is stored under, as columns in front of its own; sources are shared by all snapshots.
TABLE_ADDRESSES: dict[str, tuple[str, ...]] = {"sources": (), "changes": DIFF_ADDRESS, "waivers": DIFF_ADDRESS}

SCALAR_TYPES: dict[type[inspect.Type], pa.DataType] = {
    inspect.StrType: pa.string(),
    inspect.EnumType: pa.string(),
    inspect.IntType: pa.int64(),
    inspect.BoolType: pa.bool_(),
    inspect.FloatType: pa.float64(),
    inspect.BytesType: pa.binary(),
}


def address_columns(table: str) -> tuple[str, ...]:
    """Return the columns that say which snapshot or diff a row of `table` belongs to."""
    return TABLE_ADDRESSES.get(table, SNAPSHOT_ADDRESS)


@cache
def arrow_schema(table: str) -> pa.Schema:
    """Derive the schema of a table's files: its address, then the fields of its row."""
    fields = [pa.field(name, pa.string(), nullable=False) for name in address_columns(table)]
    fields += [
        pa.field(field.name, arrow_type(strip_optional(field.type)), nullable=is_optional(field.type))
        for field in row_fields(row_type(table))
    ]
    metadata = {"lineage.table": table, "lineage.schema_version": str(SCHEMA_VERSION)}
    return pa.schema(fields, metadata=metadata)


def row_type(table: str) -> type[msgspec.Struct]:
    """Return the struct of a table's rows."""
    if table not in TABLES:
        raise LineageError(f"{table} is not a table of the warehouse")
    return TABLES[table].row


@cache
def row_fields(struct: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    """Return the fields of a struct with their types."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return info.fields


def arrow_type(kind: inspect.Type) -> pa.DataType:
    """Translate a type; inside structs and lists everything is nullable, as Spark writes it."""
    match kind:
        case inspect.StructType():
            return pa.struct([pa.field(field.name, arrow_type(strip_optional(field.type))) for field in kind.fields])
        case inspect.VarTupleType() | inspect.ListType():
            return pa.list_(pa.field("element", arrow_type(strip_optional(kind.item_type))))
        case _:
            return SCALAR_TYPES[type(kind)]


def is_optional(kind: inspect.Type) -> bool:
    """Return whether a value may be None."""
    return isinstance(kind, inspect.UnionType) and kind.includes_none


def strip_optional(kind: inspect.Type) -> inspect.Type:
    """Remove None from a type."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    (only,) = (member for member in kind.types if not isinstance(member, inspect.NoneType))
    return only


SORT_COLUMNS: dict[str, tuple[str, ...]] = {
    "statements": ("path", "ordinal"),
    "columns": ("object", "ordinal"),
    "constraints": ("object", "id"),
    "column_edges": ("to_object", "to_column", "path", "statement"),
    "facets": ("object", "column", "name", "path", "statement"),
    "column_reach": ("object", "ordinal"),
}
"""The columns that the rows of each file are sorted by: queries filter by object."""

ROW_GROUP_SIZE = 30_000
"""Rows per row group: a query about one object reads one, and statistics rule out the others."""

SQL_FILES_PER_PART = 2_000
"""SQL files whose rows share one Parquet file: small tables are one file, large ones several."""
