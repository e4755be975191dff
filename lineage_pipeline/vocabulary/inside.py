"""The inside of one statement: its relations and what it writes, one step apart, before anything is collapsed.

What has no object is `inner`: a relation by its index, or a variable by the statement that set it and its name.
"""

import msgspec

from lineage_pipeline.vocabulary.ir import NOWHERE
from lineage_pipeline.vocabulary.sets import EdgeType, NodeType, Operation, Subtype

ROWS = ""
"""As the column of a feed: not a column, but what decides about the rows."""

UNLISTED = "*"
"""As a column: all those of an open object that nobody lists."""


def inner_variable(statement: int, name: str) -> str:
    """The key of what a statement puts into a variable."""
    return f"{statement}:{name}"


def set_by(inner: str) -> tuple[int, str] | None:
    """The statement that set a variable, and its name, or None for a relation."""
    statement, mark, name = inner.partition(":")
    return (int(statement), name) if mark else None


class Feed(msgspec.Struct, frozen=True):
    """One input of a column or of the rows: a column of something inside, or of an object by its id."""

    inner: str
    object: str
    column: str
    path: str
    type: EdgeType
    subtype: Subtype
    approximate: bool
    start: int = NOWHERE
    end: int = NOWHERE


class InnerColumn(msgspec.Struct, frozen=True):
    """One column of something inside or of a target: its key there, its name, its expression and what feeds it."""

    key: str
    label: str
    start: int
    end: int
    feeds: tuple[Feed, ...]


class Reading(msgspec.Struct, frozen=True):
    """Something inside or an object whose rows are taken, and how."""

    inner: str
    object: str
    operation: Operation


class Inner(msgspec.Struct, frozen=True):
    """A relation, a variable that is set, or an object that is written: columns, deciders of rows, what is read."""

    inner: str
    object: str
    type: NodeType | None
    label: str
    columns: tuple[InnerColumn, ...] = ()
    deciders: tuple[Feed, ...] = ()
    readings: tuple[Reading, ...] = ()
    start: int = NOWHERE
    end: int = NOWHERE


class Mention(msgspec.Struct, frozen=True):
    """An object where a statement names it; one that nobody knows has no id."""

    object: str
    written: str
    start: int
    end: int


class Inside(msgspec.Struct, frozen=True):
    """All that a statement does, and the objects that it names and calls."""

    scopes: tuple[Inner, ...]
    mentions: tuple[Mention, ...]
    calls: tuple[Mention, ...]
