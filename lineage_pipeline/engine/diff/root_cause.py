"""Root causes: which findings follow from others."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from lineage_pipeline.engine.diff.equivalence import LOOSENED, TIGHTENED
from lineage_pipeline.engine.diff.finding import ChangeFinding, finding_order
from lineage_pipeline.engine.diff.index import PROJECTION_FACET
from lineage_pipeline.engine.diff.match import LineagePair
from lineage_pipeline.engine.diff.policy import rank_severity
from lineage_pipeline.engine.diff.rules.row_set import JOINED_QUERY
from lineage_pipeline.engine.diff.rules.write_mode import find_load
from lineage_pipeline.model.enums import Confidence, Severity

FindingsByColumn = Mapping[tuple[str, str | None], Sequence[ChangeFinding]]
"""All findings by object and column."""

SwappedInputs = tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]
"""The columns that only the base reads for a value, and those that only the head does."""

CauseSearch = Callable[[LineagePair, ChangeFinding, FindingsByColumn], Iterable[ChangeFinding]]


def find_roots(pair: LineagePair, findings: Sequence[ChangeFinding]) -> dict[ChangeFinding, ChangeFinding]:
    """Map every finding to its root cause; a root maps to itself."""
    found: dict[tuple[str, str | None], list[ChangeFinding]] = defaultdict(list)
    for finding in findings:
        found[finding.object, finding.column].append(finding)
    causes = {finding: _find_cause(pair, finding, found) for finding in findings}
    known: dict[ChangeFinding, ChangeFinding] = {}
    for finding in findings:
        known.update(_follow_causes(finding, causes, known))
    return {finding: known[finding] for finding in findings}


def _find_cause(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> ChangeFinding | None:
    """The nearest cause, by the first search that gives one."""
    for prefix, search, rules in CAUSES:
        if finding.rule.startswith(prefix):
            candidates = [one for one in search(pair, finding, found) if one != finding and one.rule.startswith(rules)]
            if candidates:
                return min(
                    candidates,
                    key=lambda one: (_rule_preference(one, rules), -rank_severity(one.severity), finding_order(one)),
                )
    return None


def _rule_preference(finding: ChangeFinding, rules: Sequence[str]) -> int:
    return next(place for place, prefix in enumerate(rules) if finding.rule.startswith(prefix))


def _follow_causes(
    finding: ChangeFinding,
    causes: Mapping[ChangeFinding, ChangeFinding | None],
    known: Mapping[ChangeFinding, ChangeFinding],
) -> dict[ChangeFinding, ChangeFinding]:
    """The root cause of a finding and of all on the way to it; in a cycle the first in finding order."""
    way: dict[ChangeFinding, None] = {}
    at: ChangeFinding | None = finding
    while at is not None and at not in known and at not in way:
        way[at] = None
        at = causes[at]
    passed = [*way]
    if at is None:
        return dict.fromkeys(passed, passed[-1])
    root = known[at] if at in known else min(passed[passed.index(at) :], key=finding_order)
    return dict.fromkeys(passed, root)


def _find_same_column(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    return found.get((finding.object, finding.column), ())


def _find_struct(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """Findings at the column that a field belongs to."""
    return found.get((finding.object, (finding.column or "").rpartition(".")[0]), ())


def _find_same_object(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    return found.get((finding.object, None), ())


def _find_uncertainty(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """The reason why it is unknown whether a column still exists."""
    return _find_same_object(pair, finding, found) if finding.confidence is Confidence.UNKNOWN else ()


def _find_contract(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """A removed contract that typed an unedited object."""
    return _find_same_object(pair, finding, found) if pair.is_unedited(finding.object) else ()


def _find_arity_mismatch(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """Branches or values whose number does not fit: other changes are irrelevant."""
    return [one for one in found.get((finding.object, None), ()) if one.before is None]


def _find_missing_source(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """A missing source where a text contains an unresolved name."""
    return _find_same_object(pair, finding, found) if UNRESOLVED_PREFIX in (finding.after or "") else ()


def _find_moved_condition(
    pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn
) -> Iterable[ChangeFinding]:
    """A join or MERGE arm that a condition moved to or from."""
    old, new = (set(_DIRECTION_PREFIX.sub("", text or "").splitlines()) for text in (finding.before, finding.after))
    return [
        one
        for one in _find_same_object(pair, finding, found)
        if any(text in f"{one.before} {one.after}" for text in old ^ new)
    ]


_DIRECTION_PREFIX = re.compile(rf"^({TIGHTENED}|{LOOSENED}): ")


def _find_changed_branches(
    pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn
) -> Iterable[ChangeFinding]:
    """Added or removed branches or rows of a set operation, which affect every column."""
    here = found.get((finding.object, None), ())
    return [one for one in here if _count_branches(one.before) != _count_branches(one.after)]


def _find_same_join(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """The same change of a join with the same source at an earlier place: one edit, made several times."""
    if finding.rule not in ("ROW001", "ROW003"):
        return ()
    return [
        one
        for one in _find_same_object(pair, finding, found)
        if one.rule == finding.rule
        and finding_order(one) < finding_order(finding)
        and _drop_conditions(one) == _drop_conditions(finding)
    ]


def _find_joined_groups(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """The join with a query that came or went with groups of its own."""
    if finding.severity is Severity.BREAKING:
        return ()
    return [one for one in _find_same_object(pair, finding, found) if JOINED_QUERY in (one.after or one.before or "")]


def _find_regrouping(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """The other grouping that makes a key of what was aggregated, or the other way round."""

    def is_regrouped(one: ChangeFinding) -> bool:
        keys = (finding.before in (one.before or "").splitlines(), finding.after in (one.after or "").splitlines())
        return keys[0] != keys[1]

    return filter(is_regrouped, _find_same_object(pair, finding, found))


def _drop_conditions(finding: ChangeFinding) -> tuple[str, str]:
    """The joins before and after, without what they join by."""
    return (finding.before or "").partition(" ON ")[0], (finding.after or "").partition(" ON ")[0]


def _find_other_load(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """The change of how a table is filled anew, which changed its keys as well."""
    load = find_load(pair.head, finding.object) or find_load(pair.base, finding.object)
    return [one for one in _find_same_object(pair, finding, found) if load and load in (one.before, one.after)]


def _find_kind(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """The change of kind that changed how an object is filled."""
    return [one for one in _find_same_object(pair, finding, found) if one.before and one.before == finding.before]


def _find_changed_arms(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """A change of MERGE arms that affects values; which rows it takes does not."""
    ways = [
        one for one in _find_same_object(pair, finding, found) if not _REMOVES_ROWS.match(one.before or one.after or "")
    ]
    return [one for one in ways if _parse_arms(one.before) != _parse_arms(one.after)]


def _parse_arms(text: str | None) -> list[str]:
    """The arms of a statement, without their conditions."""
    return [line.partition(" and (")[0] for line in (text or "").splitlines()]


_REMOVES_ROWS = re.compile(r"TRUNCATE|DELETE\b.* (?:where|of) ")


def _count_branches(text: str | None) -> list[tuple[bool, str]]:
    """The set operations of a statement: whether they only remove rows, and their number of branches."""
    return [(line.startswith("except"), line.rpartition(" of ")[2]) for line in (text or "").splitlines()]


def _find_source_changes(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """Findings at the sources that an object no longer reads, and at those it reads now."""
    names = [*(finding.before or "").split(", "), *(finding.after or "").split(", ")]
    return [one for name in names for one in found.get((name, None), ())]


def _find_own_columns(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """Findings at the columns that the object lost or gained."""
    names = {*pair.base.columns.get(finding.object, {}), *pair.head.columns.get(finding.object, {})}
    return [one for name in sorted(names) for one in found.get((finding.object, name), ())]


def _find_carried_inputs(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """Findings at the inputs of a column whose own expression is unedited."""
    return _find_inputs(pair, finding, found) if _is_carried(pair, finding) else ()


def _find_learned_type(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """Findings at the inputs of a column whose type is now known."""
    return _find_carried_inputs(pair, finding, found) if finding.before is None else ()


def _find_unedited_inputs(
    pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn
) -> Iterable[ChangeFinding]:
    """Findings at the inputs of a column whose object is unedited: a star brought the change."""
    return _find_inputs(pair, finding, found) if pair.is_unedited(finding.object) else ()


def _find_unedited_sources(
    pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn
) -> Iterable[ChangeFinding]:
    """All findings in the objects that an unedited object reads."""
    if not pair.is_unedited(finding.object):
        return ()
    names = {*pair.base.sources(finding.object), *pair.head.sources(finding.object)}
    return [one for (name, _), all_ in found.items() if name in names for one in all_]


def _find_sibling_columns(
    pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn
) -> Iterable[ChangeFinding]:
    """Findings at the same column of another object that the same statement fills."""
    edges = [edge for place in pair.head.makers.get(finding.object, ()) for edge in pair.head.edges_at.get(place, ())]
    twins = {edge.to_object for edge in edges} - {finding.object}
    return [one for name in sorted(twins) for one in found.get((name, finding.column), ())]


def _find_twins(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """The same change of a column in another object that the same statement fills."""
    twins = _find_sibling_columns(pair, finding, found)
    return [one for one in twins if (one.before, one.after) == (finding.before, finding.after)]


def _find_swapped_source(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """Another source in the place of the one that a column came from."""
    read = {edge.from_object for edge in pair.base.inputs(finding.object, finding.column or "")}
    return [one for one in _find_same_object(pair, finding, found) if one.before in read]


def _find_same_swap(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """Earlier columns whose inputs were replaced alike: `min(a)` and `max(a)`, or all that came from another source."""
    swapped = _find_swapped_inputs(pair, finding)
    if not all(swapped):
        return ()
    replaced = _find_replaced_sources(pair, finding.object, swapped)
    beside = (
        one for name in pair.head.columns.get(finding.object, {}) for one in found.get((finding.object, name), ())
    )

    def is_same(other: SwappedInputs) -> bool:
        return other == swapped or bool(replaced) and _find_replaced_sources(pair, finding.object, other) == replaced

    return [
        one
        for one in beside
        if one.rule == finding.rule
        and finding_order(one) < finding_order(finding)
        and is_same(_find_swapped_inputs(pair, one))
    ]


def _find_swapped_inputs(pair: LineagePair, finding: ChangeFinding) -> SwappedInputs:
    """The columns that only the base reads for a value, and those that only the head does."""
    before, after = (
        {(edge.from_object, edge.from_column) for edge in side.inputs(finding.object, finding.column or "")}
        for side in (pair.base, pair.head)
    )
    return frozenset(before - after), frozenset(after - before)


def _find_replaced_sources(
    pair: LineagePair, name: str, swapped: SwappedInputs
) -> tuple[frozenset[str], frozenset[str]] | None:
    """The sources of some inputs that an object no longer reads, and those that it reads now; None where it had one."""
    gone, came = (frozenset(source for source, _ in inputs) for inputs in swapped)
    if gone & set(pair.head.sources(name)) or came & set(pair.base.sources(name)):
        return None
    return gone, came


def _find_all_inputs(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """Findings at the inputs of a column, edited or not."""
    return _find_inputs(pair, finding, found)


def _find_ambiguity(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> Iterable[ChangeFinding]:
    """Findings at the columns of one name that were added to the sources of a statement."""
    sources = pair.head.sources(finding.object)
    return [one for name in sources for one in found.get((name, finding.before), ())]


def _find_inputs(pair: LineagePair, finding: ChangeFinding, found: FindingsByColumn) -> list[ChangeFinding]:
    """Findings at a column's inputs on either side, and at the objects they belong to."""
    column = finding.column or ""
    edges = [*pair.base.inputs(finding.object, column), *pair.head.inputs(finding.object, column)]
    old = [old for (name, old), new in pair.renames.names.columns.items() if (name, new) == (finding.object, column)]
    edges += [edge for name in old for edge in pair.base.inputs(finding.object, name)]
    keys: set[tuple[str, str | None]] = {(edge.from_object, edge.from_column) for edge in edges}
    keys |= {(name, old) for (name, old), new in pair.renames.names.columns.items() if (name, new) in keys}
    keys |= {(edge.from_object, None) for edge in edges}
    return [one for key in keys for one in found.get(key, ())]


def _is_carried(pair: LineagePair, finding: ChangeFinding) -> bool:
    """Say whether no statement that fills the column changes its expression, except for an unresolved name."""
    rewrites = pair.writers[finding.object].rewrites if finding.object in pair.writers else ()
    texts = (rewrite.text(PROJECTION_FACET, finding.column or "") for rewrite in rewrites)
    return all(before == after or UNRESOLVED_PREFIX in after for before, after in texts)


UNRESOLVED_PREFIX = "?."
"""The prefix of an unresolved name in canonical text."""

_REMOVAL_RULES = ("COL001", "COL002", "OBJ", "ANL")

CAUSES: tuple[tuple[str, CauseSearch, tuple[str, ...]], ...] = (
    ("COL001", _find_uncertainty, ("SRC002", "ANL001")),
    ("COL001", _find_unedited_inputs, _REMOVAL_RULES),
    ("COL002", _find_unedited_inputs, ("COL002",)),
    ("COL005", _find_ambiguity, ("COL003", "COL004")),
    ("COL006", _find_unedited_inputs, ("COL006",)),
    ("COL007", _find_carried_inputs, ("COL007", *_REMOVAL_RULES)),
    ("COL007", _find_same_column, ("EXP",)),
    ("COL003", _find_unedited_inputs, ("COL003", "COL004", "COL002", "OBJ003")),
    ("COL004", _find_unedited_inputs, ("COL003", "COL004", "COL002", "OBJ003")),
    ("POS002", _find_own_columns, ("COL001", "COL003", "COL004")),
    ("POS003", _find_unedited_sources, ("COL001", "COL002", "COL003", "COL004")),
    ("POS001", _find_unedited_sources, ("POS", "COL")),
    ("POS003", _find_own_columns, ("COL001", "COL002", "COL003", "COL004")),
    ("EXP", _find_struct, ("EXP",)),
    ("EXP", _find_arity_mismatch, ("POS003",)),
    ("EXP", _find_missing_source, ("SRC002",)),
    ("ROW", _find_missing_source, ("SRC002",)),
    ("ROW004", _find_moved_condition, ("ROW001", "ROW002", "ROW003", "ROW009")),
    ("EXP", _find_changed_branches, ("ROW006",)),
    ("EXP", _find_changed_arms, ("ROW009",)),
    ("EXP003", _find_regrouping, ("ROW005",)),
    ("COL003", _find_same_column, ("NUL003",)),
    ("SRC001", _find_same_object, ("ANL003",)),
    ("CON001", _find_other_load, ("ROW009",)),
    ("ROW009", _find_kind, ("OBJ004",)),
    ("SRC", _find_source_changes, ("OBJ008",)),
    ("EXP002", _find_all_inputs, ("OBJ008",)),
    ("EXP", _find_twins, ("EXP",)),
    ("EXP002", _find_swapped_source, ("SRC001",)),
    ("EXP002", _find_same_swap, ("EXP002",)),
    ("SRC002", _find_unedited_sources, ("OBJ003",)),
    ("TYP006", _find_same_object, ("ANL003", "SRC002", "CON002")),
    ("ROW003", _find_same_object, ("ROW009",)),
    ("ROW005", _find_joined_groups, ("ROW003",)),
    ("ROW00", _find_same_join, ("ROW001", "ROW003")),
    ("TYP", _find_same_object, ("COL005",)),
    ("TYP006", _find_learned_type, ("COL003", "COL004")),
    ("TYP", _find_carried_inputs, ("TYP", "COL006", "COL007", *_REMOVAL_RULES)),
    ("TYP", _find_same_column, ("EXP",)),
    ("TYP", _find_contract, ("CON002",)),
    ("TYP", _find_sibling_columns, ("EXP",)),
    ("NUL", _find_carried_inputs, ("NUL", *_REMOVAL_RULES)),
    ("NUL", _find_same_column, ("EXP", "COL008")),
    ("NUL", _find_same_object, ("ROW001", "ROW003", "ROW006", "SRC002", "ANL003", "OBJ004")),
    ("SRC003", _find_same_object, ("SRC001", "SRC002", "ROW003", "ROW006")),
    ("PII001", _find_same_column, ("EXP005",)),
    ("PII001", _find_all_inputs, ("PII001",)),
    ("ANL001", _find_unedited_sources, ("ANL", "OBJ", "COL")),
    ("ANL001", _find_same_object, ("SRC002",)),
    ("OBJ005", _find_same_object, ("OBJ004",)),
    ("", _find_same_object, ("ANL004",)),
)
"""For a family of rules: where to search for a cause, and which rules may be one, the likeliest first."""
