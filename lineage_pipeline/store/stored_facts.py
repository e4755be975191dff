"""Facts and the column graph from Parquet files: each query reads only the tables, columns and row groups it needs."""

from array import array
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lineage_pipeline.engine.trace.column_graph import ALL, Adjacency, ColumnGraph, ColumnRef, GraphLinks
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeType
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
from lineage_pipeline.store.row_conversion import arrow_to_rows, build_array, build_scalar, repeat_text
from lineage_pipeline.store.table_files import TableFiles, read_all_rows, read_columns, read_matching_rows

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


EDGE_COLUMNS = ("from_object", "from_column", "to_object", "to_column", "type")


def load_column_graph(tables: TableFiles) -> ColumnGraph:
    """Build the same graph as `column_graph` does from rows."""
    return build_graph_from_arrow(
        read_columns(tables, "column_edges", EDGE_COLUMNS), read_columns(tables, "columns", ("object", "name"))
    )


class GraphLayout:
    """Nodes and edges of a graph as Arrow arrays: `refs` are the columns, in the order of their numbers."""

    def __init__(self, edges: pa.Table, listed: pa.Table) -> None:
        """Number the listed columns, and the ends of edges."""
        edges = edges.combine_chunks()
        direct = pc.equal(edges["type"], build_scalar(EdgeType.DIRECT.value))
        whole = pc.equal(edges["from_column"], build_scalar(ALL))
        wide = pc.and_(pc.equal(edges["to_column"], build_scalar(ALL)), pc.invert(direct))
        self.refs = _collect_columns(listed, edges, whole, wide)
        into = _sorted_unique(edges["to_object"].filter(wide))
        out_of = _sorted_unique(edges["from_object"].filter(whole))
        self.columns, self.into = len(self.refs), len(self.refs) + len(into)
        self._size = self.into + len(out_of)
        self._places = places = _NodeNumbers(self.refs, into, out_of)
        source = pc.if_else(whole, places.out_of(edges["from_object"]), places.column(edges, "from_"))
        target = pc.if_else(wide, places.into(edges["to_object"]), places.column(edges, "to_"))
        numbers = build_array(range(self.columns), pa.int64())
        names = self.refs["object"].combine_chunks()
        self._inside = (places.into(names), numbers)
        self._taken = (numbers, places.out_of(names))
        self._values = (source.filter(direct), target.filter(direct))
        self._every = (source, target)

    def links(self, direct_only: bool) -> GraphLinks:
        """Return the edges that carry values, or all of them."""
        taken = [self._taken, self._values] if direct_only else [self._inside, self._taken, self._every]
        return _build_links(taken, self._size)

    def nodes(self, listed: pa.Table) -> list[int]:
        """Return the numbers of columns by their objects and names."""
        numbers: list[int] = self._places.column(listed.rename_columns(["object", "column"]), "").to_pylist()
        return numbers

    def owners(self) -> "array[int]":
        """Return the object numbers of all columns, in order."""
        return array("i", pc.index_in(self.refs["object"], value_set=pc.unique(self.refs["object"])).to_pylist())


def build_graph_from_arrow(edges: pa.Table, listed: pa.Table) -> ColumnGraph:
    """Build the graph from the ends of edges and the names of columns."""
    laid = GraphLayout(edges, listed)
    names = zip(laid.refs["object"].to_pylist(), laid.refs["column"].to_pylist(), strict=True)
    pairs = tuple(ColumnRef(*pair) for pair in names)
    return ColumnGraph(
        refs=pairs,
        index={ref: number for number, ref in enumerate(pairs)},
        columns=laid.columns,
        into=laid.into,
        direct=laid.links(direct_only=True),
        every=laid.links(direct_only=False),
    )


def _sorted_unique(names: Any) -> pa.Array:
    found = pc.unique(names)
    return found.take(pc.sort_indices(found))


def _collect_columns(listed: pa.Table, edges: pa.Table, whole: Any, wide: Any) -> pa.Table:
    """Return every column once, by name; an object without known columns has the one column `*`."""
    sources, targets = edges.filter(pc.invert(whole)), edges.filter(pc.invert(wide))
    parts = [
        listed.rename_columns(["object", "column"]),
        sources.select(["from_object", "from_column"]).rename_columns(["object", "column"]),
        targets.select(["to_object", "to_column"]).rename_columns(["object", "column"]),
    ]
    known = _distinct_pairs(pa.concat_tables([part.cast(_PAIR_SCHEMA) for part in parts]))
    hidden = pc.unique(
        pa.chunked_array(
            [*edges["to_object"].filter(wide).chunks, *edges["from_object"].filter(whole).chunks], pa.string()
        )
    )
    bare = hidden.filter(pc.invert(pc.is_in(hidden, value_set=pc.unique(known["object"]))))
    starred = pa.Table.from_arrays([bare, repeat_text(ALL, len(bare))], schema=_PAIR_SCHEMA)
    joint = pa.concat_tables([known, starred])
    return joint.sort_by([("object", "ascending"), ("column", "ascending")]).combine_chunks()


def _distinct_pairs(pairs: pa.Table) -> pa.Table:
    """Return each pair once; Arrow's grouping would import its dataset modules."""
    objects, columns = pc.unique(pairs["object"]), pc.unique(pairs["column"])
    codes = pc.unique(_encode_pairs(pairs["object"], pairs["column"], objects, columns))
    high = pc.divide(codes, build_scalar(max(len(columns), 1)))
    low = pc.subtract(codes, pc.multiply(high, build_scalar(len(columns))))
    return pa.Table.from_arrays([objects.take(high), columns.take(low)], schema=_PAIR_SCHEMA)


def _encode_pairs(objects: Any, columns: Any, every_object: pa.Array, every_column: pa.Array) -> Any:
    """Number pairs of names."""
    high = pc.cast(pc.index_in(objects, value_set=every_object), pa.int64())
    return pc.add(pc.multiply(high, build_scalar(len(every_column))), pc.index_in(columns, value_set=every_column))


_PAIR_SCHEMA = pa.schema([("object", pa.string()), ("column", pa.string())])


class _NodeNumbers:
    """Maps names to the numbers of nodes."""

    def __init__(self, refs: pa.Table, into: pa.Array, out_of: pa.Array) -> None:
        self._objects, self._columns = pc.unique(refs["object"]), pc.unique(refs["column"])
        self._codes = self._code(refs["object"], refs["column"])
        self._into, self._out_of = into, out_of
        self._count = len(refs)

    def _code(self, objects: Any, columns: Any) -> Any:
        return _encode_pairs(objects, columns, self._objects, self._columns)

    def column(self, edges: pa.Table, side: str) -> Any:
        """Return the nodes of the columns on one side of the edges; null where there is none."""
        codes = self._code(edges[f"{side}object"], edges[f"{side}column"])
        return pc.cast(pc.index_in(codes, value_set=self._codes), pa.int64())

    def into(self, objects: Any) -> Any:
        """Return the hidden nodes that lead into objects."""
        return pc.add(pc.cast(pc.index_in(objects, value_set=self._into), pa.int64()), build_scalar(self._count))

    def out_of(self, objects: Any) -> Any:
        """Return the hidden nodes that lead out of objects."""
        past = build_scalar(self._count + len(self._into))
        return pc.add(pc.cast(pc.index_in(objects, value_set=self._out_of), pa.int64()), past)


def _build_links(pairs: list[tuple[Any, Any]], size: int) -> GraphLinks:
    sources = pa.chunked_array([_combine_chunks(source) for source, _ in pairs], pa.int64())
    targets = pa.chunked_array([_combine_chunks(target) for _, target in pairs], pa.int64())
    both = pc.and_(pc.is_valid(sources), pc.is_valid(targets))
    sources, targets = sources.filter(both), targets.filter(both)
    return GraphLinks(down=_build_adjacency(sources, targets, size), up=_build_adjacency(targets, sources, size))


def _combine_chunks(values: Any) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _build_adjacency(sources: Any, targets: Any, size: int) -> Adjacency:
    """Build adjacency lists: neighbors in the order of their numbers, each once."""
    width = build_scalar(size)
    codes = pc.unique(pc.add(pc.multiply(sources, width), targets))
    codes = codes.take(pc.sort_indices(codes))
    high = pc.divide(codes, width) if len(codes) else codes
    low = pc.subtract(codes, pc.multiply(high, width))
    counts = pc.value_counts(high)
    offsets = array("l", bytes(array("l").itemsize * (size + 1)))
    for entry, count in zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True):
        offsets[entry + 1] = count
    total = 0
    for node in range(size + 1):
        total += offsets[node]
        offsets[node] = total
    return Adjacency(offsets=offsets, targets=array("l", low.to_pylist()))
