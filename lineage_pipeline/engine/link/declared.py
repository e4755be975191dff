"""Declarations: the columns and constraints that a definition lists itself."""

from collections.abc import Iterator, Sequence

from lineage_pipeline.engine.link.variables import parameter_node
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import SchemaColumn


def declared(definition: ir.Definition) -> tuple[SchemaColumn, ...]:
    """The columns that a CREATE TABLE lists; key columns are never null."""
    keys = {column for item in definition.constraints if item.kind == "primary key" for column in item.columns}
    return tuple(
        SchemaColumn(
            column.name,
            column.written,
            column.type or None,
            column.name not in keys and column.nullable is not False,
            description=column.comment or None,
            generated=column.identity or column.computed is not None,
            partition=column.partition,
            tags=column.tags,
        )
        for column in definition.columns
    )


def constraints_of(definition: ir.Definition) -> tuple[ir.ConstraintDef, ...]:
    """The constraints that a definition declares."""
    defaults = (_default(item) for item in definition.parameters if item.default)
    return (*definition.constraints, *_generated(definition.columns), *defaults)


def _generated(columns: Sequence[ir.ColumnDef]) -> Iterator[ir.ConstraintDef]:
    """The columns that take no value from a writer."""
    for column in columns:
        if column.identity or column.computed is not None:
            yield ir.ConstraintDef("generated", "", (column.name,), "identity" if column.identity else "computed")


def _default(parameter: ir.ColumnDef) -> ir.ConstraintDef:
    """What a caller need not say."""
    return ir.ConstraintDef("default", "", (parameter_node(parameter.name),), parameter.default)
