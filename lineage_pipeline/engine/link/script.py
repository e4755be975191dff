"""One script: its statements in order, with temporary objects collapsed into what reads them."""

from collections.abc import Iterable, Mapping

import msgspec

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.link.flows import NONE, Flows, placeless, united
from lineage_pipeline.engine.link.model import Input, InputColumn
from lineage_pipeline.engine.link.statement import LinkedStatement, Written, link_statement
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.plan import Bound


class LinkedScript(msgspec.Struct, frozen=True):
    """The statements of a script after linking, by their ordinals."""

    statements: dict[int, LinkedStatement]


def link_script(
    script: ir.Script,
    bound: Iterable[Bound],
    inputs: Mapping[str, Input],
    traits: Traits,
    done: Mapping[int, LinkedStatement],
) -> LinkedScript:
    """Link every statement that writes something; `done` are those that the schema registry linked already."""
    named = {name for names in bound for name in (names.result, *(name for _, name in names.names))}
    state = {name: inputs[name] for name in named if name in inputs}  # not all: a repository has many scripts
    temporary = {name for name, item in state.items() if item.temporary}
    used: set[str] = set()
    linked: dict[int, LinkedStatement] = {}
    for placed, names in zip(script.statements, bound, strict=True):
        statement = placed.statement
        touched = {name for _, name in names.names} & temporary
        if names.ordinal in done and not touched:
            linked[names.ordinal] = done[names.ordinal]
        elif statement.writes or statement.definition is not None or statement.result != ir.NOWHERE:
            result = link_statement(statement, names, state, traits)
            linked[names.ordinal] = result
            for written in result.writes:
                if written.target in temporary:
                    state[written.target] = _filled(state[written.target], written, _defines(statement))
                elif touched:
                    used |= touched
    return LinkedScript(_without_passed(linked, temporary, used, script, bound))


def _defines(statement: ir.Statement) -> bool:
    return statement.definition is not None


def _filled(before: Input, written: Written, fresh: bool) -> Input:
    """A temporary object after one more write: a definition starts anew, everything else adds up."""
    flows: dict[str, Flows] = {name: out.value.flows for name, out in written.columns}
    columns = tuple(
        InputColumn(
            column.name,
            column.written,
            column.type,
            column.nullable,
            flows.get(column.name, NONE) if fresh else united([column.flows or NONE, flows.get(column.name, NONE)]),
            column.approximate,
            column.generated,
        )
        for column in before.columns
    )
    known = {column.name for column in columns}
    extra = tuple(
        InputColumn(name, out.written, out.value.type, True, out.value.flows)
        for name, out in written.columns
        if name not in known
    )
    own = placeless(written.indirect)
    indirect = united([own]) if fresh else united([before.indirect, own])
    passes = written.openings if fresh else (*before.passes, *written.openings)
    return Input(before.object, (*columns, *extra), bool(passes), True, indirect, passes)


def _without_passed(
    linked: dict[int, LinkedStatement], temporary: set[str], used: set[str], script: ir.Script, bound: Iterable[Bound]
) -> dict[int, LinkedStatement]:
    """Leave out the writes into temporary objects that something lasting reads, directly or through another one."""
    reads = {names.ordinal: {name for _, name in names.names} & temporary for names in bound}
    passed = set(used)
    grown = True
    while grown:
        grown = False
        for ordinal, result in linked.items():
            into = {written.target for written in result.writes}
            if into & passed and not reads[ordinal] <= passed:
                passed |= reads[ordinal]
                grown = True
    if not passed:
        return linked
    return {
        ordinal: msgspec.structs.replace(
            result, writes=tuple(item for item in result.writes if item.target not in passed)
        )
        for ordinal, result in linked.items()
    }
