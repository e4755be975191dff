"""Name lookup: objects and columns by the end of a name as their system compares names, or by resemblance."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from lineage_pipeline.dialects.identifier_folding import IdentifierFolding, fold_identifier
from lineage_pipeline.engine.trace.column_graph import ALL, ColumnRef
from lineage_pipeline.engine.trace.selectors import Selector, SelectorPart, compile_wildcard, split_selector_name

MAX_SUGGESTIONS = 3


class NameFoldings(msgspec.Struct, frozen=True):
    """How a system compares the names of its tables and of their columns."""

    tables: IdentifierFolding = IdentifierFolding.INSENSITIVE
    columns: IdentifierFolding = IdentifierFolding.INSENSITIVE


class SelectorMatches(msgspec.Struct, frozen=True):
    """What a selector matches: columns, or objects where it names one; `objects` has those of the columns, too."""

    columns: tuple[ColumnRef, ...] = ()
    objects: tuple[str, ...] = ()


class NameLookup:
    """All objects with their columns, found by the end of a name."""

    def __init__(
        self,
        columns: Mapping[str, Sequence[str]],
        systems: Mapping[str, str] | None = None,
        spellings: Mapping[str, NameFoldings] | None = None,
    ) -> None:
        """Take the columns of each object, the system of each, and how each system compares names."""
        self.columns = columns
        self._systems = systems or {}
        self._spellings = spellings or {}
        self._last: dict[Selector, SelectorMatches] = {}

    def match_objects(self, parts: Sequence[SelectorPart]) -> tuple[str, ...]:
        """The objects whose ids end in these parts; an exact id wins over longer ones."""
        found = [name for name in self.columns if self._ends_with(name, parts)]
        if not any(part.is_pattern for part in parts):
            found = [name for name in found if len(self._split(name)) == len(parts)] or found
        return tuple(sorted(found))

    def match_columns(self, parts: Sequence[SelectorPart]) -> tuple[ColumnRef, ...]:
        """The columns that the last part names in the objects that the others name."""
        *owner, last = parts
        objects = self.match_objects(owner) if owner else tuple(sorted(self.columns))
        return tuple(ColumnRef(name, column) for name in objects for column in self._match_own_columns(name, last))

    def find(self, selector: Selector) -> SelectorMatches:
        """What a selector matches: columns first, and an object as a whole where no column has that name."""
        if selector not in self._last:  # a question and its answer both ask what is meant
            self._last = {selector: self._find_matches(selector)}
        return self._last[selector]

    def _find_matches(self, selector: Selector) -> SelectorMatches:
        columns = self.match_columns(selector.parts)
        if _matches_all(selector.parts[-1]):
            columns = tuple(ref for ref in columns if ref.column != ALL) or columns
        objects = self.match_objects(selector.parts) if not columns or selector.written in self.columns else ()
        if columns and not (objects and objects[0] == selector.written):
            return SelectorMatches(columns, tuple(dict.fromkeys(ref.object for ref in columns)))
        return SelectorMatches(
            tuple(ColumnRef(name, column) for name in objects for column in sorted(self.columns[name])), objects
        )

    def suggest_objects(self, written: str) -> list[str]:
        """The objects whose names resemble the given one."""
        wanted = written.lower()
        shown = {name.lower(): name for name in sorted(self.columns, reverse=True)}
        ends = {".".join(part.text for part in self._split(name)[-2:]).lower(): name for name in sorted(self.columns)}
        last = {self._split(name)[-1].text.lower(): name for name in sorted(self.columns, reverse=True)}
        found = [
            table[match]
            for table in (shown, ends, last)
            for match in difflib.get_close_matches(wanted, table, n=MAX_SUGGESTIONS, cutoff=0.75)
        ]
        return list(dict.fromkeys(found))[:MAX_SUGGESTIONS]

    def foldings_of(self, name: str) -> NameFoldings:
        """How the system of an object compares names."""
        return self._spellings.get(self._systems.get(name, ""), NameFoldings())

    @cached_property
    def _parts(self) -> dict[str, tuple[SelectorPart, ...]]:
        return {}

    def _split(self, name: str) -> tuple[SelectorPart, ...]:
        parts = self._parts.get(name)
        if parts is None:
            parts = self._parts[name] = tuple(split_selector_name(name))
        return parts

    def _ends_with(self, name: str, parts: Sequence[SelectorPart]) -> bool:
        own = self._split(name)
        if len(own) < len(parts):
            return False
        folding = self.foldings_of(name).tables
        return all(_matches_name(mine.text, part, folding) for mine, part in zip(own[::-1], parts[::-1], strict=False))

    def _match_own_columns(self, name: str, part: SelectorPart) -> Iterable[str]:
        if _matches_all(part):
            return sorted(self.columns[name])
        folding = self.foldings_of(name).columns
        return sorted(column for column in self.columns[name] if _matches_name(column, part, folding))


def _matches_all(part: SelectorPart) -> bool:
    """Say whether a part matches every name."""
    return part.text == ALL and not part.quoted


def _matches_name(mine: str, part: SelectorPart, folding: IdentifierFolding) -> bool:
    """Compare a stored name with a typed one; the exact stored name always matches."""
    if part.text in (mine, ALL) and (mine == part.text or not part.quoted):
        return True
    if folding is IdentifierFolding.EXACT and not part.is_pattern:
        return False
    own = (
        mine.lower()
        if folding is IdentifierFolding.INSENSITIVE
        else mine.upper()
        if folding is IdentifierFolding.CAPITAL
        else mine
    )
    typed = fold_identifier(part.text, part.quoted, folding)
    return bool(compile_wildcard(typed).match(own)) if part.is_pattern else own == typed


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
