"""Roles: what becomes of a query that is an assignment, a condition, a call or the result of a routine."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement, StatementRole
from lineage_pipeline.engine.compile.tokens import keyword
from lineage_pipeline.model import ir

RoleFields = dict[str, Any]


def apply_role(context: CompileContext, tree: exp.Expr, parts: RoleFields, use: StatementRole) -> RoleFields:
    """The fields of a statement as its role needs them."""
    index = parts.get("result", ir.NOWHERE)
    if index != ir.NOWHERE:
        context.relations[index] = _bind_variables(context.relations[index], use.records)
    changed = ROLES[use.role](context, tree, parts, use)
    return {**changed, "kind": use.kind or parts["kind"]}


def _apply_assignment(context: CompileContext, tree: exp.Expr, parts: RoleFields, use: StatementRole) -> RoleFields:
    relation = parts.pop("result", ir.NOWHERE)
    assignment = ir.Assignment(use.variables, relation, use.role.endswith("row"), use.declares)
    parameters = (ir.Assignment(use.columns, ir.NOWHERE, declares=True),) if use.columns else ()
    return {**parts, "assigns": (*parameters, assignment)}


def _apply_returned_cursor(
    context: CompileContext, tree: exp.Expr, parts: RoleFields, use: StatementRole
) -> RoleFields:
    """The query of a cursor that the routine returns: rows to fetch here, and a result of the routine."""
    relation = parts.get("result", ir.NOWHERE)
    result = (
        context.add_relation(ir.Renamed(relation, use.columns)) if use.columns and relation != ir.NOWHERE else relation
    )
    return {**_apply_assignment(context, tree, parts, msgspec.structs.replace(use, columns=())), "result": result}


def _apply_record(context: CompileContext, tree: exp.Expr, parts: RoleFields, use: StatementRole) -> RoleFields:
    """A record that gets a value which is not a query: each of its fields depends on it."""
    index = parts.get("result", ir.NOWHERE)
    whole = context.relations[index] if index != ir.NOWHERE else None
    if isinstance(whole, ir.Select) and not whole.sources and len(whole.outputs) == 1:
        value = whole.outputs[0]
        if isinstance(value, ir.Output):
            made = ir.Source("", function=ir.Call("RECORD", (value.expr,)), lateral=True)
            context.relations[index] = ir.Select((made,), (ir.Star((), ir.NOWHERE, ir.NOWHERE),))
    return _apply_assignment(context, tree, parts, use)


def _apply_write(context: CompileContext, tree: exp.Expr, parts: RoleFields, use: StatementRole) -> RoleFields:
    relation = parts.pop("result", ir.NOWHERE)
    if use.target is None or relation == ir.NOWHERE:
        return parts
    return {**parts, "writes": (ir.Write(use.target, relation, "update", use.columns),)}


def _apply_set_row(context: CompileContext, tree: exp.Expr, parts: RoleFields, use: StatementRole) -> RoleFields:
    """PL/SQL: UPDATE t SET ROW = record writes the fields of the record in the order of the columns."""
    (write,), record = parts["writes"], use.variables[0]
    rows = context.relations[write.relation]
    assert isinstance(rows, ir.Select)
    given = ir.Source(record, record=record, reach="alias")
    fields = (ir.Star((record,), ir.NOWHERE, ir.NOWHERE),)
    context.relations[write.relation] = msgspec.structs.replace(rows, sources=(*rows.sources, given), outputs=fields)
    return {**parts, "writes": (msgspec.structs.replace(write, columns=None, starts=()),)}


def _apply_result(context: CompileContext, tree: exp.Expr, parts: RoleFields, use: StatementRole) -> RoleFields:
    if use.typed:
        context.features.add(ir.ROW_TYPE_FEATURE)
    if use.returns and "result" in parts:
        context.relations[parts["result"]] = _convert_result(context.relations[parts["result"]], use.returns)
    if use.columns and "result" in parts:
        parts["result"] = context.add_relation(ir.Renamed(parts["result"], use.columns))
    return parts


def _convert_result(relation: ir.Relation | None, kind: str) -> ir.Relation | None:
    """A query of one value with the type that the header declares."""
    if not isinstance(relation, ir.Select) or len(relation.outputs) != 1:
        return relation
    (value,) = relation.outputs
    if not isinstance(value, ir.Output):
        return relation
    typed = ir.Call("RETURNED", (value.expr,), 0, kind)
    return msgspec.structs.replace(relation, outputs=(msgspec.structs.replace(value, expr=typed),))


def _apply_discard(context: CompileContext, tree: exp.Expr, parts: RoleFields, use: StatementRole) -> RoleFields:
    """A query whose values are not used, though it reads objects."""
    relation = parts.pop("result", ir.NOWHERE)
    if relation != ir.NOWHERE and _has_sources(context.relations):
        parts = {**parts, "assigns": (ir.Assignment((), relation),)}
    if use.target is not None:
        context.add_call(ir.Invocation(use.target))
    return {**parts, "calls": tuple(context.calls)}


def _has_sources(relations: Sequence[ir.Relation | None]) -> bool:
    return any(isinstance(relation, ir.Select) and relation.sources for relation in relations)


def _apply_call(context: CompileContext, tree: exp.Expr, parts: RoleFields, use: StatementRole) -> RoleFields:
    """A procedure call with its arguments, by name or by position."""
    relation = context.relations[parts.pop("result", 0)] if context.relations else None
    first = relation.outputs[0] if isinstance(relation, ir.Select) and relation.outputs else None
    expr = first.expr if isinstance(first, ir.Output) else None
    names, values = [], []
    for argument in expr.args if isinstance(expr, ir.Call) else ():
        named = isinstance(argument, ir.Call) and argument.op in ("KWARG", "PROPERTYEQ") and len(argument.args) == 2
        name = argument.args[0] if isinstance(argument, ir.Call) and named else None
        names.append(_argument_name(name))
        values.append(argument.args[1] if isinstance(argument, ir.Call) and named else argument)
    if use.target is None:
        return parts
    own = ir.Invocation(use.target, tuple(values), tuple(names))
    if use.variables:
        given = ir.Routine(use.target.parts, ir.Call("CALLED", ()))
        index = context.add_relation(
            ir.Select((), (ir.Output(name="", written="", expr=given, start=ir.NOWHERE, end=ir.NOWHERE),))
        )
        parts = {**parts, "assigns": (ir.Assignment(use.variables, index),)}
    return {**parts, "calls": (own, *(call for call in context.calls if call.name.written != "CALLED"))}


def _argument_name(expr: ir.Expr | None) -> str:
    match expr:
        case ir.Variable(name=name):
            return name
        case ir.Ref(parts=parts):
            return parts[-1]
        case ir.Literal(text=text):
            return text
    return ""


def _apply_table_type(context: CompileContext, tree: exp.Expr, parts: RoleFields, use: StatementRole) -> RoleFields:
    """A table type has columns, and no rows."""
    definition = parts.get("definition")
    if definition is None:
        return parts
    return {**parts, "definition": msgspec.structs.replace(definition, kind="table type")}


ROLES: dict[str, Callable[[CompileContext, exp.Expr, RoleFields, StatementRole], RoleFields]] = {
    "assign": _apply_assignment,
    "call": _apply_call,
    "condition": _apply_discard,
    "discard": _apply_discard,
    "record row": _apply_record,
    "result": _apply_result,
    "result row": _apply_returned_cursor,
    "overwritten": _apply_set_row,
    "returned": _apply_assignment,
    "returned row": _apply_assignment,
    "row": _apply_assignment,
    "type": _apply_table_type,
    "write": _apply_write,
}
"""What becomes of the tree of a raw statement, by its role."""


def _bind_variables(relation: ir.Relation | None, records: frozenset[str]) -> ir.Relation | None:
    """An expression outside any query: its names are variables, since no source can own a column."""
    if not isinstance(relation, ir.Select) or relation.sources:
        return relation
    freed = tuple(
        msgspec.structs.replace(item, expr=_replace_references(item.expr, records))
        if isinstance(item, ir.Output)
        else item
        for item in relation.outputs
    )
    return msgspec.structs.replace(relation, outputs=freed)


def _replace_references(expr: ir.Expr, records: frozenset[str]) -> ir.Expr:
    match expr:
        case ir.Ref(parts=parts, start=start, end=end) if len(parts) == 1 or parts[0] not in records:
            return ir.Variable(".".join(parts), start, end)
        case ir.Call(args=args):
            return msgspec.structs.replace(expr, args=tuple(_replace_references(arg, records) for arg in args))
        case ir.Cast(arg=arg) | ir.Field(arg=arg):
            return msgspec.structs.replace(expr, arg=_replace_references(arg, records))
        case ir.Case(whens=whens, default=default):
            arms = tuple(
                (_replace_references(when, records), _replace_references(then, records)) for when, then in whens
            )
            return ir.Case(arms, _replace_references(default, records) if default is not None else None)
    return expr


def compile_unparsed_expression(piece: RawStatement, context: CompileContext) -> RoleFields | None:
    """An expression that did not parse depends on the names in it; None if it holds a query."""
    use = piece.use
    words = {keyword(token) for token in piece.tokens[1:]}
    if use is None or use.role.startswith("returned") or not words.isdisjoint({"SELECT", "FROM"}):
        return None
    if piece.tokens[0].text.upper() != "SELECT" or len(piece.tokens) < 2:
        return None
    names = tuple(_read_references(piece.tokens[1:], context))
    place = (int(piece.tokens[1].start) - piece.start, int(piece.tokens[-1].end) + 1 - piece.start)
    value = ir.Output("", "", ir.Call("EXPRESSION", names), *place)
    return {"kind": use.kind, "result": context.add_relation(ir.Select((), (value,)))}


def _read_references(tokens: Sequence[Token], context: CompileContext) -> Iterator[ir.Expr]:
    """The names among tokens that are neither functions nor keywords."""
    index = 0
    while index < len(tokens):
        begin, parts = index, []
        while index < len(tokens) and tokens[index].token_type in (TokenType.VAR, TokenType.IDENTIFIER):
            quoted = tokens[index].token_type is TokenType.IDENTIFIER
            parts.append(context.column_name(exp.Identifier(this=tokens[index].text, quoted=quoted)))
            index += 1
            if index + 1 < len(tokens) and tokens[index].token_type is TokenType.DOT:
                index += 1
            else:
                break
        called = index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN
        if parts and not called:
            start = int(tokens[begin].start) - context.origin
            yield ir.Ref(tuple(parts), start, int(tokens[index - 1].end) + 1 - context.origin)
        if not parts:
            index += 1
