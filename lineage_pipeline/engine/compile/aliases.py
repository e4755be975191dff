"""Names of a select list that stand for their expressions wherever else they are used."""

from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.walk import expression
from lineage_pipeline.vocabulary import ir

_MOST_EXPANSIONS = 500
"""Aliases that stand for each other could double a statement without end."""


def aliases_of(context: Context, node: exp.Expr) -> dict[str, exp.Expr]:
    """The aliases that a select gives anywhere but in its subqueries."""
    found: dict[str, exp.Expr] = {}
    pending = [*node.expressions, *(node.args.get(key) for key in ("where", "prewhere", "having", "order", "group"))]
    while pending:
        item = pending.pop(0)
        if not isinstance(item, exp.Expr) or isinstance(item, exp.Query):
            continue
        if isinstance(item, exp.Alias) and isinstance(item.args.get("alias"), exp.Identifier):
            found.setdefault(context.column(item.args["alias"]), item.this)
        pending.extend(item.iter_expressions())
    return found


def stands_for(context: Context, name: exp.Expr) -> bool:
    """Whether a name is that of an expression, and not of a column: some dialects say so by a word before it."""
    prefix = context.traits.alias_prefix  # which the parser takes away
    start = context.origin + context.place_of(name)[0] if prefix else 0
    marked = context.text[max(start - len(prefix), 0) : start].upper() == prefix
    return marked and context.expansions < _MOST_EXPANSIONS


def written_out(context: Context, name: str) -> ir.Expr:
    """The expression that a name stands for where names hide columns; in it, the name is the column."""
    outer = context.named
    context.named = {key: node for key, node in outer.items() if key != name}
    context.expansions += 1
    compiled = expression(context, outer[name])
    context.named = outer
    return compiled
