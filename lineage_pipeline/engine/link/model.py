"""What the linker passes between its parts: linked columns and relations, sources and inputs."""

from collections.abc import Sequence
from functools import cached_property

import msgspec

from lineage_pipeline.engine.link.flows import NONE, Flows
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import ResultSet


class Value(msgspec.Struct, frozen=True, gc=False):
    """What an expression comes to: where it comes from, its type, and its canonical text.

    A struct that the statement builds, and a row that it takes as a value, know their `members`.
    """

    flows: Flows = NONE
    type: str | None = None
    nullable: bool = True
    text: str = ""
    members: "Members | None" = None


Members = tuple[tuple[str, Value], ...]
"""The members of a struct by name, in order."""


class Out(msgspec.Struct, frozen=True, gc=False):
    """One column of a linked relation; `start` and `end` are where its expression stands."""

    name: str
    written: str
    value: Value
    start: int = ir.NOWHERE
    end: int = ir.NOWHERE
    approximate: bool = False


class Opening(msgspec.Struct, frozen=True, gc=False):
    """An object all of whose columns pass through a star although not all of them are known."""

    object: str
    start: int
    end: int
    exclude: tuple[str, ...] = ()


Gap = tuple[int, int] | None
"""How many columns stand before and behind those that nobody knows."""


class Linked(msgspec.Struct, frozen=True, gc=False):
    """A relation after linking: its columns, what passes through it unseen, and what decides about its rows.

    Where it may have further columns that are all made of the same thing, `rest` is that thing. A `single` one has
    one row, whatever it reads. What passes unseen stands in a `gap`: so many columns before it, and so many behind.
    """

    columns: tuple[Out, ...]
    openings: tuple[Opening, ...] = ()
    indirect: Flows = NONE
    facets: tuple[tuple[str, str], ...] = ()
    rest: Value | None = None
    single: bool = False
    gap: Gap = None


class InputColumn(msgspec.Struct, frozen=True, gc=False):
    """A column of an object that a statement reads; one of a temporary object brings its flows and its text along.

    One that is `added` came by a statement of its own after the object was made.
    """

    name: str
    written: str
    type: str | None
    nullable: bool
    flows: Flows | None = None
    approximate: bool = False
    generated: bool = False
    text: str = ""
    added: bool = False
    members: Members | None = None


def numbered(names: Sequence[str]) -> dict[str, int]:
    """Where each name stands; of two that are the same the first counts."""
    return dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))


class Input(msgspec.Struct, frozen=True, dict=True):
    """An object that a statement reads; what is asked of an open temporary one `passes` on to those behind it.

    Where it is `disputed` which columns it has, what a star takes of it is not certain. `renamed` are the names that
    columns have in the end. A temporary one brings the `facets` of what filled it along. Of one that nobody defines the
    columns are `guessed` from what is written: their order means nothing. A module `receives` values in some of its
    parameters, and hands some back as `outputs`; a procedure has `results`.
    """

    object: str
    columns: tuple[InputColumn, ...]
    open: bool
    temporary: bool = False
    indirect: Flows = NONE
    passes: tuple[Opening, ...] = ()
    parameters: tuple[str, ...] = ()
    disputed: bool = False
    renamed: tuple[tuple[str, str], ...] = ()
    facets: tuple[tuple[str, str], ...] = ()
    guessed: bool = False
    outputs: tuple[str, ...] = ()
    receives: tuple[str, ...] = ()
    results: tuple[ResultSet, ...] = ()

    def final(self, name: str) -> str:
        """The name that a column has in the end."""
        return dict(self.renamed).get(name, name) if self.renamed else name

    @cached_property
    def left(self) -> frozenset[str]:
        """The columns that are dropped by a statement behind: there were such, though nobody says of what type."""
        return frozenset(before for before, after in self.renamed if before == after)

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each column stands: many statements read the same object."""
        return numbered([column.name for column in self.columns])

    @cached_property
    def lowered(self) -> dict[str, list[str]]:
        """The columns by their names in small letters."""
        found: dict[str, list[str]] = {}
        for name in self.positions:
            found.setdefault(name.lower(), []).append(name)
        return found


class Variables(msgspec.Struct):
    """What variables hold at one point of a script: scalars a value each, records and cursors all their columns.

    The name of the `module` around may stand before that of a variable; where queries mark variables, those of a
    function are `plain` all the same.
    """

    scalars: dict[str, Value] = {}
    records: dict[str, Linked] = {}
    module: str = ""
    plain: bool = False
