"""Steps: a script linked without collapsing, so that relations and variables look like objects to what reads them."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.faults import FAULTS
from lineage_pipeline.engine.link.budget import TooMuch
from lineage_pipeline.engine.link.flows import INDIRECT, Flow, Flows, united
from lineage_pipeline.engine.link.model import Input, Linked, Opening, Out, Value
from lineage_pipeline.engine.link.relations import RelationLinker
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.script import ScriptLinker
from lineage_pipeline.engine.link.statement import StatementLinker, Written
from lineage_pipeline.engine.link.variables import Environment
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.inside import ROWS, UNLISTED, inner_variable
from lineage_pipeline.vocabulary.plan import Bound

MARK = "\0"
"""Begins the name of something inside where flows name objects."""


class StepLinker(RelationLinker):
    """Links the relations of one statement one step deep; what nobody reads but the statement itself has no node."""

    @cached_property
    def within(self) -> list[int]:
        """The relations that are being linked, the outermost first."""
        return []

    @cached_property
    def read(self) -> set[int]:
        """The relations that have a reader."""
        return set()

    def relation(self, index: int, outer: Scope | None) -> Linked:
        """The relation at an index: as it is for the statement and for a renaming, as an object for all others."""
        reader = self.statement.relations[self.within[-1]] if self.within else None
        self.within.append(index)
        linked = super().relation(index, outer)
        self.within.pop()
        if reader is None or isinstance(reader, ir.Renamed):
            return linked
        self.read.add(index)
        return as_object(str(index), linked)


class StepStatement(StatementLinker):
    """Links one statement one step deep."""

    relation_linker = StepLinker


class StepEnvironment(Environment):
    """What variables hold, as objects: each assignment makes one, and whoever reads it sees that and not behind it."""

    def __init__(self) -> None:
        """Start with an empty script."""
        super().__init__()
        self.statement = 0
        self.assigned: dict[str, Linked] = {}

    def set(self, name: str, value: Value, indirect: Flows = ()) -> None:
        """Put one value into a variable."""
        known = msgspec.structs.replace(value, flows=united([value.flows, indirect]))
        (column,) = self._keep(name, Linked((Out(name, name, known),))).columns
        super().set(name, column.value)

    def _record(self, name: str, linked: Linked) -> Linked:
        return self._keep(name, super()._record(name, linked))

    def _keep(self, name: str, linked: Linked) -> Linked:
        inner = inner_variable(self.statement, name)
        self.assigned[inner] = linked
        return as_object(inner, linked)


def as_object(inner: str, linked: Linked) -> Linked:
    """Something whose columns and rows come from itself; an INDIRECT IDENTITY leaves what decides as it is."""
    name = MARK + inner
    columns = tuple(
        msgspec.structs.replace(
            column,
            value=msgspec.structs.replace(column.value, flows=(Flow(name, key),)),
            approximate=False,
        )
        for key, column in zip(keys(linked.columns), linked.columns, strict=True)
    )
    openings = (Opening(name, ir.NOWHERE, ir.NOWHERE),) if linked.openings else ()
    return Linked(columns, openings, (Flow(name, ROWS, type=INDIRECT),), rest=linked.rest, gap=linked.gap)


def keys(columns: Sequence[Out]) -> list[str]:
    """What tells the columns of a relation apart: their names, numbered where a name is there already."""
    taken: dict[str, int] = {}
    found = []
    for position, column in enumerate(columns):
        name = column.name or f"_col{position}"
        taken[name] = taken.get(name, 0) + 1
        found.append(name if taken[name] == 1 else f"{name}#{taken[name]}")
    return found


def inner_of(name: str) -> str:
    """What inside the statement a flow names, or nothing where it names an object."""
    return name[len(MARK) :] if name.startswith(MARK) else ""


class Steps(msgspec.Struct, frozen=True):
    """A statement after linking it step by step: what it writes, what it sets, and what has a reader of its own."""

    writes: tuple[Written, ...]
    inner: dict[str, Linked]
    sources: StepLinker

    def asked(self, targets: Mapping[str, Iterable[str]]) -> dict[str, dict[str, Flows]]:
        """The columns that pass through stars although nobody lists them, by what they are asked of.

        `targets` says which columns others ask of what the statement writes.
        """
        found: dict[str, dict[str, Flows]] = {}
        listed = {inner: set(keys(linked.columns)) for inner, linked in self.inner.items()}
        pending = deque(flow for linked in self.inner.values() for flow in flows_of(linked))
        pending.extend(flow for written in self.writes for flow in flows_of(written))
        for written in self.writes:
            names = (*targets.get(written.target, ()), UNLISTED) if written.openings else ()
            passing = {name: _through(written.openings, name) for name in names}
            found.setdefault(written.target, {}).update(passing)
            pending.extend(flow for flows in passing.values() for flow in flows)
        while pending:
            flow = pending.popleft()
            inner = inner_of(flow.object)
            if inner not in listed or flow.column == ROWS or flow.column in listed[inner]:
                continue
            passed = found.setdefault(flow.object, {})
            if flow.column not in passed:
                passed[flow.column] = _through(self.inner[inner].openings, flow.column)
                pending.extend(passed[flow.column])
        return found


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


class StepScript(ScriptLinker):
    """Follows one script step by step; temporary objects stay what they are, and variables become objects."""

    @cached_property
    def steps(self) -> dict[int, Steps]:
        """The statements after linking, by their ordinals."""
        return {}

    def _statement(self, index: int, kept: bool) -> None:
        environment = self.environment
        assert isinstance(environment, StepEnvironment)
        environment.statement, environment.assigned = index, {}
        statement = self.script.statements[index].statement
        seen = self.states.shift(self.state, self.bound[index]) if self.states.of else self.bound[index]
        linker = StepStatement(statement, seen, self.state, self.traits, environment)
        sources = linker.relations
        assert isinstance(sources, StepLinker)
        writes: tuple[Written, ...] = ()
        try:
            writes = self.states.finally_named(linker.link(), self.bound[index]).writes
        except (TooMuch, RecursionError, MemoryError, *FAULTS):  # the ordinary way has said so
            sources.read.clear()
        inner = {str(relation): sources.done[relation] for relation in sorted(sources.read)}
        self.steps[index] = Steps(writes, {**inner, **environment.assigned}, sources)


def script_steps(
    script: ir.Script, bound: Sequence[Bound], inputs: Mapping[str, Input], traits: Traits
) -> dict[int, Steps]:
    """All statements of a script, linked step by step."""
    linking = StepScript(script, bound, inputs, traits, {})
    linking.environment = StepEnvironment()
    for name in linking.temporary:
        rows = (Flow(name, ROWS, type=INDIRECT),)
        linking.state[name] = msgspec.structs.replace(linking.state[name], indirect=rows)
    linking.follow(0, len(script.statements), kept=True)
    return linking.steps
