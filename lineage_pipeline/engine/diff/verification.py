"""Verification: the columns of defined objects compared with those of the user's engine."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.types.coercion import same_type
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.model.analysis import LineageTables, SchemaColumn, TableSchema
from lineage_pipeline.model.enums import ObjectKind, Origin
from lineage_pipeline.model.tables import Column, ObjectRow

COMPARED_KINDS = frozenset({ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW, ObjectKind.EXTERNAL})
REPORTED_CODES = {
    "UNKNOWN_TABLE": "unknown table",
    "UNKNOWN_COLUMN": "unknown column",
    "PARSE_ERROR": "unknown statement",
}


class Difference(msgspec.Struct, frozen=True):
    """One thing that the engine has otherwise than we say; `path` and `line` are where ours comes from."""

    object: str
    column: str | None
    kind: str
    ours: str | None
    theirs: str | None
    path: str | None
    line: int | None


class Verification(msgspec.Struct, frozen=True):
    """What was compared, and what differs; a type that we do not know is counted, and is no difference."""

    objects: int
    columns: int
    unknown_types: int
    differences: tuple[Difference, ...]


def list_verified_objects(lineage: LineageTables, gone: frozenset[str]) -> tuple[ObjectRow, ...]:
    """The persistent objects that statements define."""
    return tuple(
        row
        for row in lineage.objects
        if row.kind in COMPARED_KINDS and row.path is not None and not row.temporary and row.object not in gone
    )


def verify_schemas(
    lineage: LineageTables, theirs: Mapping[str, TableSchema], family: TypeFamily, gone: frozenset[str] = frozenset()
) -> Verification:
    """Compare the objects of a lineage with an engine's schemas; `theirs` is keyed by our ids."""
    columns: dict[str, list[Column]] = defaultdict(list)
    for column in lineage.columns:
        if column.origin is not Origin.INFERRED:
            columns[column.object].append(column)
    rows = list_verified_objects(lineage, gone)
    found = [item for row in rows for item in _compare_object(row, columns[row.object], theirs.get(row.object), family)]
    found.extend(
        Difference(
            object=row.object or "?",
            column=None,
            kind=REPORTED_CODES[row.code],
            ours=row.message,
            theirs=None,
            path=row.path,
            line=row.line,
        )
        for row in lineage.diagnostics
        if row.code in REPORTED_CODES
    )
    known = [column for row in rows if row.object in theirs for column in columns[row.object]]
    return Verification(
        len(rows), len(known), sum(column.type is None for column in known), tuple(sorted(found, key=_difference_order))
    )


def _difference_order(item: Difference) -> tuple[str, str, str, int]:
    return item.object, item.kind, item.column or "", item.line or 0


def _compare_object(
    row: ObjectRow, ours: Sequence[Column], theirs: TableSchema | None, family: TypeFamily
) -> Iterator[Difference]:
    if theirs is None:
        yield _difference(row, None, "missing object", row.kind.value, None)
        return
    known = {column.name: column for column in ours}
    given = {column.name: column for column in theirs.columns}
    for name, column in known.items():
        if name not in given:
            yield _difference(row, name, "missing column", column.type or "of a type that is not known", None)
    for name, other in given.items():
        if name not in known and not row.open:
            yield _difference(row, name, "further column", None, other.type)
    yield from _compare_column_types(row, known, given, family)
    shared = [name for name in known if name in given]
    order = [name for name in given if name in known]
    if shared != order:
        yield _difference(row, None, "order", ", ".join(shared), ", ".join(order))


def _compare_column_types(
    row: ObjectRow, ours: Mapping[str, Column], theirs: Mapping[str, SchemaColumn], family: TypeFamily
) -> Iterator[Difference]:
    for name, column in ours.items():
        other = theirs.get(name)
        if other is None or not column.type or not other.type or same_type(column.type, other.type, family):
            continue
        yield _difference(row, name, "type", column.type, other.type)


def _difference(row: ObjectRow, column: str | None, kind: str, ours: str | None, theirs: str | None) -> Difference:
    return Difference(
        object=row.object, column=column, kind=kind, ours=ours, theirs=theirs, path=row.path, line=row.line
    )
