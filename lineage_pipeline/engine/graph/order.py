"""Order: what must be known before what, and how far each object lies from the sources."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from lineage_pipeline.vocabulary.plan import Known
from lineage_pipeline.vocabulary.tables import ObjectEdge


def components(needs: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The strongly connected groups, each behind those it needs."""
    search = _Search(needs)
    for root in sorted(needs):
        if root not in search.index:
            search.visit(root)
    return tuple(search.groups)


class _Search:
    """Tarjan's algorithm without recursion: chains of views can be long."""

    def __init__(self, needs: Mapping[str, Sequence[str]]) -> None:
        self.needs = needs
        self.index: dict[str, int] = {}
        self.low: dict[str, int] = {}
        self.stack: list[str] = []
        self.waiting: set[str] = set()
        self.groups: list[tuple[str, ...]] = []

    def visit(self, root: str) -> None:
        work = [(root, self._enter(root))]
        while work:
            node, following = work[-1]
            need = next(following, None)
            if need is None:
                work.pop()
                if work:
                    self.low[work[-1][0]] = min(self.low[work[-1][0]], self.low[node])
                if self.low[node] == self.index[node]:
                    self.groups.append(self._leave(node))
            elif need not in self.index:
                work.append((need, self._enter(need)))
            elif need in self.waiting:
                self.low[node] = min(self.low[node], self.index[need])

    def _enter(self, node: str) -> Iterator[str]:
        self.index[node] = self.low[node] = len(self.index)
        self.stack.append(node)
        self.waiting.add(node)
        return iter(sorted(need for need in self.needs[node] if need in self.needs))

    def _leave(self, node: str) -> tuple[str, ...]:
        start = self.stack.index(node)
        group = self.stack[start:]
        del self.stack[start:]
        self.waiting.difference_update(group)
        return tuple(sorted(group))


def levels(objects: Collection[str] | Mapping[str, Known], edges: Sequence[ObjectEdge]) -> dict[str, int]:
    """The longest way from a source to each object; a circle is one level."""
    inputs: dict[str, list[str]] = {name: [] for name in objects}
    for edge in edges:
        if edge.to_object in inputs and edge.from_object != edge.to_object:
            inputs[edge.to_object].append(edge.from_object)
    ranks: dict[str, int] = {}
    for group in components(inputs):
        outside = [
            ranks[source] + 1 for name in group for source in inputs[name] if source not in group and source in ranks
        ]
        for name in group:
            ranks[name] = max(outside, default=0)
    return ranks
