"""FROM clauses: tables, derived tables, functions and joins become the sources of a select."""

from collections.abc import Callable, Iterator

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects.folding import spoken
from lineage_pipeline.engine.compile.context import Context, name_of
from lineage_pipeline.engine.compile.expressions import expression
from lineage_pipeline.engine.compile.leftovers import join_marks, marks_of
from lineage_pipeline.engine.compile.pivots import pivoted
from lineage_pipeline.engine.compile.rowsets import alias_of, array_joins, array_of, rowset
from lineage_pipeline.vocabulary import ir

CompileQuery = Callable[[Context, exp.Expr], int]


def sources(context: Context, select: exp.Expr, query: CompileQuery) -> Iterator[ir.Source]:
    """The sources of a select in the order in which they are written."""
    from_ = select.args.get("from_")
    if from_ is not None:
        yield from source(context, from_.this, None, query)
    for join in (*(select.args.get("joins") or ()), *(select.args.get("laterals") or ())):
        yield from joined(context, join, query)


def joined(context: Context, join: exp.Expr, query: CompileQuery) -> Iterator[ir.Source]:
    """A joined source; a lateral view stands for itself."""
    if not isinstance(join, exp.Join):
        yield from source(context, join, ir.Join("left" if join.args.get("outer") else "cross"), query)
        return
    if str(join.args.get("kind") or "").upper() == "ARRAY":
        yield from array_joins(context, join)
        return
    using = tuple(using_key(context, column) for column in join.args.get("using") or ())
    natural = str(join.args.get("method") or "").upper() == "NATURAL"
    if natural:
        context.features.add("natural join")
    conditions = [expression(context, node) for key in ("match_condition", "on") if (node := join.args.get(key))]
    how = ir.Join(_side(join), both(conditions), using, natural)
    marks = join_marks(join) if len(join.args) > 2 else ()
    for item in source(context, join.this, how, query):
        yield msgspec.structs.replace(item, marks=(*item.marks, *marks)) if marks else item


def both(conditions: list[ir.Expr]) -> ir.Expr | None:
    """One condition that holds where all of them do."""
    if len(conditions) > 1:
        return ir.Call("AND", tuple(conditions), 0, "BOOLEAN")
    return conditions[0] if conditions else None


def using_key(context: Context, node: exp.Expr) -> ir.Ref:
    """A column that USING names."""
    identifier = node.this if isinstance(node, exp.Column) else node
    return ir.Ref((context.column(identifier),), *context.place(identifier))


_KINDS = {"CROSS": "cross", "SEMI": "semi", "ANTI": "anti"}


def _side(join: exp.Expr) -> str:
    kind = str(join.args.get("kind") or "").upper()
    side = str(join.args.get("side") or "").lower()
    applied = join.this.args.get("cross_apply") if isinstance(join.this, exp.Lateral) else None
    if applied is not None:
        return "cross" if applied else "left"
    if kind in _KINDS:
        return _KINDS[kind]
    if side:
        return side
    conditional = join.args.get("on") is not None or join.args.get("using")
    return "inner" if conditional or kind == "INNER" or join.args.get("method") else "cross"


def source(context: Context, node: exp.Expr, join: ir.Join | None, query: CompileQuery) -> Iterator[ir.Source]:
    """One item of a FROM clause, and those that are joined to it inside brackets."""
    marks: tuple[tuple[str, str], ...] = ()
    if type(node) is exp.Final:  # ClickHouse: the table after its parts have been merged
        marks, inner_table = (("filter", "final"),), node.this
        if node.args.get("alias") is not None:
            inner_table.set("alias", node.args["alias"])
        node = inner_table
    if type(node) is exp.Subquery and isinstance(node.this, exp.Table) and not _is_named(node):
        yield from _bracketed(context, node, join, query)
        return
    compiler = _SOURCES.get(type(node))
    item = compiler(context, node, query) if compiler is not None else _other(context, node, query)
    marks += marks_of(context, node)
    if marks:
        item = msgspec.structs.replace(item, marks=marks)
    for pivot in node.args.get("pivots") or ():
        item = pivoted(context, item, pivot)
    if context.traits.implicit_unnest:
        context.visible |= {item.alias}
    if join is not None:
        # A function that gives a row of nulls where it finds nothing is joined as an outer join does.
        outer = item.join is not None and join.side == "cross"
        item = msgspec.structs.replace(item, join=msgspec.structs.replace(join, side="left") if outer else join)
    yield item
    if isinstance(node, exp.Query) and not isinstance(node, exp.Subquery):
        return  # a query without brackets, whose joins are its own
    for inner in (*(node.args.get("joins") or ()), *(node.args.get("laterals") or ())):
        yield from joined(context, inner, query)


def _is_named(node: exp.Expr) -> bool:
    return node.args.get("alias") is not None or bool(node.args.get("pivots"))


def _bracketed(context: Context, node: exp.Expr, join: ir.Join | None, query: CompileQuery) -> Iterator[ir.Source]:
    """A join in brackets without a name: its sources stand for themselves, the condition outside sees all of them."""
    items = list(source(context, node.this, None, query))
    if join is None:
        yield from items
    else:
        optional_side = join.side in ("left", "full")
        first = msgspec.structs.replace(join, on=None)
        for position, item in enumerate(items):
            how = first if item.join is None else item.join
            if optional_side and how.side in ("inner", "cross"):
                how = msgspec.structs.replace(how, side="left")
            if position == len(items) - 1:
                conditions = [condition for condition in (how.on, join.on) if condition is not None]
                how = msgspec.structs.replace(how, on=both(conditions))
            yield msgspec.structs.replace(item, join=how)
    for inner in node.args.get("joins") or ():
        yield from joined(context, inner, query)


def _table(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    alias, columns = alias_of(context, node)
    if type(node.this) is not exp.Identifier and (isinstance(node.this, exp.Func) or node.args.get("rows_from")):
        return rowset(context, node, query)
    if isinstance(node.this, exp.Values):  # in brackets of its own
        return ir.Source(alias, relation=query(context, node.this), columns=columns)
    name = name_of(context, node)
    called = spoken(name.parts, context.traits.aliases)
    if len(called) == 1:
        index = context.ctes.get(called[0])
        if index is not None:
            context.recursions.add(index)
            return ir.Source(alias or called[0], relation=index, columns=columns, common=index in context.shared)
        if context.traits.dual and called[0].upper() == "DUAL":
            row = context.add(ir.Values(((ir.Literal("string", "X"),),), (context.fold_column("dummy"),)))
            return ir.Source(alias or called[0], relation=row, columns=columns)
    elif called[0] in context.visible:
        return array_of(context, node, alias)
    return ir.Source(alias or called[-1], name=name, columns=columns)


def _streamed(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    """The new rows of a table are rows of that table."""
    alias, columns = alias_of(context, node)
    inner = node.this
    while isinstance(inner, exp.Subquery | exp.Paren):
        inner = inner.this
    if not isinstance(inner, exp.Table):
        return rowset(context, node, query)
    found = _table(context, inner, query)
    return msgspec.structs.replace(found, alias=alias or found.alias, columns=columns or found.columns)


def _subquery(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    alias, columns = alias_of(context, node)
    return ir.Source(alias, relation=query(context, _bare(node)), columns=columns)


def _bare(node: exp.Expr) -> exp.Expr:
    """The query inside the brackets, unless clauses of its own hang outside."""
    if isinstance(node.this, exp.Table):
        return node
    return node if any(node.args.get(clause) for clause in ("order", "limit", "offset", "with_")) else node.this


def _values(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    alias, columns = alias_of(context, node)
    return ir.Source(alias, relation=query(context, node), columns=columns)


def _lateral(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    alias, columns = alias_of(context, node)
    inner = node.this
    if isinstance(inner, exp.Subquery | exp.Select | exp.Values):
        return ir.Source(alias, relation=query(context, inner), columns=columns, lateral=True)
    if isinstance(inner, exp.Table) and not isinstance(inner.this, exp.Func):
        return msgspec.structs.replace(_table(context, inner, query), alias=alias, columns=columns, lateral=True)
    return rowset(context, node, query)


def _other(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    if isinstance(node, exp.Query):
        alias, columns = alias_of(context, node)
        return ir.Source(alias, relation=query(context, node), columns=columns)
    return rowset(context, node, query)


def _final(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    """ClickHouse: a table with its rows merged."""
    return _SOURCES.get(type(node.this), _other)(context, node.this, query)


_SOURCES: dict[type[exp.Expr], Callable[[Context, exp.Expr, CompileQuery], ir.Source]] = {
    exp.Final: _final,
    exp.Table: _table,
    exp.Subquery: _subquery,
    exp.Values: _values,
    exp.Lateral: _lateral,
    exp.Stream: _streamed,
}
