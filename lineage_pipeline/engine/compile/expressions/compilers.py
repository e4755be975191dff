"""Expression compilers: columns, literals, casts, CASE, windows and variables. `EXPRESSIONS` is the table of all."""

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.expressions import structs
from lineage_pipeline.engine.compile.expressions.data_types import spell_type
from lineage_pipeline.engine.compile.expressions.date_functions import compile_date_difference, compile_date_function
from lineage_pipeline.engine.compile.expressions.dispatch import (
    EXPRESSION_COMPILERS,
    compile_expression,
    compile_expressions,
    compile_generic_call,
    compile_optional,
    compile_subquery_expression,
)
from lineage_pipeline.engine.compile.expressions.modifiers import window_frame_text
from lineage_pipeline.model import ir

__all__ = ["EXPRESSIONS"]

_MAX_EXPANSIONS = 500
"""Aliases that refer to each other could double a statement without end."""


def select_aliases_of(context: CompileContext, node: exp.Expr) -> dict[str, exp.Expr]:
    """The aliases that a select defines anywhere except in its subqueries."""
    found: dict[str, exp.Expr] = {}
    pending = [*node.expressions, *(node.args.get(key) for key in ("where", "prewhere", "having", "order", "group"))]
    while pending:
        item = pending.pop(0)
        if not isinstance(item, exp.Expr) or isinstance(item, exp.Query):
            continue
        if isinstance(item, exp.Alias) and isinstance(item.args.get("alias"), exp.Identifier):
            found.setdefault(context.column_name(item.args["alias"]), item.this)
        pending.extend(item.iter_expressions())
    return found


def is_alias_reference(context: CompileContext, name: exp.Expr) -> bool:
    """Whether a name refers to an alias and not a column: some dialects mark it with a keyword."""
    prefix = context.traits.alias_prefix  # which the parser takes away
    start = context.origin + context.name_span(name)[0] if prefix else 0
    marked = context.text[max(start - len(prefix), 0) : start].upper() == prefix
    return marked and context.expansions < _MAX_EXPANSIONS


def expand_alias(context: CompileContext, name: str) -> ir.Expr:
    """The expression of an alias that hides a column; inside it, the name is the column."""
    outer = context.named
    context.named = {key: node for key, node in outer.items() if key != name}
    context.expansions += 1
    compiled = compile_expression(context, outer[name])
    context.named = outer
    return compiled


_TYPE_BEFORE_STRING = re.compile(r"\b(?:DATE|TIME|TIMESTAMP(?:_\w+)?)\s*$", re.IGNORECASE)
_TYPE_DISTANCE = 24
"""The maximum distance between the start of a type and its string."""


def compile_typed_constant(context: CompileContext, node: exp.Expr) -> ir.Literal | None:
    """Spark, Hive: a typed literal such as `date '2024-01-31'`, `200S` or `1.5BD`, which sqlglot reads as a cast."""
    if not context.traits.types.null_on_failure:
        return None
    start, end = node.meta.get("start", ir.NOWHERE), node.meta.get("end", ir.NOWHERE)
    if start < 0:  # 1.5BD: the only string that nobody wrote
        return ir.Literal("typed", str(node.this)) if node.args.get("is_string") else None
    text = context.text
    if text[start : start + 1] in ("'", '"'):
        typed = _TYPE_BEFORE_STRING.search(text, max(start - _TYPE_DISTANCE, 0), start)
        return ir.Literal("typed", str(node.this)) if typed is not None else None
    if text[end : end + 1].isalpha() and end - start >= len(str(node.this)):
        return ir.Literal("suffixed", str(node.this))
    return None


NULL_LITERAL = ir.Literal("null", "NULL")


def compile_column(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A column reference; a qualified star in an expression is the whole row."""
    args = node.args
    name = args["this"]
    if type(name) is exp.Identifier and args.get("db") is None:  # most of them
        table = args.get("table")
        if table is None:
            folded = context.column_name(name)
            if folded in context.named and is_alias_reference(context, name):
                return expand_alias(context, folded)
            return ir.Ref((folded,), *context.name_span(name))
        return context.column_reference(table, name)
    identifiers = [part for key in ("catalog", "db", "table", "this") if (part := node.args.get(key)) is not None]
    last = identifiers[-1]
    if isinstance(last, exp.Star):
        qualifier = tuple(context.alias_name(part) for part in identifiers[:-1])
        return ir.Whole(qualifier, *context.span_of(*identifiers), _excluded_columns(context, last))
    parts = [context.alias_name(part) for part in identifiers[:-1]]
    if isinstance(last, exp.Parameter):
        return compile_variable(context, last, *parts)
    if isinstance(last, exp.Literal):  # elements of tuples by number: `t.1.2`
        return ir.Ref((*parts, *last.name.split(".")), *context.span_between(identifiers[0], last))
    return ir.Ref((*parts, context.column_name(last)), *context.span_between(identifiers[0], last))


def compile_literal(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A number or a string."""
    return ir.Literal("string" if node.args.get("is_string") else "number", str(node.this))


def build_constant_compiler(kind: str) -> Callable[[CompileContext, exp.Expr], ir.Expr]:
    """A compiler of constants of one kind."""
    return lambda context, node: ir.Literal(kind, str(node.this).upper() if node.args.get("this") is not None else kind)


def compile_keyword(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A keyword, a type or a unit among arguments."""
    return ir.Literal("word", node.name.upper() or type(node).__name__.upper())


def compile_next_value(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """NEXT VALUE FOR a sequence: its name is not a column."""
    return ir.Call("NEXTVALUEFOR", (ir.Literal("string", node.this.sql(context.dialect, comments=False).lower()),))


def compile_data_type(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A type among arguments."""
    return ir.Literal("word", spell_type(node, context.dialect))


def compile_cast(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A conversion."""
    kind = node.args["to"]
    if context.traits.transact_sql and kind.args.get("this") is exp.DType.TEXT and "nested" not in kind.args:
        return compile_expression(context, node.this)  # LEN, LEFT and RIGHT: the parser puts it there, nobody wrote it
    safe = isinstance(node, exp.TryCast) or bool(node.args.get("safe"))
    to = spell_type(kind, context.dialect)
    written = compile_typed_constant(context, node.this) if type(node.this) is exp.Literal else None
    return ir.Cast(written or compile_expression(context, node.this), to, safe and written is None)


def compile_inner(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """The expression inside parentheses, an alias or an ordering."""
    return compile_expression(context, node.this)


def compile_case(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """CASE: with an operand, each condition compares it."""
    operand = compile_optional(context, node.args.get("this"))
    whens = []
    for branch in node.args.get("ifs") or ():
        condition = compile_expression(context, branch.this)
        if operand is not None:
            condition = ir.Call("EQ", (operand, condition), 0, "BOOLEAN")
        whens.append((condition, compile_expression(context, branch.args["true"])))
    return ir.Case(tuple(whens), compile_optional(context, node.args.get("default")))


def compile_if(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """IF, IIF, IFF and the like."""
    condition = compile_expression(context, node.this)
    if type(node.this) is exp.Boolean:  # nobody looks through IF(true, …), as they do through CASE WHEN true
        condition = ir.Call("PAREN", (condition,))
    return ir.Case(
        ((condition, compile_expression(context, node.args["true"])),),
        compile_optional(context, node.args.get("false")),
    )


def compile_decode(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """DECODE: an operand, values with results, and a default."""
    operand, *rest = compile_expressions(context, node.expressions)
    pairs = zip(rest[::2], rest[1::2], strict=False)
    whens = tuple((ir.Call("NULLSAFEEQ", (operand, value), 0, "BOOLEAN"), result) for value, result in pairs)
    return ir.Case(whens, rest[-1] if len(rest) % 2 else None)


def compile_nvl2(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """NVL2: one value if the first argument is not null, another if it is."""
    known = ir.Call(
        "NOT", (ir.Call("IS", (compile_expression(context, node.this), NULL_LITERAL), 0, "BOOLEAN"),), 0, "BOOLEAN"
    )
    return ir.Case(
        ((known, compile_expression(context, node.args["true"])),), compile_optional(context, node.args.get("false"))
    )


def compile_in(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """IN over a list, a query or an array."""
    left = compile_expression(context, node.this)
    query = node.args.get("query")
    if query is not None:
        return compile_subquery_expression(context, query, "in", left)
    array = node.args.get("unnest") or node.args.get("field")
    if context.traits.in_reads_table and isinstance(array, exp.Column) and not _is_scalar_alias(array):
        table = exp.Table(this=array.this, db=array.args.get("table"), catalog=array.args.get("db"))
        rows = exp.Select(expressions=[exp.Star()], from_=exp.From(this=table))
        return compile_subquery_expression(context, rows, "in", left)
    rest = compile_expressions(context, [array] if array is not None else node.expressions)
    return ir.Call("IN", (left, *rest), 0, "BOOLEAN")


def _is_scalar_alias(column: exp.Column) -> bool:
    """ClickHouse: whether a name stands for a value: `WITH [1, 2] AS keys SELECT a IN keys`."""
    select = column.find_ancestor(exp.Select)
    while select is not None and not column.table:
        ctes = select.args["with_"].expressions if select.args.get("with_") else []
        if any(cte.args.get("scalar") and cte.alias == column.name for cte in ctes):
            return True
        if any(isinstance(item, exp.Alias) and item.alias == column.name for item in select.expressions):
            return True
        select = select.find_ancestor(exp.Select)
    return False


def compile_exists(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """EXISTS over a query, or over an array with a predicate."""
    if isinstance(node.this, exp.Query):
        return compile_subquery_expression(context, node.this, "exists")
    return compile_generic_call(context, node)


def compile_window(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A window function; a named window is looked up, and the clauses here are added to it."""
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
        compile_expression(context, node.this),
        compile_expressions(context, partition),
        compile_expressions(context, order.expressions if order is not None else ()),
        " ".join(
            filter(
                None,
                (
                    order_directions_of(order.expressions) if order is not None else "",
                    window_frame_text(spec, order is not None),
                    _keep_clause_text(node),
                ),
            )
        ),
    )


def _keep_clause_text(node: exp.Expr) -> str:
    """Oracle: KEEP (DENSE_RANK FIRST …), the rows of an order that an aggregate takes."""
    over = str(node.args.get("over") or "OVER").upper()
    return f"{over} {'FIRST' if node.args.get('first') else 'LAST'}" if over != "OVER" else ""


def compile_order(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """An ORDER BY inside an aggregate."""
    made, ways = compile_generic_call(context, node), order_directions_of(node.expressions)
    return ir.Call(f"{made.op}:{ways}", made.args, made.traits) if ways and isinstance(made, ir.Call) else made


def compile_percentile(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """DuckDB: `quantile_cont(0.5 ORDER BY x)`, as it prints `percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`."""
    inner = node.this
    if not isinstance(inner, exp.Order):
        return compile_generic_call(context, node)
    share, keys = type(node)(this=inner.this), exp.Order(expressions=inner.expressions)
    return compile_expression(context, exp.WithinGroup(this=share, expression=keys))


def compile_map(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """DuckDB: `MAP {'a': x}['a']` is an element of the map; sqlglot reads a map made of an element of the struct."""
    inner = node.this
    if not (isinstance(inner, exp.Bracket) and isinstance(inner.this, exp.Struct)):
        return compile_generic_call(context, node)
    whole, keys = exp.ToMap(this=inner.this), {name: value for name, value in inner.args.items() if name != "this"}
    return compile_expression(context, exp.Bracket(this=whole, **keys))


def order_directions_of(keys: Sequence[exp.Expr]) -> str:
    """The directions of ORDER BY keys; "" if all are ascending."""
    ways = [("desc" if key.args.get("desc") else "asc", bool(key.args.get("nulls_first"))) for key in keys]
    if all(way == ("asc", False) for way in ways):
        return ""
    return ", ".join(f"{way} nulls first" if nulls else way for way, nulls in ways)


def compile_lambda(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A lambda."""
    names = tuple(context.column_name(parameter) for parameter in node.expressions)
    return ir.Lambda(names, compile_expression(context, node.this))


def _excluded_columns(context: CompileContext, star_node: exp.Expr) -> tuple[str, ...]:
    listed = star_node.args.get("except_") or ()
    return tuple(context.column_name(item.this) for item in listed if isinstance(item.this, exp.Expr))


def compile_variable(context: CompileContext, node: exp.Expr, *qualifier: str) -> ir.Expr:
    """A variable, a parameter or a placeholder; in some dialects `$1` is the first column."""
    if context.traits.positions and isinstance(node.this, exp.Literal):
        return ir.Ref((*qualifier, f"${node.this.name}"), *context.span_of(node if "start" in node.meta else node.this))
    inner_node = node.this if isinstance(node.this, exp.Expr) else None
    start, end = context.span_of(node if "start" in node.meta else inner_node)
    name = context.variable_name(node)
    if context.traits.transact_sql and isinstance(inner_node, exp.Parameter):  # @@ROWCOUNT: nobody declares it
        return ir.Variable(name, start, end, context.traits.server_variables.get(inner_node.name.upper(), ""))
    return ir.Variable(name, start, end, context.declared.get(name, ""))


def compile_star_argument(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A star among arguments."""
    return ir.Whole((), *context.span_of(node), _excluded_columns(context, node))


def compile_tuple(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A row value; one of one part is that part."""
    parts = compile_expressions(context, node.expressions)
    return parts[0] if len(parts) == 1 else ir.Call("TUPLE", parts)


def compile_quantified(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """ANY, ALL or ARRAY over a query."""
    query = node.this if isinstance(node.this, exp.Query) else next(iter(node.expressions), None)
    if isinstance(query, exp.Query):
        mode = "array" if isinstance(node, exp.Array) else "compare all" if isinstance(node, exp.All) else "compare"
        return compile_subquery_expression(context, query, mode)
    return compile_generic_call(context, node)


EXPRESSIONS: dict[type[exp.Expr], Callable[[CompileContext, exp.Expr], ir.Expr]] = {
    exp.Alias: compile_inner,
    exp.All: compile_quantified,
    exp.Anonymous: structs.compile_anonymous_function,
    exp.AnonymousAggFunc: structs.compile_anonymous_function,
    exp.Any: compile_quantified,
    exp.Apply: structs.compile_apply,
    exp.Array: compile_quantified,
    exp.Boolean: build_constant_compiler("boolean"),
    exp.Bracket: structs.compile_bracket,
    exp.Case: compile_case,
    exp.Cast: compile_cast,
    exp.Column: compile_column,
    exp.Columns: structs.compile_columns_function,
    exp.CombinedAggFunc: structs.compile_combined_aggregate,
    exp.CombinedParameterizedAgg: structs.compile_parameterized_aggregate,
    exp.Comprehension: structs.compile_comprehension,
    exp.DataType: compile_data_type,
    exp.DateAdd: compile_date_function,
    exp.DateDiff: compile_date_difference,
    exp.DateTrunc: compile_date_function,
    exp.DecodeCase: compile_decode,
    exp.Dot: structs.compile_dot,
    exp.Exists: compile_exists,
    exp.If: compile_if,
    exp.In: compile_in,
    exp.Interval: compile_generic_call,
    exp.NextValueFor: compile_next_value,
    exp.GetExtract: structs.compile_document_path,
    exp.JSONBExtract: structs.compile_document_path,
    exp.JSONBExtractScalar: structs.compile_document_path,
    exp.JSONExtract: structs.compile_document_path,
    exp.JSONExtractScalar: structs.compile_document_path,
    exp.JSONObject: structs.compile_struct,
    exp.JSONValue: structs.compile_document_path,
    exp.Lambda: compile_lambda,
    exp.Literal: compile_literal,
    exp.RawString: lambda context, node: ir.Literal("string", str(node.this)),
    exp.Heredoc: lambda context, node: ir.Literal("string", str(node.this)),
    exp.Null: lambda context, node: NULL_LITERAL,
    exp.Nvl2: compile_nvl2,
    exp.Order: compile_order,
    exp.PercentileCont: compile_percentile,
    exp.ToMap: compile_map,
    exp.PercentileDisc: compile_percentile,
    exp.Ordered: compile_inner,
    exp.Parameter: compile_variable,
    exp.ParameterizedAgg: structs.compile_parameterized_aggregate,
    exp.Paren: compile_inner,
    exp.Placeholder: compile_variable,
    exp.PositionalColumn: lambda context, node: ir.Ref((f"#{node.name}",), *context.span_of(node.this)),
    exp.SessionParameter: compile_variable,
    exp.Star: compile_star_argument,
    exp.StarMap: structs.compile_star_document,
    exp.Struct: structs.compile_struct,
    exp.StructExtract: structs.compile_document_path,
    exp.TimestampDiff: compile_date_function,
    exp.TryCast: compile_cast,
    exp.Tuple: compile_tuple,
    exp.Var: compile_keyword,
    exp.Window: compile_window,
}
"""Compilers of expressions, by type of node."""

EXPRESSION_COMPILERS.update(EXPRESSIONS)
