"""Places: offsets of a file as lines, columns and spans; of a rendered text, those of the file it was written in."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, count
from operator import add
from typing import Self

import msgspec

from lineage_pipeline.vocabulary.tables import Span

NOTHING_COPIED = (0, 0, 0)
"""The copies of a text of which no character stands in the file."""


def line_starts(text: str) -> tuple[int, ...]:
    """The offsets at which the lines of a text start."""
    lengths = map(len, text.split("\n")[:-1])
    return tuple(map(add, accumulate(lengths, initial=0), count()))


class Written(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The file that a rendered text comes from: where its lines start, and what of it was copied.

    A copy is three numbers: where it stands in the rendered text, where in the file, and its length. Copies are in the
    order of the rendered text. What lies between two of them was made from what lies between them in the file. Where
    what was made stands elsewhere in the file, copies without length say where it was put.
    """

    lines: tuple[int, ...]
    copies: tuple[int, ...]

    @classmethod
    def of(cls, text: str, copies: Sequence[int]) -> Self | None:
        """How a text comes from a file, or None where it is the file itself."""
        return cls(line_starts(text), tuple(copies)) if copies else None


class Text(msgspec.Struct, frozen=True):
    """A file: its path, where its lines start, and its text where it is at hand.

    Where it is rendered, `text` and offsets are those of the rendered text, and lines and places those of the file.
    """

    path: str
    lines: Sequence[int] = ()
    text: str = ""
    copies: Sequence[int] = ()

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, counted from 1; of what was made, where its origin begins."""
        if self.copies:
            offset = self._start(offset)[0]
        line = bisect_right(self.lines, offset)
        return line, offset - self.lines[line - 1] + 1

    def span(self, start: int, end: int) -> Span | None:
        """A slice of the file, or None where its place is not known, or an end of it stands nowhere in the file."""
        if start < 0 or end < start:
            return None
        if self.copies:
            start, end = self._ends(start, end)
            if start < 0 or end < start:
                return None
        lines = self.lines
        line = end_line = bisect_right(lines, start)
        if line < len(lines) and end >= lines[line]:  # most spans end on the line where they start
            end_line = bisect_right(lines, end)
        return Span(line, start - lines[line - 1] + 1, end_line, end - lines[end_line - 1] + 1, start, end)

    def _ends(self, start: int, end: int) -> tuple[int, int]:
        """The offsets in the file of something that starts and ends here; -1 for what is not exactly anywhere."""
        (first, exact, one), (last, other) = self._start(start), self._end(end)
        if one != other:  # it is not of one piece: what was taken from elsewhere stands where it was put
            first, last = self._put(start, first), self._put(end, last)
        return first if exact else -1, last

    def _start(self, offset: int) -> tuple[int, bool, int]:
        """The offset in the file of something that starts here, whether it does so exactly there, and the copy."""
        found = bisect_right(self._copies, offset, key=self.copies.__getitem__) - 1
        if found < 0:
            return 0, offset == 0, found
        rendered, written, length = self._copy(found)
        return written + min(offset - rendered, length), offset <= rendered + length, found

    def _end(self, offset: int) -> tuple[int, int]:
        """The offset in the file of something that ends here, -1 where that is not exactly anywhere, and the copy."""
        found = bisect_left(self._copies, offset, key=self.copies.__getitem__)
        if found:
            rendered, written, length = self._copy(found - 1)
            if offset <= rendered + length:
                return written + offset - rendered, found - 1
        if found < len(self._copies) and self._copy(found)[0] == offset:
            return self._copy(found)[1], found
        return -1, found

    def _put(self, offset: int, otherwise: int) -> int:
        """The offset in the file where something was put that begins or ends here, if it was."""
        found = bisect_left(self._copies, offset, key=self.copies.__getitem__)
        if found < len(self._copies):
            rendered, written, length = self._copy(found)
            if rendered == offset and not length:
                return written
        return otherwise

    @property
    def _copies(self) -> range:
        return range(0, len(self.copies), 3)

    def _copy(self, number: int) -> tuple[int, int, int]:
        rendered, written, length = self.copies[3 * number : 3 * number + 3]
        return rendered, written, length
