"""Uses: what becomes of a query that stands for an assignment, a condition, a call or the result of a module."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.pieces import Piece, Use
from lineage_pipeline.engine.compile.words import keyword
from lineage_pipeline.vocabulary import ir

Parts = dict[str, Any]


def used(context: Context, tree: exp.Expr, parts: Parts, use: Use) -> Parts:
    """The parts of a statement as its use wants them."""
    index = parts.get("result", ir.NOWHERE)
    if index != ir.NOWHERE:
        context.relations[index] = _free(context.relations[index], use.records)
    changed = USES[use.role](context, tree, parts, use)
    return {**changed, "kind": use.kind or parts["kind"]}


def _assign(context: Context, tree: exp.Expr, parts: Parts, use: Use) -> Parts:
    relation = parts.pop("result", ir.NOWHERE)
    assignment = ir.Assignment(use.variables, relation, use.role.endswith("row"), use.declares)
    parameters = (ir.Assignment(use.columns, ir.NOWHERE, declares=True),) if use.columns else ()
    return {**parts, "assigns": (*parameters, assignment)}


def _opened(context: Context, tree: exp.Expr, parts: Parts, use: Use) -> Parts:
    """The query of a cursor that is given to the caller: rows to fetch here, and a result of the module."""
    relation = parts.get("result", ir.NOWHERE)
    result = context.add(ir.Renamed(relation, use.columns)) if use.columns and relation != ir.NOWHERE else relation
    return {**_assign(context, tree, parts, msgspec.structs.replace(use, columns=())), "result": result}


def _record(context: Context, tree: exp.Expr, parts: Parts, use: Use) -> Parts:
    """A record that gets a value which is no query: each of its fields is made of that."""
    index = parts.get("result", ir.NOWHERE)
    whole = context.relations[index] if index != ir.NOWHERE else None
    if isinstance(whole, ir.Select) and not whole.sources and len(whole.outputs) == 1:
        value = whole.outputs[0]
        if isinstance(value, ir.Output):
            made = ir.Source("", function=ir.Call("RECORD", (value.expr,)), lateral=True)
            context.relations[index] = ir.Select((made,), (ir.Star((), ir.NOWHERE, ir.NOWHERE),))
    return _assign(context, tree, parts, use)


def _write(context: Context, tree: exp.Expr, parts: Parts, use: Use) -> Parts:
    relation = parts.pop("result", ir.NOWHERE)
    if use.target is None or relation == ir.NOWHERE:
        return parts
    return {**parts, "writes": (ir.Write(use.target, relation, "update", use.columns),)}


def _overwritten(context: Context, tree: exp.Expr, parts: Parts, use: Use) -> Parts:
    """UPDATE t SET ROW = record: the fields of the record in the order of the columns."""
    (write,), record = parts["writes"], use.variables[0]
    rows = context.relations[write.relation]
    assert isinstance(rows, ir.Select)
    given = ir.Source(record, record=record, reach="alias")
    fields = (ir.Star((record,), ir.NOWHERE, ir.NOWHERE),)
    context.relations[write.relation] = msgspec.structs.replace(rows, sources=(*rows.sources, given), outputs=fields)
    return {**parts, "writes": (msgspec.structs.replace(write, columns=None, starts=()),)}


def _result(context: Context, tree: exp.Expr, parts: Parts, use: Use) -> Parts:
    if use.typed:
        context.features.add(ir.TYPED)
    if use.returns and "result" in parts:
        context.relations[parts["result"]] = _converted(context.relations[parts["result"]], use.returns)
    if use.columns and "result" in parts:
        parts["result"] = context.add(ir.Renamed(parts["result"], use.columns))
    return parts


def _converted(relation: ir.Relation | None, kind: str) -> ir.Relation | None:
    """A query of one value that has the type that the header declares."""
    if not isinstance(relation, ir.Select) or len(relation.outputs) != 1:
        return relation
    (value,) = relation.outputs
    if not isinstance(value, ir.Output):
        return relation
    typed = ir.Call("RETURNED", (value.expr,), 0, kind)
    return msgspec.structs.replace(relation, outputs=(msgspec.structs.replace(value, expr=typed),))


def _discard(context: Context, tree: exp.Expr, parts: Parts, use: Use) -> Parts:
    """A query of which nobody takes a value, though what it reads has to be there."""
    relation = parts.pop("result", ir.NOWHERE)
    if relation != ir.NOWHERE and _reads(context.relations):
        parts = {**parts, "assigns": (ir.Assignment((), relation),)}
    if use.target is not None:
        context.invoke(ir.Invocation(use.target))
    return {**parts, "calls": tuple(context.calls)}


def _reads(relations: Sequence[ir.Relation | None]) -> bool:
    return any(isinstance(relation, ir.Select) and relation.sources for relation in relations)


def _call(context: Context, tree: exp.Expr, parts: Parts, use: Use) -> Parts:
    """The arguments of a procedure, by name or by position."""
    relation = context.relations[parts.pop("result", 0)] if context.relations else None
    first = relation.outputs[0] if isinstance(relation, ir.Select) and relation.outputs else None
    expr = first.expr if isinstance(first, ir.Output) else None
    names, values = [], []
    for argument in expr.args if isinstance(expr, ir.Call) else ():
        named = isinstance(argument, ir.Call) and argument.op in ("KWARG", "PROPERTYEQ") and len(argument.args) == 2
        name = argument.args[0] if isinstance(argument, ir.Call) and named else None
        names.append(_name(name))
        values.append(argument.args[1] if isinstance(argument, ir.Call) and named else argument)
    if use.target is None:
        return parts
    own = ir.Invocation(use.target, tuple(values), tuple(names))
    if use.variables:
        given = ir.Routine(use.target.parts, ir.Call("CALLED", ()))
        index = context.add(ir.Select((), (ir.Output("", "", given, ir.NOWHERE, ir.NOWHERE),)))
        parts = {**parts, "assigns": (ir.Assignment(use.variables, index),)}
    return {**parts, "calls": (own, *(call for call in context.calls if call.name.written != "CALLED"))}


def _name(expr: ir.Expr | None) -> str:
    match expr:
        case ir.Variable(name=name):
            return name
        case ir.Ref(parts=parts):
            return parts[-1]
        case ir.Literal(text=text):
            return text
    return ""


def _type(context: Context, tree: exp.Expr, parts: Parts, use: Use) -> Parts:
    """A type of tables has columns, and no rows."""
    definition = parts.get("definition")
    if definition is None:
        return parts
    return {**parts, "definition": msgspec.structs.replace(definition, kind="table type")}


USES: dict[str, Callable[[Context, exp.Expr, Parts, Use], Parts]] = {
    "assign": _assign,
    "call": _call,
    "condition": _discard,
    "discard": _discard,
    "record row": _record,
    "result": _result,
    "result row": _opened,
    "overwritten": _overwritten,
    "returned": _assign,
    "returned row": _assign,
    "row": _assign,
    "type": _type,
    "write": _write,
}
"""What becomes of the tree of a piece, by the role that it plays."""


def _free(relation: ir.Relation | None, records: frozenset[str]) -> ir.Relation | None:
    """An expression outside any query: its names are variables, for there is no source that could own a column."""
    if not isinstance(relation, ir.Select) or relation.sources:
        return relation
    freed = tuple(
        msgspec.structs.replace(item, expr=_variables(item.expr, records)) if isinstance(item, ir.Output) else item
        for item in relation.outputs
    )
    return msgspec.structs.replace(relation, outputs=freed)


def _variables(expr: ir.Expr, records: frozenset[str]) -> ir.Expr:
    match expr:
        case ir.Ref(parts=parts, start=start, end=end) if len(parts) == 1 or parts[0] not in records:
            return ir.Variable(".".join(parts), start, end)
        case ir.Call(args=args):
            return msgspec.structs.replace(expr, args=tuple(_variables(arg, records) for arg in args))
        case ir.Cast(arg=arg) | ir.Field(arg=arg):
            return msgspec.structs.replace(expr, arg=_variables(arg, records))
        case ir.Case(whens=whens, default=default):
            arms = tuple((_variables(when, records), _variables(then, records)) for when, then in whens)
            return ir.Case(arms, _variables(default, records) if default is not None else None)
    return expr


def unread(piece: Piece, context: Context) -> Parts | None:
    """What an expression that the parser cannot read is made of: the names in it. None where it holds a query."""
    use = piece.use
    words = {keyword(token) for token in piece.tokens[1:]}
    if use is None or use.role.startswith("returned") or not words.isdisjoint({"SELECT", "FROM"}):
        return None
    if piece.tokens[0].text.upper() != "SELECT" or len(piece.tokens) < 2:
        return None
    names = tuple(_named(piece.tokens[1:], context))
    place = (int(piece.tokens[1].start) - piece.start, int(piece.tokens[-1].end) + 1 - piece.start)
    value = ir.Output("", "", ir.Call("EXPRESSION", names), *place)
    return {"kind": use.kind, "result": context.add(ir.Select((), (value,)))}


def _named(tokens: Sequence[Token], context: Context) -> Iterator[ir.Expr]:
    """The names among tokens that are no functions and no words of the language."""
    index = 0
    while index < len(tokens):
        begin, parts = index, []
        while index < len(tokens) and tokens[index].token_type in (TokenType.VAR, TokenType.IDENTIFIER):
            quoted = tokens[index].token_type is TokenType.IDENTIFIER
            parts.append(context.column(exp.Identifier(this=tokens[index].text, quoted=quoted)))
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
