"""The graph of all statements: their own graphs laid over each other, and who reads what another one produced."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.trace.statement_graph import identity_of
from lineage_pipeline.vocabulary.graph import Graph, GraphEdge, GraphNode
from lineage_pipeline.vocabulary.sets import GraphEdgeType, NodeType, Role
from lineage_pipeline.vocabulary.tables import ObjectStatement, StatementRef


def global_graph(graphs: Iterable[Graph], parts: Iterable[ObjectStatement]) -> Graph:
    """One graph of many; `parts` says which statement produces and which one reads an object."""
    nodes: dict[str, GraphNode] = {}
    edges: dict[str, GraphEdge] = {}
    for graph in graphs:
        for node in graph.nodes:
            known = nodes.get(node.id)
            nodes[node.id] = node if known is None else _joint(known, node)
        for edge in graph.edges:
            before = edges.get(edge.id)
            edges[edge.id] = edge if before is None else _both(before, edge)
    crossings = {edge.id: edge for edge in _crossings(nodes, list(parts))}
    return Graph(None, None, tuple(nodes.values()), (*edges.values(), *crossings.values()))


def _joint(known: GraphNode, node: GraphNode) -> GraphNode:
    """One thing in several statements."""
    refs = (*known.statement_refs, *node.statement_refs)
    return msgspec.structs.replace(known, statement_refs=refs, expression=known.expression or node.expression)


def _both(known: GraphEdge, edge: GraphEdge) -> GraphEdge:
    """One edge that several statements make."""
    return msgspec.structs.replace(
        known,
        expression=known.expression or edge.expression,
        approximate=known.approximate or edge.approximate,
        statements=(*known.statements, *edge.statements),
    )


Places = dict[str, list[StatementRef]]


def _crossings(nodes: Mapping[str, GraphNode], parts: Sequence[ObjectStatement]) -> Iterator[GraphEdge]:
    """From what some statements produce to what others make of it: producers first, then readers."""
    producers = _places(parts, (Role.DEFINE, Role.WRITE))
    written: dict[StatementRef, list[str]] = {}
    for name, places in producers.items():
        for place in places:
            written.setdefault(place, []).append(name)
    ids = {
        node.qualified_name: node.id
        for node in nodes.values()
        if node.resolution_source is not None and node.type is not NodeType.COLUMN
    }
    for source, places in _places(parts, (Role.READ,)).items():
        readers: Places = {}
        for place in places:
            for target in written.get(place, ()):
                readers.setdefault(target, []).append(place)
        for target, own in sorted(readers.items()):
            others = [place for place in producers.get(source, ()) if place not in set(own)]
            if others and target != source and source in ids and target in ids:
                yield _crossing(ids[source], ids[target], (*others, *own))


def _places(parts: Iterable[ObjectStatement], roles: Sequence[Role]) -> Places:
    found: Places = {}
    for part in sorted(parts, key=lambda item: (item.object, item.path, item.ordinal)):
        place = StatementRef(part.path, part.ordinal)
        if part.role in roles and place not in found.setdefault(part.object, [])[-1:]:
            found[part.object].append(place)
    return {name: places for name, places in found.items() if places}


def _crossing(source: str, target: str, statements: tuple[StatementRef, ...]) -> GraphEdge:
    kind = GraphEdgeType.CROSS_STATEMENT
    return GraphEdge(identity_of(source, target, kind), source, target, kind, None, None, False, statements)
