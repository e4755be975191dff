"""The graph of a statement or of all statements: nodes for objects, relations and columns, and edges between them."""

from functools import cached_property

import msgspec

from lineage_pipeline.model.enums import GraphEdgeType, NodeType, Operation, Origin
from lineage_pipeline.model.tables import Span, StatementRef


class NodeRef(msgspec.Struct, frozen=True, order=True):
    """A node of one statement's own graph, and where the statement names it."""

    path: str
    statement: int
    node: str
    span: Span | None


class GraphNode(msgspec.Struct, frozen=True):
    """An object, a relation inside a statement, or a column; `span` lies in the first of `statement_refs`.

    `qualified_name` is null for a relation without a name, and `resolution_source` for all relations inside.
    """

    id: str
    type: NodeType
    label: str
    qualified_name: str | None
    expression: str | None
    span: Span | None
    resolution_source: Origin | None
    statement_refs: tuple[NodeRef, ...]


class GraphEdge(msgspec.Struct, frozen=True):
    """An edge; `from_path` is the member of a struct that is taken from a column."""

    id: str
    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    type: GraphEdgeType
    operation: Operation | None
    expression: str | None
    approximate: bool
    statements: tuple[StatementRef, ...]
    from_path: str | None = None


class Graph(msgspec.Struct, frozen=True, dict=True):
    """The graph of one statement, or of all where `path` and `statement` are null. One thing has one id in both."""

    path: str | None
    statement: int | None
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]

    @cached_property
    def _by_id(self) -> dict[str, GraphNode]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def _by_statement(self) -> dict[tuple[str, int, str], GraphNode]:
        return {(ref.path, ref.statement, ref.node): node for node in self.nodes for ref in node.statement_refs}

    def node(self, identity: str) -> GraphNode:
        """The node of an id."""
        return self._by_id[identity]

    def nodes_of(self, identity: str) -> tuple[NodeRef, ...]:
        """The nodes of the statements' own graphs that a node stands for."""
        return self._by_id[identity].statement_refs

    def node_for(self, path: str, statement: int, identity: str) -> GraphNode:
        """The node that stands for a node of one statement's own graph."""
        return self._by_statement[path, statement, identity]
