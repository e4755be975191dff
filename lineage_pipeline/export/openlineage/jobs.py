"""The OpenLineage jobs of a snapshot: each statement that fills a dataset, with inputs, outputs and names."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from lineage_pipeline.export.openlineage.facets import DatasetName
from lineage_pipeline.export.subject import OpenLineageNaming, Subject
from lineage_pipeline.model.analysis import PROGRAM_ENDINGS
from lineage_pipeline.model.enums import EdgeType, ObjectKind, Role
from lineage_pipeline.model.tables import QUERY_PLAN, Column, ColumnEdge, ObjectRow, StatementRow

ROUTINE_KINDS = frozenset({ObjectKind.PROCEDURE, ObjectKind.FUNCTION})
"""Kinds of objects that are datasets where they return rows that are used."""

NON_DATASET_KINDS = frozenset({ObjectKind.QUERY, ObjectKind.TRIGGER}) | ROUTINE_KINDS
"""Kinds of objects that hold no data of their own."""

MODULE_KINDS = ROUTINE_KINDS | {ObjectKind.TRIGGER}
"""Kinds of objects whose statements are jobs of their own, inside the job of the object."""

PARAMETER_PREFIX = "@"
"""Prefix of the parameters among the columns of a routine."""

STANDARD_INPUT = "-"
"""The path of a text that is in no file."""

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
    def written_columns(self) -> Mapping[tuple[str, str], str]:
        """Return each column's name as the SQL spells it: consumers match fields by their names."""
        return {(row.object, row.name): row.written or row.name for row in self.subject.lineage.columns}

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
            if facet.name != QUERY_PLAN:  # says the same once more, and also how it is put together
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
    def modules(self) -> Mapping[StatementKey, tuple[StatementRow, ObjectRow]]:
        """Return the procedure, function or trigger around each statement, with the statement that defines it."""
        found: dict[StatementKey, tuple[StatementRow, ObjectRow]] = {}
        for statement in self.subject.lineage.statements:  # in text order: a parent comes before its children
            if statement.parent is None:
                continue
            above = (statement.path, statement.parent)
            row = self._defined_module(above)
            if row is not None:
                found[statement_key(statement)] = (self._statements[above], row)
            elif above in found:
                found[statement_key(statement)] = found[above]
        return found

    @cached_property
    def _statements(self) -> Mapping[StatementKey, StatementRow]:
        return {statement_key(statement): statement for statement in self.subject.lineage.statements}

    def _defined_module(self, key: StatementKey) -> ObjectRow | None:
        """Return the module that a statement defines, unless it is a dataset, which its statements fill."""
        defined = (self.objects.get(name) for name, roles in sorted(self.roles[key].items()) if Role.DEFINE in roles)
        modules = (row for row in defined if row is not None and row.kind in MODULE_KINDS)
        return next((row for row in modules if not self._is_dataset(row)), None)

    def parent_job(self, statement: StatementRow) -> StatementRow | None:
        """Return the statement that defines the module around a statement, whose job contains its job."""
        found = self.modules.get(statement_key(statement))
        return found[0] if found is not None else None

    def is_inside(self, statement: StatementRow, module: StatementRow) -> bool:
        """Return whether a statement stands in the module that another one defines."""
        above = self.parent_job(statement)
        while above is not None and above != module:
            above = self.parent_job(above)
        return above is not None

    def defined_datasets(self) -> set[str]:
        """Return the datasets that a statement of the SQL defines, filled or not."""
        defined = {row.object for row in self.subject.lineage.object_statements if row.role is Role.DEFINE}
        return {name for name in defined if name in self.objects and self._is_dataset(self.objects[name])}

    def contains_jobs(self, statement: StatementRow) -> bool:
        """Return whether a statement defines a module whose statements are jobs."""
        return statement_key(statement) in self._parents

    @cached_property
    def _parents(self) -> frozenset[StatementKey]:
        jobs = (found for key, found in self.modules.items() if self.outputs(self._statements[key]))
        return frozenset(statement_key(definition) for definition, _ in jobs)

    @cached_property
    def names(self) -> Mapping[StatementKey, str]:
        """Return the name of each job: its module, then its first output, with file and number where several are equal.

        The job of a module that contains others has the name of the module.
        """
        writers: dict[str, list[StatementKey]] = defaultdict(list)
        for statement in self.subject.lineage.statements:
            key, outputs = statement_key(statement), self.outputs(statement)
            if key in self._parents and (module := self._defined_module(key)) is not None:
                writers[join_object_name(module)].append(key)
            elif outputs:
                around = (join_object_name(self.modules[key][1]),) if key in self.modules else ()
                writers[".".join((*around, join_object_name(outputs[0])))].append(key)
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
            if row is None or not (self._is_dataset(row) or is_query_of_file(row, statement)):
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
        """Return the column edges into one output under the written names, each with the dataset name of its source."""
        return [
            (self.dataset_name(self.objects[edge.from_object]), self._with_written_names(edge))
            for edge in self.edges[statement_key(statement)]
            if edge.to_object == output.object and edge.from_object in self.objects and edge.from_column != "*"
        ]

    def _with_written_names(self, edge: ColumnEdge) -> ColumnEdge:
        source = self.written_columns.get((edge.from_object, edge.from_column), edge.from_column)
        target = self.written_columns.get((edge.to_object, edge.to_column), edge.to_column)
        if (source, target) == (edge.from_column, edge.to_column):
            return edge
        return msgspec.structs.replace(edge, from_column=source, to_column=target)

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


def is_query_of_file(row: ObjectRow, statement: StatementRow) -> bool:
    """Return whether an object is the result of a query in a file, which reads something and is in no program."""
    named = row.kind is ObjectKind.QUERY and row.path not in (None, STANDARD_INPUT)
    return named and bool(statement.reads) and not statement.path.lower().endswith(PROGRAM_ENDINGS)


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
