"""Reach of every column, counted exactly or, for very many columns, from a sample.

Cycles are condensed into components, and each component is processed after all that it leads to.
"""

import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from lineage_pipeline.engine.trace.closures import PIECE, NodeLabels, count_labels
from lineage_pipeline.engine.trace.column_graph import Adjacency, ColumnGraph, ColumnRef, GraphLinks, build_column_graph
from lineage_pipeline.engine.trace.condensation import Condensation, HopCosts, condense_graph
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.tables import Column, ColumnReach

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
    leaves = objects = -(-leaves // PIECE) * PIECE
    for objects, node in enumerate((node for node in nodes if _is_leaf(links, node)), start=leaves + 1):
        own[node] = objects - 1
    objects = -(-objects // PIECE) * PIECE
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
