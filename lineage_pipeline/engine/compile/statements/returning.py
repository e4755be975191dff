"""RETURNING and OUTPUT: the rows that a statement changed, as its result or on their way into a table."""

from typing import Any

from sqlglot import exp

from lineage_pipeline.engine.compile.context import CompileContext, compile_target
from lineage_pipeline.engine.compile.relations.projection import compile_outputs
from lineage_pipeline.model import ir

CHANGED_ROW_NAMES = ("inserted", "deleted", "new", "old")
"""The names of the changed row after and before the statement."""


def compile_returning(
    context: CompileContext,
    tree: exp.Expr,
    parts: dict[str, Any],
    sources: tuple[ir.Source, ...] = (),
    condition: ir.Expr | None = None,
) -> dict[str, Any]:
    """The fields of a statement with the rows of its RETURNING or OUTPUT clause."""
    clause = tree.args.get("returning")
    writes: tuple[ir.Write, ...] = parts.get("writes", ())
    if not clause or not writes:
        return parts
    own = ir.Source(context.default_alias(writes[0].target), name=writes[0].target)
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
        relation = _compile_returned_rows(context, rows, alias, seen, condition)
        if into is None:
            parts = {**parts, "result": relation}
            continue
        target, columns = compile_target(context, into.this)
        if target is not None:
            parts = {**parts, "writes": (*parts["writes"], ir.Write(target, relation, "insert", columns))}
    return parts


def _compile_returned_rows(
    context: CompileContext, node: exp.Expr, alias: str, sources: tuple[ir.Source, ...], condition: ir.Expr | None
) -> int:
    """The returned rows as a select over the changed object, whatever the row is called."""
    known = {item.alias for item in sources}
    for column in node.find_all(exp.Column):
        table = column.args.get("table")
        if (
            isinstance(table, exp.Identifier)
            and table.name.lower() in CHANGED_ROW_NAMES
            and context.alias_name(table) not in known
        ):
            table.set("this", alias)
            table.set("quoted", True)
    chosen = tuple(_unquote_action(item) for item in compile_outputs(context, exp.Select(expressions=node.expressions)))
    return context.add_relation(ir.Select(sources, chosen, condition))


def _unquote_action(item: ir.Output | ir.Star) -> ir.Output | ir.Star:
    """T-SQL: `$action` is a keyword and not a column."""
    if isinstance(item, ir.Output) and isinstance(item.expr, ir.Ref) and item.expr.parts[0].startswith("$"):
        return ir.Output(
            name=item.name, written=item.written, expr=ir.Literal("other", item.name), start=item.start, end=item.end
        )
    return item
