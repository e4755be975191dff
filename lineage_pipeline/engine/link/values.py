"""Values: what each kind of expression makes of its parts. `VALUES` says who evaluates what."""

from collections.abc import Callable
from typing import Any, Protocol

from lineage_pipeline.engine.link.canonical import call_text, shortened
from lineage_pipeline.engine.link.flows import NONE, changed, influence, into_path, united
from lineage_pipeline.engine.link.model import Linked, Value, Variables
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.types import base_of, call_nullable, call_type, common_type, literal_type
from lineage_pipeline.engine.link.variables import held
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.sets import Subtype


class Links(Protocol):
    """Whoever links the relations that stand inside expressions, and knows what variables hold."""

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


_WRAPPERS = frozenset({"DISTINCT", "IGNORENULLS", "RESPECTNULLS", "HAVINGMAX", "LIMIT", "WHERE", "KWARG", "PROPERTYEQ"})
"""Operators that leave the value as it is."""

_SIDE_ARGUMENTS = {"FILTER": Subtype.CONDITIONAL, "ORDER": Subtype.WINDOW, "WITHINGROUP": Subtype.WINDOW}
"""Operators whose arguments behind the first decide about the value but are no part of it."""


def _call(expr: ir.Call, scope: Scope, links: Links) -> Value:
    op = base_of(expr.op)
    args = [value_of(arg, scope, links) for arg in _counted(op, expr.args)]
    text = call_text(expr.op, [arg.text for arg in args])
    side = _SIDE_ARGUMENTS.get(op)
    if side is not None and args:
        direct = args[0].flows if args[0].flows or op == "FILTER" else united(arg.flows for arg in args[1:])
        flows = united([direct, *(influence(arg.flows, side) for arg in args[1:] if args[0].flows or op == "FILTER")])
        return Value(flows, call_type(expr, args), call_nullable(expr, args), text)
    flows = united(arg.flows for arg in args)
    if op not in _WRAPPERS:
        subtype = Subtype.AGGREGATION if expr.traits & ir.AGGREGATE else Subtype.TRANSFORMATION
        flows = changed(flows, subtype, bool(expr.traits & ir.MASKING))
    return Value(flows, call_type(expr, args), call_nullable(expr, args), text)


def _counted(op: str, args: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    """The arguments that are read: COUNT(*) and GROUPING(x) read no column."""
    if op.startswith("GROUPING"):
        return ()
    if op.startswith("COUNT"):
        return tuple(arg for arg in args if not isinstance(arg, ir.Whole))
    return args


def _cast(expr: ir.Cast, scope: Scope, links: Links) -> Value:
    inner = value_of(expr.arg, scope, links)
    flows = changed(inner.flows, Subtype.TRANSFORMATION)
    return Value(
        flows, expr.to or None, inner.nullable or expr.safe, shortened(f"cast({inner.text} as {expr.to.lower()})")
    )


def _case(expr: ir.Case, scope: Scope, links: Links) -> Value:
    conditions = [value_of(condition, scope, links) for condition, _ in expr.whens]
    values = [value_of(value, scope, links) for _, value in expr.whens]
    if expr.default is not None:
        values.append(value_of(expr.default, scope, links))
    flows = united(
        [
            *(changed(value.flows, Subtype.TRANSFORMATION) for value in values),
            *(influence(condition.flows, Subtype.CONDITIONAL) for condition in conditions),
        ]
    )
    branches = [f"when {when.text} then {then.text}" for when, then in zip(conditions, values, strict=False)]
    default = f" else {values[-1].text}" if expr.default is not None else ""
    nullable = expr.default is None or any(value.nullable for value in values)
    kinds = [value.type for value in values if value.text != "null"]
    return Value(flows, common_type(kinds), nullable, shortened(f"case {' '.join(branches)}{default} end"))


def _over(expr: ir.Over, scope: Scope, links: Links) -> Value:
    inner = value_of(expr.arg, scope, links)
    partition = [value_of(key, scope, links) for key in expr.partition]
    order = [value_of(key, scope, links) for key in expr.order]
    flows = united([inner.flows, *(influence(key.flows, Subtype.WINDOW) for key in (*partition, *order))])
    by, then = (", ".join(key.text for key in keys) for keys in (partition, order))
    text = f"{inner.text} over (partition by {by} order by {then} {expr.frame.lower()})"
    return Value(flows, inner.type, inner.nullable, shortened(text))


def _sub(expr: ir.Sub, scope: Scope, links: Links) -> Value:
    linked = links.relation(expr.relation, scope)
    args = [value_of(arg, scope, links) for arg in expr.args]
    body = linked.columns[0].value if linked.columns else Value()
    facets = " ".join(f"{name} {text}" for name, text in linked.facets)
    text = shortened(f"{expr.mode}({', '.join([*(arg.text for arg in args), body.text, facets])})")
    inside = united([linked.indirect])
    if expr.mode == "scalar":
        return Value(united([body.flows, inside]), body.type, True, text)
    if expr.mode == "array":
        return Value(united([changed(body.flows, Subtype.AGGREGATION), inside]), None, False, text)
    taken = () if expr.mode == "exists" else changed(body.flows, Subtype.TRANSFORMATION)
    lefts = (changed(arg.flows, Subtype.TRANSFORMATION) for arg in args)
    return Value(united([*lefts, taken, inside]), "BOOLEAN", True, text)


def _field(expr: ir.Field, scope: Scope, links: Links) -> Value:
    inner = value_of(expr.arg, scope, links)
    path = [part for part in expr.path if part != "[]"]
    return Value(into_path(inner.flows, path), None, True, f"{inner.text}.{'.'.join(expr.path)}")


def _lambda(expr: ir.Lambda, scope: Scope, links: Links) -> Value:
    hidden = len(scope.hidden)
    scope.hidden.extend(expr.params)
    value = value_of(expr.body, scope, links)
    del scope.hidden[hidden:]
    return value


def _whole(expr: ir.Whole, scope: Scope, links: Links) -> Value:
    sources = [source for source in scope.sources if not expr.qualifier or source.answers(expr.qualifier)]
    values = [source.whole(expr.start, expr.end) for source in sources]
    return Value(united(value.flows for value in values), None, True, "*")


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
