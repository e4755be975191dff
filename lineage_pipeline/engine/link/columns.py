"""The registry's rows: columns and constraints of every object."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.alterations import ENDINGS
from lineage_pipeline.dialects.folding import fits
from lineage_pipeline.engine.link.declared import constraints_of
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import TableSchema
from lineage_pipeline.vocabulary.plan import Known
from lineage_pipeline.vocabulary.sets import Origin
from lineage_pipeline.vocabulary.tables import Column, Constraint


def column_rows(schemas: Mapping[str, TableSchema], objects: Mapping[str, Known]) -> Iterator[Column]:
    """The columns that definitions and imports give."""
    for name, schema in sorted(schemas.items()):
        shapers = objects[name].shapers
        first = (shapers[0].path, shapers[0].ordinal) if shapers else (None, None)
        labels = objects[name].labels
        usual = Origin.INFERRED if schema.origin is Origin.UNKNOWN else schema.origin
        for ordinal, column in enumerate((*schema.columns, *schema.parameters), 1):
            origin = column.origin or usual
            source = (column.path, column.statement) if column.path is not None else first
            yield Column(
                object=name,
                ordinal=ordinal,
                name=column.name,
                written=column.written,
                type=column.type,
                nullable=column.nullable,
                origin=origin,
                approximate=column.approximate,
                path=source[0] if origin is not Origin.IMPORTED else None,
                statement=source[1] if origin is not Origin.IMPORTED else None,
                tags=tags_of(column.name, column.tags, labels) if labels else column.tags,
                description=column.description,
            )


def tags_of(name: str, own: Sequence[str], labels: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    """The tags of a column: its own, and those of the patterns that its name fits."""
    return tuple(sorted({*own, *(tag for pattern, tags in labels if fits(name, pattern) for tag in tags)}))


def inferred_rows(
    requests: set[tuple[str, str]], schemas: Mapping[str, TableSchema], objects: Mapping[str, Known]
) -> Iterator[Column]:
    """The columns that are known only because somebody reads them, numbered by name behind the known ones."""
    grouped: dict[str, list[str]] = {}
    for name, column in sorted(requests):
        grouped.setdefault(name, []).append(column)
    for name, columns in grouped.items():
        known = schemas[name]
        for ordinal, column in enumerate(columns, len(known.columns) + len(known.parameters) + 1):
            tags = tags_of(column, (), objects[name].labels) if objects[name].labels else ()
            yield Column(name, ordinal, column, column, None, True, Origin.INFERRED, True, None, None, tags, None)


def constraint_rows(
    objects: Mapping[str, Known], scripts: Mapping[str, ir.Script], imported: Mapping[str, TableSchema] | None = None
) -> Iterator[Constraint]:
    """The constraints that definitions and alterations declare, and those that are imported."""
    rows = {}
    for name, known in objects.items():
        for given in imported[known.imported].constraints if imported and known.imported in imported else ():
            rows[name, given.id] = msgspec.structs.replace(given, object=name)
        for event in known.shapers:
            statement = scripts[event.path].statements[event.ordinal].statement
            for item in constraints_of(statement.definition) if statement.definition is not None else ():
                row = _constraint(name, item)
                rows[row.object, row.id] = row
            for change in statement.alterations:
                _alter(rows, name, change)
    yield from (row for _, row in sorted(rows.items()))


def _alter(rows: dict[tuple[str, str], Constraint], name: str, change: ir.Alteration) -> None:
    """Put what an alteration declares among the constraints, and take out what it releases or replaces."""
    added = change.constraint
    if change.action.startswith("release") or (added is not None and added.kind == "default"):
        for key in [key for key, row in rows.items() if key[0] == name and _goes(row, change)]:
            del rows[key]
    if added is not None:
        row = _constraint(name, added)
        rows[name, row.id] = row


def _goes(row: Constraint, change: ir.Alteration) -> bool:
    if change.constraint is not None:  # a column has one default
        return row.kind == "default" and row.columns == change.constraint.columns
    if change.action == "release default":
        return row.kind == "default" and row.columns == (change.column,)
    if row.name is not None:
        return row.name.casefold() == change.column.casefold()
    columns = () if row.kind == "primary key" else row.columns
    given = "_".join(["", *columns, ENDINGS.get(row.kind, row.kind)])
    return row.kind == change.column or (row.kind in ENDINGS and change.column.endswith(given))


def _constraint(name: str, item: ir.ConstraintDef) -> Constraint:
    expression = ".".join(item.references.parts) if item.references is not None else item.expression
    text = "\0".join((item.kind, item.name, *item.columns, expression))
    identity = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Constraint(name, identity, item.kind, item.name or None, item.columns, expression or None)
