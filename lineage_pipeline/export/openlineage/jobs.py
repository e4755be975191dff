"""The OpenLineage jobs of a snapshot: each statement that fills a dataset, with inputs, outputs and names."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from lineage_pipeline.export.openlineage.facets import DatasetName
from lineage_pipeline.export.subject import OpenLineageNaming, Subject
from lineage_pipeline.model.enums import EdgeType, ObjectKind, Role
from lineage_pipeline.model.tables import Column, ColumnEdge, ObjectRow, StatementRow

ROUTINE_KINDS = frozenset({ObjectKind.PROCEDURE, ObjectKind.FUNCTION})
"""Kinds of objects that are datasets where they return rows that are used."""

NON_DATASET_KINDS = frozenset({ObjectKind.QUERY, ObjectKind.TRIGGER}) | ROUTINE_KINDS
"""Kinds of objects that hold no data of their own."""

PARAMETER_PREFIX = "@"
"""Prefix of the parameters among the columns of a routine."""

StatementKey = tuple[str, int]


class JobIndex:
    """The tables of a subject, indexed for events."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.objects: Mapping[str, ObjectRow] = {row.object: row for row in subject.lineage.objects}
        self.files = {file.path: file for file in subject.files}

    @cached_property
    def columns(self) -> Mapping[str, list[Column]]:
        """Return the columns of each object; parameters of a routine are not among its result columns."""
        found: dict[str, list[Column]] = defaultdict(list)
        for column in self.subject.lineage.columns:
            if not (column.name.startswith(PARAMETER_PREFIX) and column.object in self._routines):
                found[column.object].append(column)
        return found

    @cached_property
    def edges(self) -> Mapping[StatementKey, list[ColumnEdge]]:
        """Return the column edges of each statement, without those from parameters of routines."""
        found: dict[StatementKey, list[ColumnEdge]] = defaultdict(list)
        for edge in self.subject.lineage.column_edges:
            if edge.from_object not in self._routines or (edge.from_object, edge.from_column) in self._result_columns:
                found[edge.path, edge.statement].append(edge)
        return found

    @cached_property
    def bodies(self) -> Mapping[str, list[str]]:
        """Return the fingerprints of everything that fills each object."""
        found: dict[str, list[str]] = defaultdict(list)
        for facet in self.subject.lineage.facets:
            found[facet.object].append(f"{facet.name} {facet.column} {facet.fingerprint}")
        return found

    @cached_property
    def _routines(self) -> frozenset[str]:
        return frozenset(row.object for row in self.objects.values() if row.kind in ROUTINE_KINDS)

    @cached_property
    def _result_columns(self) -> frozenset[tuple[str, str]]:
        return frozenset((name, column.name) for name in self._routines for column in self.columns.get(name, ()))

    @cached_property
    def _used_routines(self) -> frozenset[str]:
        """Return the routines whose columns feed something, or are fed."""
        ends = {name for edge in self.subject.lineage.column_edges for name in (edge.from_object, edge.to_object)}
        return frozenset(name for name in ends & self._routines if self.columns.get(name))

    @cached_property
    def roles(self) -> Mapping[StatementKey, dict[str, set[Role]]]:
        """Return the objects of each statement with their roles."""
        found: dict[StatementKey, dict[str, set[Role]]] = defaultdict(lambda: defaultdict(set))
        for row in self.subject.lineage.object_statements:
            found[row.path, row.ordinal][row.object].add(row.role)
        return found

    @cached_property
    def messages(self) -> Mapping[str, list[tuple[int, str]]]:
        """Return the findings of each file with their lines."""
        found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for row in self.subject.lineage.diagnostics:
            if row.path is not None and row.line is not None:
                found[row.path].append((row.line, f"{row.code}: {row.message}"))
        return found

    @cached_property
    def names(self) -> Mapping[StatementKey, str]:
        """Return the name of each job: its first output, with file and number where several jobs write it."""
        writers: dict[str, list[StatementKey]] = defaultdict(list)
        for statement in self.subject.lineage.statements:
            outputs = self.outputs(statement)
            if outputs:
                writers[join_object_name(outputs[0])].append(statement_key(statement))
        names: dict[StatementKey, str] = {}
        for name, places in writers.items():
            in_file = Counter(path for path, _ in places)
            seen: Counter[str] = Counter()
            for path, ordinal in places:
                seen[path] += 1
                suffix = "" if len(places) == 1 else f"@{path}" + (f"#{seen[path]}" if in_file[path] > 1 else "")
                names[path, ordinal] = name + suffix
        return names

    @property
    def namespace(self) -> str:
        """Return the namespace of all jobs."""
        repo = self.subject.snapshot.repo if self.subject.snapshot else ""
        return self.subject.naming.job_namespace or repo or "default"

    def outputs(self, statement: StatementRow) -> list[ObjectRow]:
        """Return the persistent datasets that a statement fills; a bare column list fills nothing."""
        found = []
        for target, roles in sorted(self.roles[statement_key(statement)].items()):
            row = self.objects.get(target)
            if row is None or not self._is_dataset(row):
                continue
            bare = row.kind is ObjectKind.TABLE or row.kind in ROUTINE_KINDS
            defines = Role.DEFINE in roles and (statement.reads or not bare)
            if Role.WRITE in roles or defines:
                found.append(row)
        return found

    def inputs(self, statement: StatementRow) -> list[ObjectRow]:
        """Return the datasets that a statement reads; for temporary ones their sources, where known."""
        sources = {edge.from_object for edge in self.edges[statement_key(statement)]}
        rows = [self.objects[name] for name in sources | set(statement.reads) if name in self.objects]
        kept = (row for row in rows if self._is_dataset(row) or (row.object in sources and row.temporary))
        return sorted(kept, key=lambda row: (self.dataset_name(row), row.object))

    def column_edges(self, statement: StatementRow, output: ObjectRow) -> list[tuple[DatasetName, ColumnEdge]]:
        """Return the column edges into one output, each with the dataset name of its source."""
        return [
            (self.dataset_name(self.objects[edge.from_object]), edge)
            for edge in self.edges[statement_key(statement)]
            if edge.to_object == output.object and edge.from_object in self.objects and edge.from_column != "*"
        ]

    def dataset_name(self, row: ObjectRow) -> DatasetName:
        """Return namespace and name of an object's dataset."""
        return name_dataset(row, self.subject.naming)

    def statement_text(self, statement: StatementRow) -> str:
        """Return the text of a statement, or its beginning where the source is not available."""
        text, span = self.subject.texts.get(statement.path), statement.span
        return statement.preview if text is None or span is None else text[span.start : span.end]

    def statement_messages(self, statement: StatementRow) -> list[str]:
        """Return the findings inside a statement."""
        span = statement.span
        if span is None:
            return []
        return [said for line, said in self.messages[statement.path] if span.line <= line <= span.end_line]

    def _is_dataset(self, row: ObjectRow) -> bool:
        if row.kind in ROUTINE_KINDS:
            return row.object in self._used_routines
        return not row.temporary and row.kind not in NON_DATASET_KINDS


def name_dataset(row: ObjectRow, naming: OpenLineageNaming) -> DatasetName:
    """Return namespace and name of an object's dataset."""
    return naming.namespaces.get(row.system, row.system or "default"), join_object_name(row)


def spread_to_columns(
    edges: Iterable[tuple[DatasetName, ColumnEdge]], columns: Sequence[str]
) -> list[tuple[DatasetName, ColumnEdge]]:
    """Replace edges into the whole dataset by edges into each column, for consumers that read only those."""
    found = []
    for name, edge in edges:
        whole = edge.to_column == "*" and edge.type is EdgeType.INDIRECT
        targets = columns if whole else (edge.to_column,)
        found += [(name, msgspec.structs.replace(edge, to_column=target)) for target in targets]
    return found


def statement_key(statement: StatementRow) -> StatementKey:
    """Return the path and ordinal of a statement."""
    return statement.path, statement.ordinal


def join_object_name(row: ObjectRow) -> str:
    """Return an object's name without its system."""
    return ".".join(part for part in (row.catalog, row.schema, row.name) if part)
