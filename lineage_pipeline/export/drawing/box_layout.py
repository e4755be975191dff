"""Layered layout of boxes with few crossings, the same for the same input; and its data for the script of a page.

The steps are those of Sugiyama: reverse arrows that close a cycle, put each box one layer behind the last one that
it depends on, route long arrows through every layer between, order layers by the positions of their
neighbors, and move boxes up and down towards their neighbors as far as their own layer allows.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.export.drawing.picture import APPROXIMATE, Arrow, Box, Picture
from lineage_pipeline.export.escaping import escape_hidden, shorten_middle

LABEL_LENGTH, COLUMN_LENGTH, TYPE_LENGTH = 44, 30, 22
"""Characters of a name, a column and a type that a box shows; the tooltip has all of them."""

BOX_ROWS = 24
"""Columns that a box shows; the panel beside lists all."""

HEAD_HEIGHT, ROW_HEIGHT, BOX_PADDING = 34, 20, 8
MAX_BOX_WIDTH, MIN_BOX_WIDTH, GLYPH_WIDTH = 420, 150, 7.3


def build_page_data(picture: Picture, flows: Sequence[Arrow] = ()) -> dict[str, Any]:
    """Return boxes, arrows and flows as plain values for the script of the page."""
    numbers = {box.id: number for number, box in enumerate(picture.boxes)}
    ends = [(numbers[arrow.source], numbers[arrow.target]) for arrow in picture.arrows]
    sizes = [_box_size(box) for box in picture.boxes]
    layout = lay_out_boxes(sizes, ends)
    boxes = [
        {
            "name": escape_hidden(box.id),
            "label": shorten_middle(box.label or box.id, LABEL_LENGTH),
            "kind": box.kind,
            "place": escape_hidden(box.place),
            "at": [*place, *size],
            "state": box.state,
            "columns": [
                [
                    shorten_middle(name, COLUMN_LENGTH),
                    shorten_middle(kind, TYPE_LENGTH),
                    escape_hidden(name),
                    box.states.get(name, ""),
                ]
                for name, kind in box.columns
            ],
        }
        for box, place, size in zip(picture.boxes, layout.places, sizes, strict=True)
    ]
    arrows = [
        [numbers[arrow.source], numbers[arrow.target], list(way), escape_hidden(", ".join(arrow.how[:20])), arrow.state]
        for arrow, way in zip(picture.arrows, layout.ways, strict=True)
    ]
    return {
        "boxes": boxes,
        "arrows": arrows,
        "flows": _column_flows(picture, flows, numbers),
        "size": [layout.width, layout.height],
        "metrics": [HEAD_HEIGHT, ROW_HEIGHT, BOX_ROWS],
    }


def _column_flows(picture: Picture, flows: Sequence[Arrow], numbers: Mapping[str, int]) -> list[list[Any]]:
    """Return the flows between columns by the numbers of box and column; -1 is a whole box."""
    places = {(box.id, name): place for box in picture.boxes for place, (name, _) in enumerate(box.columns)}
    return [
        [
            numbers[arrow.source],
            places.get((arrow.source, arrow.source_column or ""), -1),
            numbers[arrow.target],
            places.get((arrow.target, arrow.target_column or ""), -1),
            int(arrow.direct),
            ", ".join(arrow.how),
            arrow.state,
            int(APPROXIMATE in arrow.how),
        ]
        for arrow in flows
        if arrow.source in numbers and arrow.target in numbers
    ]


def _box_size(box: Box) -> tuple[int, int]:
    """Return width and height of a box by its content."""
    lines = [
        len(shorten_middle(name, COLUMN_LENGTH)) + 3 + len(shorten_middle(kind, TYPE_LENGTH))
        for name, kind in box.columns[:BOX_ROWS]
    ]
    width = (
        max(
            (
                len(shorten_middle(box.label or box.id, LABEL_LENGTH)) * GLYPH_WIDTH * 1.08,
                *(line * GLYPH_WIDTH for line in lines),
            )
        )
        + 24
    )
    rows = min(len(box.columns), BOX_ROWS) + (len(box.columns) > BOX_ROWS)
    return round(min(max(width, MIN_BOX_WIDTH), MAX_BOX_WIDTH)), HEAD_HEIGHT + (
        rows * ROW_HEIGHT + BOX_PADDING if rows else 0
    )


SWEEPS = 12
GAP, CORRIDOR, ALLEY = 24, 90, 12
"""Space between boxes of a layer, between layers, and around an arrow that passes through a layer."""

SHELF_WIDTH = 1200
"""Maximal width of a row of unconnected boxes."""

Point = tuple[int, int]


class BoxLayout(msgspec.Struct, frozen=True):
    """The upper left corner of each box, the points that each arrow passes through, and the total size."""

    places: tuple[Point, ...]
    ways: tuple[tuple[Point, ...], ...]
    width: int
    height: int


class _LayerGraph(msgspec.Struct):
    """Boxes and the waypoints of long arrows: layer, height, and neighbors to the left and right."""

    layers: list[int]
    heights: list[int]
    before: list[list[int]]
    after: list[list[int]]
    chains: list[list[int]]
    boxes: int


def lay_out_boxes(sizes: Sequence[tuple[int, int]], arrows: Sequence[tuple[int, int]]) -> BoxLayout:
    """Place boxes of these widths and heights, so that arrows go from left to right where they can."""
    layers = assign_layers(len(sizes), arrows)
    linked = {end for source, target in arrows if source != target for end in (source, target)}
    net = _build_layer_graph(layers, [height for _, height in sizes], arrows)
    rows = _order_layers(
        [[node for node in row if node >= len(sizes) or node in linked] for row in _nodes_by_layer(net)], net
    )
    tops = _align_tops(rows, net)
    columns = _layer_edges(rows, sizes)
    width = max((right for _, right in columns), default=0)
    places = {node: (columns[net.layers[node]][0], round(tops[node])) for row in rows for node in row}
    height = max((places[node][1] + net.heights[node] for node in places), default=0)
    alone = [node for node in range(len(sizes)) if node not in linked]
    more, width, height = _place_unconnected(alone, sizes, width, height + GAP if places else 0)
    ways = [_arrow_points(chain, places, columns, net) for chain in net.chains]
    ordered = tuple(more.get(node) or places[node] for node in range(len(sizes)))
    return BoxLayout(ordered, tuple(map(tuple, ways)), width, height)


def assign_layers(count: int, arrows: Iterable[tuple[int, int]]) -> list[int]:
    """Return the layer of each box: one behind the last it depends on, ignoring arrows that close a cycle."""
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in sorted(set(arrows)):
        if source != target:
            after[source].append(target)
    order = _topological_order(after)
    layers = [0] * count
    rank = {node: place for place, node in enumerate(order)}
    for node in order:
        for other in after[node]:
            if rank[other] > rank[node]:
                layers[other] = max(layers[other], layers[node] + 1)
    fed = {other for node in order for other in after[node] if rank[other] > rank[node]}
    for node in order:  # a source stands next to its first reader, or its arrows would cross everything
        later = [layers[other] for other in after[node] if rank[other] > rank[node]]
        if later and node not in fed:
            layers[node] = min(later) - 1
    return layers


def _topological_order(after: Sequence[Sequence[int]]) -> list[int]:
    """Order boxes so that arrows go forward, except for those that close a cycle."""
    state = [0] * len(after)
    done: list[int] = []
    for start in range(len(after)):
        stack = [(start, 0)] if not state[start] else []
        while stack:
            node, place = stack.pop()
            state[node] = 1
            while place < len(after[node]) and state[after[node][place]]:
                place += 1
            if place < len(after[node]):
                stack += [(node, place + 1), (after[node][place], 0)]
            else:
                state[node] = 2
                done.append(node)
    return done[::-1]


def _build_layer_graph(layers: Sequence[int], heights: Sequence[int], arrows: Sequence[tuple[int, int]]) -> _LayerGraph:
    """Route every long arrow through a waypoint in each layer between its ends."""
    net = _LayerGraph(
        layers=list(layers),
        heights=list(heights),
        before=[[] for _ in layers],
        after=[[] for _ in layers],
        chains=[],
        boxes=len(layers),
    )
    for source, target in arrows:
        low, high = (source, target) if net.layers[source] <= net.layers[target] else (target, source)
        chain = [low]
        for layer in range(net.layers[low] + 1, net.layers[high]):
            net.layers.append(layer)
            net.heights.append(ALLEY)
            net.before.append([])
            net.after.append([])
            chain.append(len(net.layers) - 1)
        chain.append(high)
        for one, other in zip(chain, chain[1:], strict=False):
            if net.layers[one] < net.layers[other]:
                net.after[one].append(other)
                net.before[other].append(one)
        net.chains.append(chain if low == source else chain[::-1])
    return net


def _nodes_by_layer(net: _LayerGraph) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(max(net.layers, default=-1) + 1)]
    for node, layer in enumerate(net.layers):
        rows[layer].append(node)
    return rows


def _order_layers(rows: list[list[int]], net: _LayerGraph) -> list[list[int]]:
    """Order each layer by the barycenter of its neighbors, in sweeps; keep the order with fewest crossings."""
    best, fewest = rows, _count_crossings(rows, net)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        rows = _sweep_layers(rows, net.before if forward else net.after, forward)
        crossings = _count_crossings(rows, net)
        if crossings < fewest:
            best, fewest = rows, crossings
        if not fewest:
            break
    return best


def _sweep_layers(rows: Sequence[Sequence[int]], neighbors: Sequence[Sequence[int]], forward: bool) -> list[list[int]]:
    swept = [list(row) for row in rows]
    indices = range(1, len(rows)) if forward else range(len(rows) - 2, -1, -1)
    for index in indices:
        place = {node: at for at, node in enumerate(swept[index - 1 if forward else index + 1])}
        current = {node: at for at, node in enumerate(swept[index])}
        middles = {}
        for node in swept[index]:
            found = [place[other] for other in neighbors[node] if other in place]
            middles[node] = sum(found) / len(found) if found else float(current[node])
        swept[index].sort(key=lambda node: (middles[node], current[node]))
    return swept


def _count_crossings(rows: Sequence[Sequence[int]], net: _LayerGraph) -> int:
    """Count the pairs of arrows between adjacent layers that cross."""
    total = 0
    for row, following in zip(rows, rows[1:], strict=False):
        place = {node: at for at, node in enumerate(following)}
        seen: list[int] = []
        for node in row:
            ends = sorted(place[other] for other in net.after[node] if other in place)
            total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _align_tops(rows: Sequence[Sequence[int]], net: _LayerGraph) -> list[float]:
    """Move boxes towards the middle of their neighbors, as far as those of their own layer let them."""
    tops = [0.0] * len(net.layers)
    for row in rows:
        top = 0.0
        for node in row:
            tops[node] = top
            top += net.heights[node] + GAP
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [_preferred_top(node, net, tops) for node in row]
            for node, top in zip(row, _space_blocks(wanted, [net.heights[node] + GAP for node in row]), strict=True):
                tops[node] = top
    lowest = min((tops[node] for row in rows for node in row), default=0.0)
    return [top - lowest for top in tops]


def _preferred_top(node: int, net: _LayerGraph, tops: Sequence[float]) -> float:
    others = [*net.before[node], *net.after[node]]
    if not others:
        return tops[node]
    middle = sum(tops[other] + net.heights[other] / 2 for other in others) / len(others)
    return middle - net.heights[node] / 2


def _space_blocks(wanted: Sequence[float], steps: Sequence[int]) -> list[float]:
    """Return the positions nearest to the preferred ones that keep order and spacing: an isotonic regression."""
    offsets = [0]
    for step in steps:
        offsets.append(offsets[-1] + step)
    blocks: list[tuple[float, int]] = []
    for place, offset in zip(wanted, offsets, strict=False):
        total, count = place - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
            more, members = blocks.pop()
            total, count = total + more, count + members
        blocks.append((total, count))
    level = [total / count for total, count in blocks for _ in range(count)]
    return [place + offset for place, offset in zip(level, offsets, strict=False)]


def _layer_edges(rows: Sequence[Sequence[int]], sizes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the left and right edge of each layer."""
    columns, left = [], 0
    for row in rows:
        widest = max((sizes[node][0] for node in row if node < len(sizes)), default=0)
        columns.append((left, left + widest))
        left += widest + CORRIDOR if row else 0
    return columns


def _place_unconnected(
    alone: Sequence[int], sizes: Sequence[tuple[int, int]], width: int, top: int
) -> tuple[dict[int, Point], int, int]:
    """Place unconnected boxes in rows below the others."""
    places: dict[int, Point] = {}
    left, tallest, used, room = 0, 0, width, max(width, SHELF_WIDTH)
    for node in alone:
        wide, high = sizes[node]
        if left and left + wide > room:
            left, top, tallest = 0, top + tallest + GAP, 0
        places[node] = (left, top)
        left, tallest = left + wide + GAP, max(tallest, high)
        used = max(used, left - GAP)
    return places, used, top + tallest if alone else max(top - GAP, 0)


def _arrow_points(
    chain: Sequence[int], places: dict[int, Point], columns: Sequence[tuple[int, int]], net: _LayerGraph
) -> list[Point]:
    """Return the points where an arrow enters and leaves the layers that it passes through."""
    forward = not chain or net.layers[chain[0]] <= net.layers[chain[-1]]
    points = []
    for node in chain[1:-1]:
        edges = columns[net.layers[node]]
        height = places[node][1] + net.heights[node] // 2
        points += [(edge, height) for edge in (edges if forward else edges[::-1])]
    return points
