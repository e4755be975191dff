"""The column graph of one lineage: columns as numbers, edges as two flat arrays; and walks from a few columns."""

from array import array
from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeType
from lineage_pipeline.model.tables import ColumnEdge

ALL = "*"
"""As a target: every column of the object; as a source: all of its columns as one value."""


class ColumnRef(msgspec.Struct, frozen=True, order=True):
    """One column of one object, by its normalized name; `*` represents the columns that no schema lists."""

    object: str
    column: str


class Adjacency(msgspec.Struct, frozen=True):
    """Neighbors of all nodes, end to end: those of node `i` are `targets[offsets[i]:offsets[i + 1]]`."""

    offsets: "array[int]"
    targets: "array[int]"

    def of(self, node: int) -> "array[int]":
        """The neighbors of one node, in the order of their numbers."""
        return self.targets[self.offsets[node] : self.offsets[node + 1]]


class GraphLinks(msgspec.Struct, frozen=True):
    """The same edges, indexed from both ends."""

    down: Adjacency
    up: Adjacency


class ColumnGraph(msgspec.Struct, frozen=True):
    """Columns numbered in the order of their names, then two kinds of hidden nodes.

    A statement-wide edge ends in the `into` node of its object, which leads to all of its columns, and an edge that
    takes an object as a whole starts from its `out_of` node: so `filters + columns` edges do for `filters × columns`.
    Nodes below `columns` are columns, those below `into` are `into` nodes, the rest are `out_of` nodes.
    """

    refs: tuple[ColumnRef, ...]
    index: dict[ColumnRef, int]
    columns: int
    into: int
    direct: GraphLinks
    every: GraphLinks

    def links(self, direct_only: bool) -> GraphLinks:
        """The edges that carry values, or all of them."""
        return self.direct if direct_only else self.every

    def hop(self, source: int, target: int) -> int:
        """The cost of an edge: a path through a hidden node is one hop, not two."""
        return 0 if target >= self.into or self.columns <= source < self.into else 1


def build_column_graph(lineage: LineageTables) -> ColumnGraph:
    """Build the graph of a lineage's columns; the order of the rows does not matter."""
    members = _list_columns(lineage)
    refs = tuple(ColumnRef(name, column) for name in sorted(members) for column in sorted(members[name]))
    index = {ref: number for number, ref in enumerate(refs)}
    into = {name: len(refs) + number for number, name in enumerate(_wide_targets(lineage.column_edges))}
    out_of = {name: len(refs) + len(into) + number for number, name in enumerate(_whole_sources(lineage.column_edges))}
    size = len(refs) + len(into) + len(out_of)

    def ends(edge: ColumnEdge) -> tuple[int, int]:
        whole, wide = edge.from_column == ALL, _is_wide(edge)
        source = out_of[edge.from_object] if whole else index[ColumnRef(edge.from_object, edge.from_column)]
        target = into[edge.to_object] if wide else index[ColumnRef(edge.to_object, edge.to_column)]
        return source, target

    inside = [(node, index[ColumnRef(name, column)]) for name, node in into.items() for column in members[name]]
    whole = [(index[ColumnRef(name, column)], node) for name, node in out_of.items() for column in members[name]]
    values = [ends(edge) for edge in lineage.column_edges if edge.type is EdgeType.DIRECT]
    others = [ends(edge) for edge in lineage.column_edges if edge.type is not EdgeType.DIRECT]
    return ColumnGraph(
        refs=refs,
        index=index,
        columns=len(refs),
        into=len(refs) + len(into),
        direct=_build_links(whole + values, size),
        every=_build_links(inside + whole + values + others, size),
    )


def _is_wide(edge: ColumnEdge) -> bool:
    return edge.to_column == ALL and edge.type is not EdgeType.DIRECT


def _wide_targets(edges: Iterable[ColumnEdge]) -> list[str]:
    return sorted({edge.to_object for edge in edges if _is_wide(edge)})


def _whole_sources(edges: Iterable[ColumnEdge]) -> list[str]:
    return sorted({edge.from_object for edge in edges if edge.from_column == ALL})


def _list_columns(lineage: LineageTables) -> dict[str, set[str]]:
    """The columns of each object; an object without any has the single column `*`."""
    members: dict[str, set[str]] = {}
    for name, column in _iter_columns(lineage):
        members.setdefault(name, set()).add(column)
    for name in (*_wide_targets(lineage.column_edges), *_whole_sources(lineage.column_edges)):
        members.setdefault(name, {ALL})
    return members


def _iter_columns(lineage: LineageTables) -> Iterator[tuple[str, str]]:
    for column in lineage.columns:
        yield column.object, column.name
    for edge in lineage.column_edges:
        if edge.from_column != ALL:
            yield edge.from_object, edge.from_column
        if not _is_wide(edge):
            yield edge.to_object, edge.to_column


def _build_links(pairs: list[tuple[int, int]], size: int) -> GraphLinks:
    return GraphLinks(
        down=_build_adjacency({source * size + target for source, target in pairs}, size),
        up=_build_adjacency({target * size + source for source, target in pairs}, size),
    )


def _build_adjacency(codes: set[int], size: int) -> Adjacency:
    """Adjacency of edges that are encoded as `from * size + to`."""
    offsets = array("l", bytes(array("l").itemsize * (size + 1)))
    for code in codes:
        offsets[code // size + 1] += 1
    for node in range(size):
        offsets[node + 1] += offsets[node]
    return Adjacency(offsets=offsets, targets=array("l", [code % size for code in sorted(codes)]))


def find_upstream(
    graph: ColumnGraph, columns: Iterable[ColumnRef], depth: int | None = None, direct_only: bool = False
) -> dict[ColumnRef, int]:
    """The columns that feed the given ones, with their distance in hops, nearest first."""
    return _column_distances(
        graph, measure_hops(graph, _column_numbers(graph, columns), graph.links(direct_only).up, depth=depth, up=True)
    )


def find_downstream(
    graph: ColumnGraph, columns: Iterable[ColumnRef], depth: int | None = None, direct_only: bool = False
) -> dict[ColumnRef, int]:
    """The columns that the given ones feed, with their distance in hops, nearest first."""
    return _column_distances(
        graph, measure_hops(graph, _column_numbers(graph, columns), graph.links(direct_only).down, depth=depth)
    )


def measure_hops(
    graph: ColumnGraph, starts: Iterable[int], links: Adjacency, *, depth: int | None = None, up: bool = False
) -> dict[int, int]:
    """The distance of every node within reach, including the starts and hidden nodes."""
    distances = dict.fromkeys(starts, 0)
    queue = deque(distances)
    while queue:
        node = queue.popleft()
        for other in links.of(node):
            cost = graph.hop(other, node) if up else graph.hop(node, other)
            distance = distances[node] + cost
            if distance >= distances.get(other, distance + 1) or (depth is not None and distance > depth):
                continue
            distances[other] = distance
            if cost:
                queue.append(other)
            else:
                queue.appendleft(other)
    return distances


def _column_numbers(graph: ColumnGraph, columns: Iterable[ColumnRef]) -> list[int]:
    return sorted({graph.index[column] for column in columns if column in graph.index})


def _column_distances(graph: ColumnGraph, distances: dict[int, int]) -> dict[ColumnRef, int]:
    """The columns of a walk with their distances, without its starts."""
    shown = sorted((distance, node) for node, distance in distances.items() if distance and node < graph.columns)
    return {graph.refs[node]: distance for distance, node in shown}


def find_neighbors(graph: ColumnGraph, links: Adjacency, node: int) -> set[int]:
    """The columns one hop away, through hidden nodes."""
    found: set[int] = set()
    hidden = [node]
    while hidden:
        for other in links.of(hidden.pop()):
            if other < graph.columns:
                found.add(other)
            else:
                hidden.append(other)
    return found
