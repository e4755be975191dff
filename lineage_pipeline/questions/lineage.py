"""The class that answers questions about one lineage, wherever its rows are."""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import cached_property
from pathlib import Path

from lineage_pipeline.dialects.traits import GENERIC, traits_of
from lineage_pipeline.engine.trace.facts import Facts, RowFacts
from lineage_pipeline.engine.trace.formula import Formula, formulas
from lineage_pipeline.engine.trace.impact import Direction, Follow, Reached, reach_columns
from lineage_pipeline.engine.trace.names import Matches, Names, Spelling
from lineage_pipeline.engine.trace.routes import Routes, find_routes
from lineage_pipeline.engine.trace.search import Hit, search
from lineage_pipeline.engine.trace.selectors import FAR, Selector, parse_selector
from lineage_pipeline.engine.trace.tables import object_links, reach_objects
from lineage_pipeline.questions.loading import is_warehouse, load_file, load_snapshot
from lineage_pipeline.questions.merging import merge_files, merge_lineages
from lineage_pipeline.questions.missing import ambiguity, no_column, no_object
from lineage_pipeline.vocabulary import analysis
from lineage_pipeline.vocabulary.tables import Column

MAX_PATHS = 100


class Lineage:
    """What feeds what: load one, or make one of the rows of an analysis, and ask."""

    def __init__(self, rows: "analysis.Lineage | Facts") -> None:
        """Take rows (`analyze(sql).lineage`), or whatever else gives them."""
        self._facts: Facts = RowFacts(rows) if isinstance(rows, analysis.Lineage) else rows

    @classmethod
    def load(cls, path: str | os.PathLike[str], snapshot: str = "") -> "Lineage":
        """Open a file that `lineage scan -o` wrote, or a snapshot of a warehouse."""
        place = Path(path)
        if is_warehouse(place):
            return cls(load_snapshot(place, snapshot))
        return cls(load_file(place))

    @property
    def facts(self) -> Facts:
        """Give what the answers are worked out from."""
        return self._facts

    @property
    def rows(self) -> analysis.Lineage:
        """Give all rows."""
        return self._facts.rows()

    def merge(self, *others: "Lineage") -> "Lineage":
        """Give one lineage of this one and others."""
        every = (self, *others)
        rows = merge_lineages([one.rows for one in every])
        return Lineage(RowFacts(rows, merge_files(one._facts.files() for one in every)))

    def objects(self) -> tuple[str, ...]:
        """Give the names of all objects."""
        return tuple(sorted(self._names.columns))

    def columns(self, object: str | None = None) -> tuple[Column, ...]:
        """Give the columns of an object, or of all."""
        wanted: Collection[str] = self._names.columns if object is None else [self.object(object)]
        return tuple(self._facts.columns(wanted))

    def upstream(self, column: str, *, depth: int | None = None, follow: str = "all") -> tuple[Reached, ...]:
        """Give the columns that feed a column (or those that a pattern fits), the nearest first."""
        return self._reach(column, Direction.UPSTREAM, depth, follow)

    def downstream(self, column: str, *, depth: int | None = None, follow: str = "all") -> tuple[Reached, ...]:
        """Give the columns that a column (or those that a pattern fits) feeds, the nearest first."""
        return self._reach(column, Direction.DOWNSTREAM, depth, follow)

    def impact(
        self, selector: Selector, *, up: int | None = None, down: int | None = None, follow: Follow = Follow.ALL
    ) -> tuple[Reached, ...]:
        """Give the columns within reach of a selector, upstream first; None: not in this direction."""
        starts = self.select(selector).columns
        sides = ((Direction.UPSTREAM, up), (Direction.DOWNSTREAM, down))
        found = [reach_columns(self._facts, starts, side, hops, follow) for side, hops in sides if hops is not None]
        return tuple(row for rows in found for row in rows)

    def table_impact(
        self, selector: Selector, *, up: int | None = None, down: int | None = None, follow: Follow = Follow.ALL
    ) -> tuple[Reached, ...]:
        """Give the objects within reach of the objects of a selector."""
        links = object_links(self._facts, follow)
        starts = self.select_objects(selector)
        sides = ((Direction.UPSTREAM, up), (Direction.DOWNSTREAM, down))
        found = [reach_objects(links, starts, side, hops) for side, hops in sides if hops is not None]
        return tuple(row for rows in found for row in rows)

    def paths(self, source: str, target: str, *, max_paths: int = MAX_PATHS, direct_only: bool = False) -> Routes:
        """Give the ways from one column to another that pass no column twice, short ones first."""
        ends = [self.select(parse_selector(name)).columns for name in (source, target)]
        return find_routes(self._facts, ends[0], ends[1], max_paths, direct_only)

    def formula(self, column: str) -> tuple[Formula, ...]:
        """Give the expression of a column from end to end, for each statement that writes it."""
        selector = parse_selector(column)
        return tuple(one for ref in self.select(selector).columns for one in formulas(self._facts, ref))

    def search(self, text: str, limit: int | None = None) -> tuple[Hit, ...]:
        """Give the objects and columns whose names look like a text, the likeliest first."""
        return search(self._names.columns, text, limit)

    def object(self, name: str) -> str:
        """Give the object that a name means, or say that there is none."""
        return self.select_objects(parse_selector(name))[0]

    def select_objects(self, selector: Selector) -> tuple[str, ...]:
        """Give the objects that a selector fits; that of a column where it names one."""
        found = self._names.objects_like(selector.parts)
        if not found and len(selector.parts) > 1:
            found = self._names.find(selector).objects
        if not found:
            raise no_object(self._names, selector)
        return self._unambiguous(selector, found)

    def select(self, selector: Selector) -> Matches:
        """Give the columns that a selector fits, or say which there are."""
        found = self._names.find(selector)
        if not found.columns and not found.objects:
            raise no_column(self._names, selector)
        self._unambiguous(selector, found.objects)
        return found

    def _unambiguous(self, selector: Selector, objects: tuple[str, ...]) -> tuple[str, ...]:
        owner = selector.parts[:-1] if selector.parts[-1].is_pattern else selector.parts
        if len(objects) > 1 and not any(part.is_pattern for part in owner):
            raise ambiguity(selector, objects)
        return objects

    def _reach(self, column: str, direction: Direction, depth: int | None, follow: str) -> tuple[Reached, ...]:
        starts = self.select(parse_selector(column)).columns
        return reach_columns(self._facts, starts, direction, FAR if depth is None else depth, Follow(follow))

    @cached_property
    def _names(self) -> Names:
        columns: dict[str, list[str]] = defaultdict(list)
        for row in self._facts.objects():
            columns[row.object] = []
        for ref in self._facts.graph().refs:
            columns[ref.object].append(ref.column)
        systems = {row.object: row.system for row in self._facts.objects() if row.system}
        return Names(columns, systems, _spellings((file.system, file.dialect) for file in self._facts.files()))


def _spellings(systems: Iterable[tuple[str, str]]) -> dict[str, Spelling]:
    """Say how each system compares names."""
    found = {}
    for system, dialect in sorted(set(systems)):
        traits = traits_of(dialect) or GENERIC
        found[system] = Spelling(traits.tables, traits.columns)
    return found
