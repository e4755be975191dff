"""Schemas: ordered but cheap, one task for each bundle of objects that need each other."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
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

SCHEMAS_A_BATCH = 1_000
SCRIPTS = 1_000
"""What a task has at hand at once, of schemas that it gives and of scripts that it reads."""

BLANK = ir.Statement("", "")


def resolve_schemas(work: Work) -> None:
    """Work out the schemas of all objects, once for the same files."""
    if work.sound(work.place(FOLDER)):
        return
    imported = msgspec.msgpack.encode(dict(work.imported))

    def resolve(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _resolve(batches, imported)

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


def _resolve(batches: Batches, imported: bytes) -> Batches:
    """Run in a task: fold the definitions of one bundle, in order of need, and give them piece by piece."""
    rows = sorted((row for one in batches for row in one.to_pylist()), key=lambda row: (row["rank"], row["name"]))
    objects = {row["name"]: msgspec.msgpack.decode(row["known"], type=Known) for row in rows if row["known"]}
    position = {row["name"]: row["rank"] for row in rows if row["known"]}
    scripts = Scripts({row["name"]: row for row in rows if row["script"]})
    given = msgspec.msgpack.decode(imported, type=dict[str, TableSchema])
    registry = SchemaRegistry(objects, scripts.statement_at, given, forgets=True)
    registry.resolve([objects])
    every = {**registry.schemas, **registry.states}
    for names in _pieces(every):
        yield _schema_batch({name: every[name] for name in names}, objects, position)
    for names in _pieces(registry.schemas):
        columns = column_rows({name: registry.schemas[name] for name in names}, objects)
        yield sparse(SCHEMAS, "column", row_array("columns", list(columns)))
        constraints = constraint_rows({name: objects[name] for name in names}, scripts, given)
        yield sparse(SCHEMAS, "constraint", row_array("constraints", list(constraints)))


def _pieces(names: Iterable[str]) -> Iterator[list[str]]:
    listed = list(names)
    for first in range(0, len(listed), SCHEMAS_A_BATCH):
        yield listed[first : first + SCHEMAS_A_BATCH]


class Scripts(Mapping[str, ir.Script]):
    """The scripts of a bundle, packed but for those that were looked at last."""

    def __init__(self, files: Mapping[str, Mapping[str, Any]]) -> None:
        """Take the rows of files by their paths."""
        self._files = files
        self._opened = lru_cache(maxsize=SCRIPTS)(self._open)

    def __getitem__(self, path: str) -> ir.Script:
        """Give the script of a file."""
        return self._opened(path)[0]

    def __iter__(self) -> Iterator[str]:
        """Give the paths."""
        return iter(self._files)

    def __len__(self) -> int:
        """Count the files."""
        return len(self._files)

    def statement_at(self, path: str, ordinal: int) -> tuple[ir.Statement, Bound, Traits]:
        """Give a statement, and what its names stand for."""
        script, bounds = self._opened(path)
        return script.statements[ordinal].statement, bounds[ordinal], traits_at(self._files[path]["dialect"])

    def _open(self, path: str) -> tuple[ir.Script, tuple[Bound, ...]]:
        row = self._files[path]
        script = msgspec.msgpack.decode(row["script"], type=ir.Script)
        return script, msgspec.msgpack.decode(row["bounds"], type=tuple[Bound, ...])


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
    }
    return batch(SCHEMAS, columns)
