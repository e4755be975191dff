"""One script: its statements in order, with temporary tables collapsed into the statements that read them."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.faults import contain
from lineage_pipeline.engine.link.canonical import shorten_text
from lineage_pipeline.engine.link.context import FileTally
from lineage_pipeline.engine.link.model import (
    NO_FLOWS,
    ExprResult,
    Flows,
    InputColumn,
    Members,
    TableInput,
    drop_positions,
    mark_as_made,
    merge_members,
    union_flows,
)
from lineage_pipeline.engine.link.shared_temp_tables import SharedTempTables
from lineage_pipeline.engine.link.statement import (
    LinkedStatement,
    WriteResult,
    build_fault_result,
    count_statement,
    link_statement,
    link_within_limits,
)
from lineage_pipeline.engine.link.variables import MODULE_KINDS, Environment
from lineage_pipeline.model import ir
from lineage_pipeline.model.plan import NameBindings
from lineage_pipeline.model.tables import QUERY_PLAN


class LinkedScript(msgspec.Struct, frozen=True):
    """The statements of a script after linking, by ordinal."""

    statements: dict[int, LinkedStatement]


def link_script(
    script: ir.Script,
    bound: Sequence[NameBindings],
    inputs: Mapping[str, TableInput],
    traits: DialectTraits,
    done: Mapping[int, LinkedStatement],
) -> LinkedScript:
    """Link every statement that writes something; `done` are those that the schema registry linked already."""
    linking = ScriptLinker(script=script, bound=bound, inputs=inputs, traits=traits, done=done)
    linking.follow(0, len(script.statements), kept=True)
    own = linking.temporary - linking.lending.objects  # nobody else may ask for what they hold
    return LinkedScript(_drop_collapsed_writes(linking.linked, own, linking.used & own, bound))


class ScriptLinker:
    """Links a script statement by statement, with the state of its temporary tables and variables."""

    def __init__(
        self,
        script: ir.Script,
        bound: Sequence[NameBindings],
        inputs: Mapping[str, TableInput],
        traits: DialectTraits,
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
        self.states = ScriptStates(bound, inputs)
        self.state |= {key: item for key, item in self.states.inputs.items() if not item.temporary}
        self.lending = SharedTempTables({name for names in bound for name in names.lent} & self.temporary, self.state)
        self.used: set[str] = set()
        self.tally = FileTally()
        self.linked: dict[int, LinkedStatement] = {}
        self.ancestors: dict[int, list[int]] = {}

    def follow(self, first: int, last: int, *, kept: bool) -> None:
        """Link statements in order; a loop's statements first once, unkept, for what they pass to its next turn."""
        for index in range(first, last):
            self._step_contained(index, kept)

    def _step_contained(self, index: int, kept: bool) -> None:
        """Link one statement; a fault of ours costs that statement alone."""

        def report(fault: ir.Finding) -> None:
            self.linked[self.bound[index].ordinal] = build_fault_result(fault)

        contain(lambda: self._step(index, kept), report, self.script.statements[index].statement.kind, 0, 0)

    def _step(self, index: int, kept: bool) -> None:
        placed = self.script.statements[index]
        statement = placed.statement
        module = statement.definition is not None and statement.definition.kind in MODULE_KINDS
        self.environment.advance(index, placed, self._ancestors(index), self._defined_object(index) if module else "")
        if self.lending.objects:
            self.lending.enter_module(self.environment.module_ordinal, self.state)
        if kept and statement.kind in ir.LOOP_KINDS:
            self._rehearse(index)
        if kept or statement.assigns or statement.calls or self._touched_temporaries(index):
            self._link_statement(index, kept)

    def _defined_object(self, index: int) -> str:
        definition = self.script.statements[index].statement.definition
        return dict(self.bound[index].names).get(definition.name.parts, "") if definition is not None else ""

    def _touched_temporaries(self, index: int) -> set[str]:
        return {name for _, name in self.bound[index].names} & self.temporary if self.temporary else set()

    def _ancestors(self, index: int) -> list[int]:
        """The enclosing statements of a statement, cached."""
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
                self._link_statement(index, kept=False)
            self.follow(index + 1, end, kept=False)
            self.environment.leave({index, *self._ancestors(index)})
            self.environment.restart_loop()

    def _link_statement(self, index: int, kept: bool) -> None:
        statement, names = self.script.statements[index].statement, self.bound[index]
        touched = self._touched_temporaries(index)
        if names.ordinal in self.done and not touched and not self.environment.has_variables:
            self._store_result(names, self.done[names.ordinal])
            count_statement(self.tally, self.done[names.ordinal])
        elif _has_effect(statement):
            seen = self.states.switch_states(self.state, names) if self.states.of else names
            result = link_within_limits(
                self.tally,
                seen,
                lambda: link_statement(statement, seen, self.state, self.traits, self.environment),
            )
            if kept:
                self._store_result(names, result)
            if touched and not names.conditional:
                self._empty_temporaries(statement, names)
            for written in result.writes:
                if written.target in self.temporary:
                    fresh = statement.definition is not None and not names.conditional
                    if fresh and self.states.of:
                        self.states.recreate(self.state, names, written.target)
                    made = _mark_made_values(written, self.script.statements[index].start)
                    self.state[written.target] = _fill_temporary(self.state[written.target], made, fresh)
                if kept and (written.target not in self.temporary or written.target in self.lending.objects):
                    self.used |= {name for name in touched if _is_filled(self.state[name])}
                    self.used |= self._passed_temporaries(written)
            if statement.calls and names.lent:
                self.lending.fill_from_call(names.lent, self.state)

    def _store_result(self, names: NameBindings, result: LinkedStatement) -> None:
        changing = names.states or names.made
        self.linked[names.ordinal] = self.states.with_final_names(result, names) if changing else result

    def _empty_temporaries(self, statement: ir.Statement, names: NameBindings) -> None:
        """Forget the content of a temporary table that is created again or truncated."""
        ids = dict(names.names)
        emptied = [item.name for item in statement.alterations if item.action == "truncate"]
        definition = statement.definition
        if definition is not None and definition.relation == ir.NOWHERE and (definition.columns or definition.like):
            emptied.append(definition.name)
        for name in emptied:
            before = self.state.get(ids.get(name.parts, ""))
            if before is not None and before.temporary:
                flows = NO_FLOWS if before.object in self.lending.objects else None
                columns = tuple(msgspec.structs.replace(column, flows=flows) for column in before.columns)
                held = TableInput(before.object, columns, False, True, renamed=before.renamed, guessed=before.guessed)
                self.state[before.object] = held

    def _passed_temporaries(self, written: WriteResult) -> set[str]:
        """The temporary tables that values passed on their way into variables."""
        if not self.environment.has_variables or not self.temporary:
            return set()
        flows = (*(flow for _, out in written.columns for flow in out.value.flows), *written.indirect)
        return {hop.object for flow in flows for hop in flow.hops} & self.temporary


def _is_filled(item: TableInput) -> bool:
    """Say whether the content of a temporary table comes from statements of this script."""
    return bool(item.passes) or any(column.flows is not None for column in item.columns)


def _has_effect(statement: ir.Statement) -> bool:
    parts = (statement.writes, statement.assigns, statement.definition, statement.alterations, statement.calls)
    return statement.result != ir.NOWHERE or any(parts)


def _mark_made_values(written: WriteResult, origin: int) -> WriteResult:
    """What a statement at an offset writes to a temporary table; its readers know where each value was computed."""
    columns = tuple(
        (
            name,
            msgspec.structs.replace(
                out,
                value=msgspec.structs.replace(
                    out.value, flows=mark_as_made(out.value.flows, origin + out.start, origin + out.end)
                ),
            )
            if out.start >= 0
            else out,
        )
        for name, out in written.columns
    )
    return msgspec.structs.replace(written, columns=columns)


def _fill_temporary(before: TableInput, written: WriteResult, fresh: bool) -> TableInput:
    """A temporary table after one more write: a definition starts over, other writes add up."""
    values = {name: out.value for name, out in written.columns}
    columns = tuple(_write_temporary_column(column, values.get(column.name), fresh) for column in before.columns)
    known = {column.name for column in columns}
    extra = tuple(
        InputColumn(
            name=name,
            written=out.written,
            type=value.type,
            nullable=True,
            flows=value.flows,
            text=value.text,
            members=value.members,
        )
        for name, out in written.columns
        for value in (out.value,)
        if name not in known
    )
    own = drop_positions(written.indirect)
    indirect = union_flows([own]) if fresh else union_flows([before.indirect, own])
    passes = written.unexpanded if fresh else (*before.passes, *written.unexpanded)
    own_facets = tuple(facet for facet in written.facets if facet[0] != QUERY_PLAN)
    facets = own_facets if fresh else (*before.facets, *own_facets)
    return TableInput(
        object=before.object,
        columns=(*columns, *extra),
        open=bool(passes),
        temporary=True,
        indirect=indirect,
        passes=passes,
        renamed=before.renamed,
        facets=tuple(dict.fromkeys((name, line) for name, text in facets for line in text.split("\n"))),
        guessed=before.guessed,
        plan=written.plan if fresh and written.mode == "define" else None,
    )


def _write_temporary_column(column: InputColumn, value: ExprResult | None, fresh: bool) -> InputColumn:
    """A column of a temporary table after one more write."""
    flows, text = (value.flows, value.text) if value is not None else (NO_FLOWS, "")
    return msgspec.structs.replace(
        column,
        flows=flows if fresh else union_flows([column.flows or NO_FLOWS, flows]),
        text=_merge_texts("" if fresh else column.text, text),
        added=False,
        members=_merge_written_members(column, value, fresh),
    )


def _merge_written_members(before: InputColumn, value: ExprResult | None, fresh: bool) -> Members | None:
    """The members of a column after one more write, where all values written to it share them."""
    if value is None or fresh or not before.flows:
        return value.members if value is not None else before.members if not fresh else None
    return merge_members([ExprResult(before.flows, members=before.members), value])


def _merge_texts(before: str, text: str) -> str:
    """The canonical text of a column after one more write."""
    return shorten_text(f"{before} | {text}") if before and text and before != text else before or text


def _drop_collapsed_writes(
    linked: dict[int, LinkedStatement], temporary: set[str], used: set[str], bound: Iterable[NameBindings]
) -> dict[int, LinkedStatement]:
    """Drop the writes to temporary tables that a persistent object reads, directly or through another one."""
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


class ScriptStates:
    """The object states that the statements of one script see, where others of its statements change the objects."""

    def __init__(self, bound: Sequence[NameBindings], inputs: Mapping[str, TableInput]) -> None:
        """Collect all states; a script that changes no object twice has none."""
        self.of: dict[str, str] = {}
        self.inputs: dict[str, TableInput] = {}
        self.now: dict[str, str] = {}
        for names in bound:
            if names.states or names.made:
                for key in (*(key for _, key in names.states), names.made):
                    if key in inputs:
                        self.of[key] = inputs[key].object
                        self.inputs[key] = inputs[key]
        self.inputs |= {name: inputs[name] for name in self.of.values() if name in inputs}

    def switch_states(self, state: dict[str, TableInput], names: NameBindings) -> NameBindings:
        """The bound names of a statement; temporary tables are switched to the state they have there."""
        keys = dict(names.states)
        for parts, name in names.names:
            key = keys.get(parts, name)
            if key in self.inputs and self.inputs[key].temporary:
                keys.pop(parts, None)
                if key != self.now.get(name, name):
                    state[name] = carry_over(state[name], self.inputs[key])
                    self.now[name] = key
        return msgspec.structs.replace(names, states=tuple(keys.items()))

    def recreate(self, state: dict[str, TableInput], names: NameBindings, target: str) -> None:
        """Record that a statement creates a temporary table again."""
        if target in self.inputs:
            self.now[target] = names.made or target
            state[target] = self.inputs[self.now[target]]

    def with_final_names(self, result: LinkedStatement, names: NameBindings) -> LinkedStatement:
        """The writes of a statement under the final names of the columns."""
        keys = [key for _, key in names.states]
        writes = tuple(
            self._with_final_columns(item, [names.made] if item.mode == "define" else keys) for item in result.writes
        )
        return msgspec.structs.replace(result, writes=writes)

    def _with_final_columns(self, written: WriteResult, keys: Sequence[str]) -> WriteResult:
        seen = (self.inputs[key] for key in keys if key in self.inputs)
        own = next((item for item in seen if item.object == written.target and item.renamed), None)
        if own is None:
            return written
        columns = tuple((own.final_name(name), out) for name, out in written.columns)
        return msgspec.structs.replace(written, columns=columns)


def carry_over(before: TableInput, now: TableInput) -> TableInput:
    """A temporary table in another state: its columns keep their content, whatever their names are now."""
    held: dict[str, Flows | None] = {before.final_name(column.name): column.flows for column in before.columns}
    columns = tuple(
        msgspec.structs.replace(column, flows=held.get(now.final_name(column.name), column.flows))
        for column in now.columns
    )
    return msgspec.structs.replace(now, columns=columns, indirect=before.indirect, passes=before.passes)
