"""Facets: what a statement does to its rows, as lines of canonical text."""

from collections.abc import Iterator, Sequence

from lineage_pipeline.engine.link.canonical import lines
from lineage_pipeline.engine.link.model import Value
from lineage_pipeline.vocabulary import ir


def condition_lines(condition: ir.Expr, value: Value) -> Sequence[str]:
    """What a condition says: BETWEEN says two things."""
    if type(condition) is ir.Call and condition.op == "BETWEEN" and value.text.endswith(")"):
        return value.text[1:-1].split(" and ") if value.text.count(" and ") == 1 else (value.text,)
    return (value.text,)


def shape_lines(body: ir.Select, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """How a select groups, sorts and limits its rows, by the texts of its keys."""
    if body.distinct:
        yield "grouping", "distinct"
    if body.group_all:
        yield "grouping", "all"
    if body.grouping:
        yield "grouping", body.grouping.lower().format(*keys)
    if body.order_all:
        yield "order", "all"
    if body.limit:
        yield "limit", body.limit


def facet_lines(facets: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The facets of a statement: sorted lines by name."""
    grouped: dict[str, list[str]] = {}
    for name, text in facets:
        grouped.setdefault(name, []).append(text)
    return {
        name: lines(dict.fromkeys(texts)) if name != "order" else "\n".join(texts) for name, texts in grouped.items()
    }
