"""Lineage facts: the rows of one lineage, read only as far as a query needs them."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Protocol

from lineage_pipeline.engine.trace.column_graph import ColumnGraph, build_column_graph
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.tables import (
    Column,
    ColumnEdge,
    Constraint,
    Diagnostic,
    Facet,
    ObjectEdge,
    ObjectRow,
    ObjectStatement,
    SqlFile,
    StatementRow,
)


class LineageFacts(Protocol):
    """The rows of one lineage, all of them or those of a few objects, each in table order."""

    def graph(self) -> ColumnGraph:
        """The column graph."""

    def files(self) -> Sequence[SqlFile]:
        """The files; they tell the dialect of each system."""

    def objects(self) -> Sequence[ObjectRow]:
        """All objects."""

    def object_edges(self) -> Sequence[ObjectEdge]:
        """Which object reads, writes and calls which."""

    def columns(self, objects: Collection[str]) -> Sequence[Column]:
        """The columns of some objects."""

    def constraints(self, objects: Collection[str]) -> Sequence[Constraint]:
        """The constraints of some objects."""

    def edges_into(self, objects: Collection[str]) -> Sequence[ColumnEdge]:
        """The column edges that end in some objects."""

    def facets(self, objects: Collection[str]) -> Sequence[Facet]:
        """The facets of some objects."""

    def parts(self, objects: Collection[str]) -> Sequence[ObjectStatement]:
        """The statements that define, write and read some objects."""

    def statements(self, paths: Collection[str]) -> Sequence[StatementRow]:
        """The statements of some files."""

    def findings(self) -> Sequence[Diagnostic]:
        """All findings."""

    def rows(self) -> LineageTables:
        """All rows."""


class RowFacts:
    """Facts that are in memory already."""

    def __init__(self, lineage: LineageTables, files: Sequence[SqlFile] = ()) -> None:
        """Take the rows of a lineage, and its files where they are known."""
        self._lineage = lineage
        self._files = files

    def graph(self) -> ColumnGraph:
        """The column graph, built once."""
        return self._graph

    def files(self) -> Sequence[SqlFile]:
        """The files."""
        return self._files

    def objects(self) -> Sequence[ObjectRow]:
        """All objects."""
        return self._lineage.objects

    def object_edges(self) -> Sequence[ObjectEdge]:
        """Which object reads, writes and calls which."""
        return self._lineage.object_edges

    def columns(self, objects: Collection[str]) -> Sequence[Column]:
        """The columns of some objects."""
        return [row for row in self._lineage.columns if row.object in objects]

    def constraints(self, objects: Collection[str]) -> Sequence[Constraint]:
        """The constraints of some objects."""
        return [row for row in self._lineage.constraints if row.object in objects]

    def edges_into(self, objects: Collection[str]) -> Sequence[ColumnEdge]:
        """The column edges that end in some objects."""
        if len(objects) == 1:  # formulas ask for one object after the other
            return self._into.get(next(iter(objects)), ())
        return [row for row in self._lineage.column_edges if row.to_object in objects]

    def facets(self, objects: Collection[str]) -> Sequence[Facet]:
        """The facets of some objects."""
        return [row for row in self._lineage.facets if row.object in objects]

    def parts(self, objects: Collection[str]) -> Sequence[ObjectStatement]:
        """The statements that define, write and read some objects."""
        return [row for row in self._lineage.object_statements if row.object in objects]

    def statements(self, paths: Collection[str]) -> Sequence[StatementRow]:
        """The statements of some files."""
        return [row for row in self._lineage.statements if row.path in paths]

    def findings(self) -> Sequence[Diagnostic]:
        """All findings."""
        return self._lineage.diagnostics

    def rows(self) -> LineageTables:
        """All rows."""
        return self._lineage

    @cached_property
    def _graph(self) -> ColumnGraph:
        return build_column_graph(self._lineage)

    @cached_property
    def _into(self) -> dict[str, list[ColumnEdge]]:
        found: dict[str, list[ColumnEdge]] = defaultdict(list)
        for row in self._lineage.column_edges:
            found[row.to_object].append(row)
        return found
