"""Places: offsets of a file as lines, columns and spans."""

from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from lineage_pipeline.vocabulary.tables import Span


class Text(msgspec.Struct, frozen=True):
    """A file: its path, where its lines start, and its text where it is at hand."""

    path: str
    lines: Sequence[int] = ()
    text: str = ""

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, counted from 1."""
        line = bisect_right(self.lines, offset)
        return line, offset - self.lines[line - 1] + 1

    def span(self, start: int, end: int) -> Span | None:
        """A slice of the file, or None where its place is not known."""
        if start < 0 or end < start:
            return None
        lines = self.lines
        line = end_line = bisect_right(lines, start)
        if line < len(lines) and end >= lines[line]:  # most spans end on the line where they start
            end_line = bisect_right(lines, end)
        return Span(line, start - lines[line - 1] + 1, end_line, end - lines[end_line - 1] + 1, start, end)
