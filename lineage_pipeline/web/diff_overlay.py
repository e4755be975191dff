"""Two snapshots in one drawing: what was added, removed and changed."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

import msgspec

from lineage_pipeline.export.drawing.picture import Arrow, Box, Picture
from lineage_pipeline.web.marts import Marts
from lineage_pipeline.web.neighborhood import (
    MOST_BOXES,
    Neighborhood,
    NeighborhoodView,
    drop_unused_columns,
    find_neighborhood,
)

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
BoxOrArrow = TypeVar("BoxOrArrow", Box, Arrow)


def find_diff_neighborhood(marts: Marts, view: NeighborhoodView, base: str) -> Neighborhood:
    """Find the neighborhood in one snapshot, overlaid with that of another."""
    after = find_neighborhood(marts, view, whole=True)
    before = find_neighborhood(marts, msgspec.structs.replace(view, snapshot=base), whole=True)
    names = [box.id for box in (*after.picture.boxes, *before.picture.boxes)]
    kept = set(list(dict.fromkeys([view.focus, *names]))[:MOST_BOXES])
    boxes = _merge_sides(before.picture.boxes, after.picture.boxes, lambda box: box.id, _merge_boxes)
    arrows = _merge_sides(before.picture.arrows, after.picture.arrows, _arrow_ends, _merge_arrows)
    flows = _merge_sides(before.flows, after.flows, _column_ends, _merge_arrows)
    picture = Picture(
        tuple(drop_unused_columns((box for box in boxes if box.id in kept), view.focus, flows)),
        tuple(arrow for arrow in arrows if {arrow.source, arrow.target} <= kept),
    )
    dropped = len(set(names)) - len(kept)
    cut = after.cut or before.cut or (f"{len(kept)} of {len(kept) + dropped} objects" if dropped else "")
    return Neighborhood(picture, tuple(flow for flow in flows if {flow.source, flow.target} <= kept), cut)


def _merge_sides(
    before: Iterable[BoxOrArrow],
    after: Iterable[BoxOrArrow],
    key: Callable[[BoxOrArrow], Hashable],
    both: Callable[[BoxOrArrow, BoxOrArrow], BoxOrArrow],
) -> list[BoxOrArrow]:
    """Return the items of both sides, each with its state."""
    old: dict[Hashable, BoxOrArrow] = {key(one): one for one in before}
    found: list[BoxOrArrow] = []
    for one in after:
        was = old.pop(key(one), None)
        found.append(msgspec.structs.replace(one, state=ADDED) if was is None else both(was, one))
    found.extend(msgspec.structs.replace(one, state=REMOVED) for one in old.values())
    return found


def _merge_boxes(before: Box, after: Box) -> Box:
    """Return the box with the columns of both sides, removed ones last."""
    old, new = dict(before.columns), dict(after.columns)
    states = {name: ADDED for name in new if name not in old}
    states |= {name: REMOVED for name in old if name not in new}
    states |= {name: CHANGED for name in new if name in old and old[name] != new[name]}
    columns = [(name, f"{old[name]} → {kind}" if states.get(name) == CHANGED else kind) for name, kind in new.items()]
    gone = [(name, kind) for name, kind in old.items() if name not in new]
    state = CHANGED if states or before.kind != after.kind else ""
    return msgspec.structs.replace(after, columns=(*columns, *gone), state=state, states=states)


def _merge_arrows(before: Arrow, after: Arrow) -> Arrow:
    return msgspec.structs.replace(after, state=CHANGED if before.how != after.how else "")


def _arrow_ends(arrow: Arrow) -> tuple[str, str]:
    return arrow.source, arrow.target


def _column_ends(arrow: Arrow) -> tuple[str, str | None, str, str | None, bool]:
    return arrow.source, arrow.source_column, arrow.target, arrow.target_column, arrow.direct
