"""Source maps: offsets of a file as lines, columns and spans; offsets of a rendered text mapped to its file."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, count
from operator import add
from typing import Self

import msgspec

from lineage_pipeline.model.tables import Span

NO_COPIES = (0, 0, 0)
"""The copies of a text of which no character comes from the file."""


def find_line_starts(text: str) -> tuple[int, ...]:
    """The offsets at which the lines of a text start."""
    lengths = map(len, text.split("\n")[:-1])
    return tuple(map(add, accumulate(lengths, initial=0), count()))


class SourceMap(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The file that a rendered text comes from: where its lines start, and which parts of it were copied.

    A copy is three numbers: its offset in the rendered text, its offset in the file, and its length. Copies are in the
    order of the rendered text. Text between two of them was made from what lies between them in the file. Where that
    lies elsewhere in the file, copies without length give its position.
    """

    lines: tuple[int, ...]
    copies: tuple[int, ...]

    @classmethod
    def from_copies(cls, text: str, copies: Sequence[int]) -> Self | None:
        """The source map of a text, or None where it is the file itself."""
        return cls(find_line_starts(text), tuple(copies)) if copies else None


class SourceText(msgspec.Struct, frozen=True):
    """A file: its path, where its lines start, and its text where it is available.

    Where it is rendered, `text` and offsets are those of the rendered text, and lines and spans those of the file.
    """

    path: str
    lines: Sequence[int] = ()
    text: str = ""
    copies: Sequence[int] = ()

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, counted from 1; for generated text, where its origin begins."""
        if self.copies:
            offset = self._map_start(offset)[0]
        line = bisect_right(self.lines, offset)
        return line, offset - self.lines[line - 1] + 1

    def span(self, start: int, end: int) -> Span | None:
        """A slice of the file, or None where its position is unknown or an end of it is not in the file."""
        if start < 0 or end < start:
            return None
        if self.copies:
            start, end = self._map_ends(start, end)
            if start < 0 or end < start:
                return None
        lines = self.lines
        line = end_line = bisect_right(lines, start)
        if line < len(lines) and end >= lines[line]:  # most spans end on the line where they start
            end_line = bisect_right(lines, end)
        return Span(
            line=line,
            column=start - lines[line - 1] + 1,
            end_line=end_line,
            end_column=end - lines[end_line - 1] + 1,
            start=start,
            end=end,
        )

    def _map_ends(self, start: int, end: int) -> tuple[int, int]:
        """The file offsets of a rendered range; -1 for an end that has no exact position."""
        (first, exact, one), (last, other) = self._map_start(start), self._map_end(end)
        if one != other:  # it is not of one piece: what was taken from elsewhere stands where it was put
            first, last = self._insertion_offset(start, first), self._insertion_offset(end, last)
        return first if exact else -1, last

    def _map_start(self, offset: int) -> tuple[int, bool, int]:
        """The file offset of a start, whether it is exact, and the number of the copy."""
        found = bisect_right(self._copies, offset, key=self.copies.__getitem__) - 1
        if found < 0:
            return 0, offset == 0, found
        rendered, written, length = self._copy(found)
        return written + min(offset - rendered, length), offset <= rendered + length, found

    def _map_end(self, offset: int) -> tuple[int, int]:
        """The file offset of an end, -1 where it has no exact position, and the number of the copy."""
        found = bisect_left(self._copies, offset, key=self.copies.__getitem__)
        if found:
            rendered, written, length = self._copy(found - 1)
            if offset <= rendered + length:
                return written + offset - rendered, found - 1
        if found < len(self._copies) and self._copy(found)[0] == offset:
            return self._copy(found)[1], found
        return -1, found

    def _insertion_offset(self, offset: int, otherwise: int) -> int:
        """The file offset where generated text was inserted that begins or ends here, else the given one."""
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
