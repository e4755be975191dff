"""Queries: selects, set operations and values become relations that name each other by index."""

from collections.abc import Callable, Iterator
from typing import cast

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects.duckdb import DESCRIPTIONS
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.expressions import expressions
from lineage_pipeline.engine.compile.listed import row_start
from lineage_pipeline.engine.compile.pivots import turned
from lineage_pipeline.engine.compile.selects import order_and_limit, select
from lineage_pipeline.engine.compile.sources import source
from lineage_pipeline.engine.compile.words import keywords
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.vocabulary import ir

Added = tuple[tuple[str, tuple[str, ...], bool], ...]
"""Columns that SEARCH and CYCLE add to a recursive query."""


def bind_with(context: Context, tree: exp.Expr) -> None:
    """Bring the CTEs that stand before a query or another statement into scope."""
    with_ = tree.args.get("with_")
    if with_ is None:
        return
    for cte in with_.expressions:
        if cte.args.get("scalar"):  # ClickHouse: a value with a name
            named = cte.args["alias"].this
            if named is None:
                raise MalformedTree("a value of WITH without a name")
            context.constants = {**context.constants, context.column(named): cte.this}
            continue
        added = tuple(_added(context, with_)) if cte is with_.expressions[-1] else ()
        found = common_table(context, cte, bool(with_.args.get("recursive")), added)
        context.ctes = {**context.ctes, **found}
        if context.depth == 0:
            context.shared.update(found.values())


def query(context: Context, node: exp.Expr) -> int:
    """The index of the relation that a query is."""
    outer, constants = context.ctes, context.constants
    bind_with(context, node)
    index = _QUERIES.get(type(node), _unknown)(context, node)
    context.ctes, context.constants = outer, constants
    return index


def _added(context: Context, with_: exp.Expr) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """The columns that SEARCH and CYCLE add to the recursive query before them; a mark of cycles holds no values."""
    for node in (with_.args.get("search"), with_.args.get("cycle")):
        if node is None:
            continue
        cycle = node.args.get("kind") == "CYCLE"
        for key in ("expression", "using"):
            identifier = node.args.get(key)
            if isinstance(identifier, exp.Identifier):
                yield context.column(identifier), _keys(context, cycle), not cycle or key == "using"


def _keys(context: Context, cycle: bool) -> tuple[str, ...]:
    """The columns that SEARCH or CYCLE goes by: the parser reads one of them."""
    words = keywords(context.tokens)
    before = ("CYCLE",) if cycle else ("FIRST", "BY")
    width = len(before)
    begin = next((at for at in range(width, len(words)) if tuple(words[at - width : at]) == before), len(words))
    end = next((at for at in range(begin, len(words)) if words[at] == "SET"), begin)
    return tuple(context.fold_column(token.text) for token in context.tokens[begin:end:2])


def common_table(context: Context, cte: exp.Expr, recursive: bool, added: Added = ()) -> dict[str, int]:
    """What a CTE adds to the names in scope; a recursive one sees itself."""
    alias = cte.args["alias"]
    name = context.alias(alias.this)
    body = cte.this
    while type(body) is exp.Subquery and isinstance(body.this, exp.Union) and sum(map(bool, body.args.values())) == 1:
        body = body.this  # no more than brackets
    columns = tuple(context.column(column) for column in alias.args.get("columns") or ())
    if isinstance(body, exp.Union) and (recursive or context.traits.implicit_recursion) and _names(body, alias.name):
        index = _recursive(context, name, body, columns, added)
    else:
        index = query(context, body)
        if columns:
            index = context.add(ir.Renamed(index, columns))
    context.common.append((index, ir.Name((name,), alias.this.name, *context.place(alias.this))))
    return {name: index}


def _names(body: exp.Expr, name: str) -> bool:
    """Whether a query names a table in some way of writing a name; most of those that may be recursive are not."""
    return any(table.name.lower() == name.lower() for table in body.find_all(exp.Table))


def _recursive(context: Context, name: str, body: exp.Expr, columns: tuple[str, ...], added: Added) -> int:
    index = context.reserve()
    outer = context.ctes
    anchors: list[int] = []
    steps: list[int] = []
    bind_with(context, body)
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
        relation = ir.Recursive(anchor, _united(context, steps, distinct), distinct, added)
    context.relations[index] = relation
    return index


def _united(context: Context, branches: list[int], distinct: bool) -> int:
    if len(branches) == 1:
        return branches[0]
    return context.add(ir.SetOperation("UNION", distinct, False, tuple(branches)))


_MANNERS = ("distinct", "by_name", "side", "kind", "on")
"""What must be the same for two set operations in a row to be one."""


def _branches(node: exp.Expr) -> Iterator[exp.Expr]:
    """The branches of a chain of the same set operation, left to right, without recursion: chains can be long."""
    kind, traits = type(node), [node.args.get(key) for key in _MANNERS]
    chain: list[exp.Expr] = []
    while isinstance(node, kind) and [node.args.get(key) for key in _MANNERS] == traits:
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
            *order_and_limit(context, node),
            _matching(node),
            tuple(context.column(item.this) for item in node.args.get("on") or ()),
        )
    )


def _matching(node: exp.Expr) -> str:
    """Which columns a set operation by name keeps: all, those of the first branch, or those of every branch."""
    side, kind = str(node.args.get("side") or "").lower(), str(node.args.get("kind") or "").lower()
    return "left" if side == "left" else "inner" if kind == "inner" else ""


def subquery(context: Context, node: exp.Expr) -> int:
    """A query in brackets; an order or limit outside them is added to it."""
    if isinstance(node.this, exp.Table):
        return _select_all(context, node)
    index = query(context, node.this)
    order, limit = order_and_limit(context, node)
    relation = context.relations[index]
    if (order or limit) and isinstance(relation, ir.Select | ir.SetOperation):
        return context.add(
            msgspec.structs.replace(relation, order=order or relation.order, limit=limit or relation.limit)
        )
    return index


def _select_all(context: Context, node: exp.Expr) -> int:
    """Brackets around joined tables."""
    inner = exp.Select(expressions=[exp.Star()], from_=exp.From(this=node.this))
    return select(context, inner, query)


def values(context: Context, node: exp.Expr) -> int:
    """VALUES: rows of expressions, their columns named as the dialect names them."""
    alias = node.args.get("alias")
    named = [context.column(column) for column in (alias.args.get("columns") or () if alias is not None else ())]
    rows = [_row(row) for row in node.expressions]
    if rows and len(rows[0]) > 1 and isinstance(rows[0][1], exp.Tuple) and rows[0][0].is_string:
        named = [context.fold_column(part.split()[0]) for part in rows[0][0].name.split(",")]
        rows = [_row(row) for row in rows[0][1:]]  # ClickHouse: values('a Int8, b String', (1, 'x'))
    if len(rows) == 1 and any(item.is_star for item in rows[0]):  # `VALUES ('U', new.*)`: as many columns as the record
        return select(context, exp.Select(expressions=rows[0]), query)
    names = [context.traits.row_names.format(at, at + 1) for at in range(len(rows[0]) if rows else 0)]
    columns = (*named, *names[len(named) :])
    if len(rows) > 1:
        _report_width(context, rows)
    return context.add(ir.Values(tuple(expressions(context, row) for row in rows), columns))


def _report_width(context: Context, rows: list[list[exp.Expr]]) -> None:
    """Say that a row has more or fewer values than the first one."""
    width = len(rows[0])
    for number, row in enumerate(rows):
        if len(row) != width:
            start = max(row_start(context, number), context.origin)
            values = {"operation": "VALUES", "left": str(width), "right": str(len(row))}
            context.report("SET_OPERATION_MISMATCH", start, start + 1, **values)
            break


def _row(node: exp.Expr) -> list[exp.Expr]:
    parts = node.expressions if isinstance(node, exp.Tuple) else [node]
    if len(parts) == 1 and isinstance(parts[0], exp.Anonymous) and parts[0].name.upper() == "ROW":
        return list(parts[0].expressions)
    return list(parts)


def pivot(context: Context, node: exp.Expr) -> int:
    """PIVOT or UNPIVOT as a statement of its own."""
    inner = next(source(context, node.this, None, query))
    return turned(context, node, inner)


def _table(context: Context, node: exp.Expr) -> int:
    """TABLE t, or FROM t without a select list: all of it."""
    return select(context, exp.Select(expressions=[exp.Star()], from_=exp.From(this=node)), query)


def _change(context: Context, node: exp.Expr) -> int:
    """A statement that writes, as a CTE: its rows are those that it gives back."""
    parts = context.compile_change(context, node)
    context.changes.extend(parts.get("writes", ()))
    result = parts.get("result", ir.NOWHERE)
    return int(result) if result != ir.NOWHERE else context.add(ir.Select((), ()))


def _described(context: Context, node: exp.Expr) -> int:
    """DESCRIBE and SUMMARIZE in the place of a query: a row for each column, with figures over its values."""
    given = node.this
    rows = query(context, given if isinstance(given, exp.Query) else exp.Subquery(this=given))
    whole = ir.Call("SUMMARIZE", (ir.Whole((), ir.NOWHERE, ir.NOWHERE),), ir.AGGREGATE)
    outputs = tuple(
        ir.Output(name, name, whole if measured else ir.Literal("string", name), ir.NOWHERE, ir.NOWHERE)
        for name, measured in DESCRIPTIONS["SUMMARIZE" if isinstance(node, exp.Summarize) else "DESCRIBE"].items()
    )
    return context.add(ir.Select((ir.Source("", relation=rows),), outputs))


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
    exp.Pivot: pivot,
    exp.Select: lambda context, node: select(context, node, query),
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
    exp.Summarize: _described,
    exp.Describe: _described,
}
