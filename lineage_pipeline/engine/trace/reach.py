"""Reach of every column, counted exactly or, for very many columns, from a sample.

Cycles are condensed into components, and each component is processed after all that it leads to.
A set of labels is a dict from pieces of the label range to integers, one bit for each label: most columns reach few
others, and those lie close together in component order, so that a set has few pieces however many labels there are.
A set is dropped once no component needs it any more.
"""

import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.trace.column_graph import Adjacency, ColumnGraph, ColumnRef, GraphLinks, build_column_graph
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.tables import Column, ColumnReach

HopCosts = tuple[bytes, bytes]
"""For each node whether leaving it counts, and whether entering it does: an edge is a hop if both do."""


class Condensation(msgspec.Struct, frozen=True):
    """Components in one direction: `next` leads on, and `order` has a component after all its successors.

    `single` is the only node of a component that is no cycle, else -1, and `cycles` are the nodes of the others;
    `depth` is the longest path from each node, in hops, where a cycle counts as one. Flat arrays: there may be millions
    of nodes.
    """

    order: range
    component: "array[int]"
    single: "array[int]"
    cycles: dict[int, Sequence[int]]
    next: "ComponentLinks"
    depth: "array[int]"

    def sort_nodes(self, nodes: Iterable[int]) -> list[int]:
        """Nodes in the order of their components."""
        return sorted(nodes, key=self.component.__getitem__, reverse=self.order.step < 0)


class ComponentLinks(msgspec.Struct, frozen=True):
    """The successors of each component: those of component `i` are `targets[starts[i]:ends[i]]`."""

    starts: "array[int]"
    ends: "array[int]"
    targets: "array[int]"


class StrongComponents(msgspec.Struct, frozen=True):
    """The component of each node, a node of each component, and all nodes of those that have several."""

    component: "array[int]"
    only: "array[int]"
    several: dict[int, list[int]]


def condense_graph(links: GraphLinks, costs: HopCosts) -> tuple[Condensation, Condensation]:
    """Both directions of the condensed graph, upstream first."""
    folded = find_strong_components(links.down)
    count, (leaving, entering) = len(folded.only), costs
    up = _condense_direction(links.up, folded, range(count - 1, -1, -1), (entering, leaving))
    return up, _condense_direction(links.down, folded, range(count), costs)


def find_strong_components(links: Adjacency) -> StrongComponents:
    """The sets of nodes that reach each other, successors first (Tarjan, without recursion)."""
    size = len(links.offsets) - 1
    cursor, ends, targets = links.offsets[:-1], links.offsets[1:], links.targets
    seen, low = _zeros(size), _zeros(size)
    folded = StrongComponents(array("i", [-1]) * size, array("i"), {})
    open_nodes: list[int] = []
    visits = 0
    for start in range(size):
        path = [] if seen[start] else [start]
        while path:
            node = path[-1]
            if not seen[node]:
                visits += 1
                seen[node] = low[node] = visits
                open_nodes.append(node)
            if cursor[node] < ends[node]:
                other = targets[cursor[node]]
                cursor[node] += 1
                if not seen[other]:
                    path.append(other)
                elif folded.component[other] < 0:
                    low[node] = min(low[node], seen[other])
                continue
            path.pop()
            if path:
                low[path[-1]] = min(low[path[-1]], low[node])
            if low[node] == seen[node]:
                _close_component(node, open_nodes, folded)
    return folded


def _zeros(size: int) -> "array[int]":
    return array("i", bytes(array("i").itemsize * size))


def _close_component(node: int, open_nodes: list[int], folded: StrongComponents) -> None:
    """Remove the component that ends with `node` from the open nodes."""
    number = len(folded.only)
    folded.only.append(node)
    folded.component[node] = number
    if open_nodes[-1] == node:
        open_nodes.pop()
        return
    start = len(open_nodes) - 1
    while open_nodes[start] != node:
        start -= 1
    folded.several[number] = nodes = open_nodes[start:]
    del open_nodes[start:]
    for one in nodes:
        folded.component[one] = number


def _condense_direction(links: Adjacency, folded: StrongComponents, order: range, costs: HopCosts) -> Condensation:
    count, component, several = len(order), folded.component, folded.several
    made = Condensation(
        order=order,
        component=component,
        single=folded.only[:],
        cycles={},
        next=ComponentLinks(_zeros(count), _zeros(count), array("i")),
        depth=_zeros(len(component)),
    )
    starts, ends, targets = made.next.starts, made.next.ends, made.next.targets
    offsets, neighbors, depth, (leaving, entering) = links.offsets, links.targets, made.depth, costs
    for number in order:
        node = folded.only[number]
        onwards = neighbors[offsets[node] : offsets[node + 1]]
        starts[number] = len(targets)
        if number in several or node in onwards:
            _add_cycle(number, made, links, several.get(number) or [node], costs)
        elif onwards:
            targets.extend({component[other] for other in onwards} if len(onwards) > 1 else (component[onwards[0]],))
            cost = leaving[node]
            depth[node] = max([(cost & entering[other]) + depth[other] for other in onwards])
        ends[number] = len(targets)
    return made


def _add_cycle(number: int, made: Condensation, links: Adjacency, nodes: Sequence[int], costs: HopCosts) -> None:
    """Add a component whose nodes reach themselves."""
    component, depth, (leaving, entering) = made.component, made.depth, costs
    made.single[number] = -1
    made.cycles[number] = nodes
    onwards = [(node, other) for node in nodes for other in links.of(node) if component[other] != number]
    made.next.targets.extend({component[other] for _, other in onwards})
    longest = max(((leaving[node] & entering[other]) + depth[other] for node, other in onwards), default=0) + 1
    for node in nodes:
        depth[node] = longest


PIECE_LABELS = 1_024
"""Labels in a piece."""

MAX_HELD_PIECES = 1_500_000
"""Pieces held at a time, of some 250 bytes each; a graph that needs more is swept in several windows of labels."""

MIN_WINDOW_LABELS = 4_096
"""The smallest window of labels, which is swept however many pieces it takes."""

ReachSet = tuple[dict[int, int], int, int, int]
"""A set of labels, and how many of them are columns, leaves and objects."""

EMPTY_REACH: ReachSet = ({}, 0, 0, 0)


class NodeLabels(msgspec.Struct, frozen=True):
    """The label of each node and that of its object, -1 for none; column labels come first.

    Labels from `leaves` on belong to columns that feed nothing, from `objects` on to objects; there are `count` labels.
    Each sort begins a piece.
    """

    own: "array[int]"
    object: "array[int]"
    leaves: int
    objects: int
    count: int


class ReachTally(msgspec.Struct, frozen=True):
    """How many columns each column reaches, how many of them are leaves, and how many objects."""

    columns: "array[int]"
    leaves: "array[int]"
    objects: "array[int]"


def count_labels(way: Condensation, labels: NodeLabels, columns: int) -> ReachTally:
    """Count the labels that each of the first nodes reaches, without its own."""
    width = max(labels.count, 1)
    while True:
        found = ReachTally(*(array("q", bytes(8 * columns)) for _ in range(3)))
        windows = [range(first, first + width) for first in range(0, labels.count, width)]
        if all(_Sweep(way, labels, window, found).run(columns) for window in windows):
            return found
        width = max(width // 4, MIN_WINDOW_LABELS)


class _Sweep:
    """One pass over all components, for a window of labels."""

    def __init__(self, way: Condensation, labels: NodeLabels, window: range, found: ReachTally) -> None:
        self.way, self.labels, self.window, self.found = way, labels, window, found
        self.room = MAX_HELD_PIECES if len(window) > MIN_WINDOW_LABELS else None
        self.leaf, self.object = labels.leaves // PIECE_LABELS, labels.objects // PIECE_LABELS

    def run(self, columns: int) -> bool:
        """Count for all components; False where the sets exceed their room."""
        way, targets, single = self.way, self.way.next.targets, self.way.single
        starts, ends = way.next.starts, way.next.ends
        reached, asking, held = [EMPTY_REACH] * len(single), _count_readers(targets, len(single)), 0
        for number in way.order:
            start, end = starts[number], ends[number]
            beyond = reached[targets[start]] if end - start == 1 else self._union_sets(reached, targets[start:end])
            node = single[number]
            if node < 0:
                beyond = self._count_cycle([one for one in way.cycles[number] if one < columns], beyond)
            elif node < columns:
                self._add_counts(node, beyond)
                beyond = self._add_labels(node, beyond) if asking[number] else EMPTY_REACH
            if asking[number]:
                reached[number] = beyond
                held += len(beyond[0])
            held -= _drop_unread_sets(reached, asking, targets[start:end])
            if self.room is not None and held > self.room:
                return False
        return True

    def _add_counts(self, node: int, reach: ReachSet) -> None:
        """Add the counts of a set to a column."""
        _, columns, leaves, objects = reach
        if columns or objects:
            self.found.columns[node] += columns
            self.found.leaves[node] += leaves
            self.found.objects[node] += objects

    def _union_sets(self, reached: Sequence[ReachSet], targets: Sequence[int]) -> ReachSet:
        """The union of the sets of some components: the largest one, extended by the others."""
        if not targets:
            return EMPTY_REACH
        sets = [reached[other] for other in targets]
        joint = largest = max(sets, key=_count_pieces)
        for one in sets:
            if one is not largest:
                joint = self._extend_set(joint, one[0], joint is not largest)
        return joint

    def _extend_set(self, reach: ReachSet, others: Mapping[int, int], mine: bool) -> ReachSet:
        """A set extended by another one; changed in place where it is `mine`, else copied when needed."""
        joint, columns, leaves, objects = reach
        for piece, bits in others.items():
            new = bits & ~joint.get(piece, 0)
            if not new:
                continue
            if not mine:
                joint, mine = dict(joint), True
            joint[piece] = joint.get(piece, 0) | new
            if piece >= self.object:
                objects += new.bit_count()
            else:
                columns += new.bit_count()
                leaves += new.bit_count() if piece >= self.leaf else 0
        return reach if joint is reach[0] and not mine else (joint, columns, leaves, objects)

    def _add_labels(self, node: int, beyond: ReachSet) -> ReachSet:
        """A set with the labels of a node added."""
        joint, columns, leaves, objects = beyond
        own, owner = self.labels.own[node], self.labels.object[node]
        if own in self.window:
            joint = {**joint, own // PIECE_LABELS: joint.get(own // PIECE_LABELS, 0) | 1 << own % PIECE_LABELS}
            columns += 1
            leaves += own >= self.labels.leaves
        if owner in self.window and not _has_label(joint, owner):
            joint = {**joint, owner // PIECE_LABELS: joint.get(owner // PIECE_LABELS, 0) | 1 << owner % PIECE_LABELS}
            objects += 1
        return joint, columns, leaves, objects

    def _count_cycle(self, members: Sequence[int], beyond: ReachSet) -> ReachSet:
        """Count for columns that reach each other: a label that only the column itself has does not count."""
        closed = beyond
        owners = Counter(self.labels.object[node] for node in members)
        for node in members:
            closed = self._add_labels(node, closed)
        joint, columns, leaves, objects = closed
        for node in members:
            own, owner = self.labels.own[node], self.labels.object[node]
            alone = owner in self.window and owners[owner] == 1 and not _has_label(beyond[0], owner)
            self._add_counts(node, (joint, columns - (own in self.window), leaves, objects - alone))
        return closed


def _count_pieces(reach: ReachSet) -> int:
    return len(reach[0])


def _has_label(joint: dict[int, int], label: int) -> bool:
    return bool(joint.get(label // PIECE_LABELS, 0) >> label % PIECE_LABELS & 1)


def _count_readers(targets: Iterable[int], count: int) -> "array[int]":
    """Count the components that read each component's set."""
    asking = array("i", bytes(array("i").itemsize * count))
    for other in targets:
        asking[other] += 1
    return asking


def _drop_unread_sets(reached: list[ReachSet], asking: "array[int]", targets: Iterable[int]) -> int:
    """Drop the sets that no component reads any more, and count their pieces."""
    pieces = 0
    for other in targets:
        asking[other] -= 1
        if not asking[other]:
            pieces += len(reached[other][0])
            reached[other] = EMPTY_REACH
    return pieces


EXACT_COLUMNS = 262_144
"""Up to this many columns every count is exact."""

SAMPLE = 32_768
"""Beyond that, this many columns are swept and represent all."""

EXACT_SET = 64
"""In a sampled graph, a column that reaches at most this many nodes is still counted exactly."""


class ReachCounts(msgspec.Struct, frozen=True):
    """For each column: columns, objects, leaves and depth in one direction; `estimated` lists the inexact ones."""

    columns: Sequence[int]
    objects: Sequence[int]
    leaves: Sequence[int]
    depth: Sequence[int]
    estimated: set[int]


class CountingGraph(msgspec.Struct, frozen=True):
    """A column graph as numbers only, as counting needs it.

    Nodes are numbered as in a graph, columns first, each with its object among the `owners`, in their order; `spread`
    gives the numbers by which a sample is chosen, which depend on names alone.
    """

    columns: int
    into: int
    links: GraphLinks
    owners: Sequence[int]
    spread: Callable[[], Sequence[int]]


def build_column_reach(lineage: LineageTables, exact_columns: int = EXACT_COLUMNS) -> tuple[ColumnReach, ...]:
    """One row for each column of the lineage, in the order of its columns."""
    graph = build_column_graph(lineage)
    nets = (build_counting_graph(graph, direct_only) for direct_only in (True, False))
    direct, every = (count_both_directions(net, exact_columns) for net in nets)
    nodes = ((column, graph.index[ColumnRef(column.object, column.name)]) for column in lineage.columns)
    return tuple(_build_row(column, node, (*direct, *every)) for column, node in nodes)


def build_counting_graph(graph: ColumnGraph, direct_only: bool) -> CountingGraph:
    """The edges of a graph that carry values, or all of them, for counting."""
    numbers: dict[str, int] = {}
    owners = [numbers.setdefault(ref.object, len(numbers)) for ref in graph.refs]
    links = graph.links(direct_only)
    return CountingGraph(
        columns=graph.columns,
        into=graph.into,
        links=links,
        owners=owners,
        spread=lambda: [sampling_hash(ref.object, ref.column) for ref in graph.refs],
    )


def count_both_directions(net: CountingGraph, exact_columns: int = EXACT_COLUMNS) -> tuple[ReachCounts, ReachCounts]:
    """Count what each column reaches upstream and downstream."""
    labels = _choose_labels(net, exact_columns)
    up, down = condense_graph(net.links, _hop_costs(net))
    return _count_direction(net, net.links.up, up, labels), _count_direction(net, net.links.down, down, labels)


def _hop_costs(net: CountingGraph) -> HopCosts:
    """Which ends of an edge make it a hop: a path through a hidden node is one hop, not two."""
    into, out_of = net.into - net.columns, len(net.links.down.offsets) - 1 - net.into
    return b"\1" * net.columns + bytes(into) + b"\1" * out_of, b"\1" * net.into + bytes(out_of)


def _choose_labels(net: CountingGraph, exact_columns: int) -> Sequence[int]:
    """The columns that are counted: all, or a sample that depends on their names alone."""
    if net.columns <= exact_columns:
        return range(net.columns)
    numbers = net.spread()
    return sorted(range(net.columns), key=lambda node: (numbers[node], node))[:SAMPLE]


def sampling_hash(name: str, column: str) -> int:
    """A number that depends only on the name of a column."""
    return zlib.crc32(f"{name}.{column}".encode())


def _count_direction(net: CountingGraph, links: Adjacency, way: Condensation, labels: Sequence[int]) -> ReachCounts:
    """Count what each column reaches in one direction."""
    found = count_labels(way, _assign_labels(net, links, way, labels), net.columns)
    columns, leaves = found.columns, found.leaves
    estimated: set[int] = set()
    if len(labels) < net.columns:
        for node, (count, ends, inexact) in _estimate_counts(net, links, columns, leaves, net.columns / len(labels)):
            columns[node], leaves[node] = count, ends
            if inexact:
                estimated.add(node)
    return ReachCounts(columns=columns, objects=found.objects, leaves=leaves, depth=way.depth, estimated=estimated)


def _is_leaf(links: Adjacency, node: int) -> bool:
    return links.offsets[node] == links.offsets[node + 1]


def _assign_labels(net: CountingGraph, links: Adjacency, way: Condensation, chosen: Iterable[int]) -> NodeLabels:
    """Give each chosen column that is reached a label, and the columns of one object a common one.

    Labels follow the order of components: what is reached together has neighboring labels.
    """
    own, object = array("i", [-1]) * net.columns, array("i", [-1]) * net.columns
    leaves = objects = 0
    met = set(links.targets)  # nobody reaches the others, and they may be most
    nodes = way.sort_nodes(node for node in chosen if node in met)
    for leaves, node in enumerate((node for node in nodes if not _is_leaf(links, node)), start=1):
        own[node] = leaves - 1
    leaves = objects = -(-leaves // PIECE_LABELS) * PIECE_LABELS
    for objects, node in enumerate((node for node in nodes if _is_leaf(links, node)), start=leaves + 1):
        own[node] = objects - 1
    objects = -(-objects // PIECE_LABELS) * PIECE_LABELS
    numbers: dict[int, int] = {}
    for node in way.sort_nodes(node for node in range(net.columns) if node in met):
        object[node] = numbers.setdefault(net.owners[node], objects + len(numbers))
    return NodeLabels(own=own, object=object, leaves=leaves, objects=objects, count=objects + len(numbers))


def _estimate_counts(
    net: CountingGraph, links: Adjacency, columns: Sequence[int], leaves: Sequence[int], scale: float
) -> Iterator[tuple[int, tuple[int, int, bool]]]:
    """Exact counts for columns that reach little, scaled counts of the sample for the others."""
    for node in range(net.columns):
        reached = _reached_columns(net, links, node)
        if reached is None:
            yield node, (max(EXACT_SET, round(columns[node] * scale)), round(leaves[node] * scale), True)
        else:
            yield node, (len(reached), sum(_is_leaf(links, other) for other in reached), False)


def _reached_columns(net: CountingGraph, links: Adjacency, node: int) -> list[int] | None:
    """The columns that a node reaches, or None when there are too many."""
    seen = {node}
    waiting = [node]
    while waiting:
        new = {other for other in links.of(waiting.pop()) if other not in seen}
        seen |= new
        waiting.extend(new)
        if len(seen) > EXACT_SET:
            return None
    return [other for other in seen if other != node and other < net.columns]


def _build_row(
    column: Column, node: int, counts: tuple[ReachCounts, ReachCounts, ReachCounts, ReachCounts]
) -> ColumnReach:
    direct_up, direct_down, all_up, all_down = counts
    return ColumnReach(
        object=column.object,
        ordinal=column.ordinal,
        name=column.name,
        direct_upstream_columns=direct_up.columns[node],
        direct_upstream_objects=direct_up.objects[node],
        direct_upstream_depth=direct_up.depth[node],
        direct_downstream_columns=direct_down.columns[node],
        direct_downstream_objects=direct_down.objects[node],
        direct_downstream_depth=direct_down.depth[node],
        direct_leaves=direct_down.leaves[node],
        all_upstream_columns=all_up.columns[node],
        all_upstream_objects=all_up.objects[node],
        all_downstream_columns=all_down.columns[node],
        all_downstream_objects=all_down.objects[node],
        exact=not any(node in one.estimated for one in counts),
    )
