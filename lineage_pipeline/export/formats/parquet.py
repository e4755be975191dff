"""Parquet: a folder with a file for each table, nested values as they are."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def save_parquet(tables: "Mapping[str, pa.Table]", folder: Path) -> None:
    """Write each table to a file of its name."""
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
