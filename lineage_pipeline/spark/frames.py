"""DataFrames and Arrow batches with explicit schemas, so that reading costs no job."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from lineage_pipeline.store.row_conversion import build_array, rows_to_arrow
from lineage_pipeline.store.table_schemas import address_columns, arrow_schema

Batches: TypeAlias = Iterator[pa.RecordBatch]
"""The batches that flow through a task."""


def to_spark_schema(schema: pa.Schema) -> StructType:
    """Translate an Arrow schema for Spark."""
    return from_arrow_schema(schema)


def read_parquet_frame(session: SparkSession, addresses: Sequence[str], schema: pa.Schema) -> DataFrame:
    """Open Parquet files; folder names are not columns."""
    wanted = to_spark_schema(schema)
    if not addresses:
        return session.createDataFrame([], wanted)
    reader = session.read.schema(wanted).option("recursiveFileLookup", "true")
    return reader.parquet(*addresses)


def row_struct_type(table: str) -> pa.DataType:
    """Return the struct type of a table's rows, without the snapshot key."""
    fields = [field for field in arrow_schema(table) if field.name not in address_columns(table)]
    return pa.struct([pa.field(field.name, field.type) for field in fields])


def build_row_array(table: str, rows: Sequence[msgspec.Struct]) -> pa.StructArray:
    """Convert rows of a table to one array of structs."""
    content = rows_to_arrow(table, [""] * len(address_columns(table)), rows).combine_chunks()
    names = [field.name for field in row_struct_type(table)]
    columns = [_only_chunk(content[name]) for name in names]
    return pa.StructArray.from_arrays(columns, fields=list(row_struct_type(table)))


def _only_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.nulls(0, column.type)


def build_sparse_batch(
    schema: pa.Schema, column: str, values: pa.Array, further: Mapping[str, Sequence[object]] | None = None
) -> pa.RecordBatch:
    """Return rows that fill one column and the `further` ones, with nulls in the others."""
    filled = {name: build_array(row, schema.field(name).type) for name, row in (further or {}).items()} | {
        column: values
    }
    arrays = [filled.get(field.name, pa.nulls(len(values), field.type)) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def build_batch(schema: pa.Schema, columns: Mapping[str, Sequence[object]]) -> pa.RecordBatch:
    """Return columns of plain values as a batch; columns that are not given are null."""
    count = len(next(iter(columns.values())))
    arrays = [
        build_array(columns[field.name], field.type) if field.name in columns else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
