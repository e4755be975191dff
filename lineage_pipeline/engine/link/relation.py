"""Relations: `RELATION_LINKERS` maps each IR relation to the function that binds it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.types.inference import TypeInference, inference_for
from lineage_pipeline.engine.link.canonical import shorten_text
from lineage_pipeline.engine.link.context import STEPS_PER_TEXT, LinkBudget
from lineage_pipeline.engine.link.expression import evaluate_expression
from lineage_pipeline.engine.link.model import (
    BoundRelation,
    ExprResult,
    FindingReporter,
    Flows,
    OutputColumn,
    TableInput,
    UnknownRange,
    VariableValues,
    mark_indirect,
    transform_flows,
    union_flows,
)
from lineage_pipeline.engine.link.pivot import link_pivot, link_unpivot
from lineage_pipeline.engine.link.positional import align_by_position, rename_by_position
from lineage_pipeline.engine.link.query_plan import plan_set_operation, plan_values
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.select import drop_duplicates, link_select
from lineage_pipeline.engine.link.type_inference import (
    convert_read_types,
    infer_common_type,
    is_any_nullable,
    report_set_operation_types,
    settle_unknown_type,
)
from lineage_pipeline.model import ir
from lineage_pipeline.model.enums import Subtype
from lineage_pipeline.model.plan import CALL_SUFFIX

UNKNOWN_INPUT = TableInput("?", (), True)


class RelationLinker:
    """Binds the relations of one statement, each once."""

    def __init__(
        self,
        statement: ir.Statement,
        inputs: Mapping[tuple[str, ...], TableInput],
        traits: DialectTraits,
        report: FindingReporter,
        variables: VariableValues,
        edges: int = 0,
    ) -> None:
        """Start with the objects that the statement names, the visible variables, and an edge limit."""
        self.statement = statement
        self.inputs = inputs
        self.traits = traits
        self.typing = inference_for(traits)
        self.report = report
        self.variables = variables
        self.budget = LinkBudget(edges)
        self.done: dict[int, BoundRelation] = {}
        self.handed: dict[tuple[str, str], OutputColumn] = {}
        self.functions: Mapping[str, TableInput] = {
            call.name.written.upper(): inputs[call.name.parts + CALL_SUFFIX]
            for call in statement.calls
            if len(call.name.parts) == 1 and call.name.parts + CALL_SUFFIX in inputs and call.name.parts not in inputs
        }

    def relation(self, index: int, outer: Scope | None) -> BoundRelation:
        """The bound relation at an index."""
        known = self.done.get(index)
        if known is None:
            body = self.statement.relations[index]
            self.done[index] = BoundRelation(())  # a relation that reads itself without being recursive sees nothing
            known = self.done[index] = RELATION_LINKERS[type(body)](self, body, index, outer)
            self.budget.charge_relation(known)
        return known

    def input(self, name: ir.Name) -> TableInput:
        """The object that a name refers to."""
        found = self.inputs.get(name.parts, UNKNOWN_INPUT)
        return convert_read_types(found, self.typing.family) if self.typing.family.bare_strings else found

    def function(self, parts: tuple[str, ...]) -> TableInput | None:
        """The user-defined function that a dotted name calls, or None where it is unknown."""
        return self.inputs.get(parts + CALL_SUFFIX)


def _link_select(links: RelationLinker, body: ir.Select, index: int, outer: Scope | None) -> BoundRelation:
    return link_select(links, body, outer)


def _link_set_operation(links: RelationLinker, body: ir.SetOperation, index: int, outer: Scope | None) -> BoundRelation:
    branches = [links.relation(branch, outer) for branch in body.branches]
    columns = (
        _combine_by_name(body, branches, links.typing) if body.by_name else _combine_by_position(links, body, branches)
    )
    scope = Scope(links.traits, outer, links.report, links.variables)
    scope.aliases = {column.name: column.value for column in columns}
    scope.sees_aliases = True
    order, sorting = _evaluate_order(body.order, columns, scope, links)
    keyword = f"{body.op.lower()}{' distinct' if body.distinct else ' all'}{' by name' if body.by_name else ''}"
    facets = [facet for branch in branches for facet in branch.facets]
    facets.append(("set operation", f"{keyword} of {len(branches)}"))
    facets.extend(("order", text) for text in sorting if text)
    facets.extend(("limit", body.limit) for _ in [0] if body.limit)
    kept = branches[:1] if body.op == "EXCEPT" else branches
    decided = _list_deciding_flows(body, branches)
    return BoundRelation(
        columns,
        tuple(dict.fromkeys(opening for branch in kept for opening in branch.unexpanded)),
        union_flows([*(branch.indirect for branch in branches), *decided, order]),
        drop_duplicates(facets),
        unknown_range=_set_operation_range(body, branches, len(columns)),
        plan=plan_set_operation(body, branches),
    )


def _list_deciding_flows(body: ir.SetOperation, branches: Sequence[BoundRelation]) -> list[Flows]:
    """What decides about the rows: whole rows are compared, by UNION only where it drops repeated ones."""
    if body.op == "UNION" and not body.distinct:
        return []
    subtype = Subtype.GROUP_BY if body.op == "UNION" else Subtype.FILTER
    return [mark_indirect(_all_flows(branch), subtype) for branch in branches]


def _set_operation_range(body: ir.SetOperation, branches: Sequence[BoundRelation], columns: int) -> UnknownRange:
    """The unknown range of a set operation: that of its first branch."""
    if not any(branch.unexpanded for branch in branches):
        return None
    return (0, 0) if body.by_name else branches[0].unknown_range or (columns, 0)


def _all_flows(linked: BoundRelation) -> Flows:
    return union_flows(column.value.flows for column in linked.columns)


def _evaluate_order(
    keys: Sequence[ir.Expr], columns: Sequence[OutputColumn], scope: Scope, links: RelationLinker
) -> tuple[Flows, list[str]]:
    """The flows and texts of the ORDER BY of a set operation."""
    values = []
    for key in keys:
        if isinstance(key, ir.Literal) and key.text.isdigit() and 0 < parse_whole_number(key.text) <= len(columns):
            values.append(columns[parse_whole_number(key.text) - 1].value)
        elif isinstance(key, ir.Ref) and key.parts[-1] in scope.aliases:
            values.append(scope.aliases[key.parts[-1]])
        else:
            values.append(evaluate_expression(key, scope, links))
    return mark_indirect(union_flows(value.flows for value in values), Subtype.SORT), [value.text for value in values]


def _combine_by_position(
    links: RelationLinker, body: ir.SetOperation, branches: Sequence[BoundRelation]
) -> tuple[OutputColumn, ...]:
    if not branches:  # a query that reads nothing but itself
        return ()
    first = branches[0]
    for branch in branches[1:]:
        certain = not first.unexpanded and not branch.unexpanded
        if certain and len(branch.columns) != len(first.columns):
            operation, left, right = body.op, str(len(first.columns)), str(len(branch.columns))
            place = next(((item.start, item.end) for item in branch.columns if item.start != ir.NOWHERE), (0, 0))
            links.report("SET_OPERATION_MISMATCH", *place, operation=operation, left=left, right=right)
    columns = []
    beside = [align_by_position(first, branch) for branch in branches[1:]]
    for position, column in enumerate(first.columns):
        others = [found for row in beside if (found := row[position]) is not None]
        if links.typing.conversions is not None:
            report_set_operation_types(column, others, links.typing.conversions, links.report)
        columns.append(_combine_columns(column, others, body.op, links.typing))
    return tuple(columns)


def _combine_by_name(
    body: ir.SetOperation, branches: Sequence[BoundRelation], typing: TypeInference
) -> tuple[OutputColumn, ...]:
    grouped: dict[str, list[OutputColumn]] = {}
    for branch in branches:
        for column in branch.columns:
            grouped.setdefault(column.name, []).append(column)
    first = {column.name for column in branches[0].columns}
    kept = [
        group
        for name, group in grouped.items()
        if (not body.on or name in body.on)
        and (body.matching != "inner" or len(group) == len(branches))
        and (body.matching != "left" or name in first)
    ]
    return tuple(_combine_columns(group[0], group[1:], "UNION", typing) for group in kept)


def _combine_columns(
    column: OutputColumn, others: Sequence[OutputColumn], op: str, typing: TypeInference
) -> OutputColumn:
    """The column that a set operation makes of one of each branch; EXCEPT keeps the first branch's values."""
    if not others:
        return column
    values = [column.value, *(other.value for other in others)]
    kind = settle_unknown_type(infer_common_type(values, typing, written=False), typing.family)
    if op == "EXCEPT":
        nullable = is_any_nullable(values[:1], kind, typing)
        return msgspec.structs.replace(
            column, value=msgspec.structs.replace(column.value, type=kind, nullable=nullable)
        )
    value = ExprResult(
        union_flows(item.flows for item in values),
        kind,
        is_any_nullable(values, kind, typing)
        if op == "UNION"
        else all(is_any_nullable((item,), kind, typing) for item in values),
        " | ".join(dict.fromkeys(item.text for item in values)),
    )
    return msgspec.structs.replace(column, value=value)


def _link_values(links: RelationLinker, body: ir.Values, index: int, outer: Scope | None) -> BoundRelation:
    scope = Scope(links.traits, outer, links.report, links.variables)
    rows = [[evaluate_expression(item, scope, links) for item in row] for row in body.rows]
    columns = []
    for position in range(len(rows[0]) if rows else 0):
        cells = [row[position] for row in rows if position < len(row)]
        name = body.columns[position] if position < len(body.columns) else f"column{position + 1}"
        value = ExprResult(
            union_flows(cell.flows for cell in cells),
            settle_unknown_type(infer_common_type(cells, scope.typing), scope.typing.family),
            any(cell.nullable for cell in cells),
            cells[0].text if len(rows) == 1 else shorten_text(f"values({', '.join([cell.text for cell in cells])})"),
        )
        columns.append(OutputColumn(name, name, value))
    return BoundRelation(
        columns=tuple(columns),
        facets=(("set operation", f"values of {len(rows)}"),) if len(rows) > 1 else (),
        plan=plan_values(body, scope, links),
    )


def _link_recursive(links: RelationLinker, body: ir.Recursive, index: int, outer: Scope | None) -> BoundRelation:
    anchor = links.relation(body.anchor, outer)
    before = dict(links.done)
    links.done[index] = anchor
    known = _link_first_round(anchor, links.relation(body.step, outer), body.distinct, links.typing)
    more = _with_new_flows(anchor, known)
    for _ in range(MAX_ROUNDS):  # what the step gave goes round again, until that brings nothing new
        if more is None:
            break
        links.done = {**before, index: more}
        again = links.relation(body.step, outer)
        links.budget.charge_steps(
            STEPS_PER_TEXT * (sum([len(column.value.flows) for column in again.columns]) + len(again.indirect))
        )
        known, more = _with_new_flows(known, again) or known, _with_new_flows(more, again)
    added = tuple(_build_search_column(known, *column) for column in body.added)
    return msgspec.structs.replace(known, columns=(*known.columns, *added)) if added else known


def _build_search_column(known: BoundRelation, name: str, keys: tuple[str, ...], holds: bool) -> OutputColumn:
    """A column that SEARCH or CYCLE adds: it holds the keys on the way, or marks that they recur."""
    flows = union_flows(column.value.flows for column in known.columns if column.name in keys)
    made = transform_flows(flows, Subtype.TRANSFORMATION) if holds else mark_indirect(flows, Subtype.CONDITIONAL)
    return OutputColumn(name, name, ExprResult(made, text=name))


MAX_ROUNDS = 20
"""How often a recursive step is repeated at most; a path that grows in each round would never end."""


def _link_first_round(
    anchor: BoundRelation, step: BoundRelation, distinct: bool, typing: TypeInference
) -> BoundRelation:
    columns = []
    for column, other in zip(anchor.columns, align_by_position(anchor, step), strict=True):
        combined = _combine_columns(column, [other] if other is not None else [], "UNION", typing)
        nullable = combined.value.nullable or typing.nulls.recursion
        value = msgspec.structs.replace(combined.value, type=column.value.type, nullable=nullable)
        columns.append(msgspec.structs.replace(combined, value=value))
    compared = [mark_indirect(_all_flows(branch), Subtype.GROUP_BY) for branch in (anchor, step)] if distinct else []
    manner = f"recursion {'distinct' if distinct else 'all'}"
    facets = drop_duplicates((*anchor.facets, *step.facets, ("set operation", manner)))
    return BoundRelation(
        tuple(columns),
        anchor.unexpanded,
        union_flows([anchor.indirect, step.indirect, *compared]),
        facets,
        unknown_range=anchor.unknown_range,
    )


def _with_new_flows(known: BoundRelation, other: BoundRelation) -> BoundRelation | None:
    """A relation with the additional flows of another one, or None where there are none."""
    fresh = [
        _new_flows(column.value.flows, more.value.flows)
        for column, more in zip(known.columns, other.columns, strict=False)
    ]
    indirect = _new_flows(known.indirect, other.indirect)
    if not indirect and not any(fresh):
        return None
    columns = [
        msgspec.structs.replace(
            column, value=msgspec.structs.replace(column.value, flows=(*column.value.flows, *flows))
        )
        for column, flows in zip(known.columns, fresh, strict=False)
    ]
    columns.extend(known.columns[len(columns) :])
    return msgspec.structs.replace(known, columns=tuple(columns), indirect=(*known.indirect, *indirect))


def _new_flows(known: Flows, others: Flows) -> Flows:
    """The flows that differ from all known ones."""
    seen = {(flow.object, flow.column, flow.path, flow.type, flow.subtype) for flow in known}
    return tuple(flow for flow in others if (flow.object, flow.column, flow.path, flow.type, flow.subtype) not in seen)


def _link_renamed(links: RelationLinker, body: ir.Renamed, index: int, outer: Scope | None) -> BoundRelation:
    renamed = rename_by_position(links.relation(body.relation, outer), body.columns, links.traits.short_lists)
    return msgspec.structs.replace(renamed, plan=None) if renamed.unexpanded else renamed


RELATION_LINKERS: dict[type, Callable[[RelationLinker, Any, int, Scope | None], BoundRelation]] = {
    ir.Select: _link_select,
    ir.SetOperation: _link_set_operation,
    ir.Values: _link_values,
    ir.Recursive: _link_recursive,
    ir.Renamed: _link_renamed,
    ir.Pivot: link_pivot,
    ir.Unpivot: link_unpivot,
}
