"""Imported and implied: an imported schema wins, definitions fill its gaps, and where the two differ that is said."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.typing.sameness import alike
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import Conflict, SchemaColumn, TableSchema
from lineage_pipeline.vocabulary.codes import diagnose
from lineage_pipeline.vocabulary.places import Text
from lineage_pipeline.vocabulary.plan import Event
from lineage_pipeline.vocabulary.sets import Origin, Stage
from lineage_pipeline.vocabulary.tables import Diagnostic


class Definition(msgspec.Struct, frozen=True):
    """What statements make of an object: its columns, the last of them, and whether it declares all it says.

    An `open` one may have more columns than are known.
    """

    columns: tuple[SchemaColumn, ...]
    event: Event
    declares: bool
    family: str
    open: bool = False


def reconciled(imported: TableSchema, made: Definition) -> TableSchema:
    """The imported schema with what only the definition knows, and the differences between the two."""
    given = {column.name: column for column in imported.columns}
    defined = {column.name: column for column in made.columns}
    if imported.yields:
        own = tuple(_described(_implied(column, made.event), given.get(column.name)) for column in made.columns)
        return msgspec.structs.replace(imported, columns=own, open=made.open)
    columns = [_filled(column, defined.get(column.name)) for column in imported.columns]
    if imported.open:  # only a part is imported: the definition has the rest, and the order
        known = {column.name: column for column in columns}
        rest = [column for column in columns if column.name not in defined]
        columns = [*(known.get(column.name) or _implied(column, made.event) for column in made.columns), *rest]
    conflicts = tuple(
        Conflict(made.event.path, made.event.ordinal, text, column) for text, column in _differences(imported, made)
    )
    disputed = bool(given.keys() - defined.keys()) if imported.open else [*given] != [*defined]
    return msgspec.structs.replace(
        imported,
        columns=tuple(columns),
        open=imported.open and made.open,
        conflicts=conflicts,
        disputed=disputed,
    )


def _described(column: SchemaColumn, given: SchemaColumn | None) -> SchemaColumn:
    """A column of the definition with what an import says of it for people."""
    if given is None:
        return column
    tags = tuple(sorted({*column.tags, *given.tags}))
    return msgspec.structs.replace(column, description=given.description or column.description, tags=tags)


def _implied(column: SchemaColumn, event: Event) -> SchemaColumn:
    """A column that only the definition knows."""
    path, statement = column.path or event.path, event.ordinal if column.statement is None else column.statement
    return msgspec.structs.replace(column, origin=Origin.IMPLIED, path=path, statement=statement)


def _filled(column: SchemaColumn, defined: SchemaColumn | None) -> SchemaColumn:
    if defined is None:
        return column
    return msgspec.structs.replace(
        column,
        type=column.type or defined.type,
        nullable=defined.nullable if column.unsaid else column.nullable,
        unsaid=False,
        description=column.description or defined.description,
        generated=column.generated or defined.generated,
        tags=tuple(sorted({*column.tags, *defined.tags})),
    )


def _place(imported: TableSchema) -> str:
    return imported.source or "the import"


def _differences(imported: TableSchema, made: Definition) -> Iterator[tuple[str, str]]:
    """What differs, in words, each with the column of the definition that it is about."""
    given = {column.name: column for column in imported.columns}
    defined = {column.name: column for column in made.columns}
    place = _place(imported)
    for name, column in defined.items():
        known = given.get(name)
        if known is None:
            if not imported.open:
                yield f"{place} has no column {name}", name
            continue
        if known.type and column.type and not alike(known.type, column.type, made.family):
            yield f"{name} is {known.type} in {place} and {column.type} here", name
        if made.declares and column.nullable and not known.nullable:
            yield f"{name} is never null in {place} and may be null here", name
        if made.declares and known.nullable and not known.unsaid and not column.nullable:
            yield f"{name} may be null in {place} and is never null here", name
    for name in given:
        if name not in defined:
            yield f"{place} has column {name}, which is not defined here", ""
    if not imported.open and given.keys() == defined.keys() and [*given] != [*defined]:
        yield f"the order of the columns in {place} is {', '.join(given)}", ""


def conflict_rows(text: Text, script: ir.Script, schemas: Mapping[str, TableSchema]) -> Iterator[Diagnostic]:
    """The findings of one file about the objects that it names: each stands at the column, or at the name."""
    for name, schema in sorted(schemas.items()):
        for conflict in schema.conflicts:
            if conflict.path == text.path:
                placed = script.statements[conflict.statement]
                offset = placed.start + _offset(placed.statement, conflict.column)
                values = {"name": name, "difference": conflict.difference}
                yield diagnose("SCHEMA_CONFLICT", values, text, offset, Stage.SCHEMA_REGISTRY, name)


def _offset(statement: ir.Statement, column: str) -> int:
    """Where a statement declares a column, or names what it defines."""
    definition = statement.definition
    listed: Sequence[ir.ColumnDef] = definition.columns if definition is not None else ()
    altered = [item.definition for item in statement.alterations if item.definition is not None]
    starts = [item.start for item in (*listed, *altered) if item.name == column and item.start >= 0]
    names = [item.name.start for item in (definition, *statement.alterations) if item is not None]
    return next((start for start in (*starts, *names) if start >= 0), 0)
