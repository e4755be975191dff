"""The interface of a script for the object graph, and the plan for the linker: names, no columns or expressions."""

import msgspec

from lineage_pipeline.model.enums import ObjectKind, Origin, Role
from lineage_pipeline.model.ir import Name
from lineage_pipeline.model.source_map import SourceText
from lineage_pipeline.model.tables import Diagnostic, ObjectEdge, ObjectRow, ObjectStatement

CALL_SUFFIX = ("()",)
"""Appended to the parts of a called name, so that a table and a function can share a name."""

CALLABLE_KINDS = frozenset({ObjectKind.PROCEDURE, ObjectKind.FUNCTION, ObjectKind.TRIGGER})
"""Kinds of objects that can be called."""


class StatementInterface(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The names that one statement defines, writes, reads, alters, drops and calls.

    A write may pass its rows on to another target (OUTPUT INTO): `hands` are such pairs. A `title` is what the comment
    before a query calls it; at the head of a file it may be the name of a table.
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
    title: str = ""
    titles_table: bool = False


class ScriptInterface(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The interfaces of all statements of a script, the line starts of its file, and its copies."""

    statements: tuple[StatementInterface, ...]
    lines: tuple[int, ...]
    copies: tuple[int, ...] = ()

    def text(self, path: str, text: str = "") -> SourceText:
        """The source text of the script, for mapping offsets."""
        return SourceText(path, self.lines, text, self.copies)


class NameBindings(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The objects that the names of one statement refer to, that of its bare query, and whether a branch guards it.

    `superseded` is a definition of a view that a later one replaces. `states` are names of objects that other
    statements of the script change, each with the key of its state here; `made` is the state key of what the
    statement itself makes, where that is not the final one. `edges` is its edge limit where it differs from the
    default. Targets that only files `elsewhere` alter may have been narrower before. `lent` are shared temporary
    tables: those that it names, and those that a module fills which it calls.
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


class TempTableHome(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A temporary table that a name may mean, and the statements of its creator during which the name is used.

    The creator is one definition of a module, by `path` and `module` (the ordinal of its CREATE statement), or a script
    (-1). All share a global table (`##t`): it has no path.
    """

    table: str
    path: str
    module: int
    first: int
    last: int

    @property
    def key(self) -> tuple[str, str, int]:
        """The table of one creator."""
        return self.table, self.path, self.module


class SharedTempUse(msgspec.Struct, frozen=True, array_like=True):
    """A statement that uses a temporary table which several modules share; `homes` are the tables that it may mean."""

    path: str
    ordinal: int
    object: str
    module: str
    homes: tuple[TempTableHome, ...]
    fills: bool
    line: int
    column: int


class ObjectEvent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One statement in the history of an object."""

    path: str
    ordinal: int
    role: Role


class ObjectEntry(msgspec.Struct, frozen=True):
    """One object: its row, the statements that shape its schema in order, and the objects it needs for that.

    `imported` is the name under which an imported schema describes it, `labels` are tags for columns by patterns.
    """

    row: ObjectRow
    kind: ObjectKind
    origin: Origin
    shapers: tuple[ObjectEvent, ...]
    needs: tuple[str, ...]
    imported: str = ""
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Plan(msgspec.Struct, frozen=True):
    """The object graph of one snapshot; `tagged` says whether columns may have tags at all.

    `states` are objects as they are at a point of a script that changes them later, under keys of their own, which
    appear in the `order` like those of objects. `lent` are the uses of shared temporary tables.
    """

    objects: dict[str, ObjectEntry]
    bound: dict[str, tuple[NameBindings, ...]]
    order: tuple[tuple[str, ...], ...]
    object_statements: tuple[ObjectStatement, ...]
    object_edges: tuple[ObjectEdge, ...]
    diagnostics: tuple[Diagnostic, ...]
    tagged: bool = False
    states: dict[str, ObjectEntry] = {}
    lent: tuple[SharedTempUse, ...] = ()
