"""Reach at object level: which objects feed which, over how many hops."""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable

from lineage_pipeline.engine.trace.column_graph import ColumnGraph
from lineage_pipeline.engine.trace.facts import LineageFacts
from lineage_pipeline.engine.trace.impact import Direction, Follow, Reached, Via
from lineage_pipeline.engine.trace.selectors import UNLIMITED_DEPTH
from lineage_pipeline.engine.trace.walk import find_neighbors
from lineage_pipeline.model.enums import EdgeKind
from lineage_pipeline.model.tables import ObjectEdge


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
