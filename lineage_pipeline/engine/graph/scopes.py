"""Scopes: which module and which branches a statement stands in, and how temporary objects are told apart."""

import re
from collections.abc import Sequence

import msgspec

from lineage_pipeline.vocabulary.ir import BRANCHES
from lineage_pipeline.vocabulary.plan import Face

_DIGITS = re.compile(r"(\d+)")


def natural(path: str) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """A key that orders paths folder by folder and as people count: `2_b` before `10_a`; no two paths are equal."""
    parts = tuple(
        tuple((0, int(piece), piece) if piece.isdecimal() else (1, 0, piece) for piece in _DIGITS.split(part) if piece)
        for part in path.split("/")
    )
    return (*parts, ((1, 0, path),))


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

    def _parents(self) -> list[int]:
        found = []
        parent = self.statements[self.ordinal].parent
        while parent >= 0 and parent not in found:
            found.append(parent)
            parent = self.statements[parent].parent
        return found
