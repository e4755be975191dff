"""OpenLineage events of real runs → what each job read and wrote; failed runs do not count."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from lineage_pipeline.discover.gather import finding
from lineage_pipeline.vocabulary.runtime import Named, RuntimeDataset, RuntimeFlow, RuntimeJob
from lineage_pipeline.vocabulary.sets import EdgeType, Subtype
from lineage_pipeline.vocabulary.tables import Diagnostic

FAILED = frozenset({"FAIL", "ABORT"})
OLD = {"IDENTITY": Subtype.IDENTITY, "MASKED": Subtype.TRANSFORMATION}
"""What the deprecated words on an output field mean."""


class _Transformation(msgspec.Struct):
    type: str = "DIRECT"
    subtype: str = ""
    description: str = ""
    masking: bool = False


class _InputField(msgspec.Struct):
    namespace: str
    name: str
    field: str
    transformations: list[_Transformation] | None = None


class _OutputField(msgspec.Struct):
    inputFields: list[_InputField] = []
    transformationType: str | None = None
    transformationDescription: str | None = None


class _ColumnLineage(msgspec.Struct):
    fields: dict[str, _OutputField] = {}
    dataset: list[_InputField] | None = None


class _Field(msgspec.Struct):
    name: str
    type: str | None = None


class _Schema(msgspec.Struct):
    fields: list[_Field] | None = None


class _Identifier(msgspec.Struct):
    namespace: str
    name: str


class _Symlinks(msgspec.Struct):
    identifiers: list[_Identifier] = []


class _DatasetType(msgspec.Struct):
    datasetType: str = ""


class _Facets(msgspec.Struct):
    schema: _Schema | None = None
    columnLineage: _ColumnLineage | None = None
    symlinks: _Symlinks | None = None
    datasetType: _DatasetType | None = None


class _Dataset(msgspec.Struct):
    namespace: str
    name: str
    facets: _Facets | None = None


class _Run(msgspec.Struct):
    runId: str


class _Job(msgspec.Struct):
    namespace: str
    name: str


class _Event(msgspec.Struct):
    eventTime: str
    job: _Job | None = None
    run: _Run | None = None
    eventType: str | None = None
    inputs: list[_Dataset] | None = None
    outputs: list[_Dataset] | None = None


def read_events(path: str, content: bytes) -> tuple[tuple[RuntimeJob, ...], tuple[Diagnostic, ...]]:
    """Read lines, a list or one document of events; give the jobs in order, and what was no event."""
    events: list[_Event] = []
    findings: list[Diagnostic] = []
    for place, raw in _documents(content):
        try:
            events.append(msgspec.convert(msgspec.json.decode(raw) if isinstance(raw, bytes) else raw, _Event))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            findings.append(finding("EVENT_INVALID", path, place=place, reason=str(error)))
    failed = {event.run.runId for event in events if event.run and event.eventType in FAILED}
    told: dict[tuple[str, str], list[_Event]] = {}
    for event in sorted(events, key=lambda event: event.eventTime):
        if event.job is not None and not (event.run and event.run.runId in failed):
            told.setdefault((event.job.namespace, event.job.name), []).append(event)
    return tuple(_job(*key, told[key]) for key in sorted(told)), tuple(findings)


def _documents(content: bytes) -> Iterator[tuple[str, Any]]:
    """Give each event with its place: a whole document where the content is one, else line by line."""
    try:
        whole = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        lines = enumerate(content.splitlines(), 1)
        yield from ((f"line {number}", line) for number, line in lines if line.strip())
        return
    listed = whole if isinstance(whole, list) else [whole]
    yield from ((f"event {number}", event) for number, event in enumerate(listed, 1))


def _job(namespace: str, name: str, events: Iterable[_Event]) -> RuntimeJob:
    """Put together what the events of a job say; of a dataset the last word counts."""
    inputs: dict[Named, RuntimeDataset] = {}
    outputs: dict[Named, RuntimeDataset] = {}
    flows: dict[Named, tuple[RuntimeFlow, ...]] = {}
    for event in events:
        for found, datasets in ((inputs, event.inputs), (outputs, event.outputs)):
            for dataset in datasets or ():
                known = (dataset.namespace, dataset.name)
                found[known] = _dataset(dataset, found.get(known))
        for dataset in event.outputs or ():
            if dataset.facets and dataset.facets.columnLineage:
                known = (dataset.namespace, dataset.name)
                flows[known] = tuple(_flows(known, dataset.facets.columnLineage))
    joined = tuple(flow for known in sorted(flows) for flow in flows[known])
    return RuntimeJob(namespace, name, _sorted(inputs), _sorted(outputs), joined)


def _sorted(datasets: Mapping[Named, RuntimeDataset]) -> tuple[RuntimeDataset, ...]:
    return tuple(datasets[name] for name in sorted(datasets))


def _dataset(dataset: _Dataset, known: RuntimeDataset | None) -> RuntimeDataset:
    facets = dataset.facets or _Facets()
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


def _flows(target: Named, facet: _ColumnLineage) -> Iterator[RuntimeFlow]:
    for output, described in sorted(facet.fields.items()):
        old = _Transformation("DIRECT", described.transformationType or "", described.transformationDescription or "")
        for field in described.inputFields:
            yield from _uses(target, output, field, old)
    for field in facet.dataset or ():
        yield from _uses(target, "*", field, _Transformation("INDIRECT"))


def _uses(target: Named, output: str, field: _InputField, old: _Transformation) -> Iterator[RuntimeFlow]:
    for use in field.transformations or [old]:
        kind, subtype = _meaning(use)
        masking = use.masking or use.subtype == "MASKED"
        source = (field.namespace, field.name)
        yield RuntimeFlow(source, field.field, target, output, kind, subtype, masking, use.description)


def _meaning(use: _Transformation) -> tuple[EdgeType, Subtype]:
    """Give type and subtype in our words; what is none of them is the widest of its type."""
    kind = EdgeType.INDIRECT if use.type.upper() == "INDIRECT" else EdgeType.DIRECT
    word = use.subtype.upper()
    if word in Subtype.__members__:
        return kind, Subtype(word)
    return kind, OLD.get(word, Subtype.TRANSFORMATION if kind is EdgeType.DIRECT else Subtype.CONDITIONAL)
