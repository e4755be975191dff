"""Items of lists: where the expression of each stands, its alias left out."""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokens import Token

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.vocabulary import ir


def place_of(context: Context, node: exp.Expr, alias: exp.Expr | None) -> tuple[int, int]:
    """Where the expression of an item stands, its alias left out; nowhere when that is not known."""
    items = context.items
    found = items.nodes.get(id(node))
    named = alias.meta.get("start") if type(alias) is exp.Identifier else None
    if found is not None:
        _, first, last = found
        if named is not None:
            last = _before_alias(items.tokens, last, named)
    elif named is not None and named in items.comparisons:  # `alias = expression`
        first, last = items.comparisons[named]
        first += 2
    else:
        return ir.NOWHERE, ir.NOWHERE
    origin = context.origin
    start, end = items.tokens[first].start - origin, items.tokens[last].end + 1 - origin
    return (start, end) if 0 <= start < end else (ir.NOWHERE, ir.NOWHERE)


def text_alias(context: Context, item: exp.Expr) -> exp.Identifier:
    """The alias that a text before the sign of equality is."""
    alias = exp.Identifier(this=item.this.name, quoted=True)
    found = context.items.nodes.get(id(item))
    if found is not None:
        alias.meta["start"] = context.items.tokens[found[1]].start
    return alias


def _before_alias(tokens: Sequence[Token], last: int, named: int) -> int:
    """The last token of an expression whose alias stands at an offset."""
    while last > 0 and tokens[last].start != named:
        last -= 1
    last -= 1
    while last > 0 and tokens[last].text.upper() in ("AS", "("):
        last -= 1
    return last
