"""Objects and columns whose names look like a text, the likeliest first."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

FUZZY = 0.7
RANKS = ("is", "begins with", "contains", "looks like")


class Hit(msgspec.Struct, frozen=True):
    """Something that a search found; `match` says how its name and the text compare."""

    object: str
    column: str | None
    match: str


def search(columns: Mapping[str, Sequence[str]], text: str, limit: int | None = None) -> tuple[Hit, ...]:
    """Give the objects and columns that fit a text: whole names first, then beginnings, parts and likenesses."""
    wanted = text.strip().lower()
    hits = [hit for hit in _hits(columns, wanted) if hit[0] < len(RANKS)]
    if not hits:
        hits = list(_fuzzy(columns, wanted))
    found = (Hit(name, column, RANKS[rank]) for rank, _, _, name, column in sorted(hits, key=_order))
    return tuple(found)[:limit]


Ranked = tuple[int, bool, float, str, str | None]
"""Rank, whether it is a column, how far it is off, object and column."""


def _order(hit: Ranked) -> tuple[int, bool, float, str, str]:
    return (*hit[:4], hit[4] or "")


def _hits(columns: Mapping[str, Sequence[str]], wanted: str) -> Iterator[Ranked]:
    for name, own in columns.items():
        last = name.rpartition(".")[2].strip('"').lower()
        rank = min(_rank(last, wanted), _rank(name.lower(), wanted))
        yield rank, False, len(name), name, None
        for column in own:
            below = column.lower()
            rank = _rank(below, wanted)
            if rank == len(RANKS) and "." in wanted:
                rank = _rank(f"{name}.{column}".lower(), wanted)
            yield rank, True, len(column), name, column


def _rank(name: str, wanted: str) -> int:
    if name == wanted:
        return 0
    if name.startswith(wanted):
        return 1
    return 2 if wanted in name else len(RANKS)


def _fuzzy(columns: Mapping[str, Sequence[str]], wanted: str) -> Iterator[Ranked]:
    """Compare with each distinct name once: there are far fewer names than columns."""
    close = _close({column for own in columns.values() for column in own}, wanted)
    objects = _close({name.rpartition(".")[2] for name in columns}, wanted)
    for name, own in columns.items():
        last = name.rpartition(".")[2]
        if last in objects:
            yield len(RANKS) - 1, False, 1 - objects[last], name, None
        yield from ((len(RANKS) - 1, True, 1 - close[column], name, column) for column in own if column in close)


def _close(names: Iterable[str], wanted: str) -> dict[str, float]:
    matcher = difflib.SequenceMatcher(b=wanted)
    found = {}
    for name in names:
        matcher.set_seq1(name.strip('"').lower())
        if matcher.real_quick_ratio() >= FUZZY and matcher.quick_ratio() >= FUZZY and matcher.ratio() >= FUZZY:
            found[name] = matcher.ratio()
    return found
