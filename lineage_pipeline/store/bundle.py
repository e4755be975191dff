"""A whole lineage in one file: a zip of Parquet files, one a table, which any engine reads once unpacked."""

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pyarrow.parquet as pq

from lineage_pipeline.store.arrays import to_arrow
from lineage_pipeline.store.schemas import SCHEMA_VERSION, address
from lineage_pipeline.store.tables import readable
from lineage_pipeline.vocabulary.errors import LineageError

SUFFIX = ".lineage"
ABOUT = "lineage.json"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every member: what a file holds must not depend on when it was written."""

GROUP = 20_000
"""Rows of a group: a question about few objects reads few groups."""


class About(msgspec.Struct, frozen=True):
    """What a bundle says of itself."""

    snapshot: str
    schema_version: int = SCHEMA_VERSION


def write_bundle(path: Path, snapshot: str, tables: Mapping[str, Sequence[msgspec.Struct]]) -> None:
    """Write the rows of tables into one file, at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(member(ABOUT), msgspec.json.encode(About(snapshot)) + b"\n")
        for table, rows in tables.items():
            archive.writestr(member(f"{table}.parquet"), _parquet(table, snapshot, rows))
    temporary.replace(path)


def member(name: str) -> zipfile.ZipInfo:
    """Describe a member of an archive."""
    made = zipfile.ZipInfo(name, EPOCH)
    made.external_attr = 0o644 << 16
    return made


def _parquet(table: str, snapshot: str, rows: Sequence[msgspec.Struct]) -> bytes:
    sink = io.BytesIO()
    content = to_arrow(table, (snapshot,) if address(table) else (), rows)
    pq.write_table(content, sink, compression="zstd", row_group_size=GROUP, write_page_checksum=True)
    return sink.getvalue()


class BundledTables:
    """The tables of a bundle."""

    def __init__(self, path: Path) -> None:
        """Open the file and look what is in it."""
        try:
            self._archive = zipfile.ZipFile(path)
            about = msgspec.json.decode(self._archive.read(ABOUT), type=About)
        except (zipfile.BadZipFile, KeyError, msgspec.DecodeError):
            raise LineageError(f"{path} is not a lineage file; `lineage scan PATH -o {path}` writes one") from None
        if about.schema_version > SCHEMA_VERSION:
            known = f"schema {about.schema_version}, this one knows {SCHEMA_VERSION}"
            raise LineageError(f"{path} was written by a newer version ({known})")
        self._path = path
        self.key: tuple[str, ...] = (about.snapshot,)

    def open(self, table: str) -> Iterator[pq.ParquetFile]:
        """Open the file of a table."""
        name = f"{table}.parquet"
        if name not in self._archive.namelist():
            raise LineageError(f"{self._path} has no {table}")
        with self._archive.open(name) as stream, readable(f"{self._path}: {name}", stream) as file:
            yield file
