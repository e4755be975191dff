"""Selects: sources joined, stars expanded, outputs evaluated, and what decides about the rows gathered."""

import fnmatch
from collections.abc import Iterator, Sequence
from typing import Protocol

from lineage_pipeline.dialects.traits import Folding, Traits
from lineage_pipeline.engine.link.canonical import lines
from lineage_pipeline.engine.link.flows import Flows, approximated, changed, influence, into_path, united
from lineage_pipeline.engine.link.model import Input, Linked, Opening, Out, Value, Variables
from lineage_pipeline.engine.link.scope import Report, Scope, Source
from lineage_pipeline.engine.link.types import struct_members
from lineage_pipeline.engine.link.values import value_of
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.sets import Subtype


class Links(Protocol):
    """Whoever knows the inputs of a statement and links its other relations."""

    traits: Traits
    report: Report
    variables: Variables

    def relation(self, index: int, outer: Scope | None) -> Linked:
        """The relation at an index."""

    def input(self, name: ir.Name) -> Input:
        """The object that a name stands for."""


def select(links: Links, body: ir.Select, outer: Scope | None) -> Linked:
    """A select: its columns, and what decides about its rows."""
    scope = Scope(links.traits, outer, links.report, links.variables)
    indirect: list[Flows] = []
    facets: list[tuple[str, str]] = []
    for source in body.sources:
        _join(links, source, scope, indirect, facets)
    columns, openings = _outputs(links, body, scope)
    scope.sees_aliases = False
    scope_columns = {column.name: column.value for column in columns if column.name}
    for clause, subtype, conditions in _conditions(body):
        for condition in conditions:
            value = _in_clause(clause, condition, scope, links, columns, scope_columns)
            indirect.append(influence(value.flows, subtype))
            if value.text:
                facets.append((_FACETS[clause], value.text))
    facets.extend(_shape(body, columns))
    return Linked(tuple(columns), tuple(openings), united(indirect), tuple(facets))


_FACETS = {"where": "filter", "having": "filter", "qualify": "filter", "group": "grouping", "order": "order"}


def _conditions(body: ir.Select) -> Iterator[tuple[str, Subtype, Sequence[ir.Expr]]]:
    yield "where", Subtype.FILTER, _conjuncts(body.where)
    yield "group", Subtype.GROUP_BY, (*body.group, *body.distinct_on)
    yield "having", Subtype.FILTER, _conjuncts(body.having)
    yield "qualify", Subtype.FILTER, _conjuncts(body.qualify)
    yield "order", Subtype.SORT, body.order


def _conjuncts(condition: ir.Expr | None) -> list[ir.Expr]:
    """The conditions that all have to hold."""
    if condition is None:
        return []
    found, pending = [], [condition]
    while pending:
        part = pending.pop()
        if isinstance(part, ir.Call) and part.op == "AND":
            pending.extend(reversed(part.args))
        else:
            found.append(part)
    return found


def _shape(body: ir.Select, columns: Sequence[Out]) -> Iterator[tuple[str, str]]:
    if body.distinct:
        yield "grouping", "distinct"
    if body.group_all:
        yield "grouping", "all"
    if body.grouping:
        yield "grouping", body.grouping.lower()
    if body.limit:
        yield "limit", body.limit


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
        facets.append(("source", added.input.object))
    condition = _join_condition(links, join, scope, added, indirect) if join is not None else ""
    if side in ("semi", "anti"):
        indirect.append(())
        scope.sources = [item for item in scope.sources if item is not added]
    if join is not None and (side != "cross" or condition):
        name = added.input.object if added.input is not None else "(subquery)" if linked is not None else "(function)"
        facets.append(("join", f"{side} {name} ON {condition}" if condition else f"{side} {name}"))


def _join_condition(links: Links, join: ir.Join, scope: Scope, added: Source, indirect: list[Flows]) -> str:
    earlier = list(scope.sources)
    scope.sources.append(added)
    using = list(join.using)
    if join.natural:
        using = [name for name in added.names() if any(item.has(name) for item in earlier)]
    texts = []
    for name in using:
        owners = [item for item in earlier if item.has(name)] or [item for item in earlier if item.is_open()][:1]
        left = scope.merged.get(name, tuple(owners[:1]))
        values = [value for item in (*left, added) if (value := item.column(name, -1, -1)) is not None]
        indirect.append(influence(united(value.flows for value in values), Subtype.JOIN))
        texts.append(" = ".join(sorted(value.text for value in values)))
        scope.merged[name] = {"right": (added,), "full": (*left, added)}.get(join.side, left or (added,))
    for condition in _conjuncts(join.on):
        value = value_of(condition, scope, links)
        indirect.append(influence(value.flows, Subtype.JOIN))
        texts.append(value.text)
    return " and ".join(sorted(texts))


def _source(links: Links, source: ir.Source, scope: Scope) -> Source:
    inner = scope if source.lateral else scope.outer
    added: Source
    if source.relation != ir.NOWHERE:
        added = Source(source.alias, (), linked=links.relation(source.relation, inner), columns=source.columns)
    elif source.name is not None and source.function is None:
        added = Source(source.alias, source.name.parts, input=links.input(source.name), columns=source.columns)
    elif source.function is not None:
        added = _function(links, source, scope)
    else:
        added = Source(source.alias, (), linked=links.variables.records.get(source.record) or Linked(()))
    if source.join is None:
        scope.sources.append(added)
    return added


def _function(links: Links, source: ir.Source, scope: Scope) -> Source:
    """A function in the place of a table: a known object of the user's own, or rows made of its arguments."""
    assert source.function is not None
    if source.name is not None:
        found = links.input(source.name)
        if found.columns:
            return Source(source.alias, source.name.parts, input=found, columns=source.columns)
    value = value_of(source.function, scope, links)
    flows = changed(value.flows, Subtype.TRANSFORMATION)
    args = source.function.args if isinstance(source.function, ir.Call) else ()
    arguments = tuple(Value(changed(value_of(arg, scope, links).flows, Subtype.TRANSFORMATION)) for arg in args)
    columns = source.columns or source.produces
    return Source(source.alias, (), function=Value(flows, None, True, value.text), arguments=arguments, columns=columns)


# ── outputs ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _outputs(links: Links, body: ir.Select, scope: Scope) -> tuple[list[Out], list[Opening]]:
    columns: list[Out] = []
    openings: list[Opening] = []
    for output in body.outputs:
        if isinstance(output, ir.Star):
            columns.extend(_star(links, output, scope, openings))
            continue
        value = value_of(output.expr, scope, links)
        columns.append(Out(output.name, output.written, value, output.start, output.end, _is_approximate(value)))
        if output.name:
            scope.aliases.setdefault(output.name, value)
    return columns, openings


def _is_approximate(value: Value) -> bool:
    for flow in value.flows:  # noqa: SIM110 - as `any` over a generator it takes three times as long
        if flow.approximate:
            return True
    return False


def _star(links: Links, star: ir.Star, scope: Scope, openings: list[Opening]) -> Iterator[Out]:
    """The columns that a star stands for, in order; merged ones come first and once."""
    replaced = {output.name: output for output in star.replace}
    renamed = dict(star.rename)
    for name, value in _starred(links, star, scope, openings):
        if name in star.exclude or (star.pattern and not _matches(name, star.pattern)):
            continue
        if name in replaced:
            output = replaced[name]
            new = value_of(output.expr, scope, links)
            yield Out(name, output.written, new, output.start, output.end, _is_approximate(new))
        else:
            shown = renamed.get(name, name)
            yield Out(shown, shown, value, star.start, star.end, _is_approximate(value))


def _matches(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name.lower(), pattern.lower().replace("%", "*").replace("_", "?"))


def _starred(links: Links, star: ir.Star, scope: Scope, openings: list[Opening]) -> Iterator[tuple[str, Value]]:
    sources = [source for source in scope.sources if not star.qualifier or source.answers(star.qualifier)]
    if not sources and star.qualifier:
        yield from _struct_members(links, star, scope)
        return
    if not star.qualifier:
        for name in scope.merged:
            yield name, scope.resolve(ir.Ref((name,), star.start, star.end))
    for source in sources:
        for opening in source.openings(star):
            openings.append(opening)
            if source.input is not None:
                links.report("APPROXIMATE_LINEAGE", star.start, star.end, name=opening.object)
        for position, name in enumerate(source.names()):
            if star.qualifier or name not in scope.merged:
                yield name, source.at(position, name, star.start, star.end)


def _struct_members(links: Links, star: ir.Star, scope: Scope) -> Iterator[tuple[str, Value]]:
    """`s.*` of a struct: its members where its type lists them, else the struct itself, marked as not certain."""
    value = scope.lookup(ir.Ref(star.qualifier, star.start, star.end))
    if value is None:
        links.report("UNRESOLVED_REFERENCE", star.start, star.end, name=".".join(star.qualifier))
        return
    members = struct_members(value.type or "")
    for name, kind in members:
        folded = name.lower() if links.traits.columns is Folding.INSENSITIVE else name
        yield folded, Value(into_path(value.flows, (folded,)), kind, True, f"{value.text}.{folded}")
    if not members:
        links.report("APPROXIMATE_LINEAGE", star.start, star.end, name=".".join(star.qualifier))
        yield star.qualifier[-1], Value(approximated(value.flows), None, True, value.text)


# ── clauses that may name the outputs ────────────────────────────────────────────────────────────────────────────


def _in_clause(
    clause: str, expr: ir.Expr, scope: Scope, links: Links, columns: Sequence[Out], named: dict[str, Value]
) -> Value:
    """A condition or key; ordinals and aliases of the select list are looked up where the dialect allows them."""
    if clause in ("group", "order") and isinstance(expr, ir.Literal) and expr.text.isdigit():
        position = int(expr.text) - 1
        return columns[position].value if 0 <= position < len(columns) else Value()
    traits = scope.traits
    if isinstance(expr, ir.Ref) and len(expr.parts) == 1 and expr.parts[0] in named:
        own = any(source.has(expr.parts[0]) for source in scope.sources)
        first = clause == "order" or (clause == "group" and traits.alias_in_group and not own)
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
    inner.outer = scope.outer
    inner.sees_aliases = True
    return inner


def facet_lines(facets: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The facets of a statement: sorted lines by name."""
    grouped: dict[str, list[str]] = {}
    for name, text in facets:
        grouped.setdefault(name, []).append(text)
    return {
        name: lines(dict.fromkeys(texts)) if name != "order" else "\n".join(texts) for name, texts in grouped.items()
    }
