"""The compile cache: what each content became, in batches that runs in process and on Spark share.

<warehouse>/_cache/compiled/<batch>/<any>/*.parquet     and _SUCCESS beside them, when all of them are there
"""

import uuid
from collections.abc import Collection, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_pipeline.store.arrow_arrays import build_array
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.integrity import discard_markers, is_intact_folder
from lineage_pipeline.store.packed_script import PackedScript

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
