"""The column graph straight from stored edges: five columns of the table, and no row is ever made."""

from array import array
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_pipeline.engine.trace.graph import ALL, Adjacency, ColumnGraph, ColumnRef, Links
from lineage_pipeline.store.building import array_of, repeated, scalar_of
from lineage_pipeline.store.tables import Tables, read_columns
from lineage_pipeline.vocabulary.sets import EdgeType

ENDS = ("from_object", "from_column", "to_object", "to_column", "type")


def stored_graph(tables: Tables) -> ColumnGraph:
    """Build the same graph as `column_graph` does from rows."""
    return graph_of(read_columns(tables, "column_edges", ENDS), read_columns(tables, "columns", ("object", "name")))


class Layout:
    """The nodes and edges of a graph as Arrow has them: `refs` are the columns, in the order of their numbers."""

    def __init__(self, edges: pa.Table, listed: pa.Table) -> None:
        """Number the columns that are listed, and the ends of edges."""
        edges = edges.combine_chunks()
        direct = pc.equal(edges["type"], scalar_of(EdgeType.DIRECT.value))
        whole = pc.equal(edges["from_column"], scalar_of(ALL))
        wide = pc.and_(pc.equal(edges["to_column"], scalar_of(ALL)), pc.invert(direct))
        self.refs = _refs(listed, edges, whole, wide)
        into = _unique(edges["to_object"].filter(wide))
        out_of = _unique(edges["from_object"].filter(whole))
        self.columns, self.into = len(self.refs), len(self.refs) + len(into)
        self._size = self.into + len(out_of)
        self._places = places = _Places(self.refs, into, out_of)
        source = pc.if_else(whole, places.out_of(edges["from_object"]), places.column(edges, "from_"))
        target = pc.if_else(wide, places.into(edges["to_object"]), places.column(edges, "to_"))
        numbers = array_of(range(self.columns), pa.int64())
        names = self.refs["object"].combine_chunks()
        self._inside = (places.into(names), numbers)
        self._taken = (numbers, places.out_of(names))
        self._values = (source.filter(direct), target.filter(direct))
        self._every = (source, target)

    def links(self, direct_only: bool) -> Links:
        """Give the edges that carry values, or all of them."""
        taken = [self._taken, self._values] if direct_only else [self._inside, self._taken, self._every]
        return _links(taken, self._size)

    def nodes(self, listed: pa.Table) -> list[int]:
        """Give the numbers of columns by their objects and names."""
        numbers: list[int] = self._places.column(listed.rename_columns(["object", "column"]), "").to_pylist()
        return numbers

    def owners(self) -> "array[int]":
        """Number the objects of all columns, in order."""
        return array("i", pc.index_in(self.refs["object"], value_set=pc.unique(self.refs["object"])).to_pylist())


def graph_of(edges: pa.Table, listed: pa.Table) -> ColumnGraph:
    """Build the graph from the ends of edges and the names of columns."""
    laid = Layout(edges, listed)
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


def _unique(names: Any) -> pa.Array:
    found = pc.unique(names)
    return found.take(pc.sort_indices(found))


def _refs(listed: pa.Table, edges: pa.Table, whole: Any, wide: Any) -> pa.Table:
    """Give every column once, by name; an object that shows none has the one column `*`."""
    sources, targets = edges.filter(pc.invert(whole)), edges.filter(pc.invert(wide))
    parts = [
        listed.rename_columns(["object", "column"]),
        sources.select(["from_object", "from_column"]).rename_columns(["object", "column"]),
        targets.select(["to_object", "to_column"]).rename_columns(["object", "column"]),
    ]
    known = _distinct(pa.concat_tables([part.cast(_PAIR) for part in parts]))
    hidden = pc.unique(
        pa.chunked_array(
            [*edges["to_object"].filter(wide).chunks, *edges["from_object"].filter(whole).chunks], pa.string()
        )
    )
    bare = hidden.filter(pc.invert(pc.is_in(hidden, value_set=pc.unique(known["object"]))))
    starred = pa.Table.from_arrays([bare, repeated(ALL, len(bare))], schema=_PAIR)
    joint = pa.concat_tables([known, starred])
    return joint.sort_by([("object", "ascending"), ("column", "ascending")]).combine_chunks()


def _distinct(pairs: pa.Table) -> pa.Table:
    """Give each pair once; grouping would import all that Arrow has for datasets."""
    objects, columns = pc.unique(pairs["object"]), pc.unique(pairs["column"])
    codes = pc.unique(_codes(pairs["object"], pairs["column"], objects, columns))
    high = pc.divide(codes, scalar_of(max(len(columns), 1)))
    low = pc.subtract(codes, pc.multiply(high, scalar_of(len(columns))))
    return pa.Table.from_arrays([objects.take(high), columns.take(low)], schema=_PAIR)


def _codes(objects: Any, columns: Any, every_object: pa.Array, every_column: pa.Array) -> Any:
    """Number pairs of names."""
    high = pc.cast(pc.index_in(objects, value_set=every_object), pa.int64())
    return pc.add(pc.multiply(high, scalar_of(len(every_column))), pc.index_in(columns, value_set=every_column))


_PAIR = pa.schema([("object", pa.string()), ("column", pa.string())])


class _Places:
    """Names to the numbers of nodes."""

    def __init__(self, refs: pa.Table, into: pa.Array, out_of: pa.Array) -> None:
        self._objects, self._columns = pc.unique(refs["object"]), pc.unique(refs["column"])
        self._codes = self._code(refs["object"], refs["column"])
        self._into, self._out_of = into, out_of
        self._count = len(refs)

    def _code(self, objects: Any, columns: Any) -> Any:
        return _codes(objects, columns, self._objects, self._columns)

    def column(self, edges: pa.Table, side: str) -> Any:
        """Give the nodes of the columns at one side of the edges; null where there is none."""
        codes = self._code(edges[f"{side}object"], edges[f"{side}column"])
        return pc.cast(pc.index_in(codes, value_set=self._codes), pa.int64())

    def into(self, objects: Any) -> Any:
        """Give the hidden nodes that lead into objects."""
        return pc.add(pc.cast(pc.index_in(objects, value_set=self._into), pa.int64()), scalar_of(self._count))

    def out_of(self, objects: Any) -> Any:
        """Give the hidden nodes that lead out of objects."""
        past = scalar_of(self._count + len(self._into))
        return pc.add(pc.cast(pc.index_in(objects, value_set=self._out_of), pa.int64()), past)


def _links(pairs: list[tuple[Any, Any]], size: int) -> Links:
    sources = pa.chunked_array([_flat(source) for source, _ in pairs], pa.int64())
    targets = pa.chunked_array([_flat(target) for _, target in pairs], pa.int64())
    both = pc.and_(pc.is_valid(sources), pc.is_valid(targets))
    sources, targets = sources.filter(both), targets.filter(both)
    return Links(down=_adjacency(sources, targets, size), up=_adjacency(targets, sources, size))


def _flat(values: Any) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _adjacency(sources: Any, targets: Any, size: int) -> Adjacency:
    """Lay edges end to end: neighbours in the order of their numbers, each once."""
    width = scalar_of(size)
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
