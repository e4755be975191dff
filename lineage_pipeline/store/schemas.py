"""The Arrow schema of each table, derived from its row struct."""

from functools import cache

import msgspec
import pyarrow as pa
from msgspec import inspect

from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import TABLES

SCHEMA_VERSION = 1  # within a version, nullable fields are added and nothing else changes

SNAPSHOT = ("snapshot",)
DIFF = ("base", "head")

# What a table is stored under, as columns in front of its own; sources are shared by all snapshots.
ADDRESSES: dict[str, tuple[str, ...]] = {"sources": (), "changes": DIFF, "waivers": DIFF}

SCALARS: dict[type[inspect.Type], pa.DataType] = {
    inspect.StrType: pa.string(),
    inspect.EnumType: pa.string(),
    inspect.IntType: pa.int64(),
    inspect.BoolType: pa.bool_(),
    inspect.FloatType: pa.float64(),
    inspect.BytesType: pa.binary(),
}


def address(table: str) -> tuple[str, ...]:
    """Name the columns that say which snapshot or diff a row of `table` belongs to."""
    return ADDRESSES.get(table, SNAPSHOT)


@cache
def arrow_schema(table: str) -> pa.Schema:
    """Derive the schema of a table's files: its address, then the fields of its row."""
    fields = [pa.field(name, pa.string(), nullable=False) for name in address(table)]
    fields += [
        pa.field(field.name, arrow_type(required(field.type)), nullable=is_optional(field.type))
        for field in row_fields(row_type(table))
    ]
    metadata = {"lineage.table": table, "lineage.schema_version": str(SCHEMA_VERSION)}
    return pa.schema(fields, metadata=metadata)


def row_type(table: str) -> type[msgspec.Struct]:
    """Look up the struct of a table's rows."""
    if table not in TABLES:
        raise LineageError(f"{table} is not a table of the warehouse")
    return TABLES[table].row


@cache
def row_fields(struct: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    """List the fields of a struct with their types."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return info.fields


def arrow_type(kind: inspect.Type) -> pa.DataType:
    """Translate a type; inside structs and lists everything is nullable, as Spark writes it."""
    match kind:
        case inspect.StructType():
            return pa.struct([pa.field(field.name, arrow_type(required(field.type))) for field in kind.fields])
        case inspect.VarTupleType() | inspect.ListType():
            return pa.list_(pa.field("element", arrow_type(required(kind.item_type))))
        case _:
            return SCALARS[type(kind)]


def is_optional(kind: inspect.Type) -> bool:
    """Tell whether a value may be None."""
    return isinstance(kind, inspect.UnionType) and kind.includes_none


def required(kind: inspect.Type) -> inspect.Type:
    """Take None out of a type."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    (only,) = (member for member in kind.types if not isinstance(member, inspect.NoneType))
    return only
