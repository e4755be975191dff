"""UPDATE and DELETE: a select over the changed object and what it is joined with."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects.identifier_folding import fold_for_alias
from lineage_pipeline.engine.compile.context import CompileContext, StatementFields, compile_object_name
from lineage_pipeline.engine.compile.expressions.dispatch import (
    compile_assigned_value,
    compile_expression,
    compile_optional,
)
from lineage_pipeline.engine.compile.relations.from_clause import compile_source_item
from lineage_pipeline.engine.compile.relations.query import bind_ctes, compile_query
from lineage_pipeline.engine.compile.relations.select import compile_order_and_limit
from lineage_pipeline.engine.compile.statements.returning import compile_returning
from lineage_pipeline.engine.compile.statements.session import compile_update_variables, is_assignable_variable
from lineage_pipeline.model import ir


def compile_truncate(context: CompileContext, tree: exp.Expr) -> StatementFields:
    """TRUNCATE empties tables and changes no lineage."""
    emptied = tuple(ir.Alteration(compile_object_name(context, table), "truncate") for table in tree.expressions)
    return {"kind": "TRUNCATE", "alterations": emptied}


def compile_update(context: CompileContext, tree: exp.Expr) -> dict[str, Any]:
    """UPDATE, with or without FROM; the target may be an alias, or a CTE over one table."""
    bind_ctes(context, tree)
    sources = compile_changed_sources(context, tree)
    target = resolve_target(context, tree.this, sources)
    if target is None:
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct="the target of this UPDATE")
        return {"kind": "UPDATE"}
    rows = _compile_changed_rows(context, tree, sources)
    parts = {
        "kind": "UPDATE",
        "writes": tuple(compile_assignments(context, tree.expressions, rows, target)),
        "assigns": compile_update_variables(context, tree.expressions, sources, rows.where),
    }
    if isinstance(tree.this, exp.Table) and compile_object_name(context, tree.this).start != target.start:
        parts["reads"] = (target,)  # FROM names the target among what it reads
    return compile_returning(context, tree, parts, sources, rows.where)


def compile_delete(context: CompileContext, tree: exp.Expr) -> dict[str, Any]:
    """DELETE moves no values: its conditions are statement-wide inputs of the target."""
    bind_ctes(context, tree)
    sources = compile_changed_sources(context, tree)
    named = tree.args.get("tables") or [tree.this]
    found = [resolve_target(context, item, sources) for item in named if isinstance(item, exp.Expr)]
    targets = [target for target in found if target is not None]
    if not targets:
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct="the target of this DELETE")
        return {"kind": "DELETE"}
    sources = (*sources, *_compile_unlisted_targets(context, tree, sources))
    rows = _compile_changed_rows(context, tree, sources)
    relation = context.add_relation(rows)
    writes = tuple(ir.Write(target, relation, "delete", ()) for target in targets)
    return compile_returning(context, tree, {"kind": "DELETE", "writes": writes}, sources, rows.where)


def _compile_unlisted_targets(
    context: CompileContext, tree: exp.Expr, sources: Sequence[ir.Source]
) -> Iterator[ir.Source]:
    """Teradata: the targets of `DELETE t FROM u WHERE …` that FROM does not name."""
    answering = {item.alias for item in sources}
    answering |= {context.default_alias(item.name) for item in sources if item.name is not None}
    for table in tree.args.get("tables") or ():
        plain = isinstance(table, exp.Table) and not table.args.get("alias")
        if plain and context.default_alias(compile_object_name(context, table)) not in answering:
            yield from compile_source_item(context, table, ir.Join("cross"), compile_query)


def _compile_changed_rows(context: CompileContext, tree: exp.Expr, sources: tuple[ir.Source, ...]) -> ir.Select:
    """The rows that a statement changes, without outputs."""
    where = tree.args.get("where")
    order, limit = compile_order_and_limit(context, tree)
    condition = compile_optional(context, where.this if where is not None else None)
    return ir.Select(sources, (), condition, order=order, limit=limit)


def compile_changed_sources(context: CompileContext, tree: exp.Expr) -> tuple[ir.Source, ...]:
    """The target of an UPDATE or DELETE and its joined sources; a target repeated in FROM counts once."""
    from_ = tree.args.get("from_")
    others: list[ir.Source] = []
    if from_ is not None:
        others.extend(compile_source_item(context, from_.this, None, compile_query))
    for table in tree.args.get("using") or ():
        others.extend(compile_source_item(context, table, ir.Join("cross"), compile_query))
    named = tree.this if isinstance(tree.this, exp.Expr) else next(iter(tree.args.get("tables") or ()), None)
    own = list(compile_source_item(context, named, None, compile_query)) if named is not None else []
    aliases = {item.alias for item in others}
    found = (*(item for item in own if item.alias not in aliases), *others)
    return (*found, *_compile_implied_sources(context, tree, found)) if context.traits.implied_sources else found


def _compile_implied_sources(
    context: CompileContext, tree: exp.Expr, sources: Sequence[ir.Source]
) -> Iterator[ir.Source]:
    """Teradata: `UPDATE t SET a = s.x WHERE t.id = s.id` reads s."""
    known = {item.alias.lower() for item in sources} | {
        item.name.parts[-1].lower() for item in sources if item.name is not None
    }
    for column in tree.find_all(exp.Column):
        qualifier = column.args.get("table")
        if qualifier is None or qualifier.name.lower() in known or column.find_ancestor(exp.Select) is not None:
            continue
        known.add(qualifier.name.lower())
        table = exp.Table(this=qualifier, db=column.args.get("db"), catalog=column.args.get("catalog"))
        yield from compile_source_item(context, table, ir.Join("cross"), compile_query)


def resolve_target(context: CompileContext, node: exp.Expr, sources: Sequence[ir.Source]) -> ir.Name | None:
    """The object that a written target refers to."""
    if not isinstance(node, exp.Table):
        return None
    name = compile_object_name(context, node)
    called = (context.default_alias(name), context.table_alias(node)[0])
    for item in sources:
        if item.alias in called and len(name.parts) == 1:
            base = _resolve_base_column(context, item, "")
            return base[0] if base is not None else None
    return name if any(name.parts) else None  # a function has no name of a table


def _resolve_base_column(context: CompileContext, item: ir.Source, column: str) -> tuple[ir.Name, str] | None:
    """The table and column behind a column of a source: writing to a CTE writes to the table inside it."""
    if item.name is not None:
        return item.name, column
    relation = context.relations[item.relation] if item.relation != ir.NOWHERE else None
    if isinstance(relation, ir.Renamed):
        inner = context.relations[relation.relation]
        position = relation.columns.index(column) if column in relation.columns else -1
        if isinstance(inner, ir.Select) and 0 <= position < len(inner.outputs):
            chosen = inner.outputs[position]
            column = chosen.name if isinstance(chosen, ir.Output) else column
        return _resolve_base_column(context, ir.Source(item.alias, relation=relation.relation), column)
    if not isinstance(relation, ir.Select) or not relation.sources:
        return None
    for output in relation.outputs:
        if isinstance(output, ir.Output) and output.name == column and isinstance(output.expr, ir.Ref):
            *qualifier, inside = output.expr.parts
            owner = [found for found in relation.sources if qualifier and found.alias == qualifier[-1]]
            return _resolve_base_column(context, (owner or relation.sources)[0], inside)
    return _resolve_base_column(context, relation.sources[0], column)


def compile_assignments(
    context: CompileContext,
    items: Sequence[exp.Expr],
    rows: ir.Select,
    target: ir.Name,
    *,
    conditional: bool = False,
) -> Iterator[ir.Write]:
    """`SET a = x, b = y` as a select of x, y into columns a, b; one write per object."""
    grouped: dict[ir.Name, list[tuple[ir.Output, int]]] = {target: []}
    for item in items:
        for name, output, start in _compile_assignment(context, item, rows.sources, target):
            grouped.setdefault(name, []).append((output, start))
    for name, found in grouped.items():
        if found or len(grouped) == 1:
            outputs, starts = tuple(output for output, _ in found), tuple(start for _, start in found)
            relation = context.add_relation(msgspec.structs.replace(rows, outputs=outputs))
            columns = tuple(output.name for output in outputs)
            yield ir.Write(name, relation, "update", columns, conditional=conditional, starts=starts)


def _compile_assignment(
    context: CompileContext, item: exp.Expr, sources: Sequence[ir.Source], target: ir.Name
) -> Iterator[tuple[ir.Name, ir.Output, int]]:
    """The columns that one assignment sets, with their offsets.
    T-SQL may set a variable in between, and a tuple takes several values.
    """
    while isinstance(item, exp.EQ) and is_assignable_variable(item.this) and isinstance(item.expression, exp.EQ):
        item = item.expression
    if not isinstance(item, exp.EQ | exp.PropertyEQ):
        return
    left = item.this.this if isinstance(item.this, exp.Paren) else item.this
    lefts = left.expressions if isinstance(left, exp.Tuple) else [left]
    place = context.assigned_value_span(_identifier_offset(lefts[0], context.origin))
    for column, value in zip(lefts, _split_values(item.expression, len(lefts)), strict=False):
        parts = _compile_column_parts(context, column)
        if not parts:
            continue
        name, field = _resolve_owner(context, parts, sources, target)
        _qualify_compound_operand(column, value, sources, target)
        compiled = compile_assigned_value(context, value)
        if field:  # a member of a struct is set, the rest of it stays
            compiled = ir.Call("STRUCT", (compiled,))
        start = _identifier_offset(column, context.origin) - context.origin
        yield name[0], ir.Output(name[1], name[1], compiled, *place), start


def _identifier_offset(node: exp.Expr, default: int) -> int:
    identifier = node if isinstance(node, exp.Identifier) else node.find(exp.Identifier)
    return int(identifier.meta.get("start", default)) if identifier is not None else default


def _compile_column_parts(context: CompileContext, node: exp.Expr) -> tuple[str, ...]:
    """The parts of the column on the left of an assignment; an array element counts as the array."""
    while isinstance(node, exp.Bracket | exp.Paren):
        node = node.this
    if isinstance(node, exp.Identifier):
        return (context.column_name(node),)
    if not isinstance(node, exp.Column | exp.Dot):
        return ()
    compiled = compile_expression(context, node)
    return compiled.parts if isinstance(compiled, ir.Ref) else ()


def _resolve_owner(
    context: CompileContext, parts: tuple[str, ...], sources: Sequence[ir.Source], target: ir.Name
) -> tuple[tuple[ir.Name, str], bool]:
    """The object and column of a dotted name on the left, and whether it is a struct member."""
    for item in sources:
        if len(parts) > 1 and item.alias == parts[0]:
            return _resolve_base_column(context, item, parts[1]) or (target, parts[1]), len(parts) > 2
    if len(parts) > 1 and parts[:-1] == fold_for_alias(target.parts, context.traits.aliases)[-(len(parts) - 1) :]:
        return (target, parts[-1]), False
    for item in sources:
        if item.relation != ir.NOWHERE:  # a CTE or an inline view may rename the column
            base = _resolve_base_column(context, item, parts[0])
            if base is not None and base[0] == target:
                return base, len(parts) > 1
    return (target, parts[0]), len(parts) > 1


def _split_values(node: exp.Expr, width: int) -> list[exp.Expr]:
    """The values for `width` columns: the parts of a row, or the columns of a query."""
    if width == 1 and not isinstance(node, exp.Anonymous | exp.Struct):
        return [node]
    inner = node
    while isinstance(inner, exp.Paren | exp.Subquery):
        inner = inner.this
    if isinstance(inner, exp.Select) and len(inner.expressions) >= width:
        return [_select_column(inner, position) for position in range(width)]
    row = isinstance(inner, exp.Tuple | exp.Struct) or (
        isinstance(inner, exp.Anonymous) and inner.name.upper() == "ROW"
    )
    if row and len(inner.expressions) == width:
        return list(inner.expressions)
    return [node] * width


def _select_column(select: exp.Expr, position: int) -> exp.Expr:
    """The query with one of its columns."""
    copied = select.copy()
    copied.set("expressions", [copied.expressions[position]])
    return exp.Subquery(this=copied)


def _qualify_compound_operand(left: exp.Expr, value: exp.Expr, sources: Sequence[ir.Source], target: ir.Name) -> None:
    """In `x += y`, written out as `x = x + y`, the second x is the target's column."""
    first = value.this if isinstance(value, exp.Binary) else None
    if isinstance(first, exp.Column) and isinstance(left, exp.Column) and first.args.get("table") is None:
        same = first.this.meta.get("start")
        if same is not None and same == left.this.meta.get("start"):
            alias = next((item.alias for item in sources if item.name == target), "")
            qualify_columns(first, alias)


def qualify_columns(node: exp.Expr, alias: str) -> None:
    """Qualify the unqualified columns of an expression, subqueries excluded, with one source."""
    if not alias:
        return
    for column in [node] if isinstance(node, exp.Column) else node.find_all(exp.Column):
        bare = column.args.get("table") is None and isinstance(column.this, exp.Identifier)
        if bare and column.find_ancestor(exp.Query) is None:
            column.set("table", exp.to_identifier(alias, quoted=True))
