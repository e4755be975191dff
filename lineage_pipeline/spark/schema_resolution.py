"""Schema resolution in tasks: one task for each bundle of objects that depend on each other."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.link.rows import build_column_rows, build_constraint_rows
from lineage_pipeline.engine.link.schema_registry import SchemaRegistry
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import TableSchema
from lineage_pipeline.model.plan import NameBindings, ObjectEntry
from lineage_pipeline.spark.compilation import parse_dialect_column, read_scripts
from lineage_pipeline.spark.frames import (
    Batches,
    build_batch,
    build_row_array,
    build_sparse_batch,
    row_struct_type,
    to_spark_schema,
)
from lineage_pipeline.spark.object_plan import BINDINGS_SCHEMA, OBJECTS_SCHEMA, SHAPERS_SCHEMA
from lineage_pipeline.spark.workspace import Workspace

SCHEMAS_FOLDER = "schemas"

BUNDLE_SCHEMA = pa.schema(
    [
        ("bundle", pa.int64()),
        ("rank", pa.int64()),
        ("name", pa.string()),
        ("dialect", pa.string()),
        ("known", pa.binary()),
        ("script", pa.binary()),
        ("bounds", pa.binary()),
    ]
)
"""Rows of a bundle: objects (`known`), and files (`script` and `bounds`) reduced to what shapes them."""

RESULT_SCHEMA = pa.schema(
    [
        ("object", pa.string()),
        ("rank", pa.int64()),
        ("temporary", pa.bool_()),
        ("schema", pa.binary()),
        ("digest", pa.string()),
        ("column", row_struct_type("columns")),
        ("constraint", row_struct_type("constraints")),
    ]
)
"""Objects with their schemas and digests, then columns, then constraints: a row fills one of the three."""

SCHEMAS_A_BATCH = 1_000
CACHED_SCRIPTS = 1_000
"""Schemas that a task returns at once, and scripts that it keeps decoded."""

BLANK_STATEMENT = ir.Statement("", "")


def resolve_all_schemas(work: Workspace) -> None:
    """Resolve the schemas of all objects, once for the same files."""
    if work.intact_folders(work.result_path(SCHEMAS_FOLDER)):
        return
    imported = msgspec.msgpack.encode(dict(work.imported))

    def resolve(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _resolve_bundle(batches, imported)

    pieces = _object_pieces(work).unionByName(_file_pieces(work))
    made = pieces.groupBy("bundle").applyInArrow(resolve, to_spark_schema(RESULT_SCHEMA))
    work.write_frame(made, work.result_path(SCHEMAS_FOLDER))


def read_schema_rows(work: Workspace) -> DataFrame:
    """Open what `resolve_all_schemas` wrote."""
    return work.read_result(SCHEMAS_FOLDER, RESULT_SCHEMA)


def select_public_rows(work: Workspace, frame: DataFrame, column: str) -> DataFrame:
    """Return the rows of one kind in the form of the public table."""
    (snapshot,) = work.run.key
    rows = frame.where(f.col(column).isNotNull()).select(f"{column}.*")
    return rows.select(f.lit(snapshot).alias("snapshot"), "*")


def _object_pieces(work: Workspace) -> DataFrame:
    known = work.read_frame([work.result_path("known.parquet")], OBJECTS_SCHEMA)
    empty = {field.name: f.lit(None).cast("binary") for field in BUNDLE_SCHEMA if field.name in ("script", "bounds")}
    return known.withColumnRenamed("object", "name").withColumns({**empty, "dialect": f.lit("")})


def _file_pieces(work: Workspace) -> DataFrame:
    shapers = work.read_frame([work.result_path("shapers.parquet")], SHAPERS_SCHEMA)
    bounds = work.read_frame([work.result_path("bounds.parquet")], BINDINGS_SCHEMA).select("path", "bounds")
    files = read_scripts(work, "script").join(bounds, "path").join(shapers, "path")
    return files.mapInArrow(_blank_other_statements, to_spark_schema(BUNDLE_SCHEMA))


def _blank_other_statements(batches: Batches) -> Batches:
    """Run in a task: blank the statements that shape nothing here."""
    for rows in batches:
        made: dict[str, list[Any]] = {name: [] for name in BUNDLE_SCHEMA.names}
        for row in rows.to_pylist():
            script = msgspec.msgpack.decode(row["script"], type=ir.Script)
            wanted = set(row["ordinals"])
            placed = (
                one if ordinal in wanted else ir.Placed(one.start, one.end, one.parent, BLANK_STATEMENT)
                for ordinal, one in enumerate(script.statements)
            )
            cut = msgspec.structs.replace(script, statements=tuple(placed))
            values = (row["bundle"], -1, row["path"], row["dialect"], None, msgspec.msgpack.encode(cut), row["bounds"])
            for name, value in zip(BUNDLE_SCHEMA.names, values, strict=True):
                made[name].append(value)
        yield build_batch(BUNDLE_SCHEMA, made)


def _resolve_bundle(batches: Batches, imported: bytes) -> Batches:
    """Run in a task: resolve the objects of one bundle in dependency order, and yield them in batches."""
    rows = sorted((row for one in batches for row in one.to_pylist()), key=lambda row: (row["rank"], row["name"]))
    objects = {row["name"]: msgspec.msgpack.decode(row["known"], type=ObjectEntry) for row in rows if row["known"]}
    position = {row["name"]: row["rank"] for row in rows if row["known"]}
    scripts = PackedScripts({row["name"]: row for row in rows if row["script"]})
    given = msgspec.msgpack.decode(imported, type=dict[str, TableSchema])
    registry = SchemaRegistry(objects, scripts.statement_at, given, forgets=True)
    registry.resolve([objects])
    every = {**registry.schemas, **registry.states}
    for names in _name_chunks(every):
        yield _schema_batch({name: every[name] for name in names}, objects, position)
    for names in _name_chunks(registry.schemas):
        columns = build_column_rows({name: registry.schemas[name] for name in names}, objects)
        yield build_sparse_batch(RESULT_SCHEMA, "column", build_row_array("columns", list(columns)))
        constraints = build_constraint_rows({name: objects[name] for name in names}, scripts, given)
        yield build_sparse_batch(RESULT_SCHEMA, "constraint", build_row_array("constraints", list(constraints)))


def _name_chunks(names: Iterable[str]) -> Iterator[list[str]]:
    listed = list(names)
    for first in range(0, len(listed), SCHEMAS_A_BATCH):
        yield listed[first : first + SCHEMAS_A_BATCH]


class PackedScripts(Mapping[str, ir.Script]):
    """The scripts of a bundle, encoded except for those used last."""

    def __init__(self, files: Mapping[str, Mapping[str, Any]]) -> None:
        """Store the rows of files by path."""
        self._files = files
        self._opened = lru_cache(maxsize=CACHED_SCRIPTS)(self._decode_script)

    def __getitem__(self, path: str) -> ir.Script:
        """Return the script of a file."""
        return self._opened(path)[0]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the paths."""
        return iter(self._files)

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self._files)

    def statement_at(self, path: str, ordinal: int) -> tuple[ir.Statement, NameBindings, DialectTraits]:
        """Return a statement, its name bindings and the traits of its dialect."""
        script, bounds = self._opened(path)
        return script.statements[ordinal].statement, bounds[ordinal], parse_dialect_column(self._files[path]["dialect"])

    def _decode_script(self, path: str) -> tuple[ir.Script, tuple[NameBindings, ...]]:
        row = self._files[path]
        script = msgspec.msgpack.decode(row["script"], type=ir.Script)
        return script, msgspec.msgpack.decode(row["bounds"], type=tuple[NameBindings, ...])


def _schema_batch(
    schemas: Mapping[str, TableSchema], objects: Mapping[str, ObjectEntry], position: Mapping[str, int]
) -> pa.RecordBatch:
    encoded = [msgspec.msgpack.encode(schema) for schema in schemas.values()]
    columns: dict[str, list[Any]] = {
        "object": list(schemas),
        "rank": [position[name] for name in schemas],
        "temporary": [objects[name].row.temporary for name in schemas],
        "schema": encoded,
        "digest": [hashlib.sha256(content).hexdigest() for content in encoded],
    }
    return build_batch(RESULT_SCHEMA, columns)
