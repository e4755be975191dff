"""The files of tables: written and read as Parquet with checks, whole or by column and row group."""

import uuid
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, Protocol, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import TABLES
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.manifest_files import Manifest, StoredFile
from lineage_pipeline.store.row_conversion import arrow_to_rows, build_array, conform_table, empty_table
from lineage_pipeline.store.table_schemas import address_columns, arrow_schema, row_type

RowT = TypeVar("RowT", bound=msgspec.Struct)


def read_table(files: FileStore, manifest: Manifest, table: str) -> pa.Table:
    """Read all rows of a table; of the shared sources, those that the snapshot refers to."""
    row_type(table)
    if table not in manifest.tables:
        raise LineageError(f"{' to '.join(manifest.key)} has no {table} yet")
    key = manifest.key if address_columns(table) else ()
    contents = [conform_table(table, key, read_parquet_file(files, file)) for file in manifest.tables[table].files]
    content = pa.concat_tables([empty_table(arrow_schema(table)), *contents])
    return content if address_columns(table) else _select_referenced_sources(files, manifest, content)


def read_table_rows(files: FileStore, manifest: Manifest, row: type[RowT]) -> tuple[RowT, ...]:
    """Read a table as structs, in the order of its key."""
    table = next(table for table in TABLES.values() if table.row is row)
    content = read_table(files, manifest, table.name)
    order = pc.sort_indices(content, sort_keys=[(name, "ascending", "at_start") for name in table.key])
    return arrow_to_rows(table.name, content.take(order), row)


def read_stored_lineage(files: FileStore, manifest: Manifest) -> LineageTables:
    """Read the tables of a snapshot that make up a lineage."""
    tables: dict[str, Any] = {
        name: read_table_rows(files, manifest, TABLES[name].row) for name in LineageTables.__struct_fields__
    }
    return LineageTables(**tables)


def _select_referenced_sources(files: FileStore, manifest: Manifest, sources: pa.Table) -> pa.Table:
    hashes = sources["source_hash"].to_pylist()
    wanted = set(hashes)
    if "sql_files" in manifest.tables:
        wanted = set(read_table(files, manifest, "sql_files")["source_hash"].to_pylist())
    first = {name: index for index, name in reversed(list(enumerate(hashes))) if name in wanted}
    return sources.take(build_array(sorted(first.values()), pa.int64()))


class TableFiles(Protocol):
    """The files of the tables of one snapshot, or their content in memory."""

    key: tuple[str, ...]

    def open(self, table: str) -> "Iterator[pq.ParquetFile | pa.Table]":
        """Open the files of a table, one after the other."""


class WarehouseTables:
    """The tables that a manifest of a warehouse names."""

    def __init__(self, files: FileStore, manifest: Manifest) -> None:
        """Store the warehouse's files and the manifest."""
        self.key = manifest.key
        self._files, self._manifest = files, manifest

    def open(self, table: str) -> Iterator[pq.ParquetFile]:
        """Open the files of a table, one after the other."""
        if table not in self._manifest.tables:
            raise LineageError(f"{' to '.join(self.key)} has no {table} yet")
        for stored in self._manifest.tables[table].files:
            try:
                with self._files.system.open_input_file(self._files.locate(stored.path)) as source:
                    if source.size() != stored.bytes:
                        raise LineageError(
                            f"{stored.path} is torn: it has {source.size()} bytes instead of {stored.bytes}"
                        )
                    yield pq.ParquetFile(source, page_checksum_verification=True)
            except PARQUET_ERRORS as error:
                raise damaged_file_error(stored.path, error) from error


def read_columns(tables: TableFiles, table: str, columns: Sequence[str]) -> pa.Table:
    """Read some columns of all rows."""
    contents = [_read_file_columns(file, list(columns)) for file in tables.open(table)]
    schema = pa.schema([arrow_schema(table).field(name) for name in columns])
    return pa.concat_tables([empty_table(schema), *(content.select(columns).cast(schema) for content in contents)])


def read_matching_rows(tables: TableFiles, table: str, column: str, values: Collection[str]) -> pa.Table:
    """Read the rows whose `column` is one of some values; row groups without any are not read."""
    names = sorted(values)
    wanted = build_array(names, pa.string())
    found = [empty_table(arrow_schema(table))]
    for file in tables.open(table):
        for content in _iter_matching(file, column, names, wanted):
            found.append(conform_table(table, tables.key if address_columns(table) else (), content))
    return pa.concat_tables(found)


def _read_file_columns(file: pq.ParquetFile | pa.Table, columns: list[str] | None = None) -> pa.Table:
    if isinstance(file, pa.Table):
        return file if columns is None else file.select(columns)
    return file.read(columns=columns)


def _iter_matching(
    file: pq.ParquetFile | pa.Table, column: str, names: Sequence[str], wanted: pa.Array
) -> Iterator[pa.Table]:
    """Yield the rows of a file whose `column` is one of some names, given sorted and as an Arrow array."""
    if isinstance(file, pa.Table):
        yield file.filter(pc.is_in(file[column], value_set=wanted))
        return
    for group in matching_row_groups(file, column, names):
        mask = pc.is_in(file.read_row_group(group, columns=[column])[column], value_set=wanted)
        if pc.any(mask).as_py():
            yield file.read_row_group(group).filter(mask)


def matching_row_groups(file: pq.ParquetFile, column: str, names: Sequence[str]) -> list[int]:
    """Return the row groups whose statistics do not rule out that `column` is one of some sorted names."""
    leaves = file.metadata.schema
    place = [leaves.column(leaf).path for leaf in range(len(leaves))].index(column)
    found = []
    for group in range(file.num_row_groups):
        known = file.metadata.row_group(group).column(place).statistics
        if known is None or not known.has_min_max or _any_between(names, known.min, known.max):
            found.append(group)
    return found


def _any_between(names: Sequence[str], least: str, most: str) -> bool:
    first = bisect_left(names, least)
    return first < len(names) and names[first] <= most


def read_all_rows(tables: TableFiles, table: str) -> pa.Table:
    """Read all rows of a table."""
    key = tables.key if address_columns(table) else ()
    contents = [conform_table(table, key, _read_file_columns(file)) for file in tables.open(table)]
    return pa.concat_tables([empty_table(arrow_schema(table)), *contents])


@contextmanager
def open_embedded_parquet(path: str, stream: IO[bytes]) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file inside another file, or fail with one sentence."""
    try:
        yield pq.ParquetFile(stream)
    except PARQUET_ERRORS as error:
        raise damaged_file_error(path, error) from error


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
