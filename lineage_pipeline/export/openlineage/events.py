"""OpenLineage events for each statement that writes, and lifecycle states of datasets between two revisions.

A JobEvent describes a job, which is what static analysis knows. The run profile writes the same as a run
that started and completed, for consumers that read nothing else. A dataset that a comparison found dropped or
changed, and that no job fills, is a DatasetEvent.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline import __version__
from lineage_pipeline.export.openlineage import facets
from lineage_pipeline.export.openlineage.facets import OPENLINEAGE_SPEC, DatasetName, Json
from lineage_pipeline.export.openlineage.jobs import (
    NON_DATASET_KINDS,
    JobIndex,
    name_dataset,
    spread_to_columns,
    statement_key,
)
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.model.enums import EdgeType, Indirect, Profile, Scope, Status
from lineage_pipeline.model.tables import Change, ObjectRow, StatementRow

QUERY, MODULE = "QUERY", "JOB"
"""The job types of a statement, and of a procedure, function or trigger with statements inside."""

NO_DATASETS: Json = {"inputs": [], "outputs": []}

RUN_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:lineage-pipeline:runs")
"""The UUID namespace of run ids, so that the same snapshot gives the same ids."""


class LifecycleChange(msgspec.Struct, frozen=True):
    """The lifecycle state of one object, and the object it was before a rename."""

    row: ObjectRow
    state: str
    previous: ObjectRow | None = None


class EmissionOptions(msgspec.Struct, frozen=True):
    """How events are written, and the lifecycle change of each object since the base."""

    profile: Profile = Profile.JOB
    indirect: Indirect = Indirect.DATASET
    turns: Mapping[str, LifecycleChange] = {}


def write_events(subject: Subject, emission: EmissionOptions = EmissionOptions()) -> Iterator[str]:  # noqa: B008 - it is frozen
    """Yield the events as lines of JSON."""
    for event in build_events(subject, emission):
        yield encode_event(event)


def encode_event(event: Json) -> str:
    """Encode an event as a line of JSON."""
    return msgspec.json.encode(event).decode() + "\n"


def build_events(subject: Subject, emission: EmissionOptions = EmissionOptions()) -> Iterator[Json]:  # noqa: B008 - it is frozen
    """Yield the events as plain values: jobs in the order of statements, then datasets that no job fills or reads."""
    writer = _EventBuilder(subject, emission)
    filled: set[str] = set()
    named: set[str] = set()
    running: list[StatementRow] = []  # the modules around the current statement, the outermost first
    for statement in subject.lineage.statements:
        while running and not writer.jobs.is_inside(statement, running[-1]):
            yield from writer.module_ends(running.pop())
        outputs = writer.jobs.outputs(statement)
        if writer.jobs.contains_jobs(statement):
            running.append(statement)
            yield writer.module_starts(statement)
        if outputs:
            filled |= {row.object for row in outputs}
            named |= {row.object for row in writer.jobs.inputs(statement)}
            yield from writer.job_events(statement, outputs)
    while running:
        yield from writer.module_ends(running.pop())
    for name in sorted((emission.turns.keys() - filled) | (writer.jobs.defined_datasets() - filled - named)):
        turn = emission.turns.get(name)
        yield writer.dataset_event(turn.row if turn else writer.jobs.objects[name], turn)


class _EventBuilder:
    """Builds the events of one subject."""

    def __init__(self, subject: Subject, emission: EmissionOptions) -> None:
        self.subject, self.emission = subject, emission
        self.jobs = JobIndex(subject)
        self.producer = subject.naming.producer

    def module_starts(self, statement: StatementRow) -> Json:
        """Return the event of a module's job, or the start of its run; its statements say what it reads and writes."""
        job = self._job(statement)
        if self.emission.profile is Profile.JOB:
            return self._event("JobEvent", {"job": job | {"facets": self._job_facets(statement, MODULE)}} | NO_DATASETS)
        run = {"runId": self._run_id(job), "facets": self._parent_facet(statement)}
        return self._event("RunEvent", {"eventType": "START", "run": run, "job": job} | NO_DATASETS)

    def module_ends(self, statement: StatementRow) -> Iterator[Json]:
        """Yield the end of a module's run."""
        if self.emission.profile is not Profile.JOB:
            job = self._job(statement)
            run = {"runId": self._run_id(job), "facets": self._run_facets(statement)}
            job |= {"facets": self._job_facets(statement, MODULE)}
            yield self._event("RunEvent", {"eventType": "COMPLETE", "run": run, "job": job} | NO_DATASETS)

    def job_events(self, statement: StatementRow, outputs: Sequence[ObjectRow]) -> Iterator[Json]:
        """Yield the event of a job, or the two of its run."""
        job = self._job(statement)
        body = {
            "job": job | {"facets": self._job_facets(statement, QUERY)},
            "inputs": [self._dataset(row) for row in self.jobs.inputs(statement)],
            "outputs": [self._dataset(row, self._output_facets(statement, row)) for row in outputs],
        }
        if self.emission.profile is Profile.JOB:
            yield self._event("JobEvent", body)
            return
        run = {"runId": self._run_id(job)}
        parent = self._parent_facet(statement)
        started = run | {"facets": parent} if parent else run
        yield self._event("RunEvent", {"eventType": "START", "run": started, "job": job} | NO_DATASETS)
        run_facets = {"run": run | {"facets": self._run_facets(statement)}}
        yield self._event("RunEvent", {"eventType": "COMPLETE"} | run_facets | body)

    def dataset_event(self, row: ObjectRow, turn: LifecycleChange | None) -> Json:
        """Return the event of a dataset that no job fills."""
        namespace, name = self.jobs.dataset_name(row)
        described = facets.build_dataset_type_facet(row, self.producer) | (self._lifecycle_facet(turn) if turn else {})
        if row.object in self.jobs.objects:
            described = self._dataset(row)["facets"] | described
        return self._event("DatasetEvent", {"dataset": {"namespace": namespace, "name": name, "facets": described}})

    def _event(self, kind: str, body: Json) -> Json:
        snapshot = self.subject.snapshot
        time = (snapshot.committed_at if snapshot else None) or self.subject.naming.event_time
        return {"eventTime": time, "producer": self.producer, "schemaURL": f"{OPENLINEAGE_SPEC}#/$defs/{kind}"} | body

    def _job(self, statement: StatementRow) -> dict[str, Any]:
        return {"namespace": self.jobs.namespace, "name": self.jobs.names[statement_key(statement)]}

    def _parent_facet(self, statement: StatementRow) -> Json:
        """Return the facet of the run of the module around a statement."""
        parent = self.jobs.parent_job(statement)
        if parent is None:
            return {}
        job = self._job(parent)
        return facets.build_parent_facet(self._run_id(job), job, self.producer)

    def _job_facets(self, statement: StatementRow, kind: str) -> Json:
        file, producer = self.jobs.files.get(statement.path), self.producer
        return (
            facets.build_sql_facet(self.jobs.statement_text(statement), file.dialect if file else "", producer)
            | facets.build_location_facet(statement, self.subject.snapshot, self.subject.naming.source_url, producer)
            | facets.build_job_type_facet(kind, producer)
            | facets.build_ownership_facet(file.owners if file else (), producer, "job ownership")
        )

    def _run_facets(self, statement: StatementRow) -> Json:
        described = facets.build_engine_facet(__version__, self.producer) | self._parent_facet(statement)
        if statement.status is Status.ANALYSED:
            return described
        messages = self.jobs.statement_messages(statement) or [f"the statement is {statement.status.value}"]
        return described | facets.build_error_facet(
            statement, self.jobs.statement_text(statement), messages, self.producer
        )

    def _run_id(self, job: Mapping[str, str]) -> str:
        snapshot = self.subject.snapshot
        key = f"{snapshot.repo}@{snapshot.commit}" if snapshot else ""
        return str(uuid.uuid5(RUN_NAMESPACE, "\n".join((key, job["namespace"], job["name"]))))

    def _dataset(self, row: ObjectRow, more: Json | None = None) -> Json:
        name, producer, columns = self.jobs.dataset_name(row), self.producer, self.jobs.columns[row.object]
        described = (
            facets.build_schema_facet(columns, producer)
            | facets.build_dataset_type_facet(row, producer)
            | facets.build_version_facet(columns, self.jobs.bodies[row.object], producer)
            | facets.build_hierarchy_facet(row, producer)
            | facets.build_symlinks_facet(row, name, producer)
            | facets.build_tags_facet(row, columns, producer)
            | facets.build_documentation_facet(row, producer)
            | facets.build_ownership_facet(row.owners, producer)
        )
        return {"namespace": name[0], "name": name[1], "facets": described | (more or {})}

    def _output_facets(self, statement: StatementRow, row: ObjectRow) -> Json:
        order = [column.written or column.name for column in self.jobs.columns[row.object]]
        edges = self.jobs.column_edges(statement, row)
        if self.emission.indirect is Indirect.FIELDS:
            edges = spread_to_columns(edges, order)
        elif self.emission.indirect is Indirect.NONE:
            edges = [(name, edge) for name, edge in edges if edge.type is EdgeType.DIRECT]
        described = facets.build_column_lineage_facet(edges, order, self.producer)
        turn = self.emission.turns.get(row.object)
        return described | self._lifecycle_facet(turn) if turn else described

    def _lifecycle_facet(self, turn: LifecycleChange) -> Json:
        previous: DatasetName | None = name_dataset(turn.previous, self.subject.naming) if turn.previous else None
        return facets.build_lifecycle_facet(turn.state, previous, self.producer)


REMOVED, RENAMED, ADDED = "OBJ001", "OBJ002", "OBJ003"
"""Rules about an object as a whole."""

ALTERING_SCOPES = frozenset({Scope.INTERFACE, Scope.POSITIONAL})
"""Scopes of changes that alter a dataset; a changed filter leaves its schema alone."""


def find_lifecycle_changes(
    changes: Iterable[Change], before: Mapping[str, ObjectRow], after: Mapping[str, ObjectRow]
) -> dict[str, LifecycleChange]:
    """Return the state of each object; one that was created, dropped or renamed is not reported as altered."""
    altered: dict[str, LifecycleChange] = {}
    whole: dict[str, LifecycleChange] = {}
    for change in changes:
        name, now = change.object, change.after or ""
        if change.rule == REMOVED and name in before:
            whole[name] = LifecycleChange(before[name], "DROP")
        elif change.rule == RENAMED and now in after and name in before:
            whole[now] = LifecycleChange(after[now], "RENAME", before[name])
        elif change.rule == ADDED and name in after:
            whole[name] = LifecycleChange(after[name], "CREATE")
        elif change.scope in ALTERING_SCOPES and name in after:
            altered[name] = LifecycleChange(after[name], "ALTER")
    return {name: turn for name, turn in (altered | whole).items() if _is_persistent_dataset(turn.row)}


def _is_persistent_dataset(row: ObjectRow) -> bool:
    return not row.temporary and row.kind not in NON_DATASET_KINDS
