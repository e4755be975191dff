"""How far a change of rows is felt: at whoever decides by a changed column, and from object to object."""

from collections.abc import Sequence

from lineage_pipeline.engine.diff.effects import GRAIN
from lineage_pipeline.engine.diff.finding import Finding
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.policy import Policy, at_most, rank
from lineage_pipeline.engine.diff.readers import Reader, column_readers, object_readers
from lineage_pipeline.vocabulary.sets import Confidence, Scope, Severity


def place_name(finding: Finding) -> str:
    """Name the column or object that a finding is about."""
    return f"{finding.object}.{finding.column}" if finding.column else finding.object


def row_effects(finding: Finding, readers: Sequence[Reader]) -> list[Finding]:
    """A reader that only filters, joins, groups or sorts by a changed column gives other rows."""
    if rank(finding.severity) < rank(Severity.POTENTIALLY_BREAKING):
        return []
    valued = {(reader.object, reader.place) for reader in readers if reader.direct}
    deciding = [reader for reader in readers if not reader.direct and (reader.object, reader.place) not in valued]
    return [_derived(finding, reader, Severity.POTENTIALLY_BREAKING) for reader in deciding]


def spread(pair: Pair, finding: Finding, policy: Policy) -> list[Finding]:
    """Follow a change of rows from object to object: felt at the first hop, told beyond."""
    if finding.severity is Severity.INFO:
        return []
    seen, edge, found = {finding.object}, [finding.object], []
    for hop in range(policy.hops):
        readers = [(name, reader) for name in edge for reader in object_readers(pair.head, name)]
        new: dict[str, tuple[str, Reader]] = {}
        for name, reader in readers:
            if reader.object not in seen:
                new.setdefault(reader.object, (name, reader))
        seen.update(new)
        edge = sorted(new)
        for name, reader in new.values():
            severity = _row_severity(pair, finding, name, reader.object, near=hop == 0)
            found.append(_derived(finding, reader, severity))
    return found


def _row_severity(pair: Pair, finding: Finding, name: str, reader: str, *, near: bool) -> Severity:
    """A change of grain breaks whoever joins or aggregates, however far; any other is felt at the first hop."""
    grain = finding.rule in GRAIN
    columns = pair.head.columns.get(name, {}) if grain else ()
    uses = (use for column in columns for use in column_readers(pair.head, name, column) if use.object == reader)
    if any(use.subtype in GRAIN[finding.rule] for use in uses):
        return Severity.BREAKING
    return at_most(finding.severity, Severity.POTENTIALLY_BREAKING) if near else Severity.INFO


def _derived(finding: Finding, reader: Reader, severity: Severity) -> Finding:
    return Finding(
        finding.rule,
        reader.object,
        None,
        severity,
        before=place_name(finding),
        confidence=Confidence.APPROXIMATE if reader.approximate else Confidence.INFERRED,
        scope=Scope.ROW_SET,
        path=reader.place[0],
        line=reader.line,
    )
