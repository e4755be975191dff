"""The graph with its cycles folded: components in an order in which what they lead to comes first."""

from collections.abc import Callable, Sequence

import msgspec

from lineage_pipeline.engine.trace.graph import Adjacency, ColumnGraph


class Flow(msgspec.Struct, frozen=True):
    """Components in one direction: `next` leads on, and `order` takes a component after all that it leads to.

    `single` is the only node of a component that is no cycle, else -1; `depth` is the longest way from each node, in
    hops, where a cycle counts as one.
    """

    order: range
    component: Sequence[int]
    members: Sequence[Sequence[int]]
    single: Sequence[int]
    next: Sequence[Sequence[int]]
    depth: Sequence[int]

    def place(self, node: int) -> int:
        """Say where in the order a node's component stands."""
        return self.order.index(self.component[node])


def flows(graph: ColumnGraph, direct_only: bool) -> tuple[Flow, Flow]:
    """Fold the cycles once and give both directions, upstream first."""
    links = graph.links(direct_only)
    members = strong_components(links.down)
    component = [0] * (len(links.down.offsets) - 1)
    for number, nodes in enumerate(members):
        for node in nodes:
            component[node] = number
    up = _flow(
        links.up, members, component, range(len(members) - 1, -1, -1), lambda node, other: graph.hop(other, node)
    )
    down = _flow(links.down, members, component, range(len(members)), graph.hop)
    return up, down


def strong_components(links: Adjacency) -> list[list[int]]:
    """Give the sets of nodes that reach each other, what they lead to first (Tarjan, without recursion)."""
    size = len(links.offsets) - 1
    cursor = links.offsets[:-1].tolist()
    ends, targets = links.offsets[1:].tolist(), links.targets.tolist()
    seen, low, closed = [0] * size, [0] * size, bytearray(size)
    found: list[list[int]] = []
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
                elif not closed[other]:
                    low[node] = min(low[node], seen[other])
                continue
            path.pop()
            if path:
                low[path[-1]] = min(low[path[-1]], low[node])
            if low[node] == seen[node]:
                found.append(_close(node, open_nodes, closed))
    return found


def _close(node: int, open_nodes: list[int], closed: bytearray) -> list[int]:
    """Take the component that ends with `node` off the open nodes."""
    start = len(open_nodes) - 1
    while open_nodes[start] != node:
        start -= 1
    nodes = open_nodes[start:]
    del open_nodes[start:]
    for one in nodes:
        closed[one] = 1
    return nodes


def _flow(
    links: Adjacency,
    members: Sequence[Sequence[int]],
    component: Sequence[int],
    order: range,
    hop: Callable[[int, int], int],
) -> Flow:
    following: list[Sequence[int]] = [()] * len(members)
    single = [-1] * len(members)
    depth = [0] * len(component)
    for number in order:
        nodes = members[number]
        onwards = [(node, other) for node in nodes for other in links.of(node)]
        others = {component[other] for _, other in onwards}
        cyclic = number in others
        others.discard(number)
        following[number] = tuple(others)
        if not cyclic:
            single[number] = nodes[0]
        longest = max((hop(a, b) + depth[b] for a, b in onwards if component[b] != number), default=0) + cyclic
        for node in nodes:
            depth[node] = longest
    return Flow(order=order, component=component, members=members, single=single, next=following, depth=depth)
