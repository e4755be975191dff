"""Values: what each kind of expression makes of its parts. `VALUES` says who evaluates what."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.typing.families import UNKNOWN, cast_to
from lineage_pipeline.dialects.typing.lambdas import parameter_types
from lineage_pipeline.engine.link.budget import MANY, SOURCES
from lineage_pipeline.engine.link.calls import (
    ANY_OF,
    SIDE_ARGUMENTS,
    WRAPPERS,
    counted,
    gathered,
    guarded,
    renamed,
    row_of,
)
from lineage_pipeline.engine.link.canonical import call_text, cast_text, shortened
from lineage_pipeline.engine.link.fitting import CHECKED, report_branches, report_compared, report_operands
from lineage_pipeline.engine.link.flows import NONE, changed, influence, united
from lineage_pipeline.engine.link.links import Links
from lineage_pipeline.engine.link.members import common, element, mapped, member, spread, within_bounds
from lineage_pipeline.engine.link.model import Value
from lineage_pipeline.engine.link.rowsets import rowset
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.types import (
    base_of,
    call_nullable,
    call_type,
    case_nullable,
    case_type,
    cast_nullable,
    literal_value,
    optional,
    struct_type,
    tested_nullable,
)
from lineage_pipeline.engine.link.variables import declared, read_variable, returned
from lineage_pipeline.engine.link.wholes import whole
from lineage_pipeline.engine.link.wording import worded
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.sets import Subtype


def value_of(expr: ir.Expr, scope: Scope, links: Links) -> Value:
    """What an expression comes to in a scope."""
    return VALUES[type(expr)](expr, scope, links)


def _ref(expr: ir.Ref, scope: Scope, links: Links) -> Value:
    found = scope.resolve(expr)
    asked = () if len(expr.parts) > 1 and scope.sources.called(expr.parts[-2]) else scope.sources
    ways = len(found.flows) + len(asked) // SOURCES
    if ways > MANY:
        links.budget.turn(ways)
    return found


def _literal(expr: ir.Literal, scope: Scope, links: Links) -> Value:
    return literal_value(expr, scope.typing.family)


def _variable(expr: ir.Variable, scope: Scope, links: Links) -> Value:
    return read_variable(links.variables, expr)


def _call(expr: ir.Call, scope: Scope, links: Links) -> Value:
    op = base_of(expr.op)
    special = _CALLS.get(op)
    if special is not None:
        return special(expr, scope, links)
    if op in links.variables.scalars:  # PL/SQL: an element of a collection
        return links.variables.scalars[op]
    if op in links.variables.records:  # or of one of records
        return value_of(ir.Ref((op,), ir.NOWHERE, ir.NOWHERE), scope, links)
    if links.functions and op in links.functions:
        return returned(_plain(expr, op, scope, links), links.functions[op])
    return _plain(expr, op, scope, links)


def _plain(expr: ir.Call, op: str, scope: Scope, links: Links) -> Value:
    """What a call makes of its arguments."""
    args = _arguments(op, expr, scope, links)
    if scope.typing.fits and op in CHECKED and args:
        report_operands(op, expr.args, args, scope.typing.fits, scope.report)
    kind = call_type(expr, op, args, scope.typing)
    nullable = call_nullable(op, args, scope.typing, kind)
    text = worded(expr, op, args, scope.typing.family)
    side = SIDE_ARGUMENTS.get(op)
    if side is not None and args:
        return guarded(expr, side, args, Value(NONE, kind, nullable, text))
    flows = united([arg.flows for arg in args])
    if len(flows) > MANY:
        links.budget.turn(sum([len(arg.flows) for arg in args]))
    members = None
    if op in WRAPPERS:
        members = args[0].members if args else None
    else:
        subtype = Subtype.AGGREGATION if expr.traits & ir.AGGREGATE else Subtype.TRANSFORMATION
        keeping = bool(expr.traits & ir.KEEPING)
        flows = changed(flows, subtype, bool(expr.traits & ir.MASKING), keeping)
        if keeping and any(arg.members is not None for arg in args):
            members = mapped(common(args if op in ANY_OF else args[:1]), lambda own: changed(own, subtype, False, True))
    return Value(flows, kind, nullable, text, members)


def _arguments(op: str, expr: ir.Call, scope: Scope, links: Links) -> list[Value]:
    """The arguments of a call; those of an anonymous function are what the arguments before it hold."""
    parts = counted(op, expr.args)
    if ir.Lambda not in map(type, parts):
        return [value_of(part, scope, links) for part in parts]
    values: list[Value] = []
    for part in parts:
        bound = parameter_types(op, [value.type for value in values], scope.typing.family)
        made = _anonymous(part, bound, scope, links) if type(part) is ir.Lambda else value_of(part, scope, links)
        values.append(made)
    return values


def _struct(expr: ir.Call, scope: Scope, links: Links) -> Value:
    """A struct that is built of values, or of all columns of a row."""
    members: list[tuple[str, Value]] = []
    values: list[Value] = []
    known, nullable = True, False
    for arg in expr.args:
        if isinstance(arg, ir.Call) and arg.op == "MEMBER":
            label, inner = arg.args
            value = value_of(inner, scope, links)
            members.append((label.text if isinstance(label, ir.Literal) else "", value))
        else:
            value = value_of(arg, scope, links)
            own = spread(value)
            members.extend(own)
            known = known and (value.members is not None or bool(own))
            nullable = nullable or (value.nullable and type(arg) is not ir.Whole)
        values.append(value)
    flows = changed(united(value.flows for value in values), Subtype.TRANSFORMATION, keeping=not known)
    text = call_text(expr.op, [value.text for value in values])
    known = known and within_bounds(tuple(members))
    kind = expr.result or (struct_type(members, scope.typing.family) if known else None)
    return Value(flows, kind, nullable, text, tuple(members) if known else None)


PARTS = "PARTS"
"""The type of what a generator makes where it makes several columns and nobody has named them."""


def _part(expr: ir.Call, scope: Scope, links: Links) -> Value:
    """One of the columns that a generator of a select list makes."""
    call, position, count = expr.args
    value = value_of(call, scope, links)
    if not (isinstance(call, ir.Call) and isinstance(position, ir.Literal) and isinstance(count, ir.Literal)):
        return value
    args = [value_of(arg, scope, links) for arg in call.args]
    made = rowset(ir.Source("", function=call), value, args, links.traits).columns
    at, wanted = whole_number(position.text), whole_number(count.text)
    if len(made) == wanted:
        return made[at].value
    if len(made) > wanted and at < wanted - 1:
        return made[at].value
    if made and at == wanted - 1:  # EXPLODE of a map, INLINE: the last name stands for all that are left
        members = tuple((column.name, column.value) for column in made[at:])
        return Value(united(item.flows for _, item in members), PARTS, True, value.text, members)
    return Value(changed(value.flows, Subtype.TRANSFORMATION), None, True, value.text)


def _cast(expr: ir.Cast, scope: Scope, links: Links) -> Value:
    inner = value_of(expr.arg, scope, links)
    flows = changed(inner.flows, Subtype.TRANSFORMATION, keeping=True)
    members = renamed(inner.members, expr.to) if inner.members is not None else None
    kind = cast_to(expr.to, scope.typing.family.name) if expr.to else None
    idle = kind is not None and kind == inner.type and type(expr.arg) is not ir.Literal
    text = inner.text if idle else cast_text(expr, inner.text)
    nullable = inner.nullable or cast_nullable(expr, inner.type, scope.typing)
    return Value(flows, kind, nullable, text, members)


def _case(expr: ir.Case, scope: Scope, links: Links) -> Value:
    conditions = [value_of(condition, scope, links) for condition, _ in expr.whens]
    values = [value_of(value, scope, links) for _, value in expr.whens]
    if expr.default is not None:
        values.append(value_of(expr.default, scope, links))
    flows = united(
        [
            *(changed(value.flows, Subtype.TRANSFORMATION, keeping=True) for value in values),
            *(influence(condition.flows, Subtype.CONDITIONAL) for condition in conditions),
        ]
    )
    branches = [f"when {when.text} then {then.text}" for when, then in zip(conditions, values, strict=False)]
    default = f" else {values[-1].text}" if expr.default is not None else ""
    kind = case_type(values, expr.default is not None, scope.typing)
    if scope.typing.fits and any(value.type != values[0].type for value in values):
        parts = [value for _, value in expr.whens]
        report_branches([*parts, expr.default] if expr.default else parts, values, scope.typing.fits, scope.report)
    nullable = case_nullable(expr, conditions, values, kind, scope.typing)
    text = shortened(f"case {' '.join(branches)}{default} end")
    decided = united(influence(condition.flows, Subtype.CONDITIONAL) for condition in conditions)
    members = mapped(common(values), lambda own: united([changed(own, Subtype.TRANSFORMATION, keeping=True), decided]))
    return Value(flows, kind, nullable, text, members)


def _over(expr: ir.Over, scope: Scope, links: Links) -> Value:
    inner = value_of(expr.arg, scope, links)
    partition = [value_of(key, scope, links) for key in expr.partition]
    order = [value_of(key, scope, links) for key in expr.order]
    flows = united([inner.flows, *(influence(key.flows, Subtype.WINDOW) for key in (*partition, *order))])
    by, then = (", ".join(key.text for key in keys) for keys in (partition, order))
    text = f"{inner.text} over (partition by {by} order by {then} {expr.frame.lower()})"
    keys = united(influence(key.flows, Subtype.WINDOW) for key in (*partition, *order))
    members = mapped(inner.members, lambda own: united([own, keys]))
    return Value(flows, inner.type, inner.nullable, shortened(text), members)


def _sub(expr: ir.Sub, scope: Scope, links: Links) -> Value:
    linked = links.relation(expr.relation, scope)
    args = [value_of(arg, scope, links) for arg in expr.args]
    outputs = [column.value for column in linked.columns]
    parts = [*(each.text for each in (*args, *outputs)), " ".join(map(" ".join, linked.facets))]
    text = shortened(f"{expr.mode}({', '.join(parts)})")
    if expr.mode == "exists":
        return Value(linked.indirect, scope.typing.family.boolean, tested_nullable("exists", [], scope.typing), text)
    body = row_of(linked) if len(outputs) != 1 or expr.mode.endswith("struct") else outputs[0]
    if args and scope.typing.fits and len(outputs) == 1:
        report_compared((expr.args[0], expr), (args[0], body), scope.typing.fits, scope.report)
    inside = linked.indirect
    if expr.mode.startswith(("scalar", "rows")):
        members = mapped(body.members, lambda own: united([own, inside]))
        nullable = body.nullable or scope.typing.lenient or not linked.single
        kind = optional(body.type, expr.mode, scope.typing)
        return Value(united([body.flows, inside]), kind, nullable, text, members)
    if expr.mode.startswith("array"):
        made = gathered(body)
        members = mapped(made.members, lambda own: united([own, inside]))
        family = scope.typing.family
        inner = body.type or (struct_type(body.members, family) if body.members else None)
        kind = family.array(inner) if inner and family.notation[0] else None
        return Value(united([made.flows, inside]), kind, False, text, members)
    lefts = (changed(arg.flows, Subtype.TRANSFORMATION) for arg in args)
    flows = united([*lefts, changed(body.flows, Subtype.TRANSFORMATION), inside])
    nullable = tested_nullable(expr.mode, [*args, body], scope.typing)
    return Value(flows, scope.typing.family.boolean, nullable, text)


def _field(expr: ir.Field, scope: Scope, links: Links) -> Value:
    inner = value_of(expr.arg, scope, links)
    path = [part for part in expr.path if part != "[]"]
    if not path and scope.typing.family.flat and isinstance(expr.arg, ir.Field) and expr.arg.path[-1] == "[]":
        return inner  # one element of an array of several dimensions
    base = element(inner) if len(path) < len(expr.path) else inner
    found = member(base, path) if path else base
    if found.type is None and inner.type in (string := scope.typing.family.string, UNKNOWN):
        found = msgspec.structs.replace(found, type=string)  # a character of a string
    nullable = base.nullable or found.nullable
    return msgspec.structs.replace(found, nullable=nullable, text=f"{inner.text}.{'.'.join(expr.path)}{expr.index}")


def _anonymous(expr: ir.Lambda, types: Sequence[str | None], scope: Scope, links: Links) -> Value:
    """What an anonymous function gives for arguments of types; its parameters hide columns of the same name."""
    kinds = [*types, *[None] * len(expr.params)]
    bound = {name: Value(NONE, kind, True, name) for name, kind in zip(expr.params, kinds, strict=False)}
    hidden, scope.hidden = scope.hidden, {**scope.hidden, **bound}
    value = value_of(expr.body, scope, links)
    scope.hidden = hidden
    return value


def _parameter(expr: ir.Call, scope: Scope, links: Links) -> Value:
    """A name that is no column: a parameter of an anonymous function, or a label."""
    args = [value_of(arg, scope, links) for arg in expr.args]
    known = scope.hidden.get(args[0].text) if args else None
    return known or Value(text=call_text(expr.op, [arg.text for arg in args]))


_CALLS: dict[str, Callable[[ir.Call, Scope, Links], Value]] = {
    "STRUCT": _struct,
    "PART": _part,
    "IDENTIFIER": _parameter,
    "RETURNED": lambda expr, scope, links: declared(expr, value_of(expr.args[0], scope, links)),
    "BLANK": lambda expr, scope, links: Value(NONE, value_of(expr.args[0], scope, links).type, True, "null"),
}
"""Calls that are more than a value of their arguments."""

VALUES: dict[type, Callable[[Any, Scope, Links], Value]] = {
    ir.Ref: _ref,
    ir.Literal: _literal,
    ir.Variable: _variable,
    ir.Call: _call,
    ir.Cast: _cast,
    ir.Case: _case,
    ir.Over: _over,
    ir.Sub: _sub,
    ir.Field: _field,
    ir.Lambda: lambda expr, scope, links: _anonymous(expr, (), scope, links),
    ir.Routine: lambda expr, scope, links: returned(value_of(expr.call, scope, links), links.function(expr.parts)),
    ir.Whole: lambda expr, scope, links: whole(expr, scope),
}
