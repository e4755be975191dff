"""The warehouse: immutable files, and manifests that say which of them are the snapshots and the diffs.

    <root>/<table>/snapshot=<key>/run=<id>/part-*.parquet   (diff: base=<key>/head=<key>; sources: run=<id> alone)
    <root>/_runs/<key>/<id>/…json                             what a run inherited and wrote
    <root>/_manifests/<key>.json                              what is published, swapped in last

Every file holds the columns `snapshot` (or `base`, `head`) themselves; readers do not parse paths.
"""

import hashlib
import os
import re
from collections.abc import Collection
from pathlib import Path

import msgspec
import pyarrow as pa
from pyarrow import fs

from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import TABLES
from lineage_pipeline.store import manifest_files
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.manifest_files import Manifest, ManifestKey, key_parts, key_path, manifest_path
from lineage_pipeline.store.run import WarehouseRun
from lineage_pipeline.store.table_files import WarehouseTables, read_stored_lineage, read_table, write_parquet_file
from lineage_pipeline.store.table_schemas import arrow_schema

RUN_ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Warehouse:
    """All snapshots and diffs under one root."""

    def __init__(self, root: str | os.PathLike[str], filesystem: fs.FileSystem | None = None) -> None:
        """Open a folder, a URI, or a path on the given pyarrow file system; nothing is created yet."""
        self._files = FileStore(root, filesystem)

    def begin(self, key: ManifestKey, run: str, analysis_key: str | None = None) -> WarehouseRun:
        """Start a run that inherits the files of the last one; an existing run id is opened again.

        Nothing is inherited from a run under another analysis key; None means the last run's.
        """
        if not RUN_ID_PATTERN.fullmatch(run):
            raise LineageError(f"{run!r} is no id of a run: letters, digits, - and _ only")
        existing = manifest_files.read_run_manifest(self._files, key_parts(key), run)
        if existing is None:
            manifest_files.start_run(self._files, self._next_manifest(key_parts(key), run, analysis_key))
        elif analysis_key not in (None, existing.analysis_key):
            raise LineageError(f"the run {run} was started with another analysis key")
        return WarehouseRun(self._files, key_parts(key), run)

    def open_run(self, key: ManifestKey, run: str) -> WarehouseRun | None:
        """Open a run that has been started and still exists."""
        started = manifest_files.read_run_manifest(self._files, key_parts(key), run)
        return WarehouseRun(self._files, started.key, started.run) if started else None

    def resume(self, key: ManifestKey) -> WarehouseRun | None:
        """Open the latest run under a key that has not been published."""
        current = manifest_files.read_unpublished(self._files, key_parts(key))
        return WarehouseRun(self._files, current.key, current.run) if current else None

    def manifest(self, key: ManifestKey) -> Manifest | None:
        """Read the published manifest of a snapshot or diff."""
        return manifest_files.read_published(self._files, key_parts(key))

    def snapshots(self) -> list[Manifest]:
        """Read the manifests of all published snapshots, in order of their keys."""
        return [manifest for manifest in manifest_files.read_all_published(self._files) if len(manifest.key) == 1]

    def diffs(self) -> list[Manifest]:
        """Read the manifests of all published diffs, in order of base and head."""
        return [manifest for manifest in manifest_files.read_all_published(self._files) if len(manifest.key) == 2]

    def read(self, key: ManifestKey, table: str) -> pa.Table:
        """Read one table of a published snapshot or diff."""
        return read_table(self._files, self._require_published(key), table)

    def load(self, snapshot: str) -> LineageTables:
        """Read a published snapshot as a lineage, each table in the order of its key."""
        return read_stored_lineage(self._files, self._require_published(snapshot))

    def tables(self, snapshot: str) -> WarehouseTables:
        """Open the tables of a published snapshot, to read only what a query needs."""
        return WarehouseTables(self._files, self._require_published(snapshot))

    def refs(self, snapshot: str) -> list[str]:
        """Return the branches and tags that pointed at a published snapshot's commit."""
        found = read_table(self._files, self._require_published(snapshot), "snapshots")["refs"].to_pylist()
        return sorted({ref for refs in found for ref in refs or ()})

    def published_files(self) -> dict[str, list[str]]:
        """Return the addresses of all published files by table, each list led by a file without rows.

        The empty file gives a table its columns where nothing is published, or where old files lack the newest.
        """
        manifests = manifest_files.read_all_published(self._files)
        return {table: [self._files.address(path) for path in self._paths(table, manifests)] for table in TABLES}

    def write_published_files(self, path: str | os.PathLike[str]) -> None:
        """Write the published files to a local JSON file, for dbt."""
        content = msgspec.json.encode(self.published_files(), order="sorted") + b"\n"
        FileStore(Path(path).absolute().parent).replace(Path(path).name, content)

    def forget(self, snapshots: Collection[str]) -> None:
        """Hide snapshots, and the diffs that have one of them on a side, from readers; `collect` removes the files."""
        published = [manifest.key for manifest in manifest_files.read_all_published(self._files)]
        doomed = [key for key in published if not set(key).isdisjoint(snapshots)]
        for key in (*sorted(doomed, key=len, reverse=True), *((snapshot,) for snapshot in sorted(snapshots))):
            self._files.remove(manifest_path(key))
            for path in self._files.list(f"_runs/{key_path(key)}"):  # or a run would count as one that goes on
                self._files.remove(path)

    def collect(self) -> list[str]:
        """Remove every run that is neither published nor the current one of its key, and return the removed paths."""
        # Files first, manifests after: a run that begins in between has none of its files on the list.
        data = [path for table in TABLES for path in self._files.list(table)]
        records = self._files.list("_runs")
        current = manifest_files.read_all_unpublished(self._files)
        kept = [*manifest_files.read_all_published(self._files), *current]
        named = manifest_files.list_stored_paths(kept)
        writing = {f"run={manifest.run}" for manifest in current}
        doomed = [path for path in data if path not in named and writing.isdisjoint(path.split("/"))]
        folders = tuple(f"{manifest_files.run_folder(manifest.key, manifest.run)}/" for manifest in kept)
        doomed += [path for path in records if not path.startswith(folders)]
        for path in doomed:
            self._files.remove(path)
        return doomed

    def _next_manifest(self, key: tuple[str, ...], run: str, analysis_key: str | None) -> Manifest:
        last = manifest_files.read_published(self._files, key)
        older = [*([last] if last else []), *manifest_files.read_runs(self._files, key)]
        parent = max(
            older,
            key=lambda manifest: manifest.sequence,
            default=Manifest(key=key, run="", sequence=0, analysis_key="", tables={}),
        )
        analysis = parent.analysis_key if analysis_key is None else analysis_key
        tables = parent.tables if analysis == parent.analysis_key else {}
        return Manifest(key=key, run=run, sequence=parent.sequence + 1, analysis_key=analysis, tables=tables)

    def _require_published(self, key: ManifestKey) -> Manifest:
        manifest = self.manifest(key)
        if manifest is None:
            raise LineageError(f"{' to '.join(key_parts(key))} is not in the warehouse {self._files.address('')}")
        return manifest

    def _paths(self, table: str, manifests: list[Manifest]) -> list[str]:
        held = [manifest.tables[table].files for manifest in manifests if table in manifest.tables]
        return [self._empty_file(table), *sorted({file.path for files in held for file in files})]

    def _empty_file(self, table: str) -> str:
        version = hashlib.sha256(arrow_schema(table).to_string().encode()).hexdigest()[:16]
        folder = f"_empty/{table}/{version}"
        for path in self._files.list(folder):
            return path
        return write_parquet_file(self._files, folder, table, []).path
