"""Tables as text again: as DDL, and as the document that schemas are read from."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lineage_pipeline.discover.schemas.model import ImportedColumn, ImportedTable
from lineage_pipeline.vocabulary.sets import ObjectKind

BACKTICKS = frozenset("athena bigquery clickhouse databricks doris drill hive mysql spark spark2 starrocks".split())
"""Dialects that quote names with backticks; all others take double quotes."""

UNKNOWN = "VARCHAR"
"""The type of a column in DDL where nobody knows it: without one it would be no column; documents leave it out."""

VIEWS = frozenset({ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW})


def ddl_of(table: ImportedTable, dialect: str) -> str:
    """Give the DDL that says all that is known of a table; a view is written with the types of its columns."""
    name = ".".join(_quoted(part, dialect) for part, _ in table.parts)
    body = _view(name, table, dialect) if table.kind in VIEWS else _table(name, table, dialect)
    return "\n".join((body, *_comments(name, table, dialect), ""))


def _table(name: str, table: ImportedTable, dialect: str) -> str:
    columns = ",\n".join(
        f"  {_quoted(column.name, dialect)} {column.type or UNKNOWN}{' NOT NULL' if column.nullable is False else ''}"
        for column in table.columns
    )
    return f"CREATE TABLE {name} (\n{columns}\n);"


def _view(name: str, table: ImportedTable, dialect: str) -> str:
    columns = ",\n".join(f"  {_value(column)} AS {_quoted(column.name, dialect)}" for column in table.columns)
    return f"CREATE VIEW {name} AS\nSELECT\n{columns};"


def _value(column: ImportedColumn) -> str:
    return f"CAST(NULL AS {column.type})" if column.type else "NULL"


def _comments(name: str, table: ImportedTable, dialect: str) -> Iterator[str]:
    kind = "VIEW" if table.kind in VIEWS else "TABLE"
    if table.description:
        yield f"COMMENT ON {kind} {name} IS {_text(table.description)};"
    for column in table.columns:
        if column.description:
            yield f"COMMENT ON COLUMN {name}.{_quoted(column.name, dialect)} IS {_text(column.description)};"


def _quoted(name: str, dialect: str) -> str:
    sign = "`" if dialect in BACKTICKS else '"'
    return sign + name.replace(sign, sign * 2) + sign


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def document_of(tables: Iterable[ImportedTable]) -> dict[str, Any]:
    """Give the document that holds all that is known of tables, for `--schema`."""
    return {"tables": [_entry(table) for table in tables]}


def _entry(table: ImportedTable) -> dict[str, Any]:
    said: dict[str, Any] = {
        "name": ".".join(_quoted(part, "") for part, _ in table.parts),
        "kind": table.kind.value,
        "partial": table.partial,
        "description": table.description,
        "tags": list(table.tags),
        "owners": list(table.owners),
        "columns": [_column(column) for column in table.columns],
    }
    return _filled(said)


def _column(column: ImportedColumn) -> dict[str, Any]:
    return _filled(
        {
            "name": _quoted(column.name, ""),
            "type": column.type,
            "nullable": column.nullable,
            "description": column.description,
            "tags": list(column.tags),
            "generated": column.generated,
        }
    )


def _filled(said: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what says nothing."""
    return {
        key: value
        for key, value in said.items()
        if value not in (None, [], "") and (value is not False or key == "nullable")
    }
