"""A lineage cached for the next query: a zip of its tables as Arrow files, and of the state it was computed from.

Compared to Parquet it opens in a tenth and is written in a quarter of the time, and is three times as large;
it is useful until the next edit or two.
"""

import io
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from lineage_pipeline.store.lineage_file import archive_member

FORMAT, KEY, BEFORE = "format", "key", "before"

VERSION = b"2"
"""What is written; what another version wrote is not read."""


class CachedLineage:
    """The tables of a cached lineage, and the state to continue the analysis from, all verified."""

    def __init__(self, key: str, tables: Mapping[str, pa.Table], before: bytes) -> None:
        """Store the key, the tables and the state."""
        self.key: tuple[str, ...] = (key,)
        self.tables = tables
        self.before = before

    def open(self, table: str) -> Iterator[pa.Table]:
        """Return a table."""
        yield self.tables[table]


class _ArchivedTables(Mapping[str, pa.Table]):
    """The tables of an archive, each opened on demand."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._opened: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._opened:
            self._opened[name] = pa.ipc.open_file(pa.BufferReader(self._archive.read(f"{name}.arrow"))).read_all()
        return self._opened[name]

    def __iter__(self) -> Iterator[str]:
        return (name.removesuffix(".arrow") for name in self._archive.namelist() if name.endswith(".arrow"))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def load_cached_lineage(path: Path) -> CachedLineage | None:
    """Open a cached lineage; None where there is none, or it is damaged."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(path.read_bytes()))
        if archive.testzip() is not None or archive.read(FORMAT) != VERSION:
            return None
        return CachedLineage(archive.read(KEY).decode("utf-8"), _ArchivedTables(archive), archive.read(BEFORE))
    except (OSError, zipfile.BadZipFile, zlib.error, KeyError, EOFError, UnicodeDecodeError):
        return None


def save_cached_lineage(path: Path, shelf: CachedLineage) -> None:
    """Write a lineage into one file atomically; concurrent readers see the previous one, or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(archive_member(FORMAT), VERSION)
        archive.writestr(archive_member(KEY), shelf.key[0].encode("utf-8"))
        archive.writestr(archive_member(BEFORE), shelf.before)
        for name, table in shelf.tables.items():
            archive.writestr(archive_member(f"{name}.arrow"), memoryview(_encode_arrow_file(table)))
    temporary.replace(path)


def _encode_arrow_file(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue()
