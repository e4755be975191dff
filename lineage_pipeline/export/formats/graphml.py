"""GraphML: nodes and edges with their attributes, for graph tools."""

from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from lineage_pipeline.export.drawing.picture import Arrow, Picture
from lineage_pipeline.export.escaping import escape_hidden

ATTRIBUTES = (
    ("node", "name", "string"),
    ("node", "kind", "string"),
    ("node", "object", "string"),
    ("node", "type", "string"),
    ("node", "place", "string"),
    ("edge", "how", "string"),
    ("edge", "direct", "boolean"),
)
OWNS = "owns"
"""The kind of an edge from an object to its column."""


def render_graphml(picture: Picture) -> str:
    """Render a picture as XML; columns are nodes that their objects own."""
    return "".join(f"{line}\n" for line in _graphml_lines(picture))


def _graphml_lines(picture: Picture) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for owner, name, kind in ATTRIBUTES:
        yield f'  <key id="{owner}_{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph id="lineage" edgedefault="directed">'
    numbers = {box.id: f"n{number}" for number, box in enumerate(picture.boxes)}
    columns: dict[tuple[str, str], str] = {}
    owned: list[tuple[str, str]] = []
    for box in picture.boxes:
        number = numbers[box.id]
        yield from _node_lines(number, {"name": box.id, "kind": box.kind, "place": box.place})
        for place, (name, kind) in enumerate(box.columns):
            columns[box.id, name] = f"{number}c{place}"
            owned.append((number, f"{number}c{place}"))
            yield from _node_lines(
                f"{number}c{place}", {"name": name, "kind": "column", "object": box.id, "type": kind}
            )
    yield from (line for source, target in owned for line in _edge_lines(source, target, OWNS, False))
    for arrow in picture.arrows:
        yield from _edge_lines(*_arrow_ends(arrow, numbers, columns), ", ".join(arrow.how), arrow.direct)
    yield "  </graph>"
    yield "</graphml>"


def _arrow_ends(arrow: Arrow, numbers: Mapping[str, str], columns: Mapping[tuple[str, str], str]) -> tuple[str, str]:
    source = columns.get((arrow.source, arrow.source_column or ""), numbers[arrow.source])
    return source, columns.get((arrow.target, arrow.target_column or ""), numbers[arrow.target])


def _node_lines(number: str, known: Mapping[str, str]) -> Iterator[str]:
    yield f"    <node id={quoteattr(number)}>"
    yield from (f'      <data key="node_{key}">{_escape_xml(value)}</data>' for key, value in known.items() if value)
    yield "    </node>"


def _edge_lines(source: str, target: str, how: str, direct: bool) -> Iterator[str]:
    yield f"    <edge source={quoteattr(source)} target={quoteattr(target)}>"
    yield f'      <data key="edge_how">{_escape_xml(how)}</data>'
    yield f'      <data key="edge_direct">{str(direct).lower()}</data>'
    yield "    </edge>"


def _escape_xml(text: str) -> str:
    """Escape a text; characters that XML cannot hold are written as escapes."""
    return escape(escape_hidden(text))
