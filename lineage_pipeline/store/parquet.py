"""One Parquet file: how it is written, and how it is read without ever misreading it."""

import uuid
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_pipeline.store.files import Files
from lineage_pipeline.store.manifests import StoredFile
from lineage_pipeline.store.schemas import arrow_schema
from lineage_pipeline.vocabulary.errors import LineageError

BROKEN = (pa.ArrowException, OSError)


def write_file(files: Files, folder: str, table: str, batches: Iterable[pa.Table], part: str = "") -> StoredFile:
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


def adopt_file(files: Files, path: str, table: str, part: str = "") -> StoredFile:
    """Describe a file that another engine wrote, once its columns are seen to be those of `table`."""
    try:
        with files.system.open_input_file(files.locate(path)) as source:
            footer = pq.ParquetFile(source)
            found, rows = footer.schema_arrow, footer.metadata.num_rows
    except BROKEN as error:
        raise torn(path, error) from error
    for field in arrow_schema(table):
        if field.name not in found.names:
            raise LineageError(f"{path} has no column {field.name}, so it is no file of {table}")
        if not alike(found.field(field.name).type, field.type):
            raise LineageError(f"{path}: {table}.{field.name} is {found.field(field.name).type}, not {field.type}")
    files.sync(path)
    return StoredFile(path, rows, files.size(path) or 0, part)


def read_file(files: Files, stored: StoredFile, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a file that a manifest names, or say in one sentence what is wrong with it."""
    try:
        with files.system.open_input_file(files.locate(stored.path)) as source:
            if source.size() != stored.bytes:
                raise LineageError(f"{stored.path} is torn: it has {source.size()} bytes instead of {stored.bytes}")
            content = pq.ParquetFile(source, page_checksum_verification=True).read(columns=columns)
    except BROKEN as error:
        raise torn(stored.path, error) from error
    if content.num_rows != stored.rows:
        raise LineageError(f"{stored.path} is torn: it has {content.num_rows} rows instead of {stored.rows}")
    return content


def torn(path: str, error: Exception) -> LineageError:
    """Say that a file cannot be read."""
    reason = "it is missing" if isinstance(error, FileNotFoundError) else str(error).partition("\n")[0]
    return LineageError(f"{path} cannot be read: {reason}")


def alike(one: pa.DataType, other: pa.DataType) -> bool:
    """Compare two types by shape: what is nullable inside, and how list items are called, makes no difference."""
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        return [field.name for field in one] == [field.name for field in other] and all(
            alike(left.type, right.type) for left, right in zip(one, other, strict=True)
        )
    if pa.types.is_list(one) and pa.types.is_list(other):
        return alike(one.value_type, other.value_type)
    return bool(one == other)
