"""Queries: selects, set operations and values become relations that name each other by index."""

from collections.abc import Callable, Iterator
from typing import cast

import msgspec
from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.expressions import expression, expressions
from lineage_pipeline.engine.compile.outputs import outputs
from lineage_pipeline.engine.compile.sources import sources
from lineage_pipeline.vocabulary import ir


def bind_with(context: Context, tree: exp.Expr) -> None:
    """Bring the CTEs that stand before a query or another statement into scope."""
    with_ = tree.args.get("with_")
    if with_ is not None:
        for cte in with_.expressions:
            context.ctes = {**context.ctes, **common_table(context, cte, bool(with_.args.get("recursive")))}


def query(context: Context, node: exp.Expr) -> int:
    """The index of the relation that a query is."""
    outer = context.ctes
    bind_with(context, node)
    index = _QUERIES.get(type(node), _unknown)(context, node)
    context.ctes = outer
    return index


def common_table(context: Context, cte: exp.Expr, recursive: bool) -> dict[str, int]:
    """What a CTE adds to the names in scope; a recursive one sees itself."""
    alias = cte.args["alias"]
    name = context.table(alias.this)
    body = cte.this
    columns = tuple(context.column(column) for column in alias.args.get("columns") or ())
    if isinstance(body, exp.Union) and (recursive or context.traits.implicit_recursion) and _names(body, alias.name):
        index = _recursive(context, name, body, columns)
    else:
        index = query(context, body)
        if columns:
            index = context.add(ir.Renamed(index, columns))
    context.common.append((index, ir.Name((name,), alias.this.name, *context.place(alias.this))))
    return {name: index}


def _names(body: exp.Expr, name: str) -> bool:
    """Whether a query names a table in some way of writing a name; most of those that may be recursive are not."""
    return any(table.name.lower() == name.lower() for table in body.find_all(exp.Table))


def _recursive(context: Context, name: str, body: exp.Expr, columns: tuple[str, ...]) -> int:
    index = context.reserve()
    outer = context.ctes
    anchors: list[int] = []
    steps: list[int] = []
    inner_with = body.args.get("with_")
    for cte in inner_with.expressions if inner_with is not None else ():
        context.ctes = {**context.ctes, **common_table(context, cte, False)}
    for branch in _branches(body):
        context.ctes = {**context.ctes, name: index}
        context.recursions.discard(index)
        compiled = query(context, branch)
        (steps if index in context.recursions else anchors).append(compiled)
    context.recursions.discard(index)
    context.ctes = outer
    distinct = bool(body.args.get("distinct"))
    anchor = _united(context, anchors, distinct)
    if not steps:
        relation: ir.Relation = ir.Renamed(anchor, columns)
    else:
        anchor = context.add(ir.Renamed(anchor, columns)) if columns else anchor
        relation = ir.Recursive(anchor, _united(context, steps, distinct), distinct)
    context.relations[index] = relation
    return index


def _united(context: Context, branches: list[int], distinct: bool) -> int:
    if len(branches) == 1:
        return branches[0]
    return context.add(ir.SetOperation("UNION", distinct, False, tuple(branches)))


def _branches(node: exp.Expr) -> Iterator[exp.Expr]:
    """The branches of a chain of the same set operation, left to right, without recursion: chains can be long."""
    kind, distinct, by_name = type(node), node.args.get("distinct"), node.args.get("by_name")
    chain: list[exp.Expr] = []
    while isinstance(node, kind) and node.args.get("distinct") == distinct and node.args.get("by_name") == by_name:
        chain.append(node.expression)
        inner = node.this
        if inner.args.get("order") or inner.args.get("limit") or inner.args.get("with_"):
            chain.append(inner)
            break
        node = inner
    else:
        chain.append(node)
    yield from reversed(chain)


def set_operation(context: Context, node: exp.Expr) -> int:
    """UNION, INTERSECT or EXCEPT."""
    branches = tuple(query(context, branch) for branch in _branches(node))
    by_name = bool(node.args.get("by_name"))
    return context.add(
        ir.SetOperation(
            type(node).__name__.upper(),
            bool(node.args.get("distinct")),
            by_name,
            branches,
            *_order_and_limit(context, node),
        )
    )


def subquery(context: Context, node: exp.Expr) -> int:
    """A query in brackets; an order or limit outside them is added to it."""
    if isinstance(node.this, exp.Table):
        return _select_all(context, node)
    index = query(context, node.this)
    order, limit = _order_and_limit(context, node)
    relation = context.relations[index]
    if (order or limit) and isinstance(relation, ir.Select | ir.SetOperation):
        return context.add(
            msgspec.structs.replace(relation, order=order or relation.order, limit=limit or relation.limit)
        )
    return index


def _select_all(context: Context, node: exp.Expr) -> int:
    """Brackets around joined tables."""
    inner = exp.Select(expressions=[exp.Star()], from_=exp.From(this=node.this))
    return select(context, inner)


def select(context: Context, node: exp.Expr) -> int:
    """A SELECT with all its clauses."""
    outer_windows, outer_visible = context.windows, context.visible
    named = node.args.get("windows") or ()
    context.windows = {window.name.lower(): window for window in named} if named else outer_windows
    group = node.args.get("group")
    distinct = node.args.get("distinct")
    on = distinct.args.get("on") if distinct is not None else None
    order, limit = _order_and_limit(context, node)
    relation = ir.Select(
        sources=tuple(sources(context, node, query)),
        outputs=tuple(outputs(context, node)),
        where=_condition(context, node, "where", "prewhere"),
        group=_group(context, group),
        group_all=bool(group is not None and group.args.get("all")),
        having=_condition(context, node, "having"),
        qualify=_condition(context, node, "qualify"),
        order=order,
        distinct=distinct is not None and on is None,
        distinct_on=expressions(context, on.expressions) if on is not None else (),
        limit=limit,
        grouping=_grouping(group),
    )
    context.windows, context.visible = outer_windows, outer_visible
    return context.add(relation)


def _condition(context: Context, node: exp.Expr, *clauses: str) -> ir.Expr | None:
    conditions = [expression(context, clause.this) for name in clauses if (clause := node.args.get(name)) is not None]
    if len(conditions) > 1:
        return ir.Call("AND", tuple(conditions), 0, "BOOLEAN")
    return conditions[0] if conditions else None


_GROUPINGS = ("grouping_sets", "cube", "rollup")


def _group(context: Context, group: exp.Expr | None) -> tuple[ir.Expr, ...]:
    if group is None:
        return ()
    keys = list(group.expressions)
    for kind in _GROUPINGS:
        for part in group.args.get(kind) or ():
            keys.extend(part.expressions if isinstance(part, exp.Expr) else ())
    return expressions(context, keys)


def _grouping(group: exp.Expr | None) -> str:
    return "" if group is None else " ".join(kind for kind in _GROUPINGS if group.args.get(kind)).upper()


def _order_and_limit(context: Context, node: exp.Expr) -> tuple[tuple[ir.Expr, ...], str]:
    keys: list[exp.Expr] = []
    for clause in ("order", "sort", "distribute", "cluster"):
        order = node.args.get(clause)
        if isinstance(order, exp.Expr):
            keys.extend(order.expressions)
    limits = []
    for clause in ("limit", "offset", "sample"):
        bound = node.args.get(clause)
        if isinstance(bound, exp.Expr):
            value = (
                bound.args.get("expression")
                or bound.args.get("count")
                or bound.args.get("size")
                or bound.args.get("percent")
            )
            limits.append(f"{clause} {value.name if isinstance(value, exp.Literal) else '?'}")
    return expressions(context, keys), ", ".join(limits)


def values(context: Context, node: exp.Expr) -> int:
    """VALUES: rows of expressions."""
    alias = node.args.get("alias")
    columns = tuple(context.column(column) for column in (alias.args.get("columns") or () if alias is not None else ()))
    rows = tuple(
        expressions(context, row.expressions if isinstance(row, exp.Tuple) else [row]) for row in node.expressions
    )
    return context.add(ir.Values(rows, columns))


def _table(context: Context, node: exp.Expr) -> int:
    """TABLE t, or FROM t without a select list: all of it."""
    return select(context, exp.Select(expressions=[exp.Star()], from_=exp.From(this=node)))


def _change(context: Context, node: exp.Expr) -> int:
    """A statement that writes, as a CTE: its rows are those that it gives back."""
    parts = context.compile_change(context, node)
    context.changes.extend(parts.get("writes", ()))
    result = parts.get("result", ir.NOWHERE)
    return int(result) if result != ir.NOWHERE else context.add(ir.Select((), ()))


def _unknown(context: Context, node: exp.Expr) -> int:
    inner = node.args.get("this")
    if isinstance(inner, exp.Query | exp.Table):
        return query(context, cast(exp.Expr, inner))
    if isinstance(node, exp.SetOperation):
        return set_operation(context, node)
    kind = type(node).__name__
    context.report("UNSUPPORTED_SYNTAX", context.origin, context.origin + 1, construct=kind)
    return context.add(ir.Select((), (ir.Output("", "", ir.Literal("other", kind), -1, -1),)))


_QUERIES: dict[type[exp.Expr], Callable[[Context, exp.Expr], int]] = {
    exp.Select: select,
    exp.Union: set_operation,
    exp.Except: set_operation,
    exp.Intersect: set_operation,
    exp.Subquery: subquery,
    exp.Values: values,
    exp.Table: _table,
    exp.Insert: _change,
    exp.Update: _change,
    exp.Delete: _change,
    exp.Merge: _change,
}
