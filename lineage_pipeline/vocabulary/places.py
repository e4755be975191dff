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
        line, column = self.position(start)
        end_line, end_column = self.position(end)
        return Span(line, column, end_line, end_column, start, end)
