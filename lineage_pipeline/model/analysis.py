"""Input and output of an analysis: options, files, table schemas and their imports, and the tables of one snapshot."""

from collections.abc import Mapping

import msgspec

from lineage_pipeline.model.enums import ObjectKind, Origin
from lineage_pipeline.model.source_map import SourceMap
from lineage_pipeline.model.tables import (
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

RUNTIME_PLACEHOLDER = "__hole__"
"""Replaces a part of a text that is known only at run time."""

PROGRAM_ENDINGS = (".py", ".ipynb", ".scala", ".r", ".java", ".kt", ".cs", ".go", ".js", ".ts")
"""Endings of programs whose SQL is read."""


class Limits(msgspec.Struct, frozen=True):
    """Limits on what a source may cost before it is cut short.

    `bytes` applies to a file, all else to a statement: `seconds` of CPU time and bytes of `memory` to compile it, and
    how many column `edges` it may have.
    """

    bytes: int = 10_000_000
    tokens: int = 1_000_000
    depth: int = 200
    seconds: float = 30.0
    memory: int = 2_000_000_000
    edges: int = 200_000


class Label(msgspec.Struct, frozen=True, gc=False):
    """Tags and owners for objects whose ids match a pattern; with column patterns, the tags apply to those columns."""

    objects: tuple[str, ...]
    columns: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()


class Options(msgspec.Struct, frozen=True, gc=False):
    """Analysis options of one system: its dialect, how names are completed and compared, and its limits."""

    dialect: str = ""
    system: str = ""
    default_catalog: str = ""
    default_schema: str = ""
    search_path: tuple[str, ...] = ()
    case_sensitivity: str = "dialect"
    allow_implied: bool = True
    limits: Limits = Limits()
    labels: tuple[Label, ...] = ()
    query_names: tuple[str, ...] = ()


class InputFile(msgspec.Struct, frozen=True, gc=False):
    """A source file as the engine sees it: path, text, options and owners.

    Where the text is rendered, `written` is its source map; `source` is the hash of both, if discovery computed it.
    Files run in the natural order of their paths, within one `position`.
    """

    path: str
    text: str
    options: Options
    owners: tuple[str, ...] = ()
    written: SourceMap | None = None
    source: str = ""
    position: int = 0


class SchemaColumn(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A column of a schema; a generated one (identity, computed) takes no value from an INSERT without a list.

    `origin`, and the `path` and `statement` that added it, are set where they differ from those of the object.
    A `partition` column stays behind all others. Where nullability is `unsaid`, the column may be null.
    An `output` parameter is returned to the caller. A `key` is unique in the table, alone or with others.
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
    key: bool = False


class SchemaConflict(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A difference between an imported schema and a statement; `column` is one that the statement declares."""

    path: str
    statement: int
    difference: str
    column: str = ""


class ResultSet(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The columns of one result set of a procedure in order, and whether a branch decides if it is returned."""

    columns: tuple[str, ...]
    conditional: bool = False


class TableSchema(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The columns of one object, and the parameters of a module; an open schema may have more than are listed.

    `source` is where an imported one was read. Where definitions differ there are `conflicts`; if these affect names or
    order, a star over the object is `disputed`. One that `yields` gives way to a definition. In the state that a script
    sees before it changes the object, `renamed` are the final names of columns. A procedure has the columns of all its
    `results`.
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
    conflicts: tuple[SchemaConflict, ...] = ()
    disputed: bool = False
    yields: bool = False
    renamed: tuple[tuple[str, str], ...] = ()
    constraints: tuple[Constraint, ...] = ()
    results: tuple[ResultSet, ...] = ()


class LineageTables(msgspec.Struct, frozen=True):
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


class SchemaImports(msgspec.Struct, frozen=True):
    """Imported schemas by object id, and findings about them."""

    schemas: Mapping[str, TableSchema] = {}
    findings: tuple[Diagnostic, ...] = ()
