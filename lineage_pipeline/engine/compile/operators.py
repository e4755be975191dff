"""Operators and functions: their canonical names, what they do to a value, and the type they always give."""

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.dialects.traits import TRAITS
from lineage_pipeline.engine.compile.types import result_type
from lineage_pipeline.vocabulary import ir


class Operator(msgspec.Struct, frozen=True):
    """A kind of expression as the IR names it."""

    name: str
    traits: int
    result: str


_OPERATORS: dict[tuple[type[exp.Expr], str], Operator] = {}


def operator(kind: type[exp.Expr], dialect: str) -> Operator:
    """What is known of a kind of expression, looked up once."""
    known = _OPERATORS.get((kind, dialect))
    if known is None:
        name = kind.__name__.upper().lstrip("_")
        aggregates = issubclass(kind, exp.AggFunc) and name not in functions.NAVIGATION
        traits = traits_of_name(name) | (ir.AGGREGATE if aggregates else 0)
        result = TRAITS[dialect].count if name in functions.COUNTS else result_type(kind, dialect)
        known = _OPERATORS[kind, dialect] = Operator(name, traits, result)
    return known


def traits_of_name(op: str) -> int:
    """What a function does to a value, by its name."""
    tables = (
        (functions.MASKING, ir.MASKING),
        (functions.VOLATILE, ir.VOLATILE),
        (functions.RANKING, ir.WINDOWED),
        (functions.GENERATORS, ir.GENERATOR),
        (functions.AGGREGATES, ir.AGGREGATE),
        (functions.KEEPING, ir.KEEPING),
    )
    return sum(trait for names, trait in tables if op in names)


_PARSERS_OWN = frozenset("ADD SUB MUL DIV MOD EQ NEQ GT GTE LT LTE AND OR NOT NEG IS IN LIKE BETWEEN DISTINCT".split())
"""What the parser calls its operators: a function of that name is somebody's own."""


def function_name(name: str) -> str:
    """The canonical name of a function that the parser does not know."""
    return f"{name}()" if name in _PARSERS_OWN else name
