"""RETURNING and OUTPUT: the rows that a statement changed, as a result of its own or on their way into a table."""

from typing import Any

from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context, target_of
from lineage_pipeline.engine.compile.outputs import outputs
from lineage_pipeline.vocabulary import ir

ROWS = ("inserted", "deleted", "new", "old")
"""What the changed row is called, after and before."""


def returned(
    context: Context,
    tree: exp.Expr,
    parts: dict[str, Any],
    sources: tuple[ir.Source, ...] = (),
    condition: ir.Expr | None = None,
) -> dict[str, Any]:
    """The parts of a statement with the rows it gives back."""
    clause = tree.args.get("returning")
    writes: tuple[ir.Write, ...] = parts.get("writes", ())
    if not clause or not writes:
        return parts
    own = ir.Source(context.called(writes[0].target), name=writes[0].target)
    alias = next((item.alias for item in sources if item.name == own.name), own.alias)
    seen = sources if alias != own.alias or own.alias in {item.alias for item in sources} else (own, *sources)
    for node in clause if isinstance(clause, list) else [clause]:
        into = node if isinstance(node, exp.Insert) else None
        rows = into.expression if into is not None else node
        if rows is None:
            context.report(
                "UNSUPPORTED_SYNTAX", context.origin, context.end, construct="this clause of rows given back"
            )
            continue
        relation = _relation(context, rows, alias, seen, condition)
        if into is None:
            parts = {**parts, "result": relation}
            continue
        target, columns = target_of(context, into.this)
        if target is not None:
            parts = {**parts, "writes": (*parts["writes"], ir.Write(target, relation, "insert", columns))}
    return parts


def _relation(
    context: Context, node: exp.Expr, alias: str, sources: tuple[ir.Source, ...], condition: ir.Expr | None
) -> int:
    """The rows as a select over the changed object, whatever the row is called before and after."""
    known = {item.alias for item in sources}
    for column in node.find_all(exp.Column):
        table = column.args.get("table")
        if isinstance(table, exp.Identifier) and table.name.lower() in ROWS and context.alias(table) not in known:
            table.set("this", alias)
            table.set("quoted", True)
    chosen = tuple(_plain(item) for item in outputs(context, exp.Select(expressions=node.expressions)))
    return context.add(ir.Select(sources, chosen, condition))


def _plain(item: ir.Output | ir.Star) -> ir.Output | ir.Star:
    """T-SQL's `$action` is a word and no column."""
    if isinstance(item, ir.Output) and isinstance(item.expr, ir.Ref) and item.expr.parts[0].startswith("$"):
        return ir.Output(item.name, item.written, ir.Literal("other", item.name), item.start, item.end)
    return item
