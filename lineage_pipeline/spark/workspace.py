"""One snapshot on its way through the stages; the results they hand on are files named by a key of their inputs."""

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from lineage_pipeline.discover.discovery import OptionsLookup
from lineage_pipeline.discover.file_options import options_of_row
from lineage_pipeline.files.fingerprints import hash_parts, prepend_digest, verify_digest
from lineage_pipeline.model.analysis import Options, TableSchema
from lineage_pipeline.model.enums import Status
from lineage_pipeline.model.tables import SCHEMA_TEMPLATER, SqlFile
from lineage_pipeline.spark.frames import read_parquet_frame
from lineage_pipeline.spark.session import default_parallelism
from lineage_pipeline.store.compiled_scripts import SUCCESS_MARKER, list_finished_folders
from lineage_pipeline.store.file_store import (
    FileStore,
    discard_markers,
    is_intact_file,
    is_intact_folder,
)
from lineage_pipeline.store.packed_script import compile_key
from lineage_pipeline.store.run import WarehouseRun
from lineage_pipeline.store.table_schemas import ROW_GROUP_SIZE, SORT_COLUMNS, SQL_FILES_PER_PART, arrow_schema

FEW_FILES, MANY_FILES = 25, 500
FEW_BYTES = 200_000
"""Files, or bytes, of a task: few while cores are idle, many when all are busy; a task has overhead."""


class SnapshotFile(msgspec.Struct, frozen=True):
    """One file of the snapshot: content hash, options, the key of its compiled script, its owners."""

    path: str
    source: str
    key: str
    options: Options
    owners: tuple[str, ...] = ()
    position: int = 0


@dataclass(frozen=True)
class Workspace:
    """The run of one snapshot; `spark` starts the session on first use."""

    run: WarehouseRun
    files: FileStore
    rules: OptionsLookup
    spark: Callable[[], SparkSession]
    imported: Mapping[str, TableSchema] = field(default_factory=dict)

    @cached_property
    def session(self) -> SparkSession:
        """Start Spark, with as many shuffle partitions as the snapshot is worth."""
        session = self.spark()
        session.conf.set("spark.sql.shuffle.partitions", str(self.task_count(session)))
        return session

    def task_count(self, session: SparkSession) -> int:
        """Return into how many tasks the files are divided."""
        files, size, cores = len(self.entries), sum(self.sizes.values()), default_parallelism(session)
        few, many = max(files // FEW_FILES, size // FEW_BYTES), files // MANY_FILES
        return max(1, min(few, cores), min(many, cores * 8))

    @cached_property
    def entries(self) -> tuple[SnapshotFile, ...]:
        """Return the readable files, in the order of their paths."""
        rows = self.run.rows(SqlFile)
        readable = (file for file in rows if file.status is not Status.FAILED and file.templater != SCHEMA_TEMPLATER)
        return tuple(_snapshot_file(file, options_of_row(file, self.rules.options_for(file.path))) for file in readable)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Return the bytes of each file by path."""
        return {file.path: file.bytes for file in self.run.rows(SqlFile)}

    @cached_property
    def key(self) -> str:
        """Return a key of everything the analysis depends on: every file, and how it is read."""
        parts = [
            self.run.manifest.analysis_key,
            [(entry.path, entry.key, entry.owners, entry.position) for entry in self.entries],
            self.imported,
        ]
        return hash_parts(parts)

    def result_path(self, name: str) -> str:
        """Return the path of a result of this snapshot, relative to the warehouse."""
        return f"_work/{self.key}/{name}"

    def finished_folders(self, folder: str) -> list[str]:
        """Return the folders below a folder that Spark has finished writing."""
        return list_finished_folders(self.files, folder)

    def intact_folders(self, folder: str) -> list[str]:
        """Return the finished folders that are not damaged; damaged ones are discarded, to be written again."""
        done = {path: is_intact_folder(self.files, path) for path in self.finished_folders(folder)}
        discard_markers(self.files, [f"{path}/{SUCCESS_MARKER}" for path, sound in done.items() if not sound])
        return [path for path, sound in done.items() if sound]

    def write_frame(self, frame: DataFrame, folder: str) -> None:
        """Write a frame to a new folder below: two runs of the same snapshot never collide."""
        frame.write.parquet(self.files.address(f"{folder}/{uuid.uuid4().hex}"))

    def read_result(self, name: str, schema: pa.Schema) -> DataFrame:
        """Open a result of this snapshot; where two runs wrote it, they wrote the same."""
        return self.read_frame(self.finished_folders(self.result_path(name))[:1], schema)

    def read_frame(self, paths: Sequence[str], schema: pa.Schema) -> DataFrame:
        """Open folders that Spark wrote, or files that the driver wrote."""
        return read_parquet_frame(self.session, [self.files.address(path) for path in paths], schema)

    def put_table(self, name: str, content: pa.Table) -> None:
        """Write a small table of the driver as a file, so that tasks can join it."""
        self.files.replace(self.result_path(f"{name}.parquet"), encode_parquet(content), durable=False)

    def write_pointer(self, name: str, content: pa.Table) -> None:
        """Write a table of batches under its own name, since another run of the snapshot has other batches."""
        made = encode_parquet(content)
        own = f"{name}_{hashlib.sha256(made).hexdigest()[:32]}.parquet"
        self.files.replace(self.result_path(own), made, durable=False)
        self.put_bytes(name, own.encode())

    def pointer_path(self, name: str) -> str:
        """Return the path of the last written table of batches, or an empty text where it is missing or damaged."""
        own = self.get_bytes(name)
        path = self.result_path(own.decode()) if own is not None else ""
        return path if path and self.files.size(path) is not None and is_intact_file(self.files, path) else ""

    def put_bytes(self, name: str, content: bytes) -> None:
        """Store what the driver computed for this snapshot."""
        self.files.replace(self.result_path(name), prepend_digest(content), durable=False)

    def get_bytes(self, name: str) -> bytes | None:
        """Return what the driver computed for this snapshot before; None where it is missing or damaged."""
        return verify_digest(self.files.read(self.result_path(name)))

    def read_table(self, name: str) -> DataFrame:
        """Open a public table of the run."""
        return read_parquet_frame(self.session, self.run.files(name), arrow_schema(name))

    @property
    def _file_count(self) -> int:
        """Return how many files a table should have."""
        return max(1, len(self.entries) // SQL_FILES_PER_PART)

    def publish_table(self, table: str, frame: DataFrame, part: str = "") -> None:
        """Write a public table, or a part of it, with Spark, and add it to the run."""
        folder = self.run.folder(table)
        spread = frame.coalesce(min(default_parallelism(self.session), self._file_count))
        ordered = spread.sortWithinPartitions(*SORT_COLUMNS[table]) if table in SORT_COLUMNS else spread
        ordered.write.option("parquet.block.row.count.limit", ROW_GROUP_SIZE).parquet(folder)
        self.run.adopt(table, [folder], part=part)


def encode_parquet(content: pa.Table) -> bytes:
    """Encode a small table as Parquet."""
    sink = pa.BufferOutputStream()
    pq.write_table(content, sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _snapshot_file(file: SqlFile, options: Options) -> SnapshotFile:
    return SnapshotFile(
        path=file.path,
        source=file.source_hash,
        key=compile_key(file.source_hash, options),
        options=options,
        owners=file.owners,
        position=file.position or 0,
    )
