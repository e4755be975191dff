"""The class for queries over one lineage, wherever its rows are stored."""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import cached_property
from pathlib import Path

from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.engine.trace.facts import LineageFacts, RowFacts
from lineage_pipeline.engine.trace.formula import Formula, build_formulas
from lineage_pipeline.engine.trace.impact import Direction, Follow, Reached, reach_columns
from lineage_pipeline.engine.trace.name_lookup import NameFoldings, NameLookup, SelectorMatches
from lineage_pipeline.engine.trace.object_reach import build_object_links, reach_objects
from lineage_pipeline.engine.trace.routes import Routes, find_routes
from lineage_pipeline.engine.trace.search import Hit, search_names
from lineage_pipeline.engine.trace.selectors import UNLIMITED_DEPTH, Selector, parse_selector
from lineage_pipeline.model import analysis
from lineage_pipeline.model.tables import Column
from lineage_pipeline.queries.loading import is_warehouse, load_lineage_file, load_snapshot
from lineage_pipeline.queries.merging import merge_files, merge_lineages
from lineage_pipeline.queries.not_found import ambiguous_name, column_not_found, object_not_found

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
