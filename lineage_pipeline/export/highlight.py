"""A file's text, line by line, with the expressions that make columns marked."""

from collections.abc import Iterable
from typing import NamedTuple

from lineage_pipeline.export.escaping import visible
from lineage_pipeline.vocabulary.graph import Graph
from lineage_pipeline.vocabulary.sets import GraphEdgeType, NodeType


class Note(NamedTuple):
    """What is said of a slice of a text."""

    start: int
    end: int
    about: str


class Piece(NamedTuple):
    """A part of a line; `about` says what it makes and from what, and is empty for the rest."""

    text: str
    about: str = ""


class Line(NamedTuple):
    """A line with its number and its pieces."""

    number: int
    pieces: tuple[Piece, ...]


def notes_of(graph: Graph) -> list[Note]:
    """Say of every expression of a statement what it makes, and where that comes from."""
    columns = {node.id: node for node in graph.nodes if node.type is NodeType.COLUMN}
    sources: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.target in columns and edge.type is not GraphEdgeType.OWNERSHIP:
            name = graph.node(edge.source).qualified_name or graph.node(edge.source).label
            how = f" ({edge.operation.value.lower().replace('_', ' ')})" if edge.operation else ""
            sources.setdefault(edge.target, []).append(f"{name}{how}")
    return [
        Note(node.span.start, node.span.end, visible(f"{node.label} ← {source}"))
        for node in columns.values()
        if node.span is not None and node.expression is not None
        for source in sources.get(node.id, ["nothing but what is written here"])
    ]


def highlighted(text: str, notes: Iterable[Note]) -> list[Line]:
    """Mark slices of a text; where two overlap, the first in the text counts."""
    told: dict[tuple[int, int], list[str]] = {}
    for note in notes:
        told.setdefault((note.start, note.end), []).append(note.about)
    pieces: list[Piece] = []
    at = 0
    for (start, end), lines in sorted(told.items()):
        if at <= start < end <= len(text):
            pieces += [Piece(text[at:start]), Piece(text[start:end], "\n".join(dict.fromkeys(lines)))]
            at = end
    return _lines([*pieces, Piece(text[at:])])


def _lines(pieces: Iterable[Piece]) -> list[Line]:
    """Cut pieces at the ends of lines."""
    lines: list[list[Piece]] = [[]]
    for piece in pieces:
        for place, text in enumerate(piece.text.split("\n")):
            if place:
                lines.append([])
            if text:
                lines[-1].append(Piece(text, piece.about))
    if lines and not lines[-1]:
        lines.pop()
    return [Line(number, tuple(line)) for number, line in enumerate(lines, 1)]
