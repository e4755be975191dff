"""Operators and functions: their canonical names, and what they do to a value."""

from functools import cache

from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.vocabulary import ir


@cache
def op_of(kind: type[exp.Expr]) -> str:
    """The canonical name of an operator or function."""
    return kind.__name__.upper()


@cache
def traits_of(kind: type[exp.Expr]) -> int:
    """What a function that sqlglot knows does to a value."""
    return traits_of_name(op_of(kind)) | (ir.AGGREGATE if issubclass(kind, exp.AggFunc) else 0)


def traits_of_name(op: str) -> int:
    """What a function does to a value, by its name."""
    tables = (
        (functions.MASKING, ir.MASKING),
        (functions.VOLATILE, ir.VOLATILE),
        (functions.RANKING, ir.WINDOWED),
        (functions.GENERATORS, ir.GENERATOR),
    )
    traits = sum(trait for names, trait in tables if op in names)
    return traits | (ir.AGGREGATE if op in functions.AGGREGATES else 0)
