"""The detail of one statement: its relations and its writes, one step apart, before anything is collapsed.

Something without an object is `inner`: a relation by its index, or a variable by its assigning statement and name.
"""

import msgspec

from lineage_pipeline.model.enums import EdgeType, NodeType, Operation, Subtype
from lineage_pipeline.model.ir import NOWHERE

ROWS_COLUMN = ""
"""As the column of a feed: no column, but the rows as a whole."""

UNLISTED_COLUMNS = "*"
"""As a column: all columns of an open object that no schema lists."""


def variable_key(statement: int, name: str) -> str:
    """The inner key of what a statement assigns to a variable."""
    return f"{statement}:{name}"


def parse_variable_key(inner: str) -> tuple[int, str] | None:
    """The assigning statement and the name of a variable, or None for a relation."""
    statement, mark, name = inner.partition(":")
    return (int(statement), name) if mark else None


class ColumnFeed(msgspec.Struct, frozen=True):
    """One input of a column or of the rows: a column of an inner relation, or of an object by its id."""

    inner: str
    object: str
    column: str
    path: str
    type: EdgeType
    subtype: Subtype
    approximate: bool
    start: int = NOWHERE
    end: int = NOWHERE


class DetailColumn(msgspec.Struct, frozen=True):
    """One column of an inner relation or a target: its key, its name, its expression and its inputs."""

    key: str
    label: str
    start: int
    end: int
    feeds: tuple[ColumnFeed, ...]


class RowReading(msgspec.Struct, frozen=True):
    """An inner relation or an object whose rows are read, and how."""

    inner: str
    object: str
    operation: Operation


class DetailScope(msgspec.Struct, frozen=True):
    """A relation, an assigned variable, or a written object: its columns, conditions on its rows, and what it reads."""

    inner: str
    object: str
    type: NodeType | None
    label: str
    columns: tuple[DetailColumn, ...] = ()
    deciders: tuple[ColumnFeed, ...] = ()
    readings: tuple[RowReading, ...] = ()
    start: int = NOWHERE
    end: int = NOWHERE


class ObjectMention(msgspec.Struct, frozen=True):
    """An object where a statement names it; an unknown one has no id."""

    object: str
    written: str
    start: int
    end: int


class StatementDetail(msgspec.Struct, frozen=True):
    """All steps of a statement, and the objects that it names and calls."""

    scopes: tuple[DetailScope, ...]
    mentions: tuple[ObjectMention, ...]
    calls: tuple[ObjectMention, ...]
