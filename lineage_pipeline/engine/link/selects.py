"""Selects: sources joined, stars expanded, outputs evaluated, and what decides about the rows gathered."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.folding import spoken
from lineage_pipeline.dialects.typing.families import UNKNOWN
from lineage_pipeline.dialects.typing.widening import common_type
from lineage_pipeline.engine.link.budget import MANY, TEXTS
from lineage_pipeline.engine.link.calls import aggregates
from lineage_pipeline.engine.link.canonical import shortened
from lineage_pipeline.engine.link.captions import recaptioned
from lineage_pipeline.engine.link.conjuncts import conjuncts
from lineage_pipeline.engine.link.facets import condition_lines, joined_by_marks, shape_lines
from lineage_pipeline.engine.link.flows import Flows, influence, united
from lineage_pipeline.engine.link.gaps import gap_of
from lineage_pipeline.engine.link.groupings import with_gaps
from lineage_pipeline.engine.link.links import Links
from lineage_pipeline.engine.link.members import spread
from lineage_pipeline.engine.link.model import Gap, Linked, Opening, Out, Value
from lineage_pipeline.engine.link.results import told_apart
from lineage_pipeline.engine.link.rowsets import bare_name, handed, record, rowset
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.source import Source, Sources, proposed, renamed
from lineage_pipeline.engine.link.stars import counted, out_of, several, unlisted
from lineage_pipeline.engine.link.types import settled
from lineage_pipeline.engine.link.values import value_of
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.sets import Subtype

ItemT = TypeVar("ItemT")


def select(links: Links, body: ir.Select, outer: Scope | None) -> Linked:
    """A select: its columns, and what decides about its rows."""
    scope = Scope(links.traits, outer, links.report, links.variables)
    indirect: list[Flows] = []
    facets: list[tuple[str, str]] = []
    for source in body.sources:
        _join(links, source, scope, indirect, facets)
    columns, openings, gap = _outputs(links, body, scope)
    if body.partial:
        columns = with_gaps(body, columns)
    scope.sees_aliases = False
    scope_columns = {column.name: column.value for column in columns if column.name}
    keys: list[str] = []
    marked = False
    for clause, subtype, conditions in _conditions(body):
        for condition in conditions:
            value = _in_clause(clause, condition, scope, links, columns, scope_columns)
            joins = isinstance(condition, ir.Call) and condition.op == "OUTERJOIN"
            marked = marked or joins
            indirect.append(influence(value.flows, Subtype.JOIN if joins else subtype))
            if clause == "group":
                keys.append(value.text)
            if value.text:
                facets.extend((_FACETS[clause], text) for text in condition_lines(condition, value))
    indirect.extend(_everything(body, columns))
    facets.extend(shape_lines(body, keys))
    if marked:
        facets = joined_by_marks(facets)
    rest = None if openings else unlisted(links, body, scope)
    if body.value_table and len(columns) == 1:
        columns, rest = _row_of(columns[0])
    return Linked(tuple(columns), each_once(openings), united(indirect), each_once(facets), rest, _is_single(body), gap)


def _is_single(body: ir.Select) -> bool:
    """Whether a select gives one row, whatever it reads: an aggregate of everything."""
    if len(body.outputs) != 1 or body.group or body.group_all or body.grouping:
        return False
    (output,) = body.outputs
    if type(output) is not ir.Output or type(output.expr) is not ir.Call or not output.expr.traits & ir.AGGREGATE:
        return False
    return body.having is None and body.qualify is None and not body.limit


def _everything(body: ir.Select, columns: Sequence[Out]) -> Iterator[Flows]:
    """GROUP BY ALL groups by every output without an aggregate, ORDER BY ALL sorts by every output."""
    if body.group_all:
        simple = len(body.outputs) == len(columns)
        for position, column in enumerate(columns):
            output = body.outputs[position] if simple else None
            if not isinstance(output, ir.Output) or not aggregates(output.expr):
                yield influence(column.value.flows, Subtype.GROUP_BY)
    if body.order_all:
        yield from (influence(column.value.flows, Subtype.SORT) for column in columns)


def _row_of(column: Out) -> tuple[list[Out], Value | None]:
    """The columns of a table whose rows are values of their own: the members, or the value itself."""
    members = spread(column.value)
    if not members:
        return [column], column.value if column.value.type is None else None
    return [Out(name, name, value, column.start, column.end, column.approximate) for name, value in members], None


LONGEST_TYPE = 10_000
"""A type that is longer is not known: a struct of a struct of a struct … doubles with each relation."""

_FACETS = {"where": "filter", "having": "filter", "qualify": "filter", "group": "grouping", "order": "order"}


def _conditions(body: ir.Select) -> Iterator[tuple[str, Subtype, Sequence[ir.Expr]]]:
    yield "where", Subtype.FILTER, conjuncts(body.where)
    yield "group", Subtype.GROUP_BY, (*body.group, *body.distinct_on)
    yield "having", Subtype.FILTER, conjuncts(body.having)
    yield "qualify", Subtype.FILTER, conjuncts(body.qualify)
    yield "order", Subtype.SORT, body.order


# ── sources ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _join(links: Links, source: ir.Source, scope: Scope, indirect: list[Flows], facets: list[tuple[str, str]]) -> None:
    """Add one source to the scope, with its condition and its effect on the nullability of the others."""
    added = _source(links, source, scope)
    join = source.join
    side = join.side if join is not None else ""
    if side in ("left", "full"):
        added.nullable = True
    if side in ("right", "full"):
        for earlier in scope.sources:
            earlier.nullable = True
    linked = added.linked
    if linked is not None:
        indirect.append(linked.indirect)
        facets.extend(linked.facets)
    elif added.input is not None:
        indirect.append(added.input.indirect)
        facets.extend(added.input.facets or (("source", added.input.object),))
    condition = _join_condition(links, join, scope, added, indirect) if join is not None else ""
    if side in ("semi", "anti"):
        indirect.append(())
        scope.sources = Sources(item for item in scope.sources if item is not added)
    made = source.function is not None and added.input is None
    name = added.input.object if added.input is not None else f"(function) {added.text}" if made else "(subquery)"
    facets.extend((facet, f"{name}: {text}") for facet, text in source.marks)
    if side in ("right", "full") and len(scope.sources) == 2 and (first := scope.sources[0].called()):
        # `a RIGHT JOIN b` is `b LEFT JOIN a`; a FULL JOIN is the same either way.
        side, name = ("left", first) if side == "right" else (side, max(name, first))
    if made or (join is not None and (side != "cross" or condition)):
        facets.append(("join", f"{side or 'cross'} {name}{' ON ' if condition else ''}{condition}"))


def _join_condition(links: Links, join: ir.Join, scope: Scope, added: Source, indirect: list[Flows]) -> str:
    earlier = list(scope.sources)
    scope.sources.append(added)
    using = list(join.using)
    if join.natural:
        left = dict.fromkeys([*scope.merged, *(name for item in earlier for name in item.names())])
        using = [ir.Ref((name,), ir.NOWHERE, ir.NOWHERE) for name in left if added.has(name)]
        if len(left) > MANY:
            links.budget.turn(len(left))
    texts = []
    for key in using:
        name = key.parts[0]
        owners = [item for item in earlier if item.has(name)] or [item for item in earlier if item.is_open()][:1]
        first = scope.merged.get(name, tuple(owners[:1]))
        values = [value for item in (*first, added) if (value := item.column(name, key.start, key.end)) is not None]
        if len(values) > MANY:
            links.budget.turn(TEXTS * len(values))
        indirect.append(influence(united(value.flows for value in values), Subtype.JOIN))
        texts.append(shortened(f"({' = '.join(sorted(value.text for value in values))})"))
        if scope.typing.family.using_widens:
            types = [scope.merged_types.get(name), *(value.type for value in values)]
            scope.merged_types[name] = common_type([kind for kind in types if kind], scope.typing.family)
        for item in (*first, added):
            item.merged |= {name}
        scope.merged[name] = {"right": (added,), "full": (*first, added)}.get(join.side, first or (added,))
    if using:  # the columns that a join merges stand before all others
        scope.merged = {key.parts[0]: scope.merged[key.parts[0]] for key in using} | scope.merged
    for condition in conjuncts(join.on):
        value = value_of(condition, scope, links)
        indirect.append(influence(value.flows, Subtype.JOIN))
        texts.append(value.text)
    return " and ".join(sorted(texts))


def _source(links: Links, source: ir.Source, scope: Scope) -> Source:
    inner = None if source.common else scope if source.lateral else scope.outer
    added: Source
    if source.relation != ir.NOWHERE:
        linked = told_apart(links.relation(source.relation, inner), links.traits)
        if source.name is not None:
            added = proposed(source.alias, linked, links.input(source.name))
        else:
            added = renamed(source, linked, links.traits)
    elif source.name is not None and source.function is None:
        parts = spoken(source.name.parts, links.traits.aliases)
        added = Source(source.alias, parts, input=links.input(source.name), columns=source.columns)
    elif source.function is not None:
        added = _function(links, source, scope)
    else:
        added = Source(source.alias, (), linked=record(links.variables, source.record))
    added.reach = source.reach
    again = scope.sources.times(added) if scope.sources else 0
    if again:
        added.mark = f"~{again + 1}"
    if source.join is None:
        scope.sources.append(added)
    return added


def _function(links: Links, source: ir.Source, scope: Scope) -> Source:
    """A function in the place of a table: a known object of the user's own, or rows made of its arguments."""
    assert source.function is not None
    if (module := links.function(bare_name(source.function))) is not None:
        return Source(source.alias, (), input=module, columns=source.columns)
    found = links.input(source.name) if source.name is not None else None
    value = value_of(source.function, scope, links)
    if source.name is not None and found is not None and (found.columns or not value.flows):
        decided = united([found.indirect, influence(value.flows, Subtype.FILTER)])
        links.handed.update(handed(found, source.function, lambda arg: value_of(arg, scope, links)))
        found = msgspec.structs.replace(found, indirect=decided)
        parts = spoken(source.name.parts, links.traits.aliases)
        return Source(source.alias, parts, input=found, columns=source.columns)
    args = source.function.args if isinstance(source.function, ir.Call) else ()
    linked = rowset(source, value, [value_of(arg, scope, links) for arg in args], links.traits)
    if args and isinstance(args[0], ir.Sub) and args[0].mode == "rows":
        given = links.relation(args[0].relation, scope)
        linked = given if given.openings else msgspec.structs.replace(given, rest=linked.rest or value)
    element = bool(source.columns) and source.alias == source.columns[0]
    return Source(source.alias, (), linked=linked, element=element, text=value.text)


# ── outputs ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _outputs(links: Links, body: ir.Select, scope: Scope) -> tuple[list[Out], list[Opening], Gap]:
    columns: list[Out] = []
    openings, stars = list[Opening](), list[tuple[int, int]]()
    for output in body.outputs:
        if isinstance(output, ir.Star):
            before, known = len(columns), len(openings)
            columns.extend(counted(links, output, scope, openings))
            if len(openings) > known:
                stars.append((before, len(columns)))
            continue
        value, name = value_of(output.expr, scope, links), output.name
        if value.type is not None and len(value.type) > LONGEST_TYPE:
            value = msgspec.structs.replace(value, type=None, members=None)
        elif value.type is not None and UNKNOWN in value.type:
            value = msgspec.structs.replace(value, type=settled(value.type, scope.typing.family))
        if " " in output.written:
            output = recaptioned(output, scope, links)
            name = output.name
        columns.extend(several(output, value, scope, links) or (out_of(output, name, value),))
        if name:
            scope.aliases.setdefault(name, value)
    return columns, openings, gap_of(len(columns), stars)


# ── clauses that may name the outputs ────────────────────────────────────────────────────────────────────────────


def _in_clause(
    clause: str, expr: ir.Expr, scope: Scope, links: Links, columns: Sequence[Out], named: dict[str, Value]
) -> Value:
    """A condition or key; ordinals and aliases of the select list are looked up where the dialect allows them."""
    if clause in ("group", "order") and isinstance(expr, ir.Literal) and expr.text.isdigit():
        position = whole_number(expr.text) - 1
        return columns[position].value if 0 <= position < len(columns) else Value()
    traits = scope.traits
    if isinstance(expr, ir.Ref) and len(expr.parts) == 1 and expr.parts[0] in named:
        own = any(source.has(expr.parts[0]) for source in scope.sources)
        first = clause == "order" or (
            clause == "group" and traits.alias_in_group and (traits.alias_first_in_group or not own)
        )
        if first:
            return named[expr.parts[0]]
    allowed = {
        "where": traits.alias_in_where,
        "group": traits.alias_in_group,
        "having": traits.alias_in_having or traits.alias_in_where,
    }
    inner = _with_aliases(scope, named if allowed.get(clause, True) else {})
    return value_of(expr, inner, links)


def _with_aliases(scope: Scope, named: dict[str, Value]) -> Scope:
    """The scope, with the outputs behind the columns of the sources."""
    if not named:
        return scope
    inner = Scope(scope.traits, scope, scope.report, scope.variables)
    inner.sources, inner.merged, inner.aliases, inner.hidden = scope.sources, scope.merged, named, scope.hidden
    inner.merged_types, inner.outer = scope.merged_types, scope.outer
    inner.sees_aliases = True
    return inner


def each_once(items: Sequence[ItemT]) -> tuple[ItemT, ...]:
    """Items without repetitions: where each relation reads the one before it twice, they would double every time."""
    return tuple(dict.fromkeys(items)) if len(items) > 1 else tuple(items)
