"""The OpenLineage facets that we write, each with its schema version; one function a facet, plain values out."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from lineage_pipeline.dialects.types.shapes import TypeShape, parse_type_shape
from lineage_pipeline.model.enums import ObjectKind
from lineage_pipeline.model.tables import Column, ColumnEdge, ObjectRow, Snapshot, StatementRow

OPENLINEAGE_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
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
    "parent": "1-2-0/ParentRunFacet",
    "processing_engine": "1-1-1/ProcessingEngineRunFacet",
    "schema": "1-2-0/SchemaDatasetFacet",
    "sourceCodeLocation": "1-1-0/SourceCodeLocationJobFacet",
    "sql": "1-1-0/SQLJobFacet",
    "symlinks": "1-0-1/SymlinksDatasetFacet",
    "tags": "1-0-0/TagsDatasetFacet",
    "version": "1-0-1/DatasetVersionDatasetFacet",
}
"""The schema of each facet; `job ownership` is the job facet of a name that datasets use too."""

DATASET_TYPES: dict[ObjectKind, dict[str, str]] = {
    ObjectKind.TABLE: {"datasetType": "TABLE"},
    ObjectKind.VIEW: {"datasetType": "VIEW"},
    ObjectKind.MATERIALIZED_VIEW: {"datasetType": "VIEW", "subType": "MATERIALIZED"},
    ObjectKind.TEMP_TABLE: {"datasetType": "TABLE", "subType": "TEMPORARY"},
    ObjectKind.EXTERNAL: {"datasetType": "TABLE", "subType": "EXTERNAL"},
}

Json = dict[str, Any]
DatasetName = tuple[str, str]
"""Namespace and name of a dataset."""


def build_facet(key: str, producer: str, /, **values: Any) -> Json:
    """Return one facet under its name, with the schema that it follows."""
    file, _, shape = FACET_SCHEMAS[key].partition("/")
    address = f"https://openlineage.io/spec/facets/{file}/{shape}.json#/$defs/{shape}"
    return {key.split()[-1]: {"_producer": producer, "_schemaURL": address, **values}}


def build_schema_facet(columns: Sequence[Column], producer: str) -> Json:
    """Return the columns of a dataset; empty where none is known."""
    fields = [
        _schema_field(column.written or column.name, column.type, column.ordinal, column.description)
        for column in columns
    ]
    return build_facet("schema", producer, fields=fields) if fields else {}


def _schema_field(name: str, kind: str | None, ordinal: int, description: str | None = None) -> Json:
    """Return a field, with nested fields where it is a struct, or an array or map of structs."""
    described = (
        {"name": name} | ({"type": kind} if kind else {}) | ({"description": description} if description else {})
    )
    inside = _type_members(parse_type_shape(kind)) if kind else []
    nested = [_schema_field(member, type_, place) for place, (member, type_) in enumerate(inside, 1)]
    return described | {"ordinal_position": ordinal} | ({"fields": nested} if nested else {})


def _type_members(shape: TypeShape) -> list[tuple[str, str]]:
    """Name the members of a type as other producers do: the element of an array, the key and value of a map."""
    kinds = [kind for _, kind in shape.members]
    match shape.name:
        case "ARRAY" | "LIST":
            return [("_element", kind) for kind in kinds if parse_type_shape(kind).members]
        case "MAP":
            return list(zip(("key", "value"), kinds, strict=False))
        case _:
            return [(name, kind) for name, kind in shape.members if name]


def build_version_facet(columns: Sequence[Column], bodies: Sequence[str], producer: str) -> Json:
    """Return the version of a dataset: a hash of its columns and of the statements that fill it."""
    if not columns and not bodies:
        return {}
    shown = [(column.name, column.type, column.nullable) for column in columns]
    content = msgspec.json.encode([shown, sorted(bodies)])
    return build_facet("version", producer, datasetVersion=hashlib.sha256(content).hexdigest()[:16])


def build_symlinks_facet(row: ObjectRow, name: DatasetName, producer: str) -> Json:
    """Return the name as written where the system folds its case."""
    namespace, folded = name
    if row.written == row.name or row.written.casefold() != row.name.casefold():
        return {}
    written = folded.removesuffix(row.name) + row.written
    identifier = {"namespace": namespace, "name": written, "type": "TABLE"}
    return build_facet("symlinks", producer, identifiers=[identifier])


def build_tags_facet(row: ObjectRow, columns: Sequence[Column], producer: str) -> Json:
    """Return the tags of an object and of its columns."""
    tags = [{"key": tag, "value": "true"} for tag in row.tags]
    tags += [
        {"key": tag, "value": "true", "field": column.written or column.name}
        for column in columns
        for tag in column.tags
    ]
    return build_facet("tags", producer, tags=tags) if tags else {}


def build_hierarchy_facet(row: ObjectRow, producer: str) -> Json:
    """Return the database and schema of an object."""
    parts = (("DATABASE", row.catalog), ("SCHEMA", row.schema), ("TABLE", row.name))
    return build_facet("hierarchy", producer, hierarchy=[{"type": kind, "name": name} for kind, name in parts if name])


def build_documentation_facet(row: ObjectRow, producer: str) -> Json:
    """Return the description of an object, if any."""
    return build_facet("documentation", producer, description=row.description) if row.description else {}


def build_ownership_facet(owners: Sequence[str], producer: str, key: str = "ownership") -> Json:
    """Return the owners of a dataset or of a job."""
    return build_facet(key, producer, owners=[{"name": owner} for owner in owners]) if owners else {}


def build_lifecycle_facet(state: str, previous: DatasetName | None, producer: str) -> Json:
    """Return the lifecycle state of a dataset, and its previous name."""
    named = {"previousIdentifier": {"namespace": previous[0], "name": previous[1]}} if previous else {}
    return build_facet("lifecycleStateChange", producer, lifecycleStateChange=state, **named)


def build_dataset_type_facet(row: ObjectRow, producer: str) -> Json:
    """Return the type of a dataset, where it is known."""
    return build_facet("datasetType", producer, **DATASET_TYPES[row.kind]) if row.kind in DATASET_TYPES else {}


def build_column_lineage_facet(
    edges: Iterable[tuple[DatasetName, ColumnEdge]], order: Sequence[str], producer: str
) -> Json:
    """Return the input fields of each output field, and those that affect the dataset as a whole."""
    fields: dict[str, list[tuple[DatasetName, ColumnEdge]]] = {name: [] for name in order}
    for source, edge in edges:
        fields.setdefault(edge.to_column, []).append((source, edge))
    whole = build_input_fields(fields.pop("*", []))
    listed = {name: {"inputFields": build_input_fields(found)} for name, found in fields.items() if found}
    if not listed and not whole:
        return {}
    return build_facet("columnLineage", producer, fields=listed, **({"dataset": whole} if whole else {}))


def build_input_fields(edges: Iterable[tuple[DatasetName, ColumnEdge]]) -> list[Json]:
    """Return each input field once, with all its transformations."""
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


def build_sql_facet(query: str, dialect: str, producer: str) -> Json:
    """Return the text of a statement."""
    return build_facet("sql", producer, query=query, **({"dialect": dialect} if dialect else {}))


def build_location_facet(statement: StatementRow, snapshot: Snapshot | None, source_url: str, producer: str) -> Json:
    """Return path, lines and commit of a statement; `source_url` is the pattern of file addresses at the host."""
    span = statement.span
    lines = "" if span is None else f"#L{span.line}-L{span.end_line}"
    in_git = snapshot is not None and snapshot.committed_at is not None
    version = {"version": snapshot.commit} if snapshot is not None and in_git else {}
    place = f"file:{quote(statement.path)}"
    if source_url and version:
        place = source_url.replace("{commit}", version["version"]).replace("{path}", quote(statement.path))
    return build_facet(
        "sourceCodeLocation",
        producer,
        type="git" if in_git else "file",
        url=place + lines,
        path=statement.path,
        **version,
    )


def build_job_type_facet(kind: str, producer: str) -> Json:
    """Return the job type: a batch query, or a module that runs some."""
    return build_facet("jobType", producer, processingType="BATCH", integration=INTEGRATION, jobType=kind)


def build_parent_facet(run_id: str, job: Json, producer: str) -> Json:
    """Return the run of the module that a statement is run by."""
    return build_facet("parent", producer, run={"runId": run_id}, job=job)


def build_engine_facet(version: str, producer: str) -> Json:
    """Return the name and version of the engine that derived the lineage."""
    return build_facet("processing_engine", producer, name=INTEGRATION.lower(), version=version)


def build_error_facet(statement: StatementRow, query: str, messages: Sequence[str], producer: str) -> Json:
    """Return the errors of a statement that was not fully analyzed."""
    errors = [{"errorMessage": message, "task": query, "taskNumber": statement.ordinal} for message in messages]
    return build_facet("extractionError", producer, totalTasks=1, failedTasks=1, errors=errors)
