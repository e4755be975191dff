"""Which sources an expression names, inside its queries, too."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from lineage_pipeline.engine.diff.expression_forms import Expr, iter_parts


def find_sources(expr: Expr) -> set[int]:
    """The sources whose columns an expression names, those of its own queries included."""
    return {part[1] for part in iter_deep_parts(expr) if part[0] in ("col", "star")}


def find_query_sources(query: Any) -> set[int]:
    """The sources that the expressions of a query name."""
    found: set[int] = set()
    for expr in query.iter_expressions():
        found |= find_sources(expr)
    return found


def iter_deep_parts(expr: Expr) -> Iterator[Expr]:
    """An expression, its parts, and those of its queries."""
    for part in iter_parts(expr):
        yield part
        if part[0] == "sub":
            for inner in part[2].iter_expressions():
                yield from iter_deep_parts(inner)


def find_crossed_sources(query: str) -> frozenset[str]:
    """The objects that the plans of a statement join without a condition."""
    nodes = [node for plan in query.splitlines() for node in msgspec.json.decode(plan) if node[0] == "S"]
    joined = [
        (source, side, on)
        for _, sources, joins, *_ in nodes
        for source, (side, on) in list(zip(sources, joins, strict=True))[1:]
    ]
    return frozenset(source[1] for source, side, on in joined if source[0] == "t" and side in ("", "cross") and not on)


def list_row_groups(query: str) -> list[Any]:
    """The keys of each grouped query on the way to the rows of a statement, as its plans have them.

    A query that is joined to the first source of another one is not on the way: its groups are not those rows.
    """
    plans = [msgspec.json.decode(plan) for plan in query.splitlines()]
    return [group for nodes in plans for group in _iter_row_groups(nodes, nodes[-1])]


def _iter_row_groups(nodes: Sequence[Any], body: Sequence[Any]) -> Iterator[Any]:
    leading: Sequence[Any] = ()
    if body[0] == "S":
        sources, group, distinct = body[1], body[5], body[10]
        yield from ([group, distinct] for _ in [0] if group or distinct)
        leading = [source[1] for source in sources[:1] if source[0] == "q"]
    elif body[0] == "A":
        leading = [body[2]]
    elif body[0] == "U":
        leading = body[3]
    for _, index in leading:
        yield from _iter_row_groups(nodes, nodes[index])
