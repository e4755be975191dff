"""An answer in three forms: a JSON document, rows for CSV, and lines of text."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from lineage_pipeline.export.documents.lineage_json import SCHEMA_VERSION, dump_json
from lineage_pipeline.export.escaping import escape_formula, escape_hidden

Row = dict[str, Any]


class Answer(NamedTuple):
    """An answer in three forms, each built on demand."""

    document: Callable[[], Row]
    rows: Callable[[], Iterable[Row]]
    lines: Callable[[], Iterable[str]]
    header: Sequence[str] = ()
    """The columns of the rows, for where there is none."""


def write_answer(answer: Answer, format: str) -> str:
    """Write an answer as text, json or csv."""
    if format == "json":
        return dump_json({"schema_version": SCHEMA_VERSION} | answer.document())
    if format == "csv":
        return format_csv(answer.rows(), answer.header)
    return "".join(f"{escape_hidden(line)}\n" for line in answer.lines())


def format_csv(rows: Iterable[Row], header: Sequence[str] = ()) -> str:
    """Format rows of plain values with a header; null is empty, lists are joined by blanks."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    for number, row in enumerate(rows):
        if number == 0:
            writer.writerow(row)
        writer.writerow([_csv_cell(value) for value in row.values()])
    if not sink.tell() and header:
        writer.writerow(header)
    return sink.getvalue()


def _csv_cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        value = " ".join(str(item) for item in value)
    if isinstance(value, str):  # a name is no formula, and steers nothing
        return escape_formula("\n".join(map(escape_hidden, value.split("\n"))))
    return value


def format_column(name: str, column: str | None) -> str:
    """Return `object.column`, or the object where there is no column."""
    return name if column is None else f"{name}.{column}"
