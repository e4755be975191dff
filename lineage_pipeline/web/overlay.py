"""Two snapshots in one drawing: what was added, what was removed, and what became something else."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

import msgspec

from lineage_pipeline.export.picture import Arrow, Box, Picture
from lineage_pipeline.web.marts import Marts
from lineage_pipeline.web.neighbourhood import MOST, Around, View, look_around, narrowed

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
Thing = TypeVar("Thing", Box, Arrow)


def look_at_both(marts: Marts, view: View, base: str) -> Around:
    """Draw the neighbourhood as it is, with what it was in another snapshot laid over it."""
    after = look_around(marts, view, whole=True)
    before = look_around(marts, msgspec.structs.replace(view, snapshot=base), whole=True)
    names = [box.id for box in (*after.picture.boxes, *before.picture.boxes)]
    kept = set(list(dict.fromkeys([view.focus, *names]))[:MOST])
    boxes = _merged(before.picture.boxes, after.picture.boxes, lambda box: box.id, _box)
    arrows = _merged(before.picture.arrows, after.picture.arrows, _ends, _arrow)
    flows = _merged(before.flows, after.flows, _column_ends, _arrow)
    picture = Picture(
        tuple(narrowed((box for box in boxes if box.id in kept), view.focus, flows)),
        tuple(arrow for arrow in arrows if {arrow.source, arrow.target} <= kept),
    )
    dropped = len(set(names)) - len(kept)
    cut = after.cut or before.cut or (f"{len(kept)} of {len(kept) + dropped} objects" if dropped else "")
    return Around(picture, tuple(flow for flow in flows if {flow.source, flow.target} <= kept), cut)


def _merged(
    before: Iterable[Thing],
    after: Iterable[Thing],
    key: Callable[[Thing], Hashable],
    both: Callable[[Thing, Thing], Thing],
) -> list[Thing]:
    """Give all things of both sides, each with what became of it."""
    old: dict[Hashable, Thing] = {key(one): one for one in before}
    found: list[Thing] = []
    for one in after:
        was = old.pop(key(one), None)
        found.append(msgspec.structs.replace(one, state=ADDED) if was is None else both(was, one))
    found.extend(msgspec.structs.replace(one, state=REMOVED) for one in old.values())
    return found


def _box(before: Box, after: Box) -> Box:
    """Give the columns of both sides, those that are gone last."""
    old, new = dict(before.columns), dict(after.columns)
    states = {name: ADDED for name in new if name not in old}
    states |= {name: REMOVED for name in old if name not in new}
    states |= {name: CHANGED for name in new if name in old and old[name] != new[name]}
    columns = [(name, f"{old[name]} → {kind}" if states.get(name) == CHANGED else kind) for name, kind in new.items()]
    gone = [(name, kind) for name, kind in old.items() if name not in new]
    state = CHANGED if states or before.kind != after.kind else ""
    return msgspec.structs.replace(after, columns=(*columns, *gone), state=state, states=states)


def _arrow(before: Arrow, after: Arrow) -> Arrow:
    return msgspec.structs.replace(after, state=CHANGED if before.how != after.how else "")


def _ends(arrow: Arrow) -> tuple[str, str]:
    return arrow.source, arrow.target


def _column_ends(arrow: Arrow) -> tuple[str, str | None, str, str | None, bool]:
    return arrow.source, arrow.source_column, arrow.target, arrow.target_column, arrow.direct
