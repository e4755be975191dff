"""How far something reaches: every column or object that feeds some columns or is fed by them, and over what."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum

import msgspec

from lineage_pipeline.engine.trace.facts import Facts
from lineage_pipeline.engine.trace.graph import ALL, ColumnRef
from lineage_pipeline.engine.trace.selectors import FAR
from lineage_pipeline.engine.trace.walk import hops
from lineage_pipeline.vocabulary.sets import EdgeType, Subtype
from lineage_pipeline.vocabulary.tables import ColumnEdge


class Direction(StrEnum):
    """Where a walk goes: to what feeds the start, or to what it feeds."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"


class Follow(StrEnum):
    """Which columns count: those that values reach, those that only decisions reach, or all."""

    ALL = "all"
    DIRECT = "direct"
    INDIRECT = "indirect"


class Via(msgspec.Struct, frozen=True):
    """The hop that leads to something reached: the neighbour towards the start, and how one feeds the other."""

    object: str
    column: str | None
    type: EdgeType | None
    subtype: Subtype | None
    expression: str | None
    path: str | None
    line: int | None


class Reached(msgspec.Struct, frozen=True):
    """A column or object within reach; a root is fed by nothing that is known, a leaf feeds nothing."""

    direction: Direction
    hops: int
    object: str
    column: str | None
    root: bool
    leaf: bool
    via: Via | None = None


def reach_columns(
    facts: Facts, starts: Collection[ColumnRef], direction: Direction, depth: int = FAR, follow: Follow = Follow.ALL
) -> tuple[Reached, ...]:
    """Give the columns within reach in one direction, the nearest first, then by name; it ends on cycles."""
    graph = facts.graph()
    up = direction is Direction.UPSTREAM
    numbers = sorted({graph.index[ref] for ref in starts if ref in graph.index})
    links = graph.links(follow is Follow.DIRECT)
    distances = hops(graph, numbers, links.up if up else links.down, depth=depth, up=up)
    by_value: Collection[int] = ()
    if follow is Follow.INDIRECT:
        values = graph.links(direct_only=True)
        by_value = hops(graph, numbers, values.up if up else values.down, up=up)
    near = {graph.refs[node]: distance for node, distance in distances.items() if node < graph.columns}
    shown = sorted((distance, node) for node, distance in distances.items() if distance and node < graph.columns)
    edges = _edges(facts, near, direction, follow)
    return tuple(
        Reached(
            direction,
            distance,
            graph.refs[node].object,
            graph.refs[node].column,
            root=not links.up.of(node),
            leaf=not links.down.of(node),
            via=edges.via(graph.refs[node], distance, near),
        )
        for distance, node in shown
        if node not in by_value
    )


def _edges(facts: Facts, near: Mapping[ColumnRef, int], direction: Direction, follow: Follow) -> "_Edges":
    """Read the edges between the columns of a walk."""
    up = direction is Direction.UPSTREAM
    objects = {ref.object for ref, distance in near.items() if up or distance}
    rows = facts.edges_into(objects) if len(near) > 1 else ()
    if follow is Follow.DIRECT:
        rows = [row for row in rows if row.type is EdgeType.DIRECT]
    return _Edges(rows, near, up)


class _Edges:
    """Column edges by the end that is further from the start; only those between columns of the walk count."""

    def __init__(self, edges: Iterable[ColumnEdge], columns: Collection[ColumnRef], up: bool) -> None:
        self.members: dict[str, set[str]] = defaultdict(set)
        for ref in columns:
            self.members[ref.object].add(ref.column)
        self.up = up
        self.exact: dict[ColumnRef, list[ColumnEdge]] = defaultdict(list)
        self.wide: dict[str, list[ColumnEdge]] = defaultdict(list)
        for edge in edges:
            name, column = (edge.from_object, edge.from_column) if up else (edge.to_object, edge.to_column)
            if column == ALL:
                self.wide[name].append(edge)
            else:
                self.exact[ColumnRef(name, column)].append(edge)

    def via(self, ref: ColumnRef, distance: int, near: Mapping[ColumnRef, int]) -> Via | None:
        """Give the best edge between a column and one that is a hop nearer to the start."""
        edges = (*self.exact.get(ref, ()), *self.wide.get(ref.object, ()))
        found = [(other, edge) for edge in edges for other in self._others(edge) if near[other] == distance - 1]
        if not found:
            return None
        other, edge = min(found, key=lambda pair: _rank(*pair))
        return Via(other.object, other.column, edge.type, edge.subtype, edge.expression, edge.path, line_of(edge))

    def _others(self, edge: ColumnEdge) -> Iterator[ColumnRef]:
        """Give the nearer ends of an edge."""
        name, column = (edge.to_object, edge.to_column) if self.up else (edge.from_object, edge.from_column)
        known = self.members.get(name, ())
        if column == ALL:
            yield from (ColumnRef(name, one) for one in known)
        elif column in known:
            yield ColumnRef(name, column)


def _rank(other: ColumnRef, edge: ColumnEdge) -> tuple[bool, str, int, int, ColumnRef, str]:
    """Put edges that carry values first, then the order of the text."""
    start = edge.span.start if edge.span else -1
    return edge.type is not EdgeType.DIRECT, edge.path, edge.statement, start, other, edge.subtype


def line_of(edge: ColumnEdge) -> int | None:
    """Give the line where an edge is made, if it is known."""
    place = edge.span or edge.from_span
    return place.line if place else None
