"""The graph of all statements: their own graphs combined, and edges from producers to readers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.trace.statement_graph import hash_node_identity
from lineage_pipeline.model.enums import GraphEdgeType, NodeType, Role
from lineage_pipeline.model.graph import Graph, GraphEdge, GraphNode
from lineage_pipeline.model.tables import ObjectStatement, StatementRef


def build_global_graph(graphs: Iterable[Graph], parts: Iterable[ObjectStatement]) -> Graph:
    """One graph of many; `parts` says which statement produces and which one reads an object."""
    nodes: dict[str, GraphNode] = {}
    edges: dict[str, GraphEdge] = {}
    for graph in graphs:
        for node in graph.nodes:
            known = nodes.get(node.id)
            nodes[node.id] = node if known is None else _merge_nodes(known, node)
        for edge in graph.edges:
            before = edges.get(edge.id)
            edges[edge.id] = edge if before is None else _merge_edges(before, edge)
    crossings = {edge.id: edge for edge in _iter_crossings(nodes, list(parts))}
    return Graph(None, None, tuple(nodes.values()), (*edges.values(), *crossings.values()))


def _merge_nodes(known: GraphNode, node: GraphNode) -> GraphNode:
    """One node that occurs in several statements."""
    refs = (*known.statement_refs, *node.statement_refs)
    return msgspec.structs.replace(known, statement_refs=refs, expression=known.expression or node.expression)


def _merge_edges(known: GraphEdge, edge: GraphEdge) -> GraphEdge:
    """One edge that several statements make."""
    return msgspec.structs.replace(
        known,
        expression=known.expression or edge.expression,
        approximate=known.approximate or edge.approximate,
        statements=(*known.statements, *edge.statements),
    )


StatementPlaces = dict[str, list[StatementRef]]


def _iter_crossings(nodes: Mapping[str, GraphNode], parts: Sequence[ObjectStatement]) -> Iterator[GraphEdge]:
    """Edges from what some statements produce to what others make of it."""
    producers = _places_by_object(parts, (Role.DEFINE, Role.WRITE))
    written: dict[StatementRef, list[str]] = {}
    for name, places in producers.items():
        for place in places:
            written.setdefault(place, []).append(name)
    ids = {
        node.qualified_name: node.id
        for node in nodes.values()
        if node.resolution_source is not None and node.type is not NodeType.COLUMN
    }
    for source, places in _places_by_object(parts, (Role.READ,)).items():
        readers: StatementPlaces = {}
        for place in places:
            for target in written.get(place, ()):
                readers.setdefault(target, []).append(place)
        for target, own in sorted(readers.items()):
            others = [place for place in producers.get(source, ()) if place not in set(own)]
            if others and target != source and source in ids and target in ids:
                yield _build_crossing(ids[source], ids[target], (*others, *own))


def _places_by_object(parts: Iterable[ObjectStatement], roles: Sequence[Role]) -> StatementPlaces:
    found: StatementPlaces = {}
    for part in sorted(parts, key=lambda item: (item.object, item.path, item.ordinal)):
        place = StatementRef(part.path, part.ordinal)
        if part.role in roles and place not in found.setdefault(part.object, [])[-1:]:
            found[part.object].append(place)
    return {name: places for name, places in found.items() if places}


def _build_crossing(source: str, target: str, statements: tuple[StatementRef, ...]) -> GraphEdge:
    kind = GraphEdgeType.CROSS_STATEMENT
    return GraphEdge(
        id=hash_node_identity(source, target, kind),
        source=source,
        target=target,
        type=kind,
        operation=None,
        expression=None,
        approximate=False,
        statements=statements,
    )
