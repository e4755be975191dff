"""Session statements: USE, SET, DECLARE, CACHE, CALL and EXECUTE, and the variables that they assign."""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_pipeline.engine.compile.context import CompileContext, ReadFields, StatementFields, compile_object_name
from lineage_pipeline.engine.compile.expressions.compilers import compile_variable
from lineage_pipeline.engine.compile.expressions.data_types import spell_type
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expression
from lineage_pipeline.engine.compile.relations.query import compile_query
from lineage_pipeline.engine.compile.statements.create import compile_column_definition
from lineage_pipeline.engine.compile.tokens import TokenReader
from lineage_pipeline.model import ir


def compile_use(context: CompileContext, tree: exp.Expr) -> StatementFields:
    """USE qualifies the names that follow."""
    given = tree.args.get("kind")
    kind = (given.name if isinstance(given, exp.Expr) else str(given or "")).upper()
    table = tree.this
    named = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
    parts = compile_object_name(context, table).parts if named and kind not in _NOT_NAMESPACES else ()
    return {"kind": "USE", "context": (kind, *parts)}


_NOT_NAMESPACES = ("ROLE", "WAREHOUSE", "SECONDARY ROLES")


def compile_cache(context: CompileContext, tree: exp.Expr) -> StatementFields:
    """Spark: CACHE TABLE … AS query is a temporary view."""
    body = tree.args.get("expression")
    if not isinstance(body, exp.Query) or not isinstance(tree.this, exp.Table):
        return {"kind": "CACHE"}
    name = compile_object_name(context, tree.this)
    definition = ir.Definition(name, "view", relation=compile_query(context, body), temporary=True, replace=True)
    return {"kind": "CACHE", "definition": definition}


def compile_set(context: CompileContext, tree: exp.Expr) -> StatementFields:
    """SET search_path qualifies names, SET of variables assigns; other options do not affect lineage."""
    for item in tree.expressions:
        assignment = item.this if isinstance(item, exp.SetItem) else None
        if isinstance(assignment, exp.EQ) and assignment.this.name.lower() == "search_path":
            values = assignment.expression
            names = values.expressions if isinstance(values, exp.Tuple) else [values]
            return {"kind": "SET", "context": ("SEARCH_PATH", *(context.table_name(value) for value in names))}
        if isinstance(assignment, exp.EQ) and assignment.this.name.lower() in ("schema", "current_schema"):
            return {"kind": "SET", "context": ("SCHEMA", *assignment.expression.name.split("."))}
    return compile_set_variables(context, tree)


def compile_call(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    """CALL of a procedure."""
    cursor.index = 1
    name = cursor.read_name()
    return {"kind": "CALL", "calls": (ir.Invocation(name),)} if name is not None else None


def compile_execute_prepared(context: CompileContext, cursor: TokenReader) -> ReadFields:
    """EXECUTE of a prepared statement or a task; an executed text is reported as unknown."""
    if cursor.word(1) == "IMMEDIATE":
        context.report("DYNAMIC_SQL", context.origin, context.end, share="0")
        return {"kind": "EXECUTE IMMEDIATE", "status": "partial"}
    return {"kind": "EXECUTE"}


def compile_declare(context: CompileContext, tree: exp.Expr) -> dict[str, Any]:
    """DECLARE: variables with their types and first values, and table variables."""
    assigns: list[ir.Assignment] = []
    definition: ir.Definition | None = None
    for item in tree.expressions:
        named = item.this if isinstance(item.this, list) else [item.this]
        names = tuple(_assigned_variable_name(context, node) for node in named)
        kind, default = item.args.get("kind"), item.args.get("default")
        if isinstance(kind, exp.Schema) and named:
            columns = tuple(
                compile_column_definition(context, node) for node in kind.expressions if isinstance(node, exp.ColumnDef)
            )
            name = compile_object_name(context, exp.Table(this=named[0]))
            definition = ir.Definition(name, "table", columns, temporary=True, replace=True)
            continue
        relation = _compile_single_value(context, default) if isinstance(default, exp.Expr) else ir.NOWHERE
        kinds = (spell_type(kind, context.dialect),) if isinstance(kind, exp.DataType) else ()
        assigns.append(ir.Assignment(names, relation, types=kinds * len(names)))
    return {"kind": "DECLARE", "assigns": tuple(assigns), "definition": definition}


def compile_set_variables(context: CompileContext, tree: exp.Expr) -> dict[str, Any]:
    """SET of variables; session options are not assignments."""
    assigns = []
    for item in tree.expressions:
        pair = item.this if isinstance(item, exp.SetItem) else None
        if not isinstance(pair, exp.EQ):
            continue
        if context.traits.marks_variables and isinstance(pair.this, exp.Column):  # read as `$name`
            assigns.append(
                ir.Assignment(("@" + pair.this.name.lower(),), _compile_single_value(context, pair.expression))
            )
        elif is_assignable_variable(pair.this) or _is_declared_variable(context, pair.this):
            assigns.append(
                ir.Assignment(
                    (_assigned_variable_name(context, pair.this),), _compile_single_value(context, pair.expression)
                )
            )
    return {"kind": "SET", "assigns": tuple(assigns)}


def _is_declared_variable(context: CompileContext, node: exp.Expr) -> bool:
    """Whether an unqualified name is that of a declared variable."""
    return (
        isinstance(node, exp.Column)
        and node.args.get("table") is None
        and _assigned_variable_name(context, node) in context.declared
    )


def is_assignable_variable(node: object) -> bool:
    """Whether a node is a variable that can be assigned to."""
    return isinstance(node, exp.Parameter)


def has_variable_assignments(tree: exp.Expr) -> bool:
    """T-SQL: whether a SELECT assigns its columns to variables instead of returning them."""
    return isinstance(tree, exp.Select) and any(
        isinstance(item, exp.EQ) and is_assignable_variable(item.this) for item in tree.expressions
    )


def compile_select_assignments(context: CompileContext, tree: exp.Expr) -> dict[str, Any]:
    """T-SQL: `SELECT @a = x, @b = y FROM …` as one assignment, or one each if a later one reads an earlier one."""
    pairs = [item for item in tree.expressions if isinstance(item, exp.EQ) and is_assignable_variable(item.this)]
    names = [_assigned_variable_name(context, item.this) for item in pairs]
    values = [_assigned_value_node(context, item) for item in pairs]
    groups = [(names, values)]
    if any(_reads_variables(value, names[:position]) for position, value in enumerate(values)):
        groups = [([name], [value]) for name, value in zip(names, values, strict=True)]
    assigns = []
    for group, items in groups:
        tree.set("expressions", items)
        assigns.append(ir.Assignment(tuple(group), compile_query(context, tree)))
    return {"kind": "SELECT", "assigns": tuple(assigns)}


def compile_update_variables(
    context: CompileContext, items: Sequence[exp.Expr], sources: tuple[ir.Source, ...], where: ir.Expr | None
) -> tuple[ir.Assignment, ...]:
    """T-SQL: `UPDATE … SET @v = x` and `SET @v = c = x` assign the new value to the variable."""
    names, values = [], []
    for item in items:
        if isinstance(item, exp.EQ) and is_assignable_variable(item.this):
            value = item.expression
            right = value.expression if isinstance(value, exp.EQ) and isinstance(value.this, exp.Column) else value
            names.append(_assigned_variable_name(context, item.this))
            values.append(
                ir.Output(
                    name=names[-1],
                    written=names[-1],
                    expr=compile_expression(context, right),
                    start=ir.NOWHERE,
                    end=ir.NOWHERE,
                )
            )
    if not names:
        return ()
    return (ir.Assignment(tuple(names), context.add_relation(ir.Select(sources, tuple(values), where))),)


def _assigned_variable_name(context: CompileContext, node: exp.Expr) -> str:
    bare = node.this if isinstance(node, exp.Column) else node
    if isinstance(bare, exp.Identifier):  # a dialect whose variables have no mark
        return context.column_name(bare)
    compiled = compile_variable(context, node)
    return compiled.name if isinstance(compiled, ir.Variable) else ""


def _compile_single_value(context: CompileContext, value: exp.Expr) -> int:
    """A relation of one value without sources."""
    return context.add_relation(
        ir.Select(
            (),
            (
                ir.Output(
                    name="", written="", expr=compile_expression(context, value), start=ir.NOWHERE, end=ir.NOWHERE
                ),
            ),
        )
    )


def _assigned_value_node(context: CompileContext, item: exp.Expr) -> exp.Expr:
    """The value of an assignment in a select list, with its own span."""
    value: exp.Expr = item.expression
    recorded = context.items.nodes.get(id(item))
    if recorded is not None:
        _, first, last = recorded
        context.items.nodes[id(value)] = (value, min(first + 3, last), last)
    return value


def _reads_variables(value: exp.Expr, names: Sequence[str]) -> bool:
    return bool(names) and any("@" + node.name.lower() in names for node in value.find_all(exp.Parameter))
