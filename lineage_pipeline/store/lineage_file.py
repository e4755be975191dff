"""Lineage files: a whole lineage as a zip of Parquet files, one per table, readable by any engine once unpacked."""

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pyarrow.parquet as pq

from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.store.row_conversion import rows_to_arrow
from lineage_pipeline.store.table_reader import open_embedded_parquet
from lineage_pipeline.store.table_schemas import SCHEMA_VERSION, address_columns

LINEAGE_FILE_SUFFIX = ".lineage"
HEADER_MEMBER = "lineage.json"
MEMBER_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every member: the content must not depend on when it was written."""

BUNDLE_GROUP_ROWS = 20_000
"""Rows per row group: a query about few objects reads few groups."""


class LineageFileHeader(msgspec.Struct, frozen=True):
    """The header of a lineage file."""

    snapshot: str
    schema_version: int = SCHEMA_VERSION


def write_lineage_file(path: Path, snapshot: str, tables: Mapping[str, Sequence[msgspec.Struct]]) -> None:
    """Write the rows of tables into one file, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(archive_member(HEADER_MEMBER), msgspec.json.encode(LineageFileHeader(snapshot)) + b"\n")
        for table, rows in tables.items():
            archive.writestr(archive_member(f"{table}.parquet"), _encode_parquet(table, snapshot, rows))
    temporary.replace(path)


def archive_member(name: str) -> zipfile.ZipInfo:
    """Describe a member of an archive."""
    made = zipfile.ZipInfo(name, MEMBER_TIME)
    made.external_attr = 0o644 << 16
    return made


def _encode_parquet(table: str, snapshot: str, rows: Sequence[msgspec.Struct]) -> bytes:
    sink = io.BytesIO()
    content = rows_to_arrow(table, (snapshot,) if address_columns(table) else (), rows)
    pq.write_table(content, sink, compression="zstd", row_group_size=BUNDLE_GROUP_ROWS, write_page_checksum=True)
    return sink.getvalue()


class LineageFileTables:
    """The tables of a lineage file."""

    def __init__(self, path: Path) -> None:
        """Open the file and read its header."""
        try:
            self._archive = zipfile.ZipFile(path)
            about = msgspec.json.decode(self._archive.read(HEADER_MEMBER), type=LineageFileHeader)
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
        with self._archive.open(name) as stream, open_embedded_parquet(f"{self._path}: {name}", stream) as file:
            yield file
