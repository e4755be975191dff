"""Impact: every column or object that feeds some others or is fed by them, with distance and last hop."""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum

import msgspec

from lineage_pipeline.engine.trace.column_graph import ALL, ColumnGraph, ColumnRef, find_neighbors, measure_hops
from lineage_pipeline.engine.trace.facts import LineageFacts
from lineage_pipeline.engine.trace.selectors import UNLIMITED_DEPTH
from lineage_pipeline.model.enums import EdgeKind, EdgeType, Subtype
from lineage_pipeline.model.tables import ColumnEdge, ObjectEdge


class Direction(StrEnum):
    """The direction of a walk: to what feeds the start, or to what it feeds."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"


class Follow(StrEnum):
    """Which columns count: those that values reach, those that only conditions reach, or all."""

    ALL = "all"
    DIRECT = "direct"
    INDIRECT = "indirect"


class Via(msgspec.Struct, frozen=True):
    """The hop that leads to a reached column or object: its neighbor towards the start, and the edge between them."""

    object: str
    column: str | None
    type: EdgeType | None
    subtype: Subtype | None
    expression: str | None
    path: str | None
    line: int | None


class Reached(msgspec.Struct, frozen=True):
    """A column or object within reach; a root has no known input, a leaf feeds nothing."""

    direction: Direction
    hops: int
    object: str
    column: str | None
    root: bool
    leaf: bool
    via: Via | None = None


def reach_columns(
    facts: LineageFacts,
    starts: Collection[ColumnRef],
    direction: Direction,
    depth: int = UNLIMITED_DEPTH,
    follow: Follow = Follow.ALL,
) -> tuple[Reached, ...]:
    """The columns within reach in one direction, the nearest first, then by name; cycles end."""
    graph = facts.graph()
    up = direction is Direction.UPSTREAM
    numbers = sorted({graph.index[ref] for ref in starts if ref in graph.index})
    links = graph.links(follow is Follow.DIRECT)
    distances = measure_hops(graph, numbers, links.up if up else links.down, depth=depth, up=up)
    by_value: Collection[int] = ()
    if follow is Follow.INDIRECT:
        values = graph.links(direct_only=True)
        by_value = measure_hops(graph, numbers, values.up if up else values.down, up=up)
    near = {graph.refs[node]: distance for node, distance in distances.items() if node < graph.columns}
    shown = sorted((distance, node) for node, distance in distances.items() if distance and node < graph.columns)
    edges = _read_edges(facts, near, direction, follow)
    return tuple(
        Reached(
            direction,
            distance,
            graph.refs[node].object,
            graph.refs[node].column,
            root=not links.up.of(node),
            leaf=not links.down.of(node),
            via=edges.find_via(graph.refs[node], distance, near),
        )
        for distance, node in shown
        if node not in by_value
    )


def _read_edges(
    facts: LineageFacts, near: Mapping[ColumnRef, int], direction: Direction, follow: Follow
) -> "_WalkEdges":
    """The edges between the columns of a walk."""
    up = direction is Direction.UPSTREAM
    objects = {ref.object for ref, distance in near.items() if up or distance}
    rows = facts.edges_into(objects) if len(near) > 1 else ()
    if follow is Follow.DIRECT:
        rows = [row for row in rows if row.type is EdgeType.DIRECT]
    return _WalkEdges(rows, near, up)


class _WalkEdges:
    """Column edges by the end that is further from the start, between columns of the walk only."""

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

    def find_via(self, ref: ColumnRef, distance: int, near: Mapping[ColumnRef, int]) -> Via | None:
        """The best edge between a column and one that is a hop nearer to the start."""
        edges = (*self.exact.get(ref, ()), *self.wide.get(ref.object, ()))
        found = [(other, edge) for edge in edges for other in self._nearer_columns(edge) if near[other] == distance - 1]
        if not found:
            return None
        other, edge = min(found, key=lambda pair: _via_order(*pair))
        return Via(
            object=other.object,
            column=other.column,
            type=edge.type,
            subtype=edge.subtype,
            expression=edge.expression,
            path=edge.path,
            line=edge_line(edge),
        )

    def _nearer_columns(self, edge: ColumnEdge) -> Iterator[ColumnRef]:
        """The nearer ends of an edge."""
        name, column = (edge.to_object, edge.to_column) if self.up else (edge.from_object, edge.from_column)
        known = self.members.get(name, ())
        if column == ALL:
            yield from (ColumnRef(name, one) for one in known)
        elif column in known:
            yield ColumnRef(name, column)


def _via_order(other: ColumnRef, edge: ColumnEdge) -> tuple[bool, str, int, int, ColumnRef, str]:
    """Sort key: edges that carry values first, then text order."""
    start = edge.span.start if edge.span else -1
    return edge.type is not EdgeType.DIRECT, edge.path, edge.statement, start, other, edge.subtype


def edge_line(edge: ColumnEdge) -> int | None:
    """The line of an edge's expression, or None where it is unknown."""
    place = edge.span or edge.from_span
    return place.line if place else None


class ObjectLinks:
    """Objects and their neighbors in both directions."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Take pairs of a source and its target; an object is no neighbor of itself."""
        self.down: dict[str, set[str]] = defaultdict(set)
        self.up: dict[str, set[str]] = defaultdict(set)
        for source, target in pairs:
            if source != target:
                self.down[source].add(target)
                self.up[target].add(source)


def build_object_links(facts: LineageFacts, follow: Follow = Follow.ALL) -> ObjectLinks:
    """The neighbors of objects: by reads and writes, or by column edges of one kind."""
    if follow is Follow.ALL:
        return ObjectLinks(_data_flow_pairs(facts.object_edges()))
    direct = set(_column_edge_pairs(facts.graph(), direct_only=True))
    if follow is Follow.DIRECT:
        return ObjectLinks(direct)
    return ObjectLinks(pair for pair in _column_edge_pairs(facts.graph(), direct_only=False) if pair not in direct)


def _data_flow_pairs(edges: Iterable[ObjectEdge]) -> Iterable[tuple[str, str]]:
    """The pairs of objects between which data flows; calls are no data flow."""
    return ((edge.from_object, edge.to_object) for edge in edges if edge.kind is not EdgeKind.CALL)


def _column_edge_pairs(graph: ColumnGraph, direct_only: bool) -> Iterable[tuple[str, str]]:
    """The pairs of objects connected by columns, through hidden nodes."""
    links = graph.links(direct_only).down
    for node in range(graph.columns):
        for other in find_neighbors(graph, links, node):
            yield graph.refs[node].object, graph.refs[other].object


def reach_objects(
    links: ObjectLinks, starts: Collection[str], direction: Direction, depth: int = UNLIMITED_DEPTH
) -> tuple[Reached, ...]:
    """The objects within reach in one direction, the nearest first, then by name."""
    following = links.up if direction is Direction.UPSTREAM else links.down
    distances = dict.fromkeys(sorted(starts), 0)
    nearer: dict[str, str] = {}
    queue = deque(distances)
    while queue:
        name = queue.popleft()
        if distances[name] == depth:
            continue
        for other in sorted(following.get(name, ())):
            if other not in distances:
                distances[other], nearer[other] = distances[name] + 1, name
                queue.append(other)
    shown = sorted((distance, name) for name, distance in distances.items() if distance)
    return tuple(
        Reached(
            direction,
            distance,
            name,
            None,
            root=not links.up.get(name),
            leaf=not links.down.get(name),
            via=Via(object=nearer[name], column=None, type=None, subtype=None, expression=None, path=None, line=None),
        )
        for distance, name in shown
    )
