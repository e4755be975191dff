"""Impact of a finding: its severity for its consumers, and the findings that follow there."""

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from lineage_pipeline.engine.diff.consumers import (
    NATURAL,
    ConsumerUse,
    find_broken_positional_writers,
    find_broken_readers,
    find_column_readers,
    find_losing_stars,
    find_natural_joins,
    find_object_readers,
    find_object_writers,
    find_omitting_writers,
    find_positional_sinks,
    find_possible_readers,
    find_referring_tables,
    find_star_readers,
    find_unchanged_callers,
    has_positional_clause,
    has_readers,
    list_row_facets,
    takes_star_of,
)
from lineage_pipeline.engine.diff.equivalence import FILTER_FACET, SET_OPERATION_FACET, excludes_null, is_positional
from lineage_pipeline.engine.diff.finding import ChangeFinding
from lineage_pipeline.engine.diff.match import LineagePair, is_similar_name
from lineage_pipeline.engine.diff.policy import (
    EXPOSURE,
    EXTERNAL_SEVERITIES,
    Audience,
    Exposure,
    Policy,
    cap_severity,
    classify_exposure,
    limit_external_severity,
    max_severity,
    rank_severity,
)
from lineage_pipeline.engine.diff.type_comparison import is_narrower_type, keeps_equality, parse_comparable_type
from lineage_pipeline.model.enums import Confidence, ObjectKind, Scope, Severity, Subtype
from lineage_pipeline.model.tables import Column


class ChangeImpact(msgspec.Struct, frozen=True):
    """The severity of a finding for its consumers, who they are, and the findings derived there."""

    severity: Severity
    readers: Sequence[ConsumerUse] = ()
    derived: Sequence[ChangeFinding] = ()


ImpactRule = Callable[[LineagePair, ChangeFinding, Policy], ChangeImpact]


def assess_impact(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """The impact of a finding, by the family of its rule; tests suffer none, and do not count as readers."""
    assess = next(
        (assess for prefix, assess in IMPACT_RULES.items() if finding.rule.startswith(prefix)), impact_as_found
    )
    found = assess(pair, finding, policy)
    severity = found.severity
    if _is_test(pair, finding.object, policy):
        severity = cap_severity(severity, EXTERNAL_SEVERITIES[Audience.TEST])
    elif found.readers and all(_is_test(pair, reader.object, policy) for reader in found.readers):
        severity = cap_severity(severity, _external_severity(pair, finding, policy))
    derived = [_spare_test(pair, one, policy) for one in found.derived]
    return msgspec.structs.replace(found, severity=severity, derived=derived)


def _is_test(pair: LineagePair, name: str, policy: Policy) -> bool:
    return find_exposure(pair, name, policy).audience is Audience.TEST


def _spare_test(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeFinding:
    """A derived finding, harmless where only a test feels it."""
    if not _is_test(pair, finding.object, policy):
        return finding
    return msgspec.structs.replace(finding, severity=cap_severity(finding.severity, EXTERNAL_SEVERITIES[Audience.TEST]))


def assess_confidence(finding: ChangeFinding, readers: Sequence[ConsumerUse]) -> Confidence:
    """The confidence of a finding; one with only possible readers is approximate."""
    doubtful = bool(readers) and all(reader.approximate for reader in readers)
    return Confidence.APPROXIMATE if doubtful and finding.confidence is Confidence.CERTAIN else finding.confidence


def impact_of_lost_object(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """Readers and writers under the old name fail; a view of that name protects the readers."""
    if finding.object in pair.covered:
        return ChangeImpact(finding.severity, find_object_writers(pair.head, finding.object))
    searches = (find_object_readers, find_object_writers, find_referring_tables)
    broken = [reader for search in searches for reader in search(pair.head, finding.object)]
    return _impact_on_broken(pair, finding, policy, broken)


def impact_of_lost_column(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """Readers that name the column fail, and INSERTs that depend on its position."""
    impact = _impact_on_broken(pair, finding, policy, find_broken_readers(pair, finding.object, finding.column or ""))
    if impact.readers and _is_uncertain_rename(finding):
        impact = msgspec.structs.replace(impact, severity=max_severity(impact.severity, Severity.POTENTIALLY_BREAKING))
    known = {(reader.object, reader.place) for reader in impact.readers}
    stars = find_losing_stars(pair, finding.object, finding.column or "")
    losing = [reader for reader in stars if (reader.object, reader.place) not in known]
    impact = msgspec.structs.replace(impact, readers=[*impact.readers, *losing])
    counting = find_broken_positional_writers(pair, finding.object) if finding.rule == "COL001" else []
    if not counting or finding.confidence is Confidence.UNKNOWN:
        return impact
    return msgspec.structs.replace(impact, severity=Severity.BREAKING, readers=[*impact.readers, *counting])


def _is_uncertain_rename(finding: ChangeFinding) -> bool:
    """Say whether a rename is inferred from type and position alone."""
    inferred = finding.rule == "COL002" and finding.confidence is Confidence.INFERRED
    return inferred and not is_similar_name(finding.before or "", finding.after or "")


def impact_of_spelling(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """Where letter case counts, it is another name and readers of the old one fail."""
    assess = impact_of_lost_column if finding.severity is Severity.BREAKING else impact_as_found
    return assess(pair, finding, policy)


def impact_of_move(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """Readers of an object that moved away fail; readers of one that is only filled elsewhere do not."""
    assess = impact_of_lost_object if finding.severity is Severity.BREAKING else impact_on_object
    return assess(pair, finding, policy)


def impact_on_callers(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """Unchanged calls fail."""
    found = find_unchanged_callers(pair, finding.object)
    severity = finding.severity if found else _external_severity(pair, finding, policy)
    return ChangeImpact(severity, found)


def impact_of_fields(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """Readers of the field path fail; readers of the whole column pass it on."""
    path = (finding.before or finding.after or "").partition(" ")[0].partition(".")[2].casefold() + "."
    readers = find_column_readers(pair.head, finding.object, finding.column or "")
    # A type spells its fields in letters of its own.
    named = [one for one in readers if one.path and f"{one.path.casefold()}.".startswith(path)]
    whole = [one for one in readers if not one.path]
    if finding.before is None:
        return ChangeImpact(finding.severity, whole)
    severity = (
        finding.severity if named or is_retyped_field(finding) and whole else _external_severity(pair, finding, policy)
    )
    return ChangeImpact(severity, named or whole)


def is_retyped_field(finding: ChangeFinding) -> bool:
    """Say whether a field still exists with another type."""
    return finding.before is not None and finding.after is not None


def impact_of_sensitive_value(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """A sensitive value in a public object breaks."""
    exposure = find_exposure(pair, finding.object, policy)
    promised = exposure.audience is Audience.PUBLIC and exposure.promised
    readers = find_column_readers(pair.head, finding.object, finding.column or "")
    return ChangeImpact(Severity.BREAKING if promised else finding.severity, readers)


def impact_on_values(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """Readers of the column get other values; those that filter or join by it get other rows."""
    readers = find_column_readers(pair.head, finding.object, finding.column or "")
    at_reader = READER_SEVERITIES.get(finding.rule, severity_as_found)
    severities = [at_reader(pair, finding, reader) for reader in readers]
    if finding.rule in WRITER_RULES and pair.head.writers.get(finding.object):
        severities.append(finding.severity)
    severity = max_severity(*severities, _external_severity(pair, finding, policy))
    if finding.rule in DISCLOSURE_RULES:
        severity = max_severity(severity, finding.severity)
    return ChangeImpact(severity, readers, derive_row_effects(finding, readers))


def impact_on_rows(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """All readers of the object get other rows, mostly at the first hop."""
    readers = find_object_readers(pair.head, finding.object)
    severity = finding.severity if has_readers(pair.head, finding.object) else _external_severity(pair, finding, policy)
    return ChangeImpact(severity, readers, propagate_row_change(pair, finding, policy))


def impact_on_object(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """All readers of the object may be affected."""
    readers = find_object_readers(pair.head, finding.object)
    harmed = has_readers(pair.head, finding.object) or finding.severity is Severity.BREAKING
    return ChangeImpact(finding.severity if harmed else _external_severity(pair, finding, policy), readers)


def impact_of_positions(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """Positional readers get other columns; a star passes them on; a column list is safe."""
    sinks = find_positional_sinks(pair, finding.object)
    readers = find_object_readers(pair.head, finding.object)
    stars = [reader for reader in readers if takes_star_of(pair.head, finding.object, reader)]
    counting = sinks or [
        one
        for one in stars
        if is_positional(list_row_facets(pair.head, one.object, one.place)) or has_positional_clause(pair, one)
    ]
    if counting:
        return ChangeImpact(Severity.BREAKING, counting)
    return ChangeImpact(finding.severity if stars else _external_severity(pair, finding, policy), stars)


def impact_of_addition(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """An added column breaks positional readers, and otherwise passes through stars."""
    sinks = find_positional_sinks(pair, finding.object)
    stars = find_star_readers(pair, finding.object, finding.column or "")
    keyed = find_natural_joins(pair, finding.object, finding.column or "")
    counted = [reader for reader in stars if _depends_on_all_columns(pair, reader)]
    return ChangeImpact(Severity.BREAKING if sinks or counted or keyed else finding.severity, [*sinks, *keyed, *stars])


def impact_on_writers(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """Statements that write to the object may fail."""
    writers = find_omitting_writers(pair.head, finding.object, finding.column or "") if finding.rule == "NUL003" else []
    if finding.rule == "COL008" and finding.after is None and (left := _find_unsupplied_writers(pair, finding)):
        return ChangeImpact(Severity.BREAKING, left)
    writers = writers or find_object_writers(pair.head, finding.object)
    return ChangeImpact(finding.severity if writers else _external_severity(pair, finding, policy), writers)


def _find_unsupplied_writers(pair: LineagePair, finding: ChangeFinding) -> list[ConsumerUse]:
    """The writers that omit a column which has no default any more and is not nullable."""
    column = pair.head.columns.get(finding.object, {}).get(finding.column or "")
    return (
        find_omitting_writers(pair.head, finding.object, column.name)
        if column is not None and not column.nullable
        else []
    )


def impact_of_guarantee(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """A lost guarantee affects readers, a new one writers, a replaced one both."""
    sides = ((impact_on_object, finding.before), (impact_on_writers, finding.after))
    impacts = [assess(pair, finding, policy) for assess, text in sides if text]
    return ChangeImpact(
        max_severity(*(one.severity for one in impacts)), [reader for one in impacts for reader in one.readers]
    )


def impact_as_found(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> ChangeImpact:
    """The severity of the finding, whoever reads."""
    if finding.column:
        return ChangeImpact(finding.severity, find_column_readers(pair.head, finding.object, finding.column))
    return ChangeImpact(finding.severity, find_object_readers(pair.head, finding.object))


IMPACT_RULES: dict[str, ImpactRule] = {
    "OBJ001": impact_of_lost_object,
    "OBJ002": impact_of_lost_object,
    "OBJ004": impact_on_object,
    "OBJ005": impact_on_object,
    "OBJ006": impact_on_callers,
    "OBJ008": impact_of_move,
    "COL001": impact_of_lost_column,
    "COL002": impact_of_lost_column,
    "COL004": impact_of_addition,
    "COL006": impact_of_spelling,
    "COL007": impact_of_fields,
    "COL008": impact_on_writers,
    "POS001": impact_of_positions,
    "POS002": impact_of_positions,
    "TYP": impact_on_values,
    "NUL001": impact_on_values,
    "NUL003": impact_on_writers,
    "EXP": impact_on_values,
    "ROW": impact_on_rows,
    "SRC001": impact_on_rows,
    "CON001": impact_of_guarantee,
    "PII": impact_of_sensitive_value,
}
"""Impact functions by rule id or family; other rules keep their severity."""


def _external_severity(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> Severity:
    """The severity for readers outside the repository."""
    exposure, read = find_exposure(pair, finding.object, policy), _has_known_readers(pair, finding.object)
    limit = limit_external_severity(exposure, finding.rule, read=read)
    outside = cap_severity(finding.severity, limit)
    # Whoever may read any column makes nothing milder.
    possible = (
        cap_severity(finding.severity, Severity.POTENTIALLY_BREAKING) if _possible_consumers(pair, finding) else outside
    )
    return max_severity(outside, possible)


def _possible_consumers(pair: LineagePair, finding: ChangeFinding) -> list[ConsumerUse]:
    return find_possible_readers(pair.head, finding.object) if finding.column else []


def find_exposure(pair: LineagePair, name: str, policy: Policy) -> Exposure:
    """Who may read an object beyond the repository; a temporary one has no other readers."""
    if pair.head.is_temporary(name):
        return Exposure(Audience.PRIVATE, "temporary")
    sides = ((pair.base, name), (pair.head, pair.renames.names.head_object(name)))
    rows = [row for side, known in sides if (row := side.objects.get(known))]
    return classify_exposure(policy, name, rows, _exposure_tags(pair, name), read=_has_known_readers(pair, name))


def _has_known_readers(pair: LineagePair, name: str) -> bool:
    """Say whether a statement of the head reads or calls an object, under its old name or its new one."""
    names = (name, pair.renames.names.head_object(name))
    return any(has_readers(pair.head, one) or pair.head.callers.get(one) for one in names)


def _exposure_tags(pair: LineagePair, name: str) -> tuple[str, ...]:
    """The exposure tag where an exposure reads the object under its base name."""
    return (EXPOSURE,) if any(pair.base.is_exposure(reader) for reader, _ in pair.base.readers.get(name, ())) else ()


def _impact_on_broken(
    pair: LineagePair, finding: ChangeFinding, policy: Policy, readers: Sequence[ConsumerUse]
) -> ChangeImpact:
    derived = [
        ChangeFinding(
            finding.rule,
            reader.object,
            reader.column,
            Severity.BREAKING,
            before=subject_name(finding),
            confidence=Confidence.APPROXIMATE if reader.approximate else Confidence.CERTAIN,
            path=reader.place[0],
            line=reader.line,
        )
        for reader in readers
    ]
    if readers and finding.confidence is not Confidence.UNKNOWN:
        return ChangeImpact(Severity.BREAKING, readers, derived)
    new = pair.renames.names.head_column(finding.object, finding.column or "")
    moved = find_column_readers(pair.head, *new) if finding.column else find_object_readers(pair.head, new[0])
    return ChangeImpact(
        _external_severity(pair, finding, policy), readers or moved or _possible_consumers(pair, finding), derived
    )


def _depends_on_all_columns(pair: LineagePair, reader: ConsumerUse) -> bool:
    """Say whether a statement with a star depends on all columns: by position, by name, or by value."""
    facets = list_row_facets(pair.head, reader.object, reader.place)
    grain = set(facets.get("grouping", "").splitlines())
    united = is_positional(facets) or "distinct" in facets.get(SET_OPERATION_FACET, "")
    return united or bool(grain & {"distinct", "all"}) or NATURAL in pair.head.features(reader.place)


NOT_IN_PATTERNS = ("not(in(", "<> compare all(", "(compare all(")
"""Canonical texts of conditions that keep rows whose value is in no row of a query."""

WRITER_RULES = frozenset({"TYP002", "TYP003", "TYP004"})
"""Rules that affect the writers of the column as well."""

DISCLOSURE_RULES = frozenset({"EXP005"})
"""Rules that keep their severity even without readers."""

_JOINS_OR_AGGREGATES = frozenset({Subtype.JOIN, Subtype.AGGREGATION, Subtype.GROUP_BY})

GRAIN_RULES: dict[str, frozenset[Subtype]] = {"ROW005": _JOINS_OR_AGGREGATES, "ROW006": _JOINS_OR_AGGREGATES}
"""Rules that change the grain of rows, and the uses that break by it."""


def severity_as_found(pair: LineagePair, finding: ChangeFinding, reader: ConsumerUse) -> Severity:
    """The finding's own severity at a reader."""
    return finding.severity


def _severity_of_widening(pair: LineagePair, finding: ChangeFinding, reader: ConsumerUse) -> Severity:
    """A wider value may not fit its target, or not equal its join partner any more, and has another hash."""
    target = _target_column(pair, reader)
    narrow = target and target.type and finding.after and is_narrower_type(target.type, finding.after)
    joined = reader.subtype is Subtype.JOIN and not keeps_equality(finding.before or "", finding.after or "")
    hashed = reader.masking and reader.subtype is not Subtype.AGGREGATION
    noticed = narrow or joined or hashed
    return max_severity(Severity.POTENTIALLY_BREAKING, finding.severity) if noticed else finding.severity


def _severity_of_nulls(pair: LineagePair, finding: ChangeFinding, reader: ConsumerUse) -> Severity:
    """A NULL breaks a NOT NULL target, is lost in a join, and empties a NOT IN."""
    target = _target_column(pair, reader)
    refused = target is not None and not target.nullable and reader.subtype is Subtype.IDENTITY
    refused = refused and not _filters_out_null(pair, finding, reader)
    lost = reader.subtype is Subtype.JOIN or _is_emptied_by_null(pair, finding, reader)
    return Severity.BREAKING if refused or lost else finding.severity


def _filters_out_null(pair: LineagePair, finding: ChangeFinding, reader: ConsumerUse) -> bool:
    """Say whether a reader takes no row in which the value is NULL."""
    bodies = [body for body in pair.head.bodies.get(reader.object, ()) if body.place == reader.place]
    filters = [facet.text for body in bodies for key, facet in body.facets.items() if key == (FILTER_FACET, "*")]
    return any(excludes_null(text, f"{finding.object}.{finding.column}") for text in filters)


def _is_emptied_by_null(pair: LineagePair, finding: ChangeFinding, reader: ConsumerUse) -> bool:
    """Say whether a reader has a NOT IN over the value: one NULL leaves no row."""
    if "NOT IN" in reader.expression.upper():
        return True
    name = f"{finding.object}.{finding.column}"
    bodies = [body for body in pair.head.bodies.get(reader.object, ()) if body.place == reader.place]
    lines = [line for body in bodies for facet in body.facets.values() for line in facet.text.splitlines()]
    return any(start in line and f"{name}, source " in line for line in lines for start in NOT_IN_PATTERNS)


def _severity_of_recast(pair: LineagePair, finding: ChangeFinding, reader: ConsumerUse) -> Severity:
    """A date that became a timestamp does not harm readers that cast it."""
    families = [parse_comparable_type(text or "").family for text in (finding.before, finding.after)]
    cast = "CAST" in reader.expression.upper() or "::" in reader.expression
    harmless = families == ["date", "timestamp"] and cast
    return cap_severity(finding.severity, Severity.POTENTIALLY_BREAKING) if harmless else finding.severity


READER_SEVERITIES: dict[str, Callable[[LineagePair, ChangeFinding, ConsumerUse], Severity]] = {
    "TYP001": _severity_of_widening,
    "TYP003": _severity_of_recast,
    "TYP004": _severity_of_widening,
    "NUL001": _severity_of_nulls,
}
"""Rules whose severity depends on what a reader does."""


def _target_column(pair: LineagePair, reader: ConsumerUse) -> Column | None:
    """The column of a table in which a reader stores the value."""
    row = pair.head.objects.get(reader.object)
    if row is None or row.kind is not ObjectKind.TABLE or not reader.direct or not reader.column:
        return None
    column = pair.head.columns.get(reader.object, {}).get(reader.column)
    made_here = column is not None and (column.path, column.statement) == reader.place
    return None if made_here else column


def subject_name(finding: ChangeFinding) -> str:
    """The column or object that a finding is about."""
    return f"{finding.object}.{finding.column}" if finding.column else finding.object


def derive_row_effects(finding: ChangeFinding, readers: Sequence[ConsumerUse]) -> list[ChangeFinding]:
    """Findings for readers that only filter, join, group or sort by a changed column."""
    if rank_severity(finding.severity) < rank_severity(Severity.POTENTIALLY_BREAKING):
        return []
    valued = {(reader.object, reader.place) for reader in readers if reader.direct}
    deciding = [reader for reader in readers if not reader.direct and (reader.object, reader.place) not in valued]
    return [_derive_finding(finding, reader, Severity.POTENTIALLY_BREAKING) for reader in deciding]


def propagate_row_change(pair: LineagePair, finding: ChangeFinding, policy: Policy) -> list[ChangeFinding]:
    """Findings for a row change, object by object: full severity at the first hop, information beyond."""
    if finding.severity is Severity.INFO:
        return []
    seen, edge, found = {finding.object}, [finding.object], []
    for hop in range(policy.hops):
        readers = [(name, reader) for name in edge for reader in find_object_readers(pair.head, name)]
        new: dict[str, tuple[str, ConsumerUse]] = {}
        for name, reader in readers:
            if reader.object not in seen:
                new.setdefault(reader.object, (name, reader))
        seen.update(new)
        edge = sorted(new)
        for name, reader in new.values():
            severity = _row_severity(pair, finding, name, reader.object, near=hop == 0)
            found.append(_derive_finding(finding, reader, severity))
    return found


def _row_severity(pair: LineagePair, finding: ChangeFinding, name: str, reader: str, *, near: bool) -> Severity:
    """A change of grain breaks joins and aggregates at any distance; other changes count at the first hop."""
    grain = finding.rule in GRAIN_RULES and not _keeps_grain(finding)
    columns = pair.head.columns.get(name, {}) if grain else ()
    uses = (use for column in columns for use in find_column_readers(pair.head, name, column) if use.object == reader)
    if any(use.subtype in GRAIN_RULES[finding.rule] for use in uses):
        return Severity.BREAKING
    return cap_severity(finding.severity, Severity.POTENTIALLY_BREAKING) if near else Severity.INFO


def _keeps_grain(finding: ChangeFinding) -> bool:
    """Say whether each row stands for what it stood for: the columns of its key are the same, or rows come or go."""
    if finding.rule == "ROW005":
        return finding.severity is not Severity.BREAKING
    # Only UNION ALL has more branches, or fewer.
    before, after = (
        Counter(line.partition(" of ")[0] for line in (text or "").splitlines())
        for text in (finding.before, finding.after)
    )
    return {*(before - after), *(after - before)} <= {"union all"}


def _derive_finding(finding: ChangeFinding, reader: ConsumerUse, severity: Severity) -> ChangeFinding:
    return ChangeFinding(
        finding.rule,
        reader.object,
        None,
        severity,
        before=subject_name(finding),
        confidence=Confidence.APPROXIMATE if reader.approximate else Confidence.INFERRED,
        scope=Scope.ROW_SET,
        path=reader.place[0],
        line=reader.line,
    )
