"""Table usage: as input, as output or both, and the kind of each table."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import ObjectKind, Role
from lineage_pipeline.model.tables import ObjectRow


class Usage(StrEnum):
    """Whether rows come from a table, go into it, or both."""

    INPUT = "INPUT"
    OUTPUT = "OUTPUT"
    BOTH = "BOTH"


class TableUse(msgspec.Struct, frozen=True):
    """A table that statements use; `columns` counts the known ones."""

    object: str
    usage: Usage
    type: str
    statements: int
    columns: int


READ_ROLES = frozenset({Role.READ})
WRITE_ROLES = frozenset({Role.DEFINE, Role.WRITE, Role.ALTER, Role.DROP})
TABLE_TYPES = {
    ObjectKind.TABLE: "TABLE",
    ObjectKind.TEMP_TABLE: "TABLE",
    ObjectKind.EXTERNAL: "TABLE",
    ObjectKind.VIEW: "VIEW",
    ObjectKind.MATERIALIZED_VIEW: "VIEW",
}
EXCLUDED_KINDS = frozenset({ObjectKind.QUERY, ObjectKind.PROCEDURE, ObjectKind.FUNCTION, ObjectKind.TRIGGER})


def list_table_usage(lineage: LineageTables, ctes: Iterable[str] = ()) -> tuple[TableUse, ...]:
    """Every table with its usage; CTEs are inputs of their own statements."""
    columns: dict[str, int] = {}
    for column in lineage.columns:
        columns[column.object] = columns.get(column.object, 0) + 1
    roles: dict[str, set[Role]] = {}
    places: dict[str, set[tuple[str, int]]] = {}
    for part in lineage.object_statements:
        roles.setdefault(part.object, set()).add(part.role)
        places.setdefault(part.object, set()).add((part.path, part.ordinal))
    found = [
        TableUse(
            object=row.object,
            usage=_classify_usage(roles[row.object]),
            type=_table_type(row),
            statements=len(places[row.object]),
            columns=columns.get(row.object, 0),
        )
        for row in lineage.objects
        if row.kind not in EXCLUDED_KINDS and roles.get(row.object, set()) & (READ_ROLES | WRITE_ROLES)
    ]
    found += [
        TableUse(object=name, usage=Usage.INPUT, type="CTE", statements=1, columns=0) for name in sorted(set(ctes))
    ]
    return tuple(sorted(found, key=lambda used: (used.object, used.type)))


def _classify_usage(roles: set[Role]) -> Usage:
    read, written = bool(roles & READ_ROLES), bool(roles & WRITE_ROLES)
    return Usage.BOTH if read and written else Usage.OUTPUT if written else Usage.INPUT


def _table_type(row: ObjectRow) -> str:
    return TABLE_TYPES.get(row.kind, "UNKNOWN")
