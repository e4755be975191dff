"""Structs, arrays and JSON documents: how they are built, and paths into them."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.expressions.data_types import parse_type
from lineage_pipeline.engine.compile.expressions.date_functions import read_leading_unit
from lineage_pipeline.engine.compile.expressions.dispatch import (
    canonical_function_name,
    compile_assigned_value,
    compile_expression,
    compile_expressions,
    compile_generic_call,
    function_traits_of,
    operator_traits_of,
)
from lineage_pipeline.engine.compile.grammar.parser import get_sqlglot_dialect
from lineage_pipeline.engine.compile.relations.table_arguments import compile_lookup, is_lookup_function
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.model import ir


def compile_dot(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A member of a struct, a method called on a value, or a function with its schema."""
    base, member = node.this, node.expression
    if base is None:
        raise MalformedTree("a dot without a name before it")
    if (
        isinstance(member, exp.Func)
        and _is_identifier_chain(base)
        and member.name.upper() not in functions.VALUE_METHODS
    ):
        if isinstance(base, exp.Identifier) and context.fold_table(base.name) in context.traits.function_schemas:
            return compile_expression(context, _as_built_in(context, member))
        return _compile_qualified_call(context, base, member)
    _restore_columns(base)
    value = _compile_dot_base(context, base)
    if isinstance(member, exp.Identifier):
        name = context.column_name(member)
        if isinstance(value, ir.Ref):
            end = context.span_of(member)[1]
            if end == ir.NOWHERE or ")" in context.text[context.origin + value.end : context.origin + end]:
                end = value.end  # `(c).city`: half a bracket is no place
            return ir.Ref((*value.parts, name), value.start, end)
        return ir.Field(value, (name,))
    if member is None:
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct="a dot without a name behind it")
    if member is None or isinstance(member, exp.Star):
        return value
    if isinstance(member, exp.Literal):  # the first member of a tuple, by its number
        return ir.Field(value, tuple(member.name.split(".")))
    return ir.Call(
        f"METHOD {_method_name(context, member)}", (value, *compile_expressions(context, member.expressions))
    )


def _as_built_in(context: CompileContext, call: exp.Expr) -> exp.Expr:
    """A function that the parser takes for somebody's own, because its schema precedes it."""
    if not isinstance(call, exp.Anonymous):
        return call
    try:
        return exp.func(
            call.name, *call.expressions, dialect=get_sqlglot_dialect(context.traits.grammar or context.traits.name)
        )
    except ValueError:  # arguments that sqlglot does not know
        return call


def _restore_columns(base: exp.Expr) -> None:
    """Make columns of the arguments of calls again: sqlglot makes names of them where a method follows."""
    for name in [*base.find_all(exp.Identifier)]:
        value = isinstance(name.parent, exp.Func | exp.Binary | exp.Unary | exp.Case | exp.If)
        if value and not isinstance(name.parent, exp.Dot | exp.Kwarg | exp.PropertyEQ):
            name.replace(exp.Column(this=name.copy()))


def _is_identifier_chain(node: exp.Expr) -> bool:
    """Whether only identifiers precede a dot, as sqlglot keeps them before a function."""
    while isinstance(node, exp.Dot):
        if not isinstance(node.expression, exp.Identifier):
            return False
        node = node.this
    return isinstance(node, exp.Identifier)


def _compile_dot_base(context: CompileContext, node: exp.Expr) -> ir.Expr:
    if not _is_identifier_chain(node):
        return compile_expression(context, node)
    parts = list(identifiers_of(node))
    names = (*(context.alias_name(part) for part in parts[:-1]), context.column_name(parts[-1]))
    return ir.Ref(names, *context.span_of(*parts))


def identifiers_of(node: exp.Expr) -> Iterator[exp.Expr]:
    """The identifiers of a chain of dots, from the left."""
    if isinstance(node, exp.Dot):
        yield from identifiers_of(node.this)
        yield from identifiers_of(node.expression)
    elif isinstance(node, exp.Identifier):
        yield node


def _method_name(context: CompileContext, node: exp.Expr) -> str:
    return (
        node.name.upper() if isinstance(node, exp.Anonymous) else operator_traits_of(type(node), context.dialect).name
    )


def _compile_qualified_call(context: CompileContext, base: exp.Expr, function: exp.Expr) -> ir.Expr:
    """A user-defined function with its schema: a call, and a value of its arguments."""
    parts = list(identifiers_of(base))
    arguments = compile_expression(context, function)
    args = arguments.args if isinstance(arguments, ir.Call) else (arguments,)
    own = context.fold_table(function.name if isinstance(function, exp.Anonymous) else type(function).__name__)
    names = (*(context.table_name(part) for part in parts), own)
    start, end = context.span_of(*parts)
    context.add_call(ir.Invocation(ir.Name(names, own, start, end), args))
    return ir.Routine(names, ir.Call(".".join(names).upper(), args))


def compile_bracket(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """An element of an array, a map or a document."""
    keys = node.expressions
    if len(keys) > 1 and isinstance(node.this, exp.Column) and node.this.sql().upper() == "MAP":  # Flink: `MAP['k', v]`
        return ir.Call("MAP", compile_expressions(context, keys))
    base = compile_expression(context, node.this)
    keys = [unwrap_text(key) for key in keys]
    if all(isinstance(key, exp.Literal) for key in keys):
        counted = [f"[{key.name}{_subscript_mode(node)}]" for key in keys if not key.args.get("is_string")]
        return ir.Field(base, tuple(key.name if key.args.get("is_string") else "[]" for key in keys), "".join(counted))
    return ir.Call("ELEMENT", (base, *compile_expressions(context, keys)), ir.KEEPING)


def _subscript_mode(node: exp.Expr) -> str:
    """How elements are counted, and whether a missing one is null."""
    offset = node.args.get("offset")
    return (f" from {offset}" if offset else "") + (" safe" if node.args.get("safe") else "")


def compile_document_path(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A path into a JSON document."""
    path = unwrap_path(context, node)
    keys = _path_keys(path)
    if keys is None:
        return compile_generic_call(context, node)
    known = operator_traits_of(type(node), context.dialect)
    field = ir.Field(compile_expression(context, node.this), keys, _element_path(path))
    return ir.Call(known.name, (field,), known.traits, known.result)


def unwrap_text(node: exp.Expr | None) -> exp.Expr | None:
    """PostgreSQL: the constant in `('a'::text)`, as it prints all of them (docs: pg_get_viewdef)."""
    inner = node
    while isinstance(inner, exp.Paren) or (isinstance(inner, exp.Cast) and _is_text_type(inner.to)):
        inner = inner.this
    return inner if isinstance(inner, exp.Literal) else node


def _is_text_type(kind: exp.Expr) -> bool:
    """A type of texts, or of arrays of them, such as the path in `#> '{a,b}'::text[]`."""
    member = kind.expressions[0] if kind.args.get("nested") and len(kind.expressions) == 1 else kind
    return isinstance(member, exp.DataType) and member.this in exp.DataType.TEXT_TYPES


def unwrap_path(context: CompileContext, node: exp.Expr) -> exp.Expr | None:
    """The path of a JSON function, read as the parser reads a constant that stands there alone."""
    path = node.args.get("expression") or node.args.get("path")
    constant = unwrap_text(path)
    if constant is path or not isinstance(node, exp.JSONExtract | exp.JSONExtractScalar):
        return constant
    return get_sqlglot_dialect(context.traits.grammar or context.traits.name).to_json_path(constant)


def _unwrap_path_arguments(nodes: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The arguments of a path function: constants without casts, and `VARIADIC ARRAY['a', 'b']` as the list it is."""
    listed = list(nodes)
    if listed and isinstance(listed[-1], exp.Variadic) and isinstance(listed[-1].this, exp.Array):
        listed[-1:] = listed[-1].this.expressions
    return [*listed[:1], *(item for node in listed[1:] if (item := unwrap_text(node)) is not None)]


def _element_path(path: exp.Expr | None) -> str:
    """The path itself if it leads through array elements, which have no names."""
    if isinstance(path, exp.JSONPath):
        plain = all(isinstance(part, exp.JSONPathKey | exp.JSONPathRoot) for part in path.expressions)
        if any(isinstance(part.args.get("this"), Decimal) for part in path.expressions):
            raise MalformedTree("a path to an element beyond all that can be counted")
        return "" if plain else f"[{path.sql()}]"
    text = path.name if isinstance(path, exp.Literal) else ""
    return f"[{text}]" if "[" in text or any(map(str.isdigit, text)) else ""


def _path_keys(path: exp.Expr | None) -> tuple[str, ...] | None:
    """The names along a path, or None if it is known only at run time."""
    if isinstance(path, exp.JSONPath):
        return tuple(str(part.name) for part in path.expressions if isinstance(part, exp.JSONPathKey))
    return split_path([path.name]) if isinstance(path, exp.Literal) else None


def split_path(texts: Sequence[str]) -> tuple[str, ...]:
    """The names along a path that is written as `$.a.b`, as `{a,b}` or as separate names."""
    names: list[str] = []
    for text in texts:
        if text.startswith("{") and text.endswith("}"):
            names.extend(part.strip() for part in text[1:-1].split(","))
            continue
        dollar = text.lstrip().startswith("$")
        plain = text.replace("strict ", "").replace("lax ", "").strip().removeprefix("$")
        parts = plain.replace("[", ".[").split(".") if dollar or "." in plain or "[" in plain else [plain]
        names.extend(part.strip("\"'") for part in parts if part and not part.startswith("["))
    return tuple(name for name in names if name and not name.isdigit())


def compile_struct(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A struct: each member under its name, or the name of the column that it is."""
    members = tuple(_compile_member(context, item) for item in node.expressions)
    document = isinstance(node, exp.JSONObject) and context.traits.json_documents
    return ir.Call("STRUCT", members, 0, "JSON" if document else "")


def _compile_member(context: CompileContext, node: exp.Expr) -> ir.Expr:
    if isinstance(node, exp.PropertyEQ | exp.Alias | exp.JSONKeyValue):
        value = node.this if isinstance(node, exp.Alias) else node.expression
        key = node.args["alias"] if isinstance(node, exp.Alias) else node.this
        name = context.column_name(key) if isinstance(key, exp.Identifier) else key.name
        return ir.Call("MEMBER", (ir.Literal("word", name), compile_expression(context, value)))
    compiled = compile_expression(context, node)
    if isinstance(compiled, ir.Ref):
        return ir.Call("MEMBER", (ir.Literal("word", compiled.parts[-1]), compiled))
    if isinstance(compiled, ir.Whole):
        return compiled
    return ir.Call("MEMBER", (ir.Literal("word", ""), compiled))


def compile_star_document(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """Snowflake: OBJECT_CONSTRUCT(*), the row as a document."""
    return ir.Call("STRUCT", (compile_expression(context, node.this),))


def compile_anonymous_function(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A function that sqlglot does not know by name."""
    op = node.name.upper()
    nodes = read_leading_unit(op, node.expressions[op in functions.OBJECT_NAME_FUNCTIONS :])
    if op == context.traits.row_function and len(nodes) == 1 and type(nodes[0]) is exp.Column:
        return ir.Whole((context.alias_name(nodes[0].this),), *context.span_of(nodes[0].this))
    if op in functions.PAIR_FUNCTIONS and nodes and len(nodes) % 2 == 0:
        pairs = zip(nodes[::2], nodes[1::2], strict=True)
        members = tuple(_compile_pair(context, key, value) for key, value in pairs)
        return ir.Call("STRUCT", members, 0, functions.DOCUMENT_TYPES.get(op, ""))
    if op == "ROW" and (called := context.traits.row_member_names) and nodes:
        words = (ir.Literal("word", called.format(at)) for at in range(1, len(nodes) + 1))
        pairs = zip(words, compile_expressions(context, nodes), strict=True)
        return ir.Call("STRUCT", tuple(ir.Call("MEMBER", pair) for pair in pairs), 0, "RECORD")
    if op in functions.MEMBER_ADDING_FUNCTIONS:
        return ir.Call("STRUCT", tuple(_compile_added_member(context, item) for item in nodes))
    way = _unwrap_path_arguments(nodes)[1:] if op in functions.PATH_FUNCTIONS else []
    if way and all(isinstance(item, exp.Literal) for item in way):
        way = way[:1] if op in functions.TYPED_PATH_FUNCTIONS else way
        texts = [item.name for item in way]
        path = tuple(texts) if op == "TUPLEELEMENT" else split_path(texts)
        field = ir.Field(compile_expression(context, nodes[0]), path)
        others = compile_expressions(context, nodes[1 + len(way) :])
        return ir.Call(op, (field, *others), function_traits_of(op) | ir.KEEPING)
    if op in functions.AS_TYPE_FUNCTIONS and len(nodes) == 1 and isinstance(nodes[0], exp.Alias):
        kind = parse_type(nodes[0].alias, context.dialect)
        return ir.Cast(compile_expression(context, nodes[0].this), kind, op.startswith("TRY"))
    if is_lookup_function(context, op) and (found := compile_lookup(context, node)) is not None:
        return found
    traits = function_traits_of(op)
    if (
        not traits and not context.traits.transact_sql
    ):  # T-SQL: a function of the user's own has a schema before its name
        name = ir.Name((context.fold_table(node.name),), canonical_function_name(op), *context.span_of(node))
        context.add_call(ir.Invocation(name))
    return ir.Call(
        canonical_function_name(op), tuple([compile_assigned_value(context, item) for item in nodes]), traits
    )


def _compile_added_member(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """What a struct gets: a member under its name, or all members of another struct."""
    return _compile_member(context, node) if isinstance(node, exp.PropertyEQ) else compile_expression(context, node)


def _compile_pair(context: CompileContext, key: exp.Expr, value: exp.Expr) -> ir.Expr:
    constant = unwrap_text(key)
    name = constant.name if isinstance(constant, exp.Literal) else ""
    return ir.Call("MEMBER", (ir.Literal("word", name), compile_expression(context, value)))


def compile_combined_aggregate(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """ClickHouse: `sumIf(v, c)`, an aggregate with a condition as its last argument."""
    op, args = node.name.upper(), compile_expressions(context, node.expressions)
    if op.endswith("IF") and len(args) > 1:
        return ir.Call("FILTER", (ir.Call(op[:-2], args[:-1], function_traits_of(op[:-2]) | ir.AGGREGATE), args[-1]))
    return ir.Call(op, args, function_traits_of(op) | ir.AGGREGATE)


def compile_parameterized_aggregate(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """ClickHouse: `quantiles(0.5, 0.9)(v)`, an aggregate with parameters, which follow its arguments in the IR."""
    op = str(getattr(node.this, "name", node.this)).upper()
    args, settings = (
        compile_expressions(context, node.args.get("params") or ()),
        compile_expressions(context, node.expressions),
    )
    if op.endswith("IF") and len(args) > 1:
        inner = ir.Call(op[:-2], (*args[:-1], *settings), function_traits_of(op[:-2]) | ir.AGGREGATE)
        return ir.Call("FILTER", (inner, args[-1]))
    return ir.Call(op, (*args, *settings), function_traits_of(op) | ir.AGGREGATE)


def compile_comprehension(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """DuckDB: `[x + 1 for x in list if x > 0]`."""
    names = (context.column_name(node.expression),)
    parts = [ir.Lambda(names, compile_expression(context, node.this))]
    condition = node.args.get("condition")
    if isinstance(condition, exp.Expr):
        parts.append(ir.Lambda(names, compile_expression(context, condition)))
    return ir.Call("COMPREHENSION", (compile_expression(context, node.args["iterator"]), *parts))


def compile_apply(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """ClickHouse: `* APPLY f`, a function, by name or as a lambda, of each column in turn."""
    inner = compile_apply(context, node.this) if isinstance(node.this, exp.Apply) else ir.STAR_COLUMN
    function = node.args.get("expression")
    if not isinstance(function, exp.Expr):
        raise MalformedTree("an APPLY without a function")
    if isinstance(function, exp.Lambda):
        return ir.Call("APPLY", (inner, compile_expression(context, function)))
    name = function.name.upper()
    known = operator_traits_of(type(exp.func(name, exp.Star())), context.dialect)
    return ir.Call(known.name if known.name != "ANONYMOUS" else name, (inner,), known.traits, known.result)


def compile_columns_function(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """COLUMNS(…): the current column; with a star before it, all of them as arguments."""
    if not node.args.get("unpack"):
        return ir.STAR_COLUMN
    listed = node.this.expressions if isinstance(node.this, exp.Array) else ()
    if not listed or not all(isinstance(item, exp.Literal) for item in listed):
        return ir.Whole((), *context.span_of(node))
    place = context.span_of(node)
    return ir.Call("UNPACKED", tuple(ir.Ref((context.fold_column(item.name),), *place) for item in listed))
