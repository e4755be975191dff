"""GraphML: nodes and edges with all that is known of them, for tools that work with graphs."""

from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from lineage_pipeline.export.escaping import visible
from lineage_pipeline.export.picture import Arrow, Picture

KEYS = (
    ("node", "name", "string"),
    ("node", "kind", "string"),
    ("node", "object", "string"),
    ("node", "type", "string"),
    ("node", "place", "string"),
    ("edge", "how", "string"),
    ("edge", "direct", "boolean"),
)
OWNS = "owns"
"""What an edge from an object to its column says."""


def render(picture: Picture) -> str:
    """Give a picture as XML; columns are nodes, and their objects own them."""
    return "".join(f"{line}\n" for line in _lines(picture))


def _lines(picture: Picture) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for owner, name, kind in KEYS:
        yield f'  <key id="{owner}_{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph id="lineage" edgedefault="directed">'
    numbers = {box.id: f"n{number}" for number, box in enumerate(picture.boxes)}
    columns: dict[tuple[str, str], str] = {}
    owned: list[tuple[str, str]] = []
    for box in picture.boxes:
        number = numbers[box.id]
        yield from _node(number, {"name": box.id, "kind": box.kind, "place": box.place})
        for place, (name, kind) in enumerate(box.columns):
            columns[box.id, name] = f"{number}c{place}"
            owned.append((number, f"{number}c{place}"))
            yield from _node(f"{number}c{place}", {"name": name, "kind": "column", "object": box.id, "type": kind})
    yield from (line for source, target in owned for line in _edge(source, target, OWNS, False))
    for arrow in picture.arrows:
        yield from _edge(*_ends(arrow, numbers, columns), ", ".join(arrow.how), arrow.direct)
    yield "  </graph>"
    yield "</graphml>"


def _ends(arrow: Arrow, numbers: Mapping[str, str], columns: Mapping[tuple[str, str], str]) -> tuple[str, str]:
    source = columns.get((arrow.source, arrow.source_column or ""), numbers[arrow.source])
    return source, columns.get((arrow.target, arrow.target_column or ""), numbers[arrow.target])


def _node(number: str, known: Mapping[str, str]) -> Iterator[str]:
    yield f"    <node id={quoteattr(number)}>"
    yield from (f'      <data key="node_{key}">{_text(value)}</data>' for key, value in known.items() if value)
    yield "    </node>"


def _edge(source: str, target: str, how: str, direct: bool) -> Iterator[str]:
    yield f"    <edge source={quoteattr(source)} target={quoteattr(target)}>"
    yield f'      <data key="edge_how">{_text(how)}</data>'
    yield f'      <data key="edge_direct">{str(direct).lower()}</data>'
    yield "    </edge>"


def _text(text: str) -> str:
    """Escape a text; characters that XML cannot hold are written out."""
    return escape(visible(text))
