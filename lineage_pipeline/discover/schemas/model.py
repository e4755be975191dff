"""What every reader of schemas gives: tables as their own place calls them."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from lineage_pipeline.vocabulary.analysis import Options, TableSchema
from lineage_pipeline.vocabulary.sets import ObjectKind
from lineage_pipeline.vocabulary.tables import Constraint, Diagnostic

SECRETS = ("PGPASSWORD", "LINEAGE_CATALOG_PASSWORD", "DATABRICKS_TOKEN")
"""The variables of the environment that catalogs take secrets from; no file and no address holds one."""


class ImportedColumn(msgspec.Struct, frozen=True):
    """A column; what nobody says of it is None, `quoted` keeps the case of its name."""

    name: str
    type: str | None = None
    nullable: bool | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    generated: bool = False
    quoted: bool = False


class ImportedTable(msgspec.Struct, frozen=True):
    """A table or view: the parts of its name with whether quotes keep their case, and its columns in order.

    A `partial` one may have further columns; `source` says where it was read. One that `yields` says nothing against a
    definition. Its constraints name no object yet.
    """

    parts: tuple[tuple[str, bool], ...]
    columns: tuple[ImportedColumn, ...]
    kind: ObjectKind = ObjectKind.TABLE
    partial: bool = False
    description: str | None = None
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    source: str = ""
    yields: bool = False
    constraints: tuple[Constraint, ...] = ()

    @property
    def written(self) -> str:
        """Give the name as a person would write it."""
        return ".".join(f'"{part}"' if quoted and not part.isidentifier() else part for part, quoted in self.parts)


class Imports(msgspec.Struct, frozen=True):
    """Imported schemas by object, and what is wrong with them."""

    schemas: Mapping[str, TableSchema] = {}
    findings: tuple[Diagnostic, ...] = ()


class SchemaMetadata(msgspec.Struct, frozen=True):
    """Tables, hints on how names are completed and compared where nobody says otherwise, and what could not be read."""

    tables: tuple[ImportedTable, ...] = ()
    default_catalog: str = ""
    default_schema: str = ""
    search_path: tuple[str, ...] = ()
    case_sensitivity: str = "dialect"
    allow_implied: bool = True
    findings: tuple[Diagnostic, ...] = ()


SchemaMapping: TypeAlias = Mapping[str, Mapping[str, str | None] | list[str]]
"""`{"schema.table": {"column": "type"} | ["column", …]}`."""

SchemaGiven: TypeAlias = SchemaMapping | SchemaMetadata | Mapping[str, Any]
"""A mapping, the document of `docs/schemas.md`, or what was read from one."""


def with_hints(options: Options, metadata: SchemaMetadata) -> Options:
    """Give options in which the hints of a schema fill what nobody has said."""
    return msgspec.structs.replace(
        options,
        default_catalog=options.default_catalog or metadata.default_catalog,
        default_schema=options.default_schema or metadata.default_schema,
        search_path=options.search_path or metadata.search_path,
        case_sensitivity=metadata.case_sensitivity
        if options.case_sensitivity == "dialect"
        else options.case_sensitivity,
        allow_implied=options.allow_implied and metadata.allow_implied,
    )
