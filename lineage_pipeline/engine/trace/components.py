"""The graph with its cycles folded: components in an order in which what they lead to comes first."""

from array import array
from collections.abc import Callable, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.trace.graph import Adjacency, Links

Hop = Callable[[int, int], int]
"""What an edge costs, by its two ends."""


class Flow(msgspec.Struct, frozen=True):
    """Components in one direction: `next` leads on, and `order` takes a component after all that it leads to.

    `single` is the only node of a component that is no cycle, else -1, and `cycles` are those of the others; `depth` is
    the longest way from each node, in hops, where a cycle counts as one. Flat arrays: there may be millions of nodes.
    """

    order: range
    component: "array[int]"
    single: "array[int]"
    cycles: Mapping[int, Sequence[int]]
    next: "Onwards"
    depth: "array[int]"

    def place(self, node: int) -> int:
        """Say where in the order a node's component stands."""
        return self.order.index(self.component[node])


class Onwards(msgspec.Struct, frozen=True):
    """What each component leads to: that of component `i` is `targets[starts[i]:ends[i]]`."""

    starts: "array[int]"
    ends: "array[int]"
    targets: "array[int]"


class Folded(msgspec.Struct, frozen=True):
    """The component of each node, the node of each component that has only one, and all nodes of the others."""

    component: "array[int]"
    only: "array[int]"
    several: dict[int, list[int]]

    def of(self, number: int) -> Sequence[int]:
        """Give the nodes of a component."""
        return self.several.get(number) or self.only[number : number + 1]


def flows(links: Links, hop: Hop) -> tuple[Flow, Flow]:
    """Fold the cycles once and give both directions, upstream first; `hop` says what an edge costs."""
    folded = strong_components(links.down)
    count = len(folded.only)
    up = _flow(links.up, folded, range(count - 1, -1, -1), lambda node, other: hop(other, node))
    return up, _flow(links.down, folded, range(count), hop)


def strong_components(links: Adjacency) -> Folded:
    """Fold the sets of nodes that reach each other, what they lead to first (Tarjan, without recursion)."""
    size = len(links.offsets) - 1
    cursor, ends, targets = links.offsets[:-1], links.offsets[1:], links.targets
    seen, low = _zeros(size), _zeros(size)
    folded = Folded(array("i", [-1]) * size, array("i"), {})
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
                _close(node, open_nodes, folded)
    return folded


def _zeros(size: int) -> "array[int]":
    return array("i", bytes(array("i").itemsize * size))


def _close(node: int, open_nodes: list[int], folded: Folded) -> None:
    """Take the component that ends with `node` off the open nodes."""
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


def _flow(links: Adjacency, folded: Folded, order: range, hop: Hop) -> Flow:
    count, component = len(order), folded.component
    following = Onwards(_zeros(count), _zeros(count), array("i"))
    single, depth = array("i", [-1]) * count, _zeros(len(component))
    cycles: dict[int, Sequence[int]] = {}
    for number in order:
        nodes = folded.of(number)
        onwards = [(node, other) for node in nodes for other in links.of(node)]
        others = {component[other] for _, other in onwards}
        cyclic = number in others
        others.discard(number)
        following.starts[number] = len(following.targets)
        following.targets.extend(others)
        following.ends[number] = len(following.targets)
        if cyclic:
            cycles[number] = nodes
        else:
            single[number] = nodes[0]
        longest = max((hop(a, b) + depth[b] for a, b in onwards if component[b] != number), default=0) + cyclic
        for node in nodes:
            depth[node] = longest
    return Flow(order, component, single, cycles, following, depth)
