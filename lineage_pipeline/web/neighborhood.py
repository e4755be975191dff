"""The neighborhood of an object: a limited number of boxes, their columns and flows, and what a comparison changes."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from itertools import islice
from typing import Any, TypeVar

import msgspec

from lineage_pipeline.export.drawing.box_layout import build_page_data
from lineage_pipeline.export.drawing.picture import APPROXIMATE, Arrow, Box, Picture
from lineage_pipeline.model.enums import EdgeType
from lineage_pipeline.web.marts import Marts, Row

UNRESOLVED = "?"


class ObjectAdjacency:
    """The objects of a snapshot with their neighbors, in the order of names."""

    def __init__(self, links: Iterable[tuple[str, str, tuple[str, ...]]]) -> None:
        """Build it from links in the order of names: source, target, and their kinds."""
        up: dict[str, list[str]] = defaultdict(list)
        down: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        for source, target, kinds in links:
            down[source][target] = shared.setdefault(kinds, kinds)
            up[target].append(source)
        self._up, self._down = dict(up), dict(down)

    def neighbors(self, border: Iterable[str], upwards: bool) -> list[str]:
        """Return the neighbors of some objects on one side."""
        sides = self._up if upwards else self._down
        return sorted({name for start in border for name in sides.get(start, ()) if name != UNRESOLVED})

    def links_between(self, names: Iterable[str]) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return the links between some objects, with their kinds."""
        known = set(names)
        return [
            (source, target, kinds)
            for source in sorted(known)
            for target, kinds in self._down.get(source, {}).items()
            if target in known and target != source
        ]


def load_adjacency(marts: Marts, snapshot: str) -> ObjectAdjacency:
    """Return the adjacency of a snapshot; one query, cached for each state of the marts."""

    def load() -> ObjectAdjacency:
        rows = marts.ask(
            "select from_object, to_object, list(distinct kind order by kind) as kinds from marts.object_lineage"
            " where snapshot = ? group by from_object, to_object order by from_object, to_object",
            snapshot,
        )
        return ObjectAdjacency((row["from_object"], row["to_object"], tuple(row["kinds"])) for row in rows)

    return marts.cached(snapshot, load)


MOST_BOXES = 60
"""The number of objects that are drawn at once."""

MOST_FLOWS, MOST_ROWS = 4000, 20_000
"""The number of column flows that are drawn at once, and of rows that are read for them."""

ALL_COLUMNS = "*"
"""The name of all columns of an object."""


class NeighborhoodView(msgspec.Struct, frozen=True):
    """What is shown: an object, how far up and down, and objects that were expanded."""

    snapshot: str
    focus: str
    up: int = 1
    down: int = 1
    opened: tuple[str, ...] = ()


class Neighborhood(msgspec.Struct, frozen=True):
    """Boxes and arrows, column flows, and what did not fit."""

    picture: Picture
    flows: tuple[Arrow, ...]
    cut: str


def find_neighborhood(marts: Marts, view: NeighborhoodView, *, whole: bool = False) -> Neighborhood:
    """Find the neighborhood: two queries, however far it reaches. With `whole`, boxes keep all columns."""
    links = load_adjacency(marts, view.snapshot)
    names, dropped = _objects_in_view(links, view)
    boxes = _load_boxes(marts, view, names)
    arrows = [Arrow(*link) for link in links.links_between(names)]
    flows, all_flows = _load_flows(marts, view, names)
    if not whole:
        boxes = drop_unused_columns(boxes, view.focus, flows)
    left_out = [f"{len(names)} of {len(names) + dropped} objects"] if dropped else []
    left_out += [] if all_flows else [f"{len(flows):,} flows between columns, not all"]
    cut = f"{' and '.join(left_out)}; look closer, or export" if left_out else ""
    return Neighborhood(Picture(tuple(boxes), tuple(arrows), cut), tuple(flows), cut)


def build_drawing(around: Neighborhood) -> dict[str, Any]:
    """Return the data that the script of the page draws."""
    return build_page_data(around.picture, around.flows)


def _objects_in_view(links: ObjectAdjacency, view: NeighborhoodView) -> tuple[list[str], int]:
    """Return the objects within reach, the nearest first, and the number of omitted ones."""
    found: dict[str, None] = {view.focus: None}
    for upwards, depth in ((True, view.up), (False, view.down)):
        border: Iterable[str] = [view.focus]
        for _ in range(depth):
            border = links.neighbors(border, upwards)
            found.update(dict.fromkeys(border))
    for name in view.opened:
        found[name] = None
        for upwards in (True, False):
            found.update(dict.fromkeys(links.neighbors([name], upwards)))
    names = list(found)
    return names[:MOST_BOXES], max(len(names) - MOST_BOXES, 0)


def _load_boxes(marts: Marts, view: NeighborhoodView, names: list[str]) -> list[Box]:
    rows = marts.ask(
        "select objects.object, objects.kind, objects.path, objects.line, columns.column_name, columns.data_type"
        " from marts.objects as objects left join marts.columns as columns using (snapshot, object)"
        " where objects.snapshot = ? and list_contains(?, objects.object) order by objects.object, columns.ordinal",
        view.snapshot,
        names,
    )
    columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
    heads: dict[str, Row] = {}
    for row in rows:
        heads.setdefault(row["object"], row)
        if row["column_name"] is not None:
            columns[row["object"]].append((row["column_name"], row["data_type"] or ""))
    return [Box(name, row["kind"], tuple(columns[name]), _row_location(row)) for name, row in heads.items()]


def _row_location(row: Row) -> str:
    return f"{row['path']}:{row['line']}" if row["path"] else ""


def _load_flows(marts: Marts, view: NeighborhoodView, names: list[str]) -> tuple[list[Arrow], bool]:
    """Return the column flows between some objects, and whether these are all."""
    rows = marts.ask(
        "select distinct from_object, from_column, to_object, to_column, type, approximate, subtype"
        " from marts.column_lineage where snapshot = ?"
        " and from_object in (select unnest(?)) and to_object in (select unnest(?))"
        f" order by all limit {MOST_ROWS}",
        view.snapshot,
        names,
        names,
    )
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in rows:
        ends = (row["from_object"], row["from_column"], row["to_object"], row["to_column"], row["type"])
        found[ends] |= {row["subtype"], APPROXIMATE} if row["approximate"] else {row["subtype"]}
    flows = [_build_flow(ends, how) for ends, how in islice(found.items(), MOST_FLOWS)]
    return flows, len(rows) < MOST_ROWS and len(found) <= MOST_FLOWS


def _build_flow(ends: tuple[str, ...], how: set[str]) -> Arrow:
    source, source_column, target, target_column, kind = ends
    ways = (*sorted(how - {APPROXIMATE}), *({APPROXIMATE} & how))
    first, last = (None if name == ALL_COLUMNS else name for name in (source_column, target_column))
    return Arrow(
        source=source, target=target, how=ways, direct=kind == EdgeType.DIRECT, source_column=first, target_column=last
    )


def drop_unused_columns(boxes: Iterable[Box], focus: str, flows: Iterable[Arrow]) -> list[Box]:
    """Drop the columns without a flow or a state from every box but the focus."""
    used = {end for flow in flows for end in ((flow.source, flow.source_column), (flow.target, flow.target_column))}
    return [box if box.id == focus else _keep_used_columns(box, used) for box in boxes]


def _keep_used_columns(box: Box, used: set[tuple[str, str | None]]) -> Box:
    kept = tuple((name, kind) for name, kind in box.columns if (box.id, name) in used or name in box.states)
    return msgspec.structs.replace(box, columns=kept)


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
