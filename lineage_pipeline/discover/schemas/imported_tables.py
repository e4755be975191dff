"""What every schema reader returns: tables under the names of their source."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.enums import ObjectKind
from lineage_pipeline.model.tables import Constraint, Diagnostic


class ImportedColumn(msgspec.Struct, frozen=True):
    """A column; unknown properties are None, `quoted` keeps the case of its name."""

    name: str
    type: str | None = None
    nullable: bool | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    generated: bool = False
    quoted: bool = False


class ImportedTable(msgspec.Struct, frozen=True):
    """A table or view: name parts, each with whether it is quoted, and its columns in order.

    A `partial` one may have further columns; `source` is where it was read. One that `yields` never contradicts a
    definition. Its constraints have no object yet.
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
    def display_name(self) -> str:
        """Return the name as a person would write it."""
        return ".".join(f'"{part}"' if quoted and not part.isidentifier() else part for part, quoted in self.parts)


class SchemaMetadata(msgspec.Struct, frozen=True):
    """Tables, default hints for completing and comparing names, and findings."""

    tables: tuple[ImportedTable, ...] = ()
    default_catalog: str = ""
    default_schema: str = ""
    search_path: tuple[str, ...] = ()
    case_sensitivity: str = "dialect"
    allow_implied: bool = True
    findings: tuple[Diagnostic, ...] = ()


SchemaMapping: TypeAlias = Mapping[str, Mapping[str, str | None] | list[str]]
"""`{"schema.table": {"column": "type"} | ["column", …]}`."""

SchemaInput: TypeAlias = SchemaMapping | SchemaMetadata | Mapping[str, Any]
"""A mapping, the document of `docs/schemas.md`, or what was read from one."""


def apply_hints(options: Options, metadata: SchemaMetadata) -> Options:
    """Return the options with gaps filled by the hints of a schema."""
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
