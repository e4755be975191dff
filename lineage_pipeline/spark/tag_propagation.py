"""Propagates tags along value edges; the driver gets names and edges, and only where there are tags."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from lineage_pipeline.engine.trace.tags import (
    TagNode,
    connect_hops,
    is_tag_carrier,
    list_tag_steps,
    list_temporary_objects,
    propagate_tags,
    with_column_tags,
)
from lineage_pipeline.model.enums import EdgeType
from lineage_pipeline.model.tables import Column
from lineage_pipeline.spark.column_linking import get_inferred_columns, read_linked_rows
from lineage_pipeline.spark.object_plan import get_plan
from lineage_pipeline.spark.workspace import Workspace

TAG_EDGE_COLUMNS = ("from_object", "from_column", "to_object", "to_column", "hops")
TAGS_SCHEMA = pa.schema([("object", pa.string()), ("name", pa.string()), ("travelled", pa.list_(pa.string()))])


def tag_columns(work: Workspace, rows: DataFrame, further: Sequence[Column]) -> tuple[DataFrame, list[Column]]:
    """Return the columns with the tags that reach them."""
    own: dict[TagNode, tuple[str, ...]] = {(row.object, row.name): row.tags for row in further}
    for row in rows.where(f.size("tags") > 0).select("object", "name", "tags").toArrow().to_pylist():
        own[row["object"], row["name"]] = tuple(row["tags"])
    tags = propagate_tags(own, _value_edges(work))
    table = [{"object": name, "name": column, "travelled": found} for (name, column), found in sorted(tags.items())]
    work.put_table("tags", pa.Table.from_pylist(table, schema=TAGS_SCHEMA))
    joined = rows.join(work.read_frame([work.result_path("tags.parquet")], TAGS_SCHEMA), ["object", "name"], "left")
    changed = joined.withColumn("tags", f.coalesce("travelled", "tags")).select(*rows.columns)
    return changed, [with_column_tags(row, tags) for row in further]


def _value_edges(work: Workspace) -> list[tuple[TagNode, TagNode]]:
    edges = read_linked_rows(work).where(f.col("edge").isNotNull()).select("edge.*")
    direct = (
        edges.where((f.col("type") == EdgeType.DIRECT.value) & ~f.col("masking")).select(*TAG_EDGE_COLUMNS).distinct()
    )
    temporary = list_temporary_objects(get_plan(work).plan)
    found = [
        step
        for row in direct.toArrow().to_pylist()
        for step in connect_hops(_edge_ends(row), _edge_hops(row), temporary)
    ]
    inferred = [edge for edge in get_inferred_columns(work).edges if is_tag_carrier(edge)]
    return [*found, *(step for edge in inferred for step in list_tag_steps(edge, temporary))]


def _edge_ends(row: dict[str, str]) -> tuple[TagNode, TagNode]:
    return (row["from_object"], row["from_column"]), (row["to_object"], row["to_column"])


def _edge_hops(row: dict[str, list[dict[str, str]]]) -> list[TagNode]:
    return [(hop["object"], hop["column"]) for hop in row["hops"] or ()]
