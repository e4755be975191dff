"""All ways from one column to another, short ones first, with what happens on each hop."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from lineage_pipeline.engine.trace.facts import Facts
from lineage_pipeline.engine.trace.graph import ALL, Adjacency, ColumnGraph, ColumnRef
from lineage_pipeline.engine.trace.walk import hops, neighbours
from lineage_pipeline.vocabulary.sets import EdgeType
from lineage_pipeline.vocabulary.tables import ColumnEdge

LONGEST_SEARCH = 2_000_000
"""Steps after which looking for further ways is given up: a graph can have more ways than anybody can count."""

Way = tuple[ColumnRef, ...]


class Leg(msgspec.Struct, frozen=True):
    """One hop of a way, and the edges that make it."""

    source: ColumnRef
    target: ColumnRef
    edges: tuple[ColumnEdge, ...]


class Routes(msgspec.Struct, frozen=True):
    """Ways in the order of their lengths; `cut` says why there may be more, else it is empty."""

    routes: tuple[tuple[Leg, ...], ...]
    cut: str = ""


def find_routes(
    facts: Facts,
    starts: Collection[ColumnRef],
    ends: Collection[ColumnRef],
    max_paths: int,
    direct_only: bool = False,
) -> Routes:
    """Give the ways between two sets of columns that pass no column twice."""
    graph = facts.graph()
    search = _Search(graph, graph.links(direct_only).down, graph.links(direct_only).up)
    found: list[Way] = []
    for way in search.ways(_known(graph, starts), _known(graph, ends)):
        if len(found) == max_paths:
            return Routes(_legs(facts, found, direct_only), f"there are more than {max_paths}")
        found.append(tuple(graph.refs[node] for node in way))
    cut = f"the search was given up after {LONGEST_SEARCH} steps" if search.steps > LONGEST_SEARCH else ""
    return Routes(_legs(facts, found, direct_only), cut)


def _known(graph: ColumnGraph, refs: Iterable[ColumnRef]) -> list[int]:
    return sorted({graph.index[ref] for ref in refs if ref in graph.index})


class _Search:
    """A search for ways of growing length, each step of which can still lead to an end in time."""

    def __init__(self, graph: ColumnGraph, down: Adjacency, up: Adjacency) -> None:
        self.graph, self.down, self.up = graph, down, up
        self.steps = 0
        self.pruned = True

    def ways(self, starts: Sequence[int], ends: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Give all ways, first those of the smallest number of hops, then by name."""
        targets = frozenset(ends)
        near = hops(self.graph, ends, self.up, up=True)
        able = [start for start in starts if start in near and start not in targets]
        length = min((near[start] for start in able), default=0)
        while length and self.pruned and self.steps <= LONGEST_SEARCH:
            self.pruned = False
            for start in able:
                yield from self._of_length(start, targets, length, near)
            length += 1

    def _of_length(
        self, start: int, ends: frozenset[int], length: int, near: dict[int, int]
    ) -> Iterator[tuple[int, ...]]:
        """Walk in depth; a way ends at the first end that it meets."""
        path = [start]
        waiting = [iter(self._next(path, length, near) if near[start] <= length else ())]
        self.pruned |= near[start] > length
        while waiting and self.steps <= LONGEST_SEARCH:
            node = next(waiting[-1], None)
            if node is None:
                waiting.pop()
                path.pop()
            elif node in ends and len(path) == length:
                yield (*path, node)
            elif node not in ends and len(path) < length:
                path.append(node)
                waiting.append(iter(self._next(path, length, near)))

    def _next(self, path: list[int], length: int, near: dict[int, int]) -> list[int]:
        """List where to go on; what cannot arrive within the length waits for a longer one."""
        found = []
        for other in neighbours(self.graph, self.down, path[-1]):
            self.steps += 1
            if other not in near or other in path:
                continue
            if len(path) + near[other] <= length:
                found.append(other)
            else:
                self.pruned = True
        return sorted(found)


def _legs(facts: Facts, ways: Sequence[Way], direct_only: bool) -> tuple[tuple[Leg, ...], ...]:
    rows = facts.edges_into({ref.object for way in ways for ref in way[1:]}) if ways else ()
    pairs: dict[tuple[str, str], list[ColumnEdge]] = defaultdict(list)
    for row in rows:
        if row.type is EdgeType.DIRECT or not direct_only:
            pairs[row.from_object, row.to_object].append(row)
    return tuple(tuple(_leg(*ends, pairs) for ends in zip(way, way[1:], strict=False)) for way in ways)


def _leg(source: ColumnRef, target: ColumnRef, pairs: dict[tuple[str, str], list[ColumnEdge]]) -> Leg:
    rows = pairs.get((source.object, target.object), ())
    fitting = (row for row in rows if row.from_column in (source.column, ALL) and row.to_column in (target.column, ALL))
    return Leg(source, target, tuple(sorted(fitting, key=lambda row: (row.type, row.path, row.statement, row.subtype))))
