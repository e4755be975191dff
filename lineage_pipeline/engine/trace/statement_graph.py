"""Statement graphs: the objects and inner relations of one statement, and the graphs of all statements combined."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.model.enums import EdgeType, GraphEdgeType, NodeType, ObjectKind, Operation, Origin, Role, Subtype
from lineage_pipeline.model.graph import Graph, GraphEdge, GraphNode, NodeRef
from lineage_pipeline.model.source_map import SourceText
from lineage_pipeline.model.statement_detail import (
    ROWS_COLUMN,
    UNLISTED_COLUMNS,
    ColumnFeed,
    DetailColumn,
    DetailScope,
    ObjectMention,
    StatementDetail,
    parse_variable_key,
)
from lineage_pipeline.model.tables import Column, ObjectRow, ObjectStatement, Span, StatementRef

NODE_TYPES: dict[ObjectKind, NodeType] = {
    ObjectKind.QUERY: NodeType.OUTPUT,
    ObjectKind.UNKNOWN: NodeType.TABLE,  # what is read like one and never defined
    **{kind: NodeType(kind.value) for kind in ObjectKind if kind not in (ObjectKind.QUERY, ObjectKind.UNKNOWN)},
}
UNRESOLVED_OBJECT = "?"
"""The object of a column that could not be resolved."""

JOIN_OPERATIONS = frozenset(operation for operation in Operation if operation.value.endswith("JOIN"))


class KnownObjects(msgspec.Struct, frozen=True):
    """Known objects and columns by name."""

    objects: Mapping[str, ObjectRow]
    columns: Mapping[tuple[str, str], Column]


class StatementPosition(msgspec.Struct, frozen=True):
    """A statement and its position; `module` is the enclosing module.

    `identities` distinguish the statements of a file by their content, so that unrelated edits do not change ids.
    """

    text: SourceText
    statement: int
    start: int
    identities: tuple[str, ...]
    module: str = ""

    @property
    def identity(self) -> str:
        """The identity of this statement."""
        return self.identities[self.statement]

    def span(self, start: int, end: int) -> Span | None:
        """The span of a slice of the statement in its file."""
        return self.text.span(self.start + start, self.start + end) if start >= 0 else None

    def slice(self, start: int, end: int) -> str | None:
        """The text of a slice of the statement."""
        return self.text.text[self.start + start : self.start + end] if 0 <= start <= end else None


def build_statement_graph(place: StatementPosition, inside: StatementDetail, known: KnownObjects) -> Graph:
    """The graph of one statement, in the order in which it names things."""
    draft = _GraphDraft(place, known)
    for mention in inside.mentions:
        draft.object_node(mention.object, mention)
    for scope in inside.scopes:
        draft.scope_node(scope)
    for scope in inside.scopes:
        draft.add_scope_edges(scope)
    for mention in inside.calls:
        draft.add_call(mention, [scope.object for scope in inside.scopes if scope.object])
    return Graph(place.text.path, place.statement, tuple(draft.nodes.values()), tuple(draft.edges.values()))


def hash_node_identity(*parts: str) -> str:
    """A short id made of some parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


class _EdgeDraft(msgspec.Struct, frozen=True):
    """An edge before it has an id."""

    source: str
    target: str
    type: GraphEdgeType
    operation: Operation | None = None
    expression: str | None = None
    approximate: bool = False
    path: str = ""


class _GraphDraft:
    """A graph while it is built."""

    def __init__(self, place: StatementPosition, known: KnownObjects) -> None:
        self.place = place
        self.known = known
        self.here = (StatementRef(place.text.path, place.statement),)
        self.nodes: dict[str, GraphNode] = {}
        self.edges: dict[str, GraphEdge] = {}
        self.labels: dict[str, str] = {}

    # ── nodes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def object_node(self, name: str, mention: ObjectMention | None = None) -> str:
        """The node of an object."""
        row = self.known.objects.get(name)
        if name == UNRESOLVED_OBJECT or (
            row is not None and row.kind is ObjectKind.QUERY
        ):  # no other statement can mean it
            identity = hash_node_identity("own", self.place.identity, name if row is None else "")
        else:
            identity = hash_node_identity("object", name)
        if identity not in self.nodes:
            kind = NODE_TYPES[row.kind] if row is not None else NodeType.PLACEHOLDER
            label = name if row is None else row.name if row.temporary else row.written or row.name
            span = self.place.span(mention.start, mention.end) if mention is not None else None
            origin = row.origin if row is not None else Origin.UNKNOWN
            self._add_node(
                GraphNode(
                    id=identity,
                    type=kind,
                    label=label,
                    qualified_name=name,
                    expression=None,
                    span=span,
                    resolution_source=origin,
                    statement_refs=(),
                )
            )
        return identity

    def scope_node(self, scope: DetailScope) -> str:
        """The node of a relation, or of an object that is written."""
        if not scope.inner:
            return self.object_node(scope.object)
        identity = self._inner_node(scope.inner)
        if identity not in self.nodes and scope.type is not None:
            self.labels[scope.inner] = scope.label
            span = self.place.span(scope.start, scope.end)
            label, name = scope.label or "subquery", scope.label or None
            self._add_node(
                GraphNode(
                    id=identity,
                    type=scope.type,
                    label=label,
                    qualified_name=name,
                    expression=None,
                    span=span,
                    resolution_source=None,
                    statement_refs=(),
                )
            )
        return identity

    def _inner_node(self, inner: str) -> str:
        """The node of a relation, or of a variable, which another statement may have assigned."""
        variable = parse_variable_key(inner)
        if variable is None:
            return hash_node_identity("relation", self.place.identity, inner)
        setter, name = variable
        identity = hash_node_identity("variable", self.place.identities[setter], name)
        if identity not in self.nodes:
            self.labels[inner] = name
            self._add_node(
                GraphNode(
                    id=identity,
                    type=NodeType.VARIABLE,
                    label=name,
                    qualified_name=name,
                    expression=None,
                    span=None,
                    resolution_source=None,
                    statement_refs=(),
                )
            )
        return identity

    def column_node(
        self, owner: str, inner: str, name: str, column: str, places: tuple[Span | None, str | None]
    ) -> str:
        """The node of a column of an object or inner relation, with its ownership edge."""
        identity = hash_node_identity("column", owner, column)
        if identity not in self.nodes:
            label, origin = column, None
            qualifier: str | None = name
            if inner:
                qualifier = self.labels.get(inner) or None
            else:
                row = self.known.columns.get((name, column))
                label = row.written if row is not None else column
                origin = row.origin if row is not None else Origin.UNKNOWN
            qualified = f"{qualifier}.{column}" if qualifier is not None else None
            span, expression = places
            self._add_node(
                GraphNode(
                    id=identity,
                    type=NodeType.COLUMN,
                    label=label,
                    qualified_name=qualified,
                    expression=expression,
                    span=span,
                    resolution_source=origin,
                    statement_refs=(),
                )
            )
            self._connect(_EdgeDraft(owner, identity, GraphEdgeType.OWNERSHIP))
        return identity

    def _add_node(self, node: GraphNode) -> None:
        (here,) = self.here
        ref = NodeRef(here.path, here.statement, node.id, node.span)
        self.nodes[node.id] = msgspec.structs.replace(node, statement_refs=(ref,))

    # ── edges ────────────────────────────────────────────────────────────────────────────────────────────────────

    def add_scope_edges(self, scope: DetailScope) -> None:
        """Add the columns of a scope with their inputs, the conditions on its rows, and what it reads."""
        owner = self.scope_node(scope)
        for reading in scope.readings:
            source = self._inner_node(reading.inner) if reading.inner else self.object_node(reading.object)
            joined = reading.operation in JOIN_OPERATIONS
            kind = GraphEdgeType.JOIN_DEPENDENCY if joined else GraphEdgeType.DATA_FLOW
            self._connect(_EdgeDraft(source, owner, kind, reading.operation))
        for column in scope.columns:
            self._add_column(scope, owner, column)
        for feed in scope.deciders:
            self._add_feed(feed, owner, self.place.slice(feed.start, feed.end))

    def _add_column(self, scope: DetailScope, owner: str, column: DetailColumn) -> None:
        span = self.place.span(column.start, column.end)
        expression = self.place.slice(column.start, column.end)
        identity = self.column_node(owner, scope.inner, scope.object, column.key, (span, expression))
        for feed in column.feeds:
            self._add_feed(feed, identity, expression)

    def _add_feed(self, feed: ColumnFeed, target: str, expression: str | None) -> None:
        owner = self._inner_node(feed.inner) if feed.inner else self.object_node(feed.object)
        source = owner
        if feed.column != ROWS_COLUMN:
            span = None if feed.column == UNLISTED_COLUMNS else self.place.span(feed.start, feed.end)
            source = self.column_node(owner, feed.inner, feed.object, feed.column, (span, None))
        kind, operation = _edge_kind(feed)
        self._connect(
            _EdgeDraft(
                source=source,
                target=target,
                type=kind,
                operation=operation,
                expression=expression,
                approximate=feed.approximate,
                path=feed.path,
            )
        )

    def _connect(self, link: "_EdgeDraft") -> None:
        identity = hash_node_identity(link.source, link.target, link.type, link.operation or "", link.path)
        known = self.edges.get(identity)
        if known is None:
            ends = (link.source, link.target, link.type, link.operation)
            edge = GraphEdge(identity, *ends, link.expression, link.approximate, self.here, link.path or None)
            self.edges[identity] = edge
        elif link.approximate and not known.approximate:
            self.edges[identity] = msgspec.structs.replace(known, approximate=True)

    def add_call(self, mention: ObjectMention, targets: list[str]) -> None:
        """Add a call by what the statement writes, by its module, or by the script."""
        callee = self.object_node(mention.object or mention.written, mention)
        for caller in self._callers(targets):
            if caller != callee:
                self._connect(_EdgeDraft(caller, callee, GraphEdgeType.CALL, Operation.CALL))

    def _callers(self, targets: list[str]) -> Iterator[str]:
        if targets or self.place.module:
            yield from (self.object_node(name) for name in dict.fromkeys(targets or [self.place.module]))
            return
        path = self.place.text.path
        identity = hash_node_identity("script", path)
        if identity not in self.nodes:
            self._add_node(
                GraphNode(
                    id=identity,
                    type=NodeType.SCRIPT,
                    label=path,
                    qualified_name=path,
                    expression=None,
                    span=None,
                    resolution_source=None,
                    statement_refs=(),
                )
            )
        yield identity


def _edge_kind(feed: ColumnFeed) -> tuple[GraphEdgeType, Operation]:
    if feed.type is EdgeType.INDIRECT and feed.subtype is Subtype.IDENTITY:
        return GraphEdgeType.DERIVATION, Operation.SUBQUERY
    operation = Operation(feed.subtype.value)
    if operation is Operation.IDENTITY:
        return GraphEdgeType.DATA_FLOW, operation
    return (GraphEdgeType.JOIN_DEPENDENCY if operation is Operation.JOIN else GraphEdgeType.DERIVATION), operation


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
