"""Facts that lie in Parquet files: each question reads the tables, columns and row groups that it needs."""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lineage_pipeline.engine.trace.graph import ColumnGraph
from lineage_pipeline.store.arrays import from_arrow
from lineage_pipeline.store.graph import stored_graph
from lineage_pipeline.store.tables import Tables, read_all, read_where
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.tables import (
    TABLES,
    Column,
    ColumnEdge,
    Constraint,
    Diagnostic,
    Facet,
    ObjectEdge,
    ObjectRow,
    ObjectStatement,
    Snapshot,
    Source,
    SqlFile,
    StatementRow,
)

RowT = TypeVar("RowT", bound=msgspec.Struct)


class StoredFacts:
    """The rows of one snapshot of a warehouse, or of a lineage file."""

    def __init__(self, tables: Tables) -> None:
        """Take the tables; nothing is read yet."""
        self._tables = tables

    def graph(self) -> ColumnGraph:
        """Give the column graph, built once."""
        return self._graph

    def files(self) -> Sequence[SqlFile]:
        """Give the files."""
        return self._all(SqlFile)

    def text(self, path: str) -> str | None:
        """Give what is written in a file, where that is kept."""
        wanted = [file.source_hash for file in self.files() if file.path == path]
        return next((source.text for source in self._some(Source, "source_hash", wanted)), None)

    def snapshot(self) -> Snapshot | None:
        """Give what the rows were worked out from."""
        return next(iter(self._all(Snapshot)), None)

    def objects(self) -> Sequence[ObjectRow]:
        """Give all objects."""
        return self._objects

    def object_edges(self) -> Sequence[ObjectEdge]:
        """Give who reads, writes and calls whom."""
        return self._all(ObjectEdge)

    def columns(self, objects: Collection[str]) -> Sequence[Column]:
        """Give the columns of some objects."""
        return self._some(Column, "object", objects)

    def constraints(self, objects: Collection[str]) -> Sequence[Constraint]:
        """Give the constraints of some objects."""
        return self._some(Constraint, "object", objects)

    def edges_into(self, objects: Collection[str]) -> Sequence[ColumnEdge]:
        """Give the column edges that end in some objects."""
        return self._some(ColumnEdge, "to_object", objects)

    def facets(self, objects: Collection[str]) -> Sequence[Facet]:
        """Give the facets of some objects."""
        return self._some(Facet, "object", objects)

    def parts(self, objects: Collection[str]) -> Sequence[ObjectStatement]:
        """Give which statements define, write and read some objects."""
        return self._some(ObjectStatement, "object", objects)

    def statements(self, paths: Collection[str]) -> Sequence[StatementRow]:
        """Give the statements of some files."""
        return self._some(StatementRow, "path", paths)

    def findings(self) -> Sequence[Diagnostic]:
        """Give all findings."""
        return self._all(Diagnostic)

    def rows(self) -> Lineage:
        """Give everything."""
        tables: dict[str, Any] = {name: self._all(TABLES[name].row) for name in Lineage.__struct_fields__}
        return Lineage(**tables)

    @cached_property
    def _graph(self) -> ColumnGraph:
        return stored_graph(self._tables)

    @cached_property
    def _objects(self) -> Sequence[ObjectRow]:
        return self._all(ObjectRow)

    def _all(self, row: type[RowT]) -> tuple[RowT, ...]:
        table = _table_of(row)
        return _sorted(table, read_all(self._tables, table), row)

    def _some(self, row: type[RowT], column: str, values: Collection[str]) -> tuple[RowT, ...]:
        table = _table_of(row)
        return _sorted(table, read_where(self._tables, table, column, values), row) if values else ()


def _table_of(row: type[msgspec.Struct]) -> str:
    return next(table.name for table in TABLES.values() if table.row is row)


def _sorted(table: str, content: pa.Table, row: type[RowT]) -> tuple[RowT, ...]:
    """Make rows in the order of the table's key."""
    order = pc.sort_indices(content, sort_keys=[(name, "ascending", "at_start") for name in TABLES[table].key])
    return from_arrow(table, content.take(order), row)
