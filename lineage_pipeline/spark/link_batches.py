"""Link keys: what linking a file depends on, so that a file whose names resolve as before is not linked again.

The driver computes them from names and from digests of schemas; columns and expressions stay in the tasks.
"""

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as f

from lineage_pipeline.spark.object_plan import BINDINGS_SCHEMA, ShapingStatement
from lineage_pipeline.spark.schema_resolution import read_schema_rows
from lineage_pipeline.spark.workspace import Workspace, encode_parquet
from lineage_pipeline.store.compiled_scripts import SUCCESS_MARKER
from lineage_pipeline.store.integrity import discard_markers, is_intact_file, is_intact_folder

LINK_CACHE = "_cache/linked"
KEYS_FILE = "keys.parquet"
"""The keys of a batch: written when all its rows are there."""

LINKS_POINTER = "links"
LINK_SCHEMA = pa.schema([("path", pa.string()), ("key", pa.string()), ("batch", pa.string())])
UNLINKED_SCHEMA = pa.unify_schemas([BINDINGS_SCHEMA, LINK_SCHEMA])
"""A file that is to be linked, as the plan has it."""


class FileLink(msgspec.Struct, frozen=True):
    """A file of a snapshot, its link key, and the batch that holds its rows."""

    path: str
    key: str
    batch: str


class HeldBatches(msgspec.Struct, frozen=True):
    """The batches that hold a snapshot, and the table that names them; `whole` if it is all of a single batch."""

    path: str
    batches: frozenset[str]
    whole: bool


def compute_link_keys(work: Workspace) -> tuple[list[FileLink], pa.Table]:
    """Return the link key and batch of every file, and the rows of the plan for files still to link."""
    schemas = read_schema_rows(work).where(f.col("schema").isNotNull()).select("object", "rank", "temporary", "digest")
    seen = {row["object"]: row for row in schemas.toArrow().to_pylist()}
    compiled = {entry.path: entry.key for entry in work.entries}
    content = work.files.read(work.result_path("bounds.parquet")) or b""
    rows = pq.read_table(pa.BufferReader(content), schema=BINDINGS_SCHEMA).to_pylist()
    keyed = [(row, _link_key(row, compiled[row["path"]], seen)) for row in rows]
    held, batch = _find_held_keys(work, {key for _, key in keyed}), uuid.uuid4().hex
    links = []
    todo: list[dict[str, Any]] = []
    for row, key in keyed:
        links.append(FileLink(row["path"], key, held.get(key, batch)))
        if key not in held:
            todo.append(row | {"key": key, "batch": batch})
    return links, pa.Table.from_pylist(todo, schema=UNLINKED_SCHEMA)


def _link_key(row: Mapping[str, Any], compiled: str, seen: Mapping[str, Mapping[str, Any]]) -> str:
    """Hash all that the rows of a file depend on; of ranks only the order counts."""
    named = [seen[name] for name in row["names"] if name in seen]
    shapings = msgspec.msgpack.decode(row["shapings"], type=list[ShapingStatement])
    ranks = sorted({*(one["rank"] for one in named), *(shaping.rank for shaping in shapings)})
    order = {rank: position for position, rank in enumerate(ranks)}
    parts = [
        compiled,
        row["path"],
        hashlib.sha256(row["bounds"]).hexdigest(),
        [(one.ordinal, one.role, order[one.rank]) for one in shapings],
        [(one["object"], order[one["rank"]], one["temporary"], one["digest"]) for one in named],
    ]
    return hashlib.sha256(msgspec.msgpack.encode(parts)).hexdigest()


def store_links(work: Workspace, links: Iterable[FileLink], done: str = "") -> None:
    """Store where the rows of this snapshot are, after the keys of a batch that has just been written."""
    listed = list(links)
    if done:
        made = [link for link in listed if link.batch == done]
        work.files.replace(f"{LINK_CACHE}/{done}/{KEYS_FILE}", encode_parquet(_link_table(made)), durable=False)
    work.write_pointer(LINKS_POINTER, _link_table(listed))


def is_linked(work: Workspace) -> bool:
    """Return whether every batch that holds the rows of this snapshot still exists undamaged."""
    path = work.pointer_path(LINKS_POINTER)
    if not path:
        return False
    links = pq.read_table(pa.BufferReader(work.files.read(path)), schema=LINK_SCHEMA)
    return all(work.intact_folders(f"{LINK_CACHE}/{batch}") for batch in {*links["batch"].to_pylist()})


def read_held_batches(work: Workspace) -> HeldBatches:
    """Return which batches hold the rows of this snapshot."""
    path = work.pointer_path(LINKS_POINTER)
    links = pq.read_table(pa.BufferReader(work.files.read(path) or b""), schema=LINK_SCHEMA)
    batches = frozenset(links["batch"].to_pylist())
    sizes = [len(_read_keys(work, f"{LINK_CACHE}/{batch}/{KEYS_FILE}")) for batch in batches]
    return HeldBatches(path, batches, sizes in ([], [len(links)]))


def _link_table(links: Iterable[FileLink]) -> pa.Table:
    return pa.Table.from_pylist([msgspec.structs.asdict(link) for link in links], schema=LINK_SCHEMA)


def _find_held_keys(work: Workspace, wanted: set[str]) -> dict[str, str]:
    """Return which batch holds each key; the first one counts, and damaged batches are discarded."""
    held: dict[str, str] = {}
    for path in work.files.list(LINK_CACHE):
        if path.endswith(f"/{KEYS_FILE}"):
            folder = path.removesuffix(f"/{KEYS_FILE}")
            here = wanted.intersection(_read_keys(work, path)) if is_intact_file(work.files, path) else wanted
            if here and not is_intact_folder(work.files, folder):
                discard_markers(
                    work.files, [path, *(f"{done}/{SUCCESS_MARKER}" for done in work.finished_folders(folder))]
                )
                continue
            for key in here:
                held.setdefault(key, path.split("/")[-2])
    return held


def _read_keys(work: Workspace, path: str) -> list[str]:
    content = work.files.read(path)
    table = pq.read_table(pa.BufferReader(content), columns=["key"]) if content else None
    return [] if table is None else list(table["key"].to_pylist())
