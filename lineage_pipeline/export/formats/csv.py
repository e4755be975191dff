"""CSV: a folder with a file for each table."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lineage_pipeline.export.formats.flat_tables import column_header, iterate_rows

if TYPE_CHECKING:
    import pyarrow as pa


def save_csv(tables: "Mapping[str, pa.Table]", folder: Path) -> None:
    """Write each table to a file of its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(column_header(table))
            writer.writerows(iterate_rows(table))
