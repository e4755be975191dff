"""What a materialisation tells about itself."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from lineage_pipeline.defs.specs import asset_key, column_schema
from lineage_pipeline.store.run import Run

PREVIEW_ROWS, PREVIEW_COLUMNS, PREVIEW_WIDTH = 8, 8, 40


def materialised(run: Run, table: str, seconds: float, more: Mapping[str, Any] | None = None) -> Any:
    """Tell of one table of a run: rows, columns, place, time, and the first rows."""
    files = run.files(table)
    metadata = {
        "dagster/partition_row_count": row_count(run, table),
        "dagster/column_schema": column_schema(table),
        "dagster/uri": files[0].rpartition("/")[0] if files else "",
        "files": len(files),
        "seconds": round(seconds, 2),
        "preview": dg.MetadataValue.md(preview(first_rows(files))),
        **(more or {}),
    }
    return dg.MaterializeResult(asset_key(table), metadata=metadata)


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
