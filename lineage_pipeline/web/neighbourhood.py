"""What stands around an object: at most so many boxes, the columns on the way between them, and the flows."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from lineage_pipeline.export.html import content
from lineage_pipeline.export.picture import Arrow, Box, Picture
from lineage_pipeline.web.marts import Marts, Row

MOST = 60
"""How many objects are drawn at once."""


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
    """Find the neighbourhood; as many queries as steps, and three more. Where `whole`, boxes keep all columns."""
    names, dropped = _names(marts, view)
    boxes = _boxes(marts, view, names)
    arrows = _arrows(marts, view, names)
    flows = _flows(marts, view, names)
    if not whole:
        boxes = narrowed(boxes, view.focus, flows)
    cut = f"{len(names)} of {len(names) + dropped} objects; look closer, or export" if dropped else ""
    return Around(Picture(tuple(boxes), tuple(arrows), cut), tuple(flows), cut)


def drawing(around: Around) -> dict[str, Any]:
    """Give what the script of the page draws."""
    return content(around.picture, around.flows)


def _names(marts: Marts, view: View) -> tuple[list[str], int]:
    """Name the objects within reach, the nearest first, and count those that are left out."""
    found: dict[str, None] = {view.focus: None}
    for upwards, depth in ((True, view.up), (False, view.down)):
        border: Iterable[str] = [view.focus]
        for _ in range(depth):
            border = _step(marts, view.snapshot, border, upwards)
            found.update(dict.fromkeys(border))
    for name in view.opened:
        found[name] = None
        for upwards in (True, False):
            found.update(dict.fromkeys(_step(marts, view.snapshot, [name], upwards)))
    names = list(found)
    return names[:MOST], max(len(names) - MOST, 0)


def _step(marts: Marts, snapshot: str, border: Iterable[str], upwards: bool) -> list[str]:
    start, end = ("to_object", "from_object") if upwards else ("from_object", "to_object")
    rows = marts.ask(
        f"select distinct {end} as name from marts.object_lineage"
        f" where snapshot = ? and list_contains(?, {start}) and {end} <> '?' order by name",
        snapshot,
        list(border),
    )
    return [row["name"] for row in rows]


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


def _arrows(marts: Marts, view: View, names: list[str]) -> list[Arrow]:
    rows = marts.ask(
        "select from_object, to_object, list(distinct kind order by kind) as kinds from marts.object_lineage"
        " where snapshot = ? and list_contains(?, from_object) and list_contains(?, to_object)"
        " and from_object <> to_object group by from_object, to_object order by from_object, to_object",
        view.snapshot,
        names,
        names,
    )
    return [Arrow(row["from_object"], row["to_object"], tuple(row["kinds"])) for row in rows]


def _flows(marts: Marts, view: View, names: list[str]) -> list[Arrow]:
    rows = marts.ask(
        "select from_object, from_column, to_object, to_column, type, bool_or(approximate) as approximate,"
        " list(distinct subtype order by subtype) as subtypes from marts.column_lineage"
        " where snapshot = ? and list_contains(?, from_object) and list_contains(?, to_object)"
        " group by from_object, from_column, to_object, to_column, type order by all limit 4000",
        view.snapshot,
        names,
        names,
    )
    return [
        Arrow(
            row["from_object"],
            row["to_object"],
            (*row["subtypes"], *(("approximate",) if row["approximate"] else ())),
            row["type"] == "DIRECT",
            None if row["from_column"] == "*" else row["from_column"],
            None if row["to_column"] == "*" else row["to_column"],
        )
        for row in rows
    ]


def narrowed(boxes: Iterable[Box], focus: str, flows: Iterable[Arrow]) -> list[Box]:
    """Leave the columns that no flow touches, and nothing became of, out of every box but the one that is looked at."""
    used = {end for flow in flows for end in ((flow.source, flow.source_column), (flow.target, flow.target_column))}
    return [box if box.id == focus else _with_columns(box, used) for box in boxes]


def _with_columns(box: Box, used: set[tuple[str, str | None]]) -> Box:
    kept = tuple((name, kind) for name, kind in box.columns if (box.id, name) in used or name in box.states)
    return msgspec.structs.replace(box, columns=kept)
