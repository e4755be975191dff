"""Selects: every clause of a SELECT at its place in the IR."""

from typing import Any

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.engine.compile.aliases import aliases_of
from lineage_pipeline.engine.compile.context import CompileQuery, Context
from lineage_pipeline.engine.compile.expressions import directions, expression, expressions
from lineage_pipeline.engine.compile.groupings import (
    absent_keys,
    blanked,
    grouping_keys,
    grouping_words,
    partial_keys,
    time_windows,
)
from lineage_pipeline.engine.compile.leftovers import bound, options_of
from lineage_pipeline.engine.compile.matches import matched
from lineage_pipeline.engine.compile.outputs import outputs
from lineage_pipeline.engine.compile.sources import both, sources
from lineage_pipeline.vocabulary import ir


def select(context: Context, node: exp.Expr, query: CompileQuery) -> int:
    """A SELECT with all its clauses."""
    outer_windows, outer_named, outer_visible = context.windows, context.named, context.visible
    named = node.args.get("windows") or ()
    context.windows = {window.name.lower(): window for window in named} if named else outer_windows
    if context.traits.alias_first or context.traits.alias_prefix:
        context.named = {**context.constants, **aliases_of(context, node)}
    context.depth += 1
    index = context.add(_select(context, node, query))
    context.depth -= 1
    context.windows, context.named, context.visible = outer_windows, outer_named, outer_visible
    return _as_value(context, node, index)


def _select(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Select:
    distinct = node.args.get("distinct")
    on = distinct.args.get("on") if distinct is not None else None
    order, limit = order_and_limit(context, node)
    every = bool(order) and order[0] == ir.Literal("word", "ALL")
    items = list(sources(context, node, query))
    if node.args.get("match") is not None:
        items = matched(context, items, node.args["match"])
    group = node.args.get("group")
    if group is not None and context.traits.family in functions.TIME_WINDOWS:
        items.extend(time_windows(context, group))
    where, items = _where(context, node, items)
    listed = list(outputs(context, node))
    if group is not None and group.args.get("grouping_sets"):
        listed = blanked(listed, expressions(context, absent_keys(group)))
    return ir.Select(
        sources=tuple(items),
        outputs=tuple(listed),
        where=where,
        **_group(context, group),
        having=_condition(context, node, "having"),
        qualify=_condition(context, node, "qualify"),
        order=order[1:] if every else order,
        distinct=distinct is not None and on is None,
        distinct_on=expressions(context, _first_rows(node, on)),
        limit=limit,
        order_all=every,
        value_table=node.args.get("kind") == "VALUE",
    )


def _as_value(context: Context, node: exp.Expr, index: int) -> int:
    """FOR XML and FOR JSON make one value of all rows."""
    document = node.args.get("for_")
    kind = document.args.get("kind") if document is not None else ""
    if document is None or kind not in ("XML", "JSON"):
        return index
    whole = ir.Whole((), ir.NOWHERE, ir.NOWHERE)
    made = ir.Call(f"FOR{kind}", (whole, *options_of(context, document)), ir.AGGREGATE)
    output = ir.Output("", "", made, ir.NOWHERE, ir.NOWHERE)
    return context.add(ir.Select((ir.Source("", relation=index),), (output,)))


# ── conditions ───────────────────────────────────────────────────────────────────────────────────────────────────


def _condition(context: Context, node: exp.Expr, clause: str) -> ir.Expr | None:
    found = node.args.get(clause)
    return expression(context, found.this) if found is not None else None


def _conditions(context: Context, node: exp.Expr, *clauses: str) -> list[ir.Expr]:
    return [expression(context, clause.this) for name in clauses if (clause := node.args.get(name)) is not None]


def _where(context: Context, node: exp.Expr, items: list[ir.Source]) -> tuple[ir.Expr | None, list[ir.Source]]:
    """What restricts the rows, a hierarchy included; a condition marked with (+) is one of an outer join."""
    connect = node.args.get("connect")
    branches = (
        [connect.args[key] for key in ("start", "connect") if connect.args.get(key)] if connect is not None else []
    )
    where = node.args.get("where")
    if where is None or not context.contains("(+)"):
        return both([*_conditions(context, node, "where", "prewhere"), *expressions(context, branches)]), items
    conditions: list[ir.Expr] = []
    missing: set[str] = set()
    for condition in where.this.flatten() if isinstance(where.this, exp.And) else [where.this]:
        marked = {
            context.alias(column.args["table"])
            for column in condition.find_all(exp.Column)
            if column.args.get("join_mark") and column.args.get("table") is not None
        }
        compiled = expression(context, condition)
        conditions.append(ir.Call("OUTERJOIN", (compiled,)) if marked else compiled)
        missing |= marked
    items = [msgspec.structs.replace(item, join=ir.Join("left")) if item.alias in missing else item for item in items]
    return both([*conditions, *expressions(context, branches)]), items


# ── groups and order ─────────────────────────────────────────────────────────────────────────────────────────────


def _group(context: Context, group: exp.Expr | None) -> dict[str, Any]:
    """What groups the rows, and which of the keys are missing in some of them."""
    if group is None:
        return {}
    nodes = grouping_keys(group)
    keys = expressions(context, nodes)
    every = tuple(dict.fromkeys(keys))
    missing = partial_keys(group)
    partial = {every.index(key) for node, key in zip(nodes, keys, strict=True) if id(node) in missing}
    return {
        "group": every,
        "group_all": bool(group.args.get("all")),
        "grouping": grouping_words(group, {id(node): every.index(key) for node, key in zip(nodes, keys, strict=True)}),
        "partial": tuple(sorted(partial)),
    }


def _first_rows(node: exp.Expr, on: exp.Expr | None) -> list[exp.Expr]:
    """DISTINCT ON keys and LIMIT n BY keys: the first rows of each key. BY ALL names none but what is selected."""
    limit = node.args.get("limit")
    limited = limit.expressions if isinstance(limit, exp.Limit) else ()
    every = len(limited) == 1 and limited[0].sql().upper() == "ALL"
    return [*(on.expressions if on is not None else ()), *(() if every else limited)]


_ORDERS = ("order", "limit", "offset", "sort", "distribute", "cluster", "sample")


def order_and_limit(context: Context, node: exp.Expr) -> tuple[tuple[ir.Expr, ...], str]:
    """What sorts the rows, and how many of them are kept."""
    args = node.args
    if not any(map(args.get, _ORDERS)):
        return (), ""
    keys: list[exp.Expr] = []
    for clause in ("order", "sort", "distribute", "cluster"):
        order = node.args.get(clause)
        if isinstance(order, exp.Expr):
            keys.extend(order.expressions)
    limits = []
    for clause in ("limit", "offset", "sample"):
        found = node.args.get(clause)
        if isinstance(found, exp.Expr):
            limits.append(bound(context, clause, found))
    limits = [limit for limit in limits if limit != "offset 0"]
    distinct = args.get("distinct")
    first = bool(limits) or (isinstance(distinct, exp.Expr) and bool(distinct.args.get("on")))
    sorting, ways = expressions(context, keys), directions(keys)
    if ways and first:
        limits.append(f"by {ways}")  # the first rows of an order are others where it is turned around
    elif ways:
        sorting = (*sorting, ir.Literal("word", ways))
    return sorting, ", ".join(limits)
