"""FROM clauses: tables, derived tables, functions and joins become the sources of a select."""

from collections.abc import Callable, Iterator

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.dialects.traits import fold
from lineage_pipeline.engine.compile.context import Context, name_of
from lineage_pipeline.engine.compile.expressions import expression, optional
from lineage_pipeline.engine.compile.outside import outside
from lineage_pipeline.engine.compile.pivots import pivoted
from lineage_pipeline.engine.compile.widening import widened
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
    side = _side(join)
    using = tuple(context.column(column) for column in join.args.get("using") or ())
    how = ir.Join(
        side, optional(context, join.args.get("on")), using, str(join.args.get("method") or "").upper() == "NATURAL"
    )
    yield from source(context, join.this, how, query)


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
    compiler = _SOURCES.get(type(node), _function)
    item = compiler(context, node, query)
    for pivot in node.args.get("pivots") or ():
        item = pivoted(context, item, pivot)
    if context.traits.implicit_unnest:
        context.visible |= {item.alias}
    yield msgspec.structs.replace(item, join=join)
    for inner in (*(node.args.get("joins") or ()), *(node.args.get("laterals") or ())):
        yield from joined(context, inner, query)


def _alias(context: Context, node: exp.Expr) -> tuple[str, tuple[str, ...]]:
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        return "", ()
    columns = tuple(context.column(column) for column in alias.args.get("columns") or ())
    return (context.table(alias.this) if alias.this is not None else ""), columns


def _table(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    alias, columns = _alias(context, node)
    if isinstance(node.this, exp.Func):
        return _table_function(context, node, alias, columns)
    name = name_of(context, node)
    if len(name.parts) == 1 and name.parts[0] in context.ctes:
        index = context.ctes[name.parts[0]]
        context.recursions.add(index)
        return ir.Source(alias or name.parts[0], relation=index, columns=columns)
    if len(name.parts) > 1 and name.parts[0] in context.visible:
        return _array(context, node, alias)
    if context.traits.dual and len(name.parts) == 1 and name.parts[0].upper() == "DUAL":
        dummy = ir.Values(((ir.Literal("string", "X"),),), (fold("dummy", False, context.traits.columns),))
        return ir.Source(alias or name.parts[0], relation=context.add(dummy), columns=columns)
    return ir.Source(alias or name.parts[-1], name=name, columns=columns)


def _array(context: Context, node: exp.Expr, alias: str) -> ir.Source:
    """`FROM t, t.items`: the elements of an array of another source."""
    identifiers = [part for key in ("catalog", "db", "this") if (part := node.args.get(key)) is not None]
    names = [part for node in identifiers for part in ([node] if isinstance(node, exp.Identifier) else node.flatten())]
    parts = (context.table(names[0]), *(context.column(part) for part in names[1:]))
    element = alias or parts[-1]
    unnest = ir.Call("UNNEST", (ir.Ref(parts, *context.place(*names)),), ir.GENERATOR)
    return ir.Source(element, function=unnest, columns=(element,), lateral=True)


def _table_function(context: Context, node: exp.Expr, alias: str, columns: tuple[str, ...]) -> ir.Source:
    """A function in the place of a table: one that makes rows of a value, or an object of the user's own."""
    compiled = expression(context, node.this)
    op = compiled.op if isinstance(compiled, ir.Call) else ""
    if op == "TABLE" and isinstance(compiled, ir.Call) and compiled.args:
        compiled = compiled.args[0]
    if op in functions.FILES and (found := _file(context, node.this)) is not None:
        return ir.Source(alias or op.lower(), name=found, columns=columns)
    relation = widened(context, compiled)
    if relation != ir.NOWHERE:
        return ir.Source(alias, relation=relation, columns=columns)
    if op != "TABLE" and isinstance(node.this, exp.Anonymous) and op not in functions.GENERATORS:
        name = name_of(
            context,
            exp.Table(this=exp.to_identifier(node.this.name), db=node.args.get("db"), catalog=node.args.get("catalog")),
        )
        context.calls.append(ir.Invocation(name, compiled.args if isinstance(compiled, ir.Call) else ()))
        return ir.Source(alias or name.parts[-1], name=name, function=compiled, columns=columns, lateral=True)
    produced = _produced(compiled)
    return ir.Source(alias or op.lower(), function=compiled, columns=columns, produces=produced, lateral=True)


def _streamed(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    """The new rows of a table are rows of that table."""
    alias, columns = _alias(context, node)
    inner = node.this
    while isinstance(inner, exp.Subquery | exp.Paren):
        inner = inner.this
    if not isinstance(inner, exp.Table):
        return _function(context, inner, query)
    found = _table(context, inner, query)
    return msgspec.structs.replace(found, alias=alias or found.alias, columns=columns or found.columns)


def _file(context: Context, node: exp.Expr) -> ir.Name | None:
    """The file that a function reads."""
    literal = next((item for item in node.find_all(exp.Literal) if item.args.get("is_string")), None)
    return outside(literal.name, context.traits, *context.place(literal)) if literal is not None else None


def _produced(function: ir.Expr) -> tuple[str, ...]:
    """The columns that a function in the place of a table makes where nobody names them."""
    if not isinstance(function, ir.Call):
        return ()
    op = function.op.split(":", 1)[0]
    if op == "STACK" and function.args and isinstance(function.args[0], ir.Literal) and function.args[0].text.isdigit():
        width = -(-(len(function.args) - 1) // max(int(function.args[0].text), 1))
        return tuple(f"col{position}" for position in range(width))
    return functions.PRODUCED.get(op, ())


def _subquery(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    alias, columns = _alias(context, node)
    return ir.Source(alias, relation=query(context, _bare(node)), columns=columns)


def _bare(node: exp.Expr) -> exp.Expr:
    """The query inside the brackets, unless clauses of its own hang outside."""
    return node if any(node.args.get(clause) for clause in ("order", "limit", "offset", "with_")) else node.this


def _values(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    alias, columns = _alias(context, node)
    return ir.Source(alias, relation=query(context, node), columns=columns)


def _lateral(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    alias, columns = _alias(context, node)
    inner = node.this
    if isinstance(inner, exp.Subquery | exp.Select):
        return ir.Source(alias, relation=query(context, inner), columns=columns, lateral=True)
    if isinstance(inner, exp.Anonymous):
        return _table_function(context, exp.Table(this=inner), alias, columns)
    if isinstance(inner, exp.Table | exp.Dot):
        return msgspec.structs.replace(_table(context, inner, query), alias=alias, columns=columns, lateral=True)
    produced = columns if _is_flatten(columns) else ()
    return ir.Source(
        alias, function=expression(context, inner), columns=() if produced else columns, produces=produced, lateral=True
    )


def _is_flatten(columns: tuple[str, ...]) -> bool:
    """Whether sqlglot filled in the six columns that FLATTEN always makes."""
    return tuple(column.upper() for column in columns) == ("SEQ", "KEY", "PATH", "INDEX", "VALUE", "THIS")


def _unnest(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    alias, columns = _alias(context, node)
    args = tuple(expression(context, item) for item in node.expressions)
    offset = node.args.get("offset")
    if isinstance(offset, exp.Identifier):
        columns = (*columns, context.column(offset))
    if not alias and len(columns) > 0:  # BigQuery: the alias names the element, and the element is the row
        alias = columns[0]
    return ir.Source(alias, function=ir.Call("UNNEST", args, ir.GENERATOR), columns=columns, lateral=True)


def _function(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    alias, columns = _alias(context, node)
    if isinstance(node, exp.Query):
        return ir.Source(alias, relation=query(context, node), columns=columns)
    compiled = expression(context, node)
    return ir.Source(alias, function=compiled, columns=columns, produces=_produced(compiled), lateral=True)


_SOURCES: dict[type[exp.Expr], Callable[[Context, exp.Expr, CompileQuery], ir.Source]] = {
    exp.Table: _table,
    exp.Subquery: _subquery,
    exp.Values: _values,
    exp.Lateral: _lateral,
    exp.Stream: _streamed,
    exp.Unnest: _unnest,
}
