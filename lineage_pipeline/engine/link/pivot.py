"""PIVOT and UNPIVOT: rows turned into columns, and columns into rows."""

import msgspec

from lineage_pipeline.engine.link.canonical import shorten_text
from lineage_pipeline.engine.link.context import RelationResolver
from lineage_pipeline.engine.link.expression import evaluate_expression
from lineage_pipeline.engine.link.model import (
    NO_FLOWS,
    BoundRelation,
    ExprResult,
    Flows,
    OutputColumn,
    UnknownRange,
    mark_indirect,
    union_flows,
)
from lineage_pipeline.engine.link.scope import Scope, ScopeSource, ScopeSources, describe_unexpanded_star
from lineage_pipeline.engine.link.star import expand_star
from lineage_pipeline.engine.link.type_inference import infer_common_type
from lineage_pipeline.model import ir
from lineage_pipeline.model.enums import Subtype


def _pivot_scope(links: RelationResolver, relation: int, outer: Scope | None) -> tuple[BoundRelation, Scope]:
    inner = links.relation(relation, outer)
    scope = Scope(links.traits, outer, links.report, links.variables)
    scope.sources = ScopeSources([ScopeSource("", (), linked=inner)])
    return inner, scope


def link_pivot(links: RelationResolver, body: ir.Pivot, index: int, outer: Scope | None) -> BoundRelation:
    """PIVOT: rows turned into columns, grouped by the remaining columns or by those that are named."""
    inner, scope = _pivot_scope(links, body.relation, outer)
    keys = [scope.resolve(key) for key in body.keys]
    decided = union_flows(mark_indirect(key.flows, Subtype.CONDITIONAL) for key in keys)
    used = {key.parts[-1] for key in body.keys}
    columns = []
    for output in body.outputs:
        value = evaluate_expression(output.expr, scope, links)
        used.update(_aggregated_columns(output.expr))
        text = f"{value.text} for {', '.join(key.text for key in keys)} = {output.name}"
        columns.append(
            OutputColumn(
                output.name, output.written, ExprResult(union_flows([value.flows, decided]), value.type, True, text)
            )
        )
    rest = _dynamic_column(links, body, scope, decided, used)
    if body.group is not None:
        kept = [
            OutputColumn(
                name=ref.parts[-1], written=ref.parts[-1], value=scope.resolve(ref), start=ref.start, end=ref.end
            )
            for ref in body.group
        ]
    else:
        kept = _kept_columns(inner, used)
    grouped = mark_indirect(union_flows(column.value.flows for column in kept), Subtype.GROUP_BY)
    openings = inner.unexpanded if body.group is None else ()
    gap = _shift_unknown_range(inner, used, len(columns)) if openings else None
    return BoundRelation(
        columns=(*kept, *columns),
        unexpanded=openings,
        indirect=union_flows([inner.indirect, grouped]),
        facets=inner.facets,
        catch_all=rest,
        unknown_range=gap,
    )


def _kept_columns(inner: BoundRelation, used: set[str]) -> list[OutputColumn]:
    """The columns that are not pivoted."""
    return [column for column in inner.columns if column.name not in used]


def _shift_unknown_range(inner: BoundRelation, used: set[str], made: int) -> UnknownRange:
    """The unknown range of a pivot: the columns that it makes come after all others."""
    if inner.unknown_range is None:
        return None
    before, behind = inner.unknown_range
    columns = inner.columns
    head, tail = columns[:before], columns[len(columns) - behind :]
    return sum(out.name not in used for out in head), sum(out.name not in used for out in tail) + made


def _dynamic_column(
    links: RelationResolver, body: ir.Pivot, scope: Scope, decided: Flows, used: set[str]
) -> ExprResult | None:
    """The value of any column of a dynamic PIVOT, whose columns are known only at run time."""
    if not body.open:
        return None
    place = (body.keys[0].start, body.keys[0].end) if body.keys else (0, 0)
    links.report("APPROXIMATE_LINEAGE", *place, **describe_unexpanded_star("this pivot"))
    values = [evaluate_expression(expr, scope, links) for expr in body.open]
    for expr in body.open:
        used.update(_aggregated_columns(expr))
    return ExprResult(union_flows([*(value.flows for value in values), decided]), None, True, "pivot")


def _aggregated_columns(expr: ir.Expr) -> list[str]:
    """The columns that an aggregate of a pivot reads."""
    if isinstance(expr, ir.Ref):
        return [expr.parts[-1]]
    return [name for arg in getattr(expr, "args", ()) for name in _aggregated_columns(arg)]


def link_unpivot(links: RelationResolver, body: ir.Unpivot, index: int, outer: Scope | None) -> BoundRelation:
    """UNPIVOT: the remaining columns, then label and values in the order of the dialect."""
    inner, scope = _pivot_scope(links, body.relation, outer)
    if body.every is not None:
        chosen = [out.name for out in expand_star(links, body.every, scope, [])]
        inputs = tuple((ir.Ref((name,), ir.NOWHERE, ir.NOWHERE),) for name in chosen)
        body = msgspec.structs.replace(body, inputs=inputs)
    groups = [[scope.resolve(ref) for ref in group] for group in body.inputs]
    used = {ref.parts[-1] for group in body.inputs for ref in group}
    kept = _kept_columns(inner, used)
    values = []
    for position, name in enumerate(body.values):
        cells = [group[position] for group in groups if position < len(group)]
        kind = infer_common_type(cells, scope.typing)
        text = shorten_text(f"unpivot({', '.join(cell.text for cell in cells)})")
        values.append(OutputColumn(name, name, ExprResult(union_flows(cell.flows for cell in cells), kind, True, text)))
    label = OutputColumn(
        body.label, body.label, ExprResult(NO_FLOWS, scope.typing.family.string, False, "unpivot label")
    )
    made = [label, *values] if links.traits.label_first else [*values, label]
    gap = _shift_unknown_range(inner, used, len(made))
    turned = union_flows(item.value.flows for item in values)
    indirect = inner.indirect
    if not body.keeps_nulls:
        indirect = union_flows([indirect, mark_indirect(turned, Subtype.FILTER)])
    return BoundRelation((*kept, *made), inner.unexpanded, indirect, inner.facets, unknown_range=gap)
