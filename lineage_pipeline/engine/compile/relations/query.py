"""Queries: selects, CTEs, set operations and VALUES as relations that refer to each other by index."""

from collections.abc import Callable, Iterator
from typing import cast

import msgspec
from sqlglot import exp

from lineage_pipeline.engine.compile.context import CompileContext, find_values_row
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expressions
from lineage_pipeline.engine.compile.relations.from_clause import compile_source_item, holds_sources
from lineage_pipeline.engine.compile.relations.pivot import compile_pivot_statement
from lineage_pipeline.engine.compile.relations.select import compile_order_and_limit, compile_select
from lineage_pipeline.engine.compile.tokens import keywords_of
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.model import ir

AddedColumns = tuple[tuple[str, tuple[str, ...], bool], ...]
"""The columns that SEARCH and CYCLE add to a recursive query."""


def bind_ctes(context: CompileContext, tree: exp.Expr) -> None:
    """Bring the CTEs of a query or another statement into scope."""
    with_ = tree.args.get("with_")
    if with_ is None:
        return
    for cte in with_.expressions:
        if cte.args.get("scalar"):  # ClickHouse: a value with a name
            named = cte.args["alias"].this
            if named is None:
                raise MalformedTree("a value of WITH without a name")
            context.constants = {**context.constants, context.column_name(named): cte.this}
            continue
        added = tuple(_compile_added_columns(context, with_)) if cte is with_.expressions[-1] else ()
        found = compile_cte(context, cte, bool(with_.args.get("recursive")), added)
        context.ctes = {**context.ctes, **found}
        if context.depth == 0:
            context.shared.update(found.values())


def compile_query(context: CompileContext, node: exp.Expr) -> int:
    """The index of the relation of a query."""
    outer, constants = context.ctes, context.constants
    bind_ctes(context, node)
    index = _QUERY_COMPILERS.get(type(node), _compile_unknown_query)(context, node)
    context.ctes, context.constants = outer, constants
    return index


def _compile_added_columns(context: CompileContext, with_: exp.Expr) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """The columns that SEARCH and CYCLE add to a recursive query; the mark of a cycle holds no values."""
    for node in (with_.args.get("search"), with_.args.get("cycle")):
        if node is None:
            continue
        cycle = node.args.get("kind") == "CYCLE"
        for key in ("expression", "using"):
            identifier = node.args.get(key)
            if isinstance(identifier, exp.Identifier):
                yield context.column_name(identifier), _read_search_keys(context, cycle), not cycle or key == "using"


def _read_search_keys(context: CompileContext, cycle: bool) -> tuple[str, ...]:
    """The columns of SEARCH or CYCLE, read from tokens since sqlglot keeps one of them."""
    words = keywords_of(context.tokens)
    before = ("CYCLE",) if cycle else ("FIRST", "BY")
    width = len(before)
    begin = next((at for at in range(width, len(words)) if tuple(words[at - width : at]) == before), len(words))
    end = next((at for at in range(begin, len(words)) if words[at] == "SET"), begin)
    return tuple(context.fold_column(token.text) for token in context.tokens[begin:end:2])


def compile_cte(context: CompileContext, cte: exp.Expr, recursive: bool, added: AddedColumns = ()) -> dict[str, int]:
    """The names that a CTE adds to the scope; a recursive one sees itself."""
    alias = cte.args["alias"]
    name = context.alias_name(alias.this)
    body = cte.this
    while type(body) is exp.Subquery and isinstance(body.this, exp.Union) and sum(map(bool, body.args.values())) == 1:
        body = body.this  # no more than brackets
    columns = tuple(context.column_name(column) for column in alias.args.get("columns") or ())
    if (
        isinstance(body, exp.Union)
        and (recursive or context.traits.implicit_recursion)
        and _mentions_table(body, alias.name)
    ):
        index = _compile_recursive(context, name, body, columns, added)
    else:
        index = compile_query(context, body)
        if columns:
            index = context.add_relation(ir.Renamed(index, columns))
    context.common.append((index, ir.Name((name,), alias.this.name, *context.span_of(alias.this))))
    return {name: index}


def _mentions_table(body: exp.Expr, name: str) -> bool:
    """Whether a query mentions a table name."""
    return any(table.name.lower() == name.lower() for table in body.find_all(exp.Table))


def _compile_recursive(
    context: CompileContext, name: str, body: exp.Expr, columns: tuple[str, ...], added: AddedColumns
) -> int:
    index = context.reserve_relation()
    outer = context.ctes
    anchors: list[int] = []
    steps: list[int] = []
    bind_ctes(context, body)
    for branch in _branches_of(body):
        context.ctes = {**context.ctes, name: index}
        context.recursions.discard(index)
        compiled = compile_query(context, branch)
        (steps if index in context.recursions else anchors).append(compiled)
    context.recursions.discard(index)
    context.ctes = outer
    distinct = bool(body.args.get("distinct"))
    anchor = _union_branches(context, anchors, distinct)
    if not steps:
        relation: ir.Relation = ir.Renamed(anchor, columns)
    else:
        anchor = context.add_relation(ir.Renamed(anchor, columns)) if columns else anchor
        relation = ir.Recursive(anchor, _union_branches(context, steps, distinct), distinct, added)
    context.relations[index] = relation
    return index


def _union_branches(context: CompileContext, branches: list[int], distinct: bool) -> int:
    if len(branches) == 1:
        return branches[0]
    return context.add_relation(ir.SetOperation("UNION", distinct, False, tuple(branches)))


_SET_OPERATION_ARGS = ("distinct", "by_name", "side", "kind", "on")
"""What two consecutive set operations must share to be one."""


def _branches_of(node: exp.Expr) -> Iterator[exp.Expr]:
    """The branches of a chain of equal set operations, left to right, without recursion."""
    kind, traits = type(node), [node.args.get(key) for key in _SET_OPERATION_ARGS]
    chain: list[exp.Expr] = []
    while isinstance(node, kind) and [node.args.get(key) for key in _SET_OPERATION_ARGS] == traits:
        chain.append(node.expression)
        inner = node.this
        if inner.args.get("order") or inner.args.get("limit") or inner.args.get("with_"):
            chain.append(inner)
            break
        node = inner
    else:
        chain.append(node)
    yield from reversed(chain)


def compile_set_operation(context: CompileContext, node: exp.Expr) -> int:
    """UNION, INTERSECT or EXCEPT."""
    branches = tuple(compile_query(context, branch) for branch in _branches_of(node))
    by_name = bool(node.args.get("by_name"))
    return context.add_relation(
        ir.SetOperation(
            type(node).__name__.upper(),
            bool(node.args.get("distinct")),
            by_name,
            branches,
            *compile_order_and_limit(context, node),
            _column_matching(node),
            tuple(context.column_name(item.this) for item in node.args.get("on") or ()),
        )
    )


def _column_matching(node: exp.Expr) -> str:
    """Which columns a set operation BY NAME keeps: all, those of the first branch, or the common ones."""
    side, kind = str(node.args.get("side") or "").lower(), str(node.args.get("kind") or "").lower()
    return "left" if side == "left" else "inner" if kind == "inner" else ""


def compile_parenthesized_query(context: CompileContext, node: exp.Expr) -> int:
    """A query in parentheses; an order or limit outside them is added to it."""
    if holds_sources(node):
        return _compile_joined_tables(context, node)
    index = compile_query(context, node.this)
    order, limit = compile_order_and_limit(context, node)
    relation = context.relations[index]
    if (order or limit) and isinstance(relation, ir.Select | ir.SetOperation):
        return context.add_relation(
            msgspec.structs.replace(relation, order=order or relation.order, limit=limit or relation.limit)
        )
    return index


def _compile_joined_tables(context: CompileContext, node: exp.Expr) -> int:
    """Parentheses around joined tables."""
    inner = exp.Select(expressions=[exp.Star()], from_=exp.From(this=node.this))
    return compile_select(context, inner, compile_query)


def compile_values(context: CompileContext, node: exp.Expr) -> int:
    """VALUES: rows of expressions, their columns named by the dialect."""
    alias = node.args.get("alias")
    named = [context.column_name(column) for column in (alias.args.get("columns") or () if alias is not None else ())]
    rows = [_row_values(row) for row in node.expressions]
    if rows and len(rows[0]) > 1 and isinstance(rows[0][1], exp.Tuple) and rows[0][0].is_string:
        named = [context.fold_column(part.split()[0]) for part in rows[0][0].name.split(",")]
        rows = [_row_values(row) for row in rows[0][1:]]  # ClickHouse: values('a Int8, b String', (1, 'x'))
    if len(rows) == 1 and any(item.is_star for item in rows[0]):  # `VALUES ('U', new.*)`: as many columns as the record
        return compile_select(context, exp.Select(expressions=rows[0]), compile_query)
    names = [context.traits.row_names.format(at, at + 1) for at in range(len(rows[0]) if rows else 0)]
    columns = (*named, *names[len(named) :])
    if len(rows) > 1:
        _report_row_width(context, rows)
    return context.add_relation(ir.Values(tuple(compile_expressions(context, row) for row in rows), columns))


def _report_row_width(context: CompileContext, rows: list[list[exp.Expr]]) -> None:
    """Report a row with more or fewer values than the first one."""
    width = len(rows[0])
    for number, row in enumerate(rows):
        if len(row) != width:
            start = max(find_values_row(context, number), context.origin)
            values = {"operation": "VALUES", "left": str(width), "right": str(len(row))}
            context.report("SET_OPERATION_MISMATCH", start, start + 1, **values)
            break


def _row_values(node: exp.Expr) -> list[exp.Expr]:
    parts = node.expressions if isinstance(node, exp.Tuple) else [node]
    if len(parts) == 1 and isinstance(parts[0], exp.Anonymous) and parts[0].name.upper() == "ROW":
        return list(parts[0].expressions)
    return list(parts)


def compile_standalone_pivot(context: CompileContext, node: exp.Expr) -> int:
    """PIVOT or UNPIVOT as a statement of its own."""
    inner = next(compile_source_item(context, node.this, None, compile_query))
    return compile_pivot_statement(context, node, inner)


def _compile_table_query(context: CompileContext, node: exp.Expr) -> int:
    """TABLE t, or FROM t without a select list: all of it."""
    return compile_select(context, exp.Select(expressions=[exp.Star()], from_=exp.From(this=node)), compile_query)


def _compile_writing_cte(context: CompileContext, node: exp.Expr) -> int:
    """A writing statement as a CTE: its rows are those of RETURNING."""
    parts = context.compile_change(context, node)
    context.changes.extend(parts.get("writes", ()))
    result = parts.get("result", ir.NOWHERE)
    return int(result) if result != ir.NOWHERE else context.add_relation(ir.Select((), ()))


def _compile_describe(context: CompileContext, node: exp.Expr) -> int:
    """DuckDB: DESCRIBE and SUMMARIZE as a query: a row for each column."""
    given = node.this
    rows = compile_query(context, given if isinstance(given, exp.Query) else exp.Subquery(this=given))
    kind = "SUMMARIZE" if isinstance(node, exp.Summarize) else "DESCRIBE"
    columns = context.traits.describe_columns.get(kind, {})
    whole = ir.Call("SUMMARIZE", (ir.Whole((), ir.NOWHERE, ir.NOWHERE),), ir.AGGREGATE)
    outputs = tuple(
        ir.Output(
            name=name,
            written=name,
            expr=whole if measured else ir.Literal("string", name),
            start=ir.NOWHERE,
            end=ir.NOWHERE,
        )
        for name, measured in columns.items()
    )
    return context.add_relation(ir.Select((ir.Source("", relation=rows),), outputs))


def _compile_unknown_query(context: CompileContext, node: exp.Expr) -> int:
    inner = node.args.get("this")
    if isinstance(inner, exp.Query | exp.Table):
        return compile_query(context, cast(exp.Expr, inner))
    if isinstance(node, exp.SetOperation):
        return compile_set_operation(context, node)
    kind = type(node).__name__
    context.report("UNSUPPORTED_SYNTAX", context.origin, context.origin + 1, construct=kind)
    return context.add_relation(
        ir.Select((), (ir.Output(name="", written="", expr=ir.Literal("other", kind), start=-1, end=-1),))
    )


_QUERY_COMPILERS: dict[type[exp.Expr], Callable[[CompileContext, exp.Expr], int]] = {
    exp.Pivot: compile_standalone_pivot,
    exp.Select: lambda context, node: compile_select(context, node, compile_query),
    exp.Union: compile_set_operation,
    exp.Except: compile_set_operation,
    exp.Intersect: compile_set_operation,
    exp.Subquery: compile_parenthesized_query,
    exp.Values: compile_values,
    exp.Table: _compile_table_query,
    exp.Insert: _compile_writing_cte,
    exp.Update: _compile_writing_cte,
    exp.Delete: _compile_writing_cte,
    exp.Merge: _compile_writing_cte,
    exp.Summarize: _compile_describe,
    exp.Describe: _compile_describe,
}
