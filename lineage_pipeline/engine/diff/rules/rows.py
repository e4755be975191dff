"""Statements that give other rows: joins, filters, grouping, set operations, order, limits and sources."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set

import msgspec

from lineage_pipeline.engine.diff.finding import Finding, Rule, at, at_body
from lineage_pipeline.engine.diff.guards import reguarded
from lineage_pipeline.engine.diff.implication import direction
from lineage_pipeline.engine.diff.index import CONDITION, EMPTYING, Body, Index
from lineage_pipeline.engine.diff.joins import FILTER, FUNCTION, JOIN, JoinLine, equated, read_joins
from lineage_pipeline.engine.diff.pair import Pair, Rewrite, sources
from lineage_pipeline.engine.diff.renames import PROJECTION
from lineage_pipeline.engine.diff.unions import SET_OPERATION
from lineage_pipeline.vocabulary.sets import EdgeType, ObjectKind, Scope, Severity

GROUPING, ORDER, LIMIT, DISTINCT = "grouping", "order", "limit", "distinct"


def join_changed(pair: Pair) -> Iterator[Finding]:
    """Joins add rows, drop rows or multiply them."""
    for rewrite in rewrites(pair):
        before, after = (read_joins(text) for text in rewrite.text(JOIN))
        if set(sources(rewrite.before)) == set(sources(rewrite.after)):
            before, after = _same_sources(before, after)
        for rule, old, new in match_joins(before, after):
            severity = _join_severity(pair, rewrite, old, new)
            yield at(Finding(rule, rewrite.object, None, severity, _spell(old), _spell(new)), pair, rewrite)


def _same_sources(before: list[JoinLine], after: list[JoinLine]) -> tuple[list[JoinLine], list[JoinLine]]:
    """Compare joins of the same sources: inner ones may change places; one without a line has no condition."""
    moved = {one.on for one in before if one.side == "inner"} & {one.on for one in after if one.side == "inner"}
    old, new = ([one for one in side if one.side != "inner" or one.on not in moved] for side in (before, after))
    # Where the rows of the other side are kept, the condition stands with the other source.
    turned = {one.on for one in old if one not in new} & {one.on for one in new if one not in old} - {""}
    plain = ([one for one in side if one.on not in turned] for side in (old, new))
    named = tuple({one.source for one in side if not one.source.startswith(FUNCTION)} for side in plain)
    old_cross, new_cross = (
        [JoinLine("cross", name) for name in sorted(names)] for names in (named[1] - named[0], named[0] - named[1])
    )
    return old + old_cross, new + new_cross


def filter_changed(pair: Pair) -> Iterator[Finding]:
    """Another filter lets other rows through; what a DELETE removes is told as that."""
    for rewrite in rewrites(pair):
        before, after = rewrite.text(FILTER)
        if before != after and rewrite.head.kind not in EMPTYING:
            told = f"{way}: {after or 'every row'}" if (way := direction(before, after)) else after
            texts = before or None, told or None
            yield at(Finding("ROW004", rewrite.object, None, Severity.POTENTIALLY_BREAKING, *texts), pair, rewrite)
    for name in pair.common:
        yield from _conditions(pair, name)
    for one in reguarded(pair):
        found = Finding("ROW004", one.object, None, Severity.POTENTIALLY_BREAKING, one.before, one.after)
        yield msgspec.structs.replace(found, path=one.path, line=one.line)


def _conditions(pair: Pair, name: str) -> Iterator[Finding]:
    """Look at the conditions of a module that only one side has."""
    writers = pair.writers[name]
    for side, bodies in ((pair.base, writers.gone), (pair.head, writers.new)):
        for body in bodies:
            if body.kind == CONDITION:
                text = body.facets[FILTER, "*"].text
                texts = (text, None) if side is pair.base else (None, text)
                found = Finding("ROW004", name, None, Severity.POTENTIALLY_BREAKING, *texts)
                yield at_body(found, side, body)


def grouping_changed(pair: Pair) -> Iterator[Finding]:
    """Another grain: a row stands for something else; DISTINCT groups by all that it gives."""
    for rewrite in rewrites(pair):
        before, after = rewrite.text(GROUPING)
        if before != after and _keys(before, rewrite.before) != _keys(after, rewrite.after):
            found = Finding("ROW005", rewrite.object, None, Severity.BREAKING, before or None, after or None)
            yield at(found, pair, rewrite)


def _keys(grouping: str, texts: Mapping[tuple[str, str], str]) -> set[str]:
    """Give what rows are put together by."""
    if grouping != DISTINCT:
        return set(grouping.splitlines())
    return {text for (name, _), text in texts.items() if name == PROJECTION}


def set_operation_changed(pair: Pair) -> Iterator[Finding]:
    """Branches that come or go, or duplicates that are kept or dropped."""
    yield from _differing(pair, "ROW006", SET_OPERATION, lambda rewrite: Severity.POTENTIALLY_BREAKING)


def limit_changed(pair: Pair) -> Iterator[Finding]:
    """More rows, or fewer."""
    yield from _differing(pair, "ROW007", LIMIT, lambda rewrite: Severity.POTENTIALLY_BREAKING)


def order_changed(pair: Pair) -> Iterator[Finding]:
    """Order alone is lost on readers, unless it decides which rows are kept or a caller sees it."""

    def severity(rewrite: Rewrite) -> Severity:
        seen = pair.head.objects[rewrite.object].kind is ObjectKind.PROCEDURE
        return Severity.POTENTIALLY_BREAKING if seen or any(rewrite.text(LIMIT)) else Severity.INFO

    yield from _differing(pair, "ROW008", ORDER, severity)


def rewrites(pair: Pair) -> Iterator[Rewrite]:
    """Give the edited statements of all objects."""
    for name in pair.common:
        yield from pair.writers[name].rewrites


def _differing(pair: Pair, rule: str, facet: str, severity: Callable[[Rewrite], Severity]) -> Iterator[Finding]:
    for rewrite in rewrites(pair):
        before, after = rewrite.text(facet)
        if before != after:
            texts = before or None, after or None
            yield at(Finding(rule, rewrite.object, None, severity(rewrite), *texts), pair, rewrite)


def match_joins(
    before: Sequence[JoinLine], after: Sequence[JoinLine]
) -> Iterator[tuple[str, JoinLine | None, JoinLine | None]]:
    """Pair the joins of both sides: equal ones drop out, then those that differ in one thing, then by source."""
    old = sorted((Counter(before) - Counter(after)).elements())
    new = sorted((Counter(after) - Counter(before)).elements())
    for rule, alike in _LIKENESS:
        for one in list(old):
            other = next((two for two in new if alike(one) == alike(two)), None)
            if other:
                old.remove(one)
                new.remove(other)
                yield rule, one, other
    yield from (("ROW003", one, None) for one in old)
    yield from (("ROW003", None, two) for two in new)


_LIKENESS: tuple[tuple[str, Callable[[JoinLine], tuple[str, ...]]], ...] = (
    ("ROW001", lambda join: (join.source, join.on)),
    ("ROW002", lambda join: (join.source, join.side)),
    ("ROW001", lambda join: (join.source,)),
    ("ROW001", lambda join: (join.on or join.source,)),
)
"""What a pair of joins shares, and the rule that tells what it does not."""


def _join_severity(pair: Pair, rewrite: Rewrite, old: JoinLine | None, new: JoinLine | None) -> Severity:
    """Every row with every row breaks; a left join by a key gives new columns, and changes no row."""
    if old and new:
        crossed = new.side == "cross" or (bool(old.on) and not new.on)
        multiplied = _is_by_key(pair.base, old) and not _is_by_key(pair.head, new)
        return Severity.BREAKING if crossed or multiplied else Severity.POTENTIALLY_BREAKING
    shared = pair.base.columns.get(rewrite.object, {}).keys() & pair.head.columns.get(rewrite.object, {}).keys()
    sides = ((pair.base, rewrite.base, old), (pair.head, rewrite.head, new))
    idle = all(_is_idle(side, body, join, shared) for side, body, join in sides if join)
    return Severity.INFO if idle else Severity.POTENTIALLY_BREAKING


def _is_idle(side: Index, body: Body, join: JoinLine, columns: Set[str]) -> bool:
    """Say whether a join adds and drops no row, and gives none of the columns that both sides have its value."""
    edges = [edge for edge in side.edges_at.get(body.place, ()) if edge.from_object == join.source]
    used = any(edge.type is EdgeType.DIRECT and edge.to_column in columns for edge in edges)
    return join.side == "left" and not used and _is_by_key(side, join)


def _is_by_key(side: Index, join: JoinLine) -> bool:
    """Say whether a join finds at most one partner."""
    keys = [one.columns for one in side.constraints.get(join.source, ()) if one.kind in ("primary key", "unique")]
    tied = equated(join)
    return any(key and all(f"{join.source}.{column}" in tied for column in key) for key in keys)


def _spell(join: JoinLine | None) -> str | None:
    return f"{join.side} {join.source}" + (f" ON {join.on}" if join.on else "") if join else None


RULES: tuple[Rule, ...] = (
    Rule(
        "ROW001",
        "join type changed",
        Scope.ROW_SET,
        join_changed,
        "Rows without a partner come or go.",
        "Check counts, and nulls in the columns of the joined side.",
    ),
    Rule(
        "ROW002",
        "join condition changed",
        Scope.ROW_SET,
        join_changed,
        "Rows find other partners, perhaps several.",
        "Check that the condition still finds one partner for each row.",
    ),
    Rule(
        "ROW003",
        "join added or removed",
        Scope.ROW_SET,
        join_changed,
        "A further source may drop or multiply rows.",
        "Check counts; join by a unique key.",
    ),
    Rule(
        "ROW004",
        "filter changed",
        Scope.ROW_SET,
        filter_changed,
        "Other rows pass.",
        "Tell the readers which rows came or went.",
    ),
    Rule(
        "ROW005",
        "grain changed",
        Scope.ROW_SET,
        grouping_changed,
        "A row stands for something else: sums and joins over it change.",
        "Give the new grain a new name.",
    ),
    Rule(
        "ROW006",
        "set operation changed",
        Scope.ROW_SET,
        set_operation_changed,
        "Duplicates are kept or dropped, or a branch came or went.",
        "Check counts and keys.",
    ),
    Rule(
        "ROW007",
        "limit changed",
        Scope.ROW_SET,
        limit_changed,
        "More rows, or fewer.",
        "Tell the readers.",
    ),
    Rule(
        "ROW008",
        "order changed",
        Scope.ROW_SET,
        order_changed,
        "The same rows in another order, which matters with a limit and to callers.",
        "Sort where the order is needed.",
    ),
)
