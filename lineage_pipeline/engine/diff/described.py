"""Columns that a schema lists on one side alone: of the other side it is not known that they are there."""

import msgspec

from lineage_pipeline.engine.diff.index import Index
from lineage_pipeline.vocabulary.sets import Origin


def described(base: Index, head: Index) -> tuple[Index, Index]:
    """Leave out the columns that only a use tells of, where the schema of the other side lists them."""
    shared = [
        name
        for name, row in head.objects.items()
        if row.open and row.origin is Origin.IMPORTED and _is_imported(base, name)
    ]
    gone = [(name, column) for name in shared for column in _dropped(base, head, name)]
    new = [(name, column) for name in shared for column in _dropped(head, base, name)]
    return _without(base, new), _without(head, gone)


def _is_imported(side: Index, name: str) -> bool:
    row = side.objects.get(name)
    return row is not None and row.open and row.origin is Origin.IMPORTED


def _dropped(side: Index, other: Index, name: str) -> list[str]:
    """List the columns that a schema has here, and that are only used there."""
    used = [one for one in other.columns.get(name, {}).values() if one.origin is Origin.INFERRED]
    listed = side.columns.get(name, {})
    return [one.name for one in used if one.name in listed and listed[one.name].origin is Origin.IMPORTED]


def _without(side: Index, columns: list[tuple[str, str]]) -> Index:
    if not columns:
        return side
    kept = dict(side.columns)
    for name, column in columns:
        kept[name] = {one: row for one, row in kept[name].items() if one != column}
    return msgspec.structs.replace(side, columns=kept)
