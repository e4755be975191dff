"""Rows that a script makes: TRANSFORM, and Hive's MAP and REDUCE. Every column may come of every input."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.expressions import expressions
from lineage_pipeline.engine.compile.types import spelling
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.vocabulary import ir

_UNNAMED = ("key", "value")
"""What the columns are called where nobody names them."""


def transformed(context: Context, items: Sequence[exp.Expr]) -> Iterator[ir.Output]:
    """The columns of a select list that is a script."""
    node = items[0].this if isinstance(items[0], exp.Alias) else items[0]
    made_of = ir.Call("TRANSFORM", tuple(expressions(context, node.expressions)))
    for name, written, kind in _columns(context, node, items):
        value = ir.Cast(made_of, kind) if kind else made_of
        yield ir.Output(name, written, value, ir.NOWHERE, ir.NOWHERE)


def _columns(context: Context, node: exp.Expr, items: Sequence[exp.Expr]) -> Iterator[tuple[str, str, str]]:
    """The names and types of the columns: behind AS, with brackets or, to the parser, as further items of the list."""
    schema = node.args.get("schema")
    named = schema.expressions if schema is not None else [item for item in items if item is not node]
    for item in named:
        identifier = item.args["alias"] if isinstance(item, exp.Alias) else item
        while not isinstance(identifier, exp.Identifier):
            if not isinstance(identifier, exp.Expr):
                raise MalformedTree("a column without a name")
            identifier = identifier.this
        kind = spelling(item.args.get("kind"), context.dialect) if isinstance(item, exp.ColumnDef) else ""
        yield context.column(identifier), identifier.name, kind
    if not named:
        yield from ((name, name, "") for name in _UNNAMED)
