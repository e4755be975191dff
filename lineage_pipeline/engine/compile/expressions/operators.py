"""Operators and functions: their canonical names, what they do to a value, and their fixed result types."""

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.engine.compile.expressions.data_types import function_result_type
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
