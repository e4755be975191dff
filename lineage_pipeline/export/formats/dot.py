"""DOT: a digraph for Graphviz; each object is a table with a port for each column."""

from collections.abc import Iterator
from html import escape

from lineage_pipeline.export.drawing.picture import Arrow, Box, Picture
from lineage_pipeline.export.escaping import shorten_middle

LONGEST = 120
STYLES = {"view": "rounded", "materialized view": "rounded", "temp table": "dashed", "unknown": "dashed"}


def render_dot(picture: Picture) -> str:
    """Render a picture as a digraph."""
    return "".join(f"{line}\n" for line in _digraph_lines(picture))


def _digraph_lines(picture: Picture) -> Iterator[str]:
    yield "digraph lineage {"
    yield "    rankdir=LR;"
    yield '    node [fontname="sans-serif", shape=box];'
    numbers = {box.id: f"n{number}" for number, box in enumerate(picture.boxes)}
    ports = {(box.id, name): place for box in picture.boxes for place, (name, _) in enumerate(box.columns)}
    for box in picture.boxes:
        yield f"    {numbers[box.id]} [{_node_attributes(box)}];"
    for arrow in picture.arrows:
        source = _arrow_end(numbers[arrow.source], ports.get((arrow.source, arrow.source_column or "")), "e")
        target = _arrow_end(numbers[arrow.target], ports.get((arrow.target, arrow.target_column or "")), "w")
        yield f"    {source} -> {target} [{_arrow_attributes(arrow)}];"
    yield "}"


def _node_attributes(box: Box) -> str:
    if box.columns:
        return f"shape=plain, label=<{_html_label(box)}>, tooltip={quote_dot(box.kind)}"
    style = f", style={STYLES[box.kind]}" if box.kind in STYLES else ""
    return f"label={quote_dot(box.id)}, tooltip={quote_dot(box.kind)}{style}"


def _html_label(box: Box) -> str:
    """Render a box as an HTML-like label of Graphviz, with every name escaped."""
    head = f'<TR><TD BGCOLOR="lightgrey" PORT="head"><B>{_escape_label(box.id)}</B></TD></TR>'
    rows = (
        f'<TR><TD ALIGN="LEFT" PORT="c{place}">{_escape_label(name)}</TD></TR>'
        for place, (name, _) in enumerate(box.columns)
    )
    return f'<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0">{head}{"".join(rows)}</TABLE>'


def _escape_label(name: str) -> str:
    return escape(shorten_middle(name, LONGEST)) or " "


def _arrow_end(number: str, port: int | None, side: str) -> str:
    return number if port is None else f"{number}:c{port}:{side}"


def _arrow_attributes(arrow: Arrow) -> str:
    said = f"tooltip={quote_dot(', '.join(arrow.how))}"
    return said if arrow.direct else f"{said}, style=dashed"


def quote_dot(text: str) -> str:
    """Quote a string for DOT: a backslash would begin an escape, and an ampersand an entity."""
    shown = shorten_middle(text, LONGEST).replace("\\", "\\\\").replace("&", "&amp;").replace('"', '\\"')
    return f'"{shown}"'
