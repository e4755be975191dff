"""Functions in the place of tables: what makes rows of values, reads files, or is an object of the user's own."""

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.engine.compile.bare import call_bare
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.documents import identifiers, written_path
from lineage_pipeline.engine.compile.expressions import expression
from lineage_pipeline.engine.compile.leftovers import said_of
from lineage_pipeline.engine.compile.models import MODELS
from lineage_pipeline.engine.compile.named import catalog_query, named_rows, spoken_table
from lineage_pipeline.engine.compile.outside import outside
from lineage_pipeline.engine.compile.tabled import DOCUMENTS
from lineage_pipeline.engine.compile.types import spelling
from lineage_pipeline.engine.compile.widening import widened
from lineage_pipeline.vocabulary import ir

CompileQuery = Callable[[Context, exp.Expr], int]


def alias_of(context: Context, node: exp.Expr) -> tuple[str, tuple[str, ...]]:
    """The alias of a source and the names that it gives to its columns."""
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        return "", ()
    name, listed = alias.args.get("this"), alias.args.get("columns")
    names = [item.this if isinstance(item, exp.ColumnDef) else item for item in listed or ()]
    columns = tuple([context.column(item) for item in names])
    return (context.alias(name) if name is not None else ""), columns


def rowset(context: Context, node: exp.Expr, query: CompileQuery) -> ir.Source:
    """A function that stands where a table may stand."""
    alias, columns = alias_of(context, node)
    if node.args.get("rows_from"):
        return _side_by_side(context, node, alias, columns, query)
    function = node if isinstance(node, exp.Unnest | exp.Column | exp.AtIndex) else node.this or node
    if isinstance(function, exp.Table):
        alias_inner, columns_inner = alias_of(context, function)
        alias, columns = alias or alias_inner, columns or columns_inner
        node, function = function, function.this
    if isinstance(function, exp.Anonymous) and function.name.upper() == "TABLE" and function.expressions:
        function = function.expressions[0]
    function = function.this if isinstance(function, exp.Paren | exp.Window) else function
    if isinstance(function, exp.Column):
        call_bare(context, function)
    maker = _MAKERS.get(type(function), _function)
    item = maker(context, function, node)
    if alias and not columns and context.traits.alias_names_element and _is_nameless(item):
        columns = (context.fold_column(alias),)
    if isinstance(function, exp.Unnest):
        return _named_elements(item, alias, columns)
    types = _types(context, node) or item.types
    named = columns or item.columns
    counted = item.position or bool(node.args.get("ordinality"))
    return msgspec.structs.replace(
        item, alias=alias or item.alias, columns=named, types=types, lateral=True, position=counted
    )


def _types(context: Context, node: exp.Expr) -> tuple[str, ...]:
    """The types that an alias declares its columns to have, `AS t (a int, b text)`."""
    alias = node.args.get("alias")
    listed = (alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None) or ()
    typed = any(isinstance(column, exp.ColumnDef) for column in listed)
    return tuple(spelling(column.args.get("kind"), context.dialect) for column in listed) if typed else ()


def _is_nameless(item: ir.Source) -> bool:
    """Whether a function makes one column that has no name of its own."""
    return isinstance(item.function, ir.Call) and item.function.op.split(":", 1)[0] in functions.NAMELESS


def _named_elements(item: ir.Source, alias: str, columns: tuple[str, ...]) -> ir.Source:
    columns = (*columns, *item.columns)
    if not alias and columns:  # BigQuery: the alias names the element, and the element is the row
        alias = columns[0]
    return msgspec.structs.replace(item, alias=alias, columns=columns, lateral=True)


def _unnest(context: Context, node: exp.Expr, table: exp.Expr) -> ir.Source:
    args = tuple(expression(context, item) for item in node.expressions)
    offset = node.args.get("offset")
    named = (context.column(offset),) if isinstance(offset, exp.Identifier) else ()
    position = bool(offset) or bool(table.args.get("ordinality"))
    call = ir.Call("UNNEST", args, ir.GENERATOR | ir.KEEPING)
    return ir.Source("", function=call, columns=named, position=position)


def _side_by_side(
    context: Context, node: exp.Expr, alias: str, columns: tuple[str, ...], query: CompileQuery
) -> ir.Source:
    """ROWS FROM (f(…), g(…)): the columns of the functions one beside the other."""
    items = [rowset(context, item, query).function for item in node.args["rows_from"]]
    args = tuple(item for item in items if item is not None)
    return ir.Source(alias, function=ir.Call("ROWSFROM", args, ir.GENERATOR), columns=columns, lateral=True)


def _function(context: Context, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """A function by its name: one that makes rows, one that reads a file, or an object of the user's own."""
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        return _dotted(context, node)
    told = named_rows(context, node)
    if told is not None:
        return told
    for item in [item for item in node.expressions if _is_handed(item)]:
        item.replace(item.expression)
    compiled = expression(context, node)
    relation = widened(context, compiled)
    if relation != ir.NOWHERE:
        return ir.Source("", relation=relation)
    op = compiled.op.split(":", 1)[0] if isinstance(compiled, ir.Call) else ""
    args = compiled.args if isinstance(compiled, ir.Call) else ()
    keyed = _keyed(node)
    if (op in functions.FILES or keyed) and (found := _file(context, node, keyed)) is not None:
        return ir.Source(op.lower(), name=found)
    owner = table.args.get("db") if isinstance(table, exp.Table) else None
    if isinstance(owner, exp.Parameter) and op in functions.METHODS:
        call = ir.Call("NODES", (expression(context, owner), *args), ir.GENERATOR)
        return ir.Source("", function=call)
    if isinstance(node, exp.Anonymous) and op not in functions.GENERATORS:
        own = functions.OWN_SCHEMAS.get(context.traits.family, ())
        if isinstance(owner, exp.Identifier) and owner.name.upper() in own:
            return ir.Source(op.lower(), function=ir.Call(op, args, ir.GENERATOR))
        parts = [table.args.get("catalog"), table.args.get("db")] if isinstance(table, exp.Table) else []
        return _object(context, [part for part in parts if part is not None], node, compiled)
    if not isinstance(compiled, ir.Call):  # a collection that a row has
        unnest = ir.Call("UNNEST", (compiled,), ir.GENERATOR | ir.KEEPING)
        return ir.Source("", function=unnest, produces=(context.fold_column("column_value"),))
    return ir.Source(op.lower(), function=compiled, produces=_produced(context, compiled))


def _is_handed(argument: exp.Expr) -> bool:
    """Whether an argument says the name of its parameter, `f(p = value)`."""
    if not isinstance(argument, exp.EQ) or not isinstance(argument.this, exp.Column):
        return False
    return not argument.this.table and isinstance(argument.expression, exp.Literal | exp.Boolean | exp.Neg | exp.Null)


def _keyed(node: exp.Expr) -> list[exp.Expr]:
    """The addresses among arguments whose names are texts, `'path' = 's3://…'`."""
    if isinstance(node, exp.Anonymous) and node.name.upper() == "EXTERN":
        return [exp.Literal.string(place) for item in node.expressions[:1] for place in _described(item.name)]
    pairs = [item for item in node.expressions if type(item) is exp.EQ and isinstance(item.this, exp.Literal)]
    return [item.expression for item in pairs if item.this.name.lower() in functions.ADDRESSES]


_ADDRESS = re.compile(r'"(?:uris?|prefixes|objects|files|paths?|baseDir)"\s*:\s*\[?\s*"([^"]+)"')
_SYSTEM = re.compile(r'"type"\s*:\s*"(?!inline")(\w+)"')


def _described(text: str) -> list[str]:
    """Druid: the address that a description of rows outside has, or what they lie in; inline ones lie nowhere."""
    place, system = _ADDRESS.search(text), _SYSTEM.search(text)
    if system is None:
        return []
    return [place[1] if place is not None else f"{system[1]}://extern"]


def _file(context: Context, node: exp.Expr, keyed: Sequence[exp.Expr]) -> ir.Name | None:
    """The file that a function reads."""
    texts = (item for place in keyed or (node,) for item in place.find_all(exp.Literal) if item.args.get("is_string"))
    literal = next(texts, None)
    return outside(literal.name, context.traits, *context.place(literal)) if literal is not None else None


def _dotted(context: Context, node: exp.Expr) -> ir.Source:
    """`db.fn(x)`: an object of the user's own; `t.x.nodes(x)`: a method of a column."""
    function = node.expression
    qualifiers = list(identifiers(node.this))
    asked = catalog_query(context, function, qualifiers[0].name) if len(qualifiers) == 2 else None
    if asked is not None:
        return asked
    if function.name.upper() in functions.METHODS:
        compiled = expression(context, node)
        traits = ir.GENERATOR | ir.KEEPING
        args = compiled.args if isinstance(compiled, ir.Call) else (compiled,)
        return ir.Source("", function=ir.Call("NODES", args, traits))
    return _object(context, qualifiers, function, expression(context, function))


def _object(context: Context, qualifiers: Sequence[object], node: exp.Expr, compiled: ir.Expr) -> ir.Source:
    """A table function of the user's own."""
    parts = [context.table(part) if isinstance(part, exp.Expr) else "" for part in qualifiers]  # `db..fn(x)`
    start, end = context.place(*(part for part in qualifiers if isinstance(part, exp.Expr)), node)
    name = ir.Name((*parts, context.fold_table(node.name)), node.name, start, end)
    context.invoke(ir.Invocation(name, compiled.args if isinstance(compiled, ir.Call) else ()))
    return ir.Source(context.called(name), name=name, function=compiled)


def _produced(context: Context, function: ir.Expr) -> tuple[str, ...]:
    """The columns that a function in the place of a table makes where nobody names them."""
    if not isinstance(function, ir.Call):
        return ()
    op = function.op.split(":", 1)[0]
    own = functions.PRODUCED_IN.get(context.traits.family, {}).get(op)
    names = own or functions.PRODUCED.get(function.op) or produced_names(op, function.args)
    return tuple(context.fold_column(name) for name in names)


def produced_names(op: str, args: tuple[ir.Expr, ...]) -> tuple[str, ...]:
    """The names of the columns that a function makes of its arguments."""
    if op == "STACK" and args and isinstance(args[0], ir.Literal) and args[0].text.isdigit():
        width = -(-(len(args) - 1) // max(whole_number(args[0].text), 1))
        return tuple(f"col{position}" for position in range(width))
    if op == "JSON_TUPLE":
        return tuple(f"c{position}" for position in range(len(args) - 1))
    return functions.PRODUCED.get(op, ())


def _spoken(context: Context, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """`IDENTIFIER('t')` or `TABLE('t')`: a table that is named as text."""
    literal = node.this if isinstance(node, exp.DynamicIdentifier) else node
    name = spoken_table(context, literal)
    return ir.Source(context.called(name), name=name) if name is not None else _function(context, node, table)


def _explode(context: Context, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """EXPLODE, or FLATTEN with the document as its first argument, or by name, and perhaps the way into it."""
    if not context.traits.flattens:
        return _function(context, node, table)
    named = {item.this.name.lower(): item.expression for item in node.expressions if isinstance(item, exp.Kwarg)}
    document = node.this.expression if isinstance(node.this, exp.Kwarg) else node.this
    if isinstance(node.this, exp.Kwarg) and node.this.this.name.lower() != "input":
        named[node.this.this.name.lower()] = node.this.expression
        document = named.get("input", document)
    value = expression(context, document)
    path = named.get("path")
    if isinstance(path, exp.Literal):
        value = ir.Field(value, written_path([path.name]))
    outer = said_of(named.pop("outer", None)) == "TRUE"
    others = [f":{key} {said_of(item)}" for key, item in sorted(named.items()) if key not in ("input", "path")]
    call, join = ir.Call(f"FLATTEN{''.join(others)}", (value,), ir.GENERATOR | ir.KEEPING), ir.Join("left")
    return ir.Source("", function=call, produces=functions.PRODUCED["FLATTEN"], join=join if outer else None)


def _at_index(context: Context, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """`FROM t, t.items AS x AT i`: the elements of a document, and where they stand."""
    item = node.this
    alias = item.args.get("alias") if isinstance(item, exp.Alias) else None
    value = expression(context, item.this if alias is not None else item)
    call = ir.Call("UNNEST", (value,), ir.GENERATOR | ir.KEEPING)
    element = context.column(alias) if alias is not None else ""
    columns = (element, context.column(node.expression)) if element else ()
    return ir.Source(element, function=call, columns=columns, position=True)


_MAKERS: dict[type[exp.Expr], Callable[[Context, exp.Expr, exp.Expr], ir.Source]] = {
    exp.AtIndex: _at_index,
    exp.DynamicIdentifier: _spoken,
    exp.Explode: _explode,
    exp.Literal: _spoken,
    exp.Unnest: _unnest,
    **MODELS,
    **DOCUMENTS,
}


# ── other things behind FROM ─────────────────────────────────────────────────────────────────────────────────────


def array_joins(context: Context, join: exp.Expr) -> Iterator[ir.Source]:
    """ARRAY JOIN: each array becomes a source of one column, under its alias or its own name."""
    side = "left" if str(join.args.get("side") or "").upper() == "LEFT" else "cross"
    for node in (join.this, *join.expressions):
        value = node.this if isinstance(node, exp.Alias | exp.Table) and isinstance(node.this, exp.Expr) else node
        name = context.column(node.args["alias"]) if isinstance(node, exp.Alias) else context.column(_last(value))
        compiled = (
            ir.Ref((name,), *context.place(value)) if isinstance(value, exp.Identifier) else expression(context, value)
        )
        call = ir.Call("UNNEST", (compiled,), ir.GENERATOR | ir.KEEPING)
        yield ir.Source(name, function=call, columns=(name,), lateral=True, join=ir.Join(side))


def _last(node: exp.Expr) -> exp.Expr:
    while not isinstance(node, exp.Identifier) and isinstance(node.args.get("this"), exp.Expr):
        node = node.this
    return node


def array_of(context: Context, node: exp.Expr, alias: str) -> ir.Source:
    """`FROM t, t.items`: the elements of an array of another source."""
    parts = [part for key in ("catalog", "db", "this") if (part := node.args.get(key)) is not None]
    names = [name for part in parts for name in identifiers(part)]
    path = (context.alias(names[0]), *(context.column(part) for part in names[1:]))
    element = alias or path[-1]
    unnest = ir.Call("UNNEST", (ir.Ref(path, *context.place(*names)),), ir.GENERATOR | ir.KEEPING)
    return ir.Source(element, function=unnest, columns=(element,), lateral=True)
