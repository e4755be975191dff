"""Tables as their own place calls them → schemas by the ids that the analysis uses; what falls together is said."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.folding import fold
from lineage_pipeline.dialects.traits import GENERIC, Traits, traits_of
from lineage_pipeline.discover.gather import finding
from lineage_pipeline.discover.schemas.documents import metadata_of
from lineage_pipeline.discover.schemas.model import ImportedColumn, ImportedTable, Imports, SchemaGiven, SchemaMetadata
from lineage_pipeline.engine.compile.types import written_type
from lineage_pipeline.engine.graph.names import namespace
from lineage_pipeline.vocabulary.analysis import Options, SchemaColumn, TableSchema
from lineage_pipeline.vocabulary.sets import Origin
from lineage_pipeline.vocabulary.tables import Constraint, Diagnostic


def imported_schemas(given: SchemaGiven, options: Options) -> dict[str, TableSchema]:
    """Give the schemas of a mapping or a document by object id."""
    return dict(fold_tables(schema_metadata(given).tables, options).schemas)


def schema_metadata(given: SchemaGiven) -> SchemaMetadata:
    """Give what somebody hands over as tables and hints."""
    return given if isinstance(given, SchemaMetadata) else metadata_of(given)


def fold_tables(tables: Iterable[ImportedTable], options: Options) -> Imports:
    """Give the schemas by object id, names folded and completed as in a statement of the same dialect.

    Of two tables of one source with the same name the first counts; what another source adds fills gaps.
    """
    traits, space = traits_of(options.dialect, options.case_sensitivity) or GENERIC, namespace(options)
    schemas: dict[str, TableSchema] = {}
    first: dict[tuple[str, str], str] = {}
    findings: list[Diagnostic] = []
    for table in tables:
        parts = tuple(fold(part, quoted, traits.tables) for part, quoted in table.parts)
        identity = space.id(space.complete(parts))
        other = first.setdefault((identity, table.source), table.written)
        if identity not in schemas:
            schemas[identity] = _schema(identity, table, traits, findings)
        elif schemas[identity].source != table.source:
            schemas[identity] = _filled(schemas[identity], _schema(identity, table, traits, findings))
        else:
            findings.append(_repeated(table.source, table.written, other, identity))
    return Imports(schemas, tuple(findings))


def _repeated(source: str, name: str, first: str, meaning: str) -> Diagnostic:
    return finding("DUPLICATE_IMPORT", source or None, name=name, first=first, meaning=meaning)


def _schema(identity: str, table: ImportedTable, traits: Traits, findings: list[Diagnostic]) -> TableSchema:
    columns: dict[str, SchemaColumn] = {}
    for column in table.columns:
        name = fold(column.name, column.quoted, traits.columns)
        if name in columns:
            again, first = (f"{table.written}.{item}" for item in (column.name, columns[name].written))
            findings.append(_repeated(table.source, again, first, f"{identity}.{name}"))
        else:
            columns[name] = _column(name, column, traits)
    return TableSchema(
        identity,
        table.kind,
        Origin.IMPORTED,
        tuple(columns.values()),
        table.partial,
        description=table.description,
        tags=table.tags,
        owners=table.owners,
        source=table.source,
        yields=table.yields,
        constraints=tuple(_constraint(item, columns, traits) for item in table.constraints),
    )


def _constraint(item: Constraint, columns: Mapping[str, SchemaColumn], traits: Traits) -> Constraint:
    """Give a constraint with the names of columns as they are compared; those of DDL are that already."""
    named = (name if name in columns else fold(name, quoted=False, folding=traits.columns) for name in item.columns)
    return msgspec.structs.replace(item, columns=tuple(named))


def _column(name: str, column: ImportedColumn, traits: Traits) -> SchemaColumn:
    return SchemaColumn(
        name,
        column.name,
        written_type(column.type, traits.name) or None if column.type else None,
        column.nullable is not False,
        description=column.description,
        generated=column.generated,
        tags=column.tags,
        unsaid=column.nullable is None,
    )


def _filled(known: TableSchema, more: TableSchema) -> TableSchema:
    """Give a schema with what another source knows beyond it.

    The whole list of columns beats a part of it; what stands only in the second of two whole lists is put behind.
    """
    whole, other = (more, known) if known.open and not more.open else (known, more)
    named = {column.name: column for column in other.columns}
    columns = [_joined(column, named.pop(column.name, None)) for column in whole.columns]
    return msgspec.structs.replace(
        known,
        columns=(*columns, *(named.values() if whole.open or not other.open else ())),
        open=whole.open and other.open,
        description=known.description or more.description,
        tags=_both(known.tags, more.tags),
        owners=known.owners or more.owners,
        source=whole.source,
        constraints=tuple({item.id: item for item in (*more.constraints, *known.constraints)}.values()),
    )


def _joined(column: SchemaColumn, other: SchemaColumn | None) -> SchemaColumn:
    if other is None:
        return column
    return msgspec.structs.replace(
        column,
        type=column.type or other.type,
        nullable=other.nullable if column.unsaid else column.nullable,
        unsaid=column.unsaid and other.unsaid,
        description=column.description or other.description,
        tags=_both(column.tags, other.tags),
    )


def _both(one: Sequence[str], two: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({*one, *two}))
