"""Statements: every statement at its place, once names are resolved."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pyarrow as pa

from lineage_pipeline.engine.graph.statements import statement_rows
from lineage_pipeline.spark.compile import scripts
from lineage_pipeline.spark.frames import Batches, spark_schema
from lineage_pipeline.spark.plan import BOUNDS, planned
from lineage_pipeline.spark.work import Work
from lineage_pipeline.store.arrays import to_arrow
from lineage_pipeline.store.schemas import arrow_schema
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.plan import Bound, ScriptFace
from lineage_pipeline.vocabulary.tables import StatementRow


def write_statements(work: Work) -> None:
    """Write the statements of all files, and what parsing found in them."""
    findings = planned(work).findings
    bounds = work.read([work.place("bounds.parquet")], BOUNDS).select("path", "bounds")
    files = scripts(work, "script", "face", "rendered").join(bounds, "path")
    (snapshot,) = work.run.key

    def rows(batches: Batches) -> Batches:
        return _statements(batches, snapshot)

    work.adopt("statements", files.mapInArrow(rows, spark_schema(arrow_schema("statements"))))
    work.run.write("diagnostics", findings, part="parsing")


def _statements(batches: Batches, snapshot: str) -> Batches:
    """Run in a task: scripts become rows, many files at a time."""
    for batch in batches:
        rows = [statement for row in batch.to_pylist() for statement in _rows(row)]
        made: pa.Table = to_arrow("statements", [snapshot], rows)
        yield from made.to_batches()


def _rows(row: Mapping[str, Any]) -> Iterator[StatementRow]:
    face = msgspec.msgpack.decode(row["face"], type=ScriptFace)
    script = msgspec.msgpack.decode(row["script"], type=ir.Script)
    bound = msgspec.msgpack.decode(row["bounds"], type=tuple[Bound, ...])
    yield from statement_rows(face.text(row["path"], row["rendered"]), script, bound)
