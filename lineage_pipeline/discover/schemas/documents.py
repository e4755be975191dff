"""Schemas as plain documents, in JSON or YAML: a mapping of tables to columns, or tables one by one with hints."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from lineage_pipeline.discover.schemas.model import ImportedColumn, ImportedTable, SchemaMetadata
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import ObjectKind

PARTS = re.compile(r'"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`|[^.]+')
QUOTES = '"[`'


class _Section(BaseModel):
    """A part of the document; keys may be written in either case."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, populate_by_name=True)


def _named(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


class _Column(_Section):
    name: str
    type: str | None = Field(None, validation_alias=AliasChoices("type", "data_type", "dataType"))
    nullable: bool | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    generated: bool = False


class _Table(_Section):
    name: str
    catalog: str = ""
    table_schema: str = Field("", validation_alias=AliasChoices("schema", "table_schema"))
    columns: tuple[Annotated[_Column, BeforeValidator(_named)], ...] = ()
    kind: ObjectKind = ObjectKind.TABLE
    partial: bool = False
    description: str | None = None
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()


def _schema_name(value: object) -> object:
    """`{"catalog": …, "schema": …}` of a search path is the name of the schema."""
    return value.get("schema", "") if isinstance(value, Mapping) else value


class _Document(_Section):
    tables: tuple[_Table, ...]
    default_catalog: str | None = None
    default_schema: str | None = None
    search_path: tuple[Annotated[str, BeforeValidator(_schema_name)], ...] = ()
    case_sensitivity: str = "dialect"
    allow_implied: bool = True


def metadata_of(document: object, source: str = "") -> SchemaMetadata:
    """Give the tables of a document, and its hints."""
    if not isinstance(document, Mapping):
        raise LineageError(f"{source or 'schema'}: Expected tables by name, got {type(document).__name__}")
    tables = document.get("tables")
    if isinstance(tables, list) and all(isinstance(item, Mapping) for item in tables):
        return _listed(document, source)
    return SchemaMetadata(tuple(_mapped(str(name), columns, source) for name, columns in document.items()))


def _listed(document: Mapping[str, Any], source: str) -> SchemaMetadata:
    try:
        found = _Document.model_validate(document)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise LineageError(f"{source or 'schema'}: {where}: {problem['msg']}") from None
    return SchemaMetadata(
        tuple(_table(item, source) for item in found.tables),
        found.default_catalog or "",
        found.default_schema or "",
        found.search_path,
        found.case_sensitivity,
        found.allow_implied,
    )


def _table(item: _Table, source: str) -> ImportedTable:
    above = tuple((part, False) for part in (item.catalog, item.table_schema) if part)
    columns = tuple(
        ImportedColumn(
            bare(column.name),
            column.type,
            column.nullable,
            column.description,
            column.tags,
            column.generated,
            column.name[:1] in QUOTES,
        )
        for column in item.columns
    )
    return ImportedTable(
        (*above, *written_parts(item.name)),
        columns,
        item.kind,
        partial=item.partial or not columns,
        description=item.description,
        tags=item.tags,
        owners=item.owners,
        source=source,
    )


def _mapped(name: str, columns: object, source: str) -> ImportedTable:
    """Give one table of a mapping; types are written behind the columns, or left out."""
    match columns:
        case list() if all(isinstance(column, str) for column in columns):
            pairs = [(column, None) for column in columns]
        case Mapping() if all(isinstance(kind, str | None) for kind in columns.values()):
            pairs = [(str(column), kind) for column, kind in columns.items()]
        case _:
            raise LineageError(f"{source or 'schema'}: Expected the columns of {name}, got {type(columns).__name__}")
    rows = tuple(ImportedColumn(bare(column), kind, quoted=column[:1] in QUOTES) for column, kind in pairs)
    return ImportedTable(written_parts(name), rows, source=source)


def written_parts(name: str) -> tuple[tuple[str, bool], ...]:
    """Give the parts of a dotted name, and whether each stands in quotes."""
    parts = PARTS.findall(name)
    if not parts:
        raise LineageError(f"{name!r} is not the name of a table")
    return tuple((bare(part), part[0] in QUOTES) for part in parts)


def bare(part: str) -> str:
    """Take the quotes off."""
    return part[1:-1].replace('""', '"') if part[:1] and part[0] in QUOTES else part
