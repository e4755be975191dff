"""Mermaid: a flowchart from left to right."""

from collections.abc import Iterator

from lineage_pipeline.export.drawing.picture import Arrow, Box, Picture
from lineage_pipeline.export.escaping import escape_mermaid, shorten_middle

LONGEST = 80
SHAPES = {"view": ("([", "])"), "materialized view": ("([", "])"), "procedure": ("[[", "]]"), "function": ("[[", "]]")}
"""Brackets of boxes that are not plain tables."""


def render_mermaid(picture: Picture) -> str:
    """Render a picture as a flowchart; with columns, each object is a frame around them."""
    return "".join(f"{line}\n" for line in _flowchart_lines(picture))


def _flowchart_lines(picture: Picture) -> Iterator[str]:
    yield "flowchart LR"
    numbers = {box.id: f"n{number}" for number, box in enumerate(picture.boxes)}
    for box in picture.boxes:
        yield from _box_lines(box, numbers[box.id])
    columns = {
        (box.id, name): f"{numbers[box.id]}c{place}"
        for box in picture.boxes
        for place, (name, _) in enumerate(box.columns)
    }
    for arrow in picture.arrows:
        source = columns.get((arrow.source, arrow.source_column or ""), numbers[arrow.source])
        target = columns.get((arrow.target, arrow.target_column or ""), numbers[arrow.target])
        yield f"    {source} {_arrow_sign(arrow)} {target}"


def _box_lines(box: Box, number: str) -> Iterator[str]:
    if not box.columns:
        opened, closed = SHAPES.get(box.kind, ("[", "]"))
        yield f'    {number}{opened}"{format_label(box.id)}"{closed}'
        return
    yield f'    subgraph {number}["{format_label(box.id)}"]'
    for place, (name, _) in enumerate(box.columns):
        yield f'        {number}c{place}["{format_label(name)}"]'
    yield "    end"


def _arrow_sign(arrow: Arrow) -> str:
    plain = ("IDENTITY",), ("read",), ("write",), ("read", "write")
    line = "-->" if arrow.direct else "-.->"
    return line if arrow.how in plain or len(arrow.how) > 3 else f'{line}|"{format_label(", ".join(arrow.how))}"|'


def format_label(text: str) -> str:
    """Escape and shorten a name for a label."""
    return escape_mermaid(shorten_middle(text, LONGEST)) or " "
