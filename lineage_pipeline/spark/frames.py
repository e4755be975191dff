"""DataFrames and files: explicit schemas in both directions, so that reading costs no job."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from lineage_pipeline.store.arrays import to_arrow
from lineage_pipeline.store.building import array_of
from lineage_pipeline.store.schemas import address, arrow_schema

Batches: TypeAlias = Iterator[pa.RecordBatch]
"""What flows through a task."""


def spark_schema(schema: pa.Schema) -> StructType:
    """Translate a schema for Spark."""
    return from_arrow_schema(schema)


def read(session: SparkSession, addresses: Sequence[str], schema: pa.Schema) -> DataFrame:
    """Open Parquet files; the names of their folders are not columns."""
    wanted = spark_schema(schema)
    if not addresses:
        return session.createDataFrame([], wanted)
    reader = session.read.schema(wanted).option("recursiveFileLookup", "true")
    return reader.parquet(*addresses)


def row_schema(table: str) -> pa.DataType:
    """Give the rows of a table as one type, without the snapshot that they are stored under."""
    fields = [field for field in arrow_schema(table) if field.name not in address(table)]
    return pa.struct([pa.field(field.name, field.type) for field in fields])


def row_array(table: str, rows: Sequence[msgspec.Struct]) -> pa.StructArray:
    """Turn rows of a table into one array of structs."""
    content = to_arrow(table, [""] * len(address(table)), rows).combine_chunks()
    names = [field.name for field in row_schema(table)]
    columns = [_only_chunk(content[name]) for name in names]
    return pa.StructArray.from_arrays(columns, fields=list(row_schema(table)))


def _only_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.nulls(0, column.type)


def sparse(
    schema: pa.Schema, column: str, values: pa.Array, further: Mapping[str, Sequence[object]] | None = None
) -> pa.RecordBatch:
    """Give rows that fill one column, and the `further` ones, and leave the others empty."""
    filled = {name: array_of(row, schema.field(name).type) for name, row in (further or {}).items()} | {column: values}
    arrays = [filled.get(field.name, pa.nulls(len(values), field.type)) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def batch(schema: pa.Schema, columns: Mapping[str, Sequence[object]]) -> pa.RecordBatch:
    """Give columns of plain values as a batch; those that are not given are empty."""
    count = len(next(iter(columns.values())))
    arrays = [
        array_of(columns[field.name], field.type) if field.name in columns else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
