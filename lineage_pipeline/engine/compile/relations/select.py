"""SELECT: every clause at its place in the IR."""

from typing import Any

import msgspec
from sqlglot import exp

from lineage_pipeline.engine.compile.context import CompileContext, CompileQuery
from lineage_pipeline.engine.compile.expressions.compilers import order_directions_of, select_aliases_of
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expression, compile_expressions
from lineage_pipeline.engine.compile.expressions.modifiers import document_options_of, limit_text_of
from lineage_pipeline.engine.compile.relations.from_clause import combine_conditions, compile_sources
from lineage_pipeline.engine.compile.relations.group_by import (
    absent_keys_of,
    compile_time_windows,
    grouping_keys_of,
    grouping_text_of,
    nullify_absent_keys,
    partial_keys_of,
)
from lineage_pipeline.engine.compile.relations.match_recognize import compile_match_recognize
from lineage_pipeline.engine.compile.relations.projection import compile_outputs
from lineage_pipeline.model import ir


def compile_select(context: CompileContext, node: exp.Expr, query: CompileQuery) -> int:
    """A SELECT with all its clauses."""
    outer_windows, outer_named, outer_visible = context.windows, context.named, context.visible
    named = node.args.get("windows") or ()
    context.windows = {window.name.lower(): window for window in named} if named else outer_windows
    if context.traits.alias_first or context.traits.alias_prefix:
        context.named = {**context.constants, **select_aliases_of(context, node)}
    context.depth += 1
    index = context.add_relation(_compile_clauses(context, node, query))
    context.depth -= 1
    context.windows, context.named, context.visible = outer_windows, outer_named, outer_visible
    return _compile_for_document(context, node, index)


def _compile_clauses(context: CompileContext, node: exp.Expr, query: CompileQuery) -> ir.Select:
    distinct = node.args.get("distinct")
    on = distinct.args.get("on") if distinct is not None else None
    order, limit = compile_order_and_limit(context, node)
    every = bool(order) and order[0] == ir.Literal("word", "ALL")
    items = list(compile_sources(context, node, query))
    if node.args.get("match") is not None:
        items = compile_match_recognize(context, items, node.args["match"])
    group = node.args.get("group")
    if group is not None and context.traits.time_window_functions:
        items.extend(compile_time_windows(context, group))
    where, items = _compile_where(context, node, items)
    listed = list(compile_outputs(context, node))
    if group is not None and group.args.get("grouping_sets"):
        listed = nullify_absent_keys(listed, compile_expressions(context, absent_keys_of(group)))
    return ir.Select(
        sources=tuple(items),
        outputs=tuple(listed),
        where=where,
        **_compile_group(context, group),
        having=_compile_condition(context, node, "having"),
        qualify=_compile_condition(context, node, "qualify"),
        order=order[1:] if every else order,
        distinct=distinct is not None and on is None,
        distinct_on=compile_expressions(context, _first_row_keys(node, on)),
        limit=limit,
        order_all=every,
        value_table=node.args.get("kind") == "VALUE",
    )


def _compile_for_document(context: CompileContext, node: exp.Expr, index: int) -> int:
    """T-SQL: FOR XML and FOR JSON make one value of all rows."""
    document = node.args.get("for_")
    kind = document.args.get("kind") if document is not None else ""
    if document is None or kind not in ("XML", "JSON"):
        return index
    whole = ir.Whole((), ir.NOWHERE, ir.NOWHERE)
    made = ir.Call(f"FOR{kind}", (whole, *document_options_of(context, document)), ir.AGGREGATE)
    output = ir.Output(name="", written="", expr=made, start=ir.NOWHERE, end=ir.NOWHERE)
    return context.add_relation(ir.Select((ir.Source("", relation=index),), (output,)))


# ── conditions ───────────────────────────────────────────────────────────────────────────────────────────────────


def _compile_condition(context: CompileContext, node: exp.Expr, clause: str) -> ir.Expr | None:
    found = node.args.get(clause)
    return compile_expression(context, found.this) if found is not None else None


def _compile_conditions(context: CompileContext, node: exp.Expr, *clauses: str) -> list[ir.Expr]:
    return [compile_expression(context, clause.this) for name in clauses if (clause := node.args.get(name)) is not None]


def _compile_where(
    context: CompileContext, node: exp.Expr, items: list[ir.Source]
) -> tuple[ir.Expr | None, list[ir.Source]]:
    """WHERE with CONNECT BY; Oracle: a condition with (+) belongs to an outer join."""
    connect = node.args.get("connect")
    branches = (
        [connect.args[key] for key in ("start", "connect") if connect.args.get(key)] if connect is not None else []
    )
    where = node.args.get("where")
    if where is None or not context.contains("(+)"):
        return combine_conditions(
            [*_compile_conditions(context, node, "where", "prewhere"), *compile_expressions(context, branches)]
        ), items
    conditions: list[ir.Expr] = []
    missing: set[str] = set()
    for condition in where.this.flatten() if isinstance(where.this, exp.And) else [where.this]:
        marked = {
            context.alias_name(column.args["table"])
            for column in condition.find_all(exp.Column)
            if column.args.get("join_mark") and column.args.get("table") is not None
        }
        compiled = compile_expression(context, condition)
        conditions.append(ir.Call("OUTERJOIN", (compiled,)) if marked else compiled)
        missing |= marked
    items = [msgspec.structs.replace(item, join=ir.Join("left")) if item.alias in missing else item for item in items]
    return combine_conditions([*conditions, *compile_expressions(context, branches)]), items


# ── groups and order ─────────────────────────────────────────────────────────────────────────────────────────────


def _compile_group(context: CompileContext, group: exp.Expr | None) -> dict[str, Any]:
    """The grouping of the rows, and the keys missing in some groupings."""
    if group is None:
        return {}
    nodes = grouping_keys_of(group)
    keys = compile_expressions(context, nodes)
    every = tuple(dict.fromkeys(keys))
    missing = partial_keys_of(group)
    partial = {every.index(key) for node, key in zip(nodes, keys, strict=True) if id(node) in missing}
    return {
        "group": every,
        "group_all": bool(group.args.get("all")),
        "grouping": grouping_text_of(
            group, {id(node): every.index(key) for node, key in zip(nodes, keys, strict=True)}
        ),
        "partial": tuple(sorted(partial)),
    }


def _first_row_keys(node: exp.Expr, on: exp.Expr | None) -> list[exp.Expr]:
    """DISTINCT ON keys and LIMIT n BY keys: the first rows of each key. BY ALL means the selected columns."""
    limit = node.args.get("limit")
    limited = limit.expressions if isinstance(limit, exp.Limit) else ()
    every = len(limited) == 1 and limited[0].sql().upper() == "ALL"
    return [*(on.expressions if on is not None else ()), *(() if every else limited)]


_ORDER_ARGS = ("order", "limit", "offset", "sort", "distribute", "cluster", "sample")


def compile_order_and_limit(context: CompileContext, node: exp.Expr) -> tuple[tuple[ir.Expr, ...], str]:
    """The order of the rows, and how many of them are kept."""
    args = node.args
    if not any(map(args.get, _ORDER_ARGS)):
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
            limits.append(limit_text_of(context, clause, found))
            for part in found.walk(prune=lambda part: isinstance(part, exp.Query)):
                if isinstance(part, exp.Query):  # LIMIT (SELECT n FROM settings) reads its tables
                    context.compile_query(context, part)
    limits = [limit for limit in limits if limit != "offset 0"]
    distinct = args.get("distinct")
    first = bool(limits) or (isinstance(distinct, exp.Expr) and bool(distinct.args.get("on")))
    sorting, ways = compile_expressions(context, keys), order_directions_of(keys)
    if ways and first:
        limits.append(f"by {ways}")  # the first rows of an order are others where it is turned around
    elif ways:
        sorting = (*sorting, ir.Literal("word", ways))
    return sorting, ", ".join(limits)
