"""DOT: a digraph for Graphviz, each object a table of its columns with a port for each."""

from collections.abc import Iterator
from html import escape

from lineage_pipeline.export.escaping import short
from lineage_pipeline.export.picture import Arrow, Box, Picture

LONGEST = 120
STYLES = {"view": "rounded", "materialized view": "rounded", "temp table": "dashed", "unknown": "dashed"}


def render(picture: Picture) -> str:
    """Give a picture as a digraph."""
    return "".join(f"{line}\n" for line in _lines(picture))


def _lines(picture: Picture) -> Iterator[str]:
    yield "digraph lineage {"
    yield "    rankdir=LR;"
    yield '    node [fontname="sans-serif", shape=box];'
    numbers = {box.id: f"n{number}" for number, box in enumerate(picture.boxes)}
    ports = {(box.id, name): place for box in picture.boxes for place, (name, _) in enumerate(box.columns)}
    for box in picture.boxes:
        yield f"    {numbers[box.id]} [{_described(box)}];"
    for arrow in picture.arrows:
        source = _end(numbers[arrow.source], ports.get((arrow.source, arrow.source_column or "")), "e")
        target = _end(numbers[arrow.target], ports.get((arrow.target, arrow.target_column or "")), "w")
        yield f"    {source} -> {target} [{_drawn(arrow)}];"
    yield "}"


def _described(box: Box) -> str:
    if box.columns:
        return f"shape=plain, label=<{_table(box)}>, tooltip={quoted(box.kind)}"
    style = f", style={STYLES[box.kind]}" if box.kind in STYLES else ""
    return f"label={quoted(box.id)}, tooltip={quoted(box.kind)}{style}"


def _table(box: Box) -> str:
    """Write a box as Graphviz's kind of HTML, in which every name is escaped text."""
    head = f'<TR><TD BGCOLOR="lightgrey" PORT="head"><B>{_text(box.id)}</B></TD></TR>'
    rows = (
        f'<TR><TD ALIGN="LEFT" PORT="c{place}">{_text(name)}</TD></TR>' for place, (name, _) in enumerate(box.columns)
    )
    return f'<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0">{head}{"".join(rows)}</TABLE>'


def _text(name: str) -> str:
    return escape(short(name, LONGEST)) or " "


def _end(number: str, port: int | None, side: str) -> str:
    return number if port is None else f"{number}:c{port}:{side}"


def _drawn(arrow: Arrow) -> str:
    said = f"tooltip={quoted(', '.join(arrow.how))}"
    return said if arrow.direct else f"{said}, style=dashed"


def quoted(text: str) -> str:
    """Write a string as the language has it; a backslash would begin an escape of its own, and an ampersand a sign."""
    shown = short(text, LONGEST).replace("\\", "\\\\").replace("&", "&amp;").replace('"', '\\"')
    return f'"{shown}"'
