"""Columns by position: behind a star of nobody knows how many columns, places are counted from the end."""

from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.engine.link.flows import ROW, Flow, Flows, approximated, united
from lineage_pipeline.engine.link.model import Gap, Linked, Out, Value


def gap_of(columns: int, stars: Sequence[tuple[int, int]]) -> Gap:
    """How many columns stand before and behind the unknown ones, by where the stars that stand for those lie."""
    return (stars[0][0], columns - stars[-1][1]) if stars else None


def at_places(linked: Linked, count: int) -> list[Out | None]:
    """What stands at each of some places in a row; None where that is not known."""
    columns = linked.columns
    if linked.gap is None:
        return [*columns[:count], *[None] * (count - len(columns))]
    before, behind = linked.gap
    fits = before + behind <= count
    tail = columns[len(columns) - behind :] if fits else ()
    head = columns[: min(before, count)]
    return [*head, *[None] * (count - len(head) - len(tail)), *tail]


def between(linked: Linked) -> tuple[Out, ...]:
    """The columns that are known to be among the unknown ones, though not where."""
    if linked.gap is None:
        return ()
    before, behind = linked.gap
    return linked.columns[before : len(linked.columns) - behind]


def headed(linked: Linked, names: Sequence[str], short: bool) -> Linked:
    """A relation whose columns get other names by position; a list may be `short` of some columns."""
    if linked.gap is None or len(names) <= linked.gap[0]:
        columns = [_called(out, names[at]) if at < len(names) else out for at, out in enumerate(linked.columns)]
        return msgspec.structs.replace(linked, columns=tuple(columns))
    firm = linked.gap[0]
    rows = tuple(Flow(item.object, ROW, approximate=True, start=item.start, end=item.end) for item in linked.openings)
    columns = []
    for at, (name, out) in enumerate(zip(names, at_places(linked, len(names)), strict=True)):
        if out is None:
            columns.append(Out(name, name, Value(rows, None, True, name), approximate=True))
        else:
            columns.append(_called(out if at < firm or not short else _either(out, rows), name))
    return msgspec.structs.replace(linked, columns=tuple(columns), gap=(len(columns), 0))


def _called(out: Out, name: str) -> Out:
    return msgspec.structs.replace(out, name=name, written=name)


def _either(out: Out, rows: Flows = ()) -> Out:
    """A column that may stand elsewhere, where one of the unknown ones is in its place."""
    flows = united([approximated(out.value.flows), rows])
    return msgspec.structs.replace(out, value=msgspec.structs.replace(out.value, flows=flows), approximate=True)


def stored(linked: Linked, names: Sequence[str], short: bool) -> Iterator[tuple[str, Out]]:
    """The columns of a table by name, and what is put into each; one whose place is not known goes by its own name."""
    free = {out.name: out for out in between(linked)}
    firm = linked.gap[0] if linked.gap is not None else len(names)
    for at, (name, out) in enumerate(zip(names, at_places(linked, len(names)), strict=True)):
        found = out if out is not None else free.get(name)
        if found is not None:
            yield name, found if at < firm or not short else _either(found)


def partners(first: Linked, other: Linked) -> list[Out | None]:
    """For each column of a relation, the one of another that stands at the same place, as far as that is known."""
    if first.gap is None:
        return at_places(other, len(first.columns))
    free = {out.name: out for out in between(other)}
    before, behind = first.gap
    inside = [free.get(out.name) for out in between(first)]
    ahead, after = other.gap if other.gap is not None else (len(other.columns), len(other.columns))
    head = [other.columns[at] if at < ahead else None for at in range(before)]
    tail = [other.columns[-at] if at <= after else None for at in range(behind, 0, -1)]
    return [*head, *inside, *tail]
