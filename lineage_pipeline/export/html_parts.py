"""Parts of HTML pages: styles and scripts of the folder `page`, their hashes, embedded JSON, and SQL with marks."""

import base64
import hashlib
import json
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from lineage_pipeline.export.escaping import escape_hidden
from lineage_pipeline.model.enums import GraphEdgeType, NodeType
from lineage_pipeline.model.graph import Graph


def read_page_part(name: str) -> str:
    """Read a style, a script or a template of the folder `page`."""
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")


def csp_hash(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def embed_json(content: object) -> str:
    """Encode JSON so that it cannot end the script element it is in."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


class SpanNote(NamedTuple):
    """A note on a slice of a text."""

    start: int
    end: int
    about: str


class LinePiece(NamedTuple):
    """A part of a line; `about` says what the expression makes and from what, and is empty for the rest."""

    text: str
    about: str = ""


class HighlightedLine(NamedTuple):
    """A line with its number and its pieces."""

    number: int
    pieces: tuple[LinePiece, ...]


def build_notes(graph: Graph) -> list[SpanNote]:
    """Return a note for every expression of a statement: the column it makes, and the sources."""
    columns = {node.id: node for node in graph.nodes if node.type is NodeType.COLUMN}
    sources: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.target in columns and edge.type is not GraphEdgeType.OWNERSHIP:
            name = graph.node(edge.source).qualified_name or graph.node(edge.source).label
            how = f" ({edge.operation.value.lower().replace('_', ' ')})" if edge.operation else ""
            sources.setdefault(edge.target, []).append(f"{name}{how}")
    return [
        SpanNote(node.span.start, node.span.end, escape_hidden(f"{node.label} ← {source}"))
        for node in columns.values()
        if node.span is not None and node.expression is not None
        for source in sources.get(node.id, ["nothing but what is written here"])
    ]


def highlight_text(text: str, notes: Iterable[SpanNote]) -> list[HighlightedLine]:
    """Split a text into lines with marked slices; where two overlap, the first in the text counts."""
    notes_at: dict[tuple[int, int], list[str]] = {}
    for note in notes:
        notes_at.setdefault((note.start, note.end), []).append(note.about)
    pieces: list[LinePiece] = []
    at = 0
    for (start, end), lines in sorted(notes_at.items()):
        if at <= start < end <= len(text):
            pieces += [LinePiece(text[at:start]), LinePiece(text[start:end], "\n".join(dict.fromkeys(lines)))]
            at = end
    return _split_lines([*pieces, LinePiece(text[at:])])


def _split_lines(pieces: Iterable[LinePiece]) -> list[HighlightedLine]:
    """Split pieces at line ends."""
    lines: list[list[LinePiece]] = [[]]
    for piece in pieces:
        for place, text in enumerate(piece.text.split("\n")):
            if place:
                lines.append([])
            if text:
                lines[-1].append(LinePiece(text, piece.about))
    if lines and not lines[-1]:
        lines.pop()
    return [HighlightedLine(number, tuple(line)) for number, line in enumerate(lines, 1)]
