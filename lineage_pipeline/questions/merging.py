"""Several lineages as one: what one of them defines, the others may read."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.sets import EdgeKind, Origin
from lineage_pipeline.vocabulary.tables import TABLES, ObjectEdge, SqlFile, StatementRef

RowT = TypeVar("RowT", bound=msgspec.Struct)

TRUST = (Origin.IMPLIED, Origin.IMPORTED, Origin.RUNTIME, Origin.INFERRED, Origin.UNKNOWN)
"""Whose columns count where several lineages know an object: who defines it, then who was told, then who guesses."""

UNITED = ("statements", "object_statements", "column_edges", "facets", "diagnostics")
CHOSEN = ("objects", "columns", "constraints")


def merge_lineages(lineages: Sequence[Lineage]) -> Lineage:
    """Give one lineage; where files of one path differ, those of later lineages get a number before their path."""
    told: list[Lineage] = []
    for lineage in lineages:
        told.append(_told_apart(lineage, len(told) + 1, told))
    best = _best(told)
    tables: dict[str, Any] = {name: _united(name, told) for name in UNITED}
    for name in CHOSEN:
        rows = [row for number, one in enumerate(told) for row in getattr(one, name) if best[row.object] == number]
        tables[name] = _sorted(name, rows)
    return Lineage(**tables, object_edges=_object_edges(told))


def merge_files(files: Iterable[Sequence[SqlFile]]) -> tuple[SqlFile, ...]:
    """Give the files of several lineages, each once."""
    return _sorted("sql_files", {file: None for some in files for file in some})


def _best(lineages: Sequence[Lineage]) -> dict[str, int]:
    """Say for each object which lineage knows it best; the first of equals."""
    ranked: dict[str, tuple[int, int]] = {}
    for number, lineage in enumerate(lineages):
        for row in lineage.objects:
            ranked[row.object] = min(ranked.get(row.object, (len(TRUST), 0)), (TRUST.index(row.origin), number))
    return {name: number for name, (_, number) in ranked.items()}


def _united(table: str, lineages: Sequence[Lineage]) -> tuple[Any, ...]:
    """Give the rows of all, each key once: a JSON document tells less of a row than a lineage file does."""
    key = TABLES[table].key
    found: dict[tuple[Any, ...], Any] = {}
    for row in (row for lineage in lineages for row in getattr(lineage, table)):
        found.setdefault(tuple(_values(row, key)), row)
    return _sorted(table, found.values())


def _sorted(table: str, rows: Iterable[RowT]) -> tuple[RowT, ...]:
    key = TABLES[table].key
    return tuple(sorted(rows, key=lambda row: tuple((value is not None, value) for value in _values(row, key))))


def _values(row: msgspec.Struct, key: Iterable[str]) -> list[Any]:
    return [getattr(row, name) for name in key]


def _object_edges(lineages: Sequence[Lineage]) -> tuple[ObjectEdge, ...]:
    places: dict[tuple[str, str, EdgeKind], set[StatementRef]] = {}
    for lineage in lineages:
        for edge in lineage.object_edges:
            places.setdefault((edge.from_object, edge.to_object, edge.kind), set()).update(edge.statements)
    return tuple(ObjectEdge(*ends, tuple(sorted(found))) for ends, found in sorted(places.items()))


def _told_apart(lineage: Lineage, number: int, earlier: Sequence[Lineage]) -> Lineage:
    """Give a lineage whose paths do not stand for other files than those of earlier ones."""
    known: dict[str, tuple[Any, ...]] = {}
    for one in reversed(earlier):
        known |= _contents(one)
    taken = {path for path, content in _contents(lineage).items() if known.get(path, content) != content}
    if not taken:
        return lineage
    tables: dict[str, Any] = {
        name: tuple(_moved(row, taken, number) for row in getattr(lineage, name)) for name in Lineage.__struct_fields__
    }
    return Lineage(**tables)


def _contents(lineage: Lineage) -> dict[str, tuple[Any, ...]]:
    """Give what tells the files apart: the statements in them."""
    found: dict[str, tuple[Any, ...]] = {}
    for row in lineage.statements:
        found[row.path] = (*found.get(row.path, ()), (row.kind, row.preview, row.span))
    return found


def _moved(row: Any, taken: set[str], number: int) -> Any:
    if isinstance(row, ObjectEdge):
        places = (
            StatementRef(f"{number}:{place.path}", place.statement) if place.path in taken else place
            for place in row.statements
        )
        return msgspec.structs.replace(row, statements=tuple(places))
    if getattr(row, "path", None) not in taken:
        return row
    return msgspec.structs.replace(row, path=f"{number}:{row.path}")
