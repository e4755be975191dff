"""Rendered text, put together piece by piece, and what of it was copied from where: see `vocabulary.places.Written`."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from os.path import commonprefix
from typing import TypeAlias

from lineage_pipeline.vocabulary.places import NOTHING_COPIED

Copies: TypeAlias = tuple[int, ...]
"""Triples: where a copy stands in the rendered text and in the file, and its length; one without is an end of a tag."""


class Pieces:
    """A text in the making."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._texts: list[str] = []
        self._copies: list[tuple[int, int, int]] = []
        self._size = 0

    def copy(self, text: str, at: int) -> None:
        """Add text that stands at an offset of the file as it is."""
        if not text:
            return
        rendered, written, length = self._copies[-1] if self._copies else (-1, -1, -1)
        if length > 0 and (rendered + length, written + length) == (self._size, at):
            self._copies[-1] = (rendered, written, length + len(text))
        else:
            self._copies.append((self._size, at, len(text)))
        self._put(text)

    def make(self, text: str, at: int, length: int) -> None:
        """Add text that the tag at an offset of the file stands for."""
        if text:
            self._copies.append((self._size, at, 0))
            self._put(text)
            self._copies.append((self._size, at + length, 0))

    def add(self, text: str, copies: Sequence[int] = ()) -> None:
        """Add a text that has copies of its own, or none because nobody wrote it."""
        triples = zip(copies[::3], copies[1::3], copies[2::3], strict=True)
        self._copies.extend((self._size + rendered, written, length) for rendered, written, length in triples)
        self._put(text)

    @property
    def size(self) -> int:
        """Say how long the text is by now."""
        return self._size

    def done(self) -> tuple[str, Copies]:
        """Give the text and its copies."""
        flat = tuple(number for copy in self._copies for number in copy)
        return "".join(self._texts), flat or NOTHING_COPIED

    def _put(self, text: str) -> None:
        self._texts.append(text)
        self._size += len(text)


def cut(copies: Copies, start: int, stop: int) -> Copies:
    """Give the copies of a slice of a text."""
    found: list[int] = []
    for rendered, written, length in zip(copies[::3], copies[1::3], copies[2::3], strict=True):
        first, last = max(rendered, start), min(rendered + length, stop)
        if first < last or (length == 0 and start <= rendered <= stop):
            found.extend((first - start, written + first - rendered, last - first))
    return tuple(found)


def aligned(written: str, rendered: str) -> Copies:
    """Say what was copied by the two texts alone: equal lines, and what a changed block begins and ends with."""
    before, after = written.splitlines(keepends=True), rendered.splitlines(keepends=True)
    pieces = Pieces()
    offsets = [0]
    for line in before:
        offsets.append(offsets[-1] + len(line))
    for tag, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        old, new = before[first:last], after[start:end]
        if tag == "equal":
            pieces.copy("".join(new), offsets[first])
        elif len(old) == len(new):  # most likely each line is still the same line
            for number, (one, other) in enumerate(zip(old, new, strict=True), first):
                _changed(pieces, one, other, offsets[number])
        else:
            _changed(pieces, "".join(old), "".join(new), offsets[first])
    return pieces.done()[1]


def _changed(pieces: Pieces, old: str, new: str, at: int) -> None:
    head = len(commonprefix([old, new]))
    tail = len(commonprefix([old[head:][::-1], new[head:][::-1]]))
    pieces.copy(new[:head], at)
    pieces.make(new[head : len(new) - tail], at + head, len(old) - head - tail)
    pieces.copy(new[len(new) - tail :], at + len(old) - tail)
