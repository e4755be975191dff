"""Modules seen from outside: what callers hand over and get back, and the rows that a function of a type returns."""

from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.engine.link.flows import NONE, Flow
from lineage_pipeline.engine.link.model import Input, Linked, Out, Value
from lineage_pipeline.engine.link.relations import RelationLinker
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.values import value_of
from lineage_pipeline.engine.link.variables import Environment, parameter_node
from lineage_pipeline.vocabulary import ir

Pair = tuple[str, Out]


def handed_over(call: ir.Invocation, callee: Input | None, scope: Scope, links: RelationLinker) -> Iterator[Pair]:
    """What the parameters of a module get from its caller; one that only gives back gets nothing."""
    known = callee.parameters if callee is not None else ()
    for position, (arg, name) in enumerate(zip(call.args, call.names, strict=False)):
        parameter = _parameter(position, name, known)
        value = value_of(arg, scope, links)
        filled = callee is not None and parameter in known and parameter not in callee.receives
        if callee is not None and parameter and value.flows and not filled:
            yield parameter, Out(parameter, parameter, value, *_place(arg))


def take_back(call: ir.Invocation, callee: Input | None, environment: Environment) -> list[tuple[str, Value]]:
    """Put what a module hands back into the variables of its caller, and say which got what."""
    taken: list[tuple[str, Value]] = []
    known = callee.parameters if callee is not None else ()
    for position, name in enumerate(call.names):
        parameter = _parameter(position, name, known)
        back = call.into[position] if position < len(call.into) else ""
        if not back and callee is not None and parameter in callee.outputs:
            back = _variable(call.args[position])
        if back:
            flows = (Flow(callee.object, parameter),) if callee is not None and parameter else NONE
            environment.set(back, Value(flows))
            taken.append((back, Value(flows)))
    return taken


def _parameter(position: int, name: str, known: Sequence[str]) -> str:
    return parameter_node(name) if name else known[position] if position < len(known) else ""


def _variable(expr: ir.Expr) -> str:
    """The variable that an argument is, so that something can be put into it."""
    match expr:
        case ir.Variable(name=name):
            return name
        case ir.Ref(parts=parts) if len(parts) < 3:
            return ".".join(parts)
    return ""


def _place(expr: ir.Expr) -> tuple[int, int]:
    return (expr.start, expr.end) if isinstance(expr, ir.Variable | ir.Ref) else (ir.NOWHERE, ir.NOWHERE)


def typed(statement: ir.Statement, own: Input | None, linked: Linked, scope: Scope, links: RelationLinker) -> Linked:
    """The rows of a function under the names of their type: as many columns in order, or what makes one row of it."""
    wanted = own.columns if own is not None else ()
    columns: Sequence[Out] = linked.columns
    if len(columns) == 1 and len(wanted) > 1:
        made = _made(statement, scope, links)
        columns = made if len(made) == len(wanted) else columns
    if len(columns) != len(wanted) or linked.openings:
        return linked
    pairs = zip(columns, wanted, strict=True)
    renamed = tuple(msgspec.structs.replace(out, name=column.name, written=column.written) for out, column in pairs)
    return msgspec.structs.replace(linked, columns=renamed)


def _made(statement: ir.Statement, scope: Scope, links: RelationLinker) -> list[Out]:
    """The values of a row that is made by naming its type: `pair(a, b)`."""
    relation = statement.relations[statement.result]
    relation = statement.relations[relation.relation] if isinstance(relation, ir.Renamed) else relation
    first = relation.outputs[0] if isinstance(relation, ir.Select) and not relation.sources else None
    call = first.expr if isinstance(first, ir.Output) else None
    call = call.call if isinstance(call, ir.Routine) else call
    if not isinstance(call, ir.Call) or call.op in links.functions:
        return []
    return [Out("", "", value_of(arg, scope, links), *_place(arg)) for arg in call.args]
