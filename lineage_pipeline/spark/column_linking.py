"""Column linking in tasks, file by file once schemas are known; the result is one internal table, `linked`.

A file whose link key is known is not linked again: the key is what linking it depends on. The driver computes keys from
names and from digests of schemas; columns and expressions stay in the tasks.
"""

import hashlib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.link.model import TableInput
from lineage_pipeline.engine.link.rows import (
    ListedColumns,
    StarEdge,
    build_declaration_rows,
    build_edge_rows,
    build_facet_rows,
    build_finding_rows,
    build_star_edges,
    find_requested_columns,
    propagate_requests,
)
from lineage_pipeline.engine.link.schema_registry import is_shaped_by_query
from lineage_pipeline.engine.link.script import link_script
from lineage_pipeline.engine.link.shared_temp_tables import compose_shared_edges
from lineage_pipeline.engine.link.statement import LinkedStatement, link_statement
from lineage_pipeline.engine.link.table_schema import build_conflict_rows, build_table_input
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import Limits, TableSchema
from lineage_pipeline.model.enums import Stage
from lineage_pipeline.model.findings import build_diagnostic
from lineage_pipeline.model.plan import NameBindings, ScriptInterface, SharedTempUse
from lineage_pipeline.model.tables import ColumnEdge, Diagnostic, Facet
from lineage_pipeline.sandbox.child_process import (
    ITEM_START,
    ReportStep,
    StepLimits,
    StoppedWork,
    can_sandbox,
    run_in_child,
)
from lineage_pipeline.spark.compilation import parse_dialect_column, read_scripts
from lineage_pipeline.spark.frames import Batches, build_row_array, build_sparse_batch, row_struct_type, to_spark_schema
from lineage_pipeline.spark.object_plan import BINDINGS_SCHEMA, ShapingStatement
from lineage_pipeline.spark.schema_resolution import read_schema_rows
from lineage_pipeline.spark.workspace import Workspace, encode_parquet
from lineage_pipeline.store.compiled_scripts import SUCCESS_MARKER
from lineage_pipeline.store.file_store import discard_markers, is_intact_file, is_intact_folder
from lineage_pipeline.store.row_conversion import build_array

SLOW_STATEMENTS = 10
"""The number of slow statements that the time limit of one file allows."""

INFERRED_FILE = "inferred.msgpack"

LINKED_SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("batch", pa.string()),
        ("edge", row_struct_type("column_edges")),
        ("facet", row_struct_type("facets")),
        ("finding", row_struct_type("diagnostics")),
        ("note", pa.binary()),
    ]
)
"""Rows of a link key: each fills one of the last four columns; the public tables are projections."""


class OpenObjectNote(msgspec.Struct, frozen=True, array_like=True):
    """What one file contributes on open objects: requested columns, stars over them, and their schemas."""

    requests: tuple[tuple[str, str], ...]
    passings: tuple[StarEdge, ...]
    schemas: tuple[TableSchema, ...]


class RequestedColumns(msgspec.Struct, frozen=True):
    """Columns known only because they are read, the edges that carry them, and the schemas of their objects."""

    columns: set[tuple[str, str]]
    edges: list[ColumnEdge]
    schemas: dict[str, TableSchema]


class VisibleObject(msgspec.Struct, frozen=True):
    """An object as a file sees it: its schema, and its rank in dependency order."""

    schema: TableSchema
    input: TableInput
    rank: int


class FileLinkResult(msgspec.Struct):
    """The rows of one file."""

    edges: list[ColumnEdge] = []
    facets: list[Facet] = []
    findings: dict[str, Diagnostic] = {}
    notes: list[bytes] = []


def link_missing_files(work: Workspace) -> None:
    """Link the files that no batch of the cache holds."""
    if is_linked(work):
        return
    links, todo = compute_link_keys(work)
    batch = todo["batch"][0].as_py() if len(todo) else ""
    if batch:
        work.put_table(f"todo_{batch}", todo)
        files = work.read_frame([work.result_path(f"todo_{batch}.parquet")], UNLINKED_SCHEMA)
        limits = max((entry.options.limits for entry in work.entries), key=lambda one: one.seconds, default=Limits())
        bounds = StepLimits(limits.seconds * SLOW_STATEMENTS, limits.memory)
        linked = _link_inputs(work, files).mapInArrow(
            lambda batches: _link_batches(batches, bounds), to_spark_schema(LINKED_SCHEMA)
        )
        work.write_frame(linked, f"{LINK_CACHE}/{batch}")
    store_links(work, links, batch)


def read_linked_rows(work: Workspace) -> DataFrame:
    """Open the linked rows of this snapshot, whichever snapshot they were linked for."""
    links = read_held_batches(work)
    folders = [folder for folder in work.finished_folders(LINK_CACHE) if folder.split("/")[-2] in links.batches]
    rows = work.read_frame(folders, LINKED_SCHEMA)
    if links.whole:
        return rows
    wanted = work.read_frame([links.path], LINK_SCHEMA).select("key", "batch")
    return rows.join(f.broadcast(wanted), ["key", "batch"])


def get_inferred_columns(work: Workspace) -> RequestedColumns:
    """Infer the columns of open objects through stars, once for the same files."""
    content = work.get_bytes(INFERRED_FILE)
    if content is not None:
        return msgspec.msgpack.decode(content, type=RequestedColumns)
    made = _infer_columns(work)
    work.put_bytes(INFERRED_FILE, msgspec.msgpack.encode(made))
    return made


def _infer_columns(work: Workspace) -> RequestedColumns:
    noted = read_linked_rows(work).where(f.col("note").isNotNull()).select("note").toArrow()
    notes = [msgspec.msgpack.decode(note, type=OpenObjectNote) for note in noted["note"].to_pylist()]
    schemas = {schema.object: schema for note in notes for schema in note.schemas}
    requests = {request for note in notes for request in note.requests}
    passings = sorted((one for note in notes for one in note.passings), key=lambda one: (one.path, one.statement))
    wanted, carried = propagate_requests(requests, passings, schemas)
    return RequestedColumns(wanted, carried, schemas)


def _link_inputs(work: Workspace, bounds: DataFrame) -> DataFrame:
    """Return each file to link with its script, its text, and the schemas of the objects that it names."""
    schemas = read_schema_rows(work).where(f.col("schema").isNotNull()).select("object", "rank", "temporary", "schema")
    named = bounds.select("path", f.explode("names").alias("object")).join(schemas, "object")
    seen = named.groupBy("path").agg(f.collect_list(f.struct("object", "rank", "temporary", "schema")).alias("seen"))
    files = read_scripts(work, "script", "face", "rendered").join(bounds.drop("names"), "path")
    return files.join(seen, "path", "left")


def _link_batches(batches: Batches, bounds: StepLimits) -> Batches:
    """Run in a task: link scripts to edges, facets and findings; a file that fails loses only its own edges."""
    for rows in batches:
        items = rows.to_pylist()
        refused: dict[int, str] = {}
        made, stopped = _link_in_child(items, refused, bounds)
        while stopped is not None and stopped.step not in refused and stopped.step != ITEM_START:
            refused[stopped.step] = stopped.reason
            made, stopped = _link_in_child(items, refused, bounds)
        if stopped is not None:  # it is not a file that it fails at
            made = [_encode_linked(items, refused, lambda _: None)]
        yield from pa.ipc.open_stream(made[0])


def _link_in_child(
    items: Sequence[Mapping[str, Any]], refused: Mapping[int, str], bounds: StepLimits
) -> tuple[list[bytes], StoppedWork | None]:
    if not can_sandbox():
        return [_encode_linked(items, refused, lambda _: None)], None
    return run_in_child([items], lambda rows, step: _encode_linked(rows, refused, step), bounds)


def _encode_linked(items: Sequence[Mapping[str, Any]], refused: Mapping[int, str], step: ReportStep) -> bytes:
    """Return the rows of a batch of files as an Arrow stream."""
    made = []
    for number, row in enumerate(items):
        step(number)
        found = _limit_result(row, refused[number]) if number in refused else _link_file(row)
        made.append((row["key"], row["batch"], found))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, LINKED_SCHEMA) as stream:
        for column, values in (
            ("edge", build_row_array("column_edges", [edge for _, _, one in made for edge in one.edges])),
            ("facet", build_row_array("facets", [facet for _, _, one in made for facet in one.facets])),
            ("finding", build_row_array("diagnostics", [row for _, _, one in made for row in one.findings.values()])),
            ("note", build_array([note for _, _, one in made for note in one.notes], pa.binary())),
        ):
            counts = [len(getattr(one, f"{column}s")) for _, _, one in made]
            whose = [(key, name) for (key, name, _), count in zip(made, counts, strict=True) for _ in range(count)]
            owners = dict(zip(("key", "batch"), zip(*whose, strict=True), strict=False))
            stream.write(build_sparse_batch(LINKED_SCHEMA, column, values, owners))
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _limit_result(row: Mapping[str, Any], limit: str) -> FileLinkResult:
    """Return the finding for a file that cannot be linked."""
    face = msgspec.msgpack.decode(row["face"], type=ScriptInterface)
    values = {"what": "linking the file", "limit": limit}
    finding = build_diagnostic("LIMIT_EXCEEDED", values, face.text(row["path"]), 0, Stage.COLUMN_GRAPH)
    return FileLinkResult(findings={finding.id: finding})


def _link_file(row: Mapping[str, Any]) -> FileLinkResult:
    script = msgspec.msgpack.decode(row["script"], type=ir.Script)
    bound = msgspec.msgpack.decode(row["bounds"], type=tuple[NameBindings, ...])
    face = msgspec.msgpack.decode(row["face"], type=ScriptInterface)
    text = face.text(row["path"], row["rendered"])
    traits = parse_dialect_column(row["dialect"])
    seen = {one["object"]: _visible_object(one) for one in row["seen"] or ()}
    inputs = {name: one.input for name, one in seen.items()}
    shapings = msgspec.msgpack.decode(row["shapings"], type=list[ShapingStatement])
    done = dict(_link_shaping_statements(script, bound, seen, shapings, traits))
    linked = link_script(script, bound, inputs, traits, done).statements
    edges: list[ColumnEdge] = []
    passings: list[StarEdge] = []
    gathered = FileLinkResult()
    for placed, names in zip(script.statements, bound, strict=True):
        gathered.facets.extend(build_declaration_rows(text, placed, names))
    for ordinal, result in sorted(linked.items()):
        placed = script.statements[ordinal]
        edges.extend(build_edge_rows(text, placed, ordinal, result))
        passings.extend(build_star_edges(text, placed, ordinal, result))
        gathered.facets.extend(build_facet_rows(text, placed, ordinal, result))
        findings = build_finding_rows(text, placed, result.findings, Stage.COLUMN_GRAPH)
        gathered.findings |= {finding.id: finding for finding in findings}
    schemas = {name: one.schema for name, one in seen.items() if one.schema.object == name}
    conflicts = build_conflict_rows(
        text, script, {name: schema for name, schema in schemas.items() if schema.conflicts}
    )
    gathered.findings |= {finding.id: finding for finding in conflicts}
    gathered.edges.extend(edges)
    gathered.notes.extend(_encode_notes(edges, passings, schemas))
    return gathered


def _visible_object(row: Mapping[str, Any]) -> VisibleObject:
    schema = msgspec.msgpack.decode(row["schema"], type=TableSchema)
    return VisibleObject(schema, build_table_input(schema, row["temporary"]), row["rank"])


def _link_shaping_statements(
    script: ir.Script,
    bound: Sequence[NameBindings],
    seen: Mapping[str, VisibleObject],
    shapings: Sequence[ShapingStatement],
    traits: DialectTraits,
) -> Iterator[tuple[int, LinkedStatement]]:
    """Link the statements that shape an object as the schema registry did: only with objects of lower rank."""
    first: dict[int, int] = {}
    for one in shapings:
        if is_shaped_by_query(script.statements[one.ordinal].statement, one.role):
            first[one.ordinal] = min(one.rank, first.get(one.ordinal, one.rank))
    for ordinal, rank in first.items():
        statement, names = script.statements[ordinal].statement, bound[ordinal]
        own = statement.result != ir.NOWHERE  # what a module gives goes into the columns that its header declares
        before = {name: one.input for name, one in seen.items() if one.rank < rank + own}
        if not names.superseded:
            yield ordinal, link_statement(statement, names, before, traits)


def _encode_notes(
    edges: Sequence[ColumnEdge], passings: Sequence[StarEdge], schemas: Mapping[str, TableSchema]
) -> Iterator[bytes]:
    requests = find_requested_columns(edges, ListedColumns(schemas))
    if requests or passings:
        names = {name for name, _ in requests} | {passing.source for passing in passings}
        known = tuple(schemas[name] for name in sorted(names & schemas.keys()))
        yield msgspec.msgpack.encode(OpenObjectNote(tuple(sorted(requests)), tuple(passings), known))


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


def bridge_shared_tables(
    linked: DataFrame, lent: Sequence[SharedTempUse], inferred: list[ColumnEdge]
) -> tuple[DataFrame, list[ColumnEdge], list[Diagnostic]]:
    """Return the linked rows without edges of statements at shared temp tables, their replacements, and findings."""
    if not lent:
        return linked, inferred, []
    touching = linked.where(_touches_shared(sorted({use.object for use in lent}))).select("edge.path", "edge.statement")
    statements = sorted({(row.path, row.statement) for row in touching.collect()})
    if not statements:
        return linked, *compose_shared_edges(lent, inferred)
    # An edge that is led through a shared object may have the key of another edge of its statement: all of them come.
    gathered = _is_edge_of(statements)
    rows = linked.where(gathered).select("edge.*").toArrow().to_pylist()
    edges = msgspec.convert(rows, list[ColumnEdge])
    return linked.where(~gathered), *compose_shared_edges(lent, [*edges, *inferred])


def _is_edge_of(statements: Sequence[tuple[str, int]]) -> Column:
    """Return the condition that a row is an edge of one of these statements."""
    place = f.concat_ws("\0", f.col("edge.path"), f.col("edge.statement").cast("string"))
    return f.col("edge").isNotNull() & place.isin(*(f"{path}\0{ordinal}" for path, ordinal in statements))


def _touches_shared(shared: Sequence[str]) -> Column:
    """Return the condition that an edge starts at, ends at or passes one of these objects."""
    ends = f.col("edge.from_object").isin(*shared) | f.col("edge.to_object").isin(*shared)
    return f.coalesce(ends | f.exists("edge.hops", lambda hop: hop["object"].isin(*shared)), f.lit(False))
