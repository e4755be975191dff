"""INSERT in all its forms, upserts, multi-table INSERT, and SELECT INTO."""

from typing import Any

import msgspec
from sqlglot import exp

from lineage_pipeline.engine.compile.context import (
    CompileContext,
    column_offsets_of,
    compile_object_name,
    compile_target,
    find_values_row,
    target_columns_of,
)
from lineage_pipeline.engine.compile.expressions.dispatch import compile_assigned_value, compile_optional
from lineage_pipeline.engine.compile.expressions.modifiers import insert_mode_text
from lineage_pipeline.engine.compile.external_objects import build_external_name
from lineage_pipeline.engine.compile.relations.query import bind_ctes, compile_query
from lineage_pipeline.engine.compile.relations.table_arguments import compile_named_table
from lineage_pipeline.engine.compile.statements.returning import compile_returning
from lineage_pipeline.engine.compile.statements.update_delete import compile_assignments
from lineage_pipeline.model import ir


def compile_insert(context: CompileContext, tree: exp.Expr) -> dict[str, Any]:
    """INSERT with or without a column list, from a query or from rows."""
    bind_ctes(context, tree)
    target, columns = compile_target(context, tree.this)
    if isinstance(tree.this, exp.Directory | exp.Func):
        target, columns = _compile_insert_address(context, tree.this), None
    body = tree.args.get("expression") or tree.args.get("source")
    mode = "overwrite" if tree.args.get("overwrite") else "insert"
    kind = f"INSERT {mode.upper()}" if mode == "overwrite" else "INSERT"
    if _discards_rows(tree.this) and isinstance(body, exp.Query):
        compile_query(context, body)
        return {"kind": kind}
    if target is None:
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct="the target of this INSERT")
        return {"kind": kind}
    if isinstance(body, exp.Query | exp.Values | exp.Table):
        relation = compile_query(context, body)
    else:  # a row of defaults
        relation, columns = context.add_relation(ir.Select((), ())), ()
    if columns is None and not tree.args.get("by_name"):
        context.features.add("positional insert")
    write = ir.Write(
        target=target,
        relation=relation,
        mode=mode,
        columns=columns,
        by_name=bool(tree.args.get("by_name")),
        fixed=_fixed_columns(context, tree.this),
        starts=column_offsets_of(context, target_columns_of(tree.this)) if columns else (),
        rows=_find_first_row(context, body, columns),
        manner=insert_mode_text(context, tree),
    )
    writes = [_compile_replace_where(context, tree, write), *_compile_upsert(context, tree, write)]
    own = _insert_alias(context, tree)
    sources = (ir.Source(own, name=target),) if own else ()
    return compile_returning(context, tree, {"kind": kind, "writes": tuple(writes)}, sources)


def _discards_rows(node: exp.Expr) -> bool:
    """ClickHouse: INSERT INTO FUNCTION null() reads a query and keeps nothing."""
    return isinstance(node, exp.Null) or isinstance(node, exp.Anonymous) and node.name.lower() == "null"


def _insert_alias(context: CompileContext, tree: exp.Expr) -> str:
    """The alias of the target of an INSERT, or ""."""
    table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    alias = table.args.get("alias") if isinstance(table, exp.Expr) else None
    return context.alias_name(alias.this) if isinstance(alias, exp.TableAlias) and alias.this is not None else ""


def _find_first_row(context: CompileContext, body: Any, columns: tuple[str, ...] | None) -> int:
    """The offset of the first listed row, unless it has a value for each column."""
    first = body.expressions[0] if isinstance(body, exp.Values) and body.expressions else None
    if first is None or (columns is not None and len(columns) == len(first.expressions)):
        return ir.NOWHERE
    start = find_values_row(context)
    return start - context.origin if start >= 0 else start


def _compile_insert_address(context: CompileContext, node: exp.Expr) -> ir.Name | None:
    """The folder or function that rows are written to: a table named by a function, or its first string."""
    address = compile_named_table(context, node)
    if address is not None:
        return address
    literal = next((item for item in node.find_all(exp.Literal) if item.args.get("is_string")), None)
    return build_external_name(literal.name, context.traits, *context.span_of(literal)) if literal is not None else None


def _fixed_columns(context: CompileContext, node: exp.Expr) -> tuple[str, ...]:
    """The columns that PARTITION gives a value, or that a star in the column list excludes."""
    stars = [item for item in node.expressions if isinstance(item, exp.Star)] if isinstance(node, exp.Schema) else []
    if stars:
        return tuple(context.column_name(item.this) for item in stars[0].args.get("except_") or ())
    table = node.this if isinstance(node, exp.Schema) else node
    partition = table.args.get("partition")
    items = partition.expressions if isinstance(partition, exp.Partition) else ()
    return tuple(
        context.column_name(item.this.this)
        for item in items
        if isinstance(item, exp.EQ) and isinstance(item.this, exp.Column)
    )


def _compile_replace_where(context: CompileContext, tree: exp.Expr, write: ir.Write) -> ir.Write:
    """REPLACE WHERE: the deleted rows are chosen by columns of the target."""
    where = tree.args.get("where")
    if not isinstance(where, exp.Expr):
        return write
    target = ir.Source(context.default_alias(write.target), name=write.target)
    chosen = context.add_relation(ir.Select((target,), (), compile_optional(context, where)))
    context.changes.append(ir.Write(write.target, chosen, "delete", ()))
    return msgspec.structs.replace(write, mode="overwrite")


def _compile_upsert(context: CompileContext, tree: exp.Expr, proposed: ir.Write) -> list[ir.Write]:
    """The update of an upsert; EXCLUDED, VALUES(column) or an alias is the row that was not inserted.

    The conflict keys join that row with the one that exists, those of the table where none are named (MySQL); with
    DO NOTHING they decide which rows are inserted.
    """
    conflict = tree.args.get("conflict")
    if not isinstance(conflict, exp.Expr):
        return []
    keys = _list_conflict_keys(context, conflict, proposed.columns)
    target, body = proposed.target, tree.args.get("expression")
    alias = context.alias_name(exp.to_identifier("excluded"))
    named = body.args.get("alias") if isinstance(body, exp.Values) else None
    columns = proposed.columns or ()
    if isinstance(named, exp.TableAlias) and named.this is not None:
        alias = context.alias_name(named.this)
        columns = tuple(context.column_name(item) for item in named.args.get("columns") or ()) or columns
    _expand_values_function(conflict, alias)
    if columns:
        _nullify_omitted_columns(context, conflict, alias, columns)
    own = _insert_alias(context, tree) or context.default_alias(target)
    called = None if columns else target  # without a list, it has the columns of the table
    own_keys = [ir.Call("EQ", (ir.Ref((own, key), *place), ir.Ref((alias, key), *place))) for key, place in keys]
    on = ir.Call("AND", tuple(own_keys)) if len(own_keys) > 1 else own_keys[0] if own_keys else None
    joined = ir.Join("keyed", on)
    excluded = ir.Source(alias, called, proposed.relation, columns=columns, join=joined, reach="alias")
    sources = (ir.Source(own, name=target), *_upsert_sources(context, conflict, proposed), excluded)
    where = conflict.args.get("where")
    rows = ir.Select(sources, (), compile_optional(context, where.this if isinstance(where, exp.Where) else where))
    return list(compile_assignments(context, conflict.expressions, rows, target, conditional=True))


def _list_conflict_keys(
    context: CompileContext, conflict: exp.Expr, columns: tuple[str, ...] | None
) -> list[tuple[str, tuple[int, int]]]:
    """The columns of ON CONFLICT (…) that the INSERT fills, with their places."""
    items = [item.this if isinstance(item, exp.Ordered) else item for item in conflict.args.get("conflict_keys") or ()]
    plain = [item.this if isinstance(item, exp.Column) else item for item in items]
    names = [(context.column_name(item), context.span_of(item)) for item in plain if isinstance(item, exp.Identifier)]
    return [(name, place) for name, place in names if columns is None or name in columns]


def _expand_values_function(conflict: exp.Expr, alias: str) -> None:
    """MySQL: `VALUES(column)` names a column of the row that was not inserted."""
    for call in list(conflict.find_all(exp.Anonymous)):
        if call.name.upper() == "VALUES" and len(call.expressions) == 1:
            name = call.expressions[0]
            identifier = name.this if isinstance(name, exp.Column) else name
            call.replace(exp.Column(this=identifier, table=exp.to_identifier(alias, quoted=True)))


def _upsert_sources(context: CompileContext, conflict: exp.Expr, proposed: ir.Write) -> tuple[ir.Source, ...]:
    """MySQL: the update sees the sources of the query whose row was not inserted."""
    body = context.relations[proposed.relation] if conflict.args.get("duplicate") else None
    sources = body.sources if isinstance(body, ir.Select) else ()
    return tuple(msgspec.structs.replace(item, join=ir.Join("cross"), reach="last") for item in sources)


def _nullify_omitted_columns(context: CompileContext, conflict: exp.Expr, alias: str, columns: tuple[str, ...]) -> None:
    """Columns of the row that was not inserted which got no value become NULL."""
    for column in list(conflict.find_all(exp.Column)):
        table = column.args.get("table")
        own = isinstance(table, exp.Identifier) and context.alias_name(table) == alias
        if own and isinstance(column.this, exp.Identifier) and context.column_name(column.this) not in columns:
            column.replace(exp.Null())


def compile_multi_insert(context: CompileContext, tree: exp.Expr) -> dict[str, Any]:
    """INSERT ALL / FIRST: several targets of one query; a condition holds for all targets up to the next one."""
    bind_ctes(context, tree)
    index = compile_query(context, tree.args["source"])
    first = str(tree.args.get("kind") or "").upper() == "FIRST"
    writes = []
    earlier: list[ir.Expr] = []
    condition: ir.Expr | None = None
    for arm in tree.expressions:
        inner = arm.this
        tested = compile_optional(context, arm.args.get("expression"))
        if tested is not None:
            condition = _arm_condition(tested, earlier if first else [])
            earlier.append(tested)
        elif arm.args.get("else_"):
            condition = _arm_condition(None, earlier)
        target, columns = compile_target(context, inner.this)
        if target is not None:
            relation = _compile_insert_arm(context, index, inner.args.get("expression"), condition)
            starts = column_offsets_of(context, target_columns_of(inner.this)) if columns else ()
            guarded = condition is not None
            writes.append(ir.Write(target, relation, "insert", columns, conditional=guarded, starts=starts))
    return {"kind": "INSERT", "writes": tuple(writes)}


def _arm_condition(condition: ir.Expr | None, failed: list[ir.Expr]) -> ir.Expr | None:
    """The condition of an arm: its own, and none of those before it."""
    parts = [*([condition] if condition is not None else []), *(ir.Call("NOT", (item,)) for item in failed)]
    return ir.Call("AND", tuple(parts), 0, "BOOLEAN") if len(parts) > 1 else next(iter(parts), None)


def _compile_insert_arm(context: CompileContext, index: int, values: exp.Expr | None, condition: ir.Expr | None) -> int:
    """The rows of one target: its VALUES, or all rows of the query."""
    rows = values.expressions if isinstance(values, exp.Tuple | exp.Values) else ()
    items = rows[0].expressions if rows and isinstance(rows[0], exp.Tuple) else rows
    if not items and condition is None:
        return index
    chosen = tuple(ir.Output("", "", compile_assigned_value(context, item), *context.item_span(item)) for item in items)
    everything = (ir.Star((), ir.NOWHERE, ir.NOWHERE),)
    return context.add_relation(ir.Select((ir.Source("", relation=index),), chosen or everything, condition))


def compile_select_into(context: CompileContext, tree: exp.Expr, target: exp.Expr) -> dict[str, Any]:
    """SELECT … INTO creates a table from the query."""
    name = compile_object_name(context, target.this)
    temporary = bool(target.args.get("temporary")) or name.parts[-1].startswith("#")
    return {
        "kind": "SELECT INTO",
        "definition": ir.Definition(name, "table", relation=compile_query(context, tree), temporary=temporary),
    }
