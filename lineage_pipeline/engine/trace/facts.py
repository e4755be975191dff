"""What questions are asked of: the rows of one lineage, read as far as a question needs them."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Protocol

from lineage_pipeline.engine.trace.graph import ColumnGraph, column_graph
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.tables import (
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


class Facts(Protocol):
    """The rows of one lineage, whole or of a few objects, each in the order of its table."""

    def graph(self) -> ColumnGraph:
        """Give the column graph."""

    def files(self) -> Sequence[SqlFile]:
        """Give the files; they say in which dialect each system speaks."""

    def objects(self) -> Sequence[ObjectRow]:
        """Give all objects."""

    def object_edges(self) -> Sequence[ObjectEdge]:
        """Give who reads, writes and calls whom."""

    def columns(self, objects: Collection[str]) -> Sequence[Column]:
        """Give the columns of some objects."""

    def constraints(self, objects: Collection[str]) -> Sequence[Constraint]:
        """Give the constraints of some objects."""

    def edges_into(self, objects: Collection[str]) -> Sequence[ColumnEdge]:
        """Give the column edges that end in some objects."""

    def facets(self, objects: Collection[str]) -> Sequence[Facet]:
        """Give the facets of some objects."""

    def parts(self, objects: Collection[str]) -> Sequence[ObjectStatement]:
        """Give which statements define, write and read some objects."""

    def statements(self, paths: Collection[str]) -> Sequence[StatementRow]:
        """Give the statements of some files."""

    def findings(self) -> Sequence[Diagnostic]:
        """Give all findings."""

    def rows(self) -> Lineage:
        """Give everything."""


class RowFacts:
    """Facts that are in memory already."""

    def __init__(self, lineage: Lineage, files: Sequence[SqlFile] = ()) -> None:
        """Take the rows of a lineage, and its files where they are known."""
        self._lineage = lineage
        self._files = files

    def graph(self) -> ColumnGraph:
        """Give the column graph, built once."""
        return self._graph

    def files(self) -> Sequence[SqlFile]:
        """Give the files."""
        return self._files

    def objects(self) -> Sequence[ObjectRow]:
        """Give all objects."""
        return self._lineage.objects

    def object_edges(self) -> Sequence[ObjectEdge]:
        """Give who reads, writes and calls whom."""
        return self._lineage.object_edges

    def columns(self, objects: Collection[str]) -> Sequence[Column]:
        """Give the columns of some objects."""
        return [row for row in self._lineage.columns if row.object in objects]

    def constraints(self, objects: Collection[str]) -> Sequence[Constraint]:
        """Give the constraints of some objects."""
        return [row for row in self._lineage.constraints if row.object in objects]

    def edges_into(self, objects: Collection[str]) -> Sequence[ColumnEdge]:
        """Give the column edges that end in some objects."""
        if len(objects) == 1:  # formulas ask for one object after the other
            return self._into.get(next(iter(objects)), ())
        return [row for row in self._lineage.column_edges if row.to_object in objects]

    def facets(self, objects: Collection[str]) -> Sequence[Facet]:
        """Give the facets of some objects."""
        return [row for row in self._lineage.facets if row.object in objects]

    def parts(self, objects: Collection[str]) -> Sequence[ObjectStatement]:
        """Give which statements define, write and read some objects."""
        return [row for row in self._lineage.object_statements if row.object in objects]

    def statements(self, paths: Collection[str]) -> Sequence[StatementRow]:
        """Give the statements of some files."""
        return [row for row in self._lineage.statements if row.path in paths]

    def findings(self) -> Sequence[Diagnostic]:
        """Give all findings."""
        return self._lineage.diagnostics

    def rows(self) -> Lineage:
        """Give everything."""
        return self._lineage

    @cached_property
    def _graph(self) -> ColumnGraph:
        return column_graph(self._lineage)

    @cached_property
    def _into(self) -> dict[str, list[ColumnEdge]]:
        found: dict[str, list[ColumnEdge]] = defaultdict(list)
        for row in self._lineage.column_edges:
            found[row.to_object].append(row)
        return found
