"""Relations: selects, set operations and their kin become columns with flows. `RELATIONS` says who links what."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.dialects.clauses import SHORT_LISTS
from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.dialects.typing.rules import Typing, typing_of
from lineage_pipeline.engine.link.budget import TEXTS, Budget
from lineage_pipeline.engine.link.canonical import shortened
from lineage_pipeline.engine.link.fitting import report_united
from lineage_pipeline.engine.link.flows import Flows, changed, influence, united
from lineage_pipeline.engine.link.gaps import headed, partners
from lineage_pipeline.engine.link.model import Gap, Input, Linked, Out, Value, Variables
from lineage_pipeline.engine.link.pivots import pivot, unpivot
from lineage_pipeline.engine.link.scope import Report, Scope
from lineage_pipeline.engine.link.selects import each_once, select
from lineage_pipeline.engine.link.types import common_of, either_nullable, read, settled
from lineage_pipeline.engine.link.values import value_of
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.plan import CALL
from lineage_pipeline.vocabulary.sets import Subtype

UNKNOWN_INPUT = Input("?", (), True)


class RelationLinker:
    """Links the relations of one statement, each once."""

    def __init__(
        self,
        statement: ir.Statement,
        inputs: Mapping[tuple[str, ...], Input],
        traits: Traits,
        report: Report,
        variables: Variables,
        edges: int = 0,
    ) -> None:
        """Start with the objects that the statement's names stand for, with what variables hold, and a limit."""
        self.statement = statement
        self.inputs = inputs
        self.traits = traits
        self.typing = typing_of(traits.family)
        self.report = report
        self.variables = variables
        self.budget = Budget(edges)
        self.done: dict[int, Linked] = {}
        self.handed: dict[tuple[str, str], Out] = {}
        self.functions: Mapping[str, Input] = {
            call.name.written.upper(): inputs[call.name.parts + CALL]
            for call in statement.calls
            if len(call.name.parts) == 1 and call.name.parts + CALL in inputs and call.name.parts not in inputs
        }

    def relation(self, index: int, outer: Scope | None) -> Linked:
        """The relation at an index."""
        known = self.done.get(index)
        if known is None:
            body = self.statement.relations[index]
            self.done[index] = Linked(())  # a relation that reads itself without being recursive sees nothing
            known = self.done[index] = RELATIONS[type(body)](self, body, index, outer)
            self.budget.pay(known)
        return known

    def input(self, name: ir.Name) -> Input:
        """The object that a name stands for."""
        found = self.inputs.get(name.parts, UNKNOWN_INPUT)
        return read(found, self.typing.family) if self.typing.family.bare_strings else found

    def function(self, parts: tuple[str, ...]) -> Input | None:
        """The function of the user's own that a dotted name calls, where it is known."""
        return self.inputs.get(parts + CALL)


def _select(links: RelationLinker, body: ir.Select, index: int, outer: Scope | None) -> Linked:
    return select(links, body, outer)


def _set_operation(links: RelationLinker, body: ir.SetOperation, index: int, outer: Scope | None) -> Linked:
    branches = [links.relation(branch, outer) for branch in body.branches]
    columns = _by_name(body, branches, links.typing) if body.by_name else _by_position(links, body, branches)
    scope = Scope(links.traits, outer, links.report, links.variables)
    scope.aliases = {column.name: column.value for column in columns}
    scope.sees_aliases = True
    order, sorting = _order(body.order, columns, scope, links)
    keyword = f"{body.op.lower()}{' distinct' if body.distinct else ' all'}{' by name' if body.by_name else ''}"
    facets = [facet for branch in branches for facet in branch.facets]
    facets.append(("set operation", f"{keyword} of {len(branches)}"))
    facets.extend(("order", text) for text in sorting if text)
    facets.extend(("limit", body.limit) for _ in [0] if body.limit)
    kept = branches[:1] if body.op == "EXCEPT" else branches
    decided = [] if body.op == "UNION" else [influence(_all(branch), Subtype.FILTER) for branch in branches[1:]]
    return Linked(
        columns,
        tuple(dict.fromkeys(opening for branch in kept for opening in branch.openings)),
        united([*(branch.indirect for branch in branches), *decided, order]),
        each_once(facets),
        gap=_gap(body, branches, len(columns)),
    )


def _gap(body: ir.SetOperation, branches: Sequence[Linked], columns: int) -> Gap:
    """Where the unknown columns of a set operation stand: its first branch says what columns it has."""
    if not any(branch.openings for branch in branches):
        return None
    return (0, 0) if body.by_name else branches[0].gap or (columns, 0)


def _all(linked: Linked) -> Flows:
    return united(column.value.flows for column in linked.columns)


def _order(
    keys: Sequence[ir.Expr], columns: Sequence[Out], scope: Scope, links: RelationLinker
) -> tuple[Flows, list[str]]:
    """What sorts the rows of a set operation, and how it is said."""
    values = []
    for key in keys:
        if isinstance(key, ir.Literal) and key.text.isdigit() and 0 < whole_number(key.text) <= len(columns):
            values.append(columns[whole_number(key.text) - 1].value)
        elif isinstance(key, ir.Ref) and key.parts[-1] in scope.aliases:
            values.append(scope.aliases[key.parts[-1]])
        else:
            values.append(value_of(key, scope, links))
    return influence(united(value.flows for value in values), Subtype.SORT), [value.text for value in values]


def _by_position(links: RelationLinker, body: ir.SetOperation, branches: Sequence[Linked]) -> tuple[Out, ...]:
    if not branches:  # a query that reads nothing but itself
        return ()
    first = branches[0]
    for branch in branches[1:]:
        certain = not first.openings and not branch.openings
        if certain and len(branch.columns) != len(first.columns):
            operation, left, right = body.op, str(len(first.columns)), str(len(branch.columns))
            place = next(((item.start, item.end) for item in branch.columns if item.start != ir.NOWHERE), (0, 0))
            links.report("SET_OPERATION_MISMATCH", *place, operation=operation, left=left, right=right)
    columns = []
    beside = [partners(first, branch) for branch in branches[1:]]
    for position, column in enumerate(first.columns):
        others = [found for row in beside if (found := row[position]) is not None]
        if links.typing.fits:
            report_united(column, others, links.typing.fits, links.report)
        columns.append(_combined(column, others, body.op, links.typing))
    return tuple(columns)


def _by_name(body: ir.SetOperation, branches: Sequence[Linked], typing: Typing) -> tuple[Out, ...]:
    grouped: dict[str, list[Out]] = {}
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
    return tuple(_combined(group[0], group[1:], "UNION", typing) for group in kept)


def _combined(column: Out, others: Sequence[Out], op: str, typing: Typing) -> Out:
    """The column that a set operation makes of one of each branch; EXCEPT keeps values of the first alone."""
    if not others:
        return column
    values = [column.value, *(other.value for other in others)]
    kind = settled(common_of(values, typing, written=False), typing.family)
    if op == "EXCEPT":
        nullable = either_nullable(values[:1], kind, typing)
        return msgspec.structs.replace(
            column, value=msgspec.structs.replace(column.value, type=kind, nullable=nullable)
        )
    value = Value(
        united(item.flows for item in values),
        kind,
        either_nullable(values, kind, typing)
        if op == "UNION"
        else all(either_nullable((item,), kind, typing) for item in values),
        " | ".join(dict.fromkeys(item.text for item in values)),
    )
    return msgspec.structs.replace(column, value=value)


def _values(links: RelationLinker, body: ir.Values, index: int, outer: Scope | None) -> Linked:
    scope = Scope(links.traits, outer, links.report, links.variables)
    rows = [[value_of(item, scope, links) for item in row] for row in body.rows]
    columns = []
    for position in range(len(rows[0]) if rows else 0):
        cells = [row[position] for row in rows if position < len(row)]
        name = body.columns[position] if position < len(body.columns) else f"column{position + 1}"
        value = Value(
            united(cell.flows for cell in cells),
            settled(common_of(cells, scope.typing), scope.typing.family),
            any(cell.nullable for cell in cells),
            cells[0].text if len(rows) == 1 else shortened(f"values({', '.join([cell.text for cell in cells])})"),
        )
        columns.append(Out(name, name, value))
    return Linked(tuple(columns), facets=(("set operation", f"values of {len(rows)}"),) if len(rows) > 1 else ())


def _recursive(links: RelationLinker, body: ir.Recursive, index: int, outer: Scope | None) -> Linked:
    anchor = links.relation(body.anchor, outer)
    before = dict(links.done)
    links.done[index] = anchor
    known = _once_round(anchor, links.relation(body.step, outer), body.distinct, links.typing)
    more = _fuller(anchor, known)
    for _ in range(ROUNDS):  # what the step gave goes round again, until that brings nothing new
        if more is None:
            break
        links.done = {**before, index: more}
        again = links.relation(body.step, outer)
        links.budget.turn(TEXTS * (sum([len(column.value.flows) for column in again.columns]) + len(again.indirect)))
        known, more = _fuller(known, again) or known, _fuller(more, again)
    added = tuple(_added(known, *column) for column in body.added)
    return msgspec.structs.replace(known, columns=(*known.columns, *added)) if added else known


def _added(known: Linked, name: str, keys: tuple[str, ...], holds: bool) -> Out:
    """A column that SEARCH or CYCLE adds: it holds the values of keys on the way, or marks that they recur."""
    flows = united(column.value.flows for column in known.columns if column.name in keys)
    made = changed(flows, Subtype.TRANSFORMATION) if holds else influence(flows, Subtype.CONDITIONAL)
    return Out(name, name, Value(made, text=name))


ROUNDS = 20
"""How often a recursion goes round at most: a path that each round leads deeper would bring something new for ever."""


def _once_round(anchor: Linked, step: Linked, distinct: bool, typing: Typing) -> Linked:
    columns = []
    for column, other in zip(anchor.columns, partners(anchor, step), strict=True):
        combined = _combined(column, [other] if other is not None else [], "UNION", typing)
        nullable = combined.value.nullable or typing.nulls.recursion
        value = msgspec.structs.replace(combined.value, type=column.value.type, nullable=nullable)
        columns.append(msgspec.structs.replace(combined, value=value))
    manner = f"recursion {'distinct' if distinct else 'all'}"
    facets = each_once((*anchor.facets, *step.facets, ("set operation", manner)))
    return Linked(tuple(columns), anchor.openings, united([anchor.indirect, step.indirect]), facets, gap=anchor.gap)


def _fuller(known: Linked, other: Linked) -> Linked | None:
    """A relation with the flows that another one has besides, or None where there are none."""
    fresh = [
        _besides(column.value.flows, more.value.flows)
        for column, more in zip(known.columns, other.columns, strict=False)
    ]
    indirect = _besides(known.indirect, other.indirect)
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


def _besides(known: Flows, others: Flows) -> Flows:
    """The flows that come from elsewhere, or in another way."""
    seen = {(flow.object, flow.column, flow.path, flow.type, flow.subtype) for flow in known}
    return tuple(flow for flow in others if (flow.object, flow.column, flow.path, flow.type, flow.subtype) not in seen)


def _renamed(links: RelationLinker, body: ir.Renamed, index: int, outer: Scope | None) -> Linked:
    return headed(links.relation(body.relation, outer), body.columns, links.traits.family in SHORT_LISTS)


RELATIONS: dict[type, Callable[[RelationLinker, Any, int, Scope | None], Linked]] = {
    ir.Select: _select,
    ir.SetOperation: _set_operation,
    ir.Values: _values,
    ir.Recursive: _recursive,
    ir.Renamed: _renamed,
    ir.Pivot: pivot,
    ir.Unpivot: unpivot,
}
