"""Tables as flat rows of plain cells, for formats without nested values."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lineage_pipeline.export.escaping import escape_formula, escape_hidden, escape_hidden_lines

if TYPE_CHECKING:
    import pyarrow as pa

Cell = str | int | float | bool | None


def column_header(table: "pa.Table") -> list[str]:
    """Return the column names of a table."""
    return list(table.column_names)


def iterate_rows(table: "pa.Table") -> Iterator[list[Cell]]:
    """Yield the rows of a table batch by batch; lists and structs are JSON, and no text is a formula."""
    for batch in table.to_batches(max_chunksize=10_000):
        columns = [batch.column(index).to_pylist() for index in range(batch.num_columns)]
        for values in zip(*columns, strict=True):
            yield [_flatten_cell(value) for value in values]


def _flatten_cell(value: Any) -> Cell:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | Mapping):
        return escape_hidden(json.dumps(value, ensure_ascii=False, sort_keys=True)) if value else None
    return escape_formula(escape_hidden_lines(str(value)))
