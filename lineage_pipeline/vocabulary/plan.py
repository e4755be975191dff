"""What the object graph needs of a script, and what it tells the linker: names, no columns and no expressions."""

import msgspec

from lineage_pipeline.vocabulary.ir import Name
from lineage_pipeline.vocabulary.places import Text
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin, Role
from lineage_pipeline.vocabulary.tables import Diagnostic, ObjectEdge, ObjectRow, ObjectStatement

CALL = ("()",)
"""What stands behind the parts of a name that is called, so that a table and a function can share them."""

MODULES = frozenset({ObjectKind.PROCEDURE, ObjectKind.FUNCTION, ObjectKind.TRIGGER})
"""Kinds of objects that can be called."""


class Face(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One statement seen from outside: the names it defines, writes, reads, alters, drops and calls.

    What it changes may hand rows to what else it fills: `hands` are such pairs.
    """

    kind: str
    start: int
    end: int
    parent: int
    defines: Name | None = None
    define_kind: str = ""
    temporary: bool = False
    replace: bool = False
    has_columns: bool = False
    like: Name | None = None
    writes: tuple[Name, ...] = ()
    reads: tuple[Name, ...] = ()
    stars: tuple[Name, ...] = ()
    alters: tuple[Name, ...] = ()
    renames: tuple[tuple[Name, Name], ...] = ()
    drops: tuple[Name, ...] = ()
    calls: tuple[Name, ...] = ()
    context: tuple[str, ...] = ()
    has_result: bool = False
    empty: bool = False
    watches: Name | None = None
    transitions: tuple[str, ...] = ()
    comment: str = ""
    tags: tuple[str, ...] = ()
    tagged: bool = False
    if_absent: bool = False
    returns: Name | None = None
    indexes: tuple[Name, ...] = ()
    hands: tuple[tuple[Name, Name], ...] = ()


class ScriptFace(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All statements of a script from outside, where the lines of its file start, and what was copied from that."""

    statements: tuple[Face, ...]
    lines: tuple[int, ...]
    copies: tuple[int, ...] = ()

    def text(self, path: str, text: str = "") -> Text:
        """The file of the script, for the places of its offsets."""
        return Text(path, self.lines, text, self.copies)


class Bound(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the names of one statement stand for, the object its bare query makes, and whether a branch guards it.

    `superseded` is a definition of a view that a later one replaces: nothing of it is left. `states` are names
    of objects that other statements of the script change, each with the key of what that is here; `made` is the key of
    what the statement itself makes, where that is not what it is in the end. `edges` is how many it may have, where
    that is not the usual number. What is written and only files `elsewhere` alter may have been narrower before.
    `lent` are temporary objects that other modules use too: those that it names, and those that a module fills
    which it calls.
    """

    ordinal: int
    names: tuple[tuple[tuple[str, ...], str], ...]
    reads: tuple[tuple[str, ...], ...] = ()
    result: str = ""
    conditional: bool = False
    superseded: bool = False
    states: tuple[tuple[tuple[str, ...], str], ...] = ()
    made: str = ""
    edges: int = 0
    elsewhere: tuple[str, ...] = ()
    lent: tuple[str, ...] = ()


class Lent(msgspec.Struct, frozen=True, array_like=True):
    """A statement that uses a temporary object of which several modules know.

    `homes` are the objects that it may mean, each with where that happens in the script that creates the object: from
    which statement to which.
    """

    path: str
    ordinal: int
    object: str
    module: str
    homes: tuple[tuple[str, int, int], ...]
    fills: bool


class Event(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One statement in the life of an object."""

    path: str
    ordinal: int
    role: Role


class Known(msgspec.Struct, frozen=True):
    """One object: its row, the statements that make its schema in order, and the objects it needs for that.

    `imported` is the name under which an imported schema describes it, `labels` are tags for columns by patterns.
    """

    row: ObjectRow
    kind: ObjectKind
    origin: Origin
    shapers: tuple[Event, ...]
    needs: tuple[str, ...]
    imported: str = ""
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Plan(msgspec.Struct, frozen=True):
    """The object graph of one snapshot; `tagged` says whether columns may have tags at all.

    `states` are objects as they are at a place of a script that changes them later, under keys of their own, which
    stand in the `order` like those of objects. `lent` are the uses of temporary objects of which several modules know.
    """

    objects: dict[str, Known]
    bound: dict[str, tuple[Bound, ...]]
    order: tuple[tuple[str, ...], ...]
    object_statements: tuple[ObjectStatement, ...]
    object_edges: tuple[ObjectEdge, ...]
    diagnostics: tuple[Diagnostic, ...]
    tagged: bool = False
    states: dict[str, Known] = {}
    lent: tuple[Lent, ...] = ()
