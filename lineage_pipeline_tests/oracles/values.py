"""Values on their way through a plan: where they come from as a whole, and member by member where they are structs."""

from collections.abc import Iterable
from dataclasses import dataclass

from lineage_pipeline_tests.oracles.answers import Sources


@dataclass(frozen=True)
class Value:
    """The columns that a value comes from; that of a struct, or of an array of them, knows its members by position."""

    sources: Sources = frozenset()
    members: tuple["Value", ...] = ()

    def member(self, position: int) -> "Value":
        """A member of a struct; where members are not known, all of it."""
        return self.members[position] if self.members else Value(self.sources)

    def plain(self) -> "Value":
        """The value without its members."""
        return Value(self.sources)


NOTHING = Value()


def united(values: Iterable[Value]) -> Value:
    """A value that comes from all of them; it keeps its members where all have as many."""
    found = list(values)
    sources = frozenset[str]().union(*(value.sources for value in found))
    given = [value.members for value in found if value != NOTHING]
    if not given or any(len(members) != len(given[0]) for members in given):
        return Value(sources)
    return Value(sources, tuple(united(column) for column in zip(*given, strict=True)))
