"""Calls: what their arguments are for, and what aggregates, subqueries and conversions make of values."""

import msgspec

from lineage_pipeline.engine.link.flows import ROW, Flow, Flows, changed, influence, united
from lineage_pipeline.engine.link.members import mapped
from lineage_pipeline.engine.link.model import Linked, Members, Value
from lineage_pipeline.engine.link.shapes import struct_members
from lineage_pipeline.engine.link.types import base_of
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.sets import Subtype

WRAPPERS = frozenset(
    "DISTINCT IGNORENULLS RESPECTNULLS LIMIT WHERE KWARG PROPERTYEQ OUTERJOIN PRIOR CONNECTBYROOT".split()
)
"""Operators that leave the value as it is."""

ANY_OF = frozenset({"COALESCE", "ARRAY", "ARRAYCONCAT", "GREATEST", "LEAST"})
"""Functions whose value is, or holds, any of their arguments."""

SIDE_ARGUMENTS = {
    "FILTER": Subtype.CONDITIONAL,
    "ORDER": Subtype.WINDOW,
    "WITHINGROUP": Subtype.WINDOW,
    "HAVINGMAX": Subtype.WINDOW,
    "ARGMAX": Subtype.WINDOW,
    "ARGMIN": Subtype.WINDOW,
}
"""Operators whose arguments behind the first decide about the value but are no part of it."""


def guarded(expr: ir.Call, side: Subtype, args: list[Value], made: Value) -> Value:
    """An aggregate whose other arguments choose or sort what it takes; some take what is sorted itself."""
    op = base_of(expr.op)
    taken = changed(args[0].flows, Subtype.AGGREGATION, keeping=True) if expr.traits & ir.AGGREGATE else args[0].flows
    if not taken and op == "WITHINGROUP":  # PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY v)
        flows = changed(united(arg.flows for arg in args[1:]), Subtype.AGGREGATION)
        return msgspec.structs.replace(made, flows=flows)
    decided = united(influence(arg.flows, side) for arg in args[1:])
    members = mapped(args[0].members, lambda own: united([own, decided]))
    return msgspec.structs.replace(made, flows=united([taken, decided]), members=members)


def aggregates(expr: ir.Expr) -> bool:
    """Whether an expression aggregates rows: a window does not, and a subquery does for itself."""
    if isinstance(expr, ir.Call):
        return bool(expr.traits & ir.AGGREGATE) or any(aggregates(arg) for arg in expr.args)
    if isinstance(expr, ir.Case):
        parts = [*(part for when in expr.whens for part in when), *([expr.default] if expr.default is not None else [])]
        return any(aggregates(part) for part in parts)
    return aggregates(expr.arg) if isinstance(expr, ir.Cast | ir.Field) else False


def counted(op: str, args: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    """The arguments that are read: COUNT(*) and GROUPING(x) read no column."""
    if op.startswith("GROUPING"):
        return ()
    if op.startswith("COUNT"):
        return tuple(arg for arg in args if not isinstance(arg, ir.Whole) or arg.qualifier)
    return _chained(op, args) if op in CHAINS else args


CHAINS = frozenset({"AND", "OR"})
"""Operators that come to the same wherever brackets stand in a chain of them."""


def _chained(op: str, args: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    found, pending = [], list(reversed(args))
    while pending:
        part = pending.pop()
        if type(part) is ir.Call and part.op == op:
            pending.extend(reversed(part.args))
        else:
            found.append(part)
    return tuple(found)


def renamed(members: Members, kind: str) -> Members:
    """The members of a struct under the names of the type that it is cast to."""
    names = [name for name, _ in struct_members(kind, lower=True)]
    if len(names) != len(members):
        return members
    return tuple((name, item) for name, (_, item) in zip(names, members, strict=True))


def row_of(linked: Linked) -> Value:
    """The one row of a subquery as a value."""
    members = tuple((column.name, column.value) for column in linked.columns)
    rows = tuple(Flow(item.object, ROW, approximate=True, start=item.start, end=item.end) for item in linked.openings)
    flows = changed(united([*(item.flows for _, item in members), rows]), Subtype.TRANSFORMATION, keeping=True)
    return Value(flows, None, True, "", members if not linked.openings else None)


def gathered(value: Value) -> Value:
    """The array of all values of a subquery."""

    def gather(own: Flows) -> Flows:
        return changed(own, Subtype.AGGREGATION, keeping=True)

    return Value(gather(value.flows), None, False, value.text, mapped(value.members, gather))
