"""The compile cache: what each content became, in batches that runs in process and on Spark share.

<warehouse>/_cache/compiled/<batch>/<any>/*.parquet     and _SUCCESS beside them, when all of them are there
"""

import uuid
from collections.abc import Collection, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_pipeline.store.building import array_of
from lineage_pipeline.store.damage import discard, whole
from lineage_pipeline.store.files import Files
from lineage_pipeline.store.packing import Packed

CACHE = "_cache/compiled"

DONE = "_SUCCESS"
"""What Spark leaves in a folder when all of it is there, and so do we."""

COMPILED = pa.schema(
    [
        ("key", pa.string()),
        ("batch", pa.string()),
        ("script", pa.binary()),
        ("face", pa.binary()),
        ("findings", pa.binary()),
    ]
)
"""A compiled content: its IR, its outside, and the statements that have findings, with nothing else in them."""


def finished(files: Files, folder: str) -> list[str]:
    """List the folders below one that were written to their end."""
    ends = (path for path in files.list(folder) if path.endswith(f"/{DONE}"))
    return [path.removesuffix(f"/{DONE}") for path in ends]


def held(files: Files, wanted: Collection[str]) -> dict[str, str]:
    """Say which batch holds a key; the first one counts where two runs compiled the same.

    A batch that is damaged holds nothing, and is no longer one that was written to its end.
    """
    found: dict[str, str] = {}
    for folder in finished(files, CACHE):
        try:
            keys = {key for path in _parts(files, folder) for key in _keys(files, path)}
        except (OSError, pa.ArrowException):
            discard(files, [f"{folder}/{DONE}"])
            continue
        here = keys.intersection(wanted)
        if here and not whole(files, folder):
            discard(files, [f"{folder}/{DONE}"])
            continue
        for key in here:
            found.setdefault(key, folder.split("/")[-2])
    return found


def _keys(files: Files, path: str) -> list[str]:
    keys: list[str] = pq.read_table(files.locate(path), columns=["key"], filesystem=files.system)["key"].to_pylist()
    return keys


def load(files: Files, wanted: Collection[str]) -> dict[str, Packed]:
    """Read what is kept of some keys; a file that is damaged holds nothing."""
    missing = set(wanted)
    found: dict[str, Packed] = {}
    for folder in finished(files, CACHE):
        for path in _parts(files, folder):
            if missing:
                here = _rows(files, path, missing)
                found |= here
                missing -= here.keys()
    return found


def _rows(files: Files, path: str, wanted: set[str]) -> dict[str, Packed]:
    try:
        with pq.ParquetFile(files.locate(path), filesystem=files.system, page_checksum_verification=True) as file:
            keys = file.read(columns=["key"])["key"].to_pylist()
            if wanted.isdisjoint(keys):
                return {}
            content = file.read(columns=["script", "face", "findings"])
    except (OSError, pa.ArrowInvalid):
        return {}
    columns = [column.to_pylist() for column in content.columns]
    return {key: Packed(*row) for key, *row in zip(keys, *columns, strict=True) if key in wanted}


def save(files: Files, made: Mapping[str, Packed]) -> None:
    """Keep what was compiled as a batch of its own."""
    batch = uuid.uuid4().hex
    rows = [(key, batch, one.script, one.face, one.findings) for key, one in sorted(made.items())]
    columns = [array_of(values, field.type) for values, field in zip(zip(*rows, strict=True), COMPILED, strict=True)]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(columns, schema=COMPILED), sink, compression="zstd", write_page_checksum=True)
    folder = f"{CACHE}/{batch}/process"
    files.replace(f"{folder}/part-0.parquet", sink.getvalue().to_pybytes(), durable=False)
    files.replace(f"{folder}/{DONE}", b"", durable=False)


def _parts(files: Files, folder: str) -> list[str]:
    return [path for path in files.list(folder) if path.endswith(".parquet")]
