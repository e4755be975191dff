"""Who feels a finding, and how much: the severity at its consumers, and the findings that follow there."""

from collections.abc import Callable, Sequence

import msgspec

from lineage_pipeline.engine.diff.effects import AT_READER, GRAIN, NEEDS_ROWS, as_found
from lineage_pipeline.engine.diff.finding import Finding
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.policy import OUTSIDE, Policy, at_most, exposure, rank, worst
from lineage_pipeline.engine.diff.readers import (
    Reader,
    broken_readers,
    column_readers,
    has_readers,
    object_readers,
    object_writers,
    positional_sinks,
    star_readers,
)
from lineage_pipeline.vocabulary.sets import Confidence, Scope, Severity


class Impact(msgspec.Struct, frozen=True):
    """How serious a finding is for those who feel it, who they are, and what follows there."""

    severity: Severity
    readers: Sequence[Reader] = ()
    derived: Sequence[Finding] = ()


Feel = Callable[[Pair, Finding, Policy], Impact]


def impact(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Ask who feels a finding, by the kind of its rule."""
    feel = next((feel for prefix, feel in FEELS.items() if finding.rule.startswith(prefix)), feel_always)
    return feel(pair, finding, policy)


def confidence(finding: Finding, readers: Sequence[Reader]) -> Confidence:
    """Give a finding's confidence; one that only possible readers feel is approximate."""
    doubtful = bool(readers) and all(reader.approximate for reader in readers)
    return Confidence.APPROXIMATE if doubtful and finding.confidence is Confidence.CERTAIN else finding.confidence


def feel_object_lost(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Whoever still reads or fills the object under its old name fails."""
    broken = [*object_readers(pair.head, finding.object), *object_writers(pair.head, finding.object)]
    return _broken(pair, finding, policy, broken)


def feel_column_lost(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Whoever still names the column fails."""
    return _broken(pair, finding, policy, broken_readers(pair, finding.object, finding.column or ""))


def feel_values(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Readers of the column get other values; those who only decide by it get other rows."""
    readers = column_readers(pair.head, finding.object, finding.column or "")
    at_reader = AT_READER.get(finding.rule, as_found)
    felt = [at_reader(pair, finding, reader) for reader in readers]
    if finding.rule in NEEDS_ROWS and pair.head.writers.get(finding.object):
        felt.append(finding.severity)
    severity = worst(*felt) if felt else _outside(pair, finding, policy)
    return Impact(severity, readers, _row_effects(finding, readers))


def feel_rows(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Everybody who reads the object gets other rows, most at the first hop."""
    readers = object_readers(pair.head, finding.object)
    severity = finding.severity if has_readers(pair.head, finding.object) else _outside(pair, finding, policy)
    return Impact(severity, readers, _spread(pair, finding, policy))


def feel_object(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Everybody who reads the object may feel it."""
    readers = object_readers(pair.head, finding.object)
    felt = has_readers(pair.head, finding.object) or finding.severity is Severity.BREAKING
    return Impact(finding.severity if felt else _outside(pair, finding, policy), readers)


def feel_positions(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Whoever counts columns gets wrong ones; a star passes them on; a list does not care."""
    sinks = positional_sinks(pair, finding.object)
    readers = object_readers(pair.head, finding.object)
    stars = [reader for reader in readers if "star" in pair.head.features(reader.place)]
    if sinks:
        return Impact(Severity.BREAKING, sinks)
    return Impact(finding.severity if stars else _outside(pair, finding, policy), stars)


def feel_addition(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """A column that nobody asked for breaks what counts columns, and otherwise passes through stars."""
    sinks = positional_sinks(pair, finding.object)
    stars = star_readers(pair, finding.object, finding.column or "")
    counted = [reader for reader in stars if _counts_columns(pair, reader)]
    return Impact(Severity.BREAKING if sinks or counted else finding.severity, [*sinks, *stars])


def feel_writers(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Statements that fill the object may fail."""
    writers = object_writers(pair.head, finding.object)
    return Impact(finding.severity if writers else _outside(pair, finding, policy), writers)


def feel_guarantee(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """A guarantee that is lost is felt by readers, a new one by writers."""
    return feel_object(pair, finding, policy) if finding.before else feel_writers(pair, finding, policy)


def feel_always(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """The finding is as serious as it says, whoever reads."""
    if finding.column:
        return Impact(finding.severity, column_readers(pair.head, finding.object, finding.column))
    return Impact(finding.severity, object_readers(pair.head, finding.object))


FEELS: dict[str, Feel] = {
    "OBJ001": feel_object_lost,
    "OBJ002": feel_object_lost,
    "OBJ004": feel_object,
    "OBJ005": feel_object,
    "COL001": feel_column_lost,
    "COL002": feel_column_lost,
    "COL004": feel_addition,
    "POS": feel_positions,
    "TYP": feel_values,
    "NUL001": feel_values,
    "NUL003": feel_writers,
    "EXP": feel_values,
    "ROW": feel_rows,
    "SRC001": feel_rows,
    "CON": feel_guarantee,
}
"""Who feels a rule, by its id or the family it belongs to; the others are as serious as they say."""


def _outside(pair: Pair, finding: Finding, policy: Policy) -> Severity:
    """Give the severity for readers that we do not see."""
    name = pair.renames.names.object(finding.object)
    read = has_readers(pair.head, finding.object) or has_readers(pair.head, name)
    return at_most(finding.severity, OUTSIDE[exposure(policy, finding.object, read)])


def _broken(pair: Pair, finding: Finding, policy: Policy, readers: Sequence[Reader]) -> Impact:
    derived = [
        Finding(
            finding.rule,
            reader.object,
            reader.column,
            Severity.BREAKING,
            before=place_name(finding),
            confidence=Confidence.APPROXIMATE if reader.approximate else Confidence.CERTAIN,
            path=reader.place[0],
            line=reader.line,
        )
        for reader in readers
    ]
    if readers and finding.confidence is not Confidence.UNKNOWN:
        return Impact(Severity.BREAKING, readers, derived)
    new = pair.renames.names.column(finding.object, finding.column or "")
    moved = column_readers(pair.head, *new) if finding.column else object_readers(pair.head, new[0])
    return Impact(_outside(pair, finding, policy), readers or moved, derived)


def place_name(finding: Finding) -> str:
    """Name the column or object that a finding is about."""
    return f"{finding.object}.{finding.column}" if finding.column else finding.object


def _row_effects(finding: Finding, readers: Sequence[Reader]) -> list[Finding]:
    """A reader that only filters, joins, groups or sorts by a changed column gives other rows."""
    if rank(finding.severity) < rank(Severity.POTENTIALLY_BREAKING):
        return []
    valued = {(reader.object, reader.place) for reader in readers if reader.direct}
    deciding = [reader for reader in readers if not reader.direct and (reader.object, reader.place) not in valued]
    return [_derived(finding, reader, Severity.POTENTIALLY_BREAKING) for reader in deciding]


def _spread(pair: Pair, finding: Finding, policy: Policy) -> list[Finding]:
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
            severity = _row_severity(pair, finding, name, reader.object) if hop == 0 else Severity.INFO
            found.append(_derived(finding, reader, severity))
    return found


def _row_severity(pair: Pair, finding: Finding, name: str, reader: str) -> Severity:
    """A change of grain breaks whoever joins or aggregates."""
    grain = finding.rule in GRAIN
    columns = pair.head.columns.get(name, {}) if grain else ()
    uses = (use for column in columns for use in column_readers(pair.head, name, column) if use.object == reader)
    if any(use.subtype in GRAIN[finding.rule] for use in uses):
        return Severity.BREAKING
    return at_most(finding.severity, Severity.POTENTIALLY_BREAKING)


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


def _counts_columns(pair: Pair, reader: Reader) -> bool:
    """Say whether a statement that takes a star puts its branches together by position or by their common names."""
    bodies = pair.head.bodies.get(reader.object, ())
    facets = {name for body in bodies if body.place == reader.place for name, _ in body.facets}
    return "set operation" in facets or "natural join" in pair.head.features(reader.place)
