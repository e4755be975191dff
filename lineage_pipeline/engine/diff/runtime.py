"""Static lineage and runtime events: combined, or compared."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

import msgspec

from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.engine.graph.namespace import quote_part
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeKind, EdgeType, ObjectKind, Origin, Role, Status
from lineage_pipeline.model.runtime import DatasetName, RuntimeComparison, RuntimeDataset, RuntimeDifference, RuntimeJob
from lineage_pipeline.model.tables import (
    Column,
    ColumnEdge,
    ObjectEdge,
    ObjectRow,
    ObjectStatement,
    StatementRef,
    StatementRow,
)

DATASET_KINDS = {"TABLE": ObjectKind.TABLE, "VIEW": ObjectKind.VIEW}
DatasetParts = tuple[str, ...]


class DatasetResolver:
    """Resolves each dataset of an event to an object: by name, by alias, or by a unique suffix.

    An unknown dataset becomes an object among the `strangers`; outside of the namespaces of known systems, the
    namespace is part of its id.
    """

    def __init__(
        self, lineage: LineageTables, seen: Mapping[DatasetName, RuntimeDataset], namespaces: Mapping[str, str]
    ) -> None:
        self._systems = {namespace: system for system, namespace in namespaces.items()}
        self._exact: dict[tuple[str, DatasetParts], str] = {}
        self._ends: dict[tuple[str, str], list[tuple[DatasetParts, str]]] = defaultdict(list)
        for row in lineage.objects:
            parts = tuple(part.casefold() for part in (row.catalog, row.schema, row.name) if part)
            self._exact.setdefault((row.system, parts), row.object)
            if parts:
                self._ends[row.system, parts[-1]].append((parts, row.object))
        self._columns: dict[str, dict[str, str]] = defaultdict(dict)
        for column in lineage.columns:
            self._columns[column.object].setdefault(column.name.casefold(), column.name)
        self.strangers: dict[str, ObjectRow] = {}
        self._ids = {name: self._resolve_dataset(dataset) for name, dataset in seen.items()}

    def object_id(self, dataset: RuntimeDataset) -> str:
        """The object of a dataset."""
        return self._ids[dataset.name]

    def resolve_column(self, dataset: DatasetName, field: str) -> tuple[str, str]:
        """The column of a field; a field of a struct belongs to its column."""
        name = self._ids[dataset]
        known = self._columns[name]
        whole = known.get(field.casefold())
        return name, whole or known.get(field.partition(".")[0].casefold()) or field

    def _resolve_dataset(self, dataset: RuntimeDataset) -> str:
        for namespace, name in (dataset.name, *dataset.aliases):
            found = self._find_known(namespace, name)
            if found:
                return found
        return self._add_stranger(dataset)

    def _find_known(self, namespace: str, name: str) -> str | None:
        system = self._systems.get(namespace)
        if system is None and len(set(self._systems.values())) > 1:
            return None
        parts = tuple(part.casefold() for part in _split_dataset_name(name))
        systems = {system or "", ""} if system is not None else {key for key, _ in self._exact}
        for one in sorted(systems):
            exact = self._exact.get((one, parts))
            if exact:
                return exact
        near = [
            identity
            for one in systems
            for known, identity in self._ends.get((one, parts[-1]), ())
            if _has_same_suffix(known, parts)
        ]
        return near[0] if len(near) == 1 else None

    def _add_stranger(self, dataset: RuntimeDataset) -> str:
        namespace, name = dataset.name
        system = self._systems.get(namespace)
        parts = _split_dataset_name(name)
        outside = (namespace,) if system is None else (system,) if system else ()
        identity = ".".join(quote_part(part, IdentifierFolding.EXACT) for part in (*outside, *parts))
        *before, last = parts
        catalog, schema = (["", ""] + before)[-2:]
        self.strangers[identity] = ObjectRow(
            object=identity,
            system=system if system is not None else namespace,
            catalog=catalog,
            schema=schema,
            name=last,
            written=last,
            kind=DATASET_KINDS.get(dataset.kind, ObjectKind.EXTERNAL),
            origin=Origin.RUNTIME,
            level=0,
            temporary=False,
            open=False,
            path=None,
            line=None,
            tags=(),
            owners=(),
        )
        return identity


def _split_dataset_name(name: str) -> DatasetParts:
    return tuple(part.strip('"`[]') for part in name.split(".")) if "/" not in name else (name,)


def _has_same_suffix(one: Iterable[str], other: Iterable[str]) -> bool:
    """Say whether two names are equal up to the length of the shorter one."""
    pairs = zip(reversed(tuple(one)), reversed(tuple(other)), strict=False)
    return all(left == right for left, right in pairs)


RUNTIME_KIND = "RUNTIME JOB"
"""The statement kind of a job that was seen at run time."""

PARAMETER_PREFIX = "@"
GUESSED_ORIGINS = frozenset({Origin.INFERRED, Origin.UNKNOWN})

EdgeEnds = tuple[str, str, str, str, EdgeType]


def overlay_runtime(
    lineage: LineageTables, jobs: Sequence[RuntimeJob], datasets: DatasetResolver, path: str
) -> LineageTables:
    """Add what only runs report: objects, columns, types and edges with origin `runtime`.

    Each job is a statement of the events file, so that every edge has a location.
    """
    edges = tuple(_build_new_edges(lineage, jobs, datasets, path))
    columns = tuple(_build_columns(lineage, jobs, datasets, edges))
    roles = {
        ObjectStatement(datasets.object_id(dataset), path, ordinal, role)
        for ordinal, job in enumerate(jobs)
        for role, found in ((Role.READ, job.inputs), (Role.WRITE, job.outputs))
        for dataset in found
    }
    statements = [_build_statement(job, datasets, path, ordinal) for ordinal, job in enumerate(jobs)]
    return msgspec.structs.replace(
        lineage,
        statements=tuple(sorted((*lineage.statements, *statements), key=lambda row: (row.path, row.ordinal))),
        objects=tuple(sorted((*lineage.objects, *datasets.strangers.values()), key=lambda row: row.object)),
        object_statements=tuple(
            sorted((*lineage.object_statements, *roles), key=lambda row: (row.object, row.path, row.ordinal, row.role))
        ),
        object_edges=_build_object_edges(lineage, jobs, datasets, path),
        columns=columns,
        column_edges=tuple(sorted((*lineage.column_edges, *edges), key=lambda row: (row.path, row.statement))),
        column_reach=(),
    )


def compare_runs(lineage: LineageTables, jobs: Sequence[RuntimeJob], datasets: DatasetResolver) -> RuntimeComparison:
    """Compare the edges into every object that a run wrote with those of the statements."""
    written = {datasets.object_id(dataset) for job in jobs for dataset in job.outputs}
    ran = _runtime_edges(jobs, datasets)
    ours = {
        _edge_ends(edge): edge for edge in lineage.column_edges if edge.to_object in written and _is_observable(edge)
    }
    observed = {
        (datasets.object_id(source), datasets.object_id(target)): f"{job.namespace}/{job.name}"
        for job in jobs
        for source in job.inputs
        for target in job.outputs
        if source.name != target.name
    }
    lasting = {row.object for row in lineage.objects if not row.temporary}
    reads = {ends: place for ends, place in _object_reads(lineage, lasting).items() if ends[1] in written}
    for one in ours.values():  # a value of a function is fed by a call, which is no read
        if one.from_object != one.to_object:
            reads.setdefault((one.from_object, one.to_object), StatementRef(one.path, one.statement))
    differences = [
        *(
            _table_difference("static", ends, None, place)
            for ends, place in sorted(reads.items())
            if ends not in observed
        ),
        *(_table_difference("runtime", ends, job, None) for ends, job in sorted(observed.items()) if ends not in reads),
        *(_column_difference("static", ends, None, edge) for ends, edge in sorted(ours.items()) if ends not in ran),
        *(_column_difference("runtime", ends, job, None) for ends, job in sorted(ran.items()) if ends not in ours),
    ]
    filled = {edge.to_object for edge in lineage.object_edges} & lasting
    counts = (len(jobs), len(reads.keys() & observed.keys()), len(ours.keys() & ran.keys()), len(filled - written))
    return RuntimeComparison(*counts, tuple(differences))


def _runtime_edges(jobs: Iterable[RuntimeJob], datasets: DatasetResolver) -> dict[EdgeEnds, str]:
    """The column edges that runs report, each with a job."""
    return {
        (
            *datasets.resolve_column(flow.source, flow.field),
            *datasets.resolve_column(flow.target, flow.output),
            flow.type,
        ): (f"{job.namespace}/{job.name}")
        for job in jobs
        for flow in job.flows
    }


def _object_reads(lineage: LineageTables, lasting: Set[str]) -> dict[tuple[str, str], StatementRef]:
    """The persistent sources of each persistent object, also through temporary ones, each with a statement."""
    sources: dict[str, dict[str, StatementRef]] = defaultdict(dict)
    for edge in lineage.object_edges:
        if edge.kind is not EdgeKind.CALL:
            sources[edge.to_object].setdefault(edge.from_object, edge.statements[0])
    found: dict[tuple[str, str], StatementRef] = {}
    for target in sorted(lasting & sources.keys()):
        waiting, passed = [(source, place) for source, place in sorted(sources[target].items())], {target}
        while waiting:
            source, place = waiting.pop()
            if source in lasting:
                if source != target:
                    found.setdefault((source, target), place)
            elif source not in passed:
                passed.add(source)
                waiting += [(before, place) for before in sorted(sources.get(source, ()))]
    return found


def _is_observable(edge: ColumnEdge) -> bool:
    """Say whether a run could report an edge: parameters and unresolved names are in no event."""
    parameters = edge.from_column.startswith(PARAMETER_PREFIX) or edge.to_column.startswith(PARAMETER_PREFIX)
    return edge.from_object != "?" and not parameters


def _table_difference(
    seen: str, ends: tuple[str, str], job: str | None, place: StatementRef | None
) -> RuntimeDifference:
    where = (place.path, place.statement) if place else (None, None)
    return RuntimeDifference(seen, ends[0], None, ends[1], None, None, job, *where)


def _column_difference(seen: str, ends: EdgeEnds, job: str | None, edge: ColumnEdge | None) -> RuntimeDifference:
    where = (edge.path, edge.statement) if edge else (None, None)
    return RuntimeDifference(seen, *ends, job, *where)


def _edge_ends(edge: ColumnEdge) -> EdgeEnds:
    return edge.from_object, edge.from_column, edge.to_object, edge.to_column, edge.type


def _build_new_edges(
    lineage: LineageTables, jobs: Sequence[RuntimeJob], datasets: DatasetResolver, path: str
) -> Iterator[ColumnEdge]:
    known = set(map(_edge_ends, lineage.column_edges))
    for ordinal, job in enumerate(jobs):
        seen = set()
        for flow in job.flows:
            source, target = (
                datasets.resolve_column(flow.source, flow.field),
                datasets.resolve_column(flow.target, flow.output),
            )
            ends = (*source, *target, flow.type)
            if ends in known or (ends, flow.subtype) in seen:
                continue
            seen.add((ends, flow.subtype))
            yield ColumnEdge(
                path,
                ordinal,
                *source,
                None,
                *target,
                flow.type,
                flow.subtype,
                flow.masking,
                False,
                False,
                flow.description,
                None,
                None,
                (),
                (),
            )


def _build_columns(
    lineage: LineageTables, jobs: Sequence[RuntimeJob], datasets: DatasetResolver, edges: Iterable[ColumnEdge]
) -> Iterator[Column]:
    """All columns: those of statements, with runtime types where these are only guessed, then new ones."""
    seen = _reported_fields(jobs, datasets, edges)
    last: dict[str, int] = defaultdict(int)
    found: list[Column] = []
    for column in lineage.columns:
        kind = seen.get(column.object, {}).pop(column.name, None)
        if kind and column.type is None and column.origin in GUESSED_ORIGINS:
            column = msgspec.structs.replace(column, type=kind, origin=Origin.RUNTIME, approximate=False)
        last[column.object] = max(last[column.object], column.ordinal)
        found.append(column)
    for name, fields in seen.items():
        for place, (field, kind) in enumerate(fields.items(), last[name] + 1):
            found.append(
                Column(
                    object=name,
                    ordinal=place,
                    name=field,
                    written=field,
                    type=kind,
                    nullable=True,
                    origin=Origin.RUNTIME,
                    approximate=False,
                    path=None,
                    statement=None,
                    tags=(),
                    description=None,
                )
            )
    return iter(sorted(found, key=lambda row: (row.object, row.ordinal)))


def _reported_fields(
    jobs: Sequence[RuntimeJob], datasets: DatasetResolver, edges: Iterable[ColumnEdge]
) -> dict[str, dict[str, str | None]]:
    """The fields of each object that runs report, with their types."""
    seen: dict[str, dict[str, str | None]] = defaultdict(dict)
    for job in jobs:
        for dataset in (*job.inputs, *job.outputs):
            for field, kind in dataset.fields:
                name, column = datasets.resolve_column(dataset.name, field)
                seen[name][column] = kind.upper() if kind else seen[name].get(column)
    for edge in edges:
        for name, column in ((edge.from_object, edge.from_column), (edge.to_object, edge.to_column)):
            if column != "*":
                seen[name].setdefault(column, None)
    return seen


def _build_object_edges(
    lineage: LineageTables, jobs: Sequence[RuntimeJob], datasets: DatasetResolver, path: str
) -> tuple[ObjectEdge, ...]:
    places: dict[tuple[str, str, EdgeKind], set[StatementRef]] = {
        (edge.from_object, edge.to_object, edge.kind): set(edge.statements) for edge in lineage.object_edges
    }
    known = {ends[:2] for ends in places}
    for ordinal, job in enumerate(jobs):
        for source in job.inputs:
            for target in job.outputs:
                ends = (datasets.object_id(source), datasets.object_id(target))
                if ends not in known and ends[0] != ends[1]:
                    places.setdefault((*ends, EdgeKind.WRITE), set()).add(StatementRef(path, ordinal))
    return tuple(ObjectEdge(*ends, tuple(sorted(found))) for ends, found in sorted(places.items()))


def _build_statement(job: RuntimeJob, datasets: DatasetResolver, path: str, ordinal: int) -> StatementRow:
    name = f"{job.namespace}/{job.name}"
    targets, reads = (_object_ids(found, datasets) for found in (job.outputs, job.inputs))
    target = targets[0] if len(targets) == 1 else None
    fingerprint = hashlib.sha256(msgspec.json.encode(job)).hexdigest()[:16]
    return StatementRow(
        path=path,
        ordinal=ordinal,
        parent=None,
        kind=RUNTIME_KIND,
        target=target,
        targets=targets,
        reads=reads,
        preview=name[:100],
        fingerprint=fingerprint,
        span=None,
        bytes=0,
        status=Status.ANALYSED,
        complexity=1,
        features=(Origin.RUNTIME.value,),
    )


def _object_ids(found: Iterable[RuntimeDataset], datasets: DatasetResolver) -> tuple[str, ...]:
    return tuple(sorted({datasets.object_id(dataset) for dataset in found}))


def list_datasets(jobs: Sequence[RuntimeJob]) -> Mapping[tuple[str, str], RuntimeDataset]:
    """Every dataset that events name, also those named only by a field."""
    found = {dataset.name: dataset for job in jobs for dataset in (*job.inputs, *job.outputs)}
    ends = {end for job in jobs for flow in job.flows for end in (flow.source, flow.target)}
    return {name: found.get(name) or RuntimeDataset(name) for name in sorted(found.keys() | ends)}
