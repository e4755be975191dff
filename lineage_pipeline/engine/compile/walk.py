"""Walking expressions: each node goes to the compiler of its kind, or is taken for an operator of its parts."""

from collections.abc import Callable, Iterable

from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.operators import operator
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.vocabulary import ir

COMPILERS: dict[type[exp.Expr], Callable[[Context, exp.Expr], ir.Expr]] = {}
"""Who compiles what; `expressions` fills it."""


def expression(context: Context, node: exp.Expr) -> ir.Expr:
    """The IR of an expression."""
    compiler = COMPILERS.get(type(node))
    if compiler is not None:
        return compiler(context, node)
    if isinstance(node, exp.Query):
        return subquery(context, node, "scalar")
    return call(context, node)


def expressions(context: Context, nodes: Iterable[exp.Expr]) -> tuple[ir.Expr, ...]:
    """The IR of several expressions."""
    return tuple([expression(context, node) for node in nodes])


def assigned_value(context: Context, node: exp.Expr) -> ir.Expr:
    """A value of an assignment, a row or an argument; the word DEFAULT is no column."""
    if type(node) is exp.Column and node.args.get("table") is None:
        name = node.this
        if not name.args.get("quoted") and name.name.upper() == "DEFAULT":
            return ir.Literal("other", "DEFAULT")
    return expression(context, node)


def optional(context: Context, node: object) -> ir.Expr | None:
    """The IR of an expression that may be missing."""
    return expression(context, node) if isinstance(node, exp.Expr) else None


def subquery(context: Context, node: exp.Expr, mode: str, *args: ir.Expr) -> ir.Expr:
    """A query that stands in an expression; SELECT AS STRUCT gives a struct."""
    body = node.unnest()
    if isinstance(body, exp.Select) and body.args.get("kind") == "STRUCT":
        mode = f"{mode} struct"
    return ir.Sub(mode, context.compile_query(context, node), args)


def call(context: Context, node: exp.Expr) -> ir.Expr:
    """An operator or function that has no compiler of its own."""
    if node is None:  # the parser fills a list with nothing where an argument is broken
        raise MalformedTree("a list with nothing in one of its places")
    known = operator(type(node), context.dialect)
    op = known.name
    args: list[ir.Expr] = []
    for key, value in node.args.items():
        if value is None or value is False:
            continue
        if isinstance(value, exp.Expr):
            args.append(expression(context, value))
        elif isinstance(value, list):
            args.extend(
                expression(context, item) if isinstance(item, exp.Expr) else ir.Literal("word", str(item))
                for item in value
            )
        elif value is True:
            op = f"{op}:{key}"
        else:
            args.append(ir.Literal("word", str(value)))
    return ir.Call(op, tuple(args), known.traits, known.result)
