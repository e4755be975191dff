"""Joins in canonical text: one a line, and when two ways to write them say the same."""

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from lineage_pipeline.engine.diff.renames import SOURCE

JOIN, FILTER = "join", "filter"

FUNCTION = "(function)"
"""How a function is called that stands where a table may stand; it is no source of its own."""

SIDES = frozenset({"inner", "left", "right", "full", "cross", "semi", "anti"})

AFTERWARDS = frozenset({"right", "full"})
"""Joins that give rows back which a condition before them dropped."""

Texts = Mapping[tuple[str, str], str]


class JoinLine(msgspec.Struct, frozen=True, order=True):
    """One join: `side source ON condition`."""

    side: str
    source: str
    on: str = ""


def read_joins(text: str) -> list[JoinLine]:
    """Read the canonical text of a join facet, one join a line."""
    return [_read_join(line.strip()) for line in text.splitlines() if line.strip()]


def _read_join(line: str) -> JoinLine:
    start, _, on = line.partition(" ON ")
    side, _, source = start.partition(" ")
    return JoinLine(side.lower(), source, on) if side.lower() in SIDES else JoinLine("inner", start, on)


def same_conditions(before: Texts, after: Texts) -> bool:
    """Say whether the same rows are joined and kept, wherever the conditions of inner joins are written."""
    if sorted(before.get((SOURCE, "*"), "").splitlines()) != sorted(after.get((SOURCE, "*"), "").splitlines()):
        return False
    old, new = _conditions(before), _conditions(after)
    return old is not None and old == new


def _conditions(texts: Texts) -> tuple[Counter[str], Counter[JoinLine]] | None:
    """Give the conditions that all rows have to meet, and the joins that are more than such conditions."""
    joins = read_joins(texts.get((JOIN, "*"), ""))
    if any(one.side in AFTERWARDS for one in joins):
        return None
    plain = [one for one in joins if one.side == "inner" and not one.source.startswith(FUNCTION)]
    met = [part for one in plain for part in _conjuncts(one.on)]
    return Counter([*texts.get((FILTER, "*"), "").splitlines(), *met]), Counter(
        one for one in joins if one not in plain
    )


def _conjuncts(text: str) -> Iterator[str]:
    """Give the conditions that ` and ` joins outside of brackets."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and text.startswith(" and ", at):
            yield text[start:at]
            start = at + len(" and ")
    if text[start:]:
        yield text[start:]
