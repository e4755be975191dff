"""Steps: a statement linked without collapsing, so that every relation is seen as an object by those that read it."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.link.flows import INDIRECT, Flow, Flows
from lineage_pipeline.engine.link.model import Input, Linked, Opening, Out, Value
from lineage_pipeline.engine.link.relations import RelationLinker
from lineage_pipeline.engine.link.scope import Report, Scope
from lineage_pipeline.engine.link.statement import SURPRISES, StatementLinker, Written
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.inside import ROWS, UNLISTED
from lineage_pipeline.vocabulary.plan import Bound

MARK = "\0"
"""Begins the name of a relation where flows name objects."""


class StepLinker(RelationLinker):
    """Links the relations of one statement one step deep; what nobody reads but the statement itself has no node."""

    def __init__(
        self, statement: ir.Statement, inputs: Mapping[tuple[str, ...], Input], traits: Traits, report: Report
    ) -> None:
        """Start with the objects that the statement's names stand for."""
        super().__init__(statement, inputs, traits, report)
        self.within: list[int] = []
        self.read: set[int] = set()

    def relation(self, index: int, outer: Scope | None) -> Linked:
        """The relation at an index: as it is for the statement and for a renaming, as an object for all others."""
        reader = self.statement.relations[self.within[-1]] if self.within else None
        self.within.append(index)
        linked = super().relation(index, outer)
        self.within.pop()
        if reader is None or isinstance(reader, ir.Renamed):
            return linked
        self.read.add(index)
        return _as_object(index, linked)


def _as_object(index: int, linked: Linked) -> Linked:
    """A relation whose columns and rows come from itself; an INDIRECT IDENTITY leaves what decides as it is."""
    name = f"{MARK}{index}"
    columns = tuple(
        msgspec.structs.replace(
            column,
            value=Value((Flow(name, key),), column.value.type, column.value.nullable, column.value.text),
            approximate=False,
        )
        for key, column in zip(keys(linked.columns), linked.columns, strict=True)
    )
    openings = (Opening(name, ir.NOWHERE, ir.NOWHERE),) if linked.openings else ()
    return Linked(columns, openings, (Flow(name, ROWS, type=INDIRECT),))


def keys(columns: Sequence[Out]) -> list[str]:
    """What tells the columns of a relation apart: their names, numbered where a name is there already."""
    taken: dict[str, int] = {}
    found = []
    for position, column in enumerate(columns):
        name = column.name or f"_col{position}"
        taken[name] = taken.get(name, 0) + 1
        found.append(name if taken[name] == 1 else f"{name}#{taken[name]}")
    return found


def index_of(name: str) -> int:
    """The index of the relation that a flow names, or NOWHERE where it names an object."""
    return int(name[len(MARK) :]) if name.startswith(MARK) else ir.NOWHERE


class Steps:
    """A statement after linking it step by step: what it writes, and the relations that have a reader of their own."""

    def __init__(self, statement: ir.Statement, bound: Bound, inputs: Mapping[str, Input], traits: Traits) -> None:
        """Link the statement; a shape that nobody foresaw gives nothing, and the ordinary way has said so."""
        linker = StatementLinker(statement, bound, inputs, traits)
        relations = StepLinker(statement, linker.relations.inputs, traits, linker.report)
        linker.relations = relations
        self.inputs = relations
        self.writes: tuple[Written, ...] = ()
        try:
            self.writes = linker.link().writes
        except SURPRISES:
            relations.read.clear()
        self.relations = {index: relations.done[index] for index in sorted(relations.read)}
        self.asked: dict[int, dict[str, Flows]] = {index: {} for index in self.relations}
        self._pass([flow for linked in self.relations.values() for flow in flows_of(linked)])
        self._pass([flow for written in self.writes for flow in flows_of(written)])

    def passing(self, written: Written, names: Iterable[str]) -> dict[str, Flows]:
        """The columns that pass through the stars of a write although no schema lists them."""
        if not written.openings:
            return {}
        found = {name: _through(written.openings, name) for name in (*names, UNLISTED)}
        self._pass([flow for flows in found.values() for flow in flows])
        return found

    def _pass(self, flows: Sequence[Flow]) -> None:
        """Ask open relations for the columns that they do not list, and those behind them."""
        pending = list(flows)
        while pending:
            flow = pending.pop()
            index = index_of(flow.object)
            if index == ir.NOWHERE or flow.column == ROWS or flow.column in self.asked[index]:
                continue
            linked = self.relations[index]
            if flow.column not in keys(linked.columns):
                self.asked[index][flow.column] = _through(linked.openings, flow.column)
                pending.extend(self.asked[index][flow.column])


def flows_of(linked: Linked | Written) -> Iterable[Flow]:
    """All flows into a relation or a target."""
    for column in linked.columns:
        yield from (column[1] if isinstance(column, tuple) else column).value.flows
    yield from linked.indirect


def _through(openings: Sequence[Opening], name: str) -> Flows:
    """Where a column that nobody lists comes from: one of several sources, or the only one."""
    found = [item for item in openings if name not in item.exclude]
    uncertain = len(found) > 1 or name == UNLISTED
    return tuple(Flow(item.object, name, approximate=uncertain, start=item.start, end=item.end) for item in found)
