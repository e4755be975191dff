"""The OpenLineage facets that we write, each with the version of its schema; one function a facet, plain values out."""

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from lineage_pipeline.vocabulary.sets import ObjectKind
from lineage_pipeline.vocabulary.tables import Column, ColumnEdge, ObjectRow, Snapshot, StatementRow

SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
INTEGRATION = "LINEAGE_PIPELINE"

FACET_SCHEMAS = {
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "datasetType": "1-0-1/DatasetTypeDatasetFacet",
    "jobType": "2-0-4/JobTypeJobFacet",
    "schema": "1-2-0/SchemaDatasetFacet",
    "sourceCodeLocation": "1-1-0/SourceCodeLocationJobFacet",
    "sql": "1-1-0/SQLJobFacet",
}

DATASET_TYPES: dict[ObjectKind, dict[str, str]] = {
    ObjectKind.TABLE: {"datasetType": "TABLE"},
    ObjectKind.VIEW: {"datasetType": "VIEW"},
    ObjectKind.MATERIALIZED_VIEW: {"datasetType": "VIEW", "subType": "MATERIALIZED"},
    ObjectKind.TEMP_TABLE: {"datasetType": "TABLE", "subType": "TEMPORARY"},
    ObjectKind.EXTERNAL: {"datasetType": "TABLE", "subType": "EXTERNAL"},
}

Json = dict[str, Any]
Name = tuple[str, str]
"""Namespace and name of a dataset."""


def facet(name: str, producer: str, **values: Any) -> Json:
    """Give one facet under its name, with the schema that it follows."""
    file, _, shape = FACET_SCHEMAS[name].partition("/")
    address = f"https://openlineage.io/spec/facets/{file}/{shape}.json#/$defs/{shape}"
    return {name: {"_producer": producer, "_schemaURL": address, **values}}


def schema_facet(columns: Sequence[Column], producer: str) -> Json:
    """Describe the columns of a dataset; nothing where none is known."""
    fields = [
        {"name": column.name}
        | ({"type": column.type} if column.type else {})
        | ({"description": column.description} if column.description else {})
        | {"ordinal_position": column.ordinal}
        for column in columns
    ]
    return facet("schema", producer, fields=fields) if fields else {}


def dataset_type_facet(row: ObjectRow, producer: str) -> Json:
    """Say what kind of dataset an object is, where that is known."""
    return facet("datasetType", producer, **DATASET_TYPES[row.kind]) if row.kind in DATASET_TYPES else {}


def column_lineage_facet(edges: Iterable[tuple[Name, ColumnEdge]], order: Sequence[str], producer: str) -> Json:
    """Say which input fields feed each output field, and which ones decide about the dataset as a whole."""
    fields: dict[str, list[tuple[Name, ColumnEdge]]] = {name: [] for name in order}
    for source, edge in edges:
        fields.setdefault(edge.to_column, []).append((source, edge))
    whole = input_fields(fields.pop("*", []))
    listed = {name: {"inputFields": input_fields(found)} for name, found in fields.items() if found}
    if not listed and not whole:
        return {}
    return facet("columnLineage", producer, fields=listed, **({"dataset": whole} if whole else {}))


def input_fields(edges: Iterable[tuple[Name, ColumnEdge]]) -> list[Json]:
    """Give each input field once, with every way in which it is used."""
    uses: dict[tuple[str, str, str], dict[tuple[str, str, str, bool], Json]] = {}
    for (namespace, name), edge in edges:
        field = edge.from_column if edge.from_path is None else f"{edge.from_column}.{edge.from_path}"
        use = (edge.type.value, edge.subtype.value, edge.expression, edge.masking)
        keys = ("type", "subtype", "description", "masking")
        uses.setdefault((namespace, name, field), {})[use] = dict(zip(keys, use, strict=True))
    return [
        {"namespace": namespace, "name": name, "field": field, "transformations": [found[use] for use in sorted(found)]}
        for (namespace, name, field), found in sorted(uses.items())
    ]


def sql_facet(query: str, dialect: str, producer: str) -> Json:
    """Give the text of a statement."""
    return facet("sql", producer, query=query, **({"dialect": dialect} if dialect else {}))


def location_facet(statement: StatementRow, snapshot: Snapshot | None, producer: str) -> Json:
    """Say where a statement stands: path, lines and commit."""
    span = statement.span
    lines = "" if span is None else f"#L{span.line}-L{span.end_line}"
    in_git = snapshot is not None and snapshot.committed_at is not None
    version = {"version": snapshot.commit} if snapshot is not None and in_git else {}
    return facet(
        "sourceCodeLocation",
        producer,
        type="git" if in_git else "file",
        url=f"file:{quote(statement.path)}{lines}",
        path=statement.path,
        **version,
    )


def job_type_facet(producer: str) -> Json:
    """Say that a job is a query that was read, not run."""
    return facet("jobType", producer, processingType="BATCH", integration=INTEGRATION, jobType="QUERY")
