"""How statements use tables: as input, as output or as both, and what kind of thing each is."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.sets import ObjectKind, Role
from lineage_pipeline.vocabulary.tables import ObjectRow


class Usage(StrEnum):
    """Whether rows come from a table, go into it, or both."""

    INPUT = "INPUT"
    OUTPUT = "OUTPUT"
    BOTH = "BOTH"


class Used(msgspec.Struct, frozen=True):
    """A table that statements use; `columns` are those that are known."""

    object: str
    usage: Usage
    type: str
    statements: int
    columns: int


READING = frozenset({Role.READ})
WRITING = frozenset({Role.DEFINE, Role.WRITE, Role.ALTER, Role.DROP})
TYPES = {
    ObjectKind.TABLE: "TABLE",
    ObjectKind.TEMP_TABLE: "TABLE",
    ObjectKind.EXTERNAL: "TABLE",
    ObjectKind.VIEW: "VIEW",
    ObjectKind.MATERIALIZED_VIEW: "VIEW",
}
LEFT_OUT = frozenset({ObjectKind.QUERY, ObjectKind.PROCEDURE, ObjectKind.FUNCTION, ObjectKind.TRIGGER})


def table_usage(lineage: Lineage, ctes: Iterable[str] = ()) -> tuple[Used, ...]:
    """Give every table with how it is used; CTEs are inputs of their own statements."""
    columns: dict[str, int] = {}
    for column in lineage.columns:
        columns[column.object] = columns.get(column.object, 0) + 1
    roles: dict[str, set[Role]] = {}
    places: dict[str, set[tuple[str, int]]] = {}
    for part in lineage.object_statements:
        roles.setdefault(part.object, set()).add(part.role)
        places.setdefault(part.object, set()).add((part.path, part.ordinal))
    found = [
        Used(row.object, _usage(roles[row.object]), _type(row), len(places[row.object]), columns.get(row.object, 0))
        for row in lineage.objects
        if row.kind not in LEFT_OUT and roles.get(row.object, set()) & (READING | WRITING)
    ]
    found += [Used(name, Usage.INPUT, "CTE", 1, 0) for name in sorted(set(ctes))]
    return tuple(sorted(found, key=lambda used: (used.object, used.type)))


def _usage(roles: set[Role]) -> Usage:
    read, written = bool(roles & READING), bool(roles & WRITING)
    return Usage.BOTH if read and written else Usage.OUTPUT if written else Usage.INPUT


def _type(row: ObjectRow) -> str:
    return TYPES.get(row.kind, "UNKNOWN")
