"""The OpenLineage facets that we write, each with the version of its schema; one function a facet, plain values out."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from lineage_pipeline.dialects.typing.shapes import Shape, shape_of
from lineage_pipeline.vocabulary.sets import ObjectKind
from lineage_pipeline.vocabulary.tables import Column, ColumnEdge, ObjectRow, Snapshot, StatementRow

SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
INTEGRATION = "LINEAGE_PIPELINE"

FACET_SCHEMAS = {
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "datasetType": "1-0-1/DatasetTypeDatasetFacet",
    "documentation": "1-1-0/DocumentationDatasetFacet",
    "extractionError": "1-1-2/ExtractionErrorRunFacet",
    "hierarchy": "1-0-0/HierarchyDatasetFacet",
    "job ownership": "1-0-1/OwnershipJobFacet",
    "jobType": "2-0-4/JobTypeJobFacet",
    "lifecycleStateChange": "1-0-1/LifecycleStateChangeDatasetFacet",
    "ownership": "1-0-1/OwnershipDatasetFacet",
    "processing_engine": "1-1-1/ProcessingEngineRunFacet",
    "schema": "1-2-0/SchemaDatasetFacet",
    "sourceCodeLocation": "1-1-0/SourceCodeLocationJobFacet",
    "sql": "1-1-0/SQLJobFacet",
    "symlinks": "1-0-1/SymlinksDatasetFacet",
    "tags": "1-0-0/TagsDatasetFacet",
    "version": "1-0-1/DatasetVersionDatasetFacet",
}
"""The schema of each facet; one of a job that datasets have as well is said to be its own."""

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


def facet(key: str, producer: str, /, **values: Any) -> Json:
    """Give one facet under its name, with the schema that it follows."""
    file, _, shape = FACET_SCHEMAS[key].partition("/")
    address = f"https://openlineage.io/spec/facets/{file}/{shape}.json#/$defs/{shape}"
    return {key.split()[-1]: {"_producer": producer, "_schemaURL": address, **values}}


def schema_facet(columns: Sequence[Column], producer: str) -> Json:
    """Describe the columns of a dataset; nothing where none is known."""
    fields = [_field(column.name, column.type, column.ordinal, column.description) for column in columns]
    return facet("schema", producer, fields=fields) if fields else {}


def _field(name: str, kind: str | None, ordinal: int, description: str | None = None) -> Json:
    """Describe a field, and the fields inside where it is a struct, an array or a map of something that has some."""
    described = (
        {"name": name} | ({"type": kind} if kind else {}) | ({"description": description} if description else {})
    )
    inside = _members(shape_of(kind)) if kind else []
    nested = [_field(member, type_, place) for place, (member, type_) in enumerate(inside, 1)]
    return described | {"ordinal_position": ordinal} | ({"fields": nested} if nested else {})


def _members(shape: Shape) -> list[tuple[str, str]]:
    """Name what a type is made of, as the other producers do: the element of an array, the key and value of a map."""
    kinds = [kind for _, kind in shape.members]
    match shape.name:
        case "ARRAY" | "LIST":
            return [("_element", kind) for kind in kinds if shape_of(kind).members]
        case "MAP":
            return list(zip(("key", "value"), kinds, strict=False))
        case _:
            return [(name, kind) for name, kind in shape.members if name]


def version_facet(columns: Sequence[Column], bodies: Sequence[str], producer: str) -> Json:
    """Name the version of a dataset after its columns and what fills it, so that it changes only with those."""
    if not columns and not bodies:
        return {}
    shown = [(column.name, column.type, column.nullable) for column in columns]
    content = msgspec.json.encode([shown, sorted(bodies)])
    return facet("version", producer, datasetVersion=hashlib.sha256(content).hexdigest()[:16])


def symlinks_facet(row: ObjectRow, name: Name, producer: str) -> Json:
    """Give the name as it is written where the system folds it to another case."""
    namespace, folded = name
    if row.written == row.name or row.written.casefold() != row.name.casefold():
        return {}
    written = folded.removesuffix(row.name) + row.written
    identifier = {"namespace": namespace, "name": written, "type": "TABLE"}
    return facet("symlinks", producer, identifiers=[identifier])


def tags_facet(row: ObjectRow, columns: Sequence[Column], producer: str) -> Json:
    """Give the tags of an object and those of its columns."""
    tags = [{"key": tag, "value": "true"} for tag in row.tags]
    tags += [{"key": tag, "value": "true", "field": column.name} for column in columns for tag in column.tags]
    return facet("tags", producer, tags=tags) if tags else {}


def hierarchy_facet(row: ObjectRow, producer: str) -> Json:
    """Say in which database and schema an object lies."""
    parts = (("DATABASE", row.catalog), ("SCHEMA", row.schema), ("TABLE", row.name))
    return facet("hierarchy", producer, hierarchy=[{"type": kind, "name": name} for kind, name in parts if name])


def documentation_facet(row: ObjectRow, producer: str) -> Json:
    """Give the description of an object, where it has one."""
    return facet("documentation", producer, description=row.description) if row.description else {}


def ownership_facet(owners: Sequence[str], producer: str, key: str = "ownership") -> Json:
    """Name the owners of a dataset, or those of a job."""
    return facet(key, producer, owners=[{"name": owner} for owner in owners]) if owners else {}


def lifecycle_facet(state: str, previous: Name | None, producer: str) -> Json:
    """Say what became of a dataset, and what it was called before."""
    named = {"previousIdentifier": {"namespace": previous[0], "name": previous[1]}} if previous else {}
    return facet("lifecycleStateChange", producer, lifecycleStateChange=state, **named)


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


def location_facet(statement: StatementRow, snapshot: Snapshot | None, source_url: str, producer: str) -> Json:
    """Say where a statement stands: path, lines and commit; `source_url` is how the repository's host shows files."""
    span = statement.span
    lines = "" if span is None else f"#L{span.line}-L{span.end_line}"
    in_git = snapshot is not None and snapshot.committed_at is not None
    version = {"version": snapshot.commit} if snapshot is not None and in_git else {}
    place = f"file:{quote(statement.path)}"
    if source_url and version:
        place = source_url.replace("{commit}", version["version"]).replace("{path}", quote(statement.path))
    return facet(
        "sourceCodeLocation",
        producer,
        type="git" if in_git else "file",
        url=place + lines,
        path=statement.path,
        **version,
    )


def job_type_facet(producer: str) -> Json:
    """Say that a job is a query that was read, not run."""
    return facet("jobType", producer, processingType="BATCH", integration=INTEGRATION, jobType="QUERY")


def engine_facet(version: str, producer: str) -> Json:
    """Say who worked the lineage out."""
    return facet("processing_engine", producer, name=INTEGRATION.lower(), version=version)


def error_facet(statement: StatementRow, query: str, messages: Sequence[str], producer: str) -> Json:
    """Say that a statement could not be read in full, and why."""
    errors = [{"errorMessage": message, "task": query, "taskNumber": statement.ordinal} for message in messages]
    return facet("extractionError", producer, totalTasks=1, failedTasks=1, errors=errors)
