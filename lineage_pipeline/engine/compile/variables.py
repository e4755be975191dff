"""Variables: declarations and assignments become the outputs of relations that go into names."""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_pipeline.dialects.families import VARIABLE_MARKED
from lineage_pipeline.engine.compile.context import Context, name_of
from lineage_pipeline.engine.compile.definitions import column_def
from lineage_pipeline.engine.compile.expressions import expression, variable
from lineage_pipeline.engine.compile.queries import query
from lineage_pipeline.engine.compile.types import spelling
from lineage_pipeline.vocabulary import ir


def declare(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """DECLARE: variables with their types and first values, and variables that are tables."""
    assigns: list[ir.Assignment] = []
    definition: ir.Definition | None = None
    for item in tree.expressions:
        named = item.this if isinstance(item.this, list) else [item.this]
        names = tuple(_name(context, node) for node in named)
        kind, default = item.args.get("kind"), item.args.get("default")
        if isinstance(kind, exp.Schema) and named:
            columns = tuple(column_def(context, node) for node in kind.expressions if isinstance(node, exp.ColumnDef))
            name = name_of(context, exp.Table(this=named[0]))
            definition = ir.Definition(name, "table", columns, temporary=True, replace=True)
            continue
        relation = _constant(context, default) if isinstance(default, exp.Expr) else ir.NOWHERE
        kinds = (spelling(kind, context.dialect),) if isinstance(kind, exp.DataType) else ()
        assigns.append(ir.Assignment(names, relation, types=kinds * len(names)))
    return {"kind": "DECLARE", "assigns": tuple(assigns), "definition": definition}


def assignments(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """SET of variables; options of the session are none."""
    assigns = []
    for item in tree.expressions:
        pair = item.this if isinstance(item, exp.SetItem) else None
        if not isinstance(pair, exp.EQ):
            continue
        if context.traits.name in VARIABLE_MARKED and isinstance(pair.this, exp.Column):  # read as `$name`
            assigns.append(ir.Assignment(("@" + pair.this.name.lower(),), _constant(context, pair.expression)))
        elif is_variable(pair.this) or _is_declared(context, pair.this):
            assigns.append(ir.Assignment((_name(context, pair.this),), _constant(context, pair.expression)))
    return {"kind": "SET", "assigns": tuple(assigns)}


def _is_declared(context: Context, node: exp.Expr) -> bool:
    """Whether a bare name is that of a variable."""
    return isinstance(node, exp.Column) and node.args.get("table") is None and _name(context, node) in context.declared


def is_variable(node: object) -> bool:
    """Whether a node is a variable that can be assigned to."""
    return isinstance(node, exp.Parameter)


def assigns_variables(tree: exp.Expr) -> bool:
    """Whether a SELECT puts its columns into variables instead of returning them."""
    return isinstance(tree, exp.Select) and any(
        isinstance(item, exp.EQ) and is_variable(item.this) for item in tree.expressions
    )


def select_into_variables(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """`SELECT @a = x, @b = y FROM …`: one assignment, or one each where a later one reads what an earlier one set."""
    pairs = [item for item in tree.expressions if isinstance(item, exp.EQ) and is_variable(item.this)]
    names = [_name(context, item.this) for item in pairs]
    values = [_right(context, item) for item in pairs]
    groups = [(names, values)]
    if any(_reads(value, names[:position]) for position, value in enumerate(values)):
        groups = [([name], [value]) for name, value in zip(names, values, strict=True)]
    assigns = []
    for group, items in groups:
        tree.set("expressions", items)
        assigns.append(ir.Assignment(tuple(group), query(context, tree)))
    return {"kind": "SELECT", "assigns": tuple(assigns)}


def updated_variables(
    context: Context, items: Sequence[exp.Expr], sources: tuple[ir.Source, ...], where: ir.Expr | None
) -> tuple[ir.Assignment, ...]:
    """`UPDATE … SET @v = x` and `SET @v = c = x` put the new value into the variable."""
    names, values = [], []
    for item in items:
        if isinstance(item, exp.EQ) and is_variable(item.this):
            value = item.expression
            right = value.expression if isinstance(value, exp.EQ) and isinstance(value.this, exp.Column) else value
            names.append(_name(context, item.this))
            values.append(ir.Output(names[-1], names[-1], expression(context, right), ir.NOWHERE, ir.NOWHERE))
    if not names:
        return ()
    return (ir.Assignment(tuple(names), context.add(ir.Select(sources, tuple(values), where))),)


def _name(context: Context, node: exp.Expr) -> str:
    bare = node.this if isinstance(node, exp.Column) else node
    if isinstance(bare, exp.Identifier):  # a dialect whose variables have no mark
        return context.column(bare)
    compiled = variable(context, node)
    return compiled.name if isinstance(compiled, ir.Variable) else ""


def _constant(context: Context, value: exp.Expr) -> int:
    """A relation of one value without sources."""
    return context.add(ir.Select((), (ir.Output("", "", expression(context, value), ir.NOWHERE, ir.NOWHERE),)))


def _right(context: Context, item: exp.Expr) -> exp.Expr:
    """The value of an assignment in a select list, at its own place: behind `@`, the name and the sign."""
    value: exp.Expr = item.expression
    recorded = context.items.nodes.get(id(item))
    if recorded is not None:
        _, first, last = recorded
        context.items.nodes[id(value)] = (value, min(first + 3, last), last)
    return value


def _reads(value: exp.Expr, names: Sequence[str]) -> bool:
    return bool(names) and any("@" + node.name.lower() in names for node in value.find_all(exp.Parameter))
