"""Imported tables → schemas by the object ids of the analysis; tables whose names collide are reported."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.identifier_folding import fold_identifier
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.discover.discovery import build_file_finding
from lineage_pipeline.discover.schemas.imported_tables import ImportedColumn, ImportedTable, SchemaInput, SchemaMetadata
from lineage_pipeline.discover.schemas.schema_documents import parse_schema_document
from lineage_pipeline.engine.compile.expressions.data_types import parse_type
from lineage_pipeline.engine.graph.namespace import build_namespace
from lineage_pipeline.model.analysis import Options, SchemaColumn, SchemaImports, TableSchema
from lineage_pipeline.model.enums import Origin
from lineage_pipeline.model.tables import Constraint, Diagnostic


def parse_schema_input(given: SchemaInput) -> SchemaMetadata:
    """Return schemas given by the caller as tables and hints."""
    return given if isinstance(given, SchemaMetadata) else parse_schema_document(given)


def normalize_tables(tables: Iterable[ImportedTable], options: Options) -> SchemaImports:
    """Return the schemas by object id, names folded and completed as in a statement of the same dialect.

    Of two tables of one source with the same name the first counts; other sources fill its gaps.
    """
    traits, space = find_traits(options.dialect, options.case_sensitivity) or GENERIC, build_namespace(options)
    schemas: dict[str, TableSchema] = {}
    first: dict[tuple[str, str], str] = {}
    findings: list[Diagnostic] = []
    for table in tables:
        parts = tuple(fold_identifier(part, quoted, traits.tables) for part, quoted in table.parts)
        identity = space.id(space.complete(parts))
        other = first.setdefault((identity, table.source), table.display_name)
        if identity not in schemas:
            schemas[identity] = _normalize_table(identity, table, traits, findings)
        elif schemas[identity].source != table.source:
            schemas[identity] = _fill_schema(schemas[identity], _normalize_table(identity, table, traits, findings))
        else:
            findings.append(_duplicate_finding(table.source, table.display_name, other, identity))
    return SchemaImports(schemas, tuple(findings))


def _duplicate_finding(source: str, name: str, first: str, meaning: str) -> Diagnostic:
    return build_file_finding("DUPLICATE_IMPORT", source or None, name=name, first=first, meaning=meaning)


def _normalize_table(
    identity: str, table: ImportedTable, traits: DialectTraits, findings: list[Diagnostic]
) -> TableSchema:
    columns: dict[str, SchemaColumn] = {}
    for column in table.columns:
        name = fold_identifier(column.name, column.quoted, traits.columns)
        if name in columns:
            again, first = (f"{table.display_name}.{item}" for item in (column.name, columns[name].written))
            findings.append(_duplicate_finding(table.source, again, first, f"{identity}.{name}"))
        else:
            columns[name] = _normalize_column(name, column, traits)
    return TableSchema(
        object=identity,
        kind=table.kind,
        origin=Origin.IMPORTED,
        columns=tuple(columns.values()),
        open=table.partial,
        description=table.description,
        tags=table.tags,
        owners=table.owners,
        source=table.source,
        yields=table.yields,
        constraints=tuple(_normalize_constraint(item, columns, traits) for item in table.constraints),
    )


def _normalize_constraint(item: Constraint, columns: Mapping[str, SchemaColumn], traits: DialectTraits) -> Constraint:
    """Return a constraint with folded column names; those of DDL are folded already."""
    named = (
        name if name in columns else fold_identifier(name, quoted=False, folding=traits.columns)
        for name in item.columns
    )
    return msgspec.structs.replace(item, columns=tuple(named))


def _normalize_column(name: str, column: ImportedColumn, traits: DialectTraits) -> SchemaColumn:
    return SchemaColumn(
        name,
        column.name,
        parse_type(column.type, traits.name) or None if column.type else None,
        column.nullable is not False,
        description=column.description,
        generated=column.generated,
        tags=column.tags,
        unsaid=column.nullable is None,
    )


def _fill_schema(known: TableSchema, more: TableSchema) -> TableSchema:
    """Return a schema completed by another source.

    A complete column list wins over a partial one; columns only in the second of two complete lists are appended.
    """
    whole, other = (more, known) if known.open and not more.open else (known, more)
    named = {column.name: column for column in other.columns}
    columns = [_fill_column(column, named.pop(column.name, None)) for column in whole.columns]
    return msgspec.structs.replace(
        known,
        columns=(*columns, *(named.values() if whole.open or not other.open else ())),
        open=whole.open and other.open,
        description=known.description or more.description,
        tags=_union_sorted(known.tags, more.tags),
        owners=known.owners or more.owners,
        source=whole.source,
        constraints=tuple({item.id: item for item in (*more.constraints, *known.constraints)}.values()),
    )


def _fill_column(column: SchemaColumn, other: SchemaColumn | None) -> SchemaColumn:
    if other is None:
        return column
    return msgspec.structs.replace(
        column,
        type=column.type or other.type,
        nullable=other.nullable if column.unsaid else column.nullable,
        unsaid=column.unsaid and other.unsaid,
        description=column.description or other.description,
        tags=_union_sorted(column.tags, other.tags),
    )


def _union_sorted(one: Sequence[str], two: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({*one, *two}))
