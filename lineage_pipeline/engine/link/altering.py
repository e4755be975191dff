"""Alterations: what ALTER TABLE makes of the columns of an object."""

from collections.abc import Iterable
from operator import attrgetter

import msgspec

from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import SchemaColumn


def altered(columns: tuple[SchemaColumn, ...], alterations: Iterable[ir.Alteration]) -> tuple[SchemaColumn, ...]:
    """The columns after an ALTER TABLE."""
    result = list(columns)
    for item in alterations:
        change = item.definition
        position = _position(result, item.column)
        if item.constraint is not None and item.constraint.kind == "primary key":
            keys = item.constraint.columns
            result = [msgspec.structs.replace(one, nullable=False) if one.name in keys else one for one in result]
        elif item.action == "add" and change is not None and position is None:
            generated = change.identity or change.computed is not None
            nullable = change.nullable is not False
            result.insert(
                _behind_data(result),
                SchemaColumn(change.name, change.written, change.type or None, nullable, generated=generated),
            )
        elif item.action == "clear":
            result = [column for column in result if column.partition]
        elif position is None:
            continue
        elif item.action == "drop":
            del result[position]
        elif item.action in ("first", "after"):
            result = _placed(result, position, change)
        elif change is not None:
            result[position] = _changed(result[position], item.action, change)
    return tuple(result)


def renamed(alterations: Iterable[ir.Alteration]) -> tuple[tuple[str, str], ...]:
    """The names that columns get from alterations, by those before them; what is dropped keeps the one that it had."""
    names: dict[str, str] = {}
    for item in alterations:
        if item.action == "rename" and item.definition is not None:
            before = [old for old, new in names.items() if new == item.column] or [item.column]
            names[before[0]] = item.definition.name
        elif item.action == "drop":
            names.setdefault(item.column, item.column)
    return tuple(sorted(names.items()))


def _changed(column: SchemaColumn, action: str, change: ir.ColumnDef) -> SchemaColumn:
    """A column after an alteration that is about it alone."""
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


def _placed(columns: list[SchemaColumn], position: int, anchor: ir.ColumnDef | None) -> list[SchemaColumn]:
    """The columns with one of them first, or behind another."""
    rest = [*columns[:position], *columns[position + 1 :]]
    behind = _position(rest, anchor.name) if anchor is not None else -1
    return columns if behind is None else [*rest[: behind + 1], columns[position], *rest[behind + 1 :]]


def _behind_data(columns: list[SchemaColumn]) -> int:
    """Where a further column stands: before the partitions, behind all others."""
    at = len(columns)
    while at and columns[at - 1].partition:
        at -= 1
    return at


def _position(columns: list[SchemaColumn], name: str) -> int | None:
    names = list(map(_NAME, columns))  # a table may be altered thousands of times: a loop in Python would be felt
    return names.index(name) if name in names else None


_NAME = attrgetter("name")
