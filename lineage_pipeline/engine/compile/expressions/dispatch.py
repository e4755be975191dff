"""Expression dispatch: each node goes to the compiler of its type, or becomes an operator over its parts."""

from collections.abc import Callable, Iterable

from sqlglot import exp

from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.expressions.operators import operator_traits_of
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.model import ir

EXPRESSION_COMPILERS: dict[type[exp.Expr], Callable[[CompileContext, exp.Expr], ir.Expr]] = {}
"""The compilers of expressions, by type of node; `expressions.compilers` fills it."""


def compile_expression(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """The IR of an expression."""
    compiler = EXPRESSION_COMPILERS.get(type(node))
    if compiler is not None:
        return compiler(context, node)
    if isinstance(node, exp.Query):
        return compile_subquery_expression(context, node, "scalar")
    return compile_generic_call(context, node)


def compile_expressions(context: CompileContext, nodes: Iterable[exp.Expr]) -> tuple[ir.Expr, ...]:
    """The IR of several expressions."""
    return tuple([compile_expression(context, node) for node in nodes])


def compile_assigned_value(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A value of an assignment, a row or an argument; the keyword DEFAULT is not a column."""
    if type(node) is exp.Column and node.args.get("table") is None:
        name = node.this
        if not name.args.get("quoted") and name.name.upper() == "DEFAULT":
            return ir.Literal("other", "DEFAULT")
    return compile_expression(context, node)


def compile_optional(context: CompileContext, node: object) -> ir.Expr | None:
    """The IR of an expression that may be missing."""
    return compile_expression(context, node) if isinstance(node, exp.Expr) else None


def compile_subquery_expression(context: CompileContext, node: exp.Expr, mode: str, *args: ir.Expr) -> ir.Expr:
    """A query inside an expression; SELECT AS STRUCT gives a struct."""
    body = node.unnest()
    if isinstance(body, exp.Select) and body.args.get("kind") == "STRUCT":
        mode = f"{mode} struct"
    return ir.Sub(mode, context.compile_query(context, node), args)


def compile_generic_call(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """An operator or function without a compiler of its own."""
    if node is None:  # the parser fills a list with nothing where an argument is broken
        raise MalformedTree("a list with nothing in one of its places")
    known = operator_traits_of(type(node), context.dialect)
    op = known.name
    args: list[ir.Expr] = []
    for key, value in node.args.items():
        if value is None or value is False:
            continue
        if isinstance(value, exp.Expr):
            args.append(compile_expression(context, value))
        elif isinstance(value, list):
            args.extend(
                compile_expression(context, item) if isinstance(item, exp.Expr) else ir.Literal("word", str(item))
                for item in value
            )
        elif value is True:
            op = f"{op}:{key}"
        else:
            args.append(ir.Literal("word", str(value)))
    return ir.Call(op, tuple(args), known.traits, known.result)
