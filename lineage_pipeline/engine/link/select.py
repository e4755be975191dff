"""SELECT: joins, projection, clauses, and the flows that decide about the rows."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from lineage_pipeline.dialects.identifier_folding import fold_for_alias
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.types.coercion import common_type
from lineage_pipeline.dialects.types.families import UNTYPED_CONSTANT
from lineage_pipeline.engine.link.canonical import (
    apply_outer_join_marks,
    describe_select_shape,
    shorten_text,
    split_condition,
)
from lineage_pipeline.engine.link.context import FLOW_COUNT_THRESHOLD, STEPS_PER_TEXT, RelationResolver
from lineage_pipeline.engine.link.expression import evaluate_expression, has_aggregate, regenerate_name
from lineage_pipeline.engine.link.model import (
    BoundRelation,
    ExprResult,
    Flows,
    OutputColumn,
    UnexpandedStar,
    UnknownRange,
    expand_struct,
    mark_indirect,
    union_flows,
)
from lineage_pipeline.engine.link.positional import find_unknown_range, number_duplicate_columns
from lineage_pipeline.engine.link.query_plan import plan_select
from lineage_pipeline.engine.link.scope import (
    QUERY_NAME,
    Scope,
    ScopeSource,
    ScopeSources,
    build_excluded_source,
    build_relation_source,
)
from lineage_pipeline.engine.link.star import (
    build_output_column,
    expand_generator,
    expand_star_within_budget,
    find_star_catch_all,
)
from lineage_pipeline.engine.link.table_function import (
    bind_table_arguments,
    expand_table_function,
    find_bare_name,
    read_cursor_rows,
)
from lineage_pipeline.engine.link.type_inference import settle_unknown_type
from lineage_pipeline.model import ir
from lineage_pipeline.model.enums import Subtype

ItemT = TypeVar("ItemT")


def link_select(links: RelationResolver, body: ir.Select, outer: Scope | None) -> BoundRelation:
    """A select as a bound relation."""
    scope = Scope(links.traits, outer, links.report, links.variables)
    indirect: list[Flows] = []
    facets: list[tuple[str, str]] = []
    for source in body.sources:
        _add_source(links, source, scope, indirect, facets)
    columns, openings, gap = _link_outputs(links, body, scope)
    if body.partial:
        columns = mark_partial_keys_nullable(body, columns)
    scope.sees_aliases = False
    scope_columns = {column.name: column.value for column in columns if column.name}
    keys: list[str] = []
    marked = False
    for clause, subtype, conditions in _iter_clauses(body):
        for condition in conditions:
            value = _evaluate_in_clause(clause, condition, scope, links, columns, scope_columns)
            joins = isinstance(condition, ir.Call) and condition.op == "OUTERJOIN"
            marked = marked or joins
            indirect.append(mark_indirect(value.flows, Subtype.JOIN if joins else subtype))
            if clause == "group":
                keys.append(value.text)
            if value.text:
                facets.extend((_CLAUSE_FACETS[clause], text) for text in split_condition(condition, value))
    indirect.extend(_link_all_keys(body, columns))
    if body.distinct:
        indirect.extend(mark_indirect(column.value.flows, Subtype.GROUP_BY) for column in columns)
    facets.extend(describe_select_shape(body, keys))
    if marked:
        facets = apply_outer_join_marks(facets)
    rest = None if openings else find_star_catch_all(links, body, scope)
    if body.value_table and len(columns) == 1:
        columns, rest = _expand_value_table(columns[0])
    return BoundRelation(
        columns=tuple(columns),
        unexpanded=drop_duplicates(openings),
        indirect=union_flows(indirect),
        facets=drop_duplicates(facets),
        catch_all=rest,
        single=_is_single_row(body),
        unknown_range=gap,
        plan=plan_select(body, scope, links, columns),
    )


def _is_single_row(body: ir.Select) -> bool:
    """Say whether a select gives exactly one row: an aggregate without GROUP BY."""
    if len(body.outputs) != 1 or body.group or body.group_all or body.grouping:
        return False
    (output,) = body.outputs
    if type(output) is not ir.Output or type(output.expr) is not ir.Call or not output.expr.traits & ir.AGGREGATE:
        return False
    return body.having is None and body.qualify is None and not body.limit


def _link_all_keys(body: ir.Select, columns: Sequence[OutputColumn]) -> Iterator[Flows]:
    """The keys of GROUP BY ALL (outputs without an aggregate) and ORDER BY ALL (all outputs)."""
    if body.group_all:
        simple = len(body.outputs) == len(columns)
        for position, column in enumerate(columns):
            output = body.outputs[position] if simple else None
            if not isinstance(output, ir.Output) or not has_aggregate(output.expr):
                yield mark_indirect(column.value.flows, Subtype.GROUP_BY)
    if body.order_all:
        yield from (mark_indirect(column.value.flows, Subtype.SORT) for column in columns)


def _expand_value_table(column: OutputColumn) -> tuple[list[OutputColumn], ExprResult | None]:
    """BigQuery: the columns of a value table (SELECT AS STRUCT, AS VALUE): the members, or the value itself."""
    members = expand_struct(column.value)
    if not members:
        return [column], column.value if column.value.type is None else None
    return [
        OutputColumn(
            name=name, written=name, value=value, start=column.start, end=column.end, approximate=column.approximate
        )
        for name, value in members
    ], None


MAX_TYPE_LENGTH = 10_000
"""A longer type is treated as unknown: nested structs can double with each relation."""

_CLAUSE_FACETS = {"where": "filter", "having": "filter", "qualify": "filter", "group": "grouping", "order": "order"}


def _iter_clauses(body: ir.Select) -> Iterator[tuple[str, Subtype, Sequence[ir.Expr]]]:
    yield "where", Subtype.FILTER, split_conjuncts(body.where)
    yield "group", Subtype.GROUP_BY, (*body.group, *body.distinct_on)
    yield "having", Subtype.FILTER, split_conjuncts(body.having)
    yield "qualify", Subtype.FILTER, split_conjuncts(body.qualify)
    yield "order", Subtype.SORT, body.order


# ── sources ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _add_source(
    links: RelationResolver, source: ir.Source, scope: Scope, indirect: list[Flows], facets: list[tuple[str, str]]
) -> None:
    """Add one source to the scope, with its join condition and its effect on the nullability of the others."""
    added = _build_source(links, source, scope)
    join = source.join
    side = join.side if join is not None else ""
    scope.place(added, side)
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
    condition = _link_join_condition(links, join, scope, added, indirect) if join is not None else ""
    if side in ("semi", "anti"):
        indirect.append(())
        scope.sources = ScopeSources(item for item in scope.sources if item is not added)
    made = source.function is not None and added.input is None
    name = added.input.object if added.input is not None else f"(function) {added.text}" if made else _name_rows(linked)
    facets.extend((facet, f"{name}: {text}") for facet, text in source.marks)
    if side in ("right", "full") and len(scope.sources) == 2 and (first := _name_source(scope.sources[0])):
        # `a RIGHT JOIN b` is `b LEFT JOIN a`; a FULL JOIN is the same either way.
        side, name = ("left", first) if side == "right" else (side, max(name, first))
    if made or (join is not None and side != "keyed" and (side != "cross" or condition)):
        facets.append(("join", f"{side or 'cross'} {name}{' ON ' if condition else ''}{condition}"))


_SIEVES = frozenset({"source", "filter"})
"""Facets of a query that passes on rows of its sources as they are."""


def _name_source(source: ScopeSource) -> str:
    """What a join calls a source."""
    shown = source.display_name()
    return _name_rows(source.linked) if shown == QUERY_NAME else shown


def _name_rows(linked: BoundRelation | None) -> str:
    """What a join calls a query: the one object whose rows it passes on, or that it is a query."""
    facets = linked.facets if linked is not None else ()
    named = {text for name, text in facets if name == "source"}
    return named.pop() if len(named) == 1 and all(name in _SIEVES for name, _ in facets) else QUERY_NAME


def _link_join_condition(
    links: RelationResolver, join: ir.Join, scope: Scope, added: ScopeSource, indirect: list[Flows]
) -> str:
    earlier = list(scope.sources)
    scope.sources.append(added)
    using = list(join.using)
    if join.natural:
        left = dict.fromkeys([*scope.merged, *(name for item in earlier for name in item.names())])
        using = [ir.Ref((name,), ir.NOWHERE, ir.NOWHERE) for name in left if added.has(name)]
        if len(left) > FLOW_COUNT_THRESHOLD:
            links.budget.charge_steps(len(left))
    texts = []
    for key in using:
        name = key.parts[0]
        owners = [item for item in earlier if item.has(name)] or [item for item in earlier if item.is_open()][:1]
        first = scope.merged.get(name, tuple(owners[:1]))
        values = [value for item in (*first, added) if (value := item.column(name, key.start, key.end)) is not None]
        if len(values) > FLOW_COUNT_THRESHOLD:
            links.budget.charge_steps(STEPS_PER_TEXT * len(values))
        indirect.append(mark_indirect(union_flows(value.flows for value in values), Subtype.JOIN))
        texts.append(shorten_text(f"({' = '.join(sorted(value.text for value in values))})"))
        if scope.typing.family.using_widens:
            types = [scope.merged_types.get(name), *(value.type for value in values)]
            scope.merged_types[name] = common_type([kind for kind in types if kind], scope.typing.family)
        for item in (*first, added):
            item.merged |= {name}
        scope.merged[name] = {"right": (added,), "full": (*first, added)}.get(join.side, first or (added,))
    if using:  # the columns that a join merges stand before all others
        names = [key.parts[0] for key in using]
        if scope.traits.merges_by_table:
            right = join.side == "right"
            names = _order_by_tables(names, [added] if right else [*scope.leading, *earlier])
            scope.leading = [added, *scope.leading] if right else scope.leading
        scope.merged = {name: scope.merged[name] for name in names} | scope.merged
    keyed = join.side == "keyed" and join.on is None
    conditions = _join_keys(earlier, added) if keyed else split_conjuncts(join.on)
    for condition in conditions:
        value = evaluate_expression(condition, scope, links)
        indirect.append(mark_indirect(value.flows, Subtype.JOIN))
        texts.append(value.text)
    return " and ".join(sorted(texts))


def _join_keys(earlier: Sequence[ScopeSource], added: ScopeSource) -> list[ir.Expr]:
    """MySQL: ON DUPLICATE KEY finds the row by any key of the table that the INSERT fills."""
    return [
        ir.Call(
            "EQ",
            (
                ir.Ref((source.alias, column.name), ir.NOWHERE, ir.NOWHERE),
                ir.Ref((added.alias, column.name), ir.NOWHERE, ir.NOWHERE),
            ),
        )
        for source in earlier[:1]
        if source.input is not None
        for column in source.input.columns
        if column.key and added.has(column.name)
    ]


def _order_by_tables(names: Sequence[str], sources: Sequence[ScopeSource]) -> list[str]:
    """The columns of a USING clause in the order in which the first of some sources that has one has them."""
    listed = dict.fromkeys(name for source in sources for name in source.names())
    return sorted(names, key=list(listed).index) if listed.keys() >= set(names) else list(names)


def _build_source(links: RelationResolver, source: ir.Source, scope: Scope) -> ScopeSource:
    inner = None if source.common else scope if source.lateral else scope.outer
    added: ScopeSource
    if source.relation != ir.NOWHERE:
        linked = number_duplicate_columns(links.relation(source.relation, inner), links.traits)
        if source.name is not None:
            added = build_excluded_source(source.alias, linked, links.input(source.name))
        else:
            added = build_relation_source(source, linked, links.traits)
    elif source.name is not None and source.function is None:
        parts = fold_for_alias(source.name.parts, links.traits.aliases)
        added = ScopeSource(source.alias, parts, input=links.input(source.name), columns=source.columns)
    elif source.function is not None:
        added = _build_function_source(links, source, scope)
    else:
        added = ScopeSource(source.alias, (), linked=read_cursor_rows(links.variables, source.record))
    added.reach = source.reach
    again = scope.sources.count_same(added) if scope.sources else 0
    if again:
        added.mark = f"~{again + 1}"
    if source.join is None:
        scope.sources.append(added)
    return added


def _build_function_source(links: RelationResolver, source: ir.Source, scope: Scope) -> ScopeSource:
    """A function in FROM: a user-defined one, or rows made of its arguments."""
    assert source.function is not None
    if (module := links.function(find_bare_name(source.function))) is not None:
        return ScopeSource(source.alias, (), input=module, columns=source.columns)
    found = links.input(source.name) if source.name is not None else None
    value = evaluate_expression(source.function, scope, links)
    if source.name is not None and found is not None and (found.columns or not value.flows):
        decided = union_flows([found.indirect, mark_indirect(value.flows, Subtype.FILTER)])
        links.handed.update(
            bind_table_arguments(found, source.function, lambda arg: evaluate_expression(arg, scope, links))
        )
        found = msgspec.structs.replace(found, indirect=decided)
        parts = fold_for_alias(source.name.parts, links.traits.aliases)
        return ScopeSource(source.alias, parts, input=found, columns=source.columns)
    args = source.function.args if isinstance(source.function, ir.Call) else ()
    linked = expand_table_function(
        source, value, [evaluate_expression(arg, scope, links) for arg in args], links.traits
    )
    if args and isinstance(args[0], ir.Sub) and args[0].mode == "rows":
        given = links.relation(args[0].relation, scope)
        linked = given if given.unexpanded else msgspec.structs.replace(given, catch_all=linked.catch_all or value)
    elif value.flows:  # how many rows there are depends on what is taken apart
        decided = union_flows([linked.indirect, mark_indirect(value.flows, Subtype.JOIN)])
        linked = msgspec.structs.replace(linked, indirect=decided)
    element = bool(source.columns) and source.alias == source.columns[0]
    return ScopeSource(source.alias, (), linked=linked, element=element, text=value.text)


# ── outputs ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _link_outputs(
    links: RelationResolver, body: ir.Select, scope: Scope
) -> tuple[list[OutputColumn], list[UnexpandedStar], UnknownRange]:
    columns: list[OutputColumn] = []
    openings, stars = list[UnexpandedStar](), list[tuple[int, int]]()
    for output in body.outputs:
        if isinstance(output, ir.Star):
            before, known = len(columns), len(openings)
            columns.extend(expand_star_within_budget(links, output, scope, openings))
            if len(openings) > known:
                stars.append((before, len(columns)))
            continue
        value, name = evaluate_expression(output.expr, scope, links), output.name
        if value.type is not None and len(value.type) > MAX_TYPE_LENGTH:
            value = msgspec.structs.replace(value, type=None, members=None)
        elif value.type is not None and UNTYPED_CONSTANT in value.type:
            value = msgspec.structs.replace(value, type=settle_unknown_type(value.type, scope.typing.family))
        if " " in output.written:
            output = regenerate_name(output, scope, links)
            name = output.name
        columns.extend(expand_generator(output, value, scope, links) or (build_output_column(output, name, value),))
        if name:
            scope.aliases.setdefault(name, value)
    return columns, openings, find_unknown_range(len(columns), stars)


# ── clauses that may name the outputs ────────────────────────────────────────────────────────────────────────────


def _evaluate_in_clause(
    clause: str,
    expr: ir.Expr,
    scope: Scope,
    links: RelationResolver,
    columns: Sequence[OutputColumn],
    named: dict[str, ExprResult],
) -> ExprResult:
    """A condition or key; ordinals and select-list aliases are resolved where the dialect allows them."""
    if clause in ("group", "order") and isinstance(expr, ir.Literal) and expr.text.isdigit():
        position = parse_whole_number(expr.text) - 1
        return columns[position].value if 0 <= position < len(columns) else ExprResult()
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
    inner = _scope_with_aliases(scope, named if allowed.get(clause, True) else {})
    return evaluate_expression(expr, inner, links)


def _scope_with_aliases(scope: Scope, named: dict[str, ExprResult]) -> Scope:
    """The scope with the select-list aliases after the columns of the sources."""
    if not named:
        return scope
    inner = Scope(scope.traits, scope, scope.report, scope.variables)
    inner.sources, inner.merged, inner.aliases, inner.hidden = scope.sources, scope.merged, named, scope.hidden
    inner.merged_types, inner.outer = scope.merged_types, scope.outer
    inner.placed, inner.placed_sides, inner.placed_by_alias = scope.placed, scope.placed_sides, scope.placed_by_alias
    inner.sees_aliases = True
    return inner


def drop_duplicates(items: Sequence[ItemT]) -> tuple[ItemT, ...]:
    """Items without repetitions: relations that read one another twice would double them each time."""
    return tuple(dict.fromkeys(items)) if len(items) > 1 else tuple(items)


_GROUPING_OPERATORS = frozenset({"TUPLE", "ROLLUP", "CUBE", "GROUPINGSETS"})


def mark_partial_keys_nullable(body: ir.Select, columns: Sequence[OutputColumn]) -> list[OutputColumn]:
    """The outputs of a select with the keys of ROLLUP, CUBE and GROUPING SETS marked as nullable."""
    keys = [key for place in body.partial for key in _list_grouping_keys(body.group[place])]
    named = {key.parts[-1] for key in keys if isinstance(key, ir.Ref)}
    whole = {repr(_without_positions(key)) for key in keys if not isinstance(key, ir.Ref)}
    counted = {parse_whole_number(key.text) - 1 for key in keys if isinstance(key, ir.Literal) and key.text.isdigit()}
    shown = {
        output.name
        for position, output in enumerate(body.outputs)
        if type(output) is ir.Output and (position in counted or _shows_key(output.expr, named, whole))
    }
    starred = any(type(output) is ir.Star for output in body.outputs)
    return [
        msgspec.structs.replace(column, value=msgspec.structs.replace(column.value, nullable=True))
        if column.name in shown or column.name in named or starred
        else column
        for column in columns
    ]


def _list_grouping_keys(key: ir.Expr) -> Sequence[ir.Expr]:
    """The keys of a grouping, one by one; of GROUPING SETS those that are not in every set."""
    if not isinstance(key, ir.Call) or key.op not in _GROUPING_OPERATORS:
        return (key,)
    if key.op != "GROUPINGSETS":
        return [column for arg in key.args for column in _list_grouping_keys(arg)]
    sets = [_list_grouping_keys(arg) for arg in key.args]
    every = [{repr(_without_positions(column)) for column in columns} for columns in sets]
    flat = [column for columns in sets for column in columns]
    return [column for column in flat if not all(repr(_without_positions(column)) in names for names in every)]


def _shows_key(expr: ir.Expr, named: set[str], whole: set[str]) -> bool:
    """Say whether an expression contains a key outside of aggregates."""
    if isinstance(expr, ir.Ref):
        return expr.parts[-1] in named
    if isinstance(expr, ir.Literal):
        return not expr.text.isdigit() and repr(expr) in whole
    if isinstance(expr, ir.Call) and (expr.traits & ir.AGGREGATE or expr.op.startswith("GROUPING")):
        return False
    if repr(_without_positions(expr)) in whole:
        return True
    if isinstance(expr, ir.Call):
        return any(_shows_key(arg, named, whole) for arg in expr.args)
    if isinstance(expr, ir.Case):
        parts = [value for _, value in expr.whens] + ([expr.default] if expr.default is not None else [])
        return any(_shows_key(part, named, whole) for part in parts)
    return _shows_key(expr.arg, named, whole) if isinstance(expr, ir.Cast | ir.Field) else False


def _without_positions(expr: ir.Expr) -> ir.Expr:
    """An expression without positions and qualifiers."""
    if isinstance(expr, ir.Ref):
        return ir.Ref(expr.parts[-1:], 0, 0)
    if isinstance(expr, ir.Call):
        return ir.Call(expr.op, tuple(_without_positions(arg) for arg in expr.args))
    if isinstance(expr, ir.Cast | ir.Field):
        return msgspec.structs.replace(expr, arg=_without_positions(expr.arg))
    if isinstance(expr, ir.Case):
        whens = tuple((_without_positions(when), _without_positions(value)) for when, value in expr.whens)
        default = _without_positions(expr.default) if expr.default is not None else None
        return msgspec.structs.replace(expr, whens=whens, default=default)
    return expr


def split_conjuncts(condition: ir.Expr | None) -> list[ir.Expr]:
    """The conditions that a clause joins with AND; NOT over OR is split as well."""
    if condition is None:
        return []
    found, pending = [], [condition]
    while pending:
        part = pending.pop()
        if isinstance(part, ir.Call) and part.op == "AND":
            pending.extend(reversed(part.args))
        elif isinstance(part, ir.Call) and part.op == "NOT" and (denied := _split_negation(part)):
            pending.extend(reversed(denied))
        else:
            found.append(part)
    return found


def _split_negation(condition: ir.Call) -> Sequence[ir.Expr]:
    """The conditions of a NOT over OR or over another NOT."""
    (inner,) = condition.args
    if not isinstance(inner, ir.Call):
        return ()
    if inner.op == "OR":
        return [msgspec.structs.replace(condition, args=(part,)) for part in inner.args]
    return inner.args if inner.op == "NOT" else ()
