"""Statements that change rows where they are: UPDATE and DELETE become a select over what they are joined with."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects.folding import spoken
from lineage_pipeline.engine.compile.context import Context, name_of
from lineage_pipeline.engine.compile.expressions import expression, optional
from lineage_pipeline.engine.compile.queries import bind_with, query
from lineage_pipeline.engine.compile.returning import returned
from lineage_pipeline.engine.compile.rowsets import alias_of
from lineage_pipeline.engine.compile.selects import order_and_limit
from lineage_pipeline.engine.compile.sources import source
from lineage_pipeline.engine.compile.variables import is_variable, updated_variables
from lineage_pipeline.engine.compile.walk import assigned_value
from lineage_pipeline.vocabulary import ir


def update(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """UPDATE, with or without FROM; the target may be named by an alias, or be a CTE over one table."""
    bind_with(context, tree)
    sources = joined_sources(context, tree)
    target = behind_alias(context, tree.this, sources)
    if target is None:
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct="the target of this UPDATE")
        return {"kind": "UPDATE"}
    rows = _rows(context, tree, sources)
    parts = {
        "kind": "UPDATE",
        "writes": tuple(assignments(context, tree.expressions, rows, target)),
        "assigns": updated_variables(context, tree.expressions, sources, rows.where),
    }
    if isinstance(tree.this, exp.Table) and name_of(context, tree.this).start != target.start:
        parts["reads"] = (target,)  # FROM names the target among what it reads
    return returned(context, tree, parts, sources, rows.where)


def delete(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """DELETE moves no values: what it filters by is kept as statement-wide input of the target."""
    bind_with(context, tree)
    sources = joined_sources(context, tree)
    named = tree.args.get("tables") or [tree.this]
    found = [behind_alias(context, item, sources) for item in named if isinstance(item, exp.Expr)]
    targets = [target for target in found if target is not None]
    if not targets:
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct="the target of this DELETE")
        return {"kind": "DELETE"}
    sources = (*sources, *_beside(context, tree, sources))
    rows = _rows(context, tree, sources)
    relation = context.add(rows)
    writes = tuple(ir.Write(target, relation, "delete", ()) for target in targets)
    return returned(context, tree, {"kind": "DELETE", "writes": writes}, sources, rows.where)


def _beside(context: Context, tree: exp.Expr, sources: Sequence[ir.Source]) -> Iterator[ir.Source]:
    """Teradata: the targets of `DELETE t FROM u WHERE …` that FROM does not name."""
    answering = {item.alias for item in sources}
    answering |= {context.called(item.name) for item in sources if item.name is not None}
    for table in tree.args.get("tables") or ():
        plain = isinstance(table, exp.Table) and not table.args.get("alias")
        if plain and context.called(name_of(context, table)) not in answering:
            yield from source(context, table, ir.Join("cross"), query)


def _rows(context: Context, tree: exp.Expr, sources: tuple[ir.Source, ...]) -> ir.Select:
    """The rows that a statement changes, no column of them chosen yet."""
    where = tree.args.get("where")
    order, limit = order_and_limit(context, tree)
    condition = optional(context, where.this if where is not None else None)
    return ir.Select(sources, (), condition, order=order, limit=limit)


def joined_sources(context: Context, tree: exp.Expr) -> tuple[ir.Source, ...]:
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


def behind_alias(context: Context, node: exp.Expr, sources: Sequence[ir.Source]) -> ir.Name | None:
    """The object that a written target stands for."""
    if not isinstance(node, exp.Table):
        return None
    name = name_of(context, node)
    called = (context.called(name), alias_of(context, node)[0])
    for item in sources:
        if item.alias in called and len(name.parts) == 1:
            base = _base(context, item, "")
            return base[0] if base is not None else None
    return name


def _base(context: Context, item: ir.Source, column: str) -> tuple[ir.Name, str] | None:
    """The table and its column behind a column of a source, where writing to a CTE writes to the table inside it."""
    if item.name is not None:
        return item.name, column
    relation = context.relations[item.relation] if item.relation != ir.NOWHERE else None
    if isinstance(relation, ir.Renamed):
        inner = context.relations[relation.relation]
        position = relation.columns.index(column) if column in relation.columns else -1
        if isinstance(inner, ir.Select) and 0 <= position < len(inner.outputs):
            chosen = inner.outputs[position]
            column = chosen.name if isinstance(chosen, ir.Output) else column
        return _base(context, ir.Source(item.alias, relation=relation.relation), column)
    if not isinstance(relation, ir.Select) or not relation.sources:
        return None
    for output in relation.outputs:
        if isinstance(output, ir.Output) and output.name == column and isinstance(output.expr, ir.Ref):
            *qualifier, inside = output.expr.parts
            owner = [found for found in relation.sources if qualifier and found.alias == qualifier[-1]]
            return _base(context, (owner or relation.sources)[0], inside)
    return _base(context, relation.sources[0], column)


def assignments(
    context: Context,
    items: Sequence[exp.Expr],
    rows: ir.Select,
    target: ir.Name,
    *,
    conditional: bool = False,
) -> Iterator[ir.Write]:
    """`SET a = x, b = y` as a select of x, y into columns a, b; one for each object whose columns are set."""
    grouped: dict[ir.Name, list[tuple[ir.Output, int]]] = {target: []}
    for item in items:
        for name, output, start in _assigned(context, item, rows.sources, target):
            grouped.setdefault(name, []).append((output, start))
    for name, found in grouped.items():
        if found or len(grouped) == 1:
            outputs, starts = tuple(output for output, _ in found), tuple(start for _, start in found)
            relation = context.add(msgspec.structs.replace(rows, outputs=outputs))
            columns = tuple(output.name for output in outputs)
            yield ir.Write(name, relation, "update", columns, conditional=conditional, starts=starts)


def _assigned(
    context: Context, item: exp.Expr, sources: Sequence[ir.Source], target: ir.Name
) -> Iterator[tuple[ir.Name, ir.Output, int]]:
    """The columns that one assignment sets, and where each stands.

    T-SQL may set a variable on the way, and a tuple takes several values.
    """
    while isinstance(item, exp.EQ) and is_variable(item.this) and isinstance(item.expression, exp.EQ):
        item = item.expression
    if not isinstance(item, exp.EQ | exp.PropertyEQ):
        return
    left = item.this.this if isinstance(item.this, exp.Paren) else item.this
    lefts = left.expressions if isinstance(left, exp.Tuple) else [left]
    place = context.value_behind(_first_place(lefts[0], context.origin))
    for column, value in zip(lefts, _values(item.expression, len(lefts)), strict=False):
        parts = _column_parts(context, column)
        if not parts:
            continue
        name, field = _owner(context, parts, sources, target)
        _qualify_itself(column, value, sources, target)
        compiled = assigned_value(context, value)
        if field:  # a member of a struct is set, the rest of it stays
            compiled = ir.Call("STRUCT", (compiled,))
        start = _first_place(column, context.origin) - context.origin
        yield name[0], ir.Output(name[1], name[1], compiled, *place), start


def _first_place(node: exp.Expr, default: int) -> int:
    identifier = node if isinstance(node, exp.Identifier) else node.find(exp.Identifier)
    return int(identifier.meta.get("start", default)) if identifier is not None else default


def _column_parts(context: Context, node: exp.Expr) -> tuple[str, ...]:
    """The parts of the column on the left of an assignment; an element of an array stands for the array."""
    while isinstance(node, exp.Bracket | exp.Paren):
        node = node.this
    if isinstance(node, exp.Identifier):
        return (context.column(node),)
    if not isinstance(node, exp.Column | exp.Dot):
        return ()
    compiled = expression(context, node)
    return compiled.parts if isinstance(compiled, ir.Ref) else ()


def _owner(
    context: Context, parts: tuple[str, ...], sources: Sequence[ir.Source], target: ir.Name
) -> tuple[tuple[ir.Name, str], bool]:
    """The object and the column that a dotted name on the left stands for, and whether a member of it is meant."""
    for item in sources:
        if len(parts) > 1 and item.alias == parts[0]:
            return _base(context, item, parts[1]) or (target, parts[1]), len(parts) > 2
    if len(parts) > 1 and parts[:-1] == spoken(target.parts, context.traits.aliases)[-(len(parts) - 1) :]:
        return (target, parts[-1]), False
    for item in sources:
        if item.relation != ir.NOWHERE:  # a CTE or an inline view may rename the column
            base = _base(context, item, parts[0])
            if base is not None and base[0] == target:
                return base, len(parts) > 1
    return (target, parts[0]), len(parts) > 1


def _values(node: exp.Expr, width: int) -> list[exp.Expr]:
    """The values that as many columns get: the parts of a row, or the columns of a query."""
    if width == 1 and not isinstance(node, exp.Anonymous | exp.Struct):
        return [node]
    inner = node
    while isinstance(inner, exp.Paren | exp.Subquery):
        inner = inner.this
    if isinstance(inner, exp.Select) and len(inner.expressions) >= width:
        return [_only(inner, position) for position in range(width)]
    row = isinstance(inner, exp.Tuple | exp.Struct) or (
        isinstance(inner, exp.Anonymous) and inner.name.upper() == "ROW"
    )
    if row and len(inner.expressions) == width:
        return list(inner.expressions)
    return [node] * width


def _only(select: exp.Expr, position: int) -> exp.Expr:
    """The query with one of its columns."""
    copied = select.copy()
    copied.set("expressions", [copied.expressions[position]])
    return exp.Subquery(this=copied)


def _qualify_itself(left: exp.Expr, value: exp.Expr, sources: Sequence[ir.Source], target: ir.Name) -> None:
    """`x += y` was written out as `x = x + y`: the second x is the target's, whoever else has one."""
    first = value.this if isinstance(value, exp.Binary) else None
    if isinstance(first, exp.Column) and isinstance(left, exp.Column) and first.args.get("table") is None:
        same = first.this.meta.get("start")
        if same is not None and same == left.this.meta.get("start"):
            alias = next((item.alias for item in sources if item.name == target), "")
            qualify(first, alias)


def qualify(node: exp.Expr, alias: str) -> None:
    """Let the columns without a qualifier, subqueries apart, be those of one source."""
    if not alias:
        return
    for column in [node] if isinstance(node, exp.Column) else node.find_all(exp.Column):
        bare = column.args.get("table") is None and isinstance(column.this, exp.Identifier)
        if bare and column.find_ancestor(exp.Query) is None:
            column.set("table", exp.to_identifier(alias, quoted=True))
