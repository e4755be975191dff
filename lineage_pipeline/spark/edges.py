"""Edges: independent once schemas are known, file by file; the result is one internal table, `linked`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.link.conflicts import conflict_rows
from lineage_pipeline.engine.link.inference import Listed, passed, requested
from lineage_pipeline.engine.link.model import Input
from lineage_pipeline.engine.link.rows import (
    Passing,
    declaration_rows,
    edge_rows,
    facet_rows,
    finding_rows,
    passing_rows,
)
from lineage_pipeline.engine.link.schemas import takes_query
from lineage_pipeline.engine.link.script import link_script
from lineage_pipeline.engine.link.shaping import input_of
from lineage_pipeline.engine.link.statement import LinkedStatement, link_statement
from lineage_pipeline.guard.child import WHOLE, Bounds, Step, Stopped, can_guard, run
from lineage_pipeline.spark.compile import scripts, traits_at
from lineage_pipeline.spark.frames import Batches, row_array, row_schema, spark_schema, sparse
from lineage_pipeline.spark.links import CACHE, LINK, TODO, held_links, is_linked, keep, link_keys
from lineage_pipeline.spark.plan import Shaping
from lineage_pipeline.spark.schemas import schema_rows
from lineage_pipeline.spark.work import Work
from lineage_pipeline.store.building import array_of
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import Limits, TableSchema
from lineage_pipeline.vocabulary.codes import diagnose
from lineage_pipeline.vocabulary.plan import Bound, ScriptFace
from lineage_pipeline.vocabulary.sets import Stage
from lineage_pipeline.vocabulary.tables import ColumnEdge, Diagnostic, Facet

STATEMENTS = 10
"""For how many slow statements there is time in one file."""

INFERRED = "inferred.msgpack"

LINKED = pa.schema(
    [
        ("key", pa.string()),
        ("batch", pa.string()),
        ("edge", row_schema("column_edges")),
        ("facet", row_schema("facets")),
        ("finding", row_schema("diagnostics")),
        ("note", pa.binary()),
    ]
)
"""What the file of a link key gives: a row fills one of the last four, and the public tables are projections."""


class Note(msgspec.Struct, frozen=True, array_like=True):
    """What one file tells about open objects: columns asked of them, stars over them, and what is known of them."""

    requests: tuple[tuple[str, str], ...]
    passings: tuple[Passing, ...]
    schemas: tuple[TableSchema, ...]


class Inferred(msgspec.Struct, frozen=True):
    """Columns that are known only because somebody reads them, the edges that carry them, and who owns them."""

    columns: set[tuple[str, str]]
    edges: list[ColumnEdge]
    schemas: dict[str, TableSchema]


class Seen(msgspec.Struct, frozen=True):
    """An object as a file sees it: its schema, its place in the order of need."""

    schema: TableSchema
    input: Input
    rank: int


class Gathered(msgspec.Struct):
    """What one file gives."""

    edges: list[ColumnEdge] = []
    facets: list[Facet] = []
    findings: dict[str, Diagnostic] = {}
    notes: list[bytes] = []


def link_files(work: Work) -> None:
    """Link the files that no batch of the cache holds, once for the same names and schemas."""
    if is_linked(work):
        return
    links, todo = link_keys(work)
    batch = todo["batch"][0].as_py() if len(todo) else ""
    if batch:
        work.put(f"todo_{batch}", todo)
        files = work.read([work.place(f"todo_{batch}.parquet")], TODO)
        limits = max((entry.options.limits for entry in work.entries), key=lambda one: one.seconds, default=Limits())
        bounds = Bounds(limits.seconds * STATEMENTS, limits.memory)
        linked = _inputs(work, files).mapInArrow(lambda batches: _link(batches, bounds), spark_schema(LINKED))
        work.write(linked, f"{CACHE}/{batch}")
    keep(work, links, batch)


def linked_rows(work: Work) -> DataFrame:
    """Open what was linked, now or for another snapshot."""
    links = held_links(work)
    folders = [folder for folder in work.finished(CACHE) if folder.split("/")[-2] in links.batches]
    rows = work.read(folders, LINKED)
    if links.whole:
        return rows
    wanted = work.read([links.path], LINK).select("key", "batch")
    return rows.join(f.broadcast(wanted), ["key", "batch"])


def infer_columns(work: Work) -> Inferred:
    """Ask back through open stars, once for the same files; only the names of open objects come to the driver."""
    content = work.kept(INFERRED)
    if content is not None:
        return msgspec.msgpack.decode(content, type=Inferred)
    made = _infer(work)
    work.keep(INFERRED, msgspec.msgpack.encode(made))
    return made


def _infer(work: Work) -> Inferred:
    noted = linked_rows(work).where(f.col("note").isNotNull()).select("note").toArrow()
    notes = [msgspec.msgpack.decode(note, type=Note) for note in noted["note"].to_pylist()]
    schemas = {schema.object: schema for note in notes for schema in note.schemas}
    requests = {request for note in notes for request in note.requests}
    passings = sorted((one for note in notes for one in note.passings), key=lambda one: (one.path, one.statement))
    wanted, carried = passed(requests, passings, schemas)
    return Inferred(wanted, carried, schemas)


def _inputs(work: Work, bounds: DataFrame) -> DataFrame:
    """Give each file that is to be linked with its script, its text, and the schemas of the objects that it names."""
    schemas = schema_rows(work).where(f.col("schema").isNotNull()).select("object", "rank", "temporary", "schema")
    named = bounds.select("path", f.explode("names").alias("object")).join(schemas, "object")
    seen = named.groupBy("path").agg(f.collect_list(f.struct("object", "rank", "temporary", "schema")).alias("seen"))
    files = scripts(work, "script", "face", "rendered").join(bounds.drop("names"), "path")
    return files.join(seen, "path", "left")


def _link(batches: Batches, bounds: Bounds) -> Batches:
    """Run in a task: scripts become edges, facets and findings; a file that cannot be linked costs its own edges."""
    for rows in batches:
        items = rows.to_pylist()
        refused: dict[int, str] = {}
        made, stopped = _guarded(items, refused, bounds)
        while stopped is not None and stopped.step not in refused and stopped.step != WHOLE:
            refused[stopped.step] = stopped.reason
            made, stopped = _guarded(items, refused, bounds)
        if stopped is not None:  # it is not a file that it fails at
            made = [_linked(items, refused, lambda _: None)]
        yield from pa.ipc.open_stream(made[0])


def _guarded(
    items: Sequence[Mapping[str, Any]], refused: Mapping[int, str], bounds: Bounds
) -> tuple[list[bytes], Stopped | None]:
    if not can_guard():
        return [_linked(items, refused, lambda _: None)], None
    return run([items], lambda rows, step: _linked(rows, refused, step), bounds)


def _linked(items: Sequence[Mapping[str, Any]], refused: Mapping[int, str], step: Step) -> bytes:
    """What a batch of files gives, as Arrow writes it."""
    made = []
    for number, row in enumerate(items):
        step(number)
        found = _refused(row, refused[number]) if number in refused else _link_file(row)
        made.append((row["key"], row["batch"], found))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, LINKED) as stream:
        for column, values in (
            ("edge", row_array("column_edges", [edge for _, _, one in made for edge in one.edges])),
            ("facet", row_array("facets", [facet for _, _, one in made for facet in one.facets])),
            ("finding", row_array("diagnostics", [row for _, _, one in made for row in one.findings.values()])),
            ("note", array_of([note for _, _, one in made for note in one.notes], pa.binary())),
        ):
            counts = [len(getattr(one, f"{column}s")) for _, _, one in made]
            whose = [(key, name) for (key, name, _), count in zip(made, counts, strict=True) for _ in range(count)]
            owners = dict(zip(("key", "batch"), zip(*whose, strict=True), strict=False))
            stream.write(sparse(LINKED, column, values, owners))
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _refused(row: Mapping[str, Any], limit: str) -> Gathered:
    """What is left of a file that cannot be linked."""
    face = msgspec.msgpack.decode(row["face"], type=ScriptFace)
    values = {"what": "linking the file", "limit": limit}
    finding = diagnose("LIMIT_EXCEEDED", values, face.text(row["path"]), 0, Stage.COLUMN_GRAPH)
    return Gathered(findings={finding.id: finding})


def _link_file(row: Mapping[str, Any]) -> Gathered:
    script = msgspec.msgpack.decode(row["script"], type=ir.Script)
    bound = msgspec.msgpack.decode(row["bounds"], type=tuple[Bound, ...])
    face = msgspec.msgpack.decode(row["face"], type=ScriptFace)
    text = face.text(row["path"], row["rendered"])
    traits = traits_at(row["dialect"])
    seen = {one["object"]: _seen(one) for one in row["seen"] or ()}
    inputs = {name: one.input for name, one in seen.items()}
    shapings = msgspec.msgpack.decode(row["shapings"], type=list[Shaping])
    done = dict(_shaped(script, bound, seen, shapings, traits))
    linked = link_script(script, bound, inputs, traits, done).statements
    edges: list[ColumnEdge] = []
    passings: list[Passing] = []
    gathered = Gathered()
    for placed, names in zip(script.statements, bound, strict=True):
        gathered.facets.extend(declaration_rows(text, placed, names))
    for ordinal, result in sorted(linked.items()):
        placed = script.statements[ordinal]
        edges.extend(edge_rows(text, placed, ordinal, result))
        passings.extend(passing_rows(text, placed, ordinal, result))
        gathered.facets.extend(facet_rows(text, placed, ordinal, result))
        findings = finding_rows(text, placed, result.findings, Stage.COLUMN_GRAPH)
        gathered.findings |= {finding.id: finding for finding in findings}
    schemas = {name: one.schema for name, one in seen.items() if one.schema.object == name}
    conflicts = conflict_rows(text, script, {name: schema for name, schema in schemas.items() if schema.conflicts})
    gathered.findings |= {finding.id: finding for finding in conflicts}
    gathered.edges.extend(edges)
    gathered.notes.extend(_notes(edges, passings, schemas))
    return gathered


def _seen(row: Mapping[str, Any]) -> Seen:
    schema = msgspec.msgpack.decode(row["schema"], type=TableSchema)
    return Seen(schema, input_of(schema, row["temporary"]), row["rank"])


def _shaped(
    script: ir.Script, bound: Sequence[Bound], seen: Mapping[str, Seen], shapings: Sequence[Shaping], traits: Traits
) -> Iterator[tuple[int, LinkedStatement]]:
    """Link what shapes an object as the schema registry did: with those objects alone that come before it."""
    first: dict[int, int] = {}
    for one in shapings:
        if takes_query(script.statements[one.ordinal].statement, one.role):
            first[one.ordinal] = min(one.rank, first.get(one.ordinal, one.rank))
    for ordinal, rank in first.items():
        statement, names = script.statements[ordinal].statement, bound[ordinal]
        own = statement.result != ir.NOWHERE  # what a module gives goes into the columns that its header declares
        before = {name: one.input for name, one in seen.items() if one.rank < rank + own}
        if not names.superseded:
            yield ordinal, link_statement(statement, names, before, traits)


def _notes(
    edges: Sequence[ColumnEdge], passings: Sequence[Passing], schemas: Mapping[str, TableSchema]
) -> Iterator[bytes]:
    requests = requested(edges, Listed(schemas))
    if requests or passings:
        names = {name for name, _ in requests} | {passing.source for passing in passings}
        known = tuple(schemas[name] for name in sorted(names & schemas.keys()))
        yield msgspec.msgpack.encode(Note(tuple(sorted(requests)), tuple(passings), known))
