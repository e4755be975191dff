"""The graph of one statement: what it names, the relations inside it, and how columns and rows pass through them."""

import hashlib
from collections.abc import Iterator, Mapping

import msgspec

from lineage_pipeline.vocabulary.graph import Graph, GraphEdge, GraphNode, NodeRef
from lineage_pipeline.vocabulary.inside import ROWS, UNLISTED, Feed, Inner, InnerColumn, Inside, Mention, set_by
from lineage_pipeline.vocabulary.places import Text
from lineage_pipeline.vocabulary.sets import EdgeType, GraphEdgeType, NodeType, ObjectKind, Operation, Origin, Subtype
from lineage_pipeline.vocabulary.tables import Column, ObjectRow, Span, StatementRef

TYPES: dict[ObjectKind, NodeType] = {
    ObjectKind.QUERY: NodeType.OUTPUT,
    ObjectKind.UNKNOWN: NodeType.TABLE,  # what is read like one and never defined
    **{kind: NodeType(kind.value) for kind in ObjectKind if kind not in (ObjectKind.QUERY, ObjectKind.UNKNOWN)},
}
NOBODY = "?"
"""The object of a column that could not be found."""

JOINED = frozenset(operation for operation in Operation if operation.value.endswith("JOIN"))


class Surroundings(msgspec.Struct, frozen=True):
    """What is known around statements: objects and columns by their names."""

    objects: Mapping[str, ObjectRow]
    columns: Mapping[tuple[str, str], Column]


class Place(msgspec.Struct, frozen=True):
    """A statement at its place; `module` is what it stands in.

    `identities` tell the statements of its file apart by what they say: others that come and go do not matter.
    """

    text: Text
    statement: int
    start: int
    identities: tuple[str, ...]
    module: str = ""

    @property
    def identity(self) -> str:
        """What tells this statement from others."""
        return self.identities[self.statement]

    def span(self, start: int, end: int) -> Span | None:
        """A slice of the statement in its file."""
        return self.text.span(self.start + start, self.start + end) if start >= 0 else None

    def slice(self, start: int, end: int) -> str | None:
        """What stands there."""
        return self.text.text[self.start + start : self.start + end] if 0 <= start <= end else None


def statement_graph(place: Place, inside: Inside, known: Surroundings) -> Graph:
    """The graph of one statement, in the order in which it names things."""
    draft = _Draft(place, known)
    for mention in inside.mentions:
        draft.object(mention.object, mention)
    for scope in inside.scopes:
        draft.scope(scope)
    for scope in inside.scopes:
        draft.fill(scope)
    for mention in inside.calls:
        draft.call(mention, [scope.object for scope in inside.scopes if scope.object])
    return Graph(place.text.path, place.statement, tuple(draft.nodes.values()), tuple(draft.edges.values()))


def identity_of(*parts: str) -> str:
    """A short id made of what a thing is."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


class _Link(msgspec.Struct, frozen=True):
    """An edge before it has an id."""

    source: str
    target: str
    type: GraphEdgeType
    operation: Operation | None = None
    expression: str | None = None
    approximate: bool = False
    path: str = ""


class _Draft:
    """A graph while it is being put together."""

    def __init__(self, place: Place, known: Surroundings) -> None:
        self.place = place
        self.known = known
        self.here = (StatementRef(place.text.path, place.statement),)
        self.nodes: dict[str, GraphNode] = {}
        self.edges: dict[str, GraphEdge] = {}
        self.labels: dict[str, str] = {}

    # ── nodes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def object(self, name: str, mention: Mention | None = None) -> str:
        """The node of an object."""
        row = self.known.objects.get(name)
        if name == NOBODY or (row is not None and row.kind is ObjectKind.QUERY):  # no other statement can mean it
            identity = identity_of("own", self.place.identity, name if row is None else "")
        else:
            identity = identity_of("object", name)
        if identity not in self.nodes:
            kind = TYPES[row.kind] if row is not None else NodeType.PLACEHOLDER
            label = name if row is None else row.name if row.temporary else row.written or row.name
            span = self.place.span(mention.start, mention.end) if mention is not None else None
            origin = row.origin if row is not None else Origin.UNKNOWN
            self._add(GraphNode(identity, kind, label, name, None, span, origin, ()))
        return identity

    def scope(self, scope: Inner) -> str:
        """The node of a relation, or of an object that is written."""
        if not scope.inner:
            return self.object(scope.object)
        identity = self._inner(scope.inner)
        if identity not in self.nodes and scope.type is not None:
            self.labels[scope.inner] = scope.label
            span = self.place.span(scope.start, scope.end)
            label, name = scope.label or "subquery", scope.label or None
            self._add(GraphNode(identity, scope.type, label, name, None, span, None, ()))
        return identity

    def _inner(self, inner: str) -> str:
        """The node of a relation, or of a variable, which another statement may have set."""
        variable = set_by(inner)
        if variable is None:
            return identity_of("relation", self.place.identity, inner)
        setter, name = variable
        identity = identity_of("variable", self.place.identities[setter], name)
        if identity not in self.nodes:
            self.labels[inner] = name
            self._add(GraphNode(identity, NodeType.VARIABLE, name, name, None, None, None, ()))
        return identity

    def column(self, owner: str, inner: str, name: str, column: str, places: tuple[Span | None, str | None]) -> str:
        """The node of a column of an object or of something inside, and that it belongs there."""
        identity = identity_of("column", owner, column)
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
            self._add(GraphNode(identity, NodeType.COLUMN, label, qualified, expression, span, origin, ()))
            self._connect(_Link(owner, identity, GraphEdgeType.OWNERSHIP))
        return identity

    def _add(self, node: GraphNode) -> None:
        (here,) = self.here
        ref = NodeRef(here.path, here.statement, node.id, node.span)
        self.nodes[node.id] = msgspec.structs.replace(node, statement_refs=(ref,))

    # ── edges ────────────────────────────────────────────────────────────────────────────────────────────────────

    def fill(self, scope: Inner) -> None:
        """The columns of a scope with what feeds them, what decides about its rows, and what it reads."""
        owner = self.scope(scope)
        for reading in scope.readings:
            source = self._inner(reading.inner) if reading.inner else self.object(reading.object)
            joined = reading.operation in JOINED
            kind = GraphEdgeType.JOIN_DEPENDENCY if joined else GraphEdgeType.DATA_FLOW
            self._connect(_Link(source, owner, kind, reading.operation))
        for column in scope.columns:
            self._column(scope, owner, column)
        for feed in scope.deciders:
            self._feed(feed, owner, self.place.slice(feed.start, feed.end))

    def _column(self, scope: Inner, owner: str, column: InnerColumn) -> None:
        span = self.place.span(column.start, column.end)
        expression = self.place.slice(column.start, column.end)
        identity = self.column(owner, scope.inner, scope.object, column.key, (span, expression))
        for feed in column.feeds:
            self._feed(feed, identity, expression)

    def _feed(self, feed: Feed, target: str, expression: str | None) -> None:
        owner = self._inner(feed.inner) if feed.inner else self.object(feed.object)
        source = owner
        if feed.column != ROWS:
            span = None if feed.column == UNLISTED else self.place.span(feed.start, feed.end)
            source = self.column(owner, feed.inner, feed.object, feed.column, (span, None))
        kind, operation = _kind(feed)
        self._connect(_Link(source, target, kind, operation, expression, feed.approximate, feed.path))

    def _connect(self, link: "_Link") -> None:
        identity = identity_of(link.source, link.target, link.type, link.operation or "", link.path)
        known = self.edges.get(identity)
        if known is None:
            ends = (link.source, link.target, link.type, link.operation)
            edge = GraphEdge(identity, *ends, link.expression, link.approximate, self.here, link.path or None)
            self.edges[identity] = edge
        elif link.approximate and not known.approximate:
            self.edges[identity] = msgspec.structs.replace(known, approximate=True)

    def call(self, mention: Mention, targets: list[str]) -> None:
        """What is called: by what the statement writes, by the module it stands in, or by the script."""
        callee = self.object(mention.object or mention.written, mention)
        for caller in self._callers(targets):
            if caller != callee:
                self._connect(_Link(caller, callee, GraphEdgeType.CALL, Operation.CALL))

    def _callers(self, targets: list[str]) -> Iterator[str]:
        if targets or self.place.module:
            yield from (self.object(name) for name in dict.fromkeys(targets or [self.place.module]))
            return
        path = self.place.text.path
        identity = identity_of("script", path)
        if identity not in self.nodes:
            self._add(GraphNode(identity, NodeType.SCRIPT, path, path, None, None, None, ()))
        yield identity


def _kind(feed: Feed) -> tuple[GraphEdgeType, Operation]:
    if feed.type is EdgeType.INDIRECT and feed.subtype is Subtype.IDENTITY:
        return GraphEdgeType.DERIVATION, Operation.SUBQUERY
    operation = Operation(feed.subtype.value)
    if operation is Operation.IDENTITY:
        return GraphEdgeType.DATA_FLOW, operation
    return (GraphEdgeType.JOIN_DEPENDENCY if operation is Operation.JOIN else GraphEdgeType.DERIVATION), operation
