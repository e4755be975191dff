"""The tables of a lineage as flat rows of plain cells, for what knows no nested values."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lineage_pipeline.export.escaping import cell, lines, visible

if TYPE_CHECKING:
    import pyarrow as pa

Cell = str | int | float | bool | None


def header(table: "pa.Table") -> list[str]:
    """Name the columns of a table."""
    return list(table.column_names)


def rows(table: "pa.Table") -> Iterator[list[Cell]]:
    """Give the rows of a table, piece by piece; lists and structs are JSON, and no text is a formula."""
    for batch in table.to_batches(max_chunksize=10_000):
        columns = [batch.column(index).to_pylist() for index in range(batch.num_columns)]
        for values in zip(*columns, strict=True):
            yield [_cell(value) for value in values]


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | Mapping):
        return visible(json.dumps(value, ensure_ascii=False, sort_keys=True)) if value else None
    return cell(lines(str(value)))
