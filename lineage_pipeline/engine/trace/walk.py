"""Walks through the column graph from a few columns: what feeds them, what they feed, and along which paths."""

from collections import deque
from collections.abc import Iterable, Iterator

from lineage_pipeline.engine.trace.column_graph import Adjacency, ColumnGraph, ColumnRef


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


def find_simple_paths(
    graph: ColumnGraph, start: ColumnRef, end: ColumnRef, max_paths: int = 100, direct_only: bool = False
) -> tuple[tuple[ColumnRef, ...], ...]:
    """The paths from one column to another that pass no column twice, short ones first."""
    if start not in graph.index or end not in graph.index or max_paths < 1:
        return ()
    links = graph.links(direct_only)
    near = measure_hops(graph, (graph.index[end],), links.up, up=True)
    found = []
    for path in _iter_simple_paths(graph, links.down, graph.index[start], graph.index[end], near):
        found.append(tuple(graph.refs[node] for node in path))
        if len(found) == max_paths:
            break
    return tuple(sorted(found, key=lambda path: (len(path), path)))


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


def _iter_simple_paths(
    graph: ColumnGraph, links: Adjacency, start: int, end: int, near: dict[int, int]
) -> Iterator[tuple[int, ...]]:
    """Depth-first walk through nodes that lead to the end; those nearest to it go first."""
    if start == end or start not in near:
        return
    path = [start]
    waiting = [iter(_next_columns(graph, links, start, near))]
    while waiting:
        node = next(waiting[-1], None)
        if node is None:
            waiting.pop()
            path.pop()
        elif node == end:
            yield (*path, end)
        elif node not in path:
            path.append(node)
            waiting.append(iter(_next_columns(graph, links, node, near)))


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


def _next_columns(graph: ColumnGraph, links: Adjacency, node: int, near: dict[int, int]) -> list[int]:
    """The columns one hop away that lead to the end, the nearest to it first."""
    found = find_neighbors(graph, links, node)
    return sorted((other for other in found if other in near), key=lambda other: (near[other], other))
