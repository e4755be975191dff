"""Metadata of materializations: row counts, column schema and lineage, previews."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from lineage_pipeline.defs.specs import ASSET_PREFIX, build_column_schema, make_asset_key
from lineage_pipeline.model.tables import TABLES
from lineage_pipeline.quality.shares import SHARE_COLUMNS, Share, count_share
from lineage_pipeline.store.run import WarehouseRun
from lineage_pipeline.store.table_files import TableFiles, read_columns

_EDGE_ENDS = (
    "column_edges.from_object",
    "column_edges.from_column",
    "column_edges.to_object",
    "column_edges.to_column",
)
_REACH_COLUMNS = [name for name in TABLES["column_reach"].row.__struct_fields__ if name.startswith(("direct_", "all_"))]

COLUMN_SOURCES: dict[str, dict[str, tuple[str, ...]]] = {
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
        **dict.fromkeys(_REACH_COLUMNS, (*_EDGE_ENDS, "column_edges.type")),
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
        "consumers": _EDGE_ENDS,
        "path": ("objects.path",),
        "line": ("objects.line",),
        "waiver": ("waivers.id",),
    },
    "waivers": {"path": ("sql_files.path",), "reason": ("sources.text",), "expires": ("sources.text",)},
}
"""For each table and column: the columns of other tables that it is made from."""


def build_column_lineage(table: str) -> dg.TableColumnLineage:
    """Return the column lineage of one of our tables for Dagster."""
    found = {
        column: [_build_column_dep(source) for source in sources]
        for column, sources in COLUMN_SOURCES.get(table, {}).items()
    }
    return dg.TableColumnLineage(found)


def _build_column_dep(source: str) -> dg.TableColumnDep:
    table, _, column = source.partition(".")
    return dg.TableColumnDep(make_asset_key(table), column)


TABLE_SHARES = {"statements": ("parsed",), "column_edges": ("covered", "approximate")}
"""Quality shares that are reported with a table."""

PREVIEW_ROWS, PREVIEW_COLUMNS, PREVIEW_WIDTH = 8, 8, 40


def build_table_result(run: WarehouseRun, table: str, seconds: float, more: Mapping[str, Any] | None = None) -> Any:
    """Return the result of a table of a run: rows, columns, location, time, and the first rows."""
    files = run.files(table)
    shares = [read_share(run.tables, name) for name in TABLE_SHARES.get(table, ())]
    metadata = {
        **_describe_table(table),
        "dagster/partition_row_count": count_rows(run, table),
        "dagster/uri": files[0].rpartition("/")[0] if files else "",
        "files": len(files),
        "seconds": round(seconds, 2),
        **{f"{share.name}_percent": round(100 * share.value, 2) for share in shares if share.value is not None},
        "preview": dg.MetadataValue.md(render_preview(read_first_rows(files))),
        **(more or {}),
    }
    return dg.MaterializeResult(make_asset_key(table), metadata=metadata)


def build_missing_result(table: str, why: str) -> Any:
    """Return the result of a table that a snapshot does not have, with the reason."""
    metadata = {
        **_describe_table(table),
        "dagster/partition_row_count": 0,
        "dagster/uri": "",
        "files": 0,
        "seconds": 0.0,
        "preview": dg.MetadataValue.md(why),
    }
    return dg.MaterializeResult(make_asset_key(table), metadata=metadata)


def build_product_result(
    name: str, uri: str, seconds: float, rows: int, shown: str, more: Mapping[str, Any] | None = None
) -> Any:
    """Return the result of an asset that is not a table: size, location, time and preview."""
    metadata = {
        "dagster/partition_row_count": rows,
        "dagster/uri": uri,
        "seconds": round(seconds, 2),
        "preview": dg.MetadataValue.md(shown),
        **(more or {}),
    }
    return dg.MaterializeResult(make_asset_key(name), metadata=metadata)


def _describe_table(table: str) -> dict[str, Any]:
    return {
        "dagster/table_name": f"{ASSET_PREFIX}.{table}",
        "dagster/storage_kind": "parquet",
        "dagster/column_schema": build_column_schema(table),
        "dagster/column_lineage": build_column_lineage(table),
    }


def read_share(tables: TableFiles, name: str) -> Share:
    """Count a share, reading only the columns it needs."""
    return count_share(
        name, {table: read_columns(tables, table, names) for table, names in SHARE_COLUMNS[name].items()}
    )


def count_rows(run: WarehouseRun, table: str) -> int:
    """Count the rows of a table; files of sources also hold those of other snapshots."""
    return run.read(table).num_rows if table == "sources" else run.manifest.tables[table].rows


def read_first_rows(files: Sequence[str]) -> pa.Table:
    """Read the first rows of a table, however large it is."""
    for address in files:
        system, path = fs.FileSystem.from_uri(address)
        with system.open_input_file(path) as source:
            for batch in pq.ParquetFile(source).iter_batches(batch_size=PREVIEW_ROWS):
                return pa.Table.from_batches([batch])
    return pa.table({})


def render_preview(content: pa.Table) -> str:
    """Render the first rows and columns as a Markdown table."""
    names = [name for name in content.column_names if name not in ("snapshot", "base", "head")][:PREVIEW_COLUMNS]
    rows = content.select(names).slice(0, PREVIEW_ROWS).to_pylist()
    lines = [names, ["---"] * len(names), *([_render_cell(row[name]) for name in names] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _render_cell(value: object) -> str:
    text = " ".join(str("" if value is None else value).split()).replace("|", "\\|")
    return text if len(text) <= PREVIEW_WIDTH else f"{text[: PREVIEW_WIDTH - 1]}…"
