"""What stands around an object: at most so many boxes, the columns on the way between them, and the flows."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import islice
from typing import Any

import msgspec

from lineage_pipeline.export.html import content
from lineage_pipeline.export.picture import APPROXIMATE, Arrow, Box, Picture
from lineage_pipeline.vocabulary.sets import EdgeType
from lineage_pipeline.web.adjacency import Adjacency, adjacency_of
from lineage_pipeline.web.marts import Marts, Row

MOST = 60
"""How many objects are drawn at once."""

MOST_FLOWS, MOST_ROWS = 4000, 20_000
"""How many flows between columns are drawn at once, and how many rows are read for them."""

ALL = "*"
"""What stands for all columns of an object."""


class View(msgspec.Struct, frozen=True):
    """What is looked at: an object, how far up and down, and objects that were opened further."""

    snapshot: str
    focus: str
    up: int = 1
    down: int = 1
    opened: tuple[str, ...] = ()


class Around(msgspec.Struct, frozen=True):
    """What was found: boxes and arrows, flows between columns, and what did not fit."""

    picture: Picture
    flows: tuple[Arrow, ...]
    cut: str


def look_around(marts: Marts, view: View, *, whole: bool = False) -> Around:
    """Find the neighbourhood: two queries, however far it reaches. Where `whole`, boxes keep all columns."""
    links = adjacency_of(marts, view.snapshot)
    names, dropped = _names(links, view)
    boxes = _boxes(marts, view, names)
    arrows = [Arrow(*link) for link in links.between(names)]
    flows, all_flows = _flows(marts, view, names)
    if not whole:
        boxes = narrowed(boxes, view.focus, flows)
    left_out = [f"{len(names)} of {len(names) + dropped} objects"] if dropped else []
    left_out += [] if all_flows else [f"{len(flows):,} flows between columns, not all"]
    cut = f"{' and '.join(left_out)}; look closer, or export" if left_out else ""
    return Around(Picture(tuple(boxes), tuple(arrows), cut), tuple(flows), cut)


def drawing(around: Around) -> dict[str, Any]:
    """Give what the script of the page draws."""
    return content(around.picture, around.flows)


def _names(links: Adjacency, view: View) -> tuple[list[str], int]:
    """Name the objects within reach, the nearest first, and count those that are left out."""
    found: dict[str, None] = {view.focus: None}
    for upwards, depth in ((True, view.up), (False, view.down)):
        border: Iterable[str] = [view.focus]
        for _ in range(depth):
            border = links.step(border, upwards)
            found.update(dict.fromkeys(border))
    for name in view.opened:
        found[name] = None
        for upwards in (True, False):
            found.update(dict.fromkeys(links.step([name], upwards)))
    names = list(found)
    return names[:MOST], max(len(names) - MOST, 0)


def _boxes(marts: Marts, view: View, names: list[str]) -> list[Box]:
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
    return [Box(name, row["kind"], tuple(columns[name]), _place(row)) for name, row in heads.items()]


def _place(row: Row) -> str:
    return f"{row['path']}:{row['line']}" if row["path"] else ""


def _flows(marts: Marts, view: View, names: list[str]) -> tuple[list[Arrow], bool]:
    """List what flows between the columns of some objects, and say whether that is all."""
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
    flows = [_flow(ends, how) for ends, how in islice(found.items(), MOST_FLOWS)]
    return flows, len(rows) < MOST_ROWS and len(found) <= MOST_FLOWS


def _flow(ends: tuple[str, ...], how: set[str]) -> Arrow:
    source, source_column, target, target_column, kind = ends
    told = (*sorted(how - {APPROXIMATE}), *({APPROXIMATE} & how))
    first, last = (None if name == ALL else name for name in (source_column, target_column))
    return Arrow(source, target, told, kind == EdgeType.DIRECT, first, last)


def narrowed(boxes: Iterable[Box], focus: str, flows: Iterable[Arrow]) -> list[Box]:
    """Leave the columns that no flow touches, and nothing became of, out of every box but the one that is looked at."""
    used = {end for flow in flows for end in ((flow.source, flow.source_column), (flow.target, flow.target_column))}
    return [box if box.id == focus else _with_columns(box, used) for box in boxes]


def _with_columns(box: Box, used: set[tuple[str, str | None]]) -> Box:
    kept = tuple((name, kind) for name, kind in box.columns if (box.id, name) in used or name in box.states)
    return msgspec.structs.replace(box, columns=kept)
