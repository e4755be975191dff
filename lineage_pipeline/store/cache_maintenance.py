"""Maintenance of caches: compacts small batches of compiled scripts, and removes what is old and unused."""

import uuid
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_pipeline.store.arrow_arrays import build_array, repeat_text
from lineage_pipeline.store.compiled_scripts import (
    COMPILED_FOLDER,
    COMPILED_SCHEMA,
    SUCCESS_MARKER,
    list_finished_folders,
)
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.integrity import is_intact_folder

COMPACTION_BATCH_ROWS = 1_000
"""Rows that are in memory at a time."""


MIN_COMPACTED_BATCHES = 16
"""Number of batches from which compaction pays off: a lookup opens each of them."""


def compact_compiled(files: FileStore, fewest: int = 2) -> list[str]:
    """Merge all batches into one, each script once, and return the removed paths; a damaged batch stops it.

    Not while a snapshot is being built: its intermediate results name the old batches.
    """
    old, folders = files.list(COMPILED_FOLDER), list_finished_folders(files, COMPILED_FOLDER)
    if len(folders) < fewest or not all(is_intact_folder(files, folder) for folder in folders):
        return []
    name = uuid.uuid4().hex
    place = f"{COMPILED_FOLDER}/{name}/compacted"
    files.prepare(f"{place}/part-0.parquet")
    with (
        files.system.open_output_stream(files.locate(f"{place}/part-0.parquet")) as sink,
        pq.ParquetWriter(sink, COMPILED_SCHEMA, compression="zstd", write_page_checksum=True) as writer,
    ):
        for rows in _iter_distinct_rows(files, folders, name):
            writer.write_table(rows)
    files.sync(f"{place}/part-0.parquet")
    gone = [*files.list("_work"), *old]
    files.replace(f"{place}/{SUCCESS_MARKER}", b"")
    for path in gone:
        files.remove(path)
    return gone


def _iter_distinct_rows(files: FileStore, folders: Sequence[str], name: str) -> Iterator[pa.Table]:
    """Yield the rows of all batches, each key once, under the name of the new batch."""
    seen: set[str] = set()
    paths = [path for folder in folders for path in files.list(folder) if path.endswith(".parquet")]
    for path in paths:
        with files.system.open_input_file(files.locate(path)) as source:
            for some in pq.ParquetFile(source, page_checksum_verification=True).iter_batches(COMPACTION_BATCH_ROWS):
                rows = pa.Table.from_batches([some]).select(COMPILED_SCHEMA.names).cast(COMPILED_SCHEMA)
                fresh = build_array([key not in seen for key in rows["key"].to_pylist()], pa.bool_())
                seen.update(rows["key"].to_pylist())
                kept = rows.filter(fresh)
                place = COMPILED_SCHEMA.names.index("batch")
                yield kept.set_column(place, COMPILED_SCHEMA.field("batch"), repeat_text(name, kept.num_rows))


TEMPORARY_FOLDERS = ("_work", "_cache/linked", "_cache/lineages")
"""Folders removed by age alone: their content is rebuilt on demand."""


def remove_unused_caches(files: FileStore, needed: Collection[str], before: float) -> list[str]:
    """Remove cache files that are older than a time and no longer needed, and return their paths."""
    passing = [paths for root in TEMPORARY_FOLDERS for paths in _old_groups(files, root, before)]
    compiled = [
        paths
        for paths in _old_groups(files, COMPILED_FOLDER, before)
        if _read_batch_keys(files, paths).isdisjoint(needed)
    ]
    removed = [path for paths in (*passing, *compiled) for path in paths]
    for path in removed:
        files.remove(path)
    return removed


def _old_groups(files: FileStore, root: str, before: float) -> Iterator[list[str]]:
    """Yield the files of each folder, or each file, below a root in which nothing has changed since a time."""
    depth = root.count("/") + 2
    changed = files.modification_times(root)
    for _, paths in groupby(changed, lambda path: path.split("/")[:depth]):
        listed = list(paths)
        if max(changed[path] for path in listed) < before:
            yield listed


def _read_batch_keys(files: FileStore, paths: Collection[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        if path.endswith(".parquet"):
            keys = pq.read_table(files.locate(path), columns=["key"], filesystem=files.system)["key"]
            found.update(keys.to_pylist())
    return found
