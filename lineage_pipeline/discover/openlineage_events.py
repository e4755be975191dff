"""OpenLineage events of real runs → what each job read and wrote; failed runs are skipped."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from lineage_pipeline.discover.discovery import build_file_finding
from lineage_pipeline.model.enums import EdgeType, Subtype
from lineage_pipeline.model.runtime import DatasetName, RuntimeDataset, RuntimeFlow, RuntimeJob
from lineage_pipeline.model.tables import Diagnostic

FAILED_EVENT_TYPES = frozenset({"FAIL", "ABORT"})
DEPRECATED_TRANSFORMATIONS = {"IDENTITY": Subtype.IDENTITY, "MASKED": Subtype.TRANSFORMATION}
"""Subtypes of the deprecated `transformationType` of an output field."""


class _TransformationFacet(msgspec.Struct):
    type: str = "DIRECT"
    subtype: str = ""
    description: str = ""
    masking: bool = False


class _InputField(msgspec.Struct):
    namespace: str
    name: str
    field: str
    transformations: list[_TransformationFacet] | None = None


class _OutputField(msgspec.Struct):
    inputFields: list[_InputField] = []
    transformationType: str | None = None
    transformationDescription: str | None = None


class _ColumnLineageFacet(msgspec.Struct):
    fields: dict[str, _OutputField] = {}
    dataset: list[_InputField] | None = None


class _SchemaField(msgspec.Struct):
    name: str
    type: str | None = None


class _SchemaFacet(msgspec.Struct):
    fields: list[_SchemaField] | None = None


class _Identifier(msgspec.Struct):
    namespace: str
    name: str


class _SymlinksFacet(msgspec.Struct):
    identifiers: list[_Identifier] = []


class _DatasetTypeFacet(msgspec.Struct):
    datasetType: str = ""


class _DatasetFacets(msgspec.Struct):
    schema: _SchemaFacet | None = None
    columnLineage: _ColumnLineageFacet | None = None
    symlinks: _SymlinksFacet | None = None
    datasetType: _DatasetTypeFacet | None = None


class _EventDataset(msgspec.Struct):
    namespace: str
    name: str
    facets: _DatasetFacets | None = None


class _EventRun(msgspec.Struct):
    runId: str


class _EventJob(msgspec.Struct):
    namespace: str
    name: str


class _RunEvent(msgspec.Struct):
    eventTime: str
    job: _EventJob | None = None
    run: _EventRun | None = None
    eventType: str | None = None
    inputs: list[_EventDataset] | None = None
    outputs: list[_EventDataset] | None = None


def read_openlineage_events(path: str, content: bytes) -> tuple[tuple[RuntimeJob, ...], tuple[Diagnostic, ...]]:
    """Read events from JSON lines, a list or one document; return the jobs in order, and findings for the rest."""
    events: list[_RunEvent] = []
    findings: list[Diagnostic] = []
    for place, raw in _split_events(content):
        try:
            events.append(msgspec.convert(msgspec.json.decode(raw) if isinstance(raw, bytes) else raw, _RunEvent))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            findings.append(build_file_finding("EVENT_INVALID", path, place=place, reason=str(error)))
    failed = {event.run.runId for event in events if event.run and event.eventType in FAILED_EVENT_TYPES}
    runs: dict[tuple[str, str], list[_RunEvent]] = {}
    for event in sorted(events, key=lambda event: event.eventTime):
        if event.job is not None and not (event.run and event.run.runId in failed):
            runs.setdefault((event.job.namespace, event.job.name), []).append(event)
    return tuple(_merge_job_events(*key, runs[key]) for key in sorted(runs)), tuple(findings)


def _split_events(content: bytes) -> Iterator[tuple[str, Any]]:
    """Yield each event with its location: a whole document where the content is one, else line by line."""
    try:
        whole = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        lines = enumerate(content.splitlines(), 1)
        yield from ((f"line {number}", line) for number, line in lines if line.strip())
        return
    listed = whole if isinstance(whole, list) else [whole]
    yield from ((f"event {number}", event) for number, event in enumerate(listed, 1))


def _merge_job_events(namespace: str, name: str, events: Iterable[_RunEvent]) -> RuntimeJob:
    """Merge the events of a job; for each dataset the last event counts."""
    inputs: dict[DatasetName, RuntimeDataset] = {}
    outputs: dict[DatasetName, RuntimeDataset] = {}
    flows: dict[DatasetName, tuple[RuntimeFlow, ...]] = {}
    for event in events:
        for found, datasets in ((inputs, event.inputs), (outputs, event.outputs)):
            for dataset in datasets or ():
                known = (dataset.namespace, dataset.name)
                found[known] = _merge_dataset(dataset, found.get(known))
        for dataset in event.outputs or ():
            if dataset.facets and dataset.facets.columnLineage:
                known = (dataset.namespace, dataset.name)
                flows[known] = tuple(_iter_flows(known, dataset.facets.columnLineage))
    joined = tuple(flow for known in sorted(flows) for flow in flows[known])
    return RuntimeJob(
        namespace=namespace, name=name, inputs=_sort_datasets(inputs), outputs=_sort_datasets(outputs), flows=joined
    )


def _sort_datasets(datasets: Mapping[DatasetName, RuntimeDataset]) -> tuple[RuntimeDataset, ...]:
    return tuple(datasets[name] for name in sorted(datasets))


def _merge_dataset(dataset: _EventDataset, known: RuntimeDataset | None) -> RuntimeDataset:
    facets = dataset.facets or _DatasetFacets()
    fields = tuple((field.name, field.type) for field in (facets.schema.fields or () if facets.schema else ()))
    links = facets.symlinks.identifiers if facets.symlinks else ()
    found = RuntimeDataset(
        (dataset.namespace, dataset.name),
        fields,
        facets.datasetType.datasetType if facets.datasetType else "",
        tuple((link.namespace, link.name) for link in links),
    )
    if known is None:
        return found
    return RuntimeDataset(
        found.name, found.fields or known.fields, found.kind or known.kind, found.aliases or known.aliases
    )


def _iter_flows(target: DatasetName, facet: _ColumnLineageFacet) -> Iterator[RuntimeFlow]:
    for output, described in sorted(facet.fields.items()):
        old = _TransformationFacet(
            "DIRECT", described.transformationType or "", described.transformationDescription or ""
        )
        for field in described.inputFields:
            yield from _iter_field_flows(target, output, field, old)
    for field in facet.dataset or ():
        yield from _iter_field_flows(target, "*", field, _TransformationFacet("INDIRECT"))


def _iter_field_flows(
    target: DatasetName, output: str, field: _InputField, old: _TransformationFacet
) -> Iterator[RuntimeFlow]:
    for use in field.transformations or [old]:
        kind, subtype = _map_transformation(use)
        masking = use.masking or use.subtype == "MASKED"
        source = (field.namespace, field.name)
        yield RuntimeFlow(
            source=source,
            field=field.field,
            target=target,
            output=output,
            type=kind,
            subtype=subtype,
            masking=masking,
            description=use.description,
        )


def _map_transformation(use: _TransformationFacet) -> tuple[EdgeType, Subtype]:
    """Return type and subtype as enums; an unknown subtype becomes the widest one of its type."""
    kind = EdgeType.INDIRECT if use.type.upper() == "INDIRECT" else EdgeType.DIRECT
    word = use.subtype.upper()
    if word in Subtype.__members__:
        return kind, Subtype(word)
    return kind, DEPRECATED_TRANSFORMATIONS.get(
        word, Subtype.TRANSFORMATION if kind is EdgeType.DIRECT else Subtype.CONDITIONAL
    )
