"""Which sources an expression names, inside its queries, too."""

from collections.abc import Iterator
from typing import Any

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
