"""Hand-made rows of a small lineage: a view over a table, with its statement, columns and edges."""

from typing import Any

import msgspec

from lineage_pipeline.export.subject import OpenLineageNaming
from lineage_pipeline.model import enums, tables
from lineage_pipeline.model.analysis import LineageTables

ORDERS_SQL = "create view core.orders as\nselect id, sha(mail) as mail from raw.orders where open"
ORDERS_SPAN = tables.Span(1, 1, 2, 56, 0, len(ORDERS_SQL))


def make_object(name: str, kind: enums.ObjectKind, **changes: Any) -> tables.ObjectRow:
    """Make an object row."""
    schema, _, last = name.partition(".")
    row = tables.ObjectRow(
        name, "", "shop", schema, last, last, kind, enums.Origin.IMPLIED, 0, False, False, None, None, (), ()
    )
    return msgspec.structs.replace(row, **changes)


def make_column(name: str, ordinal: int, kind: str | None = "INT") -> tables.Column:
    """Make a column row from a qualified name."""
    owner, _, last = name.rpartition(".")
    return tables.Column(owner, ordinal, last, last, kind, True, enums.Origin.IMPLIED, False, "a.sql", 0, (), None)


def make_edge(source: str, target: str, subtype: enums.Subtype, **changes: Any) -> tables.ColumnEdge:
    """Make a column edge between qualified names; FILTER and JOIN edges are indirect."""
    (from_object, _, from_column), (to_object, _, to_column) = source.rpartition("."), target.rpartition(".")
    kind = enums.EdgeType.INDIRECT if subtype in (enums.Subtype.FILTER, enums.Subtype.JOIN) else enums.EdgeType.DIRECT
    row = tables.ColumnEdge(
        "a.sql", 0, from_object, from_column, None, to_object, to_column, kind, subtype,
        False, False, False, from_column, None, None, (), (),
    )  # fmt: skip
    return msgspec.structs.replace(row, **changes)


def make_statement(
    path: str, ordinal: int, kind: str, target: str | None, reads: tuple[str, ...]
) -> tables.StatementRow:
    """Make a statement row."""
    targets = (target,) if target else ()
    return tables.StatementRow(
        path,
        ordinal,
        None,
        kind,
        target,
        targets,
        reads,
        ORDERS_SQL[:100],
        "f",
        ORDERS_SPAN,
        len(ORDERS_SQL),
        enums.Status.ANALYSED,
        3,
        (),
    )


ORDERS_LINEAGE = LineageTables(
    statements=(make_statement("a.sql", 0, "CREATE VIEW", "core.orders", ("raw.orders",)),),
    objects=(
        make_object("core.orders", enums.ObjectKind.VIEW, path="a.sql", line=1, level=1),
        make_object("raw.orders", enums.ObjectKind.TABLE, origin=enums.Origin.IMPORTED),
    ),
    object_statements=(
        tables.ObjectStatement("core.orders", "a.sql", 0, enums.Role.DEFINE),
        tables.ObjectStatement("raw.orders", "a.sql", 0, enums.Role.READ),
    ),
    object_edges=(
        tables.ObjectEdge("raw.orders", "core.orders", enums.EdgeKind.READ, (tables.StatementRef("a.sql", 0),)),
    ),
    columns=(
        make_column("core.orders.id", 1),
        make_column("core.orders.mail", 2, None),
        make_column("raw.orders.id", 1),
        make_column("raw.orders.mail", 2, "VARCHAR(10)"),
        make_column("raw.orders.open", 3),
    ),
    column_edges=(
        make_edge("raw.orders.id", "core.orders.id", enums.Subtype.IDENTITY),
        make_edge(
            "raw.orders.mail", "core.orders.mail", enums.Subtype.TRANSFORMATION, masking=True, expression="sha(mail)"
        ),
        make_edge("raw.orders.open", "core.orders.*", enums.Subtype.FILTER),
    ),
    diagnostics=(
        tables.Diagnostic(
            "1", "UNKNOWN_TABLE", enums.Level.WARNING, "x is not known", "a.sql", 2, 5, None, enums.Stage.OBJECT_GRAPH
        ),
    ),
)
SHOP_SNAPSHOT = tables.Snapshot("shop", ("main",), "abc", (), None, "none", "2026-01-02T03:04:05Z", "x", 1, "k")


SHOP_NAMING = OpenLineageNaming({"": "mssql://h:1433"}, "jobs", "https://example.org/lineage")
