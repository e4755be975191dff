"""Which columns of our own tables come from which, as far as a column can say it; what is worked out is left out."""

import dagster as dg

from lineage_pipeline.defs.specs import asset_key
from lineage_pipeline.vocabulary.tables import TABLES

_ENDS = ("column_edges.from_object", "column_edges.from_column", "column_edges.to_object", "column_edges.to_column")
_REACH = [name for name in TABLES["column_reach"].row.__struct_fields__ if name.startswith(("direct_", "all_"))]

SOURCES: dict[str, dict[str, tuple[str, ...]]] = {
    "statements": {
        "path": ("sql_files.path",),
        "kind": ("sources.rendered", "sql_files.dialect"),
        "target": ("sources.rendered", "sql_files.dialect"),
        "targets": ("sources.rendered", "sql_files.dialect"),
        "reads": ("sources.rendered", "sql_files.dialect"),
        "preview": ("sources.text",),
        "fingerprint": ("sources.rendered", "sql_files.dialect"),
        "span": ("sources.text", "sources.source_map"),
        "bytes": ("sources.text",),
        "status": ("sources.rendered", "sql_files.dialect"),
    },
    "objects": {
        "object": ("statements.targets", "statements.reads"),
        "kind": ("statements.kind",),
        "path": ("statements.path",),
        "line": ("statements.span",),
    },
    "object_statements": {
        "object": ("statements.targets", "statements.reads"),
        "path": ("statements.path",),
        "ordinal": ("statements.ordinal",),
        "role": ("statements.kind",),
    },
    "object_edges": {
        "from_object": ("statements.reads",),
        "to_object": ("statements.targets",),
        "kind": ("statements.kind",),
        "statements": ("statements.path", "statements.ordinal"),
    },
    "columns": {
        "object": ("objects.object",),
        "origin": ("objects.origin",),
        "path": ("statements.path",),
        "statement": ("statements.ordinal",),
    },
    "constraints": {"object": ("objects.object",)},
    "column_edges": {
        "from_object": ("objects.object",),
        "from_column": ("columns.name",),
        "to_object": ("objects.object",),
        "to_column": ("columns.name",),
        "approximate": ("columns.approximate",),
    },
    "facets": {"object": ("objects.object",), "column": ("columns.name",)},
    "column_reach": {
        "object": ("columns.object",),
        "ordinal": ("columns.ordinal",),
        "name": ("columns.name",),
        **dict.fromkeys(_REACH, (*_ENDS, "column_edges.type")),
    },
    "diagnostics": {
        "path": ("sql_files.path",),
        "line": ("statements.span",),
        "object": ("objects.object",),
    },
    "changes": {
        "object": ("objects.object",),
        "column": ("columns.name",),
        "before": ("columns.type", "facets.text"),
        "after": ("columns.type", "facets.text"),
        "consumers": _ENDS,
        "path": ("objects.path",),
        "line": ("objects.line",),
        "waiver": ("waivers.id",),
    },
    "waivers": {"path": ("sql_files.path",), "reason": ("sources.text",), "expires": ("sources.text",)},
}
"""Table, column, and the columns of other tables that it is made from."""


def column_lineage(table: str) -> dg.TableColumnLineage:
    """Give the lineage of a table's columns as Dagster takes it."""
    found = {column: [_dep(source) for source in sources] for column, sources in SOURCES.get(table, {}).items()}
    return dg.TableColumnLineage(found)


def _dep(source: str) -> dg.TableColumnDep:
    table, _, column = source.partition(".")
    return dg.TableColumnDep(asset_key(table), column)
