"""Writes imported tables as DDL, and as the schema document that can be read back."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lineage_pipeline.discover.schemas.imported_tables import ImportedColumn, ImportedTable
from lineage_pipeline.model.enums import ObjectKind

BACKTICK_DIALECTS = frozenset(
    "athena bigquery clickhouse databricks doris drill hive mysql spark spark2 starrocks".split()
)
"""Dialects that quote names with backticks; all others use double quotes."""

UNKNOWN_TYPE = "VARCHAR"
"""Type of a column of unknown type in DDL; documents leave it out."""

DDL_VIEW_KINDS = frozenset({ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW})


def write_ddl(table: ImportedTable, dialect: str) -> str:
    """Return the DDL of a table; a view is written with the types of its columns."""
    name = ".".join(_quote_name(part, dialect) for part, _ in table.parts)
    body = (
        _write_create_view(name, table, dialect)
        if table.kind in DDL_VIEW_KINDS
        else _write_create_table(name, table, dialect)
    )
    return "\n".join((body, *_write_comments(name, table, dialect), ""))


def _write_create_table(name: str, table: ImportedTable, dialect: str) -> str:
    columns = ",\n".join(
        f"  {_quote_name(column.name, dialect)} {column.type or UNKNOWN_TYPE}"
        f"{' NOT NULL' if column.nullable is False else ''}"
        for column in table.columns
    )
    return f"CREATE TABLE {name} (\n{columns}\n);"


def _write_create_view(name: str, table: ImportedTable, dialect: str) -> str:
    columns = ",\n".join(
        f"  {_null_of_type(column)} AS {_quote_name(column.name, dialect)}" for column in table.columns
    )
    return f"CREATE VIEW {name} AS\nSELECT\n{columns};"


def _null_of_type(column: ImportedColumn) -> str:
    return f"CAST(NULL AS {column.type})" if column.type else "NULL"


def _write_comments(name: str, table: ImportedTable, dialect: str) -> Iterator[str]:
    kind = "VIEW" if table.kind in DDL_VIEW_KINDS else "TABLE"
    if table.description:
        yield f"COMMENT ON {kind} {name} IS {_quote_text(table.description)};"
    for column in table.columns:
        if column.description:
            yield f"COMMENT ON COLUMN {name}.{_quote_name(column.name, dialect)} IS {_quote_text(column.description)};"


def _quote_name(name: str, dialect: str) -> str:
    sign = "`" if dialect in BACKTICK_DIALECTS else '"'
    return sign + name.replace(sign, sign * 2) + sign


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def write_schema_document(tables: Iterable[ImportedTable]) -> dict[str, Any]:
    """Return the schema document of tables, for `--schema`."""
    return {"tables": [_table_entry(table) for table in tables]}


def _table_entry(table: ImportedTable) -> dict[str, Any]:
    said: dict[str, Any] = {
        "name": ".".join(_quote_name(part, "") for part, _ in table.parts),
        "kind": table.kind.value,
        "partial": table.partial,
        "description": table.description,
        "tags": list(table.tags),
        "owners": list(table.owners),
        "columns": [_column_entry(column) for column in table.columns],
    }
    return _drop_empty(said)


def _column_entry(column: ImportedColumn) -> dict[str, Any]:
    return _drop_empty(
        {
            "name": _quote_name(column.name, ""),
            "type": column.type,
            "nullable": column.nullable,
            "description": column.description,
            "tags": list(column.tags),
            "generated": column.generated,
        }
    )


def _drop_empty(said: Mapping[str, Any]) -> dict[str, Any]:
    """Drop empty values."""
    return {
        key: value
        for key, value in said.items()
        if value not in (None, [], "") and (value is not False or key == "nullable")
    }
