"""What a materialisation tells about itself."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from lineage_pipeline.defs.column_sources import column_lineage
from lineage_pipeline.defs.specs import PREFIX, asset_key, column_schema
from lineage_pipeline.quality.shares import NEEDS, Share, count_share
from lineage_pipeline.store.run import Run
from lineage_pipeline.store.tables import Tables, read_columns

SHARES = {"statements": ("parsed",), "column_edges": ("covered", "approximate")}
"""How much of a snapshot was understood is told with the table that shows it."""

PREVIEW_ROWS, PREVIEW_COLUMNS, PREVIEW_WIDTH = 8, 8, 40


def materialised(run: Run, table: str, seconds: float, more: Mapping[str, Any] | None = None) -> Any:
    """Tell of one table of a run: rows, columns, place, time, and the first rows."""
    files = run.files(table)
    shares = [share_of(run.tables, name) for name in SHARES.get(table, ())]
    metadata = {
        **_described(table),
        "dagster/partition_row_count": row_count(run, table),
        "dagster/uri": files[0].rpartition("/")[0] if files else "",
        "files": len(files),
        "seconds": round(seconds, 2),
        **{f"{share.name}_percent": round(100 * share.value, 2) for share in shares if share.value is not None},
        "preview": dg.MetadataValue.md(preview(first_rows(files))),
        **(more or {}),
    }
    return dg.MaterializeResult(asset_key(table), metadata=metadata)


def unmade(table: str, why: str) -> Any:
    """Tell of a table that a snapshot does not have, and why."""
    metadata = {
        **_described(table),
        "dagster/partition_row_count": 0,
        "dagster/uri": "",
        "files": 0,
        "seconds": 0.0,
        "preview": dg.MetadataValue.md(why),
    }
    return dg.MaterializeResult(asset_key(table), metadata=metadata)


def produced(name: str, uri: str, seconds: float, rows: int, shown: str, more: Mapping[str, Any] | None = None) -> Any:
    """Tell of an asset that is no table: how much, where, how long it took, and what it looks like."""
    metadata = {
        "dagster/partition_row_count": rows,
        "dagster/uri": uri,
        "seconds": round(seconds, 2),
        "preview": dg.MetadataValue.md(shown),
        **(more or {}),
    }
    return dg.MaterializeResult(asset_key(name), metadata=metadata)


def _described(table: str) -> dict[str, Any]:
    return {
        "dagster/table_name": f"{PREFIX}.{table}",
        "dagster/storage_kind": "parquet",
        "dagster/column_schema": column_schema(table),
        "dagster/column_lineage": column_lineage(table),
    }


def share_of(tables: Tables, name: str) -> Share:
    """Count a share, reading no more than it needs."""
    return count_share(name, {table: read_columns(tables, table, names) for table, names in NEEDS[name].items()})


def row_count(run: Run, table: str) -> int:
    """Count the rows of a table; files of sources hold those of other snapshots, too."""
    return run.read(table).num_rows if table == "sources" else run.manifest.tables[table].rows


def first_rows(files: Sequence[str]) -> pa.Table:
    """Read the beginning of a table, however long it is."""
    for address in files:
        system, path = fs.FileSystem.from_uri(address)
        with system.open_input_file(path) as source:
            for batch in pq.ParquetFile(source).iter_batches(batch_size=PREVIEW_ROWS):
                return pa.Table.from_batches([batch])
    return pa.table({})


def preview(content: pa.Table) -> str:
    """Show the first rows and columns as a Markdown table."""
    names = [name for name in content.column_names if name not in ("snapshot", "base", "head")][:PREVIEW_COLUMNS]
    rows = content.select(names).slice(0, PREVIEW_ROWS).to_pylist()
    lines = [names, ["---"] * len(names), *([_cell(row[name]) for name in names] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    text = " ".join(str("" if value is None else value).split()).replace("|", "\\|")
    return text if len(text) <= PREVIEW_WIDTH else f"{text[: PREVIEW_WIDTH - 1]}…"
