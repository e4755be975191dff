"""XLSX: a workbook with a sheet for each table, a summary, and a matrix of dependencies between objects."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage_pipeline.export.escaping import ELLIPSIS, escape_formula, escape_hidden, shorten_middle
from lineage_pipeline.export.formats.flat_tables import Cell, column_header, iterate_rows

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST, MOST_ROWS, MOST_OBJECTS = 32_767, 1_048_575, 200
"""Limits of a cell, of a sheet, and of the matrix."""


def save_xlsx(tables: "Mapping[str, pa.Table]", file: Path) -> list[str]:
    """Write a workbook, and return what did not fit into it."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    cut: list[str] = []
    _fill_sheet(
        book.create_sheet("summary"), ["table", "rows"], [[name, table.num_rows] for name, table in tables.items()]
    )
    for name, table in tables.items():
        kept = table.slice(0, MOST_ROWS)
        if kept.num_rows < table.num_rows:
            cut.append(f"{kept.num_rows:,} of {table.num_rows:,} rows of {name}")
        _fill_sheet(book.create_sheet(name), column_header(table), iterate_rows(kept))
    _fill_sheet(book.create_sheet("dependency matrix"), *_dependency_matrix(tables, cut))
    epoch = datetime(1970, 1, 1)
    book.properties.created = book.properties.modified = epoch
    file.parent.mkdir(parents=True, exist_ok=True)
    book.save(file)
    return cut


def _fill_sheet(sheet: Any, head: Iterable[Cell], body: Iterable[Iterable[Cell]]) -> None:
    sheet.freeze_panes = "A2"
    sheet.append([_truncate_cell(value) for value in head])
    for row in body:
        sheet.append([_truncate_cell(value) for value in row])


def _truncate_cell(value: Cell) -> Cell:
    """Truncate a text to what a cell can hold."""
    if isinstance(value, str) and len(value) > LONGEST:
        return value[: LONGEST - 1] + ELLIPSIS
    return value


def _dependency_matrix(tables: "Mapping[str, pa.Table]", cut: list[str]) -> tuple[list[Cell], list[list[Cell]]]:
    """Return a row for each object that reads, a column for each that is read, and the edge kinds in the cell."""
    how: dict[tuple[str, str], set[str]] = defaultdict(set)
    edges = tables["object_edges"].select(["from_object", "to_object", "kind"]).to_pylist()
    for edge in edges:
        how[edge["from_object"], edge["to_object"]].add(edge["kind"])
    sources, targets = ({ends[side] for ends in how} for side in (0, 1))
    read, reading = sorted(sources)[:MOST_OBJECTS], sorted(targets)[:MOST_OBJECTS]
    if len(read) < len(sources) or len(reading) < len(targets):
        cut.append(f"{len(reading)} of {len(targets):,} rows and {len(read)} of {len(sources):,} columns of the matrix")
    body: list[list[Cell]] = [
        [_object_cell(target), *(", ".join(sorted(how.get((source, target), ()))) or None for source in read)]
        for target in reading
    ]
    return ["object", *map(_object_cell, read)], body


def _object_cell(text: str) -> str:
    return escape_formula(shorten_middle(escape_hidden(text), 1000))
