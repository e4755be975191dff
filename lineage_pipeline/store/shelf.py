"""A lineage that is kept for the next question: a zip of its tables as Arrow has them, and of what it goes on from.

It is opened in a tenth and written in a quarter of the time that Parquet takes, is three times as large, and is of use
until the next edit or two.
"""

import io
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from lineage_pipeline.store.bundle import member

FORMAT, KEY, BEFORE = "format", "key", "before"

VERSION = b"2"
"""What is written; what another version wrote is not read."""


class Shelf:
    """The tables of a lineage that is kept, and how the analysis that made it is taken up; all of it is checked."""

    def __init__(self, key: str, tables: Mapping[str, pa.Table], before: bytes) -> None:
        """Take what there is."""
        self.key: tuple[str, ...] = (key,)
        self.tables = tables
        self.before = before

    def open(self, table: str) -> Iterator[pa.Table]:
        """Give a table."""
        yield self.tables[table]


class _Packed(Mapping[str, pa.Table]):
    """The tables of an archive, each opened when somebody asks."""

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


def take_down(path: Path) -> Shelf | None:
    """Open what is kept; None where nothing is, or it is damaged."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(path.read_bytes()))
        if archive.testzip() is not None or archive.read(FORMAT) != VERSION:
            return None
        return Shelf(archive.read(KEY).decode("utf-8"), _Packed(archive), archive.read(BEFORE))
    except (OSError, zipfile.BadZipFile, zlib.error, KeyError, EOFError, UnicodeDecodeError):
        return None


def put_up(path: Path, shelf: Shelf) -> None:
    """Write a lineage into one file, at once; whoever reads meanwhile sees the one before, or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(member(FORMAT), VERSION)
        archive.writestr(member(KEY), shelf.key[0].encode("utf-8"))
        archive.writestr(member(BEFORE), shelf.before)
        for name, table in shelf.tables.items():
            archive.writestr(member(f"{name}.arrow"), memoryview(_packed(table)))
    temporary.replace(path)


def _packed(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue()
