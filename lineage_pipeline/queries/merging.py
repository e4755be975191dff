"""Merging lineages: objects that one of them defines may be read by the others."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeKind, Origin
from lineage_pipeline.model.tables import TABLES, ObjectEdge, SqlFile, StatementRef

RowT = TypeVar("RowT", bound=msgspec.Struct)

ORIGIN_TRUST = (Origin.IMPLIED, Origin.IMPORTED, Origin.RUNTIME, Origin.INFERRED, Origin.UNKNOWN)
"""Whose columns count where several lineages know an object: definitions, imports, then inferred ones."""

UNION_TABLES = ("statements", "object_statements", "column_edges", "facets", "diagnostics")
CHOSEN_TABLES = ("objects", "columns", "constraints")


def merge_lineages(lineages: Sequence[LineageTables]) -> LineageTables:
    """One lineage; where files with the same path differ, later ones get a number before their path."""
    told: list[LineageTables] = []
    for lineage in lineages:
        told.append(_separate_paths(lineage, len(told) + 1, told))
    best = _choose_lineages(told)
    tables: dict[str, Any] = {name: _union_rows(name, told) for name in UNION_TABLES}
    for name in CHOSEN_TABLES:
        rows = [row for number, one in enumerate(told) for row in getattr(one, name) if best[row.object] == number]
        tables[name] = _sort_rows(name, rows)
    return LineageTables(**tables, object_edges=_merge_object_edges(told))


def merge_files(files: Iterable[Sequence[SqlFile]]) -> tuple[SqlFile, ...]:
    """The files of several lineages, each once."""
    return _sort_rows("sql_files", {file: None for some in files for file in some})


def _choose_lineages(lineages: Sequence[LineageTables]) -> dict[str, int]:
    """For each object the lineage that knows it best; the first of equals."""
    ranked: dict[str, tuple[int, int]] = {}
    for number, lineage in enumerate(lineages):
        for row in lineage.objects:
            ranked[row.object] = min(
                ranked.get(row.object, (len(ORIGIN_TRUST), 0)), (ORIGIN_TRUST.index(row.origin), number)
            )
    return {name: number for name, (_, number) in ranked.items()}


def _union_rows(table: str, lineages: Sequence[LineageTables]) -> tuple[Any, ...]:
    """The rows of all, each key once: a JSON document holds less of a row than a lineage file."""
    key = TABLES[table].key
    found: dict[tuple[Any, ...], Any] = {}
    for row in (row for lineage in lineages for row in getattr(lineage, table)):
        found.setdefault(tuple(_key_values(row, key)), row)
    return _sort_rows(table, found.values())


def _sort_rows(table: str, rows: Iterable[RowT]) -> tuple[RowT, ...]:
    key = TABLES[table].key
    return tuple(sorted(rows, key=lambda row: tuple((value is not None, value) for value in _key_values(row, key))))


def _key_values(row: msgspec.Struct, key: Iterable[str]) -> list[Any]:
    return [getattr(row, name) for name in key]


def _merge_object_edges(lineages: Sequence[LineageTables]) -> tuple[ObjectEdge, ...]:
    places: dict[tuple[str, str, EdgeKind], set[StatementRef]] = {}
    for lineage in lineages:
        for edge in lineage.object_edges:
            places.setdefault((edge.from_object, edge.to_object, edge.kind), set()).update(edge.statements)
    return tuple(ObjectEdge(*ends, tuple(sorted(found))) for ends, found in sorted(places.items()))


def _separate_paths(lineage: LineageTables, number: int, earlier: Sequence[LineageTables]) -> LineageTables:
    """A lineage whose paths do not collide with other files of earlier ones."""
    known: dict[str, tuple[Any, ...]] = {}
    for one in reversed(earlier):
        known |= _file_contents(one)
    taken = {path for path, content in _file_contents(lineage).items() if known.get(path, content) != content}
    if not taken:
        return lineage
    tables: dict[str, Any] = {
        name: tuple(_with_numbered_path(row, taken, number) for row in getattr(lineage, name))
        for name in LineageTables.__struct_fields__
    }
    return LineageTables(**tables)


def _file_contents(lineage: LineageTables) -> dict[str, tuple[Any, ...]]:
    """The content of each file: its statements."""
    found: dict[str, tuple[Any, ...]] = {}
    for row in lineage.statements:
        found[row.path] = (*found.get(row.path, ()), (row.kind, row.preview, row.span))
    return found


def _with_numbered_path(row: Any, taken: set[str], number: int) -> Any:
    if isinstance(row, ObjectEdge):
        places = (
            StatementRef(f"{number}:{place.path}", place.statement) if place.path in taken else place
            for place in row.statements
        )
        return msgspec.structs.replace(row, statements=tuple(places))
    if getattr(row, "path", None) not in taken:
        return row
    return msgspec.structs.replace(row, path=f"{number}:{row.path}")
