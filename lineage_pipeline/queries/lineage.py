"""The class for queries over one lineage or several merged ones, wherever the rows are stored."""

import difflib
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.engine.trace.column_graph import ALL
from lineage_pipeline.engine.trace.facts import LineageFacts, RowFacts
from lineage_pipeline.engine.trace.formula import Formula, build_formulas
from lineage_pipeline.engine.trace.impact import (
    Direction,
    Follow,
    Reached,
    build_object_links,
    reach_columns,
    reach_objects,
)
from lineage_pipeline.engine.trace.name_lookup import Hit, NameFoldings, NameLookup, SelectorMatches, search_names
from lineage_pipeline.engine.trace.routes import Routes, find_routes
from lineage_pipeline.engine.trace.selectors import UNLIMITED_DEPTH, Selector, parse_selector
from lineage_pipeline.model import analysis
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeKind, Origin
from lineage_pipeline.model.errors import LineageError, NotThere
from lineage_pipeline.model.tables import TABLES, Column, ObjectEdge, SqlFile, StatementRef
from lineage_pipeline.queries.loading import is_warehouse, load_lineage_file, load_snapshot

MAX_PATHS = 100


class Lineage:
    """Queries over a lineage: load one, or create one from the rows of an analysis."""

    def __init__(self, rows: "analysis.LineageTables | LineageFacts") -> None:
        """Take rows (`analyze(sql).lineage`), or any other lineage facts."""
        self._facts: LineageFacts = RowFacts(rows) if isinstance(rows, analysis.LineageTables) else rows

    @classmethod
    def load(cls, path: str | os.PathLike[str], snapshot: str = "") -> "Lineage":
        """Open a file that `lineage scan -o` wrote, or a snapshot of a warehouse."""
        place = Path(path)
        if is_warehouse(place):
            return cls(load_snapshot(place, snapshot))
        return cls(load_lineage_file(place))

    @property
    def facts(self) -> LineageFacts:
        """The facts that the answers are computed from."""
        return self._facts

    @property
    def rows(self) -> analysis.LineageTables:
        """All rows."""
        return self._facts.rows()

    def merge(self, *others: "Lineage") -> "Lineage":
        """One lineage of this one and others."""
        every = (self, *others)
        rows = merge_lineages([one.rows for one in every])
        return Lineage(RowFacts(rows, merge_files(one._facts.files() for one in every)))

    def objects(self) -> tuple[str, ...]:
        """The names of all objects."""
        return tuple(sorted(self._names.columns))

    def columns(self, object: str | None = None) -> tuple[Column, ...]:
        """The columns of an object, or of all."""
        wanted: Collection[str] = self._names.columns if object is None else [self.object(object)]
        return tuple(self._facts.columns(wanted))

    def upstream(self, column: str, *, depth: int | None = None, follow: str = "all") -> tuple[Reached, ...]:
        """The columns that feed a column (or those that match a pattern), the nearest first."""
        return self._reach(column, Direction.UPSTREAM, depth, follow)

    def downstream(self, column: str, *, depth: int | None = None, follow: str = "all") -> tuple[Reached, ...]:
        """The columns that a column (or those that match a pattern) feeds, the nearest first."""
        return self._reach(column, Direction.DOWNSTREAM, depth, follow)

    def impact(
        self, selector: Selector, *, up: int | None = None, down: int | None = None, follow: Follow = Follow.ALL
    ) -> tuple[Reached, ...]:
        """The columns within reach of a selector, upstream first; None: not in this direction."""
        starts = self.select(selector).columns
        sides = ((Direction.UPSTREAM, up), (Direction.DOWNSTREAM, down))
        found = [reach_columns(self._facts, starts, side, hops, follow) for side, hops in sides if hops is not None]
        return tuple(row for rows in found for row in rows)

    def table_impact(
        self, selector: Selector, *, up: int | None = None, down: int | None = None, follow: Follow = Follow.ALL
    ) -> tuple[Reached, ...]:
        """The objects within reach of the objects of a selector."""
        links = build_object_links(self._facts, follow)
        starts = self.select_objects(selector)
        sides = ((Direction.UPSTREAM, up), (Direction.DOWNSTREAM, down))
        found = [reach_objects(links, starts, side, hops) for side, hops in sides if hops is not None]
        return tuple(row for rows in found for row in rows)

    def paths(self, source: str, target: str, *, max_paths: int = MAX_PATHS, direct_only: bool = False) -> Routes:
        """The paths from one column to another that pass no column twice, short ones first."""
        ends = [self.select(parse_selector(name)).columns for name in (source, target)]
        return find_routes(self._facts, ends[0], ends[1], max_paths, direct_only)

    def formula(self, column: str) -> tuple[Formula, ...]:
        """The end-to-end expression of a column, for each statement that writes it."""
        selector = parse_selector(column)
        return tuple(one for ref in self.select(selector).columns for one in build_formulas(self._facts, ref))

    def search(self, text: str, limit: int | None = None) -> tuple[Hit, ...]:
        """The objects and columns whose names resemble a text, best matches first."""
        return search_names(self._names.columns, text, limit)

    def object(self, name: str) -> str:
        """The object that a name means; raises where there is none."""
        return self.select_objects(parse_selector(name))[0]

    def select_objects(self, selector: Selector) -> tuple[str, ...]:
        """The objects that a selector matches, or the object of the column that it names."""
        found = self._names.match_objects(selector.parts)
        if not found and len(selector.parts) > 1:
            found = self._names.find(selector).objects
        if not found:
            raise object_not_found(self._names, selector)
        return self._require_unambiguous(selector, found)

    def select(self, selector: Selector) -> SelectorMatches:
        """The columns that a selector matches; the error lists existing ones."""
        found = self._names.find(selector)
        if not found.columns and not found.objects:
            raise column_not_found(self._names, selector)
        self._require_unambiguous(selector, found.objects)
        return found

    def _require_unambiguous(self, selector: Selector, objects: tuple[str, ...]) -> tuple[str, ...]:
        owner = selector.parts[:-1] if selector.parts[-1].is_pattern else selector.parts
        if len(objects) > 1 and not any(part.is_pattern for part in owner):
            raise ambiguous_name(selector, objects)
        return objects

    def _reach(self, column: str, direction: Direction, depth: int | None, follow: str) -> tuple[Reached, ...]:
        starts = self.select(parse_selector(column)).columns
        return reach_columns(
            self._facts, starts, direction, UNLIMITED_DEPTH if depth is None else depth, Follow(follow)
        )

    @cached_property
    def _names(self) -> NameLookup:
        columns: dict[str, list[str]] = defaultdict(list)
        for row in self._facts.objects():
            columns[row.object] = []
        for ref in self._facts.graph().refs:
            columns[ref.object].append(ref.column)
        systems = {row.object: row.system for row in self._facts.objects() if row.system}
        return NameLookup(
            columns, systems, _collect_foldings((file.system, file.dialect) for file in self._facts.files())
        )


def _collect_foldings(systems: Iterable[tuple[str, str]]) -> dict[str, NameFoldings]:
    """How each system compares names."""
    found = {}
    for system, dialect in sorted(set(systems)):
        traits = find_traits(dialect) or GENERIC
        found[system] = NameFoldings(traits.tables, traits.columns)
    return found


MAX_LISTED_NAMES = 40


def object_not_found(names: NameLookup, selector: Selector) -> NotThere:
    """The error for an unknown object, with similar ones."""
    close = names.suggest_objects(selector.written)
    if close:
        return NotThere(f"there is no object {selector.written}; did you mean {' or '.join(close)}?")
    known = sorted(names.columns)
    there = f"there are {_list_names(known)}" if known else "there is none at all"
    return NotThere(f"there is no object {selector.written}; {there}")


def column_not_found(names: NameLookup, selector: Selector) -> NotThere:
    """The error for an unknown column, with the existing ones."""
    owners = names.match_objects(selector.parts[:-1]) if len(selector.parts) > 1 else ()
    if not owners:
        missing = object_not_found(names, selector)
        if "did you mean" in str(missing) or len(selector.parts) < 2:
            return missing
        owner = selector.written.rpartition(".")[0]
        close = names.suggest_objects(owner)
        return NotThere(f"there is no object {owner}; did you mean {' or '.join(close)}?") if close else missing
    wanted = selector.parts[-1].text
    columns = [column for column in names.columns[owners[0]] if column != ALL]
    close = difflib.get_close_matches(wanted.lower(), [column.lower() for column in columns], n=1)
    meant = f"did you mean {next(one for one in columns if one.lower() == close[0])}? " if close else ""
    has = f"it has {_list_names(columns)}" if columns else "none of its columns is known"
    return NotThere(f"{owners[0]} has no column {wanted}; {meant}{has}")


def ambiguous_name(selector: Selector, objects: tuple[str, ...]) -> LineageError:
    """The error for a name that several objects match."""
    several = f"{selector.written} could be in {_list_names(list(objects))}"
    return LineageError(f"{several}: write more of the name, or *.{selector.written} for all")


def _list_names(names: list[str]) -> str:
    rest = len(names) - MAX_LISTED_NAMES
    return ", ".join(names[:MAX_LISTED_NAMES]) + (f" and {rest} more" if rest > 0 else "")


RowT = TypeVar("RowT", bound=msgspec.Struct)

ORIGIN_TRUST = (Origin.IMPLIED, Origin.IMPORTED, Origin.RUNTIME, Origin.INFERRED, Origin.UNKNOWN)
"""Whose columns count where several lineages know an object: definitions, imports, then inferred ones."""

UNION_TABLES = ("statements", "object_statements", "column_edges", "facets", "diagnostics")
CHOSEN_TABLES = ("objects", "columns", "constraints")


def merge_lineages(lineages: Sequence[LineageTables]) -> LineageTables:
    """One lineage; where files with the same path differ, later ones get a number before their path."""
    separate: list[LineageTables] = []
    for lineage in lineages:
        separate.append(_separate_paths(lineage, len(separate) + 1, separate))
    best = _choose_lineages(separate)
    tables: dict[str, Any] = {name: _union_rows(name, separate) for name in UNION_TABLES}
    for name in CHOSEN_TABLES:
        rows = [row for number, one in enumerate(separate) for row in getattr(one, name) if best[row.object] == number]
        tables[name] = _sort_rows(name, rows)
    return LineageTables(**tables, object_edges=_merge_object_edges(separate))


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
