"""One snapshot on its way through the stages, and what they hand on: files named by what they were made from."""

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from lineage_pipeline.discover.detect import options_of
from lineage_pipeline.discover.rendered import SCHEMA
from lineage_pipeline.spark.frames import read
from lineage_pipeline.spark.session import parallelism
from lineage_pipeline.store.compiled import DONE, finished
from lineage_pipeline.store.damage import discard, intact, opened, sealed, whole
from lineage_pipeline.store.files import Files
from lineage_pipeline.store.hashes import hash_of
from lineage_pipeline.store.layout import FILES_A_PIECE, GROUP_ROWS, ORDERS
from lineage_pipeline.store.packing import compile_key
from lineage_pipeline.store.run import Run
from lineage_pipeline.store.schemas import arrow_schema
from lineage_pipeline.vocabulary.analysis import Options, TableSchema
from lineage_pipeline.vocabulary.sets import Status
from lineage_pipeline.vocabulary.tables import SqlFile

FEW_FILES, MANY_FILES = 25, 500
FEW_BYTES = 200_000
"""How many files, or bytes, a task takes: few while cores are idle, many when all are busy; a task costs time, too."""


class Rules(Protocol):
    """What the stages ask of the settings."""

    def options_for(self, path: str) -> Options:
        """Give the options of the system that this path belongs to."""

    def analysis_key(self) -> str:
        """Name all that bears on results apart from the files."""


class Entry(msgspec.Struct, frozen=True):
    """One file of the snapshot: which content it has, how that is read, the key of what it compiles to, its owners."""

    path: str
    source: str
    key: str
    options: Options
    owners: tuple[str, ...] = ()
    position: int = 0


@dataclass(frozen=True)
class Work:
    """A run of one snapshot; `spark` gives the session when it is first asked for."""

    run: Run
    files: Files
    rules: Rules
    spark: Callable[[], SparkSession]
    imported: Mapping[str, TableSchema] = field(default_factory=dict)

    @cached_property
    def session(self) -> SparkSession:
        """Start Spark, with as many tasks as the snapshot is worth."""
        session = self.spark()
        session.conf.set("spark.sql.shuffle.partitions", str(self.tasks(session)))
        return session

    def tasks(self, session: SparkSession) -> int:
        """Say into how many tasks the files are cut."""
        files, size, cores = len(self.entries), sum(self.sizes.values()), parallelism(session)
        few, many = max(files // FEW_FILES, size // FEW_BYTES), files // MANY_FILES
        return max(1, min(few, cores), min(many, cores * 8))

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """List the files that could be read, in the order of their paths."""
        rows = self.run.rows(SqlFile)
        readable = (file for file in rows if file.status is not Status.FAILED and file.templater != SCHEMA)
        return tuple(_entry(file, options_of(file, self.rules.options_for(file.path))) for file in readable)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Give the bytes of each file, by its path."""
        return {file.path: file.bytes for file in self.run.rows(SqlFile)}

    @cached_property
    def key(self) -> str:
        """Name what the whole analysis depends on: every file, and all that bears on how it is read."""
        parts = [
            self.rules.analysis_key(),
            [(entry.path, entry.key, entry.owners, entry.position) for entry in self.entries],
            self.imported,
        ]
        return hash_of(parts)

    def place(self, name: str) -> str:
        """Say where a result of this snapshot lies, relative to the warehouse."""
        return f"_work/{self.key}/{name}"

    def finished(self, folder: str) -> list[str]:
        """List what Spark has written below a folder to its end."""
        return finished(self.files, folder)

    def sound(self, folder: str) -> list[str]:
        """List what Spark has written to its end and nothing has damaged since; what is damaged is made again."""
        done = {path: whole(self.files, path) for path in self.finished(folder)}
        discard(self.files, [f"{path}/{DONE}" for path, sound in done.items() if not sound])
        return [path for path, sound in done.items() if sound]

    def write(self, frame: DataFrame, folder: str) -> None:
        """Write a frame to a folder of its own below: two runs of the same snapshot never meet."""
        frame.write.parquet(self.files.address(f"{folder}/{uuid.uuid4().hex}"))

    def result(self, name: str, schema: pa.Schema) -> DataFrame:
        """Open a result of this snapshot; where two runs made it, they made the same."""
        return self.read(self.finished(self.place(name))[:1], schema)

    def read(self, paths: Sequence[str], schema: pa.Schema) -> DataFrame:
        """Open folders that Spark wrote, or files that the driver wrote."""
        return read(self.session, [self.files.address(path) for path in paths], schema)

    def put(self, name: str, content: pa.Table) -> None:
        """Write names that the driver holds as a file, so that tasks can join them."""
        self.files.replace(self.place(f"{name}.parquet"), parquet(content), durable=False)

    def point(self, name: str, content: pa.Table) -> None:
        """Write a table that names batches under a name of its own: another run of the snapshot made other batches."""
        made = parquet(content)
        own = f"{name}_{hashlib.sha256(made).hexdigest()[:32]}.parquet"
        self.files.replace(self.place(own), made, durable=False)
        self.keep(name, own.encode())

    def pointed(self, name: str) -> str:
        """Say where the table lies that a run wrote last, all batches that it names being there; else nothing."""
        own = self.kept(name)
        path = self.place(own.decode()) if own is not None else ""
        return path if path and self.files.size(path) is not None and intact(self.files, path) else ""

    def keep(self, name: str, content: bytes) -> None:
        """Keep what the driver worked out for this snapshot."""
        self.files.replace(self.place(name), sealed(content), durable=False)

    def kept(self, name: str) -> bytes | None:
        """Give what the driver worked out for this snapshot before; None where it is damaged, too."""
        return opened(self.files.read(self.place(name)))

    def table(self, name: str) -> DataFrame:
        """Open a public table as the run has it."""
        return read(self.session, self.run.files(name), arrow_schema(name))

    @property
    def _pieces(self) -> int:
        """Say how many files of a table are worth their own reading."""
        return max(1, len(self.entries) // FILES_A_PIECE)

    def adopt(self, table: str, frame: DataFrame, part: str = "") -> None:
        """Let Spark write a public table, or a part of it, and put it into the run."""
        folder = self.run.folder(table)
        spread = frame.coalesce(min(parallelism(self.session), self._pieces))
        ordered = spread.sortWithinPartitions(*ORDERS[table]) if table in ORDERS else spread
        ordered.write.option("parquet.block.row.count.limit", GROUP_ROWS).parquet(folder)
        self.run.adopt(table, [folder], part=part)


def parquet(content: pa.Table) -> bytes:
    """Give a small table as a file."""
    sink = pa.BufferOutputStream()
    pq.write_table(content, sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _entry(file: SqlFile, options: Options) -> Entry:
    return Entry(
        file.path, file.source_hash, compile_key(file.source_hash, options), options, file.owners, file.position or 0
    )
