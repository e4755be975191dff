"""Values: what each kind of expression makes of its parts. `VALUES` says who evaluates what."""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.link.canonical import call_text, shortened
from lineage_pipeline.engine.link.flows import NONE, Flows, changed, influence, united
from lineage_pipeline.engine.link.members import common, element, mapped, member
from lineage_pipeline.engine.link.model import Linked, Members, Value, Variables
from lineage_pipeline.engine.link.rowsets import rowset
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.shapes import struct_members
from lineage_pipeline.engine.link.types import base_of, call_nullable, call_type, common_type, literal_type
from lineage_pipeline.engine.link.variables import held
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.sets import Subtype


class Links(Protocol):
    """Whoever links the relations that stand inside expressions, and knows what variables hold."""

    traits: Traits
    variables: Variables

    def relation(self, index: int, outer: Scope | None) -> Linked:
        """The relation at an index."""


def value_of(expr: ir.Expr, scope: Scope, links: Links) -> Value:
    """What an expression comes to in a scope."""
    return VALUES[type(expr)](expr, scope, links)


def _ref(expr: ir.Ref, scope: Scope, links: Links) -> Value:
    return scope.resolve(expr)


def _literal(expr: ir.Literal, scope: Scope, links: Links) -> Value:
    text = f"'{expr.text}'" if expr.kind == "string" else expr.text.lower()
    return Value(NONE, literal_type(expr), expr.kind == "null", text)


def _variable(expr: ir.Variable, scope: Scope, links: Links) -> Value:
    known = links.variables.scalars.get(expr.name)
    return held(known, expr.start, expr.end) if known is not None else Value(type=expr.declared or None, text=expr.name)


_WRAPPERS = frozenset(
    "DISTINCT IGNORENULLS RESPECTNULLS LIMIT WHERE KWARG PROPERTYEQ OUTERJOIN PRIOR CONNECTBYROOT".split()
)
"""Operators that leave the value as it is."""

_SIDE_ARGUMENTS = {
    "FILTER": Subtype.CONDITIONAL,
    "ORDER": Subtype.WINDOW,
    "WITHINGROUP": Subtype.WINDOW,
    "HAVINGMAX": Subtype.WINDOW,
    "ARGMAX": Subtype.WINDOW,
    "ARGMIN": Subtype.WINDOW,
}
"""Operators whose arguments behind the first decide about the value but are no part of it."""


_ANY_OF = frozenset({"COALESCE", "ARRAY", "ARRAYCONCAT", "GREATEST", "LEAST"})
"""Functions whose value is, or holds, any of their arguments."""


def _call(expr: ir.Call, scope: Scope, links: Links) -> Value:
    op = base_of(expr.op)
    special = _CALLS.get(op)
    if special is not None:
        return special(expr, scope, links)
    if op in links.variables.scalars:  # PL/SQL: an element of a collection
        return links.variables.scalars[op]
    args = [value_of(arg, scope, links) for arg in _counted(op, expr.args)]
    text = call_text(expr.op, [arg.text for arg in args])
    side = _SIDE_ARGUMENTS.get(op)
    if side is not None and args:
        return _guarded(expr, side, args, text)
    flows = united(arg.flows for arg in args)
    members = None
    if op in _WRAPPERS:
        members = args[0].members if args else None
    else:
        subtype = Subtype.AGGREGATION if expr.traits & ir.AGGREGATE else Subtype.TRANSFORMATION
        keeping = bool(expr.traits & ir.KEEPING)
        flows = changed(flows, subtype, bool(expr.traits & ir.MASKING), keeping)
        if keeping and any(arg.members is not None for arg in args):
            members = mapped(
                common(args if op in _ANY_OF else args[:1]), lambda own: changed(own, subtype, False, True)
            )
    return Value(flows, call_type(expr, args), call_nullable(expr, args), text, members)


def _guarded(expr: ir.Call, side: Subtype, args: list[Value], text: str) -> Value:
    """An aggregate whose other arguments choose or sort what it takes; some take what is sorted itself."""
    op = base_of(expr.op)
    taken = changed(args[0].flows, Subtype.AGGREGATION, keeping=True) if expr.traits & ir.AGGREGATE else args[0].flows
    if not taken and op == "WITHINGROUP":  # PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY v)
        flows = changed(united(arg.flows for arg in args[1:]), Subtype.AGGREGATION)
        return Value(flows, call_type(expr, args), call_nullable(expr, args), text)
    decided = united(influence(arg.flows, side) for arg in args[1:])
    members = mapped(args[0].members, lambda own: united([own, decided]))
    flows = united([taken, decided])
    return Value(flows, call_type(expr, args), call_nullable(expr, args), text, members)


def _struct(expr: ir.Call, scope: Scope, links: Links) -> Value:
    """A struct that is built of values, or of all columns of a row."""
    members: list[tuple[str, Value]] = []
    values: list[Value] = []
    known = True
    for arg in expr.args:
        if isinstance(arg, ir.Call) and arg.op == "MEMBER":
            label, inner = arg.args
            value = value_of(inner, scope, links)
            members.append((label.text if isinstance(label, ir.Literal) else "", value))
        else:
            value = value_of(arg, scope, links)
            members.extend(value.members or ())
            known = known and value.members is not None
        values.append(value)
    flows = changed(united(value.flows for value in values), Subtype.TRANSFORMATION, keeping=not known)
    text = call_text(expr.op, [value.text for value in values])
    return Value(flows, None, False, text, tuple(members) if known else None)


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
    at, wanted = int(position.text), int(count.text)
    if len(made) == wanted:
        return made[at].value
    if len(made) > wanted and at < wanted - 1:
        return made[at].value
    if made and at == wanted - 1:  # EXPLODE of a map, INLINE: the last name stands for all that are left
        members = tuple((column.name, column.value) for column in made[at:])
        return Value(united(item.flows for _, item in members), PARTS, True, value.text, members)
    return Value(changed(value.flows, Subtype.TRANSFORMATION), None, True, value.text)


_CALLS: dict[str, Callable[[ir.Call, Scope, Links], Value]] = {"STRUCT": _struct, "PART": _part}
"""Calls that are more than a value of their arguments."""


def aggregates(expr: ir.Expr) -> bool:
    """Whether an expression aggregates rows: a window does not, and a subquery does for itself."""
    if isinstance(expr, ir.Call):
        return bool(expr.traits & ir.AGGREGATE) or any(aggregates(arg) for arg in expr.args)
    if isinstance(expr, ir.Case):
        parts = [*(part for when in expr.whens for part in when), *([expr.default] if expr.default is not None else [])]
        return any(aggregates(part) for part in parts)
    return aggregates(expr.arg) if isinstance(expr, ir.Cast | ir.Field) else False


def _counted(op: str, args: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    """The arguments that are read: COUNT(*) and GROUPING(x) read no column."""
    if op.startswith("GROUPING"):
        return ()
    if op.startswith("COUNT"):
        return tuple(arg for arg in args if not isinstance(arg, ir.Whole) or arg.qualifier)
    return args


def _cast(expr: ir.Cast, scope: Scope, links: Links) -> Value:
    inner = value_of(expr.arg, scope, links)
    flows = changed(inner.flows, Subtype.TRANSFORMATION, keeping=True)
    text = shortened(f"cast({inner.text} as {expr.to.lower()})")
    members = _renamed(inner.members, expr.to) if inner.members is not None else None
    return Value(flows, expr.to or None, inner.nullable or expr.safe, text, members)


def _renamed(members: Members, kind: str) -> Members:
    """The members of a struct under the names of the type that it is cast to."""
    names = [name for name, _ in struct_members(kind, lower=True)]
    if len(names) != len(members):
        return members
    return tuple((name, item) for name, (_, item) in zip(names, members, strict=True))


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
    nullable = expr.default is None or any(value.nullable for value in values)
    kinds = [value.type for value in values if value.text != "null"]
    text = shortened(f"case {' '.join(branches)}{default} end")
    decided = united(influence(condition.flows, Subtype.CONDITIONAL) for condition in conditions)
    members = mapped(common(values), lambda own: united([changed(own, Subtype.TRANSFORMATION, keeping=True), decided]))
    return Value(flows, common_type(kinds), nullable, text, members)


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
    facets = " ".join(f"{name} {text}" for name, text in linked.facets)
    outputs = [column.value for column in linked.columns]
    text = shortened(f"{expr.mode}({', '.join([*(arg.text for arg in args), *(out.text for out in outputs), facets])})")
    if expr.mode == "exists":
        return Value(linked.indirect, "BOOLEAN", True, text)
    body = _row(linked) if len(outputs) != 1 or expr.mode.endswith("struct") else outputs[0]
    inside = linked.indirect
    if expr.mode.startswith("scalar"):
        members = mapped(body.members, lambda own: united([own, inside]))
        return Value(united([body.flows, inside]), body.type, True, text, members)
    if expr.mode.startswith("array"):
        made = _gathered(body)
        members = mapped(made.members, lambda own: united([own, inside]))
        return Value(united([made.flows, inside]), None, False, text, members)
    lefts = (changed(arg.flows, Subtype.TRANSFORMATION) for arg in args)
    return Value(united([*lefts, changed(body.flows, Subtype.TRANSFORMATION), inside]), "BOOLEAN", True, text)


def _row(linked: Linked) -> Value:
    """The one row of a subquery as a value."""
    members = tuple((column.name, column.value) for column in linked.columns)
    flows = changed(united(item.flows for _, item in members), Subtype.TRANSFORMATION, keeping=True)
    return Value(flows, None, True, "", members if not linked.openings else None)


def _gathered(value: Value) -> Value:
    """The array of all values of a subquery."""

    def gather(own: Flows) -> Flows:
        return changed(own, Subtype.AGGREGATION, keeping=True)

    return Value(gather(value.flows), None, False, value.text, mapped(value.members, gather))


def _field(expr: ir.Field, scope: Scope, links: Links) -> Value:
    inner = value_of(expr.arg, scope, links)
    path = [part for part in expr.path if part != "[]"]
    found = member(inner, path) if path else element(inner)
    return msgspec.structs.replace(found, nullable=True, text=f"{inner.text}.{'.'.join(expr.path)}")


def _lambda(expr: ir.Lambda, scope: Scope, links: Links) -> Value:
    hidden = len(scope.hidden)
    scope.hidden.extend(expr.params)
    value = value_of(expr.body, scope, links)
    del scope.hidden[hidden:]
    return value


def _whole(expr: ir.Whole, scope: Scope, links: Links) -> Value:
    sources = [source for source in scope.sources if not expr.qualifier or source.answers(expr.qualifier)]
    values = [source.whole(expr.start, expr.end, scope.report, expr.exclude) for source in sources]
    known = all(value.members is not None for value in values)
    members = tuple(item for value in values for item in value.members or ()) if known else None
    return Value(united(value.flows for value in values), None, True, "*", members)


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
    ir.Lambda: _lambda,
    ir.Whole: _whole,
}
