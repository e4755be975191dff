"""Compilation in tasks: each content once; a batch holds what one snapshot added to the cache."""

import gc
import uuid
from collections.abc import Mapping, Sequence
from heapq import heapify, heapreplace
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.engine.compile.script_interface import interface_of
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.source_map import SourceMap
from lineage_pipeline.sandbox.compiling import compile_texts
from lineage_pipeline.spark.frames import Batches, build_batch, to_spark_schema
from lineage_pipeline.spark.workspace import SnapshotFile, Workspace
from lineage_pipeline.store import compiled_scripts as cache
from lineage_pipeline.store.compiled_scripts import COMPILED_FOLDER, COMPILED_SCHEMA
from lineage_pipeline.store.packed_script import pack_script

FILE_COST = 400
"""The cost of a file besides its bytes, in bytes: a thousand small ones are work, too."""


def balance_partitions(weights: Sequence[int], parts: int) -> list[int]:
    """Return the part of each weight: the heaviest first, each into the lightest part so far.

    The heaviest of all is in part 0, and tasks start in the order of their parts.
    """
    given = [0] * len(weights)
    loads = [(0, part) for part in range(parts)]
    heapify(loads)
    for index in sorted(range(len(weights)), key=lambda index: (-weights[index], index)):
        load, part = loads[0]
        given[index] = part
        heapreplace(loads, (load + weights[index] + FILE_COST, part))
    return given


UNIT_SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("source_hash", pa.string()),
        ("options", pa.binary()),
        ("batch", pa.string()),
        ("part", pa.int32()),
    ]
)
ENTRIES_POINTER = "entries"
ENTRY_SCHEMA = pa.schema([(name, pa.string()) for name in ("path", "source_hash", "key", "batch", "dialect")])


def compile_missing(work: Workspace) -> None:
    """Compile the contents that no batch holds; without new ones there is no job."""
    held = cache.find_batches(work.files, {entry.key for entry in work.entries})
    missing = {entry.key: entry for entry in work.entries if entry.key not in held}
    if missing:
        name = uuid.uuid4().hex
        wanted, parts = [missing[key] for key in sorted(missing)], work.task_count(work.session)
        share = balance_partitions([work.sizes[entry.path] for entry in wanted], parts)
        work.put_table(f"units_{name}", _unit_table(wanted, name, share))
        todo = work.read_frame([work.result_path(f"units_{name}.parquet")], UNIT_SCHEMA).join(
            _read_sources(work, "text", "source_map"), "source_hash"
        )
        made = todo.repartitionById(parts, "part").mapInArrow(_compile_batches, to_spark_schema(COMPILED_SCHEMA))
        work.write_frame(made, f"{COMPILED_FOLDER}/{name}")
        held |= dict.fromkeys(missing, name)
    work.write_pointer(ENTRIES_POINTER, _entry_table(work.entries, held))


def is_compiled(work: Workspace) -> bool:
    """Return whether every batch that holds a file of this snapshot still exists undamaged."""
    path = work.pointer_path(ENTRIES_POINTER)
    if not path:
        return False
    entries = pq.read_table(pa.BufferReader(work.files.read(path)), schema=ENTRY_SCHEMA)
    return all(work.intact_folders(f"{COMPILED_FOLDER}/{batch}") for batch in {*entries["batch"].to_pylist()})


def read_scripts(work: Workspace, *columns: str) -> DataFrame:
    """Return one row for each file: path, dialect, and these columns of its source and compiled script."""
    entries = work.read_frame(
        [work.pointer_path(ENTRIES_POINTER)], ENTRY_SCHEMA
    )  # before batches are listed, or one may be missing there
    compiled = [name for name in columns if name in COMPILED_SCHEMA.names]
    found = entries.join(_read_compiled(work).select("key", "batch", *compiled), ["key", "batch"])
    joined = found.join(_read_sources(work), "source_hash") if "rendered" in columns else found
    return joined.select("path", "dialect", *columns)


def parse_dialect_column(dialect: str) -> DialectTraits:
    """Return the traits for a value of the column `dialect`, which includes the case sensitivity."""
    name, _, case = dialect.rpartition(" ")
    return find_traits(name, case) or GENERIC


def _read_sources(work: Workspace, *columns: str) -> DataFrame:
    # A file of sources may hold those of other snapshots too, and two files the same one.
    return work.read_table("sources").select("source_hash", "rendered", *columns).dropDuplicates(["source_hash"])


def _read_compiled(work: Workspace) -> DataFrame:
    return work.read_frame(work.finished_folders(COMPILED_FOLDER), COMPILED_SCHEMA)


def _unit_table(entries: Sequence[SnapshotFile], name: str, parts: Sequence[int]) -> pa.Table:
    columns = {
        "key": [entry.key for entry in entries],
        "source_hash": [entry.source for entry in entries],
        "options": [msgspec.msgpack.encode(entry.options) for entry in entries],
        "batch": [name] * len(entries),
        "part": parts,
    }
    return pa.Table.from_pydict(columns, schema=UNIT_SCHEMA)


def _entry_table(entries: Sequence[SnapshotFile], held: dict[str, str]) -> pa.Table:
    columns = {
        "path": [entry.path for entry in entries],
        "source_hash": [entry.source for entry in entries],
        "key": [entry.key for entry in entries],
        "batch": [held[entry.key] for entry in entries],
        "dialect": [f"{entry.options.dialect} {entry.options.case_sensitivity}" for entry in entries],
    }
    return pa.Table.from_pydict(columns, schema=ENTRY_SCHEMA)


def _compile_batches(batches: Batches) -> Batches:
    """Run in a task: compile texts to scripts."""
    gc.set_threshold(200_000, 50, 100)  # trees are many, short-lived and free of cycles worth finding
    for rows in batches:
        items = rows.to_pylist()
        texts = [(item["rendered"], msgspec.msgpack.decode(item["options"], type=Options)) for item in items]

        def finish(number: int, script: ir.Script, items: Sequence[Mapping[str, Any]] = items) -> bytes:
            row = items[number]
            written = SourceMap.from_copies(row["text"], row["source_map"])
            kept = pack_script(script, interface_of(script, row["rendered"], written))
            return msgspec.msgpack.encode(msgspec.structs.astuple(kept))

        made = [msgspec.msgpack.decode(content, type=list[bytes]) for content in compile_texts(texts, finish)]
        named = [(item["key"], item["batch"], *parts) for item, parts in zip(items, made, strict=True)]
        yield build_batch(COMPILED_SCHEMA, dict(zip(COMPILED_SCHEMA.names, zip(*named, strict=True), strict=True)))
