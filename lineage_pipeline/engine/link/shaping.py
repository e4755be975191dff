"""Between schemas and statements: the columns that a statement makes, and an object as the next statement sees it."""

from collections.abc import Sequence
from operator import attrgetter, eq

import msgspec

from lineage_pipeline.dialects.folding import Folding
from lineage_pipeline.engine.link.model import Input, InputColumn
from lineage_pipeline.engine.link.statement import Written
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import SchemaColumn, TableSchema
from lineage_pipeline.vocabulary.sets import Origin


def schema_columns(
    written: Written, declared: Sequence[ir.ColumnDef] = (), copied: bool = False
) -> tuple[SchemaColumn, ...]:
    """The columns of what a query defines; declared types beat those of the query, a copy of rows may get nulls."""
    types = {column.name: column for column in declared}
    columns = []
    for name, out in written.columns:
        given = types.get(name)
        shown = given.written if given is not None else out.written if out.name == name and out.written else name
        kind = given.type if given is not None and given.type else out.value.type
        nullable = out.value.nullable or copied if given is None or given.nullable is None else given.nullable
        comment, tags = (given.comment or None, given.tags) if given is not None else (None, ())
        columns.append(SchemaColumn(name, shown, kind, nullable, out.approximate, comment, tags=tags))
    return tuple(columns)


def input_of(schema: TableSchema, temporary: bool = False) -> Input:
    """An object as a statement that reads it sees it."""
    columns = tuple(
        InputColumn(
            column.name,
            column.written,
            column.type,
            column.nullable,
            None,
            column.approximate,
            column.generated,
            added=column.path is not None,
        )
        for column in schema.columns
    )
    parameters = tuple(parameter.name for parameter in schema.parameters)
    vague = schema.disputed or (schema.open and schema.origin is not Origin.IMPLIED and not temporary)
    return Input(
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
        results=schema.results,
    )


STORED = frozenset({Folding.LOWER, Folding.UPPER})
"""Ways of folding after which nothing is left of how a name was written."""


def stored(columns: tuple[SchemaColumn, ...]) -> tuple[SchemaColumn, ...]:
    """The columns under the names that the engine keeps and shows."""
    if all(map(eq, map(attrgetter("written"), columns), map(attrgetter("name"), columns))):
        return columns
    return tuple(
        column if column.written == column.name else msgspec.structs.replace(column, written=column.name)
        for column in columns
    )
