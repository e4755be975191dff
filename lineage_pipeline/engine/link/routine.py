"""Routines: arguments and output parameters of calls, typed results of functions, and rows of triggers."""

from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.engine.link.expression import evaluate_expression
from lineage_pipeline.engine.link.model import (
    NO_FLOWS,
    BoundRelation,
    ColumnFlow,
    ExprResult,
    InputColumn,
    OutputColumn,
    TableInput,
    UnexpandedStar,
    union_flows,
)
from lineage_pipeline.engine.link.relation import RelationLinker
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.variables import Environment, parameter_column_name
from lineage_pipeline.model import ir

ParameterValue = tuple[str, OutputColumn]


def bind_call_arguments(
    call: ir.Invocation, callee: TableInput | None, scope: Scope, links: RelationLinker
) -> Iterator[ParameterValue]:
    """The values that a call passes to the parameters of a module; pure output parameters get none."""
    known = callee.parameters if callee is not None else ()
    for position, (arg, name) in enumerate(zip(call.args, call.names, strict=False)):
        parameter = _find_parameter(position, name, known)
        value = evaluate_expression(arg, scope, links)
        filled = callee is not None and parameter in known and parameter not in callee.receives
        if callee is not None and parameter and value.flows and not filled:
            yield parameter, OutputColumn(parameter, parameter, value, *_expression_span(arg))


def assign_output_parameters(
    call: ir.Invocation, callee: TableInput | None, environment: Environment
) -> list[tuple[str, ExprResult]]:
    """Assign the output parameters of a call to the caller's variables, and list those assignments."""
    taken: list[tuple[str, ExprResult]] = []
    known = callee.parameters if callee is not None else ()
    for position, name in enumerate(call.names):
        parameter = _find_parameter(position, name, known)
        back = call.into[position] if position < len(call.into) else ""
        if not back and callee is not None and parameter in callee.outputs:
            back = _argument_variable(call.args[position])
        if back:
            flows = (ColumnFlow(callee.object, parameter),) if callee is not None and parameter else NO_FLOWS
            environment.set(back, ExprResult(flows))
            taken.append((back, ExprResult(flows)))
    return taken


def _find_parameter(position: int, name: str, known: Sequence[str]) -> str:
    return parameter_column_name(name) if name else known[position] if position < len(known) else ""


def _argument_variable(expr: ir.Expr) -> str:
    """The variable that an argument consists of, or an empty text."""
    match expr:
        case ir.Variable(name=name):
            return name
        case ir.Ref(parts=parts) if len(parts) < 3:
            return ".".join(parts)
    return ""


def _expression_span(expr: ir.Expr) -> tuple[int, int]:
    return (expr.start, expr.end) if isinstance(expr, ir.Variable | ir.Ref) else (ir.NOWHERE, ir.NOWHERE)


def apply_row_type(
    statement: ir.Statement, own: TableInput | None, linked: BoundRelation, scope: Scope, links: RelationLinker
) -> BoundRelation:
    """The rows of a function under the column names of its row type: by position, or by its constructor."""
    wanted = own.columns if own is not None else ()
    columns: Sequence[OutputColumn] = linked.columns
    if len(columns) == 1 and len(wanted) > 1:
        made = _constructor_arguments(statement, scope, links)
        columns = made if len(made) == len(wanted) else columns
    if len(columns) != len(wanted) or linked.unexpanded:
        return linked
    pairs = zip(columns, wanted, strict=True)
    renamed = tuple(msgspec.structs.replace(out, name=column.name, written=column.written) for out, column in pairs)
    return msgspec.structs.replace(linked, columns=renamed)


def _constructor_arguments(statement: ir.Statement, scope: Scope, links: RelationLinker) -> list[OutputColumn]:
    """The values of a row built with the constructor of its type: `pair(a, b)`."""
    relation = statement.relations[statement.result]
    relation = statement.relations[relation.relation] if isinstance(relation, ir.Renamed) else relation
    first = relation.outputs[0] if isinstance(relation, ir.Select) and not relation.sources else None
    call = first.expr if isinstance(first, ir.Output) else None
    call = call.call if isinstance(call, ir.Routine) else call
    if not isinstance(call, ir.Call) or call.op in links.functions:
        return []
    return [OutputColumn("", "", evaluate_expression(arg, scope, links), *_expression_span(arg)) for arg in call.args]


def merge_trigger_rows(inputs: Sequence[TableInput]) -> TableInput:
    """The rows of several tables as one input: a column has the flows of all tables that have it."""
    if len(inputs) == 1:
        return inputs[0]
    columns: dict[str, InputColumn] = {}
    for table in inputs:
        for column in table.columns:
            own = (ColumnFlow(table.object, column.name, approximate=column.approximate),)
            before = columns.get(column.name)
            columns[column.name] = InputColumn(
                name=column.name,
                written=column.written,
                type=column.type if before is None or before.type == column.type else None,
                nullable=column.nullable or (before is not None and before.nullable),
                flows=union_flows([before.flows or (), own]) if before is not None else own,
            )
    passes = tuple(UnexpandedStar(table.object, ir.NOWHERE, ir.NOWHERE) for table in inputs if table.open)
    return TableInput("", tuple(columns.values()), bool(passes), passes=passes)
