"""One script: its statements in order, with temporary objects collapsed into what reads them."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.faults import contain
from lineage_pipeline.engine.link.budget import Tally
from lineage_pipeline.engine.link.canonical import shortened
from lineage_pipeline.engine.link.flows import NONE, placeless, united
from lineage_pipeline.engine.link.lending import Lending
from lineage_pipeline.engine.link.members import common
from lineage_pipeline.engine.link.model import Input, InputColumn, Members, Value
from lineage_pipeline.engine.link.statement import (
    LinkedStatement,
    Written,
    count,
    link_statement,
    unlinked,
    within,
)
from lineage_pipeline.engine.link.states import States
from lineage_pipeline.engine.link.variables import MODULES, Environment
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.plan import Bound


class LinkedScript(msgspec.Struct, frozen=True):
    """The statements of a script after linking, by their ordinals."""

    statements: dict[int, LinkedStatement]


def link_script(
    script: ir.Script,
    bound: Sequence[Bound],
    inputs: Mapping[str, Input],
    traits: Traits,
    done: Mapping[int, LinkedStatement],
) -> LinkedScript:
    """Link every statement that writes something; `done` are those that the schema registry linked already."""
    linking = ScriptLinker(script, bound, inputs, traits, done)
    linking.follow(0, len(script.statements), kept=True)
    own = linking.temporary - linking.lending.objects  # nobody else may ask for what they hold
    return LinkedScript(_without_passed(linking.linked, own, linking.used & own, bound))


class ScriptLinker:
    """Follows one script from statement to statement, with what its temporary objects and variables hold."""

    def __init__(
        self,
        script: ir.Script,
        bound: Sequence[Bound],
        inputs: Mapping[str, Input],
        traits: Traits,
        done: Mapping[int, LinkedStatement],
    ) -> None:
        """Start before the first statement."""
        named = {name for names in bound for name in (names.result, *(name for _, name in names.names))}
        self.script = script
        self.bound = bound
        self.state = {name: inputs[name] for name in named if name in inputs}  # not all: a repository has many scripts
        self.temporary = {name for name, item in self.state.items() if item.temporary}
        self.traits = traits
        self.done = done
        self.environment = Environment()
        self.states = States(bound, inputs)
        self.state |= {key: item for key, item in self.states.inputs.items() if not item.temporary}
        self.lending = Lending({name for names in bound for name in names.lent} & self.temporary, self.state)
        self.used: set[str] = set()
        self.tally = Tally()
        self.linked: dict[int, LinkedStatement] = {}
        self.ancestors: dict[int, list[int]] = {}

    def follow(self, first: int, last: int, *, kept: bool) -> None:
        """Link statements in order; those of a loop once before, unkept, for what it hands to its own beginning."""
        for index in range(first, last):
            self._step_contained(index, kept)

    def _step_contained(self, index: int, kept: bool) -> None:
        """Link one statement; a fault of ours costs that statement alone."""

        def report(fault: ir.Finding) -> None:
            self.linked[self.bound[index].ordinal] = unlinked(fault)

        contain(lambda: self._step(index, kept), report, self.script.statements[index].statement.kind, 0, 0)

    def _step(self, index: int, kept: bool) -> None:
        placed = self.script.statements[index]
        statement = placed.statement
        module = statement.definition is not None and statement.definition.kind in MODULES
        self.environment.advance(index, placed, self._ancestors(index), self._defined(index) if module else "")
        if self.lending.objects:
            self.lending.enter(self.environment.module, self.state)
        if kept and statement.kind in ir.LOOPS:
            self._rehearse(index)
        if kept or statement.assigns or statement.calls or self._touched(index):
            self._statement(index, kept)

    def _defined(self, index: int) -> str:
        definition = self.script.statements[index].statement.definition
        return dict(self.bound[index].names).get(definition.name.parts, "") if definition is not None else ""

    def _touched(self, index: int) -> set[str]:
        return {name for _, name in self.bound[index].names} & self.temporary if self.temporary else set()

    def _ancestors(self, index: int) -> list[int]:
        """The statements that a statement stands in; in loops of loops each is asked for again and again."""
        known = self.ancestors.get(index)
        if known is None:
            found: dict[int, None] = {}
            parent = self.script.statements[index].parent
            while parent >= 0 and parent not in found:
                found[parent] = None
                parent = self.script.statements[parent].parent
            known = self.ancestors[index] = list(found)
        return known

    def _rehearse(self, index: int) -> None:
        statements = self.script.statements
        inside, end = {index}, index + 1
        while end < len(statements) and statements[end].parent in inside:
            inside.add(end)
            end += 1
        if any(item.statement.assigns or item.statement.writes for item in statements[index + 1 : end]):
            if statements[index].statement.assigns:  # the record of the loop: those inside read it
                self._statement(index, kept=False)
            self.follow(index + 1, end, kept=False)
            self.environment.leave({index, *self._ancestors(index)})
            self.environment.repeat()

    def _statement(self, index: int, kept: bool) -> None:
        statement, names = self.script.statements[index].statement, self.bound[index]
        touched = self._touched(index)
        if names.ordinal in self.done and not touched and not self.environment.known:
            self._keep(names, self.done[names.ordinal])
            count(self.tally, self.done[names.ordinal])
        elif _does_something(statement):
            seen = self.states.shift(self.state, names) if self.states.of else names
            result = within(
                self.tally,
                seen,
                lambda: link_statement(statement, seen, self.state, self.traits, self.environment),
            )
            if kept:
                self._keep(names, result)
            if touched and not names.conditional:
                self._empty(statement, names)
            for written in result.writes:
                if written.target in self.temporary:
                    fresh = statement.definition is not None and not names.conditional
                    if fresh and self.states.of:
                        self.states.fresh(self.state, names, written.target)
                    self.state[written.target] = _filled(self.state[written.target], written, fresh)
                if kept and (written.target not in self.temporary or written.target in self.lending.objects):
                    self.used |= {name for name in touched if _is_filled(self.state[name])}
                    self.used |= self._passed_temporaries(written)
            if statement.calls and names.lent:
                self.lending.fill(names.lent, self.state)

    def _keep(self, names: Bound, result: LinkedStatement) -> None:
        changing = names.states or names.made
        self.linked[names.ordinal] = self.states.finally_named(result, names) if changing else result

    def _empty(self, statement: ir.Statement, names: Bound) -> None:
        """A temporary object that is created again or emptied holds nothing of what it held."""
        ids = dict(names.names)
        emptied = [item.name for item in statement.alterations if item.action == "truncate"]
        definition = statement.definition
        if definition is not None and definition.relation == ir.NOWHERE and (definition.columns or definition.like):
            emptied.append(definition.name)
        for name in emptied:
            before = self.state.get(ids.get(name.parts, ""))
            if before is not None and before.temporary:
                flows = NONE if before.object in self.lending.objects else None
                columns = tuple(msgspec.structs.replace(column, flows=flows) for column in before.columns)
                held = Input(before.object, columns, False, True, renamed=before.renamed, guessed=before.guessed)
                self.state[before.object] = held

    def _passed_temporaries(self, written: Written) -> set[str]:
        """The temporary objects that values came through on their way into variables."""
        if not self.environment.known or not self.temporary:
            return set()
        flows = (*(flow for _, out in written.columns for flow in out.value.flows), *written.indirect)
        return {hop.object for flow in flows for hop in flow.hops} & self.temporary


def _is_filled(item: Input) -> bool:
    """Whether what a temporary object holds came from statements of this script."""
    return bool(item.passes) or any(column.flows is not None for column in item.columns)


def _does_something(statement: ir.Statement) -> bool:
    parts = (statement.writes, statement.assigns, statement.definition, statement.alterations, statement.calls)
    return statement.result != ir.NOWHERE or any(parts)


def _filled(before: Input, written: Written, fresh: bool) -> Input:
    """A temporary object after one more write: a definition starts anew, everything else adds up."""
    values = {name: out.value for name, out in written.columns}
    columns = tuple(_rewritten(column, values.get(column.name), fresh) for column in before.columns)
    known = {column.name for column in columns}
    extra = tuple(
        InputColumn(name, out.written, value.type, True, value.flows, text=value.text, members=value.members)
        for name, out in written.columns
        for value in (out.value,)
        if name not in known
    )
    own = placeless(written.indirect)
    indirect = united([own]) if fresh else united([before.indirect, own])
    passes = written.openings if fresh else (*before.passes, *written.openings)
    facets = written.facets if fresh else (*before.facets, *written.facets)
    return Input(
        before.object,
        (*columns, *extra),
        bool(passes),
        True,
        indirect,
        passes,
        renamed=before.renamed,
        facets=tuple(dict.fromkeys((name, line) for name, text in facets for line in text.split("\n"))),
        guessed=before.guessed,
    )


def _rewritten(column: InputColumn, value: Value | None, fresh: bool) -> InputColumn:
    """A column of a temporary object after one more write."""
    flows, text = (value.flows, value.text) if value is not None else (NONE, "")
    return msgspec.structs.replace(
        column,
        flows=flows if fresh else united([column.flows or NONE, flows]),
        text=_added("" if fresh else column.text, text),
        added=False,
        members=_held(column, value, fresh),
    )


def _held(before: InputColumn, value: Value | None, fresh: bool) -> Members | None:
    """The members of what a column holds after one more write, where all that was put into it has the same ones."""
    if value is None or fresh or not before.flows:
        return value.members if value is not None else before.members if not fresh else None
    return common([Value(before.flows, members=before.members), value])


def _added(before: str, text: str) -> str:
    """What a column holds after one more write."""
    return shortened(f"{before} | {text}") if before and text and before != text else before or text


def _without_passed(
    linked: dict[int, LinkedStatement], temporary: set[str], used: set[str], bound: Iterable[Bound]
) -> dict[int, LinkedStatement]:
    """Leave out the writes into temporary objects that something lasting reads, directly or through another one."""
    reads = {names.ordinal: {name for _, name in names.names} & temporary for names in bound}
    feeding: dict[str, set[str]] = {}
    for ordinal, result in linked.items():
        for written in result.writes:
            feeding.setdefault(written.target, set()).update(reads[ordinal])
    passed, pending = set(used), list(used)
    while pending:
        further = feeding.get(pending.pop(), set()) - passed
        passed |= further
        pending.extend(further)
    if not passed:
        return linked
    return {
        ordinal: msgspec.structs.replace(
            result, writes=tuple(item for item in result.writes if item.target not in passed)
        )
        for ordinal, result in linked.items()
    }
