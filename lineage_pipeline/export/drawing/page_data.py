"""The data of a drawing for the script of the HTML page: boxes with sizes and places, arrows and column flows."""

from collections.abc import Mapping, Sequence
from typing import Any

from lineage_pipeline.export.drawing.box_layout import lay_out_boxes
from lineage_pipeline.export.drawing.picture import APPROXIMATE, Arrow, Box, Picture
from lineage_pipeline.export.escaping import escape_hidden, shorten_middle

LABEL, COLUMN, TYPE = 44, 30, 22
"""Characters of a name, a column and a type that a box shows; the tooltip has all of them."""

BOX_ROWS = 24
"""Columns that a box shows; the panel beside lists all."""

HEAD, ROW, PAD = 34, 20, 8
WIDE, NARROW, GLYPH = 420, 150, 7.3


def build_page_data(picture: Picture, flows: Sequence[Arrow] = ()) -> dict[str, Any]:
    """Return boxes, arrows and flows as plain values for the script of the page."""
    numbers = {box.id: number for number, box in enumerate(picture.boxes)}
    ends = [(numbers[arrow.source], numbers[arrow.target]) for arrow in picture.arrows]
    sizes = [_box_size(box) for box in picture.boxes]
    layout = lay_out_boxes(sizes, ends)
    boxes = [
        {
            "name": escape_hidden(box.id),
            "label": shorten_middle(box.label or box.id, LABEL),
            "kind": box.kind,
            "place": escape_hidden(box.place),
            "at": [*place, *size],
            "state": box.state,
            "columns": [
                [
                    shorten_middle(name, COLUMN),
                    shorten_middle(kind, TYPE),
                    escape_hidden(name),
                    box.states.get(name, ""),
                ]
                for name, kind in box.columns
            ],
        }
        for box, place, size in zip(picture.boxes, layout.places, sizes, strict=True)
    ]
    arrows = [
        [numbers[arrow.source], numbers[arrow.target], list(way), escape_hidden(", ".join(arrow.how[:20])), arrow.state]
        for arrow, way in zip(picture.arrows, layout.ways, strict=True)
    ]
    return {
        "boxes": boxes,
        "arrows": arrows,
        "flows": _column_flows(picture, flows, numbers),
        "size": [layout.width, layout.height],
        "metrics": [HEAD, ROW, BOX_ROWS],
    }


def _column_flows(picture: Picture, flows: Sequence[Arrow], numbers: Mapping[str, int]) -> list[list[Any]]:
    """Return the flows between columns by the numbers of box and column; -1 is a whole box."""
    places = {(box.id, name): place for box in picture.boxes for place, (name, _) in enumerate(box.columns)}
    return [
        [
            numbers[arrow.source],
            places.get((arrow.source, arrow.source_column or ""), -1),
            numbers[arrow.target],
            places.get((arrow.target, arrow.target_column or ""), -1),
            int(arrow.direct),
            ", ".join(arrow.how),
            arrow.state,
            int(APPROXIMATE in arrow.how),
        ]
        for arrow in flows
        if arrow.source in numbers and arrow.target in numbers
    ]


def _box_size(box: Box) -> tuple[int, int]:
    """Return width and height of a box by its content."""
    lines = [
        len(shorten_middle(name, COLUMN)) + 3 + len(shorten_middle(kind, TYPE)) for name, kind in box.columns[:BOX_ROWS]
    ]
    width = (
        max((len(shorten_middle(box.label or box.id, LABEL)) * GLYPH * 1.08, *(line * GLYPH for line in lines))) + 24
    )
    rows = min(len(box.columns), BOX_ROWS) + (len(box.columns) > BOX_ROWS)
    return round(min(max(width, NARROW), WIDE)), HEAD + (rows * ROW + PAD if rows else 0)
