"""Statements that put rows into objects. UPDATE and each arm of MERGE become a select and a column list."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects.traits import fold
from lineage_pipeline.engine.compile.context import Context, name_of
from lineage_pipeline.engine.compile.expressions import expression, optional
from lineage_pipeline.engine.compile.outputs import outputs
from lineage_pipeline.engine.compile.queries import bind_with, query
from lineage_pipeline.engine.compile.sources import source
from lineage_pipeline.engine.compile.variables import is_variable, updated_variables
from lineage_pipeline.vocabulary import ir


def insert(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """INSERT with or without a column list, from a query or from rows."""
    bind_with(context, tree)
    target, columns = target_of(context, tree.this)
    body = tree.args.get("expression")
    kind = "INSERT OVERWRITE" if tree.args.get("overwrite") else "INSERT"
    if target is None or not isinstance(body, exp.Query | exp.Values | exp.Table):
        return {"kind": kind, "reads": (target,) if target else ()}
    if columns is None:
        context.features.add("positional insert")
    write = ir.Write(
        target,
        query(context, body),
        "overwrite" if tree.args.get("overwrite") else "insert",
        columns,
        bool(tree.args.get("by_name")),
    )
    writes = [write, *_on_conflict(context, tree, write)]
    return {"kind": kind, "writes": tuple(writes)}


def _on_conflict(context: Context, tree: exp.Expr, proposed: ir.Write) -> list[ir.Write]:
    """The update that an upsert makes; EXCLUDED is the row that was not inserted."""
    conflict = tree.args.get("conflict")
    if conflict is None or not conflict.expressions:
        return []
    target = proposed.target
    alias = fold("excluded", False, context.traits.tables)
    excluded = ir.Source(alias, relation=proposed.relation, columns=proposed.columns or (), join=ir.Join("cross"))
    sources = (ir.Source(target.parts[-1], name=target), excluded)
    return [_assignments(context, conflict.expressions, sources, None, target, conditional=True)]


def multi_insert(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """INSERT ALL / FIRST: several targets fed by one query."""
    index = query(context, tree.args["source"])
    conditional = str(tree.args.get("kind") or "").upper() == "FIRST"
    writes = []
    for arm in tree.expressions:
        inner = arm.this
        target, columns = target_of(context, inner.this)
        if target is None:
            continue
        relation = index
        values = inner.args.get("expression")
        condition = optional(context, arm.args.get("expression"))
        if isinstance(values, exp.Tuple | exp.Values) or condition is not None:
            rows = values.expressions if isinstance(values, exp.Expr) else ()
            items = rows[0].expressions if rows and isinstance(rows[0], exp.Tuple) else rows
            chosen = tuple(ir.Output("", "", expression(context, item), *context.place(item)) for item in items)
            everything = (ir.Star((), ir.NOWHERE, ir.NOWHERE),)
            relation = context.add(ir.Select((ir.Source("", relation=index),), chosen or everything, condition))
        writes.append(ir.Write(target, relation, "insert", columns, conditional=conditional or condition is not None))
    return {"kind": "INSERT", "writes": tuple(writes)}


def into(context: Context, tree: exp.Expr, target: exp.Expr) -> dict[str, Any]:
    """SELECT … INTO makes a table of the query."""
    name = name_of(context, target.this)
    definition = ir.Definition(
        name, "table", relation=query(context, tree), temporary=bool(target.args.get("temporary"))
    )
    return {"kind": "SELECT INTO", "definition": definition}


def update(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """UPDATE, with or without FROM; the target may be named by an alias, or be a CTE over one table."""
    bind_with(context, tree)
    sources = _joined_sources(context, tree)
    target = _behind_alias(context, tree.this, sources)
    if target is None:
        return {"kind": "UPDATE"}
    where = tree.args.get("where")
    write = _assignments(context, tree.expressions, sources, where, target, conditional=False)
    condition = optional(context, where.this if where is not None else None)
    assigns = updated_variables(context, tree.expressions, sources, condition)
    return {"kind": "UPDATE", "writes": (write,), "assigns": assigns}


def delete(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """DELETE moves no values: what it filters by is kept as statement-wide input of the target."""
    bind_with(context, tree)
    named = (tree.args.get("tables") or [tree.this])[0]
    sources = _joined_sources(context, tree)
    target = _behind_alias(context, named, sources) if isinstance(named, exp.Expr) else None
    if target is None:
        return {"kind": "DELETE"}
    where = tree.args.get("where")
    relation = context.add(ir.Select(sources, (), optional(context, where.this if where is not None else None)))
    return {"kind": "DELETE", "writes": (ir.Write(target, relation, "delete", ()),)}


def _joined_sources(context: Context, tree: exp.Expr) -> tuple[ir.Source, ...]:
    """The target of an UPDATE or DELETE and what it is joined with; a target that FROM names again counts once."""
    from_ = tree.args.get("from_")
    others: list[ir.Source] = []
    if from_ is not None:
        others.extend(source(context, from_.this, None, query))
    for table in tree.args.get("using") or ():
        others.extend(source(context, table, ir.Join("cross"), query))
    named = tree.this if isinstance(tree.this, exp.Expr) else next(iter(tree.args.get("tables") or ()), None)
    own = list(source(context, named, None, query)) if named is not None else []
    aliases = {item.alias for item in others}
    return (*(item for item in own if item.alias not in aliases), *others)


def _behind_alias(context: Context, node: exp.Expr, sources: Sequence[ir.Source]) -> ir.Name | None:
    """The object that a written target stands for."""
    if not isinstance(node, exp.Table):
        return None
    name = name_of(context, node)
    alias = node.alias or ""
    for item in sources:
        if item.alias in (name.parts[-1], alias) and len(name.parts) == 1:
            return item.name or _base_table(context, item.relation)
    return name


def _base_table(context: Context, index: int) -> ir.Name | None:
    """The table that a CTE selects from, where writing to the CTE writes to it."""
    relation = context.relations[index] if index != ir.NOWHERE else None
    if isinstance(relation, ir.Select) and relation.sources:
        return relation.sources[0].name or _base_table(context, relation.sources[0].relation)
    return None


def _assignments(
    context: Context,
    items: Sequence[exp.Expr],
    sources: tuple[ir.Source, ...],
    where: exp.Expr | None,
    target: ir.Name,
    *,
    conditional: bool,
) -> ir.Write:
    """`SET a = x, b = y` as a select of x, y into columns a, b."""
    columns: list[str] = []
    values: list[ir.Output] = []
    for item in items:
        if isinstance(item, exp.EQ) and is_variable(item.this) and isinstance(item.expression, exp.EQ):
            item = item.expression
        if not isinstance(item, exp.EQ):
            continue
        lefts = item.this.expressions if isinstance(item.this, exp.Tuple) else [item.this]
        rights = item.expression.expressions if isinstance(item.expression, exp.Tuple) else [item.expression]
        for position, left in enumerate(lefts):
            right = rights[position] if position < len(rights) else rights[-1]
            if isinstance(left, exp.Column) and isinstance(left.this, exp.Identifier):
                columns.append(context.column(left.this))
                values.append(
                    ir.Output(columns[-1], left.this.name, expression(context, right), *_value_place(context, item))
                )
    condition = optional(context, where.this if where is not None else None)
    relation = context.add(ir.Select(sources, tuple(values), condition))
    return ir.Write(target, relation, "update", tuple(columns), conditional=conditional)


def _value_place(context: Context, item: exp.Expr) -> tuple[int, int]:
    """Where the right side of `column = value` stands."""
    recorded = context.items.nodes.get(id(item))
    left = item.this
    if recorded is None or not isinstance(left, exp.Column):
        return ir.NOWHERE, ir.NOWHERE
    _, first, last = recorded
    tokens = context.items.tokens
    named = left.this.meta.get("start", tokens[first].start)
    while first < last and tokens[first].start != named:
        first += 1
    start, end = tokens[min(first + 2, last)].start, tokens[last].end + 1
    return start - context.origin, end - context.origin


def target_of(context: Context, node: exp.Expr) -> tuple[ir.Name | None, tuple[str, ...] | None]:
    """The object that is written, and the column list where there is one."""
    columns: tuple[str, ...] | None = None
    if isinstance(node, exp.Schema):
        names = [item.this if isinstance(item, exp.ColumnDef | exp.Column) else item for item in node.expressions]
        columns = tuple(context.column(item) for item in names if isinstance(item, exp.Identifier)) or None
        node = node.this
    return (name_of(context, node) if isinstance(node, exp.Table) else None), columns


def merge(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """MERGE: every arm is a write of its own over target and source."""
    bind_with(context, tree)
    target = name_of(context, tree.this)
    own = next(iter(source(context, tree.this, None, query)))
    on = optional(context, tree.args.get("on"))
    using = [
        msgspec.structs.replace(item, join=item.join or ir.Join("left", on))
        for item in source(context, tree.args["using"], None, query)
    ]
    writes = []
    for arm in tree.args["whens"].expressions:
        write = _arm(context, arm, target, own, tuple(using))
        if write is not None:
            writes.append(write)
    return {"kind": "MERGE", "writes": tuple(writes)}


def _arm(
    context: Context, arm: exp.Expr, target: ir.Name, own: ir.Source, using: tuple[ir.Source, ...]
) -> ir.Write | None:
    then = arm.args["then"]
    condition = arm.args.get("condition")
    where = exp.Where(this=condition) if condition is not None else None
    sources = (own, *using)
    if isinstance(then, exp.Update):
        if any(isinstance(item, exp.Star) for item in then.expressions):
            return _star_arm(context, using, condition, target, "update")
        return _assignments(context, then.expressions, sources, where, target, conditional=True)
    if not isinstance(then, exp.Insert):
        relation = context.add(ir.Select(sources, (), optional(context, condition)))
        return ir.Write(target, relation, "delete", (), conditional=True)
    if isinstance(then.this, exp.Star) or then.args.get("expression") is None:
        return _star_arm(context, using, condition, target, "insert")
    columns = (
        tuple(context.column(item.this) for item in then.this.expressions if isinstance(item, exp.Column))
        if then.this is not None
        else None
    )
    values = then.expression
    items = values.expressions if isinstance(values, exp.Tuple) else [values]
    if items and isinstance(items[0], exp.Tuple):
        items = items[0].expressions
    chosen = tuple(outputs(context, exp.Select(expressions=items)))
    relation = context.add(ir.Select(sources, chosen, optional(context, condition)))
    return ir.Write(target, relation, "insert", columns, conditional=True)


def _star_arm(
    context: Context, using: tuple[ir.Source, ...], condition: exp.Expr | None, target: ir.Name, mode: str
) -> ir.Write:
    """UPDATE SET * and INSERT *: every column of the source, by name."""
    context.features.add("star")
    stars = tuple(ir.Star((item.alias,), ir.NOWHERE, ir.NOWHERE) for item in using)
    relation = context.add(ir.Select(using, stars, optional(context, condition)))
    return ir.Write(target, relation, mode, None, by_name=True, conditional=True)
