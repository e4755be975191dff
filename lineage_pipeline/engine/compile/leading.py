"""Functions at the head of a query: Oracle's `WITH FUNCTION f … END; SELECT f(a) FROM t`."""

import re
from bisect import bisect_left

from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.routines import Routines
from lineage_pipeline.engine.compile.walker import SEMICOLON

_ASKED = re.compile(r"\bwith\s+(?:function|procedure)\b", re.IGNORECASE)
_ROUTINES = ("FUNCTION", "PROCEDURE")


class Leading(Routines):
    """A walk that knows statements with functions of their own."""

    _heads: list[int] | None = None

    def head_at(self) -> int:
        """The WITH before the functions of the statement at hand; before its beginning where it has none."""
        if self._heads is None:
            asked = self.family.result_word and _ASKED.search(self.text) is not None
            words = self.words if asked else []
            self._heads = [at for at in range(len(words) - 1) if words[at] == "WITH" and words[at + 1] in _ROUTINES]
        following = bisect_left(self._heads, self.index) if self._heads else 0
        if following < len(self._heads) and self._heads[following] < self.end():
            return self._heads[following]
        return -1

    def is_walked(self) -> bool:
        """Whether a statement outside any module is more than the parser can be given as it stands."""
        return self.fills_variables() or self.head_at() >= 0

    def action(self, parent: int) -> None:
        """A statement, and the functions at its head inside of it."""
        begin, head = self.index, self.head_at()
        if head < 0:
            super().action(parent)
            return
        ordinal = self.emit(begin, head + 1, parent)
        while self.word() in _ROUTINES:
            self.routine(ordinal)
            while self.kind(self.index) is SEMICOLON:
                self.index += 1
        first, end = self.index, self.end()
        common = self.word() not in ("SELECT", "(")  # further names behind the functions
        tokens = [*self.tokens[begin : head + common], *self.tokens[first:end]]
        start, stop = int(self.tokens[begin].start), int(self.tokens[end - 1].end) + 1
        self.pieces[ordinal] = Piece(self.unmarked(tokens), parent, begin=start, stop=stop)
        self.index = end
