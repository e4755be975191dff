"""One run: what it writes is seen by itself alone until it is published."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias, TypeVar

import msgspec
import pyarrow as pa

from lineage_pipeline.store import catalog
from lineage_pipeline.store.arrays import conform, to_arrow
from lineage_pipeline.store.files import Files
from lineage_pipeline.store.manifests import Manifest, StoredFile, Written, encode, file_name, manifest_path
from lineage_pipeline.store.parquet import adopt_file, write_file
from lineage_pipeline.store.reading import read_rows, read_table
from lineage_pipeline.store.schemas import SNAPSHOT, address, row_type
from lineage_pipeline.store.sources import write_sources
from lineage_pipeline.store.tables import StoredTables
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import TABLES, Source

RowT = TypeVar("RowT", bound=msgspec.Struct)
Rows: TypeAlias = Iterable[msgspec.Struct] | pa.Table | pa.RecordBatchReader

BATCH = 65_536
BATCH_TEXT, A_ROW = 8_000_000, 500
"""Characters that are written at once, and what a row counts beside its texts."""


class Run:
    """The tables of one snapshot or diff while they are made."""

    def __init__(self, files: Files, key: tuple[str, ...], run: str) -> None:
        """Stand for a run that has been started."""
        self._files = files
        self.key = key
        self.id = run

    @property
    def manifest(self) -> Manifest:
        """Read what the run has inherited and written up to now."""
        manifest = catalog.run_manifest(self._files, self.key, self.id)
        if manifest is None:
            name, last = " to ".join(self.key), catalog.published(self._files, self.key)
            later = f": {name} was published by the later run {last.run}" if last is not None else ""
            raise LineageError(f"the run {self.id} of {name} has been collected{later}")
        return manifest

    def write(self, table: str, rows: Rows, *, part: str = "") -> None:
        """Write a table, or the named part of it, in place of what the run had; an iterable is written as it comes."""
        self._demand(table)
        key = self.key if address(table) else ()
        contents = _batches(table, key, rows)
        if address(table):
            self._record(table, part, [write_file(self._files, self._folder(table), table, contents, part)])
        else:
            self._record(table, part, write_sources(self._files, self._folder(table), contents, part))

    def folder(self, table: str) -> str:
        """Give the address of a new folder where another engine may write files, to be adopted later."""
        self._demand(table)
        return self._files.address(f"{self._folder(table)}/{uuid.uuid4().hex}")

    def adopt(self, table: str, addresses: Iterable[str], *, part: str = "") -> None:
        """Take files, or all Parquet files of folders, that another engine wrote under the warehouse's root."""
        self._demand(table)
        paths = [path for place in addresses for path in self._parquet_files(self._files.relative(place))]
        self._record(table, part, [adopt_file(self._files, path, table, part) for path in paths])

    def files(self, table: str) -> list[str]:
        """List the addresses of a table's files; none if it has not been written."""
        stored = self.manifest.tables.get(table)
        return [self._files.address(file.path) for file in stored.files] if stored else []

    def read(self, table: str) -> pa.Table:
        """Read a table as Arrow."""
        return read_table(self._files, self.manifest, table)

    @property
    def tables(self) -> StoredTables:
        """Open the tables, to read only what a question needs."""
        return StoredTables(self._files, self.manifest)

    def rows(self, row: type[RowT]) -> tuple[RowT, ...]:
        """Read the table of a struct, in the order of its key."""
        return read_rows(self._files, self.manifest, row)

    def publish(self) -> Manifest:
        """Show the run to all readers, whole, in place of what was published under its key."""
        manifest, last = self.manifest, catalog.published(self._files, self.key)
        name = " to ".join(self.key)
        if missing := _missing(manifest):
            raise LineageError(f"{name} is not complete: {', '.join(missing)} not written")
        if last is not None and last.sequence > manifest.sequence:
            raise LineageError(f"{name} was published by the later run {last.run}")
        for table in manifest.tables.values():
            for file in table.files:
                if self._files.size(file.path) != file.bytes:
                    raise LineageError(f"{file.path} is torn or missing, so {name} cannot be published")
        earlier = [run for run in catalog.runs_of(self._files, self.key) if run.sequence < manifest.sequence]
        seen = {*last.superseded, last.run} if last is not None else set()
        superseded = [run for run in earlier if run.run in seen]
        shown = msgspec.structs.replace(manifest, superseded=tuple(run.run for run in superseded))
        self._files.replace(manifest_path(self.key), encode(shown))
        self._collect([run for run in earlier if run.run not in seen], superseded)
        return manifest

    def _collect(self, left: Sequence[Manifest], superseded: Sequence[Manifest]) -> None:
        """Remove what runs left behind that nobody ever saw; of others somebody may still be reading the files."""
        if not left:
            return
        current = (*catalog.all_published(self._files), *catalog.all_unpublished(self._files))
        kept = catalog.stored_paths((*current, *superseded))
        for run in left:
            own = Run(self._files, self.key, run.run)
            folders = [own._folder(table) for table in required(self.key)]
            data = [path for folder in folders for path in self._files.list(folder) if path not in kept]
            for path in (*data, *self._files.list(catalog.run_folder(self.key, run.run))):
                self._files.remove(path)

    def _record(self, table: str, part: str, files: Sequence[StoredFile]) -> None:
        catalog.record(self._files, self.key, self.id, Written(table, part, tuple(files)))

    def _demand(self, table: str) -> None:
        row_type(table)
        if table not in required(self.key):
            raise LineageError(f"{table} is no table of a {'snapshot' if len(self.key) == 1 else 'diff'}")

    def _folder(self, table: str) -> str:
        names = zip(address(table), self.key, strict=False)
        return "/".join([table, *(f"{name}={file_name(part)}" for name, part in names), f"run={self.id}"])

    def _parquet_files(self, path: str) -> list[str]:
        if path.endswith(".parquet"):
            return [path]
        return [found for found in self._files.list(path) if found.endswith(".parquet")]


def _missing(manifest: Manifest) -> list[str]:
    return [table for table in required(manifest.key) if table not in manifest.tables]


def required(key: Sequence[str]) -> list[str]:
    """List the tables that make up a snapshot, or a diff."""
    return [table for table in TABLES if len(address(table) or SNAPSHOT) == len(key)]


def _batches(table: str, key: Sequence[str], rows: Rows) -> Iterator[pa.Table]:
    if isinstance(rows, pa.Table):
        yield conform(table, key, rows)
    elif isinstance(rows, pa.RecordBatchReader):
        for batch in rows:
            yield conform(table, key, pa.Table.from_batches([batch]))
    else:
        remaining = iter(rows)
        while chunk := list(_texts(remaining) if table == "sources" else islice(remaining, BATCH)):
            yield to_arrow(table, key, chunk)


def _texts(rows: Iterator[msgspec.Struct]) -> Iterator[msgspec.Struct]:
    """Take sources until they are large enough together: some are a line, some are megabytes."""
    size = 0
    for row in rows:
        yield row
        assert isinstance(row, Source)
        size += len(row.text) + len(row.rendered) + A_ROW
        if size >= BATCH_TEXT:
            return
