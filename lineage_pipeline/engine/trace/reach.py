"""How far every column reaches: one sweep over the graph for many columns at a time.

Cycles are folded into components, and components are taken sinks first. The set of what a component reaches is one
long integer, a bit a column; columns are taken in chunks, so that the integers stay short.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.trace.components import Flow, flows
from lineage_pipeline.engine.trace.graph import Adjacency, ColumnGraph, ColumnRef, column_graph
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.tables import Column, ColumnReach

CHUNK = 16_384
"""Columns a sweep: 2 KB an integer, so that 200,000 nodes stay within 400 MB even where all reach all."""

EXACT_COLUMNS = 262_144
"""Up to so many columns every count is exact."""

SAMPLE = 32_768
"""Beyond, so many columns are swept, and stand for all."""

EXACT_SET = 64
"""Beyond, a column that reaches no more nodes than this is still counted exactly."""


class Counts(msgspec.Struct, frozen=True):
    """For each column: columns, objects, leaves and depth in one direction; `estimated` lists the inexact ones."""

    columns: list[int]
    objects: list[int]
    leaves: list[int]
    depth: Sequence[int]
    estimated: set[int]


def column_reach(lineage: Lineage, exact_columns: int = EXACT_COLUMNS) -> tuple[ColumnReach, ...]:
    """Give one row for each column of the lineage, in the order of its columns."""
    graph = column_graph(lineage)
    direct, every = (count_ways(graph, direct_only, exact_columns) for direct_only in (True, False))
    nodes = ((column, graph.index[ColumnRef(column.object, column.name)]) for column in lineage.columns)
    return tuple(_row(column, node, (*direct, *every)) for column, node in nodes)


def count_ways(graph: ColumnGraph, direct_only: bool, exact_columns: int = EXACT_COLUMNS) -> tuple[Counts, Counts]:
    """Count what each column reaches upstream and downstream, over the edges that carry values or over all."""
    labels, links = _labels(graph, exact_columns), graph.links(direct_only)
    up, down = flows(graph, direct_only)
    return _count(graph, links.up, up, labels), _count(graph, links.down, down, labels)


def _labels(graph: ColumnGraph, exact_columns: int) -> list[int]:
    """Choose the columns that are looked for: all, or a sample that depends on their names alone."""
    if graph.columns <= exact_columns:
        return list(range(graph.columns))
    return sorted(range(graph.columns), key=lambda node: (_spread(graph.refs[node]), node))[:SAMPLE]


def _spread(ref: ColumnRef) -> int:
    return zlib.crc32(f"{ref.object}.{ref.column}".encode())


def _count(graph: ColumnGraph, links: Adjacency, way: Flow, labels: Sequence[int]) -> Counts:
    """Count what each column reaches in one direction."""
    leaves = _sweep_columns(graph, way, [node for node in labels if _is_leaf(links, node)])
    others = _sweep_columns(graph, way, [node for node in labels if not _is_leaf(links, node)])
    columns = [leaf + other for leaf, other in zip(leaves, others, strict=True)]
    counts = Counts(columns, _sweep_objects(graph, way), leaves, way.depth, set())
    if len(labels) < graph.columns:
        _estimate(graph, links, counts, graph.columns / len(labels))
    return counts


def _is_leaf(links: Adjacency, node: int) -> bool:
    return links.offsets[node] == links.offsets[node + 1]


def _sweep_columns(graph: ColumnGraph, way: Flow, labels: Sequence[int]) -> list[int]:
    counts = [0] * graph.columns
    labels = sorted(labels, key=way.place)
    for first in range(0, len(labels), CHUNK):
        chunk = labels[first : first + CHUNK]
        _sweep(way, {node: 1 << bit for bit, node in enumerate(chunk)}, counts)
    return counts


def _sweep_objects(graph: ColumnGraph, way: Flow) -> list[int]:
    """Count distinct objects: the columns of one object share a bit."""
    numbers: dict[str, int] = {}
    owners = [numbers.setdefault(ref.object, len(numbers)) for ref in graph.refs]
    counts = [0] * graph.columns
    for first in range(0, len(numbers), CHUNK):
        bits = {node: 1 << (owner - first) for node, owner in enumerate(owners) if first <= owner < first + CHUNK}
        _sweep(way, bits, counts)
    return counts


def _sweep(way: Flow, bits: Mapping[int, int], counts: list[int]) -> None:
    """Add to each column's count the bits of the columns that it reaches, itself left out."""
    closed = [0] * len(way.members)
    for node, bit in bits.items():
        closed[way.component[node]] |= bit
    following, single, columns = way.next, way.single, len(counts)
    # Nothing that stands before the first of these columns leads to any of them.
    for number in way.order[min(map(way.place, bits)) :]:
        beyond = 0
        for other in following[number]:
            beyond |= closed[other]
        node = single[number]
        if node < 0:
            _sweep_cycle(way.members[number], bits, beyond, closed[number] | beyond, counts)
        elif beyond and node < columns:
            counts[node] += beyond.bit_count()
        if beyond:
            closed[number] |= beyond


def _sweep_cycle(members: Iterable[int], bits: Mapping[int, int], beyond: int, closed: int, counts: list[int]) -> None:
    """Count for columns that reach each other: a bit that only the column itself has does not count."""
    shown = [node for node in members if node < len(counts)]
    owners = Counter(bits.get(node, 0) for node in shown)
    total = closed.bit_count()
    for node in shown:
        bit = bits.get(node, 0)
        alone = owners[bit] == 1 and not bit & beyond
        counts[node] += total - (1 if bit and alone else 0)


def _estimate(graph: ColumnGraph, links: Adjacency, counts: Counts, scale: float) -> None:
    """Put exact counts where a column reaches little, and scale the sample's where it reaches much."""
    for node in range(graph.columns):
        reached = _reached(graph, links, node)
        if reached is None:
            counts.estimated.add(node)
            counts.columns[node] = max(EXACT_SET, round(counts.columns[node] * scale))
            counts.leaves[node] = round(counts.leaves[node] * scale)
        else:
            counts.columns[node] = len(reached)
            counts.leaves[node] = sum(_is_leaf(links, other) for other in reached)


def _reached(graph: ColumnGraph, links: Adjacency, node: int) -> list[int] | None:
    """List the columns that a node reaches, or None when there are too many to look at."""
    seen = {node}
    waiting = [node]
    while waiting:
        new = {other for other in links.of(waiting.pop()) if other not in seen}
        seen |= new
        waiting.extend(new)
        if len(seen) > EXACT_SET:
            return None
    return [other for other in seen if other != node and other < graph.columns]


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
