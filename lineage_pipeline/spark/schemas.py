"""Schemas: ordered but cheap, one task for each bundle of objects that need each other."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.link.columns import column_rows, constraint_rows
from lineage_pipeline.engine.link.schemas import SchemaRegistry
from lineage_pipeline.spark.compile import scripts, traits_at
from lineage_pipeline.spark.frames import Batches, batch, row_array, row_schema, spark_schema, sparse
from lineage_pipeline.spark.plan import BOUNDS, KNOWN, SHAPERS
from lineage_pipeline.spark.work import Work
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import TableSchema
from lineage_pipeline.vocabulary.plan import Bound, Known

FOLDER = "schemas"

PIECES = pa.schema(
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
"""What a bundle is made of: objects (`known`), and files (`script` and `bounds`) cut down to what shapes them."""

SCHEMAS = pa.schema(
    [
        ("object", pa.string()),
        ("rank", pa.int64()),
        ("temporary", pa.bool_()),
        ("schema", pa.binary()),
        ("digest", pa.string()),
        ("column", row_schema("columns")),
        ("constraint", row_schema("constraints")),
    ]
)
"""Objects with their schemas, and digests of those; then columns; then constraints: a row fills one of the three."""

BLANK = ir.Statement("", "")


def resolve_schemas(work: Work) -> None:
    """Work out the schemas of all objects, once for the same files."""
    if work.sound(work.place(FOLDER)):
        return
    imported = msgspec.msgpack.encode(dict(work.imported))

    def resolve(group: pa.Table) -> pa.Table:
        return _resolve(group, imported)

    pieces = _objects(work).unionByName(_files(work))
    made = pieces.groupBy("bundle").applyInArrow(resolve, spark_schema(SCHEMAS))
    work.write(made, work.place(FOLDER))


def schema_rows(work: Work) -> DataFrame:
    """Open what `resolve_schemas` wrote."""
    return work.result(FOLDER, SCHEMAS)


def public_rows(work: Work, frame: DataFrame, column: str) -> DataFrame:
    """Give the rows of one kind as the public table has them."""
    (snapshot,) = work.run.key
    rows = frame.where(f.col(column).isNotNull()).select(f"{column}.*")
    return rows.select(f.lit(snapshot).alias("snapshot"), "*")


def _objects(work: Work) -> DataFrame:
    known = work.read([work.place("known.parquet")], KNOWN)
    empty = {field.name: f.lit(None).cast("binary") for field in PIECES if field.name in ("script", "bounds")}
    return known.withColumnRenamed("object", "name").withColumns({**empty, "dialect": f.lit("")})


def _files(work: Work) -> DataFrame:
    shapers = work.read([work.place("shapers.parquet")], SHAPERS)
    bounds = work.read([work.place("bounds.parquet")], BOUNDS).select("path", "bounds")
    files = scripts(work, "script").join(bounds, "path").join(shapers, "path")
    return files.mapInArrow(_cut, spark_schema(PIECES))


def _cut(batches: Batches) -> Batches:
    """Run in a task: blank the statements that shape nothing here."""
    for rows in batches:
        made: dict[str, list[Any]] = {name: [] for name in PIECES.names}
        for row in rows.to_pylist():
            script = msgspec.msgpack.decode(row["script"], type=ir.Script)
            wanted = set(row["ordinals"])
            placed = (
                one if ordinal in wanted else ir.Placed(one.start, one.end, one.parent, BLANK)
                for ordinal, one in enumerate(script.statements)
            )
            cut = msgspec.structs.replace(script, statements=tuple(placed))
            values = (row["bundle"], -1, row["path"], row["dialect"], None, msgspec.msgpack.encode(cut), row["bounds"])
            for name, value in zip(PIECES.names, values, strict=True):
                made[name].append(value)
        yield batch(PIECES, made)


def _resolve(group: pa.Table, imported: bytes) -> pa.Table:
    """Run in a task: fold the definitions of one bundle, in order of need."""
    rows = sorted(group.to_pylist(), key=lambda row: (row["rank"], row["name"]))
    objects = {row["name"]: msgspec.msgpack.decode(row["known"], type=Known) for row in rows if row["known"]}
    files = {row["name"]: row for row in rows if row["script"]}
    parsed = {path: msgspec.msgpack.decode(row["script"], type=ir.Script) for path, row in files.items()}
    given = msgspec.msgpack.decode(imported, type=dict[str, TableSchema])
    registry = SchemaRegistry(objects, _statement_at(files, parsed), given)
    registry.resolve([objects])
    lasting = {name: known for name, known in objects.items() if name in registry.schemas}
    position = {row["name"]: row["rank"] for row in rows if row["known"]}
    return pa.Table.from_batches(
        [
            _schema_batch({**registry.schemas, **registry.states}, objects, position),
            sparse(SCHEMAS, "column", row_array("columns", list(column_rows(registry.schemas, objects)))),
            sparse(SCHEMAS, "constraint", row_array("constraints", list(constraint_rows(lasting, parsed, given)))),
        ],
        schema=SCHEMAS,
    )


def _statement_at(
    files: Mapping[str, Mapping[str, Any]], parsed: Mapping[str, ir.Script]
) -> Callable[[str, int], tuple[ir.Statement, Bound, Traits]]:
    bounds = {path: msgspec.msgpack.decode(row["bounds"], type=tuple[Bound, ...]) for path, row in files.items()}

    def statement_at(path: str, ordinal: int) -> tuple[ir.Statement, Bound, Traits]:
        traits = traits_at(files[path]["dialect"])
        return parsed[path].statements[ordinal].statement, bounds[path][ordinal], traits

    return statement_at


def _schema_batch(
    schemas: Mapping[str, TableSchema], objects: Mapping[str, Known], position: Mapping[str, int]
) -> pa.RecordBatch:
    encoded = [msgspec.msgpack.encode(schema) for schema in schemas.values()]
    columns: dict[str, list[Any]] = {
        "object": list(schemas),
        "rank": [position[name] for name in schemas],
        "temporary": [objects[name].row.temporary for name in schemas],
        "schema": encoded,
        "digest": [hashlib.sha256(content).hexdigest() for content in encoded],
        "column": [None] * len(schemas),
        "constraint": [None] * len(schemas),
    }
    return batch(SCHEMAS, columns)
