"""The objects around the changes as a Mermaid graph: what changed, who feels it, and how they hang together."""

from collections.abc import Iterator, Sequence
from itertools import chain

from lineage_pipeline.export.escaping import mermaid
from lineage_pipeline.export.reports.escapes import plain
from lineage_pipeline.export.reports.reading import ORDER, Cause
from lineage_pipeline.export.subject import Comparison
from lineage_pipeline.vocabulary.sets import Severity

MOST_NODES = 30
"""More than this nobody can read, and some hosts refuse to draw."""

CLASSES = {
    Severity.BREAKING: ("breaking", "fill:#ffdcd7,stroke:#b42318,color:#1f2328"),
    Severity.POTENTIALLY_BREAKING: ("potentially", "fill:#fff1c2,stroke:#9a6700,color:#1f2328"),
    Severity.NON_BREAKING: ("harmless", "fill:#e6f4ea,stroke:#1a7f37,color:#1f2328"),
    Severity.INFO: ("harmless", "fill:#e6f4ea,stroke:#1a7f37,color:#1f2328"),
}


def neighbourhood(comparison: Comparison, found: Sequence[Cause]) -> tuple[list[str], int]:
    """Give the lines of the graph, and how many objects it leaves out; nothing where nobody feels anything."""
    harmful = [cause for cause in found if cause.is_harmful and cause.feeling]
    severities = _severities(harmful)
    names = list(severities)[:MOST_NODES]
    if not names:
        return [], 0
    changed = {cause.change.object for cause in harmful}
    return list(_graph(comparison, harmful, {name: severities[name] for name in names}, changed)), len(
        severities
    ) - len(names)


def _severities(found: Sequence[Cause]) -> dict[str, Severity]:
    """Give each object at its worst: causes in order, each with those who feel it."""
    known: dict[str, Severity] = {}
    for cause in found:
        root = [(cause.change.object, cause.change.effective)]
        felt = [(reader.object, reader.effective or Severity.POTENTIALLY_BREAKING) for reader in cause.felt]
        for name, severity in chain(root, felt):
            known[name] = min(known.get(name, severity), severity, key=ORDER.__getitem__)
    return known


def _graph(
    comparison: Comparison, found: Sequence[Cause], severities: dict[str, Severity], changed: set[str]
) -> Iterator[str]:
    ids = {name: f"n{number}" for number, name in enumerate(severities)}
    yield "flowchart LR"
    for name, severity in severities.items():
        opening, closing = ("([", "])") if name in changed else ("[", "]")
        yield f'  {ids[name]}{opening}"{mermaid(plain(name, 80))}"{closing}:::{CLASSES[severity][0]}'
    for source, target in _edges(comparison, found, severities):
        yield f"  {ids[source]} --> {ids[target]}"
    for label, look in sorted({CLASSES[severity] for severity in severities.values()}):
        yield f"  classDef {label} {look}"


def _edges(comparison: Comparison, found: Sequence[Cause], names: dict[str, Severity]) -> list[tuple[str, str]]:
    """Give what connects the objects: the graph of head where it is known, else who reads what changed."""
    roots = {cause.change.id for cause in found}
    read = [
        (change.object, consumer.object)
        for change in comparison.changes
        if change.root_id in roots
        for consumer in change.consumers
    ]
    edges = dict.fromkeys(sorted({*comparison.edges, *read}))
    return [(source, target) for source, target in edges if source in names and target in names and source != target]
