"""One run: what it writes is visible to itself alone until it is published."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias, TypeVar

import msgspec
import pyarrow as pa

from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import TABLES, Source
from lineage_pipeline.store import manifest_files
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.manifest_files import (
    Manifest,
    PartRecord,
    StoredFile,
    encode_file_name,
    encode_json,
    manifest_path,
)
from lineage_pipeline.store.row_conversion import build_array, conform_table, rows_to_arrow
from lineage_pipeline.store.table_files import (
    WarehouseTables,
    adopt_parquet_file,
    read_parquet_file,
    read_table,
    read_table_rows,
    write_parquet_file,
)
from lineage_pipeline.store.table_schemas import SNAPSHOT_ADDRESS, address_columns, row_type


def write_sources(files: FileStore, folder: str, batches: Iterable[pa.Table], part: str) -> list[StoredFile]:
    """Write the sources that are new, and name the files that hold the others: each content is stored once."""
    shelf = find_stored_sources(files)
    used: set[StoredFile] = set()
    new = write_parquet_file(files, folder, "sources", _select_new_sources(batches, shelf, used), part)
    if new.rows or not used:
        return [new, *(msgspec.structs.replace(file, part=part) for file in sorted(used))]
    files.remove(new.path)
    return [msgspec.structs.replace(file, part=part) for file in sorted(used)]


def find_stored_sources(files: FileStore) -> dict[str, StoredFile]:
    """Find the file of every source that a published snapshot or a current run holds."""
    manifests = [*manifest_files.read_all_published(files), *manifest_files.read_all_unpublished(files)]
    stored = {
        file.path: file
        for manifest in manifests
        if "sources" in manifest.tables
        for file in manifest.tables["sources"].files
    }
    return {
        source: file for _, file in sorted(stored.items(), reverse=True) for source in _read_source_hashes(files, file)
    }


def _read_source_hashes(files: FileStore, file: StoredFile) -> list[str]:
    try:
        hashes: list[str] = read_parquet_file(files, file, ["source_hash"])["source_hash"].to_pylist()
    except LineageError:  # its own snapshot cannot be read, but a new one need not lean on it
        return []
    return hashes


def _select_new_sources(
    batches: Iterable[pa.Table], shelf: dict[str, StoredFile], used: set[StoredFile]
) -> Iterator[pa.Table]:
    seen: set[str] = set()
    for batch in batches:
        hashes = batch["source_hash"].to_pylist()
        used.update(shelf[source] for source in hashes if source in shelf)
        fresh = []
        for source in hashes:
            fresh.append(source not in shelf and source not in seen)
            seen.add(source)
        yield batch.filter(build_array(fresh, pa.bool_()))


RowT = TypeVar("RowT", bound=msgspec.Struct)
TableRows: TypeAlias = Iterable[msgspec.Struct] | pa.Table | pa.RecordBatchReader

BATCH_ROWS = 65_536
BATCH_TEXT, A_ROW = 8_000_000, 500
"""Characters that are written at once, and what a row counts beside its texts."""


class WarehouseRun:
    """The tables of one snapshot or diff while they are written."""

    def __init__(self, files: FileStore, key: tuple[str, ...], run: str) -> None:
        """Represent a run that has been started."""
        self._files = files
        self.key = key
        self.id = run

    @property
    def manifest(self) -> Manifest:
        """Read what the run has inherited and written up to now."""
        manifest = manifest_files.read_run_manifest(self._files, self.key, self.id)
        if manifest is None:
            name, last = " to ".join(self.key), manifest_files.read_published(self._files, self.key)
            later = f": {name} was published by the later run {last.run}" if last is not None else ""
            raise LineageError(f"the run {self.id} of {name} has been collected{later}")
        return manifest

    def write(self, table: str, rows: TableRows, *, part: str = "") -> None:
        """Write a table, or the named part of it, replacing what the run had; an iterable is streamed."""
        self._check_table(table)
        key = self.key if address_columns(table) else ()
        contents = _iter_batches(table, key, rows)
        if address_columns(table):
            self._record(table, part, [write_parquet_file(self._files, self._folder(table), table, contents, part)])
        else:
            self._record(table, part, write_sources(self._files, self._folder(table), contents, part))

    def folder(self, table: str) -> str:
        """Return the address of a new folder where another engine may write files, to be adopted later."""
        self._check_table(table)
        return self._files.address(f"{self._folder(table)}/{uuid.uuid4().hex}")

    def adopt(self, table: str, addresses: Iterable[str], *, part: str = "") -> None:
        """Take over files, or all Parquet files of folders, that another engine wrote under the warehouse's root."""
        self._check_table(table)
        paths = [path for place in addresses for path in self._parquet_files(self._files.relative(place))]
        self._record(table, part, [adopt_parquet_file(self._files, path, table, part) for path in paths])

    def files(self, table: str) -> list[str]:
        """Return the addresses of a table's files; none if it has not been written."""
        stored = self.manifest.tables.get(table)
        return [self._files.address(file.path) for file in stored.files] if stored else []

    def read(self, table: str) -> pa.Table:
        """Read a table as Arrow."""
        return read_table(self._files, self.manifest, table)

    @property
    def tables(self) -> WarehouseTables:
        """Open the tables, to read only what a query needs."""
        return WarehouseTables(self._files, self.manifest)

    def rows(self, row: type[RowT]) -> tuple[RowT, ...]:
        """Read the table of a struct, in the order of its key."""
        return read_table_rows(self._files, self.manifest, row)

    def publish(self) -> Manifest:
        """Publish the run as a whole, in place of what was published under its key."""
        manifest, last = self.manifest, manifest_files.read_published(self._files, self.key)
        name = " to ".join(self.key)
        if missing := _missing_tables(manifest):
            raise LineageError(f"{name} is not complete: {', '.join(missing)} not written")
        if last is not None and last.sequence > manifest.sequence:
            raise LineageError(f"{name} was published by the later run {last.run}")
        for table in manifest.tables.values():
            for file in table.files:
                if self._files.size(file.path) != file.bytes:
                    raise LineageError(f"{file.path} is torn or missing, so {name} cannot be published")
        earlier = [run for run in manifest_files.read_runs(self._files, self.key) if run.sequence < manifest.sequence]
        seen = {*last.superseded, last.run} if last is not None else set()
        superseded = [run for run in earlier if run.run in seen]
        shown = msgspec.structs.replace(manifest, superseded=tuple(run.run for run in superseded))
        self._files.replace(manifest_path(self.key), encode_json(shown))
        self._remove_leftovers([run for run in earlier if run.run not in seen], superseded)
        return manifest

    def _remove_leftovers(self, left: Sequence[Manifest], superseded: Sequence[Manifest]) -> None:
        """Remove files of runs that were never published; published ones may still be read."""
        if not left:
            return
        current = (*manifest_files.read_all_published(self._files), *manifest_files.read_all_unpublished(self._files))
        kept = manifest_files.list_stored_paths((*current, *superseded))
        for run in left:
            own = WarehouseRun(self._files, self.key, run.run)
            folders = [own._folder(table) for table in required_tables(self.key)]
            data = [path for folder in folders for path in self._files.list(folder) if path not in kept]
            for path in (*data, *self._files.list(manifest_files.run_folder(self.key, run.run))):
                self._files.remove(path)

    def _record(self, table: str, part: str, files: Sequence[StoredFile]) -> None:
        manifest_files.record_part(self._files, self.key, self.id, PartRecord(table, part, tuple(files)))

    def _check_table(self, table: str) -> None:
        row_type(table)
        if table not in required_tables(self.key):
            raise LineageError(f"{table} is no table of a {'snapshot' if len(self.key) == 1 else 'diff'}")

    def _folder(self, table: str) -> str:
        names = zip(address_columns(table), self.key, strict=False)
        return "/".join([table, *(f"{name}={encode_file_name(part)}" for name, part in names), f"run={self.id}"])

    def _parquet_files(self, path: str) -> list[str]:
        if path.endswith(".parquet"):
            return [path]
        return [found for found in self._files.list(path) if found.endswith(".parquet")]


def _missing_tables(manifest: Manifest) -> list[str]:
    return [table for table in required_tables(manifest.key) if table not in manifest.tables]


def required_tables(key: Sequence[str]) -> list[str]:
    """Return the tables that make up a snapshot, or a diff."""
    return [table for table in TABLES if len(address_columns(table) or SNAPSHOT_ADDRESS) == len(key)]


def _iter_batches(table: str, key: Sequence[str], rows: TableRows) -> Iterator[pa.Table]:
    if isinstance(rows, pa.Table):
        yield conform_table(table, key, rows)
    elif isinstance(rows, pa.RecordBatchReader):
        for batch in rows:
            yield conform_table(table, key, pa.Table.from_batches([batch]))
    else:
        remaining = iter(rows)
        while chunk := list(_batch_sources(remaining) if table == "sources" else islice(remaining, BATCH_ROWS)):
            yield rows_to_arrow(table, key, chunk)


def _batch_sources(rows: Iterator[msgspec.Struct]) -> Iterator[msgspec.Struct]:
    """Yield sources in batches of limited total size: some are a line, some are megabytes."""
    size = 0
    for row in rows:
        yield row
        assert isinstance(row, Source)
        size += len(row.text) + len(row.rendered) + A_ROW
        if size >= BATCH_TEXT:
            return
