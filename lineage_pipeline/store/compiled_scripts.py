"""The compile cache: what each content became, in batches that runs in process and on Spark share and compact.

<warehouse>/_cache/compiled/<batch>/<any>/*.parquet     and _SUCCESS beside them, when all of them are there
"""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_pipeline.store.file_store import FileStore, discard_markers, is_intact_folder
from lineage_pipeline.store.packed_script import PackedScript
from lineage_pipeline.store.row_conversion import build_array, repeat_text

COMPILED_FOLDER = "_cache/compiled"

SUCCESS_MARKER = "_SUCCESS"
"""The marker that Spark, and we, write into a folder when it is complete."""

COMPILED_SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("batch", pa.string()),
        ("script", pa.binary()),
        ("face", pa.binary()),
        ("findings", pa.binary()),
    ]
)
"""A compiled script: its IR, its interface, and its statements with findings, reduced to those."""


def list_finished_folders(files: FileStore, folder: str) -> list[str]:
    """Return the complete folders below one."""
    ends = (path for path in files.list(folder) if path.endswith(f"/{SUCCESS_MARKER}"))
    return [path.removesuffix(f"/{SUCCESS_MARKER}") for path in ends]


def find_batches(files: FileStore, wanted: Collection[str]) -> dict[str, str]:
    """Return which batch holds each key; the first counts where two runs compiled the same.

    A damaged batch holds nothing, and its marker is removed.
    """
    found: dict[str, str] = {}
    for folder in list_finished_folders(files, COMPILED_FOLDER):
        try:
            keys = {key for path in _parquet_paths(files, folder) for key in _read_keys(files, path)}
        except (OSError, pa.ArrowException):
            discard_markers(files, [f"{folder}/{SUCCESS_MARKER}"])
            continue
        here = keys.intersection(wanted)
        if here and not is_intact_folder(files, folder):
            discard_markers(files, [f"{folder}/{SUCCESS_MARKER}"])
            continue
        for key in here:
            found.setdefault(key, folder.split("/")[-2])
    return found


def _read_keys(files: FileStore, path: str) -> list[str]:
    keys: list[str] = pq.read_table(files.locate(path), columns=["key"], filesystem=files.system)["key"].to_pylist()
    return keys


def load_compiled(files: FileStore, wanted: Collection[str]) -> dict[str, PackedScript]:
    """Read the cached scripts of some keys; a damaged file holds nothing."""
    missing = set(wanted)
    found: dict[str, PackedScript] = {}
    for folder in list_finished_folders(files, COMPILED_FOLDER):
        for path in _parquet_paths(files, folder):
            if missing:
                here = _read_packed(files, path, missing)
                found |= here
                missing -= here.keys()
    return found


def _read_packed(files: FileStore, path: str, wanted: set[str]) -> dict[str, PackedScript]:
    try:
        with pq.ParquetFile(files.locate(path), filesystem=files.system, page_checksum_verification=True) as file:
            keys = file.read(columns=["key"])["key"].to_pylist()
            if wanted.isdisjoint(keys):
                return {}
            content = file.read(columns=["script", "face", "findings"])
    except (OSError, pa.ArrowInvalid):
        return {}
    columns = [column.to_pylist() for column in content.columns]
    return {key: PackedScript(*row) for key, *row in zip(keys, *columns, strict=True) if key in wanted}


def save_compiled(files: FileStore, made: Mapping[str, PackedScript]) -> None:
    """Store compiled scripts as a batch of its own."""
    batch = uuid.uuid4().hex
    rows = [(key, batch, one.script, one.face, one.findings) for key, one in sorted(made.items())]
    columns = [
        build_array(values, field.type) for values, field in zip(zip(*rows, strict=True), COMPILED_SCHEMA, strict=True)
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.Table.from_arrays(columns, schema=COMPILED_SCHEMA), sink, compression="zstd", write_page_checksum=True
    )
    folder = f"{COMPILED_FOLDER}/{batch}/process"
    files.replace(f"{folder}/part-0.parquet", sink.getvalue().to_pybytes(), durable=False)
    files.replace(f"{folder}/{SUCCESS_MARKER}", b"", durable=False)


def _parquet_paths(files: FileStore, folder: str) -> list[str]:
    return [path for path in files.list(folder) if path.endswith(".parquet")]


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
