"""What goes into an analysis and what comes out of it."""

import msgspec

from lineage_pipeline.vocabulary.places import Written
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin
from lineage_pipeline.vocabulary.tables import (
    Column,
    ColumnEdge,
    ColumnReach,
    Constraint,
    Diagnostic,
    Facet,
    ObjectEdge,
    ObjectRow,
    ObjectStatement,
    StatementRow,
)

HOLE = "__hole__"
"""What stands in a text for a part of it that is known only at run time."""


class Limits(msgspec.Struct, frozen=True):
    """What a source may cost before it is cut short.

    `bytes` is for a file, all else for a statement: `seconds` of computing and bytes of `memory` to compile it, and how
    many column `edges` it may have.
    """

    bytes: int = 10_000_000
    tokens: int = 1_000_000
    depth: int = 200
    seconds: float = 30.0
    memory: int = 2_000_000_000
    edges: int = 200_000


class Label(msgspec.Struct, frozen=True, gc=False):
    """Tags and owners for the objects whose ids fit a pattern; with patterns of columns, the tags are for those."""

    objects: tuple[str, ...]
    columns: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()


class Options(msgspec.Struct, frozen=True, gc=False):
    """What the analysis of one system is told: its dialect, how names are completed and compared, its limits."""

    dialect: str = ""
    system: str = ""
    default_catalog: str = ""
    default_schema: str = ""
    search_path: tuple[str, ...] = ()
    case_sensitivity: str = "dialect"
    allow_implied: bool = True
    limits: Limits = Limits()
    labels: tuple[Label, ...] = ()


class InputFile(msgspec.Struct, frozen=True, gc=False):
    """A source as the engine sees it: where it lies, what it says, how to read it, and who owns it.

    Where the text is not the file itself, `written` says how it comes from it; `source` names both, if discovery did.
    Files run in the natural order of their paths, within one `position`.
    """

    path: str
    text: str
    options: Options
    owners: tuple[str, ...] = ()
    written: Written | None = None
    source: str = ""
    position: int = 0


class SchemaColumn(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A column of a schema; a generated one (identity, computed) takes no value from an INSERT without a list.

    `origin`, and the `path` and `statement` that brought it, are said where they are not those of the object.
    One that is a `partition` stays behind all others. Where it is `unsaid` whether it may be null, it may.
    A parameter that is an `output` is handed back to the caller.
    """

    name: str
    written: str
    type: str | None = None
    nullable: bool = True
    approximate: bool = False
    description: str | None = None
    generated: bool = False
    tags: tuple[str, ...] = ()
    origin: Origin | None = None
    path: str | None = None
    statement: int | None = None
    partition: bool = False
    unsaid: bool = False
    output: bool = False


class Conflict(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A difference between an imported schema and a statement; `column` is one that the statement declares."""

    path: str
    statement: int
    difference: str
    column: str = ""


class ResultSet(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The columns of one result set of a procedure in order, and whether a branch decides if it is given."""

    columns: tuple[str, ...]
    conditional: bool = False


class TableSchema(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The columns of one object, and the parameters of a module; an open schema may have more than are listed.

    `source` is where an imported one was read. Where definitions say otherwise there are `conflicts`, and where those
    bear on names or order, a star over the object is `disputed`. One that `yields` says nothing against a definition.
    Where it is what a script sees before it changes the object, columns that get other names are `renamed`. A procedure
    has the columns of all its `results`.
    """

    object: str
    kind: ObjectKind
    origin: Origin
    columns: tuple[SchemaColumn, ...]
    open: bool = False
    parameters: tuple[SchemaColumn, ...] = ()
    description: str | None = None
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    source: str = ""
    conflicts: tuple[Conflict, ...] = ()
    disputed: bool = False
    yields: bool = False
    renamed: tuple[tuple[str, str], ...] = ()
    constraints: tuple[Constraint, ...] = ()
    results: tuple[ResultSet, ...] = ()


class Lineage(msgspec.Struct, frozen=True):
    """All tables of one snapshot, each in the order of its key."""

    statements: tuple[StatementRow, ...] = ()
    objects: tuple[ObjectRow, ...] = ()
    object_statements: tuple[ObjectStatement, ...] = ()
    object_edges: tuple[ObjectEdge, ...] = ()
    columns: tuple[Column, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    column_edges: tuple[ColumnEdge, ...] = ()
    facets: tuple[Facet, ...] = ()
    column_reach: tuple[ColumnReach, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
