"""OpenLineage: events for each statement that writes, as newline-delimited JSON.

A JobEvent says what a job is made of, which is what a static analysis knows. The run profile says the same as a run
that started and completed, for consumers that read nothing else. What a comparison found gone or changed and no job
fills is a DatasetEvent.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline import __version__
from lineage_pipeline.export import facets
from lineage_pipeline.export.facets import SPEC, Json, Name
from lineage_pipeline.export.jobs import Jobs, dataset_name, place_of, spread
from lineage_pipeline.export.lifecycle import Turn
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.vocabulary.sets import EdgeType, Indirect, Profile, Status
from lineage_pipeline.vocabulary.tables import ObjectRow, StatementRow

RUNS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:lineage-pipeline:runs")
"""The space in which the ids of runs are made, so that the same snapshot gives the same ids."""


class Emission(msgspec.Struct, frozen=True):
    """How events are written, and what became of each object since the base."""

    profile: Profile = Profile.JOB
    indirect: Indirect = Indirect.DATASET
    turns: Mapping[str, Turn] = {}


def write_events(subject: Subject, emission: Emission = Emission()) -> Iterator[str]:  # noqa: B008 - it is frozen
    """Give the events as lines."""
    for event in events(subject, emission):
        yield line_of(event)


def line_of(event: Json) -> str:
    """Write an event as a line."""
    return msgspec.json.encode(event).decode() + "\n"


def events(subject: Subject, emission: Emission = Emission()) -> Iterator[Json]:  # noqa: B008 - it is frozen
    """Give the events as plain values: of jobs in the order of the statements, then of datasets that no job fills."""
    writer = _Writer(subject, emission)
    filled: set[str] = set()
    for statement in subject.lineage.statements:
        outputs = writer.jobs.outputs(statement)
        if outputs:
            filled |= {row.object for row in outputs}
            yield from writer.job_events(statement, outputs)
    for name in sorted(emission.turns.keys() - filled):
        yield writer.dataset_event(emission.turns[name])


class _Writer:
    """The events of one subject."""

    def __init__(self, subject: Subject, emission: Emission) -> None:
        self.subject, self.emission = subject, emission
        self.jobs = Jobs(subject)
        self.producer = subject.naming.producer

    def job_events(self, statement: StatementRow, outputs: Sequence[ObjectRow]) -> Iterator[Json]:
        """Give the event of a job, or the two of its run."""
        job = {"namespace": self.jobs.namespace, "name": self.jobs.names[place_of(statement)]}
        body = {
            "job": job | {"facets": self._job_facets(statement)},
            "inputs": [self._dataset(row) for row in self.jobs.inputs(statement)],
            "outputs": [self._dataset(row, self._output_facets(statement, row)) for row in outputs],
        }
        if self.emission.profile is Profile.JOB:
            yield self._event("JobEvent", body)
            return
        run = {"runId": self._run_id(job)}
        yield self._event("RunEvent", {"eventType": "START", "run": run, "job": job, "inputs": [], "outputs": []})
        told = {"run": run | {"facets": self._run_facets(statement)}}
        yield self._event("RunEvent", {"eventType": "COMPLETE"} | told | body)

    def dataset_event(self, turn: Turn) -> Json:
        """Give the event of a dataset that no job fills."""
        namespace, name = self.jobs.name(turn.row)
        told = facets.dataset_type_facet(turn.row, self.producer) | self._lifecycle(turn)
        if turn.row.object in self.jobs.objects:
            told = self._dataset(turn.row)["facets"] | told
        return self._event("DatasetEvent", {"dataset": {"namespace": namespace, "name": name, "facets": told}})

    def _event(self, kind: str, body: Json) -> Json:
        snapshot = self.subject.snapshot
        time = (snapshot.committed_at if snapshot else None) or self.subject.naming.event_time
        return {"eventTime": time, "producer": self.producer, "schemaURL": f"{SPEC}#/$defs/{kind}"} | body

    def _job_facets(self, statement: StatementRow) -> Json:
        file, producer = self.jobs.files.get(statement.path), self.producer
        return (
            facets.sql_facet(self.jobs.query(statement), file.dialect if file else "", producer)
            | facets.location_facet(statement, self.subject.snapshot, self.subject.naming.source_url, producer)
            | facets.job_type_facet(producer)
            | facets.ownership_facet(file.owners if file else (), producer, "job ownership")
        )

    def _run_facets(self, statement: StatementRow) -> Json:
        told = facets.engine_facet(__version__, self.producer)
        if statement.status is Status.ANALYSED:
            return told
        messages = self.jobs.said(statement) or [f"the statement is {statement.status.value}"]
        return told | facets.error_facet(statement, self.jobs.query(statement), messages, self.producer)

    def _run_id(self, job: Mapping[str, str]) -> str:
        snapshot = self.subject.snapshot
        key = f"{snapshot.repo}@{snapshot.commit}" if snapshot else ""
        return str(uuid.uuid5(RUNS, "\n".join((key, job["namespace"], job["name"]))))

    def _dataset(self, row: ObjectRow, more: Json | None = None) -> Json:
        name, producer, columns = self.jobs.name(row), self.producer, self.jobs.columns[row.object]
        told = (
            facets.schema_facet(columns, producer)
            | facets.dataset_type_facet(row, producer)
            | facets.version_facet(columns, self.jobs.bodies[row.object], producer)
            | facets.hierarchy_facet(row, producer)
            | facets.symlinks_facet(row, name, producer)
            | facets.tags_facet(row, columns, producer)
            | facets.documentation_facet(row, producer)
            | facets.ownership_facet(row.owners, producer)
        )
        return {"namespace": name[0], "name": name[1], "facets": told | (more or {})}

    def _output_facets(self, statement: StatementRow, row: ObjectRow) -> Json:
        order = [column.name for column in self.jobs.columns[row.object]]
        edges = self.jobs.column_edges(statement, row)
        if self.emission.indirect is Indirect.FIELDS:
            edges = spread(edges, order)
        elif self.emission.indirect is Indirect.NONE:
            edges = [(name, edge) for name, edge in edges if edge.type is EdgeType.DIRECT]
        told = facets.column_lineage_facet(edges, order, self.producer)
        turn = self.emission.turns.get(row.object)
        return told | self._lifecycle(turn) if turn else told

    def _lifecycle(self, turn: Turn) -> Json:
        previous: Name | None = dataset_name(turn.previous, self.subject.naming) if turn.previous else None
        return facets.lifecycle_facet(turn.state, previous, self.producer)
