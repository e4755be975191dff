"""Trees of Spark's plans, read from the flat lists that `toJSON` gives: every node before its children."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Tree:
    """An operator or an expression: the last part of its class, its fields, and its children."""

    kind: str
    fields: dict[str, Any]
    children: tuple["Tree", ...]

    @property
    def id(self) -> int:
        """The number that Spark knows an attribute by."""
        return int(self.fields["exprId"]["id"])

    def tree(self, field: str) -> "Tree":
        """The tree that a field holds, be it a child or not."""
        return self._tree(self.fields[field])

    def trees(self, field: str) -> list["Tree"]:
        """The trees that a field holds."""
        return [self._tree(item) for item in self.fields[field]]

    def rows(self, field: str) -> list[list["Tree"]]:
        """The rows of trees that a field holds."""
        return [[self._tree(item) for item in row] for row in self.fields[field]]

    def _tree(self, value: Any) -> "Tree":
        return self.children[value] if isinstance(value, int) else tree(value)


def tree(nodes: list[dict[str, Any]]) -> Tree:
    """The tree of a list of nodes."""
    rest = iter(nodes)
    whole = _next(rest)
    assert next(rest, None) is None, "nodes behind the tree"
    return whole


def _next(nodes: Iterator[dict[str, Any]]) -> Tree:
    node = next(nodes)
    children = tuple(_next(nodes) for _ in range(node["num-children"]))
    return Tree(node["class"].rpartition(".")[2], node, children)
