"""Compile: each content once for ever; a batch holds what one snapshot brought that no other had."""

import gc
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from lineage_pipeline.dialects.traits import GENERIC, Traits, traits_of
from lineage_pipeline.engine.compile.interface import face_of
from lineage_pipeline.guard.compiling import compile_texts
from lineage_pipeline.spark.balance import balanced
from lineage_pipeline.spark.frames import Batches, batch, spark_schema
from lineage_pipeline.spark.work import Entry, Work
from lineage_pipeline.store import compiled as cache
from lineage_pipeline.store.compiled import CACHE, COMPILED
from lineage_pipeline.store.packing import packed
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import Options
from lineage_pipeline.vocabulary.places import Written

UNITS = pa.schema(
    [
        ("key", pa.string()),
        ("source_hash", pa.string()),
        ("options", pa.binary()),
        ("batch", pa.string()),
        ("part", pa.int32()),
    ]
)
POINTER = "entries"
ENTRIES = pa.schema([(name, pa.string()) for name in ("path", "source_hash", "key", "batch", "dialect")])


def compile_new(work: Work) -> None:
    """Compile the contents that no batch holds; nothing new, no job."""
    held = cache.held(work.files, {entry.key for entry in work.entries})
    missing = {entry.key: entry for entry in work.entries if entry.key not in held}
    if missing:
        name = uuid.uuid4().hex
        wanted, parts = [missing[key] for key in sorted(missing)], work.tasks(work.session)
        share = balanced([work.sizes[entry.path] for entry in wanted], parts)
        work.put(f"units_{name}", _units(wanted, name, share))
        todo = work.read([work.place(f"units_{name}.parquet")], UNITS).join(
            _sources(work, "text", "source_map"), "source_hash"
        )
        made = todo.repartitionById(parts, "part").mapInArrow(_compile, spark_schema(COMPILED))
        work.write(made, f"{CACHE}/{name}")
        held |= dict.fromkeys(missing, name)
    work.point(POINTER, _entries(work.entries, held))


def is_compiled(work: Work) -> bool:
    """Say whether every batch that holds a file of this snapshot is still there and whole."""
    path = work.pointed(POINTER)
    if not path:
        return False
    entries = pq.read_table(pa.BufferReader(work.files.read(path)), schema=ENTRIES)
    return all(work.sound(f"{CACHE}/{batch}") for batch in {*entries["batch"].to_pylist()})


def scripts(work: Work, *columns: str) -> DataFrame:
    """Give one row for each file: its path and dialect, and those columns of its text and of what it compiled to."""
    entries = work.read([work.pointed(POINTER)], ENTRIES)  # before batches are listed, or one may be missing there
    compiled = [name for name in columns if name in COMPILED.names]
    found = entries.join(_compiled(work).select("key", "batch", *compiled), ["key", "batch"])
    joined = found.join(_sources(work), "source_hash") if "rendered" in columns else found
    return joined.select("path", "dialect", *columns)


def traits_at(dialect: str) -> Traits:
    """Give the traits of a file by its column `dialect`, which says how names are compared as well."""
    name, _, case = dialect.rpartition(" ")
    return traits_of(name, case) or GENERIC


def _sources(work: Work, *columns: str) -> DataFrame:
    # A file of sources may hold those of other snapshots too, and two files the same one.
    return work.table("sources").select("source_hash", "rendered", *columns).dropDuplicates(["source_hash"])


def _compiled(work: Work) -> DataFrame:
    return work.read(work.finished(CACHE), COMPILED)


def _units(entries: Sequence[Entry], name: str, parts: Sequence[int]) -> pa.Table:
    columns = {
        "key": [entry.key for entry in entries],
        "source_hash": [entry.source for entry in entries],
        "options": [msgspec.msgpack.encode(entry.options) for entry in entries],
        "batch": [name] * len(entries),
        "part": parts,
    }
    return pa.Table.from_pydict(columns, schema=UNITS)


def _entries(entries: Sequence[Entry], held: dict[str, str]) -> pa.Table:
    columns = {
        "path": [entry.path for entry in entries],
        "source_hash": [entry.source for entry in entries],
        "key": [entry.key for entry in entries],
        "batch": [held[entry.key] for entry in entries],
        "dialect": [f"{entry.options.dialect} {entry.options.case_sensitivity}" for entry in entries],
    }
    return pa.Table.from_pydict(columns, schema=ENTRIES)


def _compile(batches: Batches) -> Batches:
    """Run in a task: texts become scripts."""
    gc.set_threshold(200_000, 50, 100)  # trees are many, short-lived and free of cycles worth finding
    for rows in batches:
        items = rows.to_pylist()
        texts = [(item["rendered"], msgspec.msgpack.decode(item["options"], type=Options)) for item in items]

        def finish(number: int, script: ir.Script, items: Sequence[Mapping[str, Any]] = items) -> bytes:
            row = items[number]
            written = Written.of(row["text"], row["source_map"])
            kept = packed(script, face_of(script, row["rendered"], written))
            return msgspec.msgpack.encode(msgspec.structs.astuple(kept))

        made = [msgspec.msgpack.decode(content, type=list[bytes]) for content in compile_texts(texts, finish)]
        named = [(item["key"], item["batch"], *parts) for item, parts in zip(items, made, strict=True)]
        yield batch(COMPILED, dict(zip(COMPILED.names, zip(*named, strict=True), strict=True)))
