"""Table schemas: columns from queries, column lists, ALTER TABLE and imports, and how they are reconciled."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, eq

import msgspec

from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.types.coercion import compatible_type
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.engine.link.model import InputColumn, TableInput
from lineage_pipeline.engine.link.statement import WriteResult
from lineage_pipeline.engine.link.variables import parameter_column_name
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import SchemaColumn, SchemaConflict, TableSchema
from lineage_pipeline.model.enums import Origin, Stage
from lineage_pipeline.model.findings import build_diagnostic
from lineage_pipeline.model.plan import ObjectEvent
from lineage_pipeline.model.source_map import SourceText
from lineage_pipeline.model.tables import Diagnostic


def build_schema_columns(
    written: WriteResult, declared: Sequence[ir.ColumnDef] = (), copied: bool = False
) -> tuple[SchemaColumn, ...]:
    """The columns of what a query defines; declared types win over those of the query, a copy may hold NULLs."""
    types = {column.name: column for column in declared}
    columns = []
    for name, out in written.columns:
        given = types.get(name)
        shown = given.written if given is not None else out.written if out.name == name and out.written else name
        kind = given.type if given is not None and given.type else out.value.type
        nullable = out.value.nullable or copied if given is None or given.nullable is None else given.nullable
        comment, tags = (given.comment or None, given.tags) if given is not None else (None, ())
        columns.append(
            SchemaColumn(
                name=name,
                written=shown,
                type=kind,
                nullable=nullable,
                approximate=out.approximate,
                description=comment,
                tags=tags,
            )
        )
    return tuple(columns)


def build_table_input(schema: TableSchema, temporary: bool = False) -> TableInput:
    """A schema as the input of a statement that reads the object."""
    columns = tuple(
        InputColumn(
            name=column.name,
            written=column.written,
            type=column.type,
            nullable=column.nullable,
            flows=None,
            approximate=column.approximate,
            generated=column.generated,
            added=column.path is not None,
            key=column.key,
        )
        for column in schema.columns
    )
    parameters = tuple(parameter.name for parameter in schema.parameters)
    vague = schema.disputed or (schema.open and schema.origin is not Origin.IMPLIED and not temporary)
    return TableInput(
        schema.object,
        columns,
        schema.open,
        temporary,
        parameters=parameters,
        disputed=vague,
        renamed=schema.renamed,
        outputs=tuple(parameter.name for parameter in schema.parameters if parameter.output),
        receives=tuple(parameter.name for parameter in schema.parameters if not parameter.generated),
        guessed=schema.origin is Origin.INFERRED,
        imported=schema.origin is Origin.IMPORTED,
        results=schema.results,
    )


CASELESS_FOLDINGS = frozenset({IdentifierFolding.LOWER, IdentifierFolding.UPPER})
"""Foldings after which the written letter case of a name is lost."""


_KEYS = frozenset({"primary key", "unique"})
"""Constraints whose columns no two rows share."""


def fold_written_names(columns: tuple[SchemaColumn, ...]) -> tuple[SchemaColumn, ...]:
    """The columns under the names that the engine stores and shows."""
    if all(map(eq, map(attrgetter("written"), columns), map(attrgetter("name"), columns))):
        return columns
    return tuple(
        column if column.written == column.name else msgspec.structs.replace(column, written=column.name)
        for column in columns
    )


def alter_columns(columns: tuple[SchemaColumn, ...], alterations: Iterable[ir.Alteration]) -> tuple[SchemaColumn, ...]:
    """The columns after an ALTER TABLE."""
    result = list(columns)
    for item in alterations:
        change = item.definition
        position = _find_position(result, item.column)
        if item.constraint is not None and item.constraint.kind in _KEYS:
            keys, primary = item.constraint.columns, item.constraint.kind == "primary key"
            result = [
                msgspec.structs.replace(one, nullable=one.nullable and not primary, key=True)
                if one.name in keys
                else one
                for one in result
            ]
        elif item.action == "add" and change is not None and position is None:
            generated = change.identity or change.computed is not None
            nullable = change.nullable is not False
            result.insert(
                _added_column_position(result),
                SchemaColumn(change.name, change.written, change.type or None, nullable, generated=generated),
            )
        elif item.action == "clear":
            result = [column for column in result if column.partition]
        elif position is None:
            continue
        elif item.action == "drop":
            del result[position]
        elif item.action == "widen":  # the struct has a further member: its type is none that was written
            result[position] = msgspec.structs.replace(result[position], type=None)
        elif item.action in ("first", "after"):
            result = _move_column(result, position, change)
        elif change is not None:
            result[position] = _alter_column(result[position], item.action, change)
    return tuple(result)


def collect_final_names(alterations: Iterable[ir.Alteration]) -> tuple[tuple[str, str], ...]:
    """The final names of columns by their earlier ones; a dropped column keeps its name."""
    names: dict[str, str] = {}
    for item in alterations:
        if item.action == "rename" and item.definition is not None:
            before = [old for old, new in names.items() if new == item.column] or [item.column]
            names[before[0]] = item.definition.name
        elif item.action == "drop":
            names.setdefault(item.column, item.column)
    return tuple(sorted(names.items()))


def _alter_column(column: SchemaColumn, action: str, change: ir.ColumnDef) -> SchemaColumn:
    """A column after an alteration of this column alone."""
    match action:
        case "comment":
            return msgspec.structs.replace(column, description=change.comment or None)
        case "tag":
            return msgspec.structs.replace(column, tags=tuple(sorted({*column.tags, *change.tags})))
        case "untag":
            left = tuple(tag for tag in column.tags if tag.partition("=")[0] not in change.tags)
            return msgspec.structs.replace(column, tags=left)
        case "rename":
            return msgspec.structs.replace(column, name=change.name, written=change.written)
        case "retype":
            nullable = column.nullable if change.nullable is None else change.nullable
            return msgspec.structs.replace(column, type=change.type or column.type, nullable=nullable)
    return column


def _move_column(columns: list[SchemaColumn], position: int, anchor: ir.ColumnDef | None) -> list[SchemaColumn]:
    """The columns with one of them moved to the front, or behind another."""
    rest = [*columns[:position], *columns[position + 1 :]]
    behind = _find_position(rest, anchor.name) if anchor is not None else -1
    return columns if behind is None else [*rest[: behind + 1], columns[position], *rest[behind + 1 :]]


def _added_column_position(columns: list[SchemaColumn]) -> int:
    """The position of an added column: before the partition columns, behind all others."""
    at = len(columns)
    while at and columns[at - 1].partition:
        at -= 1
    return at


def _find_position(columns: list[SchemaColumn], name: str) -> int | None:
    names = list(map(_GET_NAME, columns))  # a table may be altered thousands of times: a loop in Python would be felt
    return names.index(name) if name in names else None


_GET_NAME = attrgetter("name")


def list_declared_columns(definition: ir.Definition) -> tuple[SchemaColumn, ...]:
    """The columns that a CREATE TABLE lists; primary key columns are not nullable."""
    primary = {column for item in definition.constraints if item.kind == "primary key" for column in item.columns}
    keys = {column for item in definition.constraints if item.kind in _KEYS for column in item.columns}
    return tuple(
        SchemaColumn(
            column.name,
            column.written,
            column.type or None,
            column.name not in primary and column.nullable is not False,
            description=column.comment or None,
            generated=column.identity or column.computed is not None,
            partition=column.partition,
            tags=column.tags,
            key=column.name in keys,
        )
        for column in definition.columns
    )


def list_declared_constraints(definition: ir.Definition) -> tuple[ir.ConstraintDef, ...]:
    """The constraints that a definition declares."""
    defaults = (_default_constraint(item) for item in definition.parameters if item.default)
    return (*definition.constraints, *_generated_constraints(definition.columns), *defaults)


def _generated_constraints(columns: Sequence[ir.ColumnDef]) -> Iterator[ir.ConstraintDef]:
    """Constraints for identity and computed columns, which take no value from a writer."""
    for column in columns:
        if column.identity or column.computed is not None:
            yield ir.ConstraintDef("generated", "", (column.name,), "identity" if column.identity else "computed")


def _default_constraint(parameter: ir.ColumnDef) -> ir.ConstraintDef:
    """The constraint for the default of a parameter."""
    return ir.ConstraintDef("default", "", (parameter_column_name(parameter.name),), parameter.default)


class DefinedSchema(msgspec.Struct, frozen=True):
    """What statements define for an object: its columns, the last event, and whether it declares its columns.

    An `open` one may have more columns than are known.
    """

    columns: tuple[SchemaColumn, ...]
    event: ObjectEvent
    declares: bool
    family: TypeFamily
    open: bool = False


def reconcile_schema(imported: TableSchema, made: DefinedSchema) -> TableSchema:
    """The imported schema completed with what only the definition knows, and the conflicts between the two."""
    given = {column.name: column for column in imported.columns}
    defined = {column.name: column for column in made.columns}
    if imported.yields:
        own = tuple(
            _with_imported_description(_mark_implied(column, made.event), given.get(column.name))
            for column in made.columns
        )
        return msgspec.structs.replace(imported, columns=own, open=made.open)
    columns = [_fill_imported_column(column, defined.get(column.name)) for column in imported.columns]
    if imported.open:  # only a part is imported: the definition has the rest, and the order
        known = {column.name: column for column in columns}
        rest = [column for column in columns if column.name not in defined]
        columns = [*(known.get(column.name) or _mark_implied(column, made.event) for column in made.columns), *rest]
    conflicts = tuple(
        SchemaConflict(made.event.path, made.event.ordinal, text, column)
        for text, column in _iter_differences(imported, made)
    )
    disputed = bool(given.keys() - defined.keys()) if imported.open else [*given] != [*defined]
    return msgspec.structs.replace(
        imported,
        columns=tuple(columns),
        open=imported.open and made.open,
        conflicts=conflicts,
        disputed=disputed,
    )


def _with_imported_description(column: SchemaColumn, given: SchemaColumn | None) -> SchemaColumn:
    """A column of the definition with the description and tags of the imported one."""
    if given is None:
        return column
    tags = tuple(sorted({*column.tags, *given.tags}))
    return msgspec.structs.replace(column, description=given.description or column.description, tags=tags)


def _mark_implied(column: SchemaColumn, event: ObjectEvent) -> SchemaColumn:
    """A column that only the definition knows."""
    path, statement = column.path or event.path, event.ordinal if column.statement is None else column.statement
    return msgspec.structs.replace(column, origin=Origin.IMPLIED, path=path, statement=statement)


def _fill_imported_column(column: SchemaColumn, defined: SchemaColumn | None) -> SchemaColumn:
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


def _import_name(imported: TableSchema) -> str:
    return imported.source or "the import"


def _iter_differences(imported: TableSchema, made: DefinedSchema) -> Iterator[tuple[str, str]]:
    """The differences as texts, each with the column of the definition it is about."""
    given = {column.name: column for column in imported.columns}
    defined = {column.name: column for column in made.columns}
    place = _import_name(imported)
    for name, column in defined.items():
        known = given.get(name)
        if known is None:
            if not imported.open:
                yield f"{place} has no column {name}", name
            continue
        if known.type and column.type and not compatible_type(known.type, column.type, made.family):
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


def build_conflict_rows(
    text: SourceText, script: ir.Script, schemas: Mapping[str, TableSchema]
) -> Iterator[Diagnostic]:
    """The schema-conflict findings of one file, at the column or at the name of the object."""
    for name, schema in sorted(schemas.items()):
        for conflict in schema.conflicts:
            if conflict.path == text.path:
                placed = script.statements[conflict.statement]
                offset = placed.start + _declaration_offset(placed.statement, conflict.column)
                values = {"name": name, "difference": conflict.difference}
                yield build_diagnostic("SCHEMA_CONFLICT", values, text, offset, Stage.SCHEMA_REGISTRY, name)


def _declaration_offset(statement: ir.Statement, column: str) -> int:
    """The offset at which a statement declares a column, or names the object it defines."""
    definition = statement.definition
    listed: Sequence[ir.ColumnDef] = definition.columns if definition is not None else ()
    altered = [item.definition for item in statement.alterations if item.definition is not None]
    starts = [item.start for item in (*listed, *altered) if item.name == column and item.start >= 0]
    names = [item.name.start for item in (definition, *statement.alterations) if item is not None]
    return next((start for start in (*starts, *names) if start >= 0), 0)
