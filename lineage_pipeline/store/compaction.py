"""Many small batches of compiled contents into one: a lookup opens every batch, one for each snapshot that was new."""

import uuid
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_pipeline.store.building import array_of, repeated
from lineage_pipeline.store.compiled import CACHE, COMPILED, DONE, finished
from lineage_pipeline.store.damage import whole
from lineage_pipeline.store.files import Files

ROWS = 1_000
"""Rows that are in memory at a time."""


MANY = 16
"""Batches that are worth it: a lookup opens each of them."""


def compact_compiled(files: Files, fewest: int = 2) -> list[str]:
    """Put all batches into one, each content once, and give the paths that are gone; a damaged batch leaves all be.

    Not while a snapshot is on its way: what it has handed on names the old batches.
    """
    old, folders = files.list(CACHE), finished(files, CACHE)
    if len(folders) < fewest or not all(whole(files, folder) for folder in folders):
        return []
    name = uuid.uuid4().hex
    place = f"{CACHE}/{name}/compacted"
    files.prepare(f"{place}/part-0.parquet")
    with (
        files.system.open_output_stream(files.locate(f"{place}/part-0.parquet")) as sink,
        pq.ParquetWriter(sink, COMPILED, compression="zstd", write_page_checksum=True) as writer,
    ):
        for rows in _distinct(files, folders, name):
            writer.write_table(rows)
    files.sync(f"{place}/part-0.parquet")
    gone = [*files.list("_work"), *old]
    files.replace(f"{place}/{DONE}", b"")
    for path in gone:
        files.remove(path)
    return gone


def _distinct(files: Files, folders: Sequence[str], name: str) -> Iterator[pa.Table]:
    """Give the rows of all batches, each key once, under the name of the new batch."""
    seen: set[str] = set()
    paths = [path for folder in folders for path in files.list(folder) if path.endswith(".parquet")]
    for path in paths:
        with files.system.open_input_file(files.locate(path)) as source:
            for some in pq.ParquetFile(source, page_checksum_verification=True).iter_batches(ROWS):
                rows = pa.Table.from_batches([some]).select(COMPILED.names).cast(COMPILED)
                fresh = array_of([key not in seen for key in rows["key"].to_pylist()], pa.bool_())
                seen.update(rows["key"].to_pylist())
                kept = rows.filter(fresh)
                place = COMPILED.names.index("batch")
                yield kept.set_column(place, COMPILED.field("batch"), repeated(name, kept.num_rows))
