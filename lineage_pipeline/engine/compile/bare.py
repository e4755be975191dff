"""Names behind FROM that may be functions without brackets."""

from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.vocabulary import ir


def call_bare(context: Context, node: exp.Column) -> None:
    """`TABLE(f)`: a function without arguments, unless it is a collection; which of them, only the objects tell."""
    identifiers = [part for part in node.parts if isinstance(part, exp.Identifier)]
    if identifiers:
        start, end = context.place(*identifiers)
        name = ir.Name(tuple(context.table(part) for part in identifiers), identifiers[-1].name, start, end)
        context.invoke(ir.Invocation(name))
