"""Order: what must be known before what, and how far each object lies from the sources."""

from collections.abc import Collection, Mapping, Sequence

from lineage_pipeline.vocabulary.plan import Known
from lineage_pipeline.vocabulary.tables import ObjectEdge


def components(needs: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The strongly connected groups, each behind those it needs; Tarjan's algorithm without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    groups: list[tuple[str, ...]] = []
    for root in sorted(needs):
        if root in index:
            continue
        work = [(root, iter(sorted(needs.get(root, ()))))]
        _enter(root, index, low, stack, on_stack)
        while work:
            node, following = work[-1]
            advanced = False
            for need in following:
                if need not in needs:
                    continue
                if need not in index:
                    _enter(need, index, low, stack, on_stack)
                    work.append((need, iter(sorted(needs.get(need, ())))))
                    advanced = True
                    break
                if need in on_stack:
                    low[node] = min(low[node], index[need])
            if advanced:
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == index[node]:
                groups.append(_leave(node, stack, on_stack))
    return tuple(groups)


def _enter(node: str, index: dict[str, int], low: dict[str, int], stack: list[str], on_stack: set[str]) -> None:
    index[node] = low[node] = len(index)
    stack.append(node)
    on_stack.add(node)


def _leave(node: str, stack: list[str], on_stack: set[str]) -> tuple[str, ...]:
    group = []
    while True:
        member = stack.pop()
        on_stack.discard(member)
        group.append(member)
        if member == node:
            return tuple(sorted(group))


def levels(objects: Collection[str] | Mapping[str, Known], edges: Sequence[ObjectEdge]) -> dict[str, int]:
    """The longest way from a source to each object; a circle is one level."""
    inputs: dict[str, list[str]] = {name: [] for name in objects}
    for edge in edges:
        if edge.to_object in inputs and edge.from_object != edge.to_object:
            inputs[edge.to_object].append(edge.from_object)
    ranks: dict[str, int] = {}
    for group in components(inputs):
        outside = [ranks[source] + 1 for name in group for source in inputs[name] if source not in group and source in ranks]
        for name in group:
            ranks[name] = max(outside, default=0)
    return ranks
