"""Mermaid: a flowchart from left to right, for pages that draw one from text."""

from collections.abc import Iterator

from lineage_pipeline.export.escaping import mermaid, short
from lineage_pipeline.export.picture import Arrow, Box, Picture

LONGEST = 80
SHAPES = {"view": ("([", "])"), "materialized view": ("([", "])"), "procedure": ("[[", "]]"), "function": ("[[", "]]")}
"""How kinds of boxes are drawn that are no plain tables."""


def render(picture: Picture) -> str:
    """Give a picture as a flowchart; with columns, each object is a frame around them."""
    return "".join(f"{line}\n" for line in _lines(picture))


def _lines(picture: Picture) -> Iterator[str]:
    yield "flowchart LR"
    numbers = {box.id: f"n{number}" for number, box in enumerate(picture.boxes)}
    for box in picture.boxes:
        yield from _box(box, numbers[box.id])
    columns = {
        (box.id, name): f"{numbers[box.id]}c{place}"
        for box in picture.boxes
        for place, (name, _) in enumerate(box.columns)
    }
    for arrow in picture.arrows:
        source = columns.get((arrow.source, arrow.source_column or ""), numbers[arrow.source])
        target = columns.get((arrow.target, arrow.target_column or ""), numbers[arrow.target])
        yield f"    {source} {_line(arrow)} {target}"


def _box(box: Box, number: str) -> Iterator[str]:
    if not box.columns:
        opened, closed = SHAPES.get(box.kind, ("[", "]"))
        yield f'    {number}{opened}"{label(box.id)}"{closed}'
        return
    yield f'    subgraph {number}["{label(box.id)}"]'
    for place, (name, _) in enumerate(box.columns):
        yield f'        {number}c{place}["{label(name)}"]'
    yield "    end"


def _line(arrow: Arrow) -> str:
    plain = ("IDENTITY",), ("read",), ("write",), ("read", "write")
    line = "-->" if arrow.direct else "-.->"
    return line if arrow.how in plain or len(arrow.how) > 3 else f'{line}|"{label(", ".join(arrow.how))}"|'


def label(text: str) -> str:
    """Write a name so that it is nothing but a name."""
    return mermaid(short(text, LONGEST)) or " "
