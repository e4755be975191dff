"""Schema documents in JSON or YAML, read and written: tables with columns and hints; also written as DDL."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from lineage_pipeline.discover.schemas.imported_tables import ImportedColumn, ImportedTable, SchemaMetadata
from lineage_pipeline.model.enums import ObjectKind
from lineage_pipeline.model.errors import LineageError

NAME_PARTS = re.compile(r'"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`|[^.]+')
OPENING_QUOTES = '"[`'


class _DocumentSection(BaseModel):
    """A section of the document; its keys may be snake or camel case."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, populate_by_name=True)


def _column_from_text(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


class _DocumentColumn(_DocumentSection):
    name: str
    type: str | None = Field(None, validation_alias=AliasChoices("type", "data_type", "dataType"))
    nullable: bool | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    generated: bool = False


class _DocumentTable(_DocumentSection):
    name: str
    catalog: str = ""
    table_schema: str = Field("", validation_alias=AliasChoices("schema", "table_schema"))
    columns: tuple[Annotated[_DocumentColumn, BeforeValidator(_column_from_text)], ...] = ()
    kind: ObjectKind = ObjectKind.TABLE
    partial: bool = False
    description: str | None = None
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()


def _search_path_entry(value: object) -> object:
    """Return the schema of a search path entry: a text, or `{"catalog": …, "schema": …}`."""
    return value.get("schema", "") if isinstance(value, Mapping) else value


class _SchemaDocument(_DocumentSection):
    tables: tuple[_DocumentTable, ...]
    default_catalog: str | None = None
    default_schema: str | None = None
    search_path: tuple[Annotated[str, BeforeValidator(_search_path_entry)], ...] = ()
    case_sensitivity: str = "dialect"
    allow_implied: bool = True


def parse_schema_document(document: object, source: str = "") -> SchemaMetadata:
    """Return the tables of a document, and its hints."""
    if not isinstance(document, Mapping):
        raise LineageError(f"{source or 'schema'}: Expected tables by name, got {type(document).__name__}")
    tables = document.get("tables")
    if isinstance(tables, list) and all(isinstance(item, Mapping) for item in tables):
        return _parse_table_list(document, source)
    return SchemaMetadata(tuple(_table_from_mapping(str(name), columns, source) for name, columns in document.items()))


def _parse_table_list(document: Mapping[str, Any], source: str) -> SchemaMetadata:
    try:
        found = _SchemaDocument.model_validate(document)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise LineageError(f"{source or 'schema'}: {where}: {problem['msg']}") from None
    return SchemaMetadata(
        tables=tuple(_table_from_document(item, source) for item in found.tables),
        default_catalog=found.default_catalog or "",
        default_schema=found.default_schema or "",
        search_path=found.search_path,
        case_sensitivity=found.case_sensitivity,
        allow_implied=found.allow_implied,
    )


def _table_from_document(item: _DocumentTable, source: str) -> ImportedTable:
    above = tuple((part, False) for part in (item.catalog, item.table_schema) if part)
    columns = tuple(
        ImportedColumn(
            name=strip_quotes(column.name),
            type=column.type,
            nullable=column.nullable,
            description=column.description,
            tags=column.tags,
            generated=column.generated,
            quoted=column.name[:1] in OPENING_QUOTES,
        )
        for column in item.columns
    )
    return ImportedTable(
        (*above, *split_quoted_name(item.name)),
        columns,
        item.kind,
        partial=item.partial or not columns,
        description=item.description,
        tags=item.tags,
        owners=item.owners,
        source=source,
    )


def _table_from_mapping(name: str, columns: object, source: str) -> ImportedTable:
    """Return one table of a mapping; types follow the columns, or are left out."""
    match columns:
        case list() if all(isinstance(column, str) for column in columns):
            pairs = [(column, None) for column in columns]
        case Mapping() if all(isinstance(kind, str | None) for kind in columns.values()):
            pairs = [(str(column), kind) for column, kind in columns.items()]
        case _:
            raise LineageError(f"{source or 'schema'}: Expected the columns of {name}, got {type(columns).__name__}")
    rows = tuple(
        ImportedColumn(strip_quotes(column), kind, quoted=column[:1] in OPENING_QUOTES) for column, kind in pairs
    )
    return ImportedTable(split_quoted_name(name), rows, source=source)


def split_quoted_name(name: str) -> tuple[tuple[str, bool], ...]:
    """Return the parts of a dotted name, and whether each is quoted."""
    parts = NAME_PARTS.findall(name)
    if not parts:
        raise LineageError(f"{name!r} is not the name of a table")
    return tuple((strip_quotes(part), part[0] in OPENING_QUOTES) for part in parts)


def strip_quotes(part: str) -> str:
    """Return a part without its quotes."""
    return part[1:-1].replace('""', '"') if part[:1] and part[0] in OPENING_QUOTES else part


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
