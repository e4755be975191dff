"""Expressions: from sqlglot's trees to canonical, alias-free ones. `EXPRESSIONS` says who compiles what."""

from collections.abc import Callable, Sequence

from sqlglot import exp

from lineage_pipeline.dialects.typing.tsql import VARIABLES
from lineage_pipeline.engine.compile import documents
from lineage_pipeline.engine.compile.aliases import stands_for, written_out
from lineage_pipeline.engine.compile.constants import difference, typed_constant
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.leftovers import frame
from lineage_pipeline.engine.compile.types import spelling
from lineage_pipeline.engine.compile.units import timed
from lineage_pipeline.engine.compile.walk import COMPILERS, call, expression, expressions, optional, subquery
from lineage_pipeline.vocabulary import ir

__all__ = ["EXPRESSIONS", "expression", "expressions", "optional"]

NULL = ir.Literal("null", "NULL")


def column(context: Context, node: exp.Expr) -> ir.Expr:
    """A reference; a star in an expression stands for the whole row."""
    args = node.args
    name = args["this"]
    if type(name) is exp.Identifier and args.get("db") is None:  # most of them
        table = args.get("table")
        if table is None:
            folded = context.column(name)
            if folded in context.named and stands_for(context, name):
                return written_out(context, folded)
            return ir.Ref((folded,), *context.place_of(name))
        return context.reference(table, name)
    identifiers = [part for key in ("catalog", "db", "table", "this") if (part := node.args.get(key)) is not None]
    last = identifiers[-1]
    if isinstance(last, exp.Star):
        qualifier = tuple(context.alias(part) for part in identifiers[:-1])
        return ir.Whole(qualifier, *context.place(*identifiers), _left_out(context, last))
    parts = [context.alias(part) for part in identifiers[:-1]]
    if isinstance(last, exp.Parameter):
        return variable(context, last, *parts)
    return ir.Ref((*parts, context.column(last)), *context.stretch(identifiers[0], last))


def literal(context: Context, node: exp.Expr) -> ir.Expr:
    """A number or a string."""
    return ir.Literal("string" if node.args.get("is_string") else "number", str(node.this))


def constant(kind: str) -> Callable[[Context, exp.Expr], ir.Expr]:
    """A compiler of constants of one class."""
    return lambda context, node: ir.Literal(kind, str(node.this).upper() if node.args.get("this") is not None else kind)


def word(context: Context, node: exp.Expr) -> ir.Expr:
    """A keyword, a type or a unit among arguments."""
    return ir.Literal("word", node.name.upper() or type(node).__name__.upper())


def next_value(context: Context, node: exp.Expr) -> ir.Expr:
    """The next value of a sequence: its name is none of a column, and in which order rows get theirs is no value."""
    return ir.Call("NEXTVALUEFOR", (ir.Literal("string", node.this.sql(context.dialect, comments=False).lower()),))


def data_type(context: Context, node: exp.Expr) -> ir.Expr:
    """A type among arguments."""
    return ir.Literal("word", spelling(node, context.dialect))


def cast(context: Context, node: exp.Expr) -> ir.Expr:
    """A conversion."""
    kind = node.args["to"]
    if context.traits.batches and kind.args.get("this") is exp.DType.TEXT and "nested" not in kind.args:
        return expression(context, node.this)  # LEN, LEFT and RIGHT: the parser puts it there, nobody wrote it
    safe = isinstance(node, exp.TryCast) or bool(node.args.get("safe"))
    to = spelling(kind, context.dialect)
    written = typed_constant(context, node.this) if type(node.this) is exp.Literal else None
    return ir.Cast(written or expression(context, node.this), to, safe and written is None)


def inner(context: Context, node: exp.Expr) -> ir.Expr:
    """What stands inside brackets, an alias or an ordering."""
    return expression(context, node.this)


def case(context: Context, node: exp.Expr) -> ir.Expr:
    """CASE: with an operand, each condition compares it."""
    operand = optional(context, node.args.get("this"))
    whens = []
    for branch in node.args.get("ifs") or ():
        condition = expression(context, branch.this)
        if operand is not None:
            condition = ir.Call("EQ", (operand, condition), 0, "BOOLEAN")
        whens.append((condition, expression(context, branch.args["true"])))
    return ir.Case(tuple(whens), optional(context, node.args.get("default")))


def if_(context: Context, node: exp.Expr) -> ir.Expr:
    """IF, IIF, IFF and the like."""
    condition = expression(context, node.this)
    if type(node.this) is exp.Boolean:  # nobody looks through IF(true, …), as they do through CASE WHEN true
        condition = ir.Call("PAREN", (condition,))
    return ir.Case(((condition, expression(context, node.args["true"])),), optional(context, node.args.get("false")))


def decode(context: Context, node: exp.Expr) -> ir.Expr:
    """DECODE: an operand, values with results, and what holds otherwise."""
    operand, *rest = expressions(context, node.expressions)
    pairs = zip(rest[::2], rest[1::2], strict=False)
    whens = tuple((ir.Call("NULLSAFEEQ", (operand, value), 0, "BOOLEAN"), result) for value, result in pairs)
    return ir.Case(whens, rest[-1] if len(rest) % 2 else None)


def nvl2(context: Context, node: exp.Expr) -> ir.Expr:
    """NVL2: one value where the first argument is known, another where it is not."""
    known = ir.Call("NOT", (ir.Call("IS", (expression(context, node.this), NULL), 0, "BOOLEAN"),), 0, "BOOLEAN")
    return ir.Case(((known, expression(context, node.args["true"])),), optional(context, node.args.get("false")))


def in_(context: Context, node: exp.Expr) -> ir.Expr:
    """IN over a list, a query or an array."""
    left = expression(context, node.this)
    query = node.args.get("query")
    if query is not None:
        return subquery(context, query, "in", left)
    array = node.args.get("unnest") or node.args.get("field")
    rest = expressions(context, [array] if array is not None else node.expressions)
    return ir.Call("IN", (left, *rest), 0, "BOOLEAN")


def exists(context: Context, node: exp.Expr) -> ir.Expr:
    """EXISTS over a query, or over an array with a predicate."""
    if isinstance(node.this, exp.Query):
        return subquery(context, node.this, "exists")
    return call(context, node)


def window(context: Context, node: exp.Expr) -> ir.Expr:
    """A function over a window; a named window is looked up, and what is said here is added to it."""
    partition = tuple(node.args.get("partition_by") or ())
    order = node.args.get("order")
    spec = node.args.get("spec")
    named = node.args.get("alias")
    for _ in context.windows:  # a window may build on another, and so on
        base = context.windows.get(named.name.lower()) if named is not None else None
        if base is None:
            break
        partition = partition or tuple(base.args.get("partition_by") or ())
        order = order or base.args.get("order")
        spec = spec or base.args.get("spec")
        named = base.args.get("alias")
    return ir.Over(
        expression(context, node.this),
        expressions(context, partition),
        expressions(context, order.expressions if order is not None else ()),
        " ".join(
            filter(
                None,
                (
                    directions(order.expressions) if order is not None else "",
                    frame(spec, order is not None),
                    _kept(node),
                ),
            )
        ),
    )


def _kept(node: exp.Expr) -> str:
    """KEEP (DENSE_RANK FIRST …): the rows that an aggregate takes of an order."""
    over = str(node.args.get("over") or "OVER").upper()
    return f"{over} {'FIRST' if node.args.get('first') else 'LAST'}" if over != "OVER" else ""


def ordered(context: Context, node: exp.Expr) -> ir.Expr:
    """An order inside of an aggregate."""
    made, ways = call(context, node), directions(node.expressions)
    return ir.Call(f"{made.op}:{ways}", made.args, made.traits) if ways and isinstance(made, ir.Call) else made


def directions(keys: Sequence[exp.Expr]) -> str:
    """Which way the keys of an order go; nothing where all go up."""
    ways = [("desc" if key.args.get("desc") else "asc", bool(key.args.get("nulls_first"))) for key in keys]
    if all(way == ("asc", False) for way in ways):
        return ""
    return ", ".join(f"{way} nulls first" if nulls else way for way, nulls in ways)


def lambda_(context: Context, node: exp.Expr) -> ir.Expr:
    """An anonymous function."""
    names = tuple(context.column(parameter) for parameter in node.expressions)
    return ir.Lambda(names, expression(context, node.this))


def _left_out(context: Context, star_node: exp.Expr) -> tuple[str, ...]:
    listed = star_node.args.get("except_") or ()
    return tuple(context.column(item.this) for item in listed if isinstance(item.this, exp.Expr))


def variable(context: Context, node: exp.Expr, *qualifier: str) -> ir.Expr:
    """A variable, a parameter or a hole for one; in some dialects `$1` is the first column."""
    if context.traits.positions and isinstance(node.this, exp.Literal):
        return ir.Ref((*qualifier, f"${node.this.name}"), *context.place(node if "start" in node.meta else node.this))
    inner_node = node.this if isinstance(node.this, exp.Expr) else None
    start, end = context.place(node if "start" in node.meta else inner_node)
    name = context.variable(node)
    if context.traits.batches and isinstance(inner_node, exp.Parameter):  # @@ROWCOUNT: nobody declares it
        return ir.Variable(name, start, end, VARIABLES.get(inner_node.name.upper(), ""))
    return ir.Variable(name, start, end, context.declared.get(name, ""))


def star(context: Context, node: exp.Expr) -> ir.Expr:
    """A star among arguments."""
    return ir.Whole((), *context.place(node), _left_out(context, node))


def tuple_(context: Context, node: exp.Expr) -> ir.Expr:
    """A row value; one of one part is that part."""
    parts = expressions(context, node.expressions)
    return parts[0] if len(parts) == 1 else ir.Call("TUPLE", parts)


def quantified(context: Context, node: exp.Expr) -> ir.Expr:
    """ANY, ALL or ARRAY over a query."""
    query = node.this if isinstance(node.this, exp.Query) else next(iter(node.expressions), None)
    if isinstance(query, exp.Query):
        mode = "array" if isinstance(node, exp.Array) else "compare all" if isinstance(node, exp.All) else "compare"
        return subquery(context, query, mode)
    return call(context, node)


EXPRESSIONS: dict[type[exp.Expr], Callable[[Context, exp.Expr], ir.Expr]] = {
    exp.Alias: inner,
    exp.All: quantified,
    exp.Anonymous: documents.anonymous,
    exp.AnonymousAggFunc: documents.anonymous,
    exp.Any: quantified,
    exp.Apply: documents.applied,
    exp.Array: quantified,
    exp.Boolean: constant("boolean"),
    exp.Bracket: documents.bracket,
    exp.Case: case,
    exp.Cast: cast,
    exp.Column: column,
    exp.Columns: documents.hole,
    exp.CombinedAggFunc: documents.combined,
    exp.CombinedParameterizedAgg: documents.parameterized,
    exp.Comprehension: documents.comprehension,
    exp.DataType: data_type,
    exp.DateAdd: timed,
    exp.DateDiff: difference,
    exp.DateTrunc: timed,
    exp.DecodeCase: decode,
    exp.Dot: documents.dot,
    exp.Exists: exists,
    exp.If: if_,
    exp.In: in_,
    exp.Interval: call,
    exp.NextValueFor: next_value,
    exp.GetExtract: documents.document_path,
    exp.JSONBExtract: documents.document_path,
    exp.JSONBExtractScalar: documents.document_path,
    exp.JSONExtract: documents.document_path,
    exp.JSONExtractScalar: documents.document_path,
    exp.JSONObject: documents.struct,
    exp.JSONValue: documents.document_path,
    exp.Lambda: lambda_,
    exp.Literal: literal,
    exp.Null: lambda context, node: NULL,
    exp.Nvl2: nvl2,
    exp.Order: ordered,
    exp.Ordered: inner,
    exp.Parameter: variable,
    exp.ParameterizedAgg: documents.parameterized,
    exp.Paren: inner,
    exp.Placeholder: variable,
    exp.PositionalColumn: lambda context, node: ir.Ref((f"#{node.name}",), *context.place(node.this)),
    exp.SessionParameter: variable,
    exp.Star: star,
    exp.StarMap: documents.star_document,
    exp.Struct: documents.struct,
    exp.StructExtract: documents.document_path,
    exp.TimestampDiff: timed,
    exp.TryCast: cast,
    exp.Tuple: tuple_,
    exp.Var: word,
    exp.Window: window,
}

COMPILERS.update(EXPRESSIONS)
