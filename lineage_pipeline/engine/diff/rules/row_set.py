"""Statements that give other rows: joins, filters, grouping, set operations, order, limits and guards."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set

import msgspec

from lineage_pipeline.engine.diff.equivalence import (
    FILTER_FACET,
    FUNCTION_SOURCE,
    JOIN_FACET,
    SET_OPERATION_FACET,
    JoinLine,
    compare_filters,
    find_equated_columns,
    parse_joins,
)
from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule, at_body, at_edit
from lineage_pipeline.engine.diff.index import (
    CONDITION_KIND,
    DELETE_KINDS,
    PROJECTION_FACET,
    LineageIndex,
    StatementBody,
    StatementKey,
    find_maker,
)
from lineage_pipeline.engine.diff.match import LineagePair, StatementEdit, list_sources
from lineage_pipeline.engine.diff.query_sources import find_crossed_sources, list_row_groups
from lineage_pipeline.model.enums import EdgeType, ObjectKind, Scope, Severity
from lineage_pipeline.model.ir import BRANCH_KINDS
from lineage_pipeline.model.tables import StatementRow

GROUPING, ORDER, LIMIT, DISTINCT = "grouping", "order", "limit", "distinct"


def join_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Joins add rows, drop rows or multiply them."""
    for rewrite in iter_edits(pair):
        before, after = (parse_joins(text) for text in rewrite.text(JOIN_FACET))
        if set(list_sources(rewrite.before)) == set(list_sources(rewrite.after)):
            crossed = _find_crossed(rewrite.base.query, before), _find_crossed(rewrite.head.query, after)
            before, after = _align_joins(before, after, *crossed)
        for rule, old, new in match_joins(before, after):
            severity = _join_severity(pair, rewrite, old, new)
            yield at_edit(
                ChangeFinding(
                    rule=rule,
                    object=rewrite.object,
                    column=None,
                    severity=severity,
                    before=_render_join(old),
                    after=_render_join(new),
                ),
                pair,
                rewrite,
            )


def _find_crossed(query: str, joins: Sequence[JoinLine]) -> Set[str] | None:
    """The sources that a side joins without a condition; None, which is any, where it has neither plan nor join."""
    return find_crossed_sources(query) if query or joins else None


def _align_joins(
    before: list[JoinLine], after: list[JoinLine], old_crossed: Set[str] | None, new_crossed: Set[str] | None
) -> tuple[list[JoinLine], list[JoinLine]]:
    """Joins of the same sources in comparable form: inner ones may move, and comma joins have no condition.

    A source that a side does not join may be the first of a query, or stand in a condition: only plans tell these from
    comma joins.
    """
    moved = {one.on for one in before if one.side == "inner"} & {one.on for one in after if one.side == "inner"}
    old, new = ([one for one in side if one.side != "inner" or one.on not in moved] for side in (before, after))
    # Where the rows of the other side are kept, the condition stands with the other source.
    turned = {one.on for one in old if one not in new} & {one.on for one in new if one not in old} - {""}
    plain = ([one for one in side if one.on not in turned] for side in (old, new))
    named = tuple({one.source for one in side if not one.source.startswith(FUNCTION_SOURCE)} for side in plain)
    old_cross, new_cross = (
        [JoinLine("cross", name) for name in sorted(names if crossed is None else names & crossed)]
        for names, crossed in ((named[1] - named[0], old_crossed), (named[0] - named[1], new_crossed))
    )
    return old + old_cross, new + new_cross


def filter_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Another filter passes other rows; the filter of a DELETE is reported as a write change."""
    for rewrite in iter_edits(pair):
        before, after = rewrite.text(FILTER_FACET)
        if before != after and rewrite.head.kind not in DELETE_KINDS:
            told = f"{way}: {after or 'every row'}" if (way := compare_filters(before, after)) else after
            texts = before or None, told or None
            yield at_edit(
                ChangeFinding("ROW004", rewrite.object, None, Severity.POTENTIALLY_BREAKING, *texts), pair, rewrite
            )
    for name in pair.common:
        yield from _find_changed_conditions(pair, name)
    for one in find_guard_changes(pair):
        found = ChangeFinding(
            rule="ROW004",
            object=one.object,
            column=None,
            severity=Severity.POTENTIALLY_BREAKING,
            before=one.before,
            after=one.after,
        )
        yield msgspec.structs.replace(found, path=one.path, line=one.line)


def _find_changed_conditions(pair: LineagePair, name: str) -> Iterator[ChangeFinding]:
    """Conditions of a module that only one side has."""
    writers = pair.writers[name]
    for side, bodies in ((pair.base, writers.gone), (pair.head, writers.new)):
        for body in bodies:
            if body.kind == CONDITION_KIND:
                text = body.facets[FILTER_FACET, "*"].text
                texts = (text, None) if side is pair.base else (None, text)
                found = ChangeFinding("ROW004", name, None, Severity.POTENTIALLY_BREAKING, *texts)
                yield at_body(found, side, body)


def grouping_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Another grain: a row represents something else; DISTINCT groups by all outputs."""
    for rewrite in iter_edits(pair):
        before, after = rewrite.text(GROUPING)
        if before != after and _grouping_keys(before, rewrite.before) != _grouping_keys(after, rewrite.after):
            # Rows stay one for each value of the same columns where only what these columns hold is another value.
            named = [_name_keys(*side) for side in ((before, rewrite.before), (after, rewrite.after))]
            same = named[0] is not None and named[0] == named[1]
            same = same or _is_grouped_beside(rewrite, _grouping_keys(before, {}), _grouping_keys(after, {}))
            found = ChangeFinding(
                rule="ROW005",
                object=rewrite.object,
                column=None,
                severity=Severity.POTENTIALLY_BREAKING if same else Severity.BREAKING,
                before=before or None,
                after=after or None,
            )
            yield at_edit(found, pair, rewrite)


def _is_grouped_beside(rewrite: StatementEdit, before: Set[str], after: Set[str]) -> bool:
    """Say whether groups only came or went in queries that are joined: the rows are grouped as before.

    Where a side has no plan, keys of a source that came or went with a joined query are taken for its own.
    """
    if not (before <= after or after <= before):
        return False
    if rewrite.base.query and rewrite.head.query:
        return list_row_groups(rewrite.base.query) == list_row_groups(rewrite.head.query)
    if rewrite.base.query or rewrite.head.query or DISTINCT in before | after:
        return False
    joins = [text.count(JOINED_QUERY) for text in rewrite.text(JOIN_FACET)]
    old, new = set(list_sources(rewrite.before)), set(list_sources(rewrite.after))
    others = old ^ new
    return joins[0] != joins[1] and all(any(f"{name}." in key for name in others) for key in before ^ after)


def _grouping_keys(grouping: str, texts: Mapping[tuple[str, str], str]) -> set[str]:
    """The keys of a grouping."""
    if grouping != DISTINCT:
        return set(grouping.splitlines())
    return {text for (name, _), text in texts.items() if name == PROJECTION_FACET}


def _name_keys(grouping: str, texts: Mapping[tuple[str, str], str]) -> set[str] | None:
    """The columns that hold the keys of a grouping; None where a key is in none, and not of a query that is joined."""
    held = {text: column for (name, column), text in sorted(texts.items()) if name == PROJECTION_FACET}
    keys = _grouping_keys(grouping, texts)
    joined = JOINED_QUERY in texts.get((JOIN_FACET, "*"), "")
    return {held[key] for key in keys if key in held} or None if joined or keys <= held.keys() else None


JOINED_QUERY = "(subquery)"
"""The source of a join with a query, which may have groups of its own."""


def set_operation_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Branches are added or removed, or duplicates kept or dropped."""
    yield from _find_facet_changes(pair, "ROW006", SET_OPERATION_FACET, lambda rewrite: Severity.POTENTIALLY_BREAKING)


def limit_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """More rows, or fewer."""
    yield from _find_facet_changes(pair, "ROW007", LIMIT, lambda rewrite: Severity.POTENTIALLY_BREAKING)


def order_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Order matters only with a limit, or where a caller sees it."""

    def severity(rewrite: StatementEdit) -> Severity:
        seen = pair.head.objects[rewrite.object].kind is ObjectKind.PROCEDURE
        return Severity.POTENTIALLY_BREAKING if seen or any(rewrite.text(LIMIT)) else Severity.INFO

    yield from _find_facet_changes(pair, "ROW008", ORDER, severity)


def query_rearranged(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A query whose conditions, joins and values are the same, and not in the same places."""
    for rewrite in iter_edits(pair):
        if rewrite.rearranged:
            found = ChangeFinding("ROW010", rewrite.object, None, Severity.POTENTIALLY_BREAKING)
            yield at_edit(found, pair, rewrite)


def iter_edits(pair: LineagePair) -> Iterator[StatementEdit]:
    """The edited statements of all objects."""
    for name in pair.common:
        yield from pair.writers[name].rewrites


def _find_facet_changes(
    pair: LineagePair, rule: str, facet: str, severity: Callable[[StatementEdit], Severity]
) -> Iterator[ChangeFinding]:
    for rewrite in iter_edits(pair):
        before, after = rewrite.text(facet)
        if before != after:
            texts = before or None, after or None
            yield at_edit(ChangeFinding(rule, rewrite.object, None, severity(rewrite), *texts), pair, rewrite)


def match_joins(
    before: Sequence[JoinLine], after: Sequence[JoinLine]
) -> Iterator[tuple[str, JoinLine | None, JoinLine | None]]:
    """Pair the joins of both sides: equal ones drop out, then those that differ in one part, then by source."""
    old = sorted((Counter(before) - Counter(after)).elements())
    new = sorted((Counter(after) - Counter(before)).elements())
    for rule, alike in _JOIN_MATCHES:
        for one in list(old):
            other = next((two for two in new if alike(one) == alike(two)), None)
            if other:
                old.remove(one)
                new.remove(other)
                yield rule, one, other
    yield from (("ROW003", one, None) for one in old)
    yield from (("ROW003", None, two) for two in new)


_JOIN_MATCHES: tuple[tuple[str, Callable[[JoinLine], tuple[str, ...]]], ...] = (
    ("ROW001", lambda join: (join.source, join.on)),
    ("ROW002", lambda join: (join.source, join.side)),
    ("ROW001", lambda join: (join.source,)),
    ("ROW001", lambda join: (join.on or join.source,)),
)
"""What a pair of joins shares, and the rule that reports the difference."""


def _join_severity(pair: LineagePair, rewrite: StatementEdit, old: JoinLine | None, new: JoinLine | None) -> Severity:
    """A cross join breaks; a left join by a key adds columns and changes no row."""
    if old and new:
        crossed = new.side == "cross" or (bool(old.on) and not new.on)
        multiplied = _is_unique_join(pair.base, old) and not _is_unique_join(pair.head, new)
        return Severity.BREAKING if crossed or multiplied else Severity.POTENTIALLY_BREAKING
    shared = pair.base.columns.get(rewrite.object, {}).keys() & pair.head.columns.get(rewrite.object, {}).keys()
    sides = ((pair.base, rewrite.base, old), (pair.head, rewrite.head, new))
    idle = all(_is_row_preserving(side, body, join, shared) for side, body, join in sides if join)
    return Severity.INFO if idle else Severity.POTENTIALLY_BREAKING


def _is_row_preserving(side: LineageIndex, body: StatementBody, join: JoinLine, columns: Set[str]) -> bool:
    """Say whether a join adds and drops no row, and feeds none of the columns that both sides have."""
    edges = [edge for edge in side.edges_at.get(body.place, ()) if edge.from_object == join.source]
    used = any(edge.type is EdgeType.DIRECT and edge.to_column in columns for edge in edges)
    return join.side == "left" and not used and _is_unique_join(side, join)


def _is_unique_join(side: LineageIndex, join: JoinLine) -> bool:
    """Say whether a join finds at most one partner."""
    keys = [one.columns for one in side.constraints.get(join.source, ()) if one.kind in ("primary key", "unique")]
    tied = find_equated_columns(join)
    return any(key and all(f"{join.source}.{column}" in tied for column in key) for key in keys)


def _render_join(join: JoinLine | None) -> str | None:
    return f"{join.side} {join.source}" + (f" ON {join.on}" if join.on else "") if join else None


RULES: tuple[Rule, ...] = (
    Rule(
        id="ROW001",
        title="join type changed",
        scope=Scope.ROW_SET,
        find=join_changed,
        meaning="Rows without a partner come or go.",
        remedy="Check counts, and nulls in the columns of the joined side.",
    ),
    Rule(
        id="ROW002",
        title="join condition changed",
        scope=Scope.ROW_SET,
        find=join_changed,
        meaning="Rows find other partners, perhaps several.",
        remedy="Check that the condition still finds one partner for each row.",
    ),
    Rule(
        id="ROW003",
        title="join added or removed",
        scope=Scope.ROW_SET,
        find=join_changed,
        meaning="A further source may drop or multiply rows.",
        remedy="Check counts; join by a unique key.",
    ),
    Rule(
        id="ROW004",
        title="filter changed",
        scope=Scope.ROW_SET,
        find=filter_changed,
        meaning="Other rows pass.",
        remedy="Tell the readers which rows came or went.",
    ),
    Rule(
        id="ROW005",
        title="grain changed",
        scope=Scope.ROW_SET,
        find=grouping_changed,
        meaning="A row stands for something else: sums and joins over it change.",
        remedy="Give the new grain a new name.",
    ),
    Rule(
        id="ROW006",
        title="set operation changed",
        scope=Scope.ROW_SET,
        find=set_operation_changed,
        meaning="Duplicates are kept or dropped, or a branch came or went.",
        remedy="Check counts and keys.",
    ),
    Rule(
        id="ROW007",
        title="limit changed",
        scope=Scope.ROW_SET,
        find=limit_changed,
        meaning="More rows, or fewer.",
        remedy="Tell the readers.",
    ),
    Rule(
        id="ROW008",
        title="order changed",
        scope=Scope.ROW_SET,
        find=order_changed,
        meaning="The same rows in another order, which matters with a limit and to callers.",
        remedy="Sort where the order is needed.",
    ),
    Rule(
        id="ROW010",
        title="query put together differently",
        scope=Scope.ROW_SET,
        find=query_rearranged,
        meaning="The same sources, conditions and values stand in other places of the query, such as a filter before "
        "or after a join, and it could not be proven that the rows are the same.",
        remedy="Check counts and values.",
    ),
)


_DEFINING_PREFIXES = ("CREATE", "ALTER")
"""Prefixes of statement kinds whose guard only avoids an error: what they make is the same."""

_ELSE_KIND = "ELSE"

_PREVIEW_PREFIX = 30
"""Characters of a statement that mark where the condition before it ends."""

ConditionKeys = tuple[tuple[str, str], ...]


class GuardCondition(msgspec.Struct, frozen=True, order=True):
    """A branch or loop around a statement: its comparison key, its text, and its line."""

    key: tuple[str, str]
    text: str
    line: int


class GuardChange(msgspec.Struct, frozen=True):
    """A statement that fills an object under other conditions than before, and its head location."""

    object: str
    before: str | None
    after: str | None
    path: str
    line: int | None


def find_guard_changes(pair: LineagePair) -> Iterator[GuardChange]:
    """The statements whose branch or loop conditions changed."""
    branched = _files_with_branches(pair.base) | _files_with_branches(pair.head)
    for name in pair.common if branched else ():
        for old, new in _match_statements(pair, name, branched):
            before, after = _differing_conditions(_list_guards(pair.base, old), _list_guards(pair.head, new))
            if before or after:
                line = after[-1].line if after else pair.head.line(new)
                yield GuardChange(
                    object=name,
                    before=_render_conditions(before),
                    after=_render_conditions(after),
                    path=new[0],
                    line=line,
                )


def _differing_conditions(
    old: list[GuardCondition], new: list[GuardCondition]
) -> tuple[list[GuardCondition], list[GuardCondition]]:
    """The conditions without those that both sides begin with and end with."""
    shared = next((at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one.key != two.key), None)
    shared = min(len(old), len(new)) if shared is None else shared
    old, new = old[shared:], new[shared:]
    while old and new and old[-1].key == new[-1].key:
        old, new = old[:-1], new[:-1]
    return old, new


def _render_conditions(conditions: list[GuardCondition]) -> str | None:
    return " and ".join(one.text for one in conditions) or None


def _files_with_branches(side: LineageIndex) -> set[str]:
    """The files that contain a condition."""
    return {path for (path, _), row in side.statements.items() if row.kind in BRANCH_KINDS}


def _match_statements(pair: LineagePair, name: str, branched: set[str]) -> Iterator[tuple[StatementKey, StatementKey]]:
    """Pairs of statements that fill an object: edited ones, and those that only moved."""
    edited = pair.writers[name].rewrites
    for rewrite in edited:
        if _is_row_statement(pair.base, rewrite.base.place) and _is_row_statement(pair.head, rewrite.head.place):
            yield rewrite.base.place, rewrite.head.place
    before = _unedited_statements(pair.base, name, branched, {rewrite.base.place for rewrite in edited})
    after = _unedited_statements(pair.head, name, branched, {rewrite.head.place for rewrite in edited})
    for said in sorted(before.keys() & after.keys()):
        old, new = before[said], after[said]
        gone = [place for keys, place in sorted(old.items()) if keys not in new]
        came = [place for keys, place in sorted(new.items()) if keys not in old]
        yield from zip(gone, came, strict=False)


def _unedited_statements(
    side: LineageIndex, name: str, branched: set[str], edited: set[StatementKey]
) -> dict[str, dict[ConditionKeys, StatementKey]]:
    """The other statements that fill an object, by content and conditions."""
    found: dict[str, dict[ConditionKeys, StatementKey]] = defaultdict(dict)
    for body in side.bodies.get(name, ()):
        if (
            body.place[0] in branched
            and body.place not in edited
            and body.fingerprint
            and _is_row_statement(side, body.place)
        ):
            found[body.fingerprint][tuple(one.key for one in _list_guards(side, body.place))] = body.place
    return found


def _is_row_statement(side: LineageIndex, place: StatementKey) -> bool:
    """Say whether a statement writes or returns rows and is no condition itself."""
    kind = side.kind(place)
    return kind not in BRANCH_KINDS and not kind.startswith(_DEFINING_PREFIXES)


def _list_guards(side: LineageIndex, place: StatementKey) -> list[GuardCondition]:
    """The conditions between a statement and its module or script, the outermost first."""
    found: list[GuardCondition] = []
    row = side.statements.get(place)
    while row is not None and row.parent is not None:
        row = side.statements.get((row.path, row.parent))
        if row is not None and row.kind in BRANCH_KINDS and not _is_compared_as_body(side, row):
            found.append(
                GuardCondition(
                    (row.kind, row.fingerprint), _condition_text(side, row), row.span.line if row.span else 0
                )
            )
    return found[::-1]


def _is_compared_as_body(side: LineageIndex, row: StatementRow) -> bool:
    """Say whether a condition with a query is compared as part of its module."""
    place = row.path, row.ordinal
    bodies = side.bodies.get(find_maker(side.statements, place), ()) if row.reads else ()
    return any(body.place == place for body in bodies)


def _condition_text(side: LineageIndex, row: StatementRow) -> str:
    """The text before the first guarded statement; ELSE includes the condition it belongs to."""
    first = side.statements.get((row.path, row.ordinal + 1))
    text = row.preview.partition(f" {first.preview[:_PREVIEW_PREFIX]}")[0] if first else row.preview
    above = side.statements.get((row.path, row.parent)) if row.kind == _ELSE_KIND and row.parent is not None else None
    return f"{text} of {_condition_text(side, above)}" if above else text
