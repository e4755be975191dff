"""Table functions: UNNEST, FLATTEN, file readers, user-defined functions and models in FROM."""

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.engine.compile.context import CompileContext, compile_object_name
from lineage_pipeline.engine.compile.expressions.data_types import spell_type
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expression
from lineage_pipeline.engine.compile.expressions.modifiers import option_text_of
from lineage_pipeline.engine.compile.expressions.structs import identifiers_of, split_path
from lineage_pipeline.engine.compile.external_objects import build_external_name
from lineage_pipeline.engine.compile.relations.json_table import DOCUMENT_COMPILERS
from lineage_pipeline.engine.compile.relations.table_arguments import (
    compile_catalog_query,
    compile_named_rows,
    compile_string_table,
)
from lineage_pipeline.model import ir


def record_bare_call(context: CompileContext, node: exp.Column) -> None:
    """`TABLE(f)`: a function without arguments, or a collection; only the objects tell which."""
    identifiers = [part for part in node.parts if isinstance(part, exp.Identifier)]
    if identifiers:
        start, end = context.span_of(*identifiers)
        name = ir.Name(tuple(context.table_name(part) for part in identifiers), identifiers[-1].name, start, end)
        context.add_call(ir.Invocation(name))


def compile_widening(context: CompileContext, function: ir.Expr) -> int:
    """The relation of a function that returns the rows of a table with more or fewer columns, or NOWHERE."""
    if not isinstance(function, ir.Call) or function.op not in functions.WIDENING_FUNCTIONS:
        return ir.NOWHERE
    given = _rewrite_positional(function.args) if context.traits.window_columns else function.args
    arguments = [_plain_argument(context, argument) for argument in given]
    tables = [argument.relation for argument in arguments if isinstance(argument, ir.Sub)]
    if not tables:
        return ir.NOWHERE
    described = tuple(_descriptor_columns(arguments))
    added = context.traits.window_columns or functions.WIDENING_FUNCTIONS[function.op]
    everything = ir.Star((), ir.NOWHERE, ir.NOWHERE, () if added else tuple(ref.parts[-1] for ref in described))
    made = ir.Call(function.op, described)
    outputs = (
        ir.Output(name=context.fold_column(name), written=name, expr=made, start=ir.NOWHERE, end=ir.NOWHERE)
        for name in added
    )
    return context.add_relation(ir.Select((ir.Source("", relation=tables[0]),), (everything, *outputs)))


def _rewrite_positional(arguments: Sequence[ir.Expr]) -> list[ir.Expr]:
    """Positional arguments, a table and a column, as TABLE t and DESCRIPTOR(c)."""
    words = (("TABLE", arguments[:1]), ("DESCRIPTOR", arguments[1:2]))
    named = [ir.Call(word, (item,)) for word, items in words for item in items if isinstance(item, ir.Ref)]
    return [*named, *arguments[2:]]


def _plain_argument(context: CompileContext, argument: ir.Expr) -> ir.Expr:
    """The value of a named argument; a table argument becomes a query of all its rows."""
    if isinstance(argument, ir.Call) and argument.op == "KWARG":
        argument = argument.args[-1]
    if isinstance(argument, ir.Call) and argument.op == "TABLE" and argument.args:
        table = argument.args[0]
        if not isinstance(table, ir.Ref):
            return argument
        name = ir.Name(table.parts, table.parts[-1], table.start, table.end)
        star = ir.Star((), ir.NOWHERE, ir.NOWHERE)
        return ir.Sub("scalar", context.add_relation(ir.Select((ir.Source("", name=name),), (star,))))
    return argument


def _descriptor_columns(arguments: list[ir.Expr]) -> Iterator[ir.Ref]:
    """The columns that DESCRIPTOR names."""
    for argument in arguments:
        if isinstance(argument, ir.Call) and argument.op == "DESCRIPTOR":
            yield from (item for item in argument.args if isinstance(item, ir.Ref))


def compile_model_function(context: CompileContext, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """BigQuery: a function that applies a model to the rows of a table or a query."""
    given = node.this if isinstance(node, exp.AIForecast) else node.args.get("expression")
    op = type(node).__name__.upper()
    if isinstance(node, exp.Predict) and isinstance(node.this, exp.Table):  # who only reads it gets no value of it
        context.compile_query(context, node.this)
    handed = isinstance(given, exp.Query | exp.Table)
    args = (ir.Sub("rows", context.compile_query(context, given)),) if isinstance(given, exp.Expr) and handed else ()
    return ir.Source(op.lower(), function=ir.Call(op, args, ir.GENERATOR))


def compile_vector_search(context: CompileContext, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """BigQuery: VECTOR_SEARCH gives a query row, the near row of the base table, and their distance."""
    sources = (
        ir.Source("query", relation=context.compile_query(context, node.args["query_table"])),
        ir.Source("base", relation=context.compile_query(context, node.this), join=ir.Join("cross")),
    )
    compared = node.args["column_to_search"]
    column = ir.Ref(("base", context.fold_column(compared.name)), *context.span_of(compared))
    rows: dict[str, ir.Expr] = {name: ir.Whole((name,), ir.NOWHERE, ir.NOWHERE) for name in ("query", "base")}
    made: dict[str, ir.Expr] = {**rows, "distance": ir.Call("DISTANCE", (column,), 0, "FLOAT64")}
    outputs = tuple(
        ir.Output(name=name, written=name, expr=value, start=ir.NOWHERE, end=ir.NOWHERE) for name, value in made.items()
    )
    return ir.Source("vector_search", relation=context.add_relation(ir.Select(sources, outputs)))


def compile_semantic_view(context: CompileContext, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """Snowflake: SEMANTIC_VIEW(v DIMENSIONS t.a METRICS t.b) gives columns of the view, without their qualifiers."""
    name = compile_object_name(context, node.this)
    items = [item for clause in ("dimensions", "metrics", "facts") for item in node.args.get(clause) or ()]
    where = node.args.get("where")
    for column in [column for part in (*items, *([where] if where else ())) for column in part.find_all(exp.Column)]:
        column.set("table", None)
    if any(isinstance(item.this, exp.Star) for item in items):
        return ir.Source(context.default_alias(name), name=name)
    items.sort(key=lambda item: context.span_of(*item.find_all(exp.Identifier))[0])
    outputs = tuple(
        ir.Output(
            name=context.fold_column(item.alias_or_name),
            written=item.alias_or_name,
            expr=compile_expression(context, item.unalias()),
            start=ir.NOWHERE,
            end=ir.NOWHERE,
        )
        for item in items
    )
    rows = ir.Select(
        sources=(ir.Source(context.default_alias(name), name=name),),
        outputs=outputs,
        where=compile_expression(context, where) if where else None,
    )
    return ir.Source("semantic_view", relation=context.add_relation(rows))


_MODEL_FUNCTIONS = (
    *(exp.AIForecast, exp.GenerateBool, exp.GenerateDouble, exp.GenerateEmbedding, exp.GenerateInt, exp.GenerateTable),
    *(exp.GenerateText, exp.MLForecast, exp.MLTranslate, exp.Predict),
)

MODEL_COMPILERS: dict[type[exp.Expr], Callable[[CompileContext, exp.Expr, exp.Expr], ir.Source]] = {
    **dict.fromkeys(_MODEL_FUNCTIONS, compile_model_function),
    exp.SemanticView: compile_semantic_view,
    exp.VectorSearch: compile_vector_search,
}
"""BigQuery: compilers of functions that apply a model; Snowflake: of one that queries a semantic view."""


CompileTableQuery = Callable[[CompileContext, exp.Expr], int]


def compile_table_function(context: CompileContext, node: exp.Expr, query: CompileTableQuery) -> ir.Source:
    """A function in place of a table."""
    alias, columns = context.table_alias(node)
    if node.args.get("rows_from"):
        return _compile_rows_from(context, node, alias, columns, query)
    function = node if isinstance(node, exp.Unnest | exp.Column | exp.AtIndex) else node.this or node
    if isinstance(function, exp.Table):
        alias_inner, columns_inner = context.table_alias(function)
        alias, columns = alias or alias_inner, columns or columns_inner
        node, function = function, function.this
    if isinstance(function, exp.Anonymous) and function.name.upper() == "TABLE" and function.expressions:
        function = function.expressions[0]
    function = function.this if isinstance(function, exp.Paren | exp.Window) else function
    if isinstance(function, exp.Column):
        record_bare_call(context, function)
    maker = _TABLE_FUNCTION_COMPILERS.get(type(function), _compile_function)
    item = maker(context, function, node)
    if alias and not columns and context.traits.alias_names_element and _is_unnamed_column(item):
        columns = (context.fold_column(alias),)
    if isinstance(function, exp.Unnest):
        return _name_elements(item, alias, columns)
    types = _alias_types(context, node) or item.types
    named = columns or item.columns
    counted = item.position or bool(node.args.get("ordinality"))
    return msgspec.structs.replace(
        item, alias=alias or item.alias, columns=named, types=types, lateral=True, position=counted
    )


def _alias_types(context: CompileContext, node: exp.Expr) -> tuple[str, ...]:
    """The types in `AS t (a int, b text)`."""
    alias = node.args.get("alias")
    listed = (alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None) or ()
    typed = any(isinstance(column, exp.ColumnDef) for column in listed)
    return tuple(spell_type(column.args.get("kind"), context.dialect) for column in listed) if typed else ()


def _is_unnamed_column(item: ir.Source) -> bool:
    """Whether a function returns one column without a name of its own."""
    return isinstance(item.function, ir.Call) and item.function.op.split(":", 1)[0] in functions.UNNAMED_TABLE_FUNCTIONS


def _name_elements(item: ir.Source, alias: str, columns: tuple[str, ...]) -> ir.Source:
    columns = (*columns, *item.columns)
    if not alias and columns:  # BigQuery: the alias names the element, and the element is the row
        alias = columns[0]
    return msgspec.structs.replace(item, alias=alias, columns=columns, lateral=True)


def _compile_unnest(context: CompileContext, node: exp.Expr, table: exp.Expr) -> ir.Source:
    args = tuple(compile_expression(context, item) for item in node.expressions)
    offset = node.args.get("offset")
    named = (context.column_name(offset),) if isinstance(offset, exp.Identifier) else ()
    position = bool(offset) or bool(table.args.get("ordinality"))
    call = ir.Call("UNNEST", args, ir.GENERATOR | ir.KEEPING)
    return ir.Source("", function=call, columns=named, position=position)


def _compile_rows_from(
    context: CompileContext, node: exp.Expr, alias: str, columns: tuple[str, ...], query: CompileTableQuery
) -> ir.Source:
    """PostgreSQL: ROWS FROM (f(…), g(…)), the columns of the functions side by side."""
    items = [compile_table_function(context, item, query).function for item in node.args["rows_from"]]
    args = tuple(item for item in items if item is not None)
    return ir.Source(alias, function=ir.Call("ROWSFROM", args, ir.GENERATOR), columns=columns, lateral=True)


def _compile_function(context: CompileContext, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """A function by name: one that makes rows, one that reads a file, or a user-defined one."""
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        return _compile_dotted_function(context, node)
    named = compile_named_rows(context, node)
    if named is not None:
        return named
    for item in [item for item in node.expressions if _is_named_argument(item)]:
        item.replace(item.expression)
    compiled = compile_expression(context, node)
    relation = compile_widening(context, compiled)
    if relation != ir.NOWHERE:
        return ir.Source("", relation=relation)
    op = compiled.op.split(":", 1)[0] if isinstance(compiled, ir.Call) else ""
    args = compiled.args if isinstance(compiled, ir.Call) else ()
    keyed = _address_arguments(node)
    if (op in functions.FILE_FUNCTIONS or keyed) and (found := _compile_file(context, node, keyed)) is not None:
        return ir.Source(op.lower(), name=found)
    owner = table.args.get("db") if isinstance(table, exp.Table) else None
    if isinstance(owner, exp.Parameter) and op in functions.VALUE_METHODS:
        call = ir.Call("NODES", (compile_expression(context, owner), *args), ir.GENERATOR)
        return ir.Source("", function=call)
    if isinstance(node, exp.Anonymous) and op not in functions.ROW_GENERATORS:
        if isinstance(owner, exp.Identifier) and owner.name.upper() in context.traits.builtin_schemas:
            return ir.Source(op.lower(), function=ir.Call(op, args, ir.GENERATOR))
        parts = [table.args.get("catalog"), table.args.get("db")] if isinstance(table, exp.Table) else []
        return _compile_user_function(context, [part for part in parts if part is not None], node, compiled)
    if not isinstance(compiled, ir.Call):  # a collection that a row has
        unnest = ir.Call("UNNEST", (compiled,), ir.GENERATOR | ir.KEEPING)
        return ir.Source("", function=unnest, produces=(context.fold_column("column_value"),))
    return ir.Source(op.lower(), function=compiled, produces=_produced_columns(context, compiled))


def _is_named_argument(argument: exp.Expr) -> bool:
    """Whether an argument names its parameter, `f(p = value)`."""
    if not isinstance(argument, exp.EQ) or not isinstance(argument.this, exp.Column):
        return False
    return not argument.this.table and isinstance(argument.expression, exp.Literal | exp.Boolean | exp.Neg | exp.Null)


def _address_arguments(node: exp.Expr) -> list[exp.Expr]:
    """The addresses among arguments with string keys, `'path' = 's3://…'`."""
    if isinstance(node, exp.Anonymous) and node.name.upper() == "EXTERN":
        return [exp.Literal.string(place) for item in node.expressions[:1] for place in _extern_addresses(item.name)]
    pairs = [item for item in node.expressions if type(item) is exp.EQ and isinstance(item.this, exp.Literal)]
    return [item.expression for item in pairs if item.this.name.lower() in functions.ADDRESS_ARGUMENTS]


_EXTERN_ADDRESS = re.compile(r'"(?:uris?|prefixes|objects|files|paths?|baseDir)"\s*:\s*\[?\s*"([^"]+)"')
_EXTERN_TYPE = re.compile(r'"type"\s*:\s*"(?!inline")(\w+)"')


def _extern_addresses(text: str) -> list[str]:
    """Druid: the address in the JSON description of EXTERN; none for inline rows."""
    place, system = _EXTERN_ADDRESS.search(text), _EXTERN_TYPE.search(text)
    if system is None:
        return []
    return [place[1] if place is not None else f"{system[1]}://extern"]


def _compile_file(context: CompileContext, node: exp.Expr, keyed: Sequence[exp.Expr]) -> ir.Name | None:
    """The file that a function reads."""
    texts = (item for place in keyed or (node,) for item in place.find_all(exp.Literal) if item.args.get("is_string"))
    literal = next(texts, None)
    return build_external_name(literal.name, context.traits, *context.span_of(literal)) if literal is not None else None


def _compile_dotted_function(context: CompileContext, node: exp.Expr) -> ir.Source:
    """`db.fn(x)` is a user-defined function; `t.x.nodes(x)` a method of a column."""
    function = node.expression
    qualifiers = list(identifiers_of(node.this))
    asked = compile_catalog_query(context, function, qualifiers[0].name) if len(qualifiers) == 2 else None
    if asked is not None:
        return asked
    if function.name.upper() in functions.VALUE_METHODS:
        compiled = compile_expression(context, node)
        traits = ir.GENERATOR | ir.KEEPING
        args = compiled.args if isinstance(compiled, ir.Call) else (compiled,)
        return ir.Source("", function=ir.Call("NODES", args, traits))
    return _compile_user_function(context, qualifiers, function, compile_expression(context, function))


def _compile_user_function(
    context: CompileContext, qualifiers: Sequence[object], node: exp.Expr, compiled: ir.Expr
) -> ir.Source:
    """A user-defined table function."""
    parts = [context.table_name(part) if isinstance(part, exp.Expr) else "" for part in qualifiers]  # `db..fn(x)`
    start, end = context.span_of(*(part for part in qualifiers if isinstance(part, exp.Expr)), node)
    name = ir.Name((*parts, context.fold_table(node.name)), node.name, start, end)
    context.add_call(ir.Invocation(name, compiled.args if isinstance(compiled, ir.Call) else ()))
    return ir.Source(context.default_alias(name), name=name, function=compiled)


def _produced_columns(context: CompileContext, function: ir.Expr) -> tuple[str, ...]:
    """The columns that a table function returns if nobody names them."""
    if not isinstance(function, ir.Call):
        return ()
    op = function.op.split(":", 1)[0]
    own = context.traits.table_function_columns.get(op)
    names = own or functions.TABLE_FUNCTION_COLUMNS.get(function.op) or produced_column_names(op, function.args)
    return tuple(context.fold_column(name) for name in names)


def produced_column_names(op: str, args: tuple[ir.Expr, ...]) -> tuple[str, ...]:
    """The names of the columns that a function returns, given its arguments."""
    if op == "STACK" and args and isinstance(args[0], ir.Literal) and args[0].text.isdigit():
        width = -(-(len(args) - 1) // max(parse_whole_number(args[0].text), 1))
        return tuple(f"col{position}" for position in range(width))
    if op == "JSON_TUPLE":
        return tuple(f"c{position}" for position in range(len(args) - 1))
    return functions.TABLE_FUNCTION_COLUMNS.get(op, ())


def _compile_named_table_source(context: CompileContext, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """`IDENTIFIER('t')` or `TABLE('t')`: a table named by a string."""
    literal = node.this if isinstance(node, exp.DynamicIdentifier) else node
    name = compile_string_table(context, literal)
    return (
        ir.Source(context.default_alias(name), name=name)
        if name is not None
        else _compile_function(context, node, table)
    )


def _compile_flatten(context: CompileContext, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """EXPLODE; Snowflake: FLATTEN with its document as first or named argument, and perhaps a path."""
    if not context.traits.flattens:
        return _compile_function(context, node, table)
    named = {item.this.name.lower(): item.expression for item in node.expressions if isinstance(item, exp.Kwarg)}
    document = node.this.expression if isinstance(node.this, exp.Kwarg) else node.this
    if isinstance(node.this, exp.Kwarg) and node.this.this.name.lower() != "input":
        named[node.this.this.name.lower()] = node.this.expression
        document = named.get("input", document)
    value = compile_expression(context, document)
    path = named.get("path")
    if isinstance(path, exp.Literal):
        value = ir.Field(value, split_path([path.name]))
    outer = option_text_of(named.pop("outer", None)) == "TRUE"
    others = [f":{key} {option_text_of(item)}" for key, item in sorted(named.items()) if key not in ("input", "path")]
    call, join = ir.Call(f"FLATTEN{''.join(others)}", (value,), ir.GENERATOR | ir.KEEPING), ir.Join("left")
    return ir.Source(
        "", function=call, produces=functions.TABLE_FUNCTION_COLUMNS["FLATTEN"], join=join if outer else None
    )


def _compile_at_index(context: CompileContext, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """Redshift: `FROM t, t.items AS x AT i`, the elements of an array and their positions."""
    item = node.this
    alias = item.args.get("alias") if isinstance(item, exp.Alias) else None
    value = compile_expression(context, item.this if alias is not None else item)
    call = ir.Call("UNNEST", (value,), ir.GENERATOR | ir.KEEPING)
    element = context.column_name(alias) if alias is not None else ""
    columns = (element, context.column_name(node.expression)) if element else ()
    return ir.Source(element, function=call, columns=columns, position=True)


_TABLE_FUNCTION_COMPILERS: dict[type[exp.Expr], Callable[[CompileContext, exp.Expr, exp.Expr], ir.Source]] = {
    exp.AtIndex: _compile_at_index,
    exp.DynamicIdentifier: _compile_named_table_source,
    exp.Explode: _compile_flatten,
    exp.Literal: _compile_named_table_source,
    exp.Unnest: _compile_unnest,
    **MODEL_COMPILERS,
    **DOCUMENT_COMPILERS,
}


# ── other things behind FROM ─────────────────────────────────────────────────────────────────────────────────────


def compile_array_join(context: CompileContext, join: exp.Expr) -> Iterator[ir.Source]:
    """ClickHouse: ARRAY JOIN, each array a source of one column."""
    side = "left" if str(join.args.get("side") or "").upper() == "LEFT" else "cross"
    for node in (join.this, *join.expressions):
        value = node.this if isinstance(node, exp.Alias | exp.Table) and isinstance(node.this, exp.Expr) else node
        name = (
            context.column_name(node.args["alias"])
            if isinstance(node, exp.Alias) and node.args.get("alias") is not None
            else context.column_name(_last_identifier(value))
        )
        compiled = (
            ir.Ref((name,), *context.span_of(value))
            if isinstance(value, exp.Identifier)
            else compile_expression(context, value)
        )
        call = ir.Call("UNNEST", (compiled,), ir.GENERATOR | ir.KEEPING)
        yield ir.Source(name, function=call, columns=(name,), lateral=True, join=ir.Join(side))


def _last_identifier(node: exp.Expr) -> exp.Expr:
    while not isinstance(node, exp.Identifier) and isinstance(node.args.get("this"), exp.Expr):
        node = node.this
    return node


def compile_implicit_unnest(context: CompileContext, node: exp.Expr, alias: str) -> ir.Source:
    """`FROM t, t.items`: the elements of an array of another source."""
    parts = [part for key in ("catalog", "db", "this") if (part := node.args.get(key)) is not None]
    names = [name for part in parts for name in identifiers_of(part)]
    path = (context.alias_name(names[0]), *(context.column_name(part) for part in names[1:]))
    element = alias or path[-1]
    unnest = ir.Call("UNNEST", (ir.Ref(path, *context.span_of(*names)),), ir.GENERATOR | ir.KEEPING)
    return ir.Source(element, function=unnest, columns=(element,), lateral=True)
