"""All paths from one column to another, short ones first, with the edges of each hop."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from lineage_pipeline.engine.trace.column_graph import (
    ALL,
    Adjacency,
    ColumnGraph,
    ColumnRef,
    find_neighbors,
    measure_hops,
)
from lineage_pipeline.engine.trace.facts import LineageFacts
from lineage_pipeline.model.enums import EdgeType
from lineage_pipeline.model.tables import ColumnEdge

MAX_SEARCH_STEPS = 2_000_000
"""Steps after which the search is given up: a graph can have too many paths to count."""

ColumnPath = tuple[ColumnRef, ...]


class Leg(msgspec.Struct, frozen=True):
    """One hop of a path, and the edges that make it."""

    source: ColumnRef
    target: ColumnRef
    edges: tuple[ColumnEdge, ...]


class Routes(msgspec.Struct, frozen=True):
    """Paths in the order of their lengths; `cut` says why there may be more, else it is empty."""

    routes: tuple[tuple[Leg, ...], ...]
    cut: str = ""


def find_routes(
    facts: LineageFacts,
    starts: Collection[ColumnRef],
    ends: Collection[ColumnRef],
    max_paths: int,
    direct_only: bool = False,
) -> Routes:
    """The paths between two sets of columns that pass no column twice."""
    graph = facts.graph()
    search = _PathSearch(graph, graph.links(direct_only).down, graph.links(direct_only).up)
    found: list[ColumnPath] = []
    for way in search.iter_paths(_known_nodes(graph, starts), _known_nodes(graph, ends)):
        if len(found) == max_paths:
            return Routes(_build_legs(facts, found, direct_only), f"there are more than {max_paths}")
        found.append(tuple(graph.refs[node] for node in way))
    cut = f"the search was given up after {MAX_SEARCH_STEPS} steps" if search.steps > MAX_SEARCH_STEPS else ""
    return Routes(_build_legs(facts, found, direct_only), cut)


def _known_nodes(graph: ColumnGraph, refs: Iterable[ColumnRef]) -> list[int]:
    return sorted({graph.index[ref] for ref in refs if ref in graph.index})


class _PathSearch:
    """A search for paths of growing length that follows only steps which can reach an end in time."""

    def __init__(self, graph: ColumnGraph, down: Adjacency, up: Adjacency) -> None:
        self.graph, self.down, self.up = graph, down, up
        self.steps = 0
        self.pruned = True

    def iter_paths(self, starts: Sequence[int], ends: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """All paths, first those with the fewest hops, then by name."""
        targets = frozenset(ends)
        near = measure_hops(self.graph, ends, self.up, up=True)
        able = [start for start in starts if start in near and start not in targets]
        length = min((near[start] for start in able), default=0)
        while length and self.pruned and self.steps <= MAX_SEARCH_STEPS:
            self.pruned = False
            for start in able:
                yield from self._paths_of_length(start, targets, length, near)
            length += 1

    def _paths_of_length(
        self, start: int, ends: frozenset[int], length: int, near: dict[int, int]
    ) -> Iterator[tuple[int, ...]]:
        """Depth-first walk; a path ends at the first end that it meets."""
        path = [start]
        waiting = [iter(self._next_nodes(path, length, near) if near[start] <= length else ())]
        self.pruned |= near[start] > length
        while waiting and self.steps <= MAX_SEARCH_STEPS:
            node = next(waiting[-1], None)
            if node is None:
                waiting.pop()
                path.pop()
            elif node in ends and len(path) == length:
                yield (*path, node)
            elif node not in ends and len(path) < length:
                path.append(node)
                waiting.append(iter(self._next_nodes(path, length, near)))

    def _next_nodes(self, path: list[int], length: int, near: dict[int, int]) -> list[int]:
        """The possible next nodes; those that cannot arrive within the length wait for a longer one."""
        found = []
        for other in find_neighbors(self.graph, self.down, path[-1]):
            self.steps += 1
            if other not in near or other in path:
                continue
            if len(path) + near[other] <= length:
                found.append(other)
            else:
                self.pruned = True
        return sorted(found)


def _build_legs(facts: LineageFacts, ways: Sequence[ColumnPath], direct_only: bool) -> tuple[tuple[Leg, ...], ...]:
    rows = facts.edges_into({ref.object for way in ways for ref in way[1:]}) if ways else ()
    pairs: dict[tuple[str, str], list[ColumnEdge]] = defaultdict(list)
    for row in rows:
        if row.type is EdgeType.DIRECT or not direct_only:
            pairs[row.from_object, row.to_object].append(row)
    return tuple(tuple(_build_leg(*ends, pairs) for ends in zip(way, way[1:], strict=False)) for way in ways)


def _build_leg(source: ColumnRef, target: ColumnRef, pairs: dict[tuple[str, str], list[ColumnEdge]]) -> Leg:
    rows = pairs.get((source.object, target.object), ())
    fitting = (row for row in rows if row.from_column in (source.column, ALL) and row.to_column in (target.column, ALL))
    return Leg(source, target, tuple(sorted(fitting, key=lambda row: (row.type, row.path, row.statement, row.subtype))))
