"""OpenLineage: one JobEvent for each statement that writes, as newline-delimited JSON."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from lineage_pipeline.export.facets import (
    SPEC,
    Json,
    Name,
    column_lineage_facet,
    dataset_type_facet,
    job_type_facet,
    location_facet,
    schema_facet,
    sql_facet,
)
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.vocabulary.sets import ObjectKind, Role
from lineage_pipeline.vocabulary.tables import Column, ColumnEdge, ObjectRow, StatementRow

NO_DATASETS = frozenset({ObjectKind.QUERY, ObjectKind.PROCEDURE, ObjectKind.FUNCTION, ObjectKind.TRIGGER})
"""Kinds of objects that hold no data of their own."""

Place = tuple[str, int]


def write_events(subject: Subject) -> Iterator[str]:
    """Give the events as lines."""
    for event in job_events(subject):
        yield msgspec.json.encode(event).decode() + "\n"


def job_events(subject: Subject) -> Iterator[Json]:
    """Give the events as plain values, in the order of the statements."""
    index = _Index(subject)
    for statement in subject.lineage.statements:
        outputs = index.outputs(statement)
        if outputs:
            yield _job_event(index, statement, outputs)


def _job_event(index: "_Index", statement: StatementRow, outputs: Sequence[ObjectRow]) -> Json:
    subject, naming = index.subject, index.subject.naming
    committed_at = subject.snapshot.committed_at if subject.snapshot else None
    facets = (
        sql_facet(index.query(statement), index.dialects.get(statement.path, ""), naming.producer)
        | location_facet(statement, subject.snapshot, naming.producer)
        | job_type_facet(naming.producer)
    )
    repo = subject.snapshot.repo if subject.snapshot else ""
    job = {"namespace": naming.job_namespace or repo or "default", "name": index.job_names[_place(statement)]}
    return {
        "eventTime": committed_at or naming.event_time,
        "producer": naming.producer,
        "schemaURL": f"{SPEC}#/$defs/JobEvent",
        "job": job | {"facets": facets},
        "inputs": [_dataset(index, row, {}) for row in index.inputs(statement)],
        "outputs": [_dataset(index, row, index.column_lineage(statement, row)) for row in outputs],
    }


def _dataset(index: "_Index", row: ObjectRow, more: Json) -> Json:
    namespace, name = index.name(row)
    producer = index.subject.naming.producer
    facets = schema_facet(index.columns[row.object], producer) | dataset_type_facet(row, producer) | more
    return {"namespace": namespace, "name": name, "facets": facets}


class _Index:
    """The tables of a subject by what the events ask for."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.objects: Mapping[str, ObjectRow] = {row.object: row for row in subject.lineage.objects}
        self.dialects = {file.path: file.dialect for file in subject.files}

    @cached_property
    def columns(self) -> Mapping[str, list[Column]]:
        """Give the columns of each object."""
        found: dict[str, list[Column]] = defaultdict(list)
        for column in self.subject.lineage.columns:
            found[column.object].append(column)
        return found

    @cached_property
    def edges(self) -> Mapping[Place, list[ColumnEdge]]:
        """Give the column edges of each statement."""
        found: dict[Place, list[ColumnEdge]] = defaultdict(list)
        for edge in self.subject.lineage.column_edges:
            found[edge.path, edge.statement].append(edge)
        return found

    @cached_property
    def roles(self) -> Mapping[Place, dict[str, set[Role]]]:
        """Give the objects of each statement and its part in them."""
        found: dict[Place, dict[str, set[Role]]] = defaultdict(lambda: defaultdict(set))
        for row in self.subject.lineage.object_statements:
            found[row.path, row.ordinal][row.object].add(row.role)
        return found

    @cached_property
    def job_names(self) -> Mapping[Place, str]:
        """Name a job after what it writes; where several write the same, add the file, and a number within it."""
        writers: dict[str, list[Place]] = defaultdict(list)
        for statement in self.subject.lineage.statements:
            outputs = self.outputs(statement)
            if outputs:
                writers[_joined(outputs[0])].append(_place(statement))
        names: dict[Place, str] = {}
        for name, places in writers.items():
            in_file = Counter(path for path, _ in places)
            seen: Counter[str] = Counter()
            for path, ordinal in places:
                seen[path] += 1
                suffix = "" if len(places) == 1 else f"@{path}" + (f"#{seen[path]}" if in_file[path] > 1 else "")
                names[path, ordinal] = name + suffix
        return names

    def outputs(self, statement: StatementRow) -> list[ObjectRow]:
        """Give the lasting datasets that a statement fills; a bare column list fills nothing."""
        found = []
        for target, roles in sorted(self.roles[_place(statement)].items()):
            row = self.objects.get(target)
            if row is None or row.temporary or row.kind in NO_DATASETS:
                continue
            defines = Role.DEFINE in roles and (statement.reads or row.kind is not ObjectKind.TABLE)
            if Role.WRITE in roles or defines:
                found.append(row)
        return found

    def inputs(self, statement: StatementRow) -> list[ObjectRow]:
        """Give the lasting datasets that a statement reads, also through temporary ones."""
        names = {edge.from_object for edge in self.edges[_place(statement)]} | set(statement.reads)
        rows = (self.objects[name] for name in names if name in self.objects)
        lasting = (row for row in rows if not row.temporary and row.kind not in NO_DATASETS)
        return sorted(lasting, key=lambda row: (self.name(row), row.object))

    def column_lineage(self, statement: StatementRow, output: ObjectRow) -> Json:
        """Give the column lineage of one output."""
        known = [
            (self.name(self.objects[edge.from_object]), edge)
            for edge in self.edges[_place(statement)]
            if edge.to_object == output.object and edge.from_object in self.objects and edge.from_column != "*"
        ]
        order = [column.name for column in self.columns[output.object]]
        return column_lineage_facet(known, order, self.subject.naming.producer)

    def name(self, row: ObjectRow) -> Name:
        """Give namespace and name of an object's dataset."""
        return self.subject.naming.namespaces.get(row.system, row.system or "default"), _joined(row)

    def query(self, statement: StatementRow) -> str:
        """Give a statement's text, or its beginning where the source is not at hand."""
        text, span = self.subject.texts.get(statement.path), statement.span
        return statement.preview if text is None or span is None else text[span.start : span.end]


def _place(statement: StatementRow) -> Place:
    return statement.path, statement.ordinal


def _joined(row: ObjectRow) -> str:
    return ".".join(part for part in (row.catalog, row.schema, row.name) if part)
