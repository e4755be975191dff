"""Scopes: which module and which branches a statement stands in, and how temporary objects are told apart."""

import re
from collections.abc import Sequence

import msgspec

from lineage_pipeline.vocabulary.plan import Face

_DIGITS = re.compile(r"(\d+)")


def natural(path: str) -> tuple[tuple[int, str | int], ...]:
    """A key that sorts paths as people do: `2_b.sql` before `10_a.sql`, and folder by folder."""
    parts = _DIGITS.split(path.replace("/", "\0"))
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in parts)


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
        return any(self.statements[parent].kind in ("IF", "WHILE") for parent in self._parents())

    def _parents(self) -> list[int]:
        found = []
        parent = self.statements[self.ordinal].parent
        while parent >= 0 and parent not in found:
            found.append(parent)
            parent = self.statements[parent].parent
        return found
