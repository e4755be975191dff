"""The rows of the lineage tables; each struct is one table, and Parquet, dbt and JSON follow from it.

`snapshot` is not a field of the rows: it is the partition they are stored under, and `store` adds it.
"""

import msgspec

from lineage_pipeline.model.enums import (
    Confidence,
    EdgeKind,
    EdgeType,
    Level,
    ObjectKind,
    Origin,
    Role,
    Scope,
    Severity,
    Stage,
    Status,
    Subtype,
)


class Waiver(msgspec.Struct, frozen=True):
    """One waiver, by what it covers and for how long; `path` and `line` say where it is written.

    `rule`, `object` and `column` are patterns; an inline one covers what stands from `first_line` to `last_line` of its
    file, and what is about `object` as a whole.
    """

    id: str
    rule: str
    object: str
    reason: str
    owner: str
    expires: str
    path: str
    column: str | None = None
    fingerprint: str | None = None
    ticket: str | None = None
    line: int | None = None
    first_line: int | None = None
    last_line: int | None = None
    used: bool = False
    expired: bool = False


class Span(msgspec.Struct, frozen=True, order=True, gc=False):
    """A slice of a source: 1-based lines and columns, 0-based character offsets, ends exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int


class Snapshot(msgspec.Struct, frozen=True):
    """One repository at one commit."""

    repo: str
    refs: tuple[str, ...]
    commit: str
    parents: tuple[str, ...]
    base: str | None
    base_rule: str
    committed_at: str | None
    author: str | None
    files: int
    analysis_key: str


class Source(msgspec.Struct, frozen=True, gc=False):
    """One content as rendered, shared by all snapshots; `source_map` pairs rendered with written offsets."""

    source_hash: str
    content_hash: str
    text: str
    rendered: str
    source_map: tuple[int, ...]


SCHEMA_TEMPLATER = "schema"
"""The templater of files that are schemas and no SQL."""


class SqlFile(msgspec.Struct, frozen=True, gc=False):
    """One discovered file; `evidence` says why it is read in this dialect, and defaults are what its header names.

    Files run in the natural order of their paths, those with a `position` below zero before, above zero after the rest.
    """

    path: str
    system: str
    dialect: str
    source_hash: str
    bytes: int
    encoding: str
    templater: str
    status: Status
    owners: tuple[str, ...]
    default_catalog: str | None = None
    default_schema: str | None = None
    evidence: str | None = None
    position: int | None = None


LONGEST_PREVIEW = 100
"""Characters of a statement's preview."""


class StatementRow(msgspec.Struct, frozen=True, gc=False):
    """One statement of a file; a statement inside a block or module names its `parent`."""

    path: str
    ordinal: int
    parent: int | None
    kind: str
    target: str | None
    targets: tuple[str, ...]
    reads: tuple[str, ...]
    preview: str
    fingerprint: str
    span: Span | None
    bytes: int
    status: Status
    complexity: int
    features: tuple[str, ...]
    dropped: int | None = None


class ObjectRow(msgspec.Struct, frozen=True, gc=False):
    """One table, view, procedure or other object; `path` and `line` say where it is defined."""

    object: str
    system: str
    catalog: str
    schema: str
    name: str
    written: str
    kind: ObjectKind
    origin: Origin
    level: int
    temporary: bool
    open: bool
    path: str | None
    line: int | None
    tags: tuple[str, ...]
    owners: tuple[str, ...]
    description: str | None = None


class ObjectStatement(msgspec.Struct, frozen=True, gc=False):
    """One statement's part in one object."""

    object: str
    path: str
    ordinal: int
    role: Role


class StatementRef(msgspec.Struct, frozen=True, order=True, gc=False):
    """A statement by its place."""

    path: str
    statement: int


class ObjectEdge(msgspec.Struct, frozen=True, gc=False):
    """A producer and a consumer, with the statements that connect them."""

    from_object: str
    to_object: str
    kind: EdgeKind
    statements: tuple[StatementRef, ...]


class Column(msgspec.Struct, frozen=True, gc=False):
    """One column of one object; `ordinal` counts from 1, `path` and `statement` say who defined it."""

    object: str
    ordinal: int
    name: str
    written: str
    type: str | None
    nullable: bool
    origin: Origin
    approximate: bool
    path: str | None
    statement: int | None
    tags: tuple[str, ...]
    description: str | None


class Constraint(msgspec.Struct, frozen=True, gc=False):
    """A key, foreign key, unique, check or default of one object, or a column that it generates."""

    object: str
    id: str
    kind: str
    name: str | None
    columns: tuple[str, ...]
    expression: str | None


class Hop(msgspec.Struct, frozen=True, order=True, gc=False):
    """A column of a CTE, subquery or temp table that a collapsed edge passes through."""

    object: str
    column: str


class Use(msgspec.Struct, frozen=True, order=True, gc=False):
    """One further place where an edge's input is used in the same statement."""

    expression: str
    span: Span | None
    from_span: Span | None


class ColumnEdge(msgspec.Struct, frozen=True, gc=False):
    """One input column feeding one output column in one statement; `to_column` is `*` for statement-wide inputs."""

    path: str
    statement: int
    from_object: str
    from_column: str
    from_path: str | None
    to_object: str
    to_column: str
    type: EdgeType
    subtype: Subtype
    masking: bool
    approximate: bool
    conditional: bool
    expression: str
    span: Span | None
    from_span: Span | None
    hops: tuple[Hop, ...]
    uses: tuple[Use, ...]


DECLARATION = "declaration"

QUERY_PLAN = "query"
"""The facet that has the plan of the rows of a write, as JSON: what a comparison makes its normal form of."""


class Facet(msgspec.Struct, frozen=True, gc=False):
    """One side of what a statement does to an object, in canonical form, so that two revisions can be compared.

    `column` is the output column of a `projection` and `*` for the others (filter, join, grouping, set operation,
    order, source, write, variable, query); `text` is alias-free with every name resolved, `expression` is what was
    written. A `declaration` only says where a column of a CREATE TABLE stands.
    """

    object: str
    column: str
    name: str
    path: str
    statement: int
    fingerprint: str
    text: str
    expression: str
    span: Span | None


class ColumnReach(msgspec.Struct, frozen=True, gc=False):
    """How far one column reaches, by values alone (`direct_`) and by every edge (`all_`)."""

    object: str
    ordinal: int
    name: str
    direct_upstream_columns: int
    direct_upstream_objects: int
    direct_upstream_depth: int
    direct_downstream_columns: int
    direct_downstream_objects: int
    direct_downstream_depth: int
    direct_leaves: int
    all_upstream_columns: int
    all_upstream_objects: int
    all_downstream_columns: int
    all_downstream_objects: int
    exact: bool


class Diagnostic(msgspec.Struct, frozen=True, gc=False):
    """One finding of the analysis."""

    id: str
    code: str
    severity: Level
    message: str
    path: str | None
    line: int | None
    column: int | None
    object: str | None
    stage: Stage


class Consumer(msgspec.Struct, frozen=True, order=True, gc=False):
    """One reader that a change affects."""

    object: str
    column: str | None
    path: str | None
    line: int | None
    owners: tuple[str, ...]


class Change(msgspec.Struct, frozen=True, gc=False):
    """One change between base and head.

    `before` and `after` are canonical texts; `sql_before` and `sql_after` are the edited lines as their author wrote
    them. A `suggestion` is an edit that would repair a reader.
    """

    id: str
    rule: str
    object: str
    column: str | None
    intrinsic: Severity
    effective: Severity
    confidence: Confidence
    scope: Scope
    root: bool
    root_id: str
    consumers: tuple[Consumer, ...]
    before: str | None
    after: str | None
    path: str | None
    line: int | None
    fingerprint: str
    waiver: str | None
    sql_before: str | None = None
    sql_after: str | None = None
    suggestion: str | None = None


class Table(msgspec.Struct, frozen=True):
    """What is known about a table: its row, its key within a snapshot, and the stage that writes it."""

    name: str
    row: type[msgspec.Struct]
    key: tuple[str, ...]
    stage: Stage


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table("snapshots", Snapshot, ("commit",), Stage.DISCOVERY),
        Table("sources", Source, ("source_hash",), Stage.DISCOVERY),
        Table("sql_files", SqlFile, ("path",), Stage.DISCOVERY),
        Table("statements", StatementRow, ("path", "ordinal"), Stage.PARSING),
        Table("objects", ObjectRow, ("object",), Stage.OBJECT_GRAPH),
        Table("object_statements", ObjectStatement, ("object", "path", "ordinal", "role"), Stage.OBJECT_GRAPH),
        Table("object_edges", ObjectEdge, ("from_object", "to_object", "kind"), Stage.OBJECT_GRAPH),
        Table("columns", Column, ("object", "ordinal"), Stage.SCHEMA_REGISTRY),
        Table("constraints", Constraint, ("object", "id"), Stage.SCHEMA_REGISTRY),
        Table(
            "column_edges",
            ColumnEdge,
            (
                "path",
                "statement",
                "from_object",
                "from_column",
                "from_path",
                "to_object",
                "to_column",
                "type",
                "subtype",
            ),
            Stage.COLUMN_GRAPH,
        ),
        Table("facets", Facet, ("object", "column", "name", "path", "statement"), Stage.COLUMN_GRAPH),
        Table("column_reach", ColumnReach, ("object", "ordinal"), Stage.COLUMN_GRAPH),
        Table("diagnostics", Diagnostic, ("id",), Stage.COLUMN_GRAPH),
        Table("changes", Change, ("id",), Stage.DIFF),
        Table("waivers", Waiver, ("id",), Stage.DIFF),
    )
}
