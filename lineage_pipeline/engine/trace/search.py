"""Search: objects and columns whose names resemble a text, best matches first."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

MIN_SIMILARITY = 0.7
MATCH_RANKS = ("is", "begins with", "contains", "looks like")


class Hit(msgspec.Struct, frozen=True):
    """A search result; `match` says how its name compares with the text."""

    object: str
    column: str | None
    match: str


def search_names(columns: Mapping[str, Sequence[str]], text: str, limit: int | None = None) -> tuple[Hit, ...]:
    """The objects and columns that match a text: whole names first, then prefixes, substrings and similar names."""
    wanted = text.strip().lower()
    hits = [hit for hit in _iter_hits(columns, wanted) if hit[0] < len(MATCH_RANKS)]
    if not hits:
        hits = list(_iter_similar(columns, wanted))
    found = (Hit(name, column, MATCH_RANKS[rank]) for rank, _, _, name, column in sorted(hits, key=_hit_order))
    return tuple(found)[:limit]


RankedHit = tuple[int, bool, float, str, str | None]
"""Rank, whether it is a column, distance, object and column."""


def _hit_order(hit: RankedHit) -> tuple[int, bool, float, str, str]:
    return (*hit[:4], hit[4] or "")


def _iter_hits(columns: Mapping[str, Sequence[str]], wanted: str) -> Iterator[RankedHit]:
    for name, own in columns.items():
        last = name.rpartition(".")[2].strip('"').lower()
        rank = min(_rank_name(last, wanted), _rank_name(name.lower(), wanted))
        yield rank, False, len(name), name, None
        for column in own:
            below = column.lower()
            rank = _rank_name(below, wanted)
            if rank == len(MATCH_RANKS) and "." in wanted:
                rank = _rank_name(f"{name}.{column}".lower(), wanted)
            yield rank, True, len(column), name, column


def _rank_name(name: str, wanted: str) -> int:
    if name == wanted:
        return 0
    if name.startswith(wanted):
        return 1
    return 2 if wanted in name else len(MATCH_RANKS)


def _iter_similar(columns: Mapping[str, Sequence[str]], wanted: str) -> Iterator[RankedHit]:
    """Compare each distinct name once: there are far fewer names than columns."""
    close = _similar_names({column for own in columns.values() for column in own}, wanted)
    objects = _similar_names({name.rpartition(".")[2] for name in columns}, wanted)
    for name, own in columns.items():
        last = name.rpartition(".")[2]
        if last in objects:
            yield len(MATCH_RANKS) - 1, False, 1 - objects[last], name, None
        yield from ((len(MATCH_RANKS) - 1, True, 1 - close[column], name, column) for column in own if column in close)


def _similar_names(names: Iterable[str], wanted: str) -> dict[str, float]:
    matcher = difflib.SequenceMatcher(b=wanted)
    found = {}
    for name in names:
        matcher.set_seq1(name.strip('"').lower())
        if (
            matcher.real_quick_ratio() >= MIN_SIMILARITY
            and matcher.quick_ratio() >= MIN_SIMILARITY
            and matcher.ratio() >= MIN_SIMILARITY
        ):
            found[name] = matcher.ratio()
    return found
