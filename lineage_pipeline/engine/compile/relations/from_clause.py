"""FROM: tables, derived tables, table functions and joins as the sources of a select."""

from collections.abc import Callable, Iterator

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects.identifier_folding import fold_for_alias
from lineage_pipeline.engine.compile.context import CompileContext, compile_object_name
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expression
from lineage_pipeline.engine.compile.expressions.modifiers import canonical_text_of
from lineage_pipeline.engine.compile.relations.pivot import compile_pivoted_source
from lineage_pipeline.engine.compile.relations.table_functions import (
    compile_array_join,
    compile_implicit_unnest,
    compile_table_function,
)
from lineage_pipeline.model import ir

SourceMarks = tuple[tuple[str, str], ...]
"""Clauses that affect the rows of a source, as kind and canonical text."""

CompileSourceQuery = Callable[[CompileContext, exp.Expr], int]


def compile_sources(context: CompileContext, select: exp.Expr, query: CompileSourceQuery) -> Iterator[ir.Source]:
    """The sources of a select in written order."""
    from_ = select.args.get("from_")
    if from_ is not None:
        yield from compile_source_item(context, from_.this, None, query)
    for join in (*(select.args.get("joins") or ()), *(select.args.get("laterals") or ())):
        yield from compile_join(context, join, query)


def compile_join(context: CompileContext, join: exp.Expr, query: CompileSourceQuery) -> Iterator[ir.Source]:
    """A joined source, or a lateral view."""
    if not isinstance(join, exp.Join):
        yield from compile_source_item(context, join, ir.Join("left" if join.args.get("outer") else "cross"), query)
        return
    if str(join.args.get("kind") or "").upper() == "ARRAY":
        yield from compile_array_join(context, join)
        return
    using = tuple(compile_using_column(context, column) for column in join.args.get("using") or ())
    natural = str(join.args.get("method") or "").upper() == "NATURAL"
    if natural:
        context.features.add("natural join")
    conditions = [
        compile_expression(context, node) for key in ("match_condition", "on") if (node := join.args.get(key))
    ]
    how = ir.Join(_join_side(join), combine_conditions(conditions), using, natural)
    marks = _list_join_marks(join) if len(join.args) > 2 else ()
    for item in compile_source_item(context, join.this, how, query):
        yield msgspec.structs.replace(item, marks=(*item.marks, *marks)) if marks else item


def combine_conditions(conditions: list[ir.Expr]) -> ir.Expr | None:
    """The conjunction of conditions, or None."""
    if len(conditions) > 1:
        return ir.Call("AND", tuple(conditions), 0, "BOOLEAN")
    return conditions[0] if conditions else None


def compile_using_column(context: CompileContext, node: exp.Expr) -> ir.Ref:
    """A column of USING."""
    identifier = node.this if isinstance(node, exp.Column) else node
    return ir.Ref((context.column_name(identifier),), *context.span_of(identifier))


_JOIN_KINDS = {"CROSS": "cross", "SEMI": "semi", "ANTI": "anti"}


def _join_side(join: exp.Expr) -> str:
    kind = str(join.args.get("kind") or "").upper()
    side = str(join.args.get("side") or "").lower()
    applied = join.this.args.get("cross_apply") if isinstance(join.this, exp.Lateral) else None
    if applied is not None:
        return "cross" if applied else "left"
    if kind in _JOIN_KINDS:
        return _JOIN_KINDS[kind]
    if side:
        return side
    conditional = join.args.get("on") is not None or join.args.get("using")
    return "inner" if conditional or kind == "INNER" or join.args.get("method") else "cross"


def compile_source_item(
    context: CompileContext, node: exp.Expr, join: ir.Join | None, query: CompileSourceQuery
) -> Iterator[ir.Source]:
    """One item of a FROM clause, and those joined to it inside parentheses."""
    marks: tuple[tuple[str, str], ...] = ()
    if type(node) is exp.Final:  # ClickHouse: the table after its parts have been merged
        marks, inner_table = (("filter", "final"),), node.this
        if node.args.get("alias") is not None:
            inner_table.set("alias", node.args["alias"])
        node = inner_table
    if type(node) is exp.Subquery and not _has_alias(node) and holds_sources(node):
        yield from _compile_parenthesized_join(context, node, join, query)
        return
    compiler = _SOURCE_COMPILERS.get(type(node))
    item = compiler(context, node, query) if compiler is not None else _compile_other_source(context, node, query)
    marks += _list_source_marks(context, node)
    if marks:
        item = msgspec.structs.replace(item, marks=marks)
    for pivot in node.args.get("pivots") or ():
        item = compile_pivoted_source(context, item, pivot)
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
        yield from compile_join(context, inner, query)


def holds_sources(node: exp.Expr) -> bool:
    """Whether parentheses hold sources and no query: `(a JOIN b …)`, `((a))`, `((SELECT …) x JOIN b …)`."""
    inner = node.this
    if not isinstance(inner, exp.Subquery):
        return isinstance(inner, exp.Table)
    return _has_alias(inner) or bool(inner.args.get("joins")) or holds_sources(inner)


def _has_alias(node: exp.Expr) -> bool:
    return node.args.get("alias") is not None or bool(node.args.get("pivots"))


def _compile_parenthesized_join(
    context: CompileContext, node: exp.Expr, join: ir.Join | None, query: CompileSourceQuery
) -> Iterator[ir.Source]:
    """A join in parentheses without an alias: the condition outside sees all its sources."""
    items = list(compile_source_item(context, node.this, None, query))
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
                how = msgspec.structs.replace(how, on=combine_conditions(conditions))
            yield msgspec.structs.replace(item, join=how)
    for inner in node.args.get("joins") or ():
        yield from compile_join(context, inner, query)


def _compile_table(context: CompileContext, node: exp.Expr, query: CompileSourceQuery) -> ir.Source:
    alias, columns = context.table_alias(node)
    if type(node.this) is not exp.Identifier and (
        isinstance(node.this, exp.Func | exp.SemanticView) or node.args.get("rows_from")
    ):
        return compile_table_function(context, node, query)
    if isinstance(node.this, exp.Values):  # in brackets of its own
        return ir.Source(alias, relation=query(context, node.this), columns=columns)
    name = compile_object_name(context, node)
    called = fold_for_alias(name.parts, context.traits.aliases)
    if len(called) == 1:
        index = context.ctes.get(called[0])
        if index is not None:
            context.recursions.add(index)
            return ir.Source(alias or called[0], relation=index, columns=columns, common=index in context.shared)
        if context.traits.dual and called[0].upper() == "DUAL":
            row = context.add_relation(ir.Values(((ir.Literal("string", "X"),),), (context.fold_column("dummy"),)))
            return ir.Source(alias or called[0], relation=row, columns=columns)
    elif called[0] in context.visible:
        return compile_implicit_unnest(context, node, alias)
    return ir.Source(alias or called[-1], name=name, columns=columns)


def _compile_stream(context: CompileContext, node: exp.Expr, query: CompileSourceQuery) -> ir.Source:
    """The new rows of a table are rows of that table."""
    alias, columns = context.table_alias(node)
    inner = node.this
    while isinstance(inner, exp.Subquery | exp.Paren):
        inner = inner.this
    if not isinstance(inner, exp.Table):
        return compile_table_function(context, node, query)
    found = _compile_table(context, inner, query)
    return msgspec.structs.replace(found, alias=alias or found.alias, columns=columns or found.columns)


def _compile_derived_table(context: CompileContext, node: exp.Expr, query: CompileSourceQuery) -> ir.Source:
    alias, columns = context.table_alias(node)
    lateral = context.traits.lateral_queries
    return ir.Source(alias, relation=query(context, _strip_parens(node)), columns=columns, lateral=lateral)


def _strip_parens(node: exp.Expr) -> exp.Expr:
    """The query inside the parentheses, unless clauses follow them."""
    if holds_sources(node):
        return node
    return node if any(node.args.get(clause) for clause in ("order", "limit", "offset", "with_")) else node.this


def _compile_values_source(context: CompileContext, node: exp.Expr, query: CompileSourceQuery) -> ir.Source:
    alias, columns = context.table_alias(node)
    return ir.Source(alias, relation=query(context, node), columns=columns)


def _compile_lateral(context: CompileContext, node: exp.Expr, query: CompileSourceQuery) -> ir.Source:
    alias, columns = context.table_alias(node)
    inner = node.this
    if isinstance(inner, exp.Subquery | exp.Select | exp.Values):
        return ir.Source(alias, relation=query(context, inner), columns=columns, lateral=True)
    if isinstance(inner, exp.Table) and not isinstance(inner.this, exp.Func | exp.SemanticView):
        return msgspec.structs.replace(
            _compile_table(context, inner, query), alias=alias, columns=columns, lateral=True
        )
    return compile_table_function(context, node, query)


def _compile_other_source(context: CompileContext, node: exp.Expr, query: CompileSourceQuery) -> ir.Source:
    if isinstance(node, exp.Query):
        alias, columns = context.table_alias(node)
        return ir.Source(alias, relation=query(context, node), columns=columns)
    return compile_table_function(context, node, query)


def _compile_final(context: CompileContext, node: exp.Expr, query: CompileSourceQuery) -> ir.Source:
    """ClickHouse: a table with FINAL."""
    return _SOURCE_COMPILERS.get(type(node.this), _compile_other_source)(context, node.this, query)


_SOURCE_COMPILERS: dict[type[exp.Expr], Callable[[CompileContext, exp.Expr, CompileSourceQuery], ir.Source]] = {
    exp.Final: _compile_final,
    exp.Table: _compile_table,
    exp.Subquery: _compile_derived_table,
    exp.Values: _compile_values_source,
    exp.Lateral: _compile_lateral,
    exp.Stream: _compile_stream,
}


_COMPILED_ARGS = frozenset(
    "this db catalog alias joins laterals pivots hints rows_from ordinality with_ order limit offset expressions view"
    " outer cross_apply explode_array match where group having qualify windows distribute sort cluster settings format"
    " options for_ locks indexed connect prewhere".split()
)
"""Arguments of a source that are compiled elsewhere, or that do not affect rows."""

_MARK_KINDS = {"sample": "limit"}
"""The kind of mark of an argument; the others are filters."""

_PLAIN_JOIN_METHODS = frozenset({"", "NATURAL"})


def _list_source_marks(context: CompileContext, node: exp.Expr) -> SourceMarks:
    """The other clauses of a source: a sample of its rows, or the time of its state."""
    others = [key for key, value in node.args.items() if value and key not in _COMPILED_ARGS]
    return tuple((_MARK_KINDS.get(key, "filter"), _mark_text(context, key, node.args[key])) for key in others)


def _mark_text(context: CompileContext, key: str, value: object) -> str:
    return key if value is True else canonical_text_of(context, value)


def _list_join_marks(join: exp.Expr) -> SourceMarks:
    """How a join partner is chosen if not by the condition alone: ASOF, ANY."""
    args = join.args
    method = str(args.get("method") or "").upper()
    words = [method.lower()] if method not in _PLAIN_JOIN_METHODS else []
    words += ["any"] if str(args.get("kind") or "").upper() == "ANY" else []
    return (("limit", " ".join([*words, "join"])),) if words else ()
