"""Scopes: which module and which branches a statement stands in, and how temporary objects are told apart."""

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from lineage_pipeline.vocabulary.ir import BRANCHES, LOOPS
from lineage_pipeline.vocabulary.plan import Face

Extent = tuple[int, int]
"""From which statement of a script to which: one alone, or all of the loop that it stands in."""

_DIGITS = re.compile(r"(\d+)")


@lru_cache(maxsize=1 << 14)  # the same paths are put in order again and again: found, planned, shown
def natural(path: str) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """A key that orders paths folder by folder and as people count: `2_b` before `10_a`; no two paths are equal."""
    parts = [tuple(map(_counted, filter(None, _DIGITS.split(part)))) for part in path.split("/")]
    return (*parts, ((1, 0, path),))


def _counted(piece: str) -> tuple[int, int, str]:
    """A number of any length: the one with more digits is greater, and of two alike the one with zeros before it."""
    if not piece.isdecimal():
        return 1, 0, piece
    number = piece.lstrip("0")
    return 0, len(number), number + piece


class Scopes(msgspec.Struct, frozen=True):
    """The surroundings of one statement."""

    path: str
    ordinal: int
    statements: Sequence[Face]

    @property
    def module(self) -> int:
        """The statement that creates the module this one stands in, or -1."""
        for parent in self._parents():
            if self.statements[parent].defines is not None:
                return parent
        return -1

    @property
    def conditional(self) -> bool:
        """Whether a branch decides if the statement runs."""
        return any(self.statements[parent].kind in BRANCHES for parent in self._parents())

    @property
    def extent(self) -> Extent:
        """The statement alone, or from the first to the last one of the outermost loop around it."""
        loops = [parent for parent in self._parents() if self.statements[parent].kind in LOOPS]
        if not loops:
            return self.ordinal, self.ordinal
        first = last = loops[-1]
        while last + 1 < len(self.statements) and self.statements[last + 1].parent >= first:
            last += 1
        return first, last

    def _parents(self) -> list[int]:
        found = []
        parent = self.statements[self.ordinal].parent
        while parent >= 0 and parent not in found:
            found.append(parent)
            parent = self.statements[parent].parent
        return found
