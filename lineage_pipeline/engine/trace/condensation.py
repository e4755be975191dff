"""The column graph with its cycles condensed: components in an order in which successors come first."""

from array import array
from collections.abc import Iterable, Sequence

import msgspec

from lineage_pipeline.engine.trace.column_graph import Adjacency, GraphLinks

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
    offsets, neighbours, depth, (leaving, entering) = links.offsets, links.targets, made.depth, costs
    for number in order:
        node = folded.only[number]
        onwards = neighbours[offsets[node] : offsets[node + 1]]
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
