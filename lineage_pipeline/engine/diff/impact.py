"""Who feels a finding, and how much: the severity at its consumers, and the findings that follow there."""

from collections.abc import Callable, Sequence

import msgspec

from lineage_pipeline.engine.diff.effects import AT_READER, NEEDS_ROWS, SECRETS, as_found
from lineage_pipeline.engine.diff.finding import Finding
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.policy import EXPOSURE, OUTSIDE, Policy, at_most, exposure, worst
from lineage_pipeline.engine.diff.readers import (
    NATURAL,
    Reader,
    broken_readers,
    callers,
    column_readers,
    counts_places,
    has_readers,
    lost_with,
    natural_readers,
    object_readers,
    object_writers,
    omitting,
    positional_sinks,
    positional_writers,
    possible_readers,
    referring,
    row_facets,
    star_readers,
    takes_star,
)
from lineage_pipeline.engine.diff.renames import alike
from lineage_pipeline.engine.diff.spread import place_name, row_effects, spread
from lineage_pipeline.engine.diff.unions import SET_OPERATION, goes_by_place
from lineage_pipeline.vocabulary.sets import Confidence, Severity


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
    """Whoever still reads or fills the object under its old name fails; a view of that name spares the readers."""
    if finding.object in pair.covered:
        return Impact(finding.severity, object_writers(pair.head, finding.object))
    searches = (object_readers, object_writers, referring)
    broken = [reader for search in searches for reader in search(pair.head, finding.object)]
    return _broken(pair, finding, policy, broken)


def feel_column_lost(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Whoever still names the column fails, and an INSERT that counts on its place."""
    felt = _broken(pair, finding, policy, broken_readers(pair, finding.object, finding.column or ""))
    if felt.readers and _is_doubtful(finding):
        felt = msgspec.structs.replace(felt, severity=worst(felt.severity, Severity.POTENTIALLY_BREAKING))
    known = {(reader.object, reader.place) for reader in felt.readers}
    stars = lost_with(pair, finding.object, finding.column or "")
    losing = [reader for reader in stars if (reader.object, reader.place) not in known]
    felt = msgspec.structs.replace(felt, readers=[*felt.readers, *losing])
    counting = positional_writers(pair, finding.object) if finding.rule == "COL001" else []
    if not counting or finding.confidence is Confidence.UNKNOWN:
        return felt
    return msgspec.structs.replace(felt, severity=Severity.BREAKING, readers=[*felt.readers, *counting])


def _is_doubtful(finding: Finding) -> bool:
    """Say whether a rename goes by type and place alone: who moved on may read another value."""
    inferred = finding.rule == "COL002" and finding.confidence is Confidence.INFERRED
    return inferred and not alike(finding.before or "", finding.after or "")


def feel_spelling(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Where letters count it is another name, and whoever uses the old one fails."""
    feel = feel_column_lost if finding.severity is Severity.BREAKING else feel_always
    return feel(pair, finding, policy)


def feel_move(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """What is gone from its place is lost to its readers; what is only filled elsewhere, or stays, is not."""
    feel = feel_object_lost if finding.severity is Severity.BREAKING else feel_object
    return feel(pair, finding, policy)


def feel_calls(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Calls that nobody changed along with the parameters fail."""
    found = callers(pair, finding.object)
    called = bool(pair.head.callers.get(finding.object))
    severity = finding.severity if found else _outside(pair, finding, policy, read=called)
    return Impact(severity, found)


def feel_fields(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Readers of the path fail; those of the whole column pass it on."""
    path = (finding.before or finding.after or "").partition(" ")[0].partition(".")[2].casefold() + "."
    readers = column_readers(pair.head, finding.object, finding.column or "")
    # A type spells its fields in letters of its own.
    named = [one for one in readers if one.path and f"{one.path.casefold()}.".startswith(path)]
    whole = [one for one in readers if not one.path]
    if finding.before is None:
        return Impact(finding.severity, whole)
    severity = finding.severity if named or one_of_types(finding) and whole else _outside(pair, finding, policy)
    return Impact(severity, named or whole)


def one_of_types(finding: Finding) -> bool:
    """Say whether a field is still there, as something else."""
    return finding.before is not None and finding.after is not None


def feel_sensitive(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Where everybody may look, a sensitive value must not be."""
    seen = exposure(policy, finding.object, _tags(pair, finding.object), has_readers=True) == "public"
    readers = column_readers(pair.head, finding.object, finding.column or "")
    return Impact(Severity.BREAKING if seen else finding.severity, readers)


def feel_values(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Readers of the column get other values; those who only decide by it get other rows."""
    readers = column_readers(pair.head, finding.object, finding.column or "")
    at_reader = AT_READER.get(finding.rule, as_found)
    felt = [at_reader(pair, finding, reader) for reader in readers]
    if finding.rule in NEEDS_ROWS and pair.head.writers.get(finding.object):
        felt.append(finding.severity)
    severity = worst(*felt) if felt else _outside(pair, finding, policy)
    if finding.rule in SECRETS:
        severity = worst(severity, finding.severity)
    return Impact(severity, readers, row_effects(finding, readers))


def feel_rows(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Everybody who reads the object gets other rows, most at the first hop."""
    readers = object_readers(pair.head, finding.object)
    severity = finding.severity if has_readers(pair.head, finding.object) else _outside(pair, finding, policy)
    return Impact(severity, readers, spread(pair, finding, policy))


def feel_object(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Everybody who reads the object may feel it."""
    readers = object_readers(pair.head, finding.object)
    felt = has_readers(pair.head, finding.object) or finding.severity is Severity.BREAKING
    return Impact(finding.severity if felt else _outside(pair, finding, policy), readers)


def feel_positions(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Whoever counts columns gets wrong ones; a star passes them on; a list does not care."""
    sinks = positional_sinks(pair, finding.object)
    readers = object_readers(pair.head, finding.object)
    stars = [reader for reader in readers if takes_star(pair.head, reader)]
    counting = sinks or [
        one for one in stars if goes_by_place(row_facets(pair.head, one.object, one.place)) or counts_places(pair, one)
    ]
    if counting:
        return Impact(Severity.BREAKING, counting)
    return Impact(finding.severity if stars else _outside(pair, finding, policy), stars)


def feel_addition(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """A column that nobody asked for breaks what counts columns, and otherwise passes through stars."""
    sinks = positional_sinks(pair, finding.object)
    stars = star_readers(pair, finding.object, finding.column or "")
    keyed = natural_readers(pair, finding.object, finding.column or "")
    counted = [reader for reader in stars if _counts_columns(pair, reader)]
    return Impact(Severity.BREAKING if sinks or counted or keyed else finding.severity, [*sinks, *keyed, *stars])


def feel_writers(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """Statements that fill the object may fail."""
    writers = omitting(pair.head, finding.object, finding.column or "") if finding.rule == "NUL003" else []
    if finding.rule == "COL008" and finding.after is None and (left := _left_empty(pair, finding)):
        return Impact(Severity.BREAKING, left)
    writers = writers or object_writers(pair.head, finding.object)
    return Impact(finding.severity if writers else _outside(pair, finding, policy), writers)


def _left_empty(pair: Pair, finding: Finding) -> list[Reader]:
    """List the writers that left a column to itself, which gets no value any more and needs one."""
    column = pair.head.columns.get(finding.object, {}).get(finding.column or "")
    return omitting(pair.head, finding.object, column.name) if column is not None and not column.nullable else []


def feel_guarantee(pair: Pair, finding: Finding, policy: Policy) -> Impact:
    """A guarantee that is lost is felt by readers, a new one by writers, another one by both."""
    sides = ((feel_object, finding.before), (feel_writers, finding.after))
    felt = [feel(pair, finding, policy) for feel, text in sides if text]
    return Impact(worst(*(one.severity for one in felt)), [reader for one in felt for reader in one.readers])


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
    "OBJ006": feel_calls,
    "OBJ008": feel_move,
    "COL001": feel_column_lost,
    "COL002": feel_column_lost,
    "COL004": feel_addition,
    "COL006": feel_spelling,
    "COL007": feel_fields,
    "COL008": feel_writers,
    "POS001": feel_positions,
    "POS002": feel_positions,
    "TYP": feel_values,
    "NUL001": feel_values,
    "NUL003": feel_writers,
    "EXP": feel_values,
    "ROW": feel_rows,
    "SRC001": feel_rows,
    "CON001": feel_guarantee,
    "PII": feel_sensitive,
}
"""Who feels a rule, by its id or the family it belongs to; the others are as serious as they say."""


def _outside(pair: Pair, finding: Finding, policy: Policy, *, read: bool = False) -> Severity:
    """Give the severity for readers that we do not see."""
    name = pair.renames.names.object(finding.object)
    read = read or has_readers(pair.head, finding.object) or has_readers(pair.head, name)
    tags = (*_tags(pair, finding.object), *_promises(pair, finding.object))
    seen = "private" if pair.head.is_temporary(finding.object) else exposure(policy, finding.object, tags, read)
    outside = at_most(finding.severity, OUTSIDE[seen])
    # Whoever may read any column makes nothing milder.
    possible = at_most(finding.severity, Severity.POTENTIALLY_BREAKING) if _possible(pair, finding) else outside
    return worst(outside, possible)


def _possible(pair: Pair, finding: Finding) -> list[Reader]:
    return possible_readers(pair.head, finding.object) if finding.column else []


def _tags(pair: Pair, name: str) -> tuple[str, ...]:
    """Give the tags of an object on either side: a promise that goes with the change still held when it was made."""
    rows = (side.objects.get(name) for side in (pair.base, pair.head))
    return tuple(tag for row in rows if row for tag in row.tags)


def _promises(pair: Pair, name: str) -> tuple[str, ...]:
    """Give the tag of an exposure that reads an object: who stands behind it goes by the name that the object had."""
    return (EXPOSURE,) if any(pair.base.is_exposure(reader) for reader, _ in pair.base.readers.get(name, ())) else ()


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
    return Impact(_outside(pair, finding, policy), readers or moved or _possible(pair, finding), derived)


def _counts_columns(pair: Pair, reader: Reader) -> bool:
    """Say whether a statement that takes a star goes by all its columns: their places, their names, or their values."""
    facets = row_facets(pair.head, reader.object, reader.place)
    grain = set(facets.get("grouping", "").splitlines())
    united = goes_by_place(facets) or "distinct" in facets.get(SET_OPERATION, "")
    return united or bool(grain & {"distinct", "all"}) or NATURAL in pair.head.features(reader.place)
