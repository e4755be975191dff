"""Tags travel with values: only where somebody gives some, and then names and edges alone come to the driver."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lineage_pipeline.engine.trace.tags import Node, carries, retagged, spread, steps, temporary_objects, way
from lineage_pipeline.spark.edges import infer_columns, linked_rows
from lineage_pipeline.spark.plan import planned
from lineage_pipeline.spark.work import Work
from lineage_pipeline.vocabulary.sets import EdgeType
from lineage_pipeline.vocabulary.tables import Column

ENDS = ("from_object", "from_column", "to_object", "to_column", "hops")
TAGS = pa.schema([("object", pa.string()), ("name", pa.string()), ("travelled", pa.list_(pa.string()))])


def tagged(work: Work, rows: DataFrame, further: Sequence[Column]) -> tuple[DataFrame, list[Column]]:
    """Give the columns with the tags that travel to them."""
    own: dict[Node, tuple[str, ...]] = {(row.object, row.name): row.tags for row in further}
    for row in rows.where(f.size("tags") > 0).select("object", "name", "tags").toArrow().to_pylist():
        own[row["object"], row["name"]] = tuple(row["tags"])
    tags = spread(own, _edges(work))
    table = [{"object": name, "name": column, "travelled": found} for (name, column), found in sorted(tags.items())]
    work.put("tags", pa.Table.from_pylist(table, schema=TAGS))
    joined = rows.join(work.read([work.place("tags.parquet")], TAGS), ["object", "name"], "left")
    changed = joined.withColumn("tags", f.coalesce("travelled", "tags")).select(*rows.columns)
    return changed, [retagged(row, tags) for row in further]


def _edges(work: Work) -> list[tuple[Node, Node]]:
    edges = linked_rows(work).where(f.col("edge").isNotNull()).select("edge.*")
    direct = edges.where((f.col("type") == EdgeType.DIRECT.value) & ~f.col("masking")).select(*ENDS).distinct()
    temporary = temporary_objects(planned(work).plan)
    found = [step for row in direct.toArrow().to_pylist() for step in way(_ends(row), _hops(row), temporary)]
    inferred = [edge for edge in infer_columns(work).edges if carries(edge)]
    return [*found, *(step for edge in inferred for step in steps(edge, temporary))]


def _ends(row: dict[str, str]) -> tuple[Node, Node]:
    return (row["from_object"], row["from_column"]), (row["to_object"], row["to_column"])


def _hops(row: dict[str, list[dict[str, str]]]) -> list[Node]:
    return [(hop["object"], hop["column"]) for hop in row["hops"] or ()]
