"""Structs, arrays and documents: how they are built, and the ways into them."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.named import is_lookup, looked_up
from lineage_pipeline.engine.compile.operators import function_name, operator, traits_of_name
from lineage_pipeline.engine.compile.types import written_type
from lineage_pipeline.engine.compile.units import without_unit
from lineage_pipeline.engine.compile.walk import assigned_value, call, expression, expressions
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.vocabulary import ir


def dot(context: Context, node: exp.Expr) -> ir.Expr:
    """A member of a struct, a method called on a value, or a function with the name of its schema."""
    base, member = node.this, node.expression
    if base is None:
        raise MalformedTree("a dot without a name before it")
    if isinstance(member, exp.Func) and _is_schema(base) and member.name.upper() not in functions.METHODS:
        return _qualified_call(context, base, member)
    value = _base(context, base)
    if isinstance(member, exp.Identifier):
        name = context.column(member)
        if isinstance(value, ir.Ref):
            end = context.place(member)[1]
            if end == ir.NOWHERE or ")" in context.text[context.origin + value.end : context.origin + end]:
                end = value.end  # `(c).city`: half a bracket is no place
            return ir.Ref((*value.parts, name), value.start, end)
        return ir.Field(value, (name,))
    if member is None:
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct="a dot without a name behind it")
    if member is None or isinstance(member, exp.Star):
        return value
    if isinstance(member, exp.Literal):  # the first member of a tuple, by its number
        return ir.Field(value, (member.name,))
    return ir.Call(f"METHOD {_method(context, member)}", (value, *expressions(context, member.expressions)))


def _is_schema(node: exp.Expr) -> bool:
    """Whether nothing but names stands before a dot, as sqlglot keeps them before a function."""
    while isinstance(node, exp.Dot):
        if not isinstance(node.expression, exp.Identifier):
            return False
        node = node.this
    return isinstance(node, exp.Identifier)


def _base(context: Context, node: exp.Expr) -> ir.Expr:
    if not _is_schema(node):
        return expression(context, node)
    parts = list(identifiers(node))
    names = (*(context.alias(part) for part in parts[:-1]), context.column(parts[-1]))
    return ir.Ref(names, *context.place(*parts))


def identifiers(node: exp.Expr) -> Iterator[exp.Expr]:
    """The names of a chain of dots, from the left."""
    if isinstance(node, exp.Dot):
        yield from identifiers(node.this)
        yield from identifiers(node.expression)
    elif isinstance(node, exp.Identifier):
        yield node


def _method(context: Context, node: exp.Expr) -> str:
    return node.name.upper() if isinstance(node, exp.Anonymous) else operator(type(node), context.dialect).name


def _qualified_call(context: Context, base: exp.Expr, function: exp.Expr) -> ir.Expr:
    """A function of the user's own: a call, and a value made of its arguments."""
    parts = list(identifiers(base))
    arguments = expression(context, function)
    args = arguments.args if isinstance(arguments, ir.Call) else (arguments,)
    own = context.fold_table(function.name if isinstance(function, exp.Anonymous) else type(function).__name__)
    names = (*(context.table(part) for part in parts), own)
    start, end = context.place(*parts)
    context.invoke(ir.Invocation(ir.Name(names, own, start, end), args))
    return ir.Routine(names, ir.Call(".".join(names).upper(), args))


def bracket(context: Context, node: exp.Expr) -> ir.Expr:
    """An element of an array, a map or a document."""
    keys = node.expressions
    if len(keys) > 1 and isinstance(node.this, exp.Column) and node.this.sql().upper() == "MAP":  # Flink: `MAP['k', v]`
        return ir.Call("MAP", expressions(context, keys))
    base = expression(context, node.this)
    if all(isinstance(key, exp.Literal) for key in keys):
        counted = [f"[{key.name}{_counting(node)}]" for key in keys if not key.args.get("is_string")]
        return ir.Field(base, tuple(key.name if key.args.get("is_string") else "[]" for key in keys), "".join(counted))
    return ir.Call("ELEMENT", (base, *expressions(context, keys)), ir.KEEPING)


def _counting(node: exp.Expr) -> str:
    """How elements are counted, and whether one that is not there is null."""
    offset = node.args.get("offset")
    return (f" from {offset}" if offset else "") + (" safe" if node.args.get("safe") else "")


def document_path(context: Context, node: exp.Expr) -> ir.Expr:
    """A path into a JSON document."""
    path = node.args.get("expression") or node.args.get("path")
    keys = _keys(path)
    if keys is None:
        return call(context, node)
    known = operator(type(node), context.dialect)
    field = ir.Field(expression(context, node.this), keys, _elements(path))
    return ir.Call(known.name, (field,), known.traits, known.result)


def _elements(path: exp.Expr | None) -> str:
    """The way itself where it leads through elements of arrays, which have no names."""
    if isinstance(path, exp.JSONPath):
        plain = all(isinstance(part, exp.JSONPathKey | exp.JSONPathRoot) for part in path.expressions)
        if any(isinstance(part.args.get("this"), Decimal) for part in path.expressions):
            raise MalformedTree("a path to an element beyond all that can be counted")
        return "" if plain else f"[{path.sql()}]"
    text = path.name if isinstance(path, exp.Literal) else ""
    return f"[{text}]" if "[" in text or any(map(str.isdigit, text)) else ""


def _keys(path: exp.Expr | None) -> tuple[str, ...] | None:
    """The names along a path, or None where it is known only when it runs."""
    if isinstance(path, exp.JSONPath):
        return tuple(str(part.name) for part in path.expressions if isinstance(part, exp.JSONPathKey))
    return written_path([path.name]) if isinstance(path, exp.Literal) else None


def written_path(texts: Sequence[str]) -> tuple[str, ...]:
    """The names along a path that is written as `$.a.b`, as `{a,b}` or as one name after the other."""
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


def struct(context: Context, node: exp.Expr) -> ir.Expr:
    """A struct that is built: each member under its name, or the name of the column that it is."""
    members = tuple(_member(context, item) for item in node.expressions)
    document = isinstance(node, exp.JSONObject) and context.traits.family in functions.JSON_OBJECTS
    return ir.Call("STRUCT", members, 0, "JSON" if document else "")


def _member(context: Context, node: exp.Expr) -> ir.Expr:
    if isinstance(node, exp.PropertyEQ | exp.Alias | exp.JSONKeyValue):
        value = node.this if isinstance(node, exp.Alias) else node.expression
        key = node.args["alias"] if isinstance(node, exp.Alias) else node.this
        name = context.column(key) if isinstance(key, exp.Identifier) else key.name
        return ir.Call("MEMBER", (ir.Literal("word", name), expression(context, value)))
    compiled = expression(context, node)
    if isinstance(compiled, ir.Ref):
        return ir.Call("MEMBER", (ir.Literal("word", compiled.parts[-1]), compiled))
    if isinstance(compiled, ir.Whole):
        return compiled
    return ir.Call("MEMBER", (ir.Literal("word", ""), compiled))


def star_document(context: Context, node: exp.Expr) -> ir.Expr:
    """OBJECT_CONSTRUCT(*): the row as a document."""
    return ir.Call("STRUCT", (expression(context, node.this),))


def anonymous(context: Context, node: exp.Expr) -> ir.Expr:
    """A function that sqlglot does not know by name."""
    op = node.name.upper()
    nodes = without_unit(op, node.expressions[op in functions.OF_OBJECTS :])
    if op in functions.PAIRS and nodes and len(nodes) % 2 == 0:
        pairs = zip(nodes[::2], nodes[1::2], strict=True)
        members = tuple(_pair(context, key, value) for key, value in pairs)
        return ir.Call("STRUCT", members, 0, functions.DOCUMENTS.get(op, ""))
    if op == "ROW" and (called := functions.ROWS.get(context.traits.family)) and nodes:
        words = (ir.Literal("word", called.format(at)) for at in range(1, len(nodes) + 1))
        pairs = zip(words, expressions(context, nodes), strict=True)
        return ir.Call("STRUCT", tuple(ir.Call("MEMBER", pair) for pair in pairs), 0, "RECORD")
    if op in functions.ADDING:
        return ir.Call("STRUCT", tuple(_added(context, item) for item in nodes))
    if op in functions.PATHS and len(nodes) > 1 and all(isinstance(item, exp.Literal) for item in nodes[1:]):
        way = nodes[1:2] if op in functions.TYPED_PATHS else nodes[1:]
        field = ir.Field(expression(context, nodes[0]), written_path([item.name for item in way]))
        others = expressions(context, nodes[1 + len(way) :])
        return ir.Call(op, (field, *others), traits_of_name(op) | ir.KEEPING)
    if op in functions.READING and len(nodes) == 1 and isinstance(nodes[0], exp.Alias):
        kind = written_type(nodes[0].alias, context.dialect)
        return ir.Cast(expression(context, nodes[0].this), kind, op.startswith("TRY"))
    if is_lookup(context, op) and (found := looked_up(context, node)) is not None:
        return found
    traits = traits_of_name(op)
    if not traits and not context.traits.batches:  # T-SQL: a function of the user's own has a schema before its name
        name = ir.Name((context.fold_table(node.name),), function_name(op), *context.place(node))
        context.invoke(ir.Invocation(name))
    return ir.Call(function_name(op), tuple([assigned_value(context, item) for item in nodes]), traits)


def _added(context: Context, node: exp.Expr) -> ir.Expr:
    """What a struct gets: a member under its name, or all of another struct."""
    return _member(context, node) if isinstance(node, exp.PropertyEQ) else expression(context, node)


def _pair(context: Context, key: exp.Expr, value: exp.Expr) -> ir.Expr:
    name = key.name if isinstance(key, exp.Literal) else ""
    return ir.Call("MEMBER", (ir.Literal("word", name), expression(context, value)))


def combined(context: Context, node: exp.Expr) -> ir.Expr:
    """`sumIf(v, c)`: an aggregate with a condition as its last argument."""
    op, args = node.name.upper(), expressions(context, node.expressions)
    if op.endswith("IF") and len(args) > 1:
        return ir.Call("FILTER", (ir.Call(op[:-2], args[:-1], traits_of_name(op[:-2]) | ir.AGGREGATE), args[-1]))
    return ir.Call(op, args, traits_of_name(op) | ir.AGGREGATE)


def parameterized(context: Context, node: exp.Expr) -> ir.Expr:
    """`quantiles(0.5, 0.9)(v)`: an aggregate that is set to something, which stands behind its arguments."""
    op = str(getattr(node.this, "name", node.this)).upper()
    args, settings = expressions(context, node.args.get("params") or ()), expressions(context, node.expressions)
    if op.endswith("IF") and len(args) > 1:
        inner = ir.Call(op[:-2], (*args[:-1], *settings), traits_of_name(op[:-2]) | ir.AGGREGATE)
        return ir.Call("FILTER", (inner, args[-1]))
    return ir.Call(op, (*args, *settings), traits_of_name(op) | ir.AGGREGATE)


def comprehension(context: Context, node: exp.Expr) -> ir.Expr:
    """`[x + 1 for x in list if x > 0]`: what is made of the elements of a list, under a condition."""
    names = (context.column(node.expression),)
    parts = [ir.Lambda(names, expression(context, node.this))]
    condition = node.args.get("condition")
    if isinstance(condition, exp.Expr):
        parts.append(ir.Lambda(names, expression(context, condition)))
    return ir.Call("COMPREHENSION", (expression(context, node.args["iterator"]), *parts))


def applied(context: Context, node: exp.Expr) -> ir.Expr:
    """`* APPLY f`: a function, by its name or written out, of the column in turn."""
    inner = applied(context, node.this) if isinstance(node.this, exp.Apply) else ir.HOLE
    function = node.args.get("expression")
    if not isinstance(function, exp.Expr):
        raise MalformedTree("an APPLY without a function")
    if isinstance(function, exp.Lambda):
        return ir.Call("APPLY", (inner, expression(context, function)))
    name = function.name.upper()
    known = operator(type(exp.func(name, exp.Star())), context.dialect)
    return ir.Call(known.name if known.name != "ANONYMOUS" else name, (inner,), known.traits, known.result)


def hole(context: Context, node: exp.Expr) -> ir.Expr:
    """COLUMNS(…): the column in turn; with a star before it, all of them as arguments."""
    if not node.args.get("unpack"):
        return ir.HOLE
    listed = node.this.expressions if isinstance(node.this, exp.Array) else ()
    if not listed or not all(isinstance(item, exp.Literal) for item in listed):
        return ir.Whole((), *context.place(node))
    place = context.place(node)
    return ir.Call("UNPACKED", tuple(ir.Ref((context.fold_column(item.name),), *place) for item in listed))
