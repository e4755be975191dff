"""Positional mapping of columns; behind an unexpanded star, positions are counted from the end."""

from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.link.model import (
    WHOLE_ROW,
    BoundRelation,
    ColumnFlow,
    ExprResult,
    Flows,
    OutputColumn,
    UnknownRange,
    mark_approximate,
    union_flows,
)


def find_unknown_range(columns: int, stars: Sequence[tuple[int, int]]) -> UnknownRange:
    """The columns before the first unexpanded star and behind the last one, by where those stars lie."""
    return (stars[0][0], columns - stars[-1][1]) if stars else None


def pick_by_position(linked: BoundRelation, count: int) -> list[OutputColumn | None]:
    """The columns at the first positions; None where a column is unknown."""
    columns = linked.columns
    if linked.unknown_range is None:
        return [*columns[:count], *[None] * (count - len(columns))]
    before, behind = linked.unknown_range
    fits = before + behind <= count
    tail = columns[len(columns) - behind :] if fits else ()
    head = columns[: min(before, count)]
    return [*head, *[None] * (count - len(head) - len(tail)), *tail]


def list_unplaced_columns(linked: BoundRelation) -> tuple[OutputColumn, ...]:
    """The known columns inside the unknown range, whose positions are unknown."""
    if linked.unknown_range is None:
        return ()
    before, behind = linked.unknown_range
    return linked.columns[before : len(linked.columns) - behind]


def rename_by_position(linked: BoundRelation, names: Sequence[str], short: bool) -> BoundRelation:
    """A relation with its columns renamed by position; the list may be `short` of some columns."""
    if linked.unknown_range is None or len(names) <= linked.unknown_range[0]:
        columns = [_rename_column(out, names[at]) if at < len(names) else out for at, out in enumerate(linked.columns)]
        return msgspec.structs.replace(linked, columns=tuple(columns))
    firm = linked.unknown_range[0]
    rows = tuple(
        ColumnFlow(item.object, WHOLE_ROW, approximate=True, start=item.start, end=item.end)
        for item in linked.unexpanded
    )
    columns = []
    for at, (name, out) in enumerate(zip(names, pick_by_position(linked, len(names)), strict=True)):
        if out is None:
            columns.append(OutputColumn(name, name, ExprResult(rows, None, True, name), approximate=True))
        else:
            columns.append(_rename_column(out if at < firm or not short else _mark_maybe_shifted(out, rows), name))
    return msgspec.structs.replace(linked, columns=tuple(columns), unknown_range=(len(columns), 0))


def _rename_column(out: OutputColumn, name: str) -> OutputColumn:
    return msgspec.structs.replace(out, name=name, written=name)


def _mark_maybe_shifted(out: OutputColumn, rows: Flows = ()) -> OutputColumn:
    """A column that may stand at another position, where an unknown one takes its place."""
    flows = union_flows([mark_approximate(out.value.flows), rows])
    return msgspec.structs.replace(out, value=msgspec.structs.replace(out.value, flows=flows), approximate=True)


def assign_by_position(linked: BoundRelation, names: Sequence[str], short: bool) -> Iterator[tuple[str, OutputColumn]]:
    """Target columns by name with the values stored in them; a value without a position goes by its name."""
    free = {out.name: out for out in list_unplaced_columns(linked)}
    firm = linked.unknown_range[0] if linked.unknown_range is not None else len(names)
    for at, (name, out) in enumerate(zip(names, pick_by_position(linked, len(names)), strict=True)):
        found = out if out is not None else free.get(name)
        if found is not None:
            yield name, found if at < firm or not short else _mark_maybe_shifted(found)


def align_by_position(first: BoundRelation, other: BoundRelation) -> list[OutputColumn | None]:
    """For each column of a relation, the column of another one at the same position, or None where unknown."""
    if first.unknown_range is None:
        return pick_by_position(other, len(first.columns))
    free = {out.name: out for out in list_unplaced_columns(other)}
    before, behind = first.unknown_range
    inside = [free.get(out.name) for out in list_unplaced_columns(first)]
    ahead, after = other.unknown_range if other.unknown_range is not None else (len(other.columns), len(other.columns))
    head = [other.columns[at] if at < ahead else None for at in range(before)]
    tail = [other.columns[-at] if at <= after else None for at in range(behind, 0, -1)]
    return [*head, *inside, *tail]


def number_duplicate_columns(linked: BoundRelation, traits: DialectTraits) -> BoundRelation:
    """Rows with duplicate column names numbered, as some engines do when a query becomes a table."""
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
