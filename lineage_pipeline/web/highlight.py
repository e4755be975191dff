"""A file's text, line by line, with the expressions that make columns marked."""

from collections.abc import Iterable
from typing import NamedTuple

from lineage_pipeline.export.escaping import visible
from lineage_pipeline.web.marts import Row


class Piece(NamedTuple):
    """A part of a line; `about` says what it makes and from what, and is empty for the rest."""

    text: str
    about: str = ""


class Line(NamedTuple):
    """A line with its number and its pieces."""

    number: int
    pieces: tuple[Piece, ...]


def highlighted(text: str, path: str, inputs: Iterable[Row]) -> list[Line]:
    """Mark the expressions of an object's columns in the text; where two overlap, the first in the text counts."""
    notes: dict[tuple[int, int], list[str]] = {}
    for row in inputs:
        if row["path"] == path and row["span_start"] is not None and row["to_column"] != "*":
            ends = f"{row['to_column']} ← {row['from_object']}.{row['from_column']} ({row['subtype'].lower()})"
            source = visible(ends)
            notes.setdefault((row["span_start"], row["span_end"]), []).append(source)
    pieces: list[Piece] = []
    at = 0
    for (start, end), lines in sorted(notes.items()):
        if start >= at and end <= len(text):
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
    return [Line(number, tuple(line)) for number, line in enumerate(lines, 1)]
