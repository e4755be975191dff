"""Temporary tables shared by several modules: each module's view of them, and edges composed through them.

Inside one module a shared table is collapsed like any other temporary one. What other modules store in it is an edge
that starts at it; once the edges of all files are known, those that end there are composed with those that start there.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import attrgetter

import msgspec

from lineage_pipeline.engine.link.model import ColumnFlow, TableInput, union_flows
from lineage_pipeline.model.enums import EdgeType, Stage, Subtype
from lineage_pipeline.model.findings import build_placed_diagnostic
from lineage_pipeline.model.plan import SharedTempUse
from lineage_pipeline.model.tables import ColumnEdge, Diagnostic, Hop

MAX_COMPOSED_EDGES = 100_000
"""Composed edges in total; the statements beyond it keep their edges from the shared tables, and a finding says so."""

_SUBTYPE_ORDER = (Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION)


class SharedTempTables:
    """The shared temporary tables of one script: what each module knows about their content."""

    def __init__(self, objects: Collection[str], state: dict[str, TableInput]) -> None:
        """Start outside of all modules, with unknown content."""
        self.objects = frozenset(objects)
        self.module = -1
        self._unknown = {name: state[name] for name in self.objects}
        self._left: dict[int, dict[str, TableInput]] = {}

    def enter_module(self, module: int, state: dict[str, TableInput]) -> None:
        """Switch to a definition of a module, by its ordinal; it knows only its own writes to a table."""
        if module != self.module:
            self._left[self.module] = {name: state[name] for name in self.objects}
            state.update(self._left.get(module, self._unknown))
            self.module = module

    def fill_from_call(self, objects: Iterable[str], state: dict[str, TableInput]) -> None:
        """Add what a called module may store in the tables that the caller knows."""
        for name in self.objects.intersection(objects):
            before = state[name]
            columns = tuple(
                msgspec.structs.replace(column, flows=union_flows([column.flows, (ColumnFlow(name, column.name),)]))
                if column.flows is not None
                else column
                for column in before.columns
            )
            state[name] = msgspec.structs.replace(before, columns=columns)


class SharedEdgeComposer:
    """Composes the edges into a shared temporary table with those of the modules that read it.

    A column of a table at one use is traced once, however many edges start there; of several ways from the same source
    with the same effect, the first is kept.
    """

    def __init__(self, lent: Iterable[SharedTempUse], edges: Sequence[ColumnEdge]) -> None:
        """Start with all uses of shared tables, and all edges that start, end or pass there."""
        self.uses: dict[tuple[str, str], list[SharedTempUse]] = {}
        for use in sorted(lent, key=attrgetter("path", "ordinal")):
            self.uses.setdefault((use.path, use.object), []).append(use)
        self.shared = {name for _, name in self.uses}
        self.filled = {home.key for uses in self.uses.values() for use in uses if use.fills for home in use.homes}
        self.edges = edges
        self.made = 0
        self.skipped: dict[tuple[str, int], SharedTempUse] = {}
        self._known: dict[tuple[object, ...], list[ColumnEdge]] = {}
        self._sources: dict[tuple[object, ...], list[ColumnEdge]] = {}
        self._asked: set[tuple[object, ...]] = set()
        self._into: dict[tuple[object, ...], list[tuple[int, str, ColumnEdge]]] = {}
        for edge in edges:
            if edge.to_object in self.shared:
                filling = self._find_use(edge, edge.to_object)
                for home in filling.homes:
                    writes = self._into.setdefault((*home.key, edge.to_column), [])
                    writes.append((home.first, filling.module, edge))

    def compose(self) -> list[ColumnEdge]:
        """The edges with those composed through shared tables, and without the edges these replace."""
        passed = self._find_collapsed()
        return merge_edges(
            one
            for edge in self.edges
            for one in (self._compose_edge(edge) if edge.from_object in self.shared else (edge,))
            if one.to_object not in passed
        )

    def _find_use(self, edge: ColumnEdge, name: str) -> SharedTempUse:
        """The use of a shared table that made an edge; a variable may hold what an earlier statement read."""
        uses = self.uses[edge.path, name]
        return uses[max(bisect_right(uses, edge.statement, key=attrgetter("ordinal")) - 1, 0)]

    def _compose_edge(self, edge: ColumnEdge) -> Iterator[ColumnEdge]:
        """The edges from the sources of a shared table, or the edge itself where nobody fills the table."""
        use = self._find_use(edge, edge.from_object)
        if not any(home.key in self.filled for home in use.homes):
            yield edge
            return
        if self.made >= MAX_COMPOSED_EDGES:
            self.skipped.setdefault((edge.path, edge.statement), use)
            yield msgspec.structs.replace(edge, approximate=True)
            return
        behind = self._find_sources(use, edge.from_column)
        self.made += len(behind)
        if not behind and edge.from_object.startswith("##"):  # it outlives the call: a call before may have filled it
            yield edge
        yield from (_compose_pair(one, edge) for one in behind)
        yield from self._compose_indirect(use, edge)

    def _compose_indirect(self, use: SharedTempUse, edge: ColumnEdge) -> Iterator[ColumnEdge]:
        """The indirect edges into a shared table's rows, as edges into its reader, each once."""
        column = "*" if use.ordinal == edge.statement else edge.to_column  # or else a variable brings the value here
        asked = (edge.path, edge.statement, use.object, edge.to_object, column)
        if asked not in self._asked:
            self._asked.add(asked)
            rows = [one for one in self._edges_into_use(use, "*") if one.type is EdgeType.INDIRECT]
            self.made += len(rows)
            yield from (_compose_decision(one, edge, column) for one in rows)

    def _find_sources(self, use: SharedTempUse, column: str) -> list[ColumnEdge]:
        """The edges that lead to a column of a shared table at one use, from objects that are not shared."""
        start = self._visit_key(use, column)
        known = self._sources.get(start)
        if known is None:
            known = self._sources[start] = list(self._trace_sources(use, column))
        return known

    def _trace_sources(self, use: SharedTempUse, column: str) -> Iterator[ColumnEdge]:
        """Trace a column breadth first; a column that is met again with the same effect leads to nothing new."""
        seen: set[tuple[object, ...]] = set()
        pending = deque((edge, edge) for edge in self._edges_into_use(use, column))
        while pending:
            step, way = pending.popleft()
            if step.to_column == "*" and step.type is EdgeType.INDIRECT:
                continue
            effect = (way.type, way.subtype, way.masking, way.approximate)
            if way.from_object not in self.shared:
                met: tuple[object, ...] = (way.from_object, way.from_column, way.from_path, *effect)
                if met not in seen:
                    seen.add(met)
                    yield way
                continue
            before = self._find_use(step, step.from_object)
            met = (*self._visit_key(before, step.from_column), *effect)
            if met not in seen:
                seen.add(met)
                further = self._edges_into_use(before, step.from_column)
                pending.extend((edge, _compose_pair(edge, way)) for edge in further)

    def _edges_into_use(self, use: SharedTempUse, column: str) -> list[ColumnEdge]:
        """The edges into a column that another module made before a statement reads it."""
        key = self._visit_key(use, column)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = [
                edge
                for home in use.homes
                for first, module, edge in self._into.get((*home.key, column), ())
                if module != use.module and first <= home.last
            ]
        return known

    @staticmethod
    def _visit_key(use: SharedTempUse, column: str) -> tuple[object, ...]:
        """What decides which edges lead to a column: two uses with the same key see the same content."""
        return use.module, use.homes, column

    def _find_collapsed(self) -> set[str]:
        """The shared tables through which a persistent object gets its values."""
        found: set[str] = set()
        feeding: dict[str, set[str]] = {}
        for edge in self.edges:
            if edge.to_object not in self.shared:
                found.update(hop.object for hop in edge.hops if hop.object in self.shared)
                found.update(self._possible_tables(edge, edge.from_object))
            else:
                for home in self._possible_tables(edge, edge.to_object):
                    feeding.setdefault(home, set()).update(self._possible_tables(edge, edge.from_object))
        pending = list(found)
        while pending:
            fresh = feeding.get(pending.pop(), set()) - found
            found |= fresh
            pending.extend(fresh)
        return found

    def _possible_tables(self, edge: ColumnEdge, name: str) -> list[str]:
        return [home.table for home in self._find_use(edge, name).homes] if name in self.shared else []


_EDGE_KEY = attrgetter(
    "path", "statement", "from_object", "from_column", "from_path", "to_object", "to_column", "type", "subtype"
)


def _compose_pair(first: ColumnEdge, then: ColumnEdge) -> ColumnEdge:
    """One edge of two: an indirect one stays indirect, and the stronger change of a value counts."""
    decides = next((edge for edge in (then, first) if edge.type is EdgeType.INDIRECT), None)
    subtype = decides.subtype if decides is not None else max(first.subtype, then.subtype, key=_SUBTYPE_ORDER.index)
    return msgspec.structs.replace(
        then,
        from_object=first.from_object,
        from_column=first.from_column,
        from_path=first.from_path,
        type=decides.type if decides is not None else EdgeType.DIRECT,
        subtype=subtype,
        masking=first.masking or then.masking,
        approximate=first.approximate or then.approximate,
        hops=(*first.hops, Hop(then.from_object, then.from_column), *then.hops),
    )


def _compose_decision(first: ColumnEdge, then: ColumnEdge, column: str) -> ColumnEdge:
    """An indirect edge into a shared table's rows, as one into the reader of the table."""
    return msgspec.structs.replace(
        first,
        path=then.path,
        statement=then.statement,
        to_object=then.to_object,
        to_column=column,
        approximate=first.approximate or then.approximate,
        conditional=then.conditional,
        expression="",
        span=None,
        from_span=None,
        uses=(),
    )


def _merge_edges(first: ColumnEdge, second: ColumnEdge) -> ColumnEdge:
    """Two edges between the same columns as one row."""
    return msgspec.structs.replace(
        first,
        masking=first.masking and second.masking,
        approximate=first.approximate or second.approximate,
        conditional=first.conditional and second.conditional,
    )


def compose_shared_edges(
    lent: Sequence[SharedTempUse], edges: list[ColumnEdge]
) -> tuple[list[ColumnEdge], list[Diagnostic]]:
    """All edges, composed through temporary tables that modules share, and findings where these are too many."""
    if not lent:
        return edges, []
    shared = {use.object for use in lent}
    apart: list[ColumnEdge] = []
    touching: list[ColumnEdge] = []
    for edge in edges:
        touches = shared.intersection((edge.from_object, edge.to_object, *(hop.object for hop in edge.hops)))
        (touching if touches else apart).append(edge)
    touching.sort(key=lambda edge: tuple(map(str, _EDGE_KEY(edge))))  # so that a limit leaves the same ones everywhere
    composer = SharedEdgeComposer(lent, touching)
    composed = merge_edges([*apart, *composer.compose()])
    return composed, [_report_skipped(use) for _, use in sorted(composer.skipped.items())]


def _report_skipped(use: SharedTempUse) -> Diagnostic:
    """The finding at a statement whose edges still start at a shared table."""
    what = "the number of edges through temporary tables that modules share"
    values = {"what": what, "limit": str(MAX_COMPOSED_EDGES)}
    return build_placed_diagnostic(
        "LIMIT_EXCEEDED", values, (use.path, use.line, use.column), Stage.COLUMN_GRAPH, use.object
    )


def merge_edges(edges: Iterable[ColumnEdge]) -> list[ColumnEdge]:
    """Make one row of edges with the same key; the first says where it stands in the text."""
    found: dict[tuple[object, ...], ColumnEdge] = {}
    for edge in edges:
        key = _EDGE_KEY(edge)
        known = found.get(key)
        found[key] = edge if known is None else _merge_edges(known, edge)
    return list(found.values())
