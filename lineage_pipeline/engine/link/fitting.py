"""Types that do not fit: values that are compared, united or stored although no engine of the family would do it."""

from collections.abc import Iterator, Sequence

from lineage_pipeline.dialects.typing.fitting import FITS, incalculable, kind_of, misfits
from lineage_pipeline.engine.link.model import Input, Out, Value
from lineage_pipeline.engine.link.scope import Report
from lineage_pipeline.vocabulary import ir

COMPARED = frozenset("EQ NEQ GT GTE LT LTE NULLSAFEEQ NULLSAFENEQ BETWEEN IN".split())
"""Operators that compare their first argument with each of the others."""

CHOOSING = frozenset("COALESCE IFNULL NVL".split())
"""Operators that give one of their arguments."""

CALCULATING = frozenset("ADD SUB MUL DIV MOD".split())

CHECKED = COMPARED | CHOOSING | CALCULATING

MANY = frozenset({"ANY", "ALL", "SOME"})


def report_operands(op: str, parts: Sequence[ir.Expr], args: Sequence[Value], family: str, report: Report) -> None:
    """Say which operands an operator cannot take together."""
    if op in COMPARED:
        report_compared(parts, args, family, report, op == "IN")
    elif op in CHOOSING:
        report_branches(parts, args, family, report)
    elif len(args) == 2 and incalculable(op, args[0].type, args[1].type, family) and not _settles(family, *args):
        _report_pair(parts, args, report)


def report_branches(parts: Sequence[ir.Expr], values: Sequence[Value], family: str, report: Report) -> None:
    """Say which values cannot be the one or the other result of an expression."""
    firm = [(part, value) for part, value in zip(parts, values, strict=False) if not _settles(family, value)]
    for part, value in firm[1:]:
        if misfits(firm[0][1].type, value.type, family, "branches"):
            _report_pair((firm[0][0], part), (firm[0][1], value), report)


def _report_pair(parts: Sequence[ir.Expr], values: Sequence[Value], report: Report) -> None:
    place = next((ref for expr in parts for ref in _refs(expr)), None)
    start, end = (place.start, place.end) if place is not None else (0, 0)
    names = " and ".join(_named(expr, value) for expr, value in zip(parts, values, strict=False))
    report("TYPE_MISMATCH", start, end, column=names, left=str(values[0].type), right=str(values[1].type))


def report_compared(
    parts: Sequence[ir.Expr], args: Sequence[Value], family: str, report: Report, among: bool = False
) -> None:
    """Say which values are compared that cannot be; it stands at the first column that is named."""
    first = args[0]
    for part, other in zip(parts[1:], args[1:], strict=False):
        if _stands_for_many(part) or (among and kind_of(other.type or "", family) == "array"):
            continue  # a list may stand for its elements
        if misfits(first.type, other.type, family, "compares") and not _settles(family, first, other):
            _report_pair((parts[0], part), (first, other), report)


def report_stored(
    target: str, own: Input | None, pairs: Sequence[tuple[str, Out]], family: str, report: Report
) -> None:
    """Say which values go into columns that cannot hold them."""
    if own is None or family not in FITS:
        return
    types = {column.name: column.type for column in own.columns}
    for name, out in pairs:
        wanted = types.get(name)
        if misfits(out.value.type, wanted, family, "stores") and not _settles(family, out.value):
            place = max(out.start, 0), max(out.end, 0)
            report("TYPE_MISMATCH", *place, column=f"{target}.{name}", left=str(out.value.type), right=str(wanted))


def report_united(column: Out, others: Sequence[Out], family: str, report: Report) -> None:
    """Say which columns a set operation puts together that cannot be one."""
    for other in others:
        if misfits(column.value.type, other.value.type, family, "unites") and not _settles(
            family, column.value, other.value
        ):
            name = column.written or column.name or "a column of a set operation"
            place = max(other.start, 0), max(other.end, 0)
            report("TYPE_MISMATCH", *place, column=name, left=str(other.value.type), right=str(column.value.type))


def _stands_for_many(part: ir.Expr) -> bool:
    """Whether an operand is ANY or ALL of the rows of a query or the elements of an array, and has no type itself."""
    return (isinstance(part, ir.Sub) and part.mode.startswith("compare")) or (
        isinstance(part, ir.Call) and part.op in MANY
    )


def _settles(family: str, *values: Value) -> bool:
    """Whether one of the values takes the type that is asked of it: a constant text, NULL, the variable of a loop."""
    return any(_takes_any(value, kind_of(value.type or "", family)) for value in values)


def _takes_any(value: Value, kind: str) -> bool:
    if kind == "array":  # a variable that goes through a list is not known to hold its elements
        return any(flow.hops for flow in value.flows)
    return not value.flows and kind in ("string", "")


def _refs(expr: ir.Expr) -> Iterator[ir.Ref]:
    """The columns that an expression names, from the left."""
    match expr:
        case ir.Ref():
            yield expr
        case ir.Call():
            for arg in expr.args:
                yield from _refs(arg)
        case ir.Cast() | ir.Field() | ir.Over():
            yield from _refs(expr.arg)


def _named(expr: ir.Expr, value: Value) -> str:
    return ".".join(expr.parts) if isinstance(expr, ir.Ref) else value.text
