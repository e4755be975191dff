"""The jobs of a snapshot: each statement that fills a dataset, what it reads and fills, and what all are called."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from lineage_pipeline.export.facets import Name
from lineage_pipeline.export.subject import Naming, Subject
from lineage_pipeline.vocabulary.sets import EdgeType, ObjectKind, Role
from lineage_pipeline.vocabulary.tables import Column, ColumnEdge, ObjectRow, StatementRow

MODULES = frozenset({ObjectKind.PROCEDURE, ObjectKind.FUNCTION})
"""Kinds of objects that are datasets where they give rows to somebody."""

NO_DATASETS = frozenset({ObjectKind.QUERY, ObjectKind.TRIGGER}) | MODULES
"""Kinds of objects that hold no data of their own."""

PARAMETER = "@"
"""What the names of parameters begin with among the columns of a module."""

Place = tuple[str, int]


class Jobs:
    """The tables of a subject by what the events ask for."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.objects: Mapping[str, ObjectRow] = {row.object: row for row in subject.lineage.objects}
        self.files = {file.path: file for file in subject.files}

    @cached_property
    def columns(self) -> Mapping[str, list[Column]]:
        """Give the columns of each object; the parameters of a module are none of its results."""
        found: dict[str, list[Column]] = defaultdict(list)
        for column in self.subject.lineage.columns:
            if not (column.name.startswith(PARAMETER) and column.object in self._modules):
                found[column.object].append(column)
        return found

    @cached_property
    def edges(self) -> Mapping[Place, list[ColumnEdge]]:
        """Give the column edges of each statement; what is no column, such as a parameter of a module, feeds none."""
        found: dict[Place, list[ColumnEdge]] = defaultdict(list)
        for edge in self.subject.lineage.column_edges:
            if edge.from_object not in self._modules or (edge.from_object, edge.from_column) in self._results:
                found[edge.path, edge.statement].append(edge)
        return found

    @cached_property
    def bodies(self) -> Mapping[str, list[str]]:
        """Give the fingerprints of all that is done to fill each object."""
        found: dict[str, list[str]] = defaultdict(list)
        for facet in self.subject.lineage.facets:
            found[facet.object].append(f"{facet.name} {facet.column} {facet.fingerprint}")
        return found

    @cached_property
    def _modules(self) -> frozenset[str]:
        return frozenset(row.object for row in self.objects.values() if row.kind in MODULES)

    @cached_property
    def _results(self) -> frozenset[tuple[str, str]]:
        return frozenset((name, column.name) for name in self._modules for column in self.columns.get(name, ()))

    @cached_property
    def _givers(self) -> frozenset[str]:
        """Name the modules whose columns feed something, or are fed."""
        ends = {name for edge in self.subject.lineage.column_edges for name in (edge.from_object, edge.to_object)}
        return frozenset(name for name in ends & self._modules if self.columns.get(name))

    @cached_property
    def roles(self) -> Mapping[Place, dict[str, set[Role]]]:
        """Give the objects of each statement and its part in them."""
        found: dict[Place, dict[str, set[Role]]] = defaultdict(lambda: defaultdict(set))
        for row in self.subject.lineage.object_statements:
            found[row.path, row.ordinal][row.object].add(row.role)
        return found

    @cached_property
    def messages(self) -> Mapping[str, list[tuple[int, str]]]:
        """Give the findings of each file with their lines."""
        found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for row in self.subject.lineage.diagnostics:
            if row.path is not None and row.line is not None:
                found[row.path].append((row.line, f"{row.code}: {row.message}"))
        return found

    @cached_property
    def names(self) -> Mapping[Place, str]:
        """Name a job after what it writes; where several write the same, add the file, and a number within it."""
        writers: dict[str, list[Place]] = defaultdict(list)
        for statement in self.subject.lineage.statements:
            outputs = self.outputs(statement)
            if outputs:
                writers[joined(outputs[0])].append(place_of(statement))
        names: dict[Place, str] = {}
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
        """Give the namespace of all jobs."""
        repo = self.subject.snapshot.repo if self.subject.snapshot else ""
        return self.subject.naming.job_namespace or repo or "default"

    def outputs(self, statement: StatementRow) -> list[ObjectRow]:
        """Give the lasting datasets that a statement fills; a bare column list fills nothing."""
        found = []
        for target, roles in sorted(self.roles[place_of(statement)].items()):
            row = self.objects.get(target)
            if row is None or not self._is_dataset(row):
                continue
            bare = row.kind is ObjectKind.TABLE or row.kind in MODULES
            defines = Role.DEFINE in roles and (statement.reads or not bare)
            if Role.WRITE in roles or defines:
                found.append(row)
        return found

    def inputs(self, statement: StatementRow) -> list[ObjectRow]:
        """Give the datasets that a statement reads; of temporary ones, what they were made of, where that is known."""
        sources = {edge.from_object for edge in self.edges[place_of(statement)]}
        rows = [self.objects[name] for name in sources | set(statement.reads) if name in self.objects]
        kept = (row for row in rows if self._is_dataset(row) or (row.object in sources and row.temporary))
        return sorted(kept, key=lambda row: (self.name(row), row.object))

    def column_edges(self, statement: StatementRow, output: ObjectRow) -> list[tuple[Name, ColumnEdge]]:
        """Give what feeds the columns of one output, each with the name of its dataset."""
        return [
            (self.name(self.objects[edge.from_object]), edge)
            for edge in self.edges[place_of(statement)]
            if edge.to_object == output.object and edge.from_object in self.objects and edge.from_column != "*"
        ]

    def name(self, row: ObjectRow) -> Name:
        """Give namespace and name of an object's dataset."""
        return dataset_name(row, self.subject.naming)

    def query(self, statement: StatementRow) -> str:
        """Give a statement's text, or its beginning where the source is not at hand."""
        text, span = self.subject.texts.get(statement.path), statement.span
        return statement.preview if text is None or span is None else text[span.start : span.end]

    def said(self, statement: StatementRow) -> list[str]:
        """Give what was found inside a statement."""
        span = statement.span
        if span is None:
            return []
        return [said for line, said in self.messages[statement.path] if span.line <= line <= span.end_line]

    def _is_dataset(self, row: ObjectRow) -> bool:
        if row.kind in MODULES:
            return row.object in self._givers
        return not row.temporary and row.kind not in NO_DATASETS


def dataset_name(row: ObjectRow, naming: Naming) -> Name:
    """Give namespace and name of an object's dataset."""
    return naming.namespaces.get(row.system, row.system or "default"), joined(row)


def spread(edges: Iterable[tuple[Name, ColumnEdge]], columns: Sequence[str]) -> list[tuple[Name, ColumnEdge]]:
    """Put what decides about the whole dataset on each of its columns, for those who read nothing else."""
    found = []
    for name, edge in edges:
        whole = edge.to_column == "*" and edge.type is EdgeType.INDIRECT
        targets = columns if whole else (edge.to_column,)
        found += [(name, msgspec.structs.replace(edge, to_column=target)) for target in targets]
    return found


def place_of(statement: StatementRow) -> Place:
    """Give a statement's place."""
    return statement.path, statement.ordinal


def joined(row: ObjectRow) -> str:
    """Give an object's name without its system."""
    return ".".join(part for part in (row.catalog, row.schema, row.name) if part)
