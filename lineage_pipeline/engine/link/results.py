"""Result sets: those of a procedure that an INSERT takes, and those that a module gives on to its caller."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.link.flows import Flow
from lineage_pipeline.engine.link.model import Input, Linked, Out, Value
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import ResultSet
from lineage_pipeline.vocabulary.plan import CALL

Pairs = list[tuple[str, Out]]
"""Values under the names of the columns that they go to."""


def with_set(procedure: Input, given: ResultSet) -> Input:
    """A procedure as the source of one of its result sets."""
    columns = tuple(procedure.columns[procedure.positions[name]] for name in given.columns)
    return msgspec.structs.replace(procedure, columns=columns, results=())


def with_first_sets(by_name: Mapping[tuple[str, ...], Input]) -> Mapping[tuple[str, ...], Input]:
    """What a statement sees of objects: of a procedure the first result set."""
    if not any(item.results for item in by_name.values()):
        return by_name
    return {parts: with_set(item, item.results[0]) if item.results else item for parts, item in by_name.items()}


def inserted_sets(
    statement: ir.Statement, write: ir.Write, by_name: Mapping[tuple[str, ...], Input], own: Input | None
) -> Iterator[tuple[tuple[str, ...], Input, bool]]:
    """The result sets of the procedure whose rows an INSERT takes: all that fit, each with whether a branch guards it.

    A procedure of which no result set is known, or none that fits, may give any: a text that it runs may be a query.
    """
    relation = statement.relations[write.relation] if write.relation != ir.NOWHERE else None
    called = {call.name.parts for call in statement.calls}
    sources = relation.sources if isinstance(relation, ir.Select) else ()
    names = [source.name.parts for source in sources if source.name is not None and source.name.parts in called]
    for parts in names[:1]:
        procedure = by_name[parts]
        widths = _widths(write, own)
        fitting = [one for one in procedure.results if len(one.columns) in widths or not any(widths)]
        fitting = fitting if any(widths) else fitting[:1]
        for one in fitting:
            yield parts, with_set(procedure, one), one.conditional
        if not fitting and (procedure.results or not procedure.columns):
            yield parts, msgspec.structs.replace(procedure, columns=(), results=(), open=True), False


def _widths(write: ir.Write, own: Input | None) -> Sequence[int]:
    """How many columns a target takes."""
    if write.columns is not None:
        return (len(write.columns),)
    known = own.columns if own is not None else ()
    return len(known), sum(not column.generated for column in known)


def relayed(
    statement: ir.Statement, names: Mapping[tuple[str, ...], str], inputs: Mapping[str, Input], module: str
) -> Iterator[tuple[Pairs, bool]]:
    """The result sets that a module gives because one gives them that it calls."""
    if not module or statement.kind not in ir.RELAYS or statement.writes or statement.result != ir.NOWHERE:
        return
    for call in statement.calls:
        callee = inputs.get(names.get(call.name.parts + CALL, ""))
        if callee is not None and callee.object != module:
            for one in callee.results:
                yield [_given(callee, name, call.name) for name in one.columns], one.conditional


def _given(callee: Input, name: str, at: ir.Name) -> tuple[str, Out]:
    column = callee.columns[callee.positions[name]]
    flow = Flow(callee.object, name, start=at.start, end=at.end)
    value = Value((flow,), column.type, column.nullable, f"{callee.object}.{name}")
    return name, Out(name, column.written, value, at.start, at.end)


def told_apart(linked: Linked, traits: Traits) -> Linked:
    """Rows whose columns of one name are numbered, as some engines do where they become a table."""
    taken: set[str] = set()
    if not traits.numbers_doubles or len({column.name for column in linked.columns}) == len(linked.columns):
        return linked
    columns = []
    for column in linked.columns:
        name, number = column.name, 0
        while name in taken:
            number += 1
            name = f"{column.name}_{number}"
        taken.add(name)
        columns.append(msgspec.structs.replace(column, name=name, written=name) if number else column)
    return msgspec.structs.replace(linked, columns=tuple(columns))


def named(columns: Sequence[Out], header: Sequence[str]) -> list[tuple[str, Out]]:
    """The columns under the names they get: those of the header, their own, or one made of their position."""
    pairs = []
    for position, column in enumerate(columns):
        name = header[position] if position < len(header) else column.name or f"_col{position}"
        pairs.append((name, column))
    return pairs
