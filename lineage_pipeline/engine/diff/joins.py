"""Joins in canonical text: one a line, and when two ways to write them say the same."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from lineage_pipeline.engine.diff.alike import parts_of
from lineage_pipeline.engine.diff.renames import SOURCE

JOIN, FILTER = "join", "filter"

FUNCTION = "(function)"
"""How a function is called that stands where a table may stand; it is no source of its own."""

SIDES = frozenset({"inner", "left", "right", "full", "cross", "semi", "anti"})

ASKING = frozenset({"semi", "anti"})
"""Joins that give no value, and ask whether a source has a row."""

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
    before, after = _asked(before), _asked(after)
    if sorted(before.get((SOURCE, "*"), "").splitlines()) != sorted(after.get((SOURCE, "*"), "").splitlines()):
        return False
    old, new = _conditions(before), _conditions(after)
    return old is not None and old == new


def _asked(texts: Texts) -> Texts:
    """Give the texts of a statement with each join that only asks whether there is a row as the EXISTS that it is."""
    joins = read_joins(texts.get((JOIN, "*"), ""))
    asking = [one for one in joins if one.side in ASKING]
    if not asking:
        return texts
    found = [texts.get((FILTER, "*"), ""), *map(_question, asking)]
    sources = texts.get((SOURCE, "*"), "").splitlines()
    for one in asking:
        sources = [name for name in sources if name != one.source] if one.source in sources else sources
    kept = [_spelled(one) for one in joins if one not in asking]
    parts = {FILTER: sorted("\n".join(found).split("\n")), JOIN: kept, SOURCE: sources}
    return {**texts, **{(name, "*"): "\n".join(filter(None, lines)) for name, lines in parts.items()}}


def _question(join: JoinLine) -> str:
    filters = "".join(f" filter {part}" for part in sorted(_conjuncts(join.on)))
    asked = f"exists(1, source {join.source}{filters})"
    return asked if join.side == "semi" else f"not({asked})"


def _spelled(join: JoinLine) -> str:
    return f"{join.side} {join.source}" + (f" ON {join.on}" if join.on else "")


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


def spelled_out(texts: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Give the texts of a statement with each source that a comma adds joined by what ties it to the others."""
    sources, filters = (texts.get((name, "*"), "").splitlines() for name in (SOURCE, FILTER))
    joins = read_joins(texts.get((JOIN, "*"), ""))
    bare = set(sources[1:]) - {one.source for one in joins if one.side != "cross"}
    if not filters or not bare or any(one.side in AFTERWARDS for one in joins):
        return texts
    tied: dict[str, list[str]] = {}
    for text in filters:
        named = [source for source in sources if _names(text, source)] if _TIES in text and QUERY not in text else []
        if len(set(named)) > 1 and named[-1] in bare:
            tied.setdefault(named[-1], []).append(text)
    if not tied:
        return texts
    placed = {text for found in tied.values() for text in found}
    lines = [f"inner {source} ON {' and '.join(sorted(found))}" for source, found in tied.items()]
    kept = [line for line in texts.get((JOIN, "*"), "").splitlines() if _read_join(line.strip()).source not in tied]
    parts = {JOIN: sorted([*kept, *lines]), FILTER: [text for text in filters if text not in placed]}
    rest = {key: text for key, text in texts.items() if key not in ((JOIN, "*"), (FILTER, "*"))}
    return rest | {(name, "*"): "\n".join(found) for name, found in parts.items() if found}


def _names(text: str, source: str) -> bool:
    return re.search(rf'(?<![\w."]){re.escape(source)}\.', text) is not None


_TIES, QUERY = " = ", "source "
"""What a condition has that says which rows belong together, and what has a query inside."""


def equated(join: JoinLine) -> frozenset[str]:
    """Give the values of a joined source that must be equal to one of the other sources."""
    pairs = [tuple(parts_of(part[1:-1], _TIES)) for part in _conjuncts(join.on) if part.startswith("(")]
    sides = [(one, other) for pair in pairs if len(pair) == 2 for one, other in (pair, pair[::-1])]
    return frozenset(one for one, other in sides if _names(one, join.source) and not _names(other, join.source))


def _conjuncts(text: str) -> Iterator[str]:
    """Give the conditions that ` and ` joins outside of brackets."""
    return (part for part in parts_of(text, " and ") if part)
