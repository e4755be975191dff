"""The same questions on the level of objects: who feeds whom, over how many hops."""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable

from lineage_pipeline.engine.trace.facts import Facts
from lineage_pipeline.engine.trace.graph import ColumnGraph
from lineage_pipeline.engine.trace.impact import Direction, Follow, Reached, Via
from lineage_pipeline.engine.trace.selectors import FAR
from lineage_pipeline.engine.trace.walk import neighbours
from lineage_pipeline.vocabulary.sets import EdgeKind
from lineage_pipeline.vocabulary.tables import ObjectEdge


class ObjectLinks:
    """Objects and their neighbours in both directions."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Take pairs of a source and what it feeds; an object is no neighbour of itself."""
        self.down: dict[str, set[str]] = defaultdict(set)
        self.up: dict[str, set[str]] = defaultdict(set)
        for source, target in pairs:
            if source != target:
                self.down[source].add(target)
                self.up[target].add(source)


def object_links(facts: Facts, follow: Follow = Follow.ALL) -> ObjectLinks:
    """Build the neighbours: all that reads and writes say, or what the edges of columns of one kind say."""
    if follow is Follow.ALL:
        return ObjectLinks(_flows(facts.object_edges()))
    direct = set(_pairs(facts.graph(), direct_only=True))
    if follow is Follow.DIRECT:
        return ObjectLinks(direct)
    return ObjectLinks(pair for pair in _pairs(facts.graph(), direct_only=False) if pair not in direct)


def _flows(edges: Iterable[ObjectEdge]) -> Iterable[tuple[str, str]]:
    """Give from where to where data flows; whom a module calls is no flow."""
    return ((edge.from_object, edge.to_object) for edge in edges if edge.kind is not EdgeKind.CALL)


def _pairs(graph: ColumnGraph, direct_only: bool) -> Iterable[tuple[str, str]]:
    """Give the pairs of objects between which columns lead, hidden nodes passed through."""
    links = graph.links(direct_only).down
    for node in range(graph.columns):
        for other in neighbours(graph, links, node):
            yield graph.refs[node].object, graph.refs[other].object


def reach_objects(
    links: ObjectLinks, starts: Collection[str], direction: Direction, depth: int = FAR
) -> tuple[Reached, ...]:
    """Give the objects within reach in one direction, the nearest first, then by name."""
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
            via=Via(nearer[name], None, None, None, None, None, None),
        )
        for distance, name in shown
    )
