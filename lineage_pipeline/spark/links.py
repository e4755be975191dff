"""Link keys: what linking a file depends on, so that a file whose names mean what they meant is not linked again.

The driver works them out from names and from digests of schemas; columns and expressions stay with the tasks.
"""

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as f

from lineage_pipeline.spark.plan import BOUNDS, Shaping
from lineage_pipeline.spark.schemas import schema_rows
from lineage_pipeline.spark.work import Work, parquet
from lineage_pipeline.store.compiled import DONE
from lineage_pipeline.store.damage import discard, intact, whole

CACHE = "_cache/linked"
KEYS = "keys.parquet"
"""What a batch holds: written when all its rows are there."""

LINKS = "links"
LINK = pa.schema([("path", pa.string()), ("key", pa.string()), ("batch", pa.string())])
TODO = pa.unify_schemas([BOUNDS, LINK])
"""A file that is to be linked, as the plan knows it."""


class Link(msgspec.Struct, frozen=True):
    """A file of a snapshot, the key of what linking it gives, and the batch that holds that."""

    path: str
    key: str
    batch: str


class Held(msgspec.Struct, frozen=True):
    """The batches that hold a snapshot, and the table that names them; it may be the `whole` of the only one."""

    path: str
    batches: frozenset[str]
    whole: bool


def link_keys(work: Work) -> tuple[list[Link], pa.Table]:
    """Give the link key of every file, where a batch holds it already, and all that the plan says of the rest."""
    schemas = schema_rows(work).where(f.col("schema").isNotNull()).select("object", "rank", "temporary", "digest")
    seen = {row["object"]: row for row in schemas.toArrow().to_pylist()}
    compiled = {entry.path: entry.key for entry in work.entries}
    content = work.files.read(work.place("bounds.parquet")) or b""
    rows = pq.read_table(pa.BufferReader(content), schema=BOUNDS).to_pylist()
    keyed = [(row, _key(row, compiled[row["path"]], seen)) for row in rows]
    held, batch = _held(work, {key for _, key in keyed}), uuid.uuid4().hex
    links = []
    todo: list[dict[str, Any]] = []
    for row, key in keyed:
        links.append(Link(row["path"], key, held.get(key, batch)))
        if key not in held:
            todo.append(row | {"key": key, "batch": batch})
    return links, pa.Table.from_pylist(todo, schema=TODO)


def _key(row: Mapping[str, Any], compiled: str, seen: Mapping[str, Mapping[str, Any]]) -> str:
    """Name all that the rows of a file depend on; of ranks only the order counts."""
    named = [seen[name] for name in row["names"] if name in seen]
    shapings = msgspec.msgpack.decode(row["shapings"], type=list[Shaping])
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


def keep(work: Work, links: Iterable[Link], done: str = "") -> None:
    """Say where the rows of this snapshot are, and first what a batch holds that has just been written."""
    listed = list(links)
    if done:
        made = [link for link in listed if link.batch == done]
        work.files.replace(f"{CACHE}/{done}/{KEYS}", parquet(_table(made)), durable=False)
    work.point(LINKS, _table(listed))


def is_linked(work: Work) -> bool:
    """Say whether the rows of this snapshot are known, and every batch that holds them is still there and whole."""
    path = work.pointed(LINKS)
    if not path:
        return False
    links = pq.read_table(pa.BufferReader(work.files.read(path)), schema=LINK)
    return all(work.sound(f"{CACHE}/{batch}") for batch in {*links["batch"].to_pylist()})


def held_links(work: Work) -> Held:
    """Say which batches hold the rows of this snapshot."""
    path = work.pointed(LINKS)
    links = pq.read_table(pa.BufferReader(work.files.read(path) or b""), schema=LINK)
    batches = frozenset(links["batch"].to_pylist())
    sizes = [len(_keys(work, f"{CACHE}/{batch}/{KEYS}")) for batch in batches]
    return Held(path, batches, sizes in ([], [len(links)]))


def _table(links: Iterable[Link]) -> pa.Table:
    return pa.Table.from_pylist([msgspec.structs.asdict(link) for link in links], schema=LINK)


def _held(work: Work, wanted: set[str]) -> dict[str, str]:
    """Say which batch holds a key; the first one counts where two runs linked the same, and a damaged one never."""
    held: dict[str, str] = {}
    for path in work.files.list(CACHE):
        if path.endswith(f"/{KEYS}"):
            folder = path.removesuffix(f"/{KEYS}")
            here = wanted.intersection(_keys(work, path)) if intact(work.files, path) else wanted
            if here and not whole(work.files, folder):
                discard(work.files, [path, *(f"{done}/{DONE}" for done in work.finished(folder))])
                continue
            for key in here:
                held.setdefault(key, path.split("/")[-2])
    return held


def _keys(work: Work, path: str) -> list[str]:
    content = work.files.read(path)
    table = pq.read_table(pa.BufferReader(content), columns=["key"]) if content else None
    return [] if table is None else list(table["key"].to_pylist())
