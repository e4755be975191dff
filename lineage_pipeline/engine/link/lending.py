"""Lending: temporary objects that several modules use, as each of them sees them, and edges led through them.

Inside one module such an object is followed like any other temporary one. What others put into it is an edge that
begins at it, until the edges of all files are known: then those that end at it are set before those that begin there.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter

import msgspec

from lineage_pipeline.engine.link.flows import Flow, united
from lineage_pipeline.engine.link.model import Input
from lineage_pipeline.vocabulary.plan import Lent
from lineage_pipeline.vocabulary.sets import EdgeType, Subtype
from lineage_pipeline.vocabulary.tables import ColumnEdge, Hop

MOST = 1_000
"""How many ways may lead into one column: beyond, its edges stay as they are."""

MOST_IN_ALL = 100_000
"""How many edges may be made of all: beyond, those that are left stay as they are."""

_RANKS = (Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION)


class Lending:
    """The shared temporary objects of one script: what each module knows of what they hold."""

    def __init__(self, objects: Collection[str], state: dict[str, Input]) -> None:
        """Start outside of all modules, knowing nothing."""
        self.objects = frozenset(objects)
        self.module = ""
        self._unknown = {name: state[name] for name in self.objects}
        self._left: dict[str, dict[str, Input]] = {}

    def enter(self, module: str, state: dict[str, Input]) -> None:
        """Go to a module, which knows only what it does itself with an object."""
        if module != self.module:
            self._left[self.module] = {name: state[name] for name in self.objects}
            state.update(self._left.get(module, self._unknown))
            self.module = module

    def fill(self, objects: Iterable[str], state: dict[str, Input]) -> None:
        """Let a module that is called put something into objects that the caller knows."""
        for name in self.objects.intersection(objects):
            before = state[name]
            columns = tuple(
                msgspec.structs.replace(column, flows=united([column.flows, (Flow(name, column.name),)]))
                if column.flows is not None
                else column
                for column in before.columns
            )
            state[name] = msgspec.structs.replace(before, columns=columns)


class Bridges:
    """Edges that touch shared temporary objects, to be joined where one module reads what another one wrote."""

    def __init__(self, lent: Iterable[Lent], edges: Sequence[ColumnEdge]) -> None:
        """Start with all uses of such objects, and all edges that begin, end or pass there."""
        self.uses: dict[tuple[str, str], list[Lent]] = {}
        for use in sorted(lent, key=attrgetter("path", "ordinal")):
            self.uses.setdefault((use.path, use.object), []).append(use)
        self.shared = {name for _, name in self.uses}
        self.filled = {home for uses in self.uses.values() for use in uses if use.fills for home, _, _ in use.homes}
        self.edges = edges
        self.made = 0
        self._known: dict[tuple[object, ...], list[ColumnEdge]] = {}
        self._asked: set[tuple[object, ...]] = set()
        self._into: dict[tuple[str, str], list[ColumnEdge]] = {}
        for edge in edges:
            if edge.to_object in self.shared:
                for home, _, _ in self._use(edge, edge.to_object).homes:
                    self._into.setdefault((home, edge.to_column), []).append(edge)

    def joined(self) -> list[ColumnEdge]:
        """The edges without those that something lasting reads through, and with those that lead all the way."""
        passed = self._passed()
        return merge_edges(
            one
            for edge in self.edges
            for one in (self._led(edge) if edge.from_object in self.shared else (edge,))
            if one.to_object not in passed
        )

    def _use(self, edge: ColumnEdge, name: str) -> Lent:
        """The use of a shared object that made an edge: what a variable holds was read by a statement before."""
        uses = self.uses[edge.path, name]
        return uses[max(bisect_right(uses, edge.statement, key=attrgetter("ordinal")) - 1, 0)]

    def _led(self, edge: ColumnEdge) -> Iterator[ColumnEdge]:
        """The edges from what is behind a shared object, or the edge itself where nobody fills that."""
        use = self._use(edge, edge.from_object)
        if not any(home in self.filled for home, _, _ in use.homes):
            yield edge
            return
        behind = list(islice(self._behind(edge, frozenset()), MOST + 1))
        if len(behind) > MOST or self.made > MOST_IN_ALL:
            yield msgspec.structs.replace(edge, approximate=True)
            return
        self.made += len(behind)
        if not behind and edge.from_object.startswith("##"):  # it outlives the call: a call before may have filled it
            yield edge
        yield from (_composed(one, edge) for one in behind)
        yield from self._deciding(use, edge)

    def _deciding(self, use: Lent, edge: ColumnEdge) -> Iterator[ColumnEdge]:
        """What decides about the rows of a shared object decides about those of its reader, said once for each."""
        column = "*" if use.ordinal == edge.statement else edge.to_column  # or else a variable brings the value here
        asked = (edge.path, edge.statement, use.object, edge.to_object, column)
        if asked not in self._asked:
            self._asked.add(asked)
            rows = [one for one in self._sources(use, "*") if one.type is EdgeType.INDIRECT]
            self.made += len(rows)
            yield from (_decided(one, edge, column) for one in rows)

    def _behind(self, edge: ColumnEdge, seen: frozenset[tuple[str, int, str, str]]) -> Iterator[ColumnEdge]:
        """The edges that lead into where an edge begins, from something that is not shared itself."""
        here = (edge.path, edge.statement, edge.from_object, edge.from_column)
        if here in seen:
            return
        for one in self._sources(self._use(edge, edge.from_object), edge.from_column):
            if one.to_column == "*" and one.type is EdgeType.INDIRECT:
                continue
            if one.from_object not in self.shared:
                yield one
                continue
            yield from (_composed(first, one) for first in self._behind(one, seen | {here}))

    def _sources(self, use: Lent, column: str) -> list[ColumnEdge]:
        """The edges into a column that another module made before a statement reads it."""
        key = (use.path, use.module, use.homes, column)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = [
                edge
                for home, _, last in use.homes
                for edge in self._into.get((home, column), ())
                if self._is_before(edge, use, home, last)
            ]
        return known

    def _is_before(self, edge: ColumnEdge, use: Lent, home: str, last: int) -> bool:
        other = self._use(edge, edge.to_object)
        first = next(begin for name, begin, _ in other.homes if name == home)
        return (other.path, other.module) != (use.path, use.module) and first <= last

    def _passed(self) -> set[str]:
        """The shared objects through which something lasting gets its values."""
        found: set[str] = set()
        for edge in self.edges:
            if edge.to_object not in self.shared:
                found.update(hop.object for hop in edge.hops if hop.object in self.shared)
                found.update(self._meant(edge, edge.from_object))
        grown = True
        while grown:
            into = [edge for edge in self.edges if edge.to_object in self.shared and self._reads(edge, found)]
            fresh = {home for edge in into for home in self._meant(edge, edge.from_object)} - found
            found |= fresh
            grown = bool(fresh)
        return found

    def _reads(self, edge: ColumnEdge, found: set[str]) -> bool:
        return any(home in found for home in self._meant(edge, edge.to_object))

    def _meant(self, edge: ColumnEdge, name: str) -> list[str]:
        return [home for home, _, _ in self._use(edge, name).homes] if name in self.shared else []


_KEY = attrgetter(
    "path", "statement", "from_object", "from_column", "from_path", "to_object", "to_column", "type", "subtype"
)


def _composed(first: ColumnEdge, then: ColumnEdge) -> ColumnEdge:
    """One edge of two: a decision stays one, and of two changes of a value the greater counts."""
    decides = next((edge for edge in (then, first) if edge.type is EdgeType.INDIRECT), None)
    subtype = decides.subtype if decides is not None else max(first.subtype, then.subtype, key=_RANKS.index)
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


def _decided(first: ColumnEdge, then: ColumnEdge, column: str) -> ColumnEdge:
    """What decided about the rows of a shared object decides about those of what reads it."""
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


def _either(first: ColumnEdge, second: ColumnEdge) -> ColumnEdge:
    """Two ways from one column to another as one row."""
    return msgspec.structs.replace(
        first,
        masking=first.masking and second.masking,
        approximate=first.approximate or second.approximate,
        conditional=first.conditional and second.conditional,
    )


def bridged(lent: Sequence[Lent], edges: list[ColumnEdge]) -> list[ColumnEdge]:
    """All edges, led through temporary objects that several modules use."""
    if not lent:
        return edges
    shared = {use.object for use in lent}
    apart: list[ColumnEdge] = []
    touching: list[ColumnEdge] = []
    for edge in edges:
        touches = shared.intersection((edge.from_object, edge.to_object, *(hop.object for hop in edge.hops)))
        (touching if touches else apart).append(edge)
    touching.sort(key=lambda edge: tuple(map(str, _KEY(edge))))  # so that a limit leaves the same ones everywhere
    return merge_edges([*apart, *Bridges(lent, touching).joined()])


def merge_edges(edges: Iterable[ColumnEdge]) -> list[ColumnEdge]:
    """Make one row of edges with the same key; the first says where it stands in the text."""
    found: dict[tuple[object, ...], ColumnEdge] = {}
    for edge in edges:
        key = _KEY(edge)
        known = found.get(key)
        found[key] = edge if known is None else _either(known, edge)
    return list(found.values())
