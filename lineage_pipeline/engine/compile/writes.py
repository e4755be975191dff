"""Statements that put rows into objects: INSERT in all its forms, upserts, and SELECT INTO."""

from typing import Any

import msgspec
from sqlglot import exp

from lineage_pipeline.engine.compile.changes import assignments
from lineage_pipeline.engine.compile.context import Context, name_of, target_of
from lineage_pipeline.engine.compile.expressions import optional
from lineage_pipeline.engine.compile.leftovers import arrival
from lineage_pipeline.engine.compile.listed import listed_in, row_start, starts_of
from lineage_pipeline.engine.compile.named import named_table
from lineage_pipeline.engine.compile.outside import outside
from lineage_pipeline.engine.compile.queries import bind_with, query
from lineage_pipeline.engine.compile.returning import returned
from lineage_pipeline.engine.compile.walk import assigned_value
from lineage_pipeline.vocabulary import ir


def insert(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """INSERT with or without a column list, from a query or from rows."""
    bind_with(context, tree)
    target, columns = target_of(context, tree.this)
    if isinstance(tree.this, exp.Directory | exp.Func):
        target, columns = _address(context, tree.this), None
    body = tree.args.get("expression") or tree.args.get("source")
    mode = "overwrite" if tree.args.get("overwrite") else "insert"
    kind = f"INSERT {mode.upper()}" if mode == "overwrite" else "INSERT"
    if target is None:
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct="the target of this INSERT")
        return {"kind": kind}
    if isinstance(body, exp.Query | exp.Values | exp.Table):
        relation = query(context, body)
    else:  # a row of defaults
        relation, columns = context.add(ir.Select((), ())), ()
    if columns is None and not tree.args.get("by_name"):
        context.features.add("positional insert")
    write = ir.Write(
        target,
        relation,
        mode,
        columns,
        bool(tree.args.get("by_name")),
        fixed=_fixed(context, tree.this),
        starts=starts_of(context, listed_in(tree.this)) if columns else (),
        rows=_rows(context, body, columns),
        manner=arrival(context, tree),
    )
    writes = [_replaced(context, tree, write), *_on_conflict(context, tree, write)]
    own = _called(context, tree)
    sources = (ir.Source(own, name=target),) if own else ()
    return returned(context, tree, {"kind": kind, "writes": tuple(writes)}, sources)


def _called(context: Context, tree: exp.Expr) -> str:
    """What an INSERT calls its target, if that is not its name."""
    table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    alias = table.args.get("alias") if isinstance(table, exp.Expr) else None
    return context.alias(alias.this) if isinstance(alias, exp.TableAlias) and alias.this is not None else ""


def _rows(context: Context, body: Any, columns: tuple[str, ...] | None) -> int:
    """Where the first of the rows that are listed stands, unless it has a value for each column."""
    first = body.expressions[0] if isinstance(body, exp.Values) and body.expressions else None
    if first is None or (columns is not None and len(columns) == len(first.expressions)):
        return ir.NOWHERE
    start = row_start(context)
    return start - context.origin if start >= 0 else start


def _address(context: Context, node: exp.Expr) -> ir.Name | None:
    """The folder or the function that rows are sent to: the table that it is told, or its first string."""
    told = named_table(context, node)
    if told is not None:
        return told
    literal = next((item for item in node.find_all(exp.Literal) if item.args.get("is_string")), None)
    return outside(literal.name, context.traits, *context.place(literal)) if literal is not None else None


def _fixed(context: Context, node: exp.Expr) -> tuple[str, ...]:
    """The columns that a PARTITION clause gives a value, or that a star in the list leaves out."""
    stars = [item for item in node.expressions if isinstance(item, exp.Star)] if isinstance(node, exp.Schema) else []
    if stars:
        return tuple(context.column(item.this) for item in stars[0].args.get("except_") or ())
    table = node.this if isinstance(node, exp.Schema) else node
    partition = table.args.get("partition")
    items = partition.expressions if isinstance(partition, exp.Partition) else ()
    return tuple(
        context.column(item.this.this)
        for item in items
        if isinstance(item, exp.EQ) and isinstance(item.this, exp.Column)
    )


def _replaced(context: Context, tree: exp.Expr, write: ir.Write) -> ir.Write:
    """REPLACE WHERE: the rows that make room are chosen by the target's columns."""
    where = tree.args.get("where")
    if not isinstance(where, exp.Expr):
        return write
    target = ir.Source(context.called(write.target), name=write.target)
    chosen = context.add(ir.Select((target,), (), optional(context, where)))
    context.changes.append(ir.Write(write.target, chosen, "delete", ()))
    return msgspec.structs.replace(write, mode="overwrite")


def _on_conflict(context: Context, tree: exp.Expr, proposed: ir.Write) -> list[ir.Write]:
    """The update that an upsert makes; EXCLUDED, VALUES(column) or an alias is the row that was not inserted."""
    conflict = tree.args.get("conflict")
    if not isinstance(conflict, exp.Expr) or not conflict.expressions:
        return []
    target, body = proposed.target, tree.args.get("expression")
    alias = context.alias(exp.to_identifier("excluded"))
    named = body.args.get("alias") if isinstance(body, exp.Values) else None
    columns = proposed.columns or ()
    if isinstance(named, exp.TableAlias) and named.this is not None:
        alias = context.alias(named.this)
        columns = tuple(context.column(item) for item in named.args.get("columns") or ()) or columns
    _written_out(conflict, alias)
    if columns:
        _defaults(context, conflict, alias, columns)
    own = _called(context, tree) or context.called(target)
    called = None if columns else target  # without a list, it has the columns of the table
    crossed = ir.Join("cross")
    excluded = ir.Source(alias, called, proposed.relation, columns=columns, join=crossed, reach="alias")
    sources = (ir.Source(own, name=target), *_selected(context, conflict, proposed), excluded)
    where = conflict.args.get("where")
    rows = ir.Select(sources, (), optional(context, where.this if isinstance(where, exp.Where) else where))
    return list(assignments(context, conflict.expressions, rows, target, conditional=True))


def _written_out(conflict: exp.Expr, alias: str) -> None:
    """MySQL's `VALUES(column)` names a column of the row that was not inserted."""
    for call in list(conflict.find_all(exp.Anonymous)):
        if call.name.upper() == "VALUES" and len(call.expressions) == 1:
            name = call.expressions[0]
            identifier = name.this if isinstance(name, exp.Column) else name
            call.replace(exp.Column(this=identifier, table=exp.to_identifier(alias, quoted=True)))


def _selected(context: Context, conflict: exp.Expr, proposed: ir.Write) -> tuple[ir.Source, ...]:
    """MySQL: the update sees the sources of the query whose row was not inserted."""
    body = context.relations[proposed.relation] if conflict.args.get("duplicate") else None
    sources = body.sources if isinstance(body, ir.Select) else ()
    return tuple(msgspec.structs.replace(item, join=ir.Join("cross"), reach="last") for item in sources)


def _defaults(context: Context, conflict: exp.Expr, alias: str, columns: tuple[str, ...]) -> None:
    """The row that was not inserted has all columns of its table; those that were given no value come from nowhere."""
    for column in list(conflict.find_all(exp.Column)):
        table = column.args.get("table")
        own = isinstance(table, exp.Identifier) and context.alias(table) == alias
        if own and isinstance(column.this, exp.Identifier) and context.column(column.this) not in columns:
            column.replace(exp.Null())


def multi_insert(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """INSERT ALL / FIRST: several targets fed by one query; a condition holds for all targets up to the next one."""
    bind_with(context, tree)
    index = query(context, tree.args["source"])
    first = str(tree.args.get("kind") or "").upper() == "FIRST"
    writes = []
    earlier: list[ir.Expr] = []
    condition: ir.Expr | None = None
    for arm in tree.expressions:
        inner = arm.this
        tested = optional(context, arm.args.get("expression"))
        if tested is not None:
            condition = _all_of(tested, earlier if first else [])
            earlier.append(tested)
        elif arm.args.get("else_"):
            condition = _all_of(None, earlier)
        target, columns = target_of(context, inner.this)
        if target is not None:
            relation = _arm(context, index, inner.args.get("expression"), condition)
            starts = starts_of(context, listed_in(inner.this)) if columns else ()
            guarded = condition is not None
            writes.append(ir.Write(target, relation, "insert", columns, conditional=guarded, starts=starts))
    return {"kind": "INSERT", "writes": tuple(writes)}


def _all_of(condition: ir.Expr | None, failed: list[ir.Expr]) -> ir.Expr | None:
    """What holds for an arm: its own condition, and none of those before it."""
    parts = [*([condition] if condition is not None else []), *(ir.Call("NOT", (item,)) for item in failed)]
    return ir.Call("AND", tuple(parts), 0, "BOOLEAN") if len(parts) > 1 else next(iter(parts), None)


def _arm(context: Context, index: int, values: exp.Expr | None, condition: ir.Expr | None) -> int:
    """The rows of one target: what its VALUES name, or all of the query."""
    rows = values.expressions if isinstance(values, exp.Tuple | exp.Values) else ()
    items = rows[0].expressions if rows and isinstance(rows[0], exp.Tuple) else rows
    if not items and condition is None:
        return index
    chosen = tuple(ir.Output("", "", assigned_value(context, item), *context.item_place(item)) for item in items)
    everything = (ir.Star((), ir.NOWHERE, ir.NOWHERE),)
    return context.add(ir.Select((ir.Source("", relation=index),), chosen or everything, condition))


def into(context: Context, tree: exp.Expr, target: exp.Expr) -> dict[str, Any]:
    """SELECT … INTO makes a table of the query."""
    name = name_of(context, target.this)
    temporary = bool(target.args.get("temporary")) or name.parts[-1].startswith("#")
    return {
        "kind": "SELECT INTO",
        "definition": ir.Definition(name, "table", relation=query(context, tree), temporary=temporary),
    }
