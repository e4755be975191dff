"""The tables of one snapshot, wherever they lie, read column by column and row group by row group."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lineage_pipeline.store.arrays import conform
from lineage_pipeline.store.building import array_of, empty_table
from lineage_pipeline.store.files import Files
from lineage_pipeline.store.manifests import Manifest
from lineage_pipeline.store.parquet import BROKEN, torn
from lineage_pipeline.store.schemas import address, arrow_schema
from lineage_pipeline.vocabulary.errors import LineageError


class Tables(Protocol):
    """The files of the tables of one snapshot, or what is in memory of them."""

    key: tuple[str, ...]

    def open(self, table: str) -> "Iterator[pq.ParquetFile | pa.Table]":
        """Open the files of a table, one after the other."""


class StoredTables:
    """The tables that a manifest of a warehouse names."""

    def __init__(self, files: Files, manifest: Manifest) -> None:
        """Take the warehouse's files and the manifest."""
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
            except BROKEN as error:
                raise torn(stored.path, error) from error


def read_columns(tables: Tables, table: str, columns: Sequence[str]) -> pa.Table:
    """Read some columns of all rows, as they lie there."""
    contents = [_read(file, list(columns)) for file in tables.open(table)]
    schema = pa.schema([arrow_schema(table).field(name) for name in columns])
    return pa.concat_tables([empty_table(schema), *(content.select(columns).cast(schema) for content in contents)])


def read_where(tables: Tables, table: str, column: str, values: Collection[str]) -> pa.Table:
    """Read the rows whose `column` is one of some values; row groups without any are not read."""
    names = sorted(values)
    wanted = array_of(names, pa.string())
    found = [empty_table(arrow_schema(table))]
    for file in tables.open(table):
        for content in _with(file, column, names, wanted):
            found.append(conform(table, tables.key if address(table) else (), content))
    return pa.concat_tables(found)


def _read(file: pq.ParquetFile | pa.Table, columns: list[str] | None = None) -> pa.Table:
    if isinstance(file, pa.Table):
        return file if columns is None else file.select(columns)
    return file.read(columns=columns)


def _with(file: pq.ParquetFile | pa.Table, column: str, names: Sequence[str], wanted: pa.Array) -> Iterator[pa.Table]:
    """Give the rows of a file whose `column` is one of some names, which are given sorted and as Arrow has them."""
    if isinstance(file, pa.Table):
        yield file.filter(pc.is_in(file[column], value_set=wanted))
        return
    for group in groups_with(file, column, names):
        mask = pc.is_in(file.read_row_group(group, columns=[column])[column], value_set=wanted)
        if pc.any(mask).as_py():
            yield file.read_row_group(group).filter(mask)


def groups_with(file: pq.ParquetFile, column: str, names: Sequence[str]) -> list[int]:
    """List the row groups whose statistics do not rule out that `column` is one of some sorted names."""
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


def read_all(tables: Tables, table: str) -> pa.Table:
    """Read all rows of a table."""
    key = tables.key if address(table) else ()
    contents = [conform(table, key, _read(file)) for file in tables.open(table)]
    return pa.concat_tables([empty_table(arrow_schema(table)), *contents])


@contextmanager
def readable(path: str, stream: IO[bytes]) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file inside another file, or say what is wrong with it."""
    try:
        yield pq.ParquetFile(stream)
    except BROKEN as error:
        raise torn(path, error) from error
