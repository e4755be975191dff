"""Operators and functions: their canonical names, what they do to a value, and their fixed result types."""

from collections.abc import Callable, Iterable

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.expressions.data_types import function_result_type
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.model import ir


class OperatorTraits(msgspec.Struct, frozen=True):
    """A type of expression as the IR names it."""

    name: str
    traits: int
    result: str


_OPERATOR_CACHE: dict[tuple[type[exp.Expr], str], OperatorTraits] = {}


def operator_traits_of(kind: type[exp.Expr], dialect: str) -> OperatorTraits:
    """The name, traits and result type of a type of expression, cached."""
    known = _OPERATOR_CACHE.get((kind, dialect))
    if known is None:
        name = kind.__name__.upper().lstrip("_")
        aggregates = issubclass(kind, exp.AggFunc) and name not in functions.NAVIGATION_FUNCTIONS
        traits = function_traits_of(name) | (ir.AGGREGATE if aggregates else 0)
        result = DIALECTS[dialect].count if name in functions.COUNT_FUNCTIONS else function_result_type(kind, dialect)
        known = _OPERATOR_CACHE[kind, dialect] = OperatorTraits(name, traits, result)
    return known


def function_traits_of(op: str) -> int:
    """What a function does to a value, by its name."""
    tables = (
        (functions.MASKING_FUNCTIONS, ir.MASKING),
        (functions.VOLATILE_FUNCTIONS, ir.VOLATILE),
        (functions.RANKING_FUNCTIONS, ir.WINDOWED),
        (functions.ROW_GENERATORS, ir.GENERATOR),
        (functions.AGGREGATES, ir.AGGREGATE),
        (functions.PATH_PRESERVING_FUNCTIONS, ir.KEEPING),
    )
    return sum(trait for names, trait in tables if op in names)


_OPERATOR_NAMES = frozenset(
    "ADD SUB MUL DIV MOD EQ NEQ GT GTE LT LTE AND OR NOT NEG IS IN LIKE BETWEEN DISTINCT".split()
)
"""sqlglot's names of operators: a function of that name is a user-defined one."""


def canonical_function_name(name: str) -> str:
    """The canonical name of a function that sqlglot does not know."""
    return f"{name}()" if name in _OPERATOR_NAMES else name


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


QUOTED_CONSTANTS = (exp.National, exp.ByteString, exp.UnicodeString)
"""Constants with a prefix, whose text is no keyword: its letters count as they are written."""


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
            args.append(ir.Literal("string" if isinstance(node, QUOTED_CONSTANTS) else "word", str(value)))
    return ir.Call(op, tuple(args), known.traits, known.result)
