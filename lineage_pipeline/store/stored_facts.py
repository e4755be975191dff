"""Facts stored in Parquet files: each query reads only the tables, columns and row groups it needs."""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lineage_pipeline.engine.trace.column_graph import ColumnGraph
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.tables import (
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
from lineage_pipeline.store.row_conversion import arrow_to_rows
from lineage_pipeline.store.stored_graph import load_column_graph
from lineage_pipeline.store.table_reader import TableFiles, read_all_rows, read_matching_rows

RowT = TypeVar("RowT", bound=msgspec.Struct)


class StoredFacts:
    """The rows of one snapshot of a warehouse, or of a lineage file."""

    def __init__(self, tables: TableFiles) -> None:
        """Store the tables; nothing is read yet."""
        self._tables = tables

    def graph(self) -> ColumnGraph:
        """Return the column graph, built once."""
        return self._graph

    def files(self) -> Sequence[SqlFile]:
        """Return the files."""
        return self._read_all(SqlFile)

    def text(self, path: str) -> str | None:
        """Return the text of a file, where it is stored."""
        wanted = [file.source_hash for file in self.files() if file.path == path]
        return next((source.text for source in self._read_some(Source, "source_hash", wanted)), None)

    def snapshot(self) -> Snapshot | None:
        """Return the snapshot that the rows were computed from."""
        return next(iter(self._read_all(Snapshot)), None)

    def objects(self) -> Sequence[ObjectRow]:
        """Return all objects."""
        return self._objects

    def object_edges(self) -> Sequence[ObjectEdge]:
        """Return the edges between objects: reads, writes and calls."""
        return self._read_all(ObjectEdge)

    def columns(self, objects: Collection[str]) -> Sequence[Column]:
        """Return the columns of some objects."""
        return self._read_some(Column, "object", objects)

    def constraints(self, objects: Collection[str]) -> Sequence[Constraint]:
        """Return the constraints of some objects."""
        return self._read_some(Constraint, "object", objects)

    def edges_into(self, objects: Collection[str]) -> Sequence[ColumnEdge]:
        """Return the column edges that end in some objects."""
        return self._read_some(ColumnEdge, "to_object", objects)

    def facets(self, objects: Collection[str]) -> Sequence[Facet]:
        """Return the facets of some objects."""
        return self._read_some(Facet, "object", objects)

    def parts(self, objects: Collection[str]) -> Sequence[ObjectStatement]:
        """Return which statements define, write and read some objects."""
        return self._read_some(ObjectStatement, "object", objects)

    def statements(self, paths: Collection[str]) -> Sequence[StatementRow]:
        """Return the statements of some files."""
        return self._read_some(StatementRow, "path", paths)

    def findings(self) -> Sequence[Diagnostic]:
        """Return all findings."""
        return self._read_all(Diagnostic)

    def rows(self) -> LineageTables:
        """Return everything."""
        tables: dict[str, Any] = {name: self._read_all(TABLES[name].row) for name in LineageTables.__struct_fields__}
        return LineageTables(**tables)

    @cached_property
    def _graph(self) -> ColumnGraph:
        return load_column_graph(self._tables)

    @cached_property
    def _objects(self) -> Sequence[ObjectRow]:
        return self._read_all(ObjectRow)

    def _read_all(self, row: type[RowT]) -> tuple[RowT, ...]:
        table = _table_name(row)
        return _sorted_rows(table, read_all_rows(self._tables, table), row)

    def _read_some(self, row: type[RowT], column: str, values: Collection[str]) -> tuple[RowT, ...]:
        table = _table_name(row)
        return _sorted_rows(table, read_matching_rows(self._tables, table, column, values), row) if values else ()


def _table_name(row: type[msgspec.Struct]) -> str:
    return next(table.name for table in TABLES.values() if table.row is row)


def _sorted_rows(table: str, content: pa.Table, row: type[RowT]) -> tuple[RowT, ...]:
    """Return rows in the order of the table's key."""
    order = pc.sort_indices(content, sort_keys=[(name, "ascending", "at_start") for name in TABLES[table].key])
    return arrow_to_rows(table, content.take(order), row)
