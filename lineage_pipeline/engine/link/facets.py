"""Facets: what a statement does to its rows, as lines of canonical text."""

from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.engine.link.canonical import call_text, lines, literal_text
from lineage_pipeline.engine.link.model import Linked, Value
from lineage_pipeline.vocabulary import ir


def condition_lines(condition: ir.Expr, value: Value) -> Sequence[str]:
    """What a condition says: BETWEEN says two things, NOT IN as many as it lists."""
    if value.text in NOTHING:
        return ()
    if type(condition) is ir.Call and condition.op == "BETWEEN" and value.text.endswith(")"):
        return value.text[1:-1].split(" and ") if value.text.count(" and ") == 1 else (value.text,)
    if type(condition) is ir.Call and condition.op == "NOT" and value.text.startswith("not(in("):
        return _none_of(condition.args[0], value.text) or (value.text,)
    return (value.text,)


NOTHING = frozenset({"(1 = 1)", "(0 = 0)", "true"})
"""Conditions that every row meets."""


def _none_of(listed: ir.Expr, text: str) -> Sequence[str]:
    """What NOT IN says of a list of constants: the value is none of them."""
    items = listed.args[1:] if type(listed) is ir.Call and listed.op == "IN" else ()
    constants = sorted(literal_text(item) for item in items if type(item) is ir.Literal and item.kind != "null")
    end = f", {', '.join(constants)}))"
    if not constants or len(constants) < len(items) or not text.endswith(end):
        return ()
    value = text.removeprefix("not(in(").removesuffix(end)
    return [call_text("NEQ", [value, constant]) for constant in constants]


def joined_by_marks(facets: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The facets of a select whose conditions mark the side that may be missing, as if its joins had them."""
    marked = [text for name, text in facets if name == "filter" and text.startswith(_MARK)]
    found, placed = [], set()
    for name, text in facets:
        own = [one for one in marked if f"{text.removeprefix('left ')}." in one] if name == "join" else []
        if own and " ON " not in text:
            placed.update(own)
            text += " ON " + " and ".join(sorted(one.removeprefix(_MARK).removesuffix(")") for one in own))
        found.append((name, text))
    return [facet for facet in found if facet[1] not in placed]


_MARK = "outerjoin("


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


def with_manner(write: ir.Write, linked: Linked) -> Linked:
    """The rows of a write, with what is said of how they are written; an arm acts under conditions of its own."""
    if not write.manner:
        return linked
    conditions = sorted({text for name, text in linked.facets if name == "filter"})
    text = " and ".join([f"{write.manner}: {write.mode}", *conditions])
    return msgspec.structs.replace(linked, facets=(*linked.facets, ("write", text)))
