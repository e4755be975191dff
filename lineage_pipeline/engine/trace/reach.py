"""How far every column reaches, exactly or, where there are very many, by a sample.

Cycles are folded into components, and components are taken sinks first, each after all that it leads to.
"""

import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from lineage_pipeline.engine.trace.closures import PIECE, Labels, count_labels
from lineage_pipeline.engine.trace.components import Costs, Flow, flows
from lineage_pipeline.engine.trace.graph import Adjacency, ColumnGraph, ColumnRef, Links, column_graph
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.tables import Column, ColumnReach

EXACT_COLUMNS = 262_144
"""Up to so many columns every count is exact."""

SAMPLE = 32_768
"""Beyond, so many columns are swept, and stand for all."""

EXACT_SET = 64
"""Beyond, a column that reaches no more nodes than this is still counted exactly."""


class Counts(msgspec.Struct, frozen=True):
    """For each column: columns, objects, leaves and depth in one direction; `estimated` lists the inexact ones."""

    columns: Sequence[int]
    objects: Sequence[int]
    leaves: Sequence[int]
    depth: Sequence[int]
    estimated: set[int]


class Net(msgspec.Struct, frozen=True):
    """A graph of columns as counting takes it: numbers alone.

    Nodes are numbered as in a graph, columns first, each with its object among the `owners`, in their order; `spread`
    gives numbers that choose a sample of them, and depend on names alone.
    """

    columns: int
    into: int
    links: Links
    owners: Sequence[int]
    spread: Callable[[], Sequence[int]]


def column_reach(lineage: Lineage, exact_columns: int = EXACT_COLUMNS) -> tuple[ColumnReach, ...]:
    """Give one row for each column of the lineage, in the order of its columns."""
    graph = column_graph(lineage)
    nets = (net_of(graph, direct_only) for direct_only in (True, False))
    direct, every = (count_ways(net, exact_columns) for net in nets)
    nodes = ((column, graph.index[ColumnRef(column.object, column.name)]) for column in lineage.columns)
    return tuple(_row(column, node, (*direct, *every)) for column, node in nodes)


def net_of(graph: ColumnGraph, direct_only: bool) -> Net:
    """Give the edges of a graph that carry values, or all of them, to be counted."""
    numbers: dict[str, int] = {}
    owners = [numbers.setdefault(ref.object, len(numbers)) for ref in graph.refs]
    links = graph.links(direct_only)
    return Net(graph.columns, graph.into, links, owners, lambda: [spread(ref.object, ref.column) for ref in graph.refs])


def count_ways(net: Net, exact_columns: int = EXACT_COLUMNS) -> tuple[Counts, Counts]:
    """Count what each column reaches upstream and downstream."""
    labels = _labels(net, exact_columns)
    up, down = flows(net.links, _costs(net))
    return _count(net, net.links.up, up, labels), _count(net, net.links.down, down, labels)


def _costs(net: Net) -> Costs:
    """Say which ends of an edge make it a hop: a way through a hidden node is one, not two."""
    into, out_of = net.into - net.columns, len(net.links.down.offsets) - 1 - net.into
    return b"\1" * net.columns + bytes(into) + b"\1" * out_of, b"\1" * net.into + bytes(out_of)


def _labels(net: Net, exact_columns: int) -> Sequence[int]:
    """Choose the columns that are looked for: all, or a sample that depends on their names alone."""
    if net.columns <= exact_columns:
        return range(net.columns)
    numbers = net.spread()
    return sorted(range(net.columns), key=lambda node: (numbers[node], node))[:SAMPLE]


def spread(name: str, column: str) -> int:
    """Give a number that tells nothing of a column but its name."""
    return zlib.crc32(f"{name}.{column}".encode())


def _count(net: Net, links: Adjacency, way: Flow, labels: Sequence[int]) -> Counts:
    """Count what each column reaches in one direction."""
    found = count_labels(way, _labelled(net, links, way, labels), net.columns)
    columns, leaves = found.columns, found.leaves
    estimated: set[int] = set()
    if len(labels) < net.columns:
        for node, (count, ends, inexact) in _estimated(net, links, columns, leaves, net.columns / len(labels)):
            columns[node], leaves[node] = count, ends
            if inexact:
                estimated.add(node)
    return Counts(columns, found.objects, leaves, way.depth, estimated)


def _is_leaf(links: Adjacency, node: int) -> bool:
    return links.offsets[node] == links.offsets[node + 1]


def _labelled(net: Net, links: Adjacency, way: Flow, chosen: Iterable[int]) -> Labels:
    """Give each chosen column that is reached a label of its own, and the columns of one object one in common.

    In the order of components: what is reached together has labels that lie together.
    """
    own, object = array("i", [-1]) * net.columns, array("i", [-1]) * net.columns
    leaves = objects = 0
    met = set(links.targets)  # nobody reaches the others, and they may be most
    nodes = way.ordered(node for node in chosen if node in met)
    for leaves, node in enumerate((node for node in nodes if not _is_leaf(links, node)), start=1):
        own[node] = leaves - 1
    leaves = objects = -(-leaves // PIECE) * PIECE
    for objects, node in enumerate((node for node in nodes if _is_leaf(links, node)), start=leaves + 1):
        own[node] = objects - 1
    objects = -(-objects // PIECE) * PIECE
    numbers: dict[int, int] = {}
    for node in way.ordered(node for node in range(net.columns) if node in met):
        object[node] = numbers.setdefault(net.owners[node], objects + len(numbers))
    return Labels(own, object, leaves, objects, objects + len(numbers))


def _estimated(
    net: Net, links: Adjacency, columns: Sequence[int], leaves: Sequence[int], scale: float
) -> Iterator[tuple[int, tuple[int, int, bool]]]:
    """Give exact counts where a column reaches little, and the scaled ones of the sample where it reaches much."""
    for node in range(net.columns):
        reached = _reached(net, links, node)
        if reached is None:
            yield node, (max(EXACT_SET, round(columns[node] * scale)), round(leaves[node] * scale), True)
        else:
            yield node, (len(reached), sum(_is_leaf(links, other) for other in reached), False)


def _reached(net: Net, links: Adjacency, node: int) -> list[int] | None:
    """List the columns that a node reaches, or None when there are too many to look at."""
    seen = {node}
    waiting = [node]
    while waiting:
        new = {other for other in links.of(waiting.pop()) if other not in seen}
        seen |= new
        waiting.extend(new)
        if len(seen) > EXACT_SET:
            return None
    return [other for other in seen if other != node and other < net.columns]


def _row(column: Column, node: int, counts: tuple[Counts, Counts, Counts, Counts]) -> ColumnReach:
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
