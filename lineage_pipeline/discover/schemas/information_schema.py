"""Dumps of an information schema: one row per column, as CSV or as a list of JSON objects."""

import csv
import io
import re
from collections.abc import Iterable, Mapping

from lineage_pipeline.discover.schemas.imported_tables import ImportedColumn, ImportedTable
from lineage_pipeline.files.bounded_files import explain_csv_errors
from lineage_pipeline.model.enums import ObjectKind
from lineage_pipeline.model.errors import LineageError

DUMP_HEADINGS: dict[str, tuple[str, ...]] = {
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
"""Accepted headings of dumps, the most common first."""

SIZED_TYPES = ("char", "binary", "string", "text")
EXACT_TYPES = ("numeric", "decimal", "number", "dec")
YES, NO = frozenset({"yes", "y", "true", "t", "1"}), frozenset({"no", "n", "false", "f", "0", "not null"})

DumpRow = Mapping[str, str]


_DOTTED_NAME = re.compile(r"\w+(?:\.\w+){1,2}")


def parse_csv_dump(text: str, source: str) -> tuple[ImportedTable, ...]:
    """Return the tables of a CSV dump with any delimiter."""
    head = text.split("\n", 1)[0]
    separator = max(",;\t|", key=head.count)
    with explain_csv_errors(source):
        rows = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), delimiter=separator)
        headings = {str(name).strip().lower() for name in rows.fieldnames or ()}
    if headings.isdisjoint(DUMP_HEADINGS["table"]) or headings.isdisjoint(DUMP_HEADINGS["column"]):
        raise LineageError(f"{source}: no heading names tables and columns; known headings are {_required_headings()}")
    with explain_csv_errors(source):
        return tables_from_dump(rows, source)


def tables_from_dump(rows: Iterable[object], source: str) -> tuple[ImportedTable, ...]:
    """Return the tables of rows, each with its columns in ordinal order."""
    grouped: dict[tuple[str, ...], list[DumpRow]] = {}
    for number, given in enumerate(rows, 1):
        row = _normalize_headings(given) if isinstance(given, Mapping) else {}
        if not row.get("table") or not row.get("column"):
            raise LineageError(
                f"{source}: row {number} names no table and column; known headings are {_required_headings()}"
            )
        parts = tuple(row[part] for part in ("catalog", "schema", "table") if row.get(part))
        if len(parts) == 1 and _DOTTED_NAME.fullmatch(row["table"]):  # SQL Glider, and people, write `raw.orders`
            parts = tuple(row["table"].split("."))
        grouped.setdefault(parts, []).append(row)
    return tuple(_table_from_rows(parts, columns, source) for parts, columns in grouped.items())


def _required_headings() -> str:
    return ", ".join(DUMP_HEADINGS[part][0] for part in ("table", "column", "type"))


def _normalize_headings(given: Mapping[str, object]) -> dict[str, str]:
    """Return a row under our own headings."""
    lowered = {str(key).strip().lower(): value for key, value in given.items()}
    found = {}
    for part, headings in DUMP_HEADINGS.items():
        value = next((lowered[heading] for heading in headings if lowered.get(heading) not in (None, "")), None)
        if value is not None:
            found[part] = str(value).strip()
    return found


def _table_from_rows(parts: tuple[str, ...], rows: list[DumpRow], source: str) -> ImportedTable:
    # A dump written by hand has no positions, and names as one types them; an engine's own has them as they are stored.
    stored = all(row.get("ordinal", "").isdecimal() for row in rows)
    ordered = sorted(rows, key=lambda row: int(row["ordinal"][:9])) if stored else rows
    kind = ObjectKind.VIEW if "view" in rows[0].get("kind", "").lower() else ObjectKind.TABLE
    columns = tuple(
        ImportedColumn(row["column"], dump_type(row), _parse_nullable(row), row.get("description"), quoted=stored)
        for row in ordered
    )
    return ImportedTable(tuple((part, stored) for part in parts), columns, kind, source=source)


def _parse_nullable(row: DumpRow) -> bool | None:
    said = row.get("nullable", "").lower()
    return True if said in YES or said == "null" else False if said in NO else None


def dump_type(row: DumpRow) -> str | None:
    """Return the type of a row with its length, or precision and scale, where given."""
    kind = row.get("type")
    if not kind or "(" in kind:
        return kind
    lowered, length = kind.lower(), row.get("length", "")
    if length.lstrip("-").isdigit() and any(word in lowered for word in SIZED_TYPES):
        return f"{kind}({'MAX' if length == '-1' else length})" if lowered not in ("text", "string") else kind
    precision, scale = row.get("precision", ""), row.get("scale", "")
    if precision.isdigit() and lowered in EXACT_TYPES:
        return f"{kind}({precision},{scale if scale.isdigit() else '0'})"
    return kind
