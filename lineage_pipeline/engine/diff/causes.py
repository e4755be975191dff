"""Which findings follow from others: one cause is one root."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from lineage_pipeline.engine.diff.finding import Finding, order
from lineage_pipeline.engine.diff.implication import LOOSENED, TIGHTENED
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.policy import rank
from lineage_pipeline.engine.diff.renames import PROJECTION
from lineage_pipeline.vocabulary.sets import Confidence

Found = Mapping[tuple[str, str | None], Sequence[Finding]]
"""All findings by object and column."""

Search = Callable[[Pair, Finding, Found], Iterable[Finding]]


def roots(pair: Pair, findings: Sequence[Finding]) -> dict[Finding, Finding]:
    """Map every finding to the one that it follows from in the end, a root to itself."""
    found: dict[tuple[str, str | None], list[Finding]] = defaultdict(list)
    for finding in findings:
        found[finding.object, finding.column].append(finding)
    causes = {finding: _cause(pair, finding, found) for finding in findings}
    known: dict[Finding, Finding] = {}
    for finding in findings:
        known.update(_rooted(finding, causes, known))
    return {finding: known[finding] for finding in findings}


def _cause(pair: Pair, finding: Finding, found: Found) -> Finding | None:
    """Find the nearest cause by the first way of searching that gives one."""
    for prefix, search, rules in CAUSES:
        if finding.rule.startswith(prefix):
            candidates = [one for one in search(pair, finding, found) if one != finding and one.rule.startswith(rules)]
            if candidates:
                return min(candidates, key=lambda one: (_preference(one, rules), -rank(one.severity), order(one)))
    return None


def _preference(finding: Finding, rules: Sequence[str]) -> int:
    return next(place for place, prefix in enumerate(rules) if finding.rule.startswith(prefix))


def _rooted(
    finding: Finding, causes: Mapping[Finding, Finding | None], known: Mapping[Finding, Finding]
) -> dict[Finding, Finding]:
    """Give the end of the causes, or what is known of it, to all on the way; in a circle it is the first by place."""
    way: dict[Finding, None] = {}
    at: Finding | None = finding
    while at is not None and at not in known and at not in way:
        way[at] = None
        at = causes[at]
    passed = [*way]
    if at is None:
        return dict.fromkeys(passed, passed[-1])
    root = known[at] if at in known else min(passed[passed.index(at) :], key=order)
    return dict.fromkeys(passed, root)


def _same_column(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    return found.get((finding.object, finding.column), ())


def _same_object(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    return found.get((finding.object, None), ())


def _unsure(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look for why nobody can say whether a column is still there."""
    return _same_object(pair, finding, found) if finding.confidence is Confidence.UNKNOWN else ()


def _taken_back(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look for a contract that gave an object its types, where nobody touched the object itself."""
    return _same_object(pair, finding, found) if pair.is_unedited(finding.object) else ()


def _unfitting(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look for branches or values that do not fit in number: what they give is beside the point."""
    return [one for one in found.get((finding.object, None), ()) if one.before is None]


def _missing_name(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look for a missing source where a text names what nothing answers to."""
    return _same_object(pair, finding, found) if NOTHING in (finding.after or "") else ()


def _moved_condition(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look for a join or an arm that gave up, or took over, a condition which a filter has now or had."""
    old, new = (set(_WAY.sub("", text or "").splitlines()) for text in (finding.before, finding.after))
    return [
        one
        for one in _same_object(pair, finding, found)
        if any(text in f"{one.before} {one.after}" for text in old ^ new)
    ]


_WAY = re.compile(rf"^({TIGHTENED}|{LOOSENED}): ")


def _other_branches(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look for branches or rows that came or went, or give values where they took rows away: every column feels it."""
    here = found.get((finding.object, None), ())
    return [one for one in here if _counts(one.before) != _counts(one.after)]


def _other_arms(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look for another way of writing that puts other things together; which rows it takes does not bear on values."""
    ways = [one for one in _same_object(pair, finding, found) if not _ROWS_AWAY.match(one.before or one.after or "")]
    return [one for one in ways if _arms(one.before) != _arms(one.after)]


def _arms(text: str | None) -> list[str]:
    """Read the arms of a statement, without their conditions."""
    return [line.partition(" and (")[0] for line in (text or "").splitlines()]


_ROWS_AWAY = re.compile(r"TRUNCATE|DELETE\b.* (?:where|of) ")


def _counts(text: str | None) -> list[tuple[bool, str]]:
    """Read which set operations of a statement only take rows away, and how many branches they have."""
    return [(line.startswith("except"), line.rpartition(" of ")[2]) for line in (text or "").splitlines()]


def _moved_source(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look at the sources that an object no longer reads under the names that they had, and at those it reads now."""
    names = [*(finding.before or "").split(", "), *(finding.after or "").split(", ")]
    return [one for name in names for one in found.get((name, None), ())]


def _own_columns(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look at the columns that the object lost or gained."""
    names = {*pair.base.columns.get(finding.object, {}), *pair.head.columns.get(finding.object, {})}
    return [one for name in sorted(names) for one in found.get((finding.object, name), ())]


def _carried_input(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look at the inputs of a column whose own expression nobody touched."""
    return _inputs(pair, finding, found) if _is_carried(pair, finding) else ()


def _learnt(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look at the inputs of a column whose type is known now."""
    return _carried_input(pair, finding, found) if finding.before is None else ()


def _untouched_input(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look at the inputs of a column whose object nobody touched: a star brought the change."""
    return _inputs(pair, finding, found) if pair.is_unedited(finding.object) else ()


def _untouched_source(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look at everything in the objects that an untouched object reads."""
    if not pair.is_unedited(finding.object):
        return ()
    names = {*pair.base.sources(finding.object), *pair.head.sources(finding.object)}
    return [one for (name, _), all_ in found.items() if name in names for one in all_]


def _same_statement(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look at the column of this name in what the same statement fills: a view that hands its rows to a table."""
    edges = [edge for place in pair.head.makers.get(finding.object, ()) for edge in pair.head.edges_at.get(place, ())]
    twins = {edge.to_object for edge in edges} - {finding.object}
    return [one for name in sorted(twins) for one in found.get((name, finding.column), ())]


def _twin(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look at the same change of a column in what the same statement fills."""
    twins = _same_statement(pair, finding, found)
    return [one for one in twins if (one.before, one.after) == (finding.before, finding.after)]


def _all_inputs(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look at the inputs of a column, whoever touched it."""
    return _inputs(pair, finding, found)


def _ambiguous_name(pair: Pair, finding: Finding, found: Found) -> Iterable[Finding]:
    """Look at the columns of one name that came into the sources of a statement."""
    sources = pair.head.sources(finding.object)
    return [one for name in sources for one in found.get((name, finding.before), ())]


def _inputs(pair: Pair, finding: Finding, found: Found) -> list[Finding]:
    """List the findings at a column's inputs on either side, and at the objects they belong to."""
    column = finding.column or ""
    edges = [*pair.base.inputs(finding.object, column), *pair.head.inputs(finding.object, column)]
    old = [old for (name, old), new in pair.renames.names.columns.items() if (name, new) == (finding.object, column)]
    edges += [edge for name in old for edge in pair.base.inputs(finding.object, name)]
    keys: set[tuple[str, str | None]] = {(edge.from_object, edge.from_column) for edge in edges}
    keys |= {(name, old) for (name, old), new in pair.renames.names.columns.items() if (name, new) in keys}
    keys |= {(edge.from_object, None) for edge in edges}
    return [one for key in keys for one in found.get(key, ())]


def _is_carried(pair: Pair, finding: Finding) -> bool:
    """Say whether no statement that fills the column says anything new about it, but for a name that is missing."""
    rewrites = pair.writers[finding.object].rewrites if finding.object in pair.writers else ()
    texts = (rewrite.text(PROJECTION, finding.column or "") for rewrite in rewrites)
    return all(before == after or NOTHING in after for before, after in texts)


NOTHING = "?."
"""How a canonical text begins a name that nothing answers to."""

_GONE = ("COL001", "COL002", "OBJ", "ANL")

CAUSES: tuple[tuple[str, Search, tuple[str, ...]], ...] = (
    ("COL001", _unsure, ("SRC002", "ANL001")),
    ("COL001", _untouched_input, _GONE),
    ("COL002", _untouched_input, ("COL002",)),
    ("COL005", _ambiguous_name, ("COL003", "COL004")),
    ("COL006", _untouched_input, ("COL006",)),
    ("COL007", _carried_input, ("COL007", *_GONE)),
    ("COL007", _same_column, ("EXP",)),
    ("COL003", _untouched_input, ("COL003", "COL004", "COL002", "OBJ003")),
    ("COL004", _untouched_input, ("COL003", "COL004", "COL002", "OBJ003")),
    ("POS002", _own_columns, ("COL001", "COL003", "COL004")),
    ("POS003", _untouched_source, ("COL001", "COL002", "COL003", "COL004")),
    ("POS001", _untouched_source, ("POS", "COL")),
    ("POS003", _own_columns, ("COL001", "COL002", "COL003", "COL004")),
    ("EXP", _unfitting, ("POS003",)),
    ("EXP", _missing_name, ("SRC002",)),
    ("ROW", _missing_name, ("SRC002",)),
    ("ROW004", _moved_condition, ("ROW001", "ROW002", "ROW003", "ROW009")),
    ("EXP", _other_branches, ("ROW006",)),
    ("EXP", _other_arms, ("ROW009",)),
    ("COL003", _same_column, ("NUL003",)),
    ("SRC001", _same_object, ("ANL003",)),
    ("SRC", _moved_source, ("OBJ008",)),
    ("EXP002", _all_inputs, ("OBJ008",)),
    ("EXP", _twin, ("EXP",)),
    ("SRC002", _untouched_source, ("OBJ003",)),
    ("TYP006", _same_object, ("ANL003", "SRC002", "CON002")),
    ("ROW003", _same_object, ("ROW009",)),
    ("TYP", _same_object, ("COL005",)),
    ("TYP006", _learnt, ("COL003", "COL004")),
    ("TYP", _carried_input, ("TYP", "COL006", "COL007", *_GONE)),
    ("TYP", _same_column, ("EXP",)),
    ("TYP", _taken_back, ("CON002",)),
    ("TYP", _same_statement, ("EXP",)),
    ("NUL", _carried_input, ("NUL", *_GONE)),
    ("NUL", _same_column, ("EXP", "COL008")),
    ("NUL", _same_object, ("ROW001", "ROW003", "ROW006", "SRC002", "ANL003", "OBJ004")),
    ("SRC003", _same_object, ("SRC001", "SRC002", "ROW003", "ROW006")),
    ("PII001", _same_column, ("EXP005",)),
    ("PII001", _all_inputs, ("PII001",)),
    ("ANL001", _untouched_source, ("ANL", "OBJ", "COL")),
    ("ANL001", _same_object, ("SRC002",)),
    ("OBJ005", _same_object, ("OBJ004",)),
    ("", _same_object, ("ANL004",)),
)
"""For a family of rules: where to look for a cause, and which rules may be one, the likeliest first."""
