"""Dumps of an information schema: one row a column, as CSV or as a list of objects in JSON."""

import csv
import io
from collections.abc import Iterable, Mapping

from lineage_pipeline.discover.bounded import as_csv
from lineage_pipeline.discover.schemas.model import ImportedColumn, ImportedTable
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import ObjectKind

HEADINGS: dict[str, tuple[str, ...]] = {
    "catalog": ("table_catalog", "catalog", "database", "table_database"),
    "schema": ("table_schema", "schema", "owner"),
    "table": ("table_name", "table", "object", "name"),
    "column": ("column_name", "column"),
    "type": ("data_type", "type", "column_type", "full_data_type"),
    "nullable": ("is_nullable", "nullable", "null"),
    "ordinal": ("ordinal_position", "ordinal", "column_id", "position"),
    "length": ("character_maximum_length", "char_length", "length"),
    "precision": ("numeric_precision", "data_precision", "precision"),
    "scale": ("numeric_scale", "data_scale", "scale"),
    "description": ("column_comment", "comment", "description", "remarks"),
    "kind": ("table_type",),
}
"""What the headings of dumps are called, the commonest first."""

SIZED = ("char", "binary", "string", "text")
EXACT = ("numeric", "decimal", "number", "dec")
YES, NO = frozenset({"yes", "y", "true", "t", "1"}), frozenset({"no", "n", "false", "f", "0", "not null"})

Row = Mapping[str, str]


def tables_of_csv(text: str, source: str) -> tuple[ImportedTable, ...]:
    """Give the tables of a dump in CSV, whatever separates its fields."""
    head = text.split("\n", 1)[0]
    separator = max(",;\t|", key=head.count)
    with as_csv(source):
        rows = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), delimiter=separator)
        headings = {str(name).strip().lower() for name in rows.fieldnames or ()}
    if headings.isdisjoint(HEADINGS["table"]) or headings.isdisjoint(HEADINGS["column"]):
        raise LineageError(f"{source}: no heading names tables and columns; known headings are {_known()}")
    with as_csv(source):
        return tables_of_rows(rows, source)


def tables_of_rows(rows: Iterable[object], source: str) -> tuple[ImportedTable, ...]:
    """Give the tables of rows, each with its columns in the order of their positions."""
    grouped: dict[tuple[str, ...], list[Row]] = {}
    for number, given in enumerate(rows, 1):
        row = _heading(given) if isinstance(given, Mapping) else {}
        if not row.get("table") or not row.get("column"):
            raise LineageError(f"{source}: row {number} names no table and column; known headings are {_known()}")
        parts = tuple(row[part] for part in ("catalog", "schema", "table") if row.get(part))
        grouped.setdefault(parts, []).append(row)
    return tuple(_table(parts, columns, source) for parts, columns in grouped.items())


def _known() -> str:
    return ", ".join(HEADINGS[part][0] for part in ("table", "column", "type"))


def _heading(given: Mapping[str, object]) -> dict[str, str]:
    """Give a row under our own headings."""
    lowered = {str(key).strip().lower(): value for key, value in given.items()}
    found = {}
    for part, headings in HEADINGS.items():
        value = next((lowered[heading] for heading in headings if lowered.get(heading) not in (None, "")), None)
        if value is not None:
            found[part] = str(value).strip()
    return found


def _table(parts: tuple[str, ...], rows: list[Row], source: str) -> ImportedTable:
    # A dump written by hand has no positions, and names as one types them; an engine's own has them as they are stored.
    stored = all(row.get("ordinal", "").isdecimal() for row in rows)
    ordered = sorted(rows, key=lambda row: int(row["ordinal"][:9])) if stored else rows
    kind = ObjectKind.VIEW if "view" in rows[0].get("kind", "").lower() else ObjectKind.TABLE
    columns = tuple(
        ImportedColumn(row["column"], type_of(row), _nullable(row), row.get("description"), quoted=stored)
        for row in ordered
    )
    return ImportedTable(tuple((part, stored) for part in parts), columns, kind, source=source)


def _nullable(row: Row) -> bool | None:
    said = row.get("nullable", "").lower()
    return True if said in YES or said == "null" else False if said in NO else None


def type_of(row: Row) -> str | None:
    """Give the type of a row with its length, or its precision and scale, where those stand beside it."""
    kind = row.get("type")
    if not kind or "(" in kind:
        return kind
    lowered, length = kind.lower(), row.get("length", "")
    if length.lstrip("-").isdigit() and any(word in lowered for word in SIZED):
        return f"{kind}({'MAX' if length == '-1' else length})" if lowered not in ("text", "string") else kind
    precision, scale = row.get("precision", ""), row.get("scale", "")
    if precision.isdigit() and lowered in EXACT:
        return f"{kind}({precision},{scale if scale.isdigit() else '0'})"
    return kind
