"""How far every column reaches: one sweep over the graph for many columns at a time.

Cycles are folded into components, and components are taken sinks first. The set of what a component reaches is one
long integer, a bit a column; columns are taken in chunks, so that the integers stay short.
"""

import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from lineage_pipeline.engine.trace.components import Costs, Flow, flows
from lineage_pipeline.engine.trace.graph import Adjacency, ColumnGraph, ColumnRef, Links, column_graph
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.tables import Column, ColumnReach

CHUNK = 16_384
ROOM = 400_000_000
"""Columns a sweep, 2 KB an integer, as long as the integers of all nodes have room: so many bytes if all reach all."""

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
    leaves = _sweep_columns(net, way, [node for node in labels if _is_leaf(links, node)])
    columns = _sweep_columns(net, way, [node for node in labels if not _is_leaf(links, node)])
    for node, count in enumerate(leaves):
        columns[node] += count
    estimated: set[int] = set()
    objects = _sweep_objects(net, way)
    if len(labels) < net.columns:
        for node, found in _estimated(net, links, columns, leaves, net.columns / len(labels)):
            columns[node], leaves[node], inexact = found
            if inexact:
                estimated.add(node)
    return Counts(columns, objects, leaves, way.depth, estimated)


def _is_leaf(links: Adjacency, node: int) -> bool:
    return links.offsets[node] == links.offsets[node + 1]


def _bits(way: Flow) -> int:
    """Say how many bits the integers of all nodes have room for."""
    return min(CHUNK, max(1_024, 8 * ROOM // max(len(way.single), 1)))


def _sweep_columns(net: Net, way: Flow, labels: Sequence[int]) -> "array[int]":
    counts, size = array("q", bytes(8 * net.columns)), _bits(way)
    labels = way.ordered(labels)
    for first in range(0, len(labels), size):
        chunk = labels[first : first + size]
        _sweep(way, {node: 1 << bit for bit, node in enumerate(chunk)}, counts)
    return counts


def _sweep_objects(net: Net, way: Flow) -> "array[int]":
    """Count distinct objects: the columns of one object share a bit."""
    counts, size = array("q", bytes(8 * net.columns)), _bits(way)
    for _, nodes in groupby(range(net.columns), key=lambda node: net.owners[node] // size):
        _sweep(way, {node: 1 << net.owners[node] % size for node in nodes}, counts)
    return counts


def _sweep(way: Flow, bits: Mapping[int, int], counts: "array[int]") -> None:
    """Add to each column's count the bits of the columns that it reaches, itself left out."""
    closed = [0] * len(way.single)
    for node, bit in bits.items():
        closed[way.component[node]] |= bit
    starts, ends, targets = way.next.starts, way.next.ends, way.next.targets
    single, columns = way.single, len(counts)
    # Nothing that stands before the first of these columns leads to any of them.
    for number in way.since(bits):
        beyond = 0
        for other in targets[starts[number] : ends[number]]:
            beyond |= closed[other]
        node = single[number]
        if node < 0:
            _sweep_cycle(way.cycles[number], bits, beyond, closed[number] | beyond, counts)
        elif beyond and node < columns:
            counts[node] += beyond.bit_count()
        if beyond:
            closed[number] |= beyond


def _sweep_cycle(
    members: Iterable[int], bits: Mapping[int, int], beyond: int, closed: int, counts: "array[int]"
) -> None:
    """Count for columns that reach each other: a bit that only the column itself has does not count."""
    shown = [node for node in members if node < len(counts)]
    owners = Counter(bits.get(node, 0) for node in shown)
    total = closed.bit_count()
    for node in shown:
        bit = bits.get(node, 0)
        alone = owners[bit] == 1 and not bit & beyond
        counts[node] += total - (1 if bit and alone else 0)


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
