"""The graph of a statement as boxes and arrows: what it reads and writes, and the relations between."""

from collections import defaultdict
from collections.abc import Mapping

from lineage_pipeline.export.drawing.picture import APPROXIMATE, Arrow, Box, Picture
from lineage_pipeline.model.enums import GraphEdgeType, NodeType, Operation
from lineage_pipeline.model.graph import Graph, GraphEdge, GraphNode

VALUE_OPERATIONS = frozenset({Operation.IDENTITY, Operation.TRANSFORMATION, Operation.AGGREGATION})


def draw_statement(graph: Graph) -> tuple[Picture, tuple[Arrow, ...]]:
    """Draw the graph of a statement, and the flows between its columns."""
    owners = {edge.target: edge.source for edge in graph.edges if edge.type is GraphEdgeType.OWNERSHIP}
    names = _unique_names([node for node in graph.nodes if node.type is not NodeType.COLUMN])
    columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for node in graph.nodes:
        if node.id in owners:
            columns[owners[node.id]].append((node.label, ""))
    boxes = [
        Box(names[node.id], node.type.value, tuple(dict.fromkeys(columns[node.id])), _node_location(graph, node))
        for node in graph.nodes
        if node.id in names
    ]
    links = [edge for edge in graph.edges if edge.type is not GraphEdgeType.OWNERSHIP]
    flows = tuple(_column_flow(graph, edge, owners, names) for edge in links if _touches_column(edge, owners))
    between: dict[tuple[str, str], set[str]] = defaultdict(set)
    for edge in links:
        source, target = (names[owners.get(end, end)] for end in (edge.source, edge.target))
        if source != target:
            between[source, target] |= {edge.operation.value} if edge.operation else set()
    arrows = sorted(Arrow(source, target, tuple(sorted(how))) for (source, target), how in between.items())
    return Picture(tuple(boxes), tuple(arrows)), flows


def _unique_names(nodes: list[GraphNode]) -> dict[str, str]:
    """Give each box a unique name: two relations of a statement may have the same name."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for node in nodes:
        wanted = name = node.qualified_name or node.label or node.type.value
        number = 2
        while name in taken:
            name, number = f"{wanted} ({number})", number + 1
        taken.add(name)
        names[node.id] = name
    return names


def _node_location(graph: Graph, node: GraphNode) -> str:
    return f"{graph.path}:{node.span.line}" if node.span else ""


def _touches_column(edge: GraphEdge, owners: Mapping[str, str]) -> bool:
    return edge.source in owners or edge.target in owners


def _column_flow(graph: Graph, edge: GraphEdge, owners: Mapping[str, str], names: Mapping[str, str]) -> Arrow:
    how = (edge.operation.value,) if edge.operation else ()
    return Arrow(
        source=names[owners.get(edge.source, edge.source)],
        target=names[owners.get(edge.target, edge.target)],
        how=(*how, APPROXIMATE) if edge.approximate else how,
        direct=edge.operation in VALUE_OPERATIONS,
        source_column=graph.node(edge.source).label if edge.source in owners else None,
        target_column=graph.node(edge.target).label if edge.target in owners else None,
    )
