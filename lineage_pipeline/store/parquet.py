"""Writes and reads one Parquet file, with checks that it is complete and has the expected columns."""

import uuid
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.manifests import StoredFile
from lineage_pipeline.store.table_schemas import arrow_schema

PARQUET_ERRORS = (pa.ArrowException, OSError)


def write_parquet_file(
    files: FileStore, folder: str, table: str, batches: Iterable[pa.Table], part: str = ""
) -> StoredFile:
    """Write batches, one after the other, to a new file of `table` in `folder`."""
    path = f"{folder}/part-{uuid.uuid4().hex}.parquet"
    files.prepare(path)
    rows = 0
    with (
        files.system.open_output_stream(files.locate(path)) as sink,
        pq.ParquetWriter(sink, arrow_schema(table), compression="zstd", write_page_checksum=True) as writer,
    ):
        for batch in batches:
            writer.write_table(batch)
            rows += batch.num_rows
    files.sync(path)
    return StoredFile(path, rows, files.size(path) or 0, part)


def adopt_parquet_file(files: FileStore, path: str, table: str, part: str = "") -> StoredFile:
    """Describe a file that another engine wrote, after checking that its columns are those of `table`."""
    try:
        with files.system.open_input_file(files.locate(path)) as source:
            footer = pq.ParquetFile(source)
            found, rows = footer.schema_arrow, footer.metadata.num_rows
    except PARQUET_ERRORS as error:
        raise damaged_file_error(path, error) from error
    for field in arrow_schema(table):
        if field.name not in found.names:
            raise LineageError(f"{path} has no column {field.name}, so it is no file of {table}")
        if not same_arrow_type(found.field(field.name).type, field.type):
            raise LineageError(f"{path}: {table}.{field.name} is {found.field(field.name).type}, not {field.type}")
    files.sync(path)
    return StoredFile(path, rows, files.size(path) or 0, part)


def read_parquet_file(files: FileStore, stored: StoredFile, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a file that a manifest names, or fail with one sentence."""
    try:
        with files.system.open_input_file(files.locate(stored.path)) as source:
            if source.size() != stored.bytes:
                raise LineageError(f"{stored.path} is torn: it has {source.size()} bytes instead of {stored.bytes}")
            content = pq.ParquetFile(source, page_checksum_verification=True).read(columns=columns)
    except PARQUET_ERRORS as error:
        raise damaged_file_error(stored.path, error) from error
    if content.num_rows != stored.rows:
        raise LineageError(f"{stored.path} is torn: it has {content.num_rows} rows instead of {stored.rows}")
    return content


def damaged_file_error(path: str, error: Exception) -> LineageError:
    """Build the error for a file that cannot be read."""
    reason = "it is missing" if isinstance(error, FileNotFoundError) else str(error).partition("\n")[0]
    return LineageError(f"{path} cannot be read: {reason}")


def same_arrow_type(one: pa.DataType, other: pa.DataType) -> bool:
    """Compare two types, ignoring inner nullability and the names of list items."""
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        return [field.name for field in one] == [field.name for field in other] and all(
            same_arrow_type(left.type, right.type) for left, right in zip(one, other, strict=True)
        )
    if pa.types.is_list(one) and pa.types.is_list(other):
        return same_arrow_type(one.value_type, other.value_type)
    return bool(one == other)
