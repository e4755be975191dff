"""The inside of one statement: its relations and what it writes, one step apart, before anything is collapsed."""

import msgspec

from lineage_pipeline.vocabulary.ir import NOWHERE
from lineage_pipeline.vocabulary.sets import EdgeType, NodeType, Operation, Subtype

ROWS = ""
"""As the column of a feed: not a column, but what decides about the rows."""

UNLISTED = "*"
"""As a column: all those of an open object that nobody lists."""


class Feed(msgspec.Struct, frozen=True):
    """One input of a column or of the rows: a column of a relation by its index, or of an object by its id."""

    relation: int
    object: str
    column: str
    path: str
    type: EdgeType
    subtype: Subtype
    approximate: bool
    start: int = NOWHERE
    end: int = NOWHERE


class InnerColumn(msgspec.Struct, frozen=True):
    """One column of a relation or a target: its key there, what it is called, its expression and what feeds it."""

    key: str
    label: str
    start: int
    end: int
    feeds: tuple[Feed, ...]


class Reading(msgspec.Struct, frozen=True):
    """A relation or an object whose rows are taken, and how."""

    relation: int
    object: str
    operation: Operation


class Inner(msgspec.Struct, frozen=True):
    """A relation of the statement, or an object that it writes: columns, what decides about rows, what is read."""

    relation: int
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
