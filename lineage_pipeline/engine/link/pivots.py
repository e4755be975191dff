"""PIVOT and UNPIVOT: columns made of rows, and rows of columns."""

import msgspec

from lineage_pipeline.engine.link.canonical import shortened
from lineage_pipeline.engine.link.flows import NONE, Flows, influence, united
from lineage_pipeline.engine.link.links import Links
from lineage_pipeline.engine.link.model import Gap, Linked, Out, Value
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.source import Source, Sources, unexpanded
from lineage_pipeline.engine.link.stars import expanded
from lineage_pipeline.engine.link.types import common_of
from lineage_pipeline.engine.link.values import value_of
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.sets import Subtype


def _turned_scope(links: Links, relation: int, outer: Scope | None) -> tuple[Linked, Scope]:
    inner = links.relation(relation, outer)
    scope = Scope(links.traits, outer, links.report, links.variables)
    scope.sources = Sources([Source("", (), linked=inner)])
    return inner, scope


def pivot(links: Links, body: ir.Pivot, index: int, outer: Scope | None) -> Linked:
    """Rows turned into columns, grouped by the columns that are left, or by those that are named."""
    inner, scope = _turned_scope(links, body.relation, outer)
    keys = [scope.resolve(key) for key in body.keys]
    decided = united(influence(key.flows, Subtype.CONDITIONAL) for key in keys)
    used = {key.parts[-1] for key in body.keys}
    columns = []
    for output in body.outputs:
        value = value_of(output.expr, scope, links)
        used.update(_named(output.expr))
        text = f"{value.text} for {', '.join(key.text for key in keys)} = {output.name}"
        columns.append(Out(output.name, output.written, Value(united([value.flows, decided]), value.type, True, text)))
    rest = _rest(links, body, scope, decided, used)
    if body.group is not None:
        kept = [Out(ref.parts[-1], ref.parts[-1], scope.resolve(ref), ref.start, ref.end) for ref in body.group]
    else:
        kept = _kept(inner, used)
    grouped = influence(united(column.value.flows for column in kept), Subtype.GROUP_BY)
    openings = inner.openings if body.group is None else ()
    gap = _gap(inner, used, len(columns)) if openings else None
    return Linked((*kept, *columns), openings, united([inner.indirect, grouped]), inner.facets, rest, gap=gap)


def _kept(inner: Linked, used: set[str]) -> list[Out]:
    """The columns that are not turned."""
    return [column for column in inner.columns if column.name not in used]


def _gap(inner: Linked, used: set[str], made: int) -> Gap:
    """Where unknown columns stand: what is made of rows or columns comes behind all others."""
    if inner.gap is None:
        return None
    before, behind = inner.gap
    columns = inner.columns
    head, tail = columns[:before], columns[len(columns) - behind :]
    return sum(out.name not in used for out in head), sum(out.name not in used for out in tail) + made


def _rest(links: Links, body: ir.Pivot, scope: Scope, decided: Flows, used: set[str]) -> Value | None:
    """What any column of a pivot is made of whose values are known only when it runs."""
    if not body.open:
        return None
    place = (body.keys[0].start, body.keys[0].end) if body.keys else (0, 0)
    links.report("APPROXIMATE_LINEAGE", *place, **unexpanded("this pivot"))
    values = [value_of(expr, scope, links) for expr in body.open]
    for expr in body.open:
        used.update(_named(expr))
    return Value(united([*(value.flows for value in values), decided]), None, True, "pivot")


def _named(expr: ir.Expr) -> list[str]:
    """The columns that an aggregate of a pivot takes."""
    if isinstance(expr, ir.Ref):
        return [expr.parts[-1]]
    return [name for arg in getattr(expr, "args", ()) for name in _named(arg)]


def unpivot(links: Links, body: ir.Unpivot, index: int, outer: Scope | None) -> Linked:
    """Columns turned into rows: what is left, then the label and the values in the order of the dialect."""
    inner, scope = _turned_scope(links, body.relation, outer)
    if body.every is not None:
        chosen = [out.name for out in expanded(links, body.every, scope, [])]
        inputs = tuple((ir.Ref((name,), ir.NOWHERE, ir.NOWHERE),) for name in chosen)
        body = msgspec.structs.replace(body, inputs=inputs)
    groups = [[scope.resolve(ref) for ref in group] for group in body.inputs]
    used = {ref.parts[-1] for group in body.inputs for ref in group}
    kept = _kept(inner, used)
    values = []
    for position, name in enumerate(body.values):
        cells = [group[position] for group in groups if position < len(group)]
        kind = common_of(cells, scope.typing)
        text = shortened(f"unpivot({', '.join(cell.text for cell in cells)})")
        values.append(Out(name, name, Value(united(cell.flows for cell in cells), kind, True, text)))
    label = Out(body.label, body.label, Value(NONE, scope.typing.family.string, False, "unpivot label"))
    made = [label, *values] if links.traits.label_first else [*values, label]
    gap = _gap(inner, used, len(made))
    return Linked((*kept, *made), inner.openings, inner.indirect, inner.facets, gap=gap)
