"""Static lineage and what runs told: laid over each other, or held against each other."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

import msgspec

from lineage_pipeline.engine.diff.datasets import Datasets
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.runtime import RuntimeComparison, RuntimeDataset, RuntimeDifference, RuntimeJob
from lineage_pipeline.vocabulary.sets import EdgeKind, EdgeType, Origin, Role, Status
from lineage_pipeline.vocabulary.tables import (
    Column,
    ColumnEdge,
    ObjectEdge,
    ObjectStatement,
    StatementRef,
    StatementRow,
)

KIND = "RUNTIME JOB"
"""What a statement is that nobody wrote: a job that was seen to run."""

PARAMETER = "@"
GUESSED = frozenset({Origin.INFERRED, Origin.UNKNOWN})

Ends = tuple[str, str, str, str, EdgeType]


def overlay(lineage: Lineage, jobs: Sequence[RuntimeJob], datasets: Datasets, path: str) -> Lineage:
    """Add what runs told and statements do not: objects, columns, types and edges, whose origin is the run.

    Each job is a statement of the file of events, so that every edge has a place.
    """
    edges = tuple(_new_edges(lineage, jobs, datasets, path))
    columns = tuple(_columns(lineage, jobs, datasets, edges))
    roles = {
        ObjectStatement(datasets.id(dataset), path, ordinal, role)
        for ordinal, job in enumerate(jobs)
        for role, found in ((Role.READ, job.inputs), (Role.WRITE, job.outputs))
        for dataset in found
    }
    statements = [_statement(job, datasets, path, ordinal) for ordinal, job in enumerate(jobs)]
    return msgspec.structs.replace(
        lineage,
        statements=tuple(sorted((*lineage.statements, *statements), key=lambda row: (row.path, row.ordinal))),
        objects=tuple(sorted((*lineage.objects, *datasets.strangers.values()), key=lambda row: row.object)),
        object_statements=tuple(
            sorted((*lineage.object_statements, *roles), key=lambda row: (row.object, row.path, row.ordinal, row.role))
        ),
        object_edges=_object_edges(lineage, jobs, datasets, path),
        columns=columns,
        column_edges=tuple(sorted((*lineage.column_edges, *edges), key=lambda row: (row.path, row.statement))),
        column_reach=(),
    )


def compare_runs(lineage: Lineage, jobs: Sequence[RuntimeJob], datasets: Datasets) -> RuntimeComparison:
    """Hold the edges into every object that a run wrote against those of the statements."""
    written = {datasets.id(dataset) for job in jobs for dataset in job.outputs}
    ran = _flows(jobs, datasets)
    ours = {_ends(edge): edge for edge in lineage.column_edges if edge.to_object in written and _is_data(edge)}
    told = {
        (datasets.id(source), datasets.id(target)): f"{job.namespace}/{job.name}"
        for job in jobs
        for source in job.inputs
        for target in job.outputs
        if source.name != target.name
    }
    lasting = {row.object for row in lineage.objects if not row.temporary}
    reads = {ends: place for ends, place in _reads(lineage, lasting).items() if ends[1] in written}
    for one in ours.values():  # a value of a function is fed by a call, which is no read
        if one.from_object != one.to_object:
            reads.setdefault((one.from_object, one.to_object), StatementRef(one.path, one.statement))
    differences = [
        *(_table("static", ends, None, place) for ends, place in sorted(reads.items()) if ends not in told),
        *(_table("runtime", ends, job, None) for ends, job in sorted(told.items()) if ends not in reads),
        *(_column("static", ends, None, edge) for ends, edge in sorted(ours.items()) if ends not in ran),
        *(_column("runtime", ends, job, None) for ends, job in sorted(ran.items()) if ends not in ours),
    ]
    filled = {edge.to_object for edge in lineage.object_edges} & lasting
    counts = (len(jobs), len(reads.keys() & told.keys()), len(ours.keys() & ran.keys()), len(filled - written))
    return RuntimeComparison(*counts, tuple(differences))


def _flows(jobs: Iterable[RuntimeJob], datasets: Datasets) -> dict[Ends, str]:
    """Give the edges between columns that runs told, each with a job that did."""
    return {
        (*datasets.column(flow.source, flow.field), *datasets.column(flow.target, flow.output), flow.type): (
            f"{job.namespace}/{job.name}"
        )
        for job in jobs
        for flow in job.flows
    }


def _reads(lineage: Lineage, lasting: Set[str]) -> dict[tuple[str, str], StatementRef]:
    """Give which lasting object is made of which, also through temporary ones, each with a statement that says so."""
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


def _is_data(edge: ColumnEdge) -> bool:
    """Say whether an edge is one that a run could tell: parameters and what leads nowhere are in no event."""
    parameters = edge.from_column.startswith(PARAMETER) or edge.to_column.startswith(PARAMETER)
    return edge.from_object != "?" and not parameters


def _table(seen: str, ends: tuple[str, str], job: str | None, place: StatementRef | None) -> RuntimeDifference:
    where = (place.path, place.statement) if place else (None, None)
    return RuntimeDifference(seen, ends[0], None, ends[1], None, None, job, *where)


def _column(seen: str, ends: Ends, job: str | None, edge: ColumnEdge | None) -> RuntimeDifference:
    where = (edge.path, edge.statement) if edge else (None, None)
    return RuntimeDifference(seen, *ends, job, *where)


def _ends(edge: ColumnEdge) -> Ends:
    return edge.from_object, edge.from_column, edge.to_object, edge.to_column, edge.type


def _new_edges(lineage: Lineage, jobs: Sequence[RuntimeJob], datasets: Datasets, path: str) -> Iterator[ColumnEdge]:
    known = set(map(_ends, lineage.column_edges))
    for ordinal, job in enumerate(jobs):
        seen = set()
        for flow in job.flows:
            source, target = datasets.column(flow.source, flow.field), datasets.column(flow.target, flow.output)
            ends = (*source, *target, flow.type)
            if ends in known or (ends, flow.subtype) in seen:
                continue
            seen.add((ends, flow.subtype))
            yield ColumnEdge(
                path, ordinal, *source, None, *target, flow.type, flow.subtype, flow.masking, False, False,
                flow.description, None, None, (), (),
            )  # fmt: skip


def _columns(
    lineage: Lineage, jobs: Sequence[RuntimeJob], datasets: Datasets, edges: Iterable[ColumnEdge]
) -> Iterator[Column]:
    """Give all columns: those of statements, with types that a run knew where they only guess, then what is new."""
    seen = _seen(jobs, datasets, edges)
    last: dict[str, int] = defaultdict(int)
    found: list[Column] = []
    for column in lineage.columns:
        kind = seen.get(column.object, {}).pop(column.name, None)
        if kind and column.type is None and column.origin in GUESSED:
            column = msgspec.structs.replace(column, type=kind, origin=Origin.RUNTIME, approximate=False)
        last[column.object] = max(last[column.object], column.ordinal)
        found.append(column)
    for name, fields in seen.items():
        for place, (field, kind) in enumerate(fields.items(), last[name] + 1):
            found.append(Column(name, place, field, field, kind, True, Origin.RUNTIME, False, None, None, (), None))
    return iter(sorted(found, key=lambda row: (row.object, row.ordinal)))


def _seen(
    jobs: Sequence[RuntimeJob], datasets: Datasets, edges: Iterable[ColumnEdge]
) -> dict[str, dict[str, str | None]]:
    """Give the fields of each object that runs told, with their types where they did."""
    seen: dict[str, dict[str, str | None]] = defaultdict(dict)
    for job in jobs:
        for dataset in (*job.inputs, *job.outputs):
            for field, kind in dataset.fields:
                name, column = datasets.column(dataset.name, field)
                seen[name][column] = kind.upper() if kind else seen[name].get(column)
    for edge in edges:
        for name, column in ((edge.from_object, edge.from_column), (edge.to_object, edge.to_column)):
            if column != "*":
                seen[name].setdefault(column, None)
    return seen


def _object_edges(
    lineage: Lineage, jobs: Sequence[RuntimeJob], datasets: Datasets, path: str
) -> tuple[ObjectEdge, ...]:
    places: dict[tuple[str, str, EdgeKind], set[StatementRef]] = {
        (edge.from_object, edge.to_object, edge.kind): set(edge.statements) for edge in lineage.object_edges
    }
    known = {ends[:2] for ends in places}
    for ordinal, job in enumerate(jobs):
        for source in job.inputs:
            for target in job.outputs:
                ends = (datasets.id(source), datasets.id(target))
                if ends not in known and ends[0] != ends[1]:
                    places.setdefault((*ends, EdgeKind.WRITE), set()).add(StatementRef(path, ordinal))
    return tuple(ObjectEdge(*ends, tuple(sorted(found))) for ends, found in sorted(places.items()))


def _statement(job: RuntimeJob, datasets: Datasets, path: str, ordinal: int) -> StatementRow:
    name = f"{job.namespace}/{job.name}"
    targets, reads = (_ids(found, datasets) for found in (job.outputs, job.inputs))
    target = targets[0] if len(targets) == 1 else None
    fingerprint = hashlib.sha256(msgspec.json.encode(job)).hexdigest()[:16]
    return StatementRow(
        path, ordinal, None, KIND, target, targets, reads, name[:100], fingerprint, None, 0, Status.ANALYSED, 1,
        (Origin.RUNTIME.value,),
    )  # fmt: skip


def _ids(found: Iterable[RuntimeDataset], datasets: Datasets) -> tuple[str, ...]:
    return tuple(sorted({datasets.id(dataset) for dataset in found}))


def names_of(jobs: Sequence[RuntimeJob]) -> Mapping[tuple[str, str], RuntimeDataset]:
    """Give every dataset that events name, also those that only a field does."""
    found = {dataset.name: dataset for job in jobs for dataset in (*job.inputs, *job.outputs)}
    ends = {end for job in jobs for flow in job.flows for end in (flow.source, flow.target)}
    return {name: found.get(name) or RuntimeDataset(name) for name in sorted(found.keys() | ends)}
