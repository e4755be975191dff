"""From what people type to objects and columns: by the end of a name, compared as the system compares names."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from lineage_pipeline.dialects.folding import Folding, fold
from lineage_pipeline.engine.trace.graph import ALL, ColumnRef
from lineage_pipeline.engine.trace.selectors import Part, Selector, pattern_of, split_name

CLOSE = 3


class Spelling(msgspec.Struct, frozen=True):
    """How a system compares the names of its tables and of their columns."""

    tables: Folding = Folding.INSENSITIVE
    columns: Folding = Folding.INSENSITIVE


class Matches(msgspec.Struct, frozen=True):
    """What a selector fits: columns, or objects where that was asked; `objects` has those of the columns, too."""

    columns: tuple[ColumnRef, ...] = ()
    objects: tuple[str, ...] = ()


class Names:
    """All objects with their columns, found by the end of a name."""

    def __init__(
        self,
        columns: Mapping[str, Sequence[str]],
        systems: Mapping[str, str] | None = None,
        spellings: Mapping[str, Spelling] | None = None,
    ) -> None:
        """Take the columns of each object, the system of each, and how each system spells."""
        self.columns = columns
        self._systems = systems or {}
        self._spellings = spellings or {}
        self._last: dict[Selector, Matches] = {}

    def objects_like(self, parts: Sequence[Part]) -> tuple[str, ...]:
        """Give the objects whose ids end in these parts; an id that is exactly so wins over longer ones."""
        found = [name for name in self.columns if self._ends(name, parts)]
        if not any(part.is_pattern for part in parts):
            found = [name for name in found if len(self._split(name)) == len(parts)] or found
        return tuple(sorted(found))

    def columns_like(self, parts: Sequence[Part]) -> tuple[ColumnRef, ...]:
        """Give the columns that the last part names in the objects that the others name."""
        *owner, last = parts
        objects = self.objects_like(owner) if owner else tuple(sorted(self.columns))
        return tuple(ColumnRef(name, column) for name in objects for column in self._columns_like(name, last))

    def find(self, selector: Selector) -> Matches:
        """Give what a selector fits: columns first, and an object as a whole where no column is called so."""
        if selector not in self._last:  # a question and its answer both ask what is meant
            self._last = {selector: self._find(selector)}
        return self._last[selector]

    def _find(self, selector: Selector) -> Matches:
        columns = self.columns_like(selector.parts)
        if _is_all(selector.parts[-1]):
            columns = tuple(ref for ref in columns if ref.column != ALL) or columns
        objects = self.objects_like(selector.parts) if not columns or selector.written in self.columns else ()
        if columns and not (objects and objects[0] == selector.written):
            return Matches(columns, tuple(dict.fromkeys(ref.object for ref in columns)))
        return Matches(
            tuple(ColumnRef(name, column) for name in objects for column in sorted(self.columns[name])), objects
        )

    def close_objects(self, written: str) -> list[str]:
        """Give the names of objects that look like what was written."""
        wanted = written.lower()
        shown = {name.lower(): name for name in sorted(self.columns, reverse=True)}
        ends = {".".join(part.text for part in self._split(name)[-2:]).lower(): name for name in sorted(self.columns)}
        last = {self._split(name)[-1].text.lower(): name for name in sorted(self.columns, reverse=True)}
        found = [
            table[match]
            for table in (shown, ends, last)
            for match in difflib.get_close_matches(wanted, table, n=CLOSE, cutoff=0.75)
        ]
        return list(dict.fromkeys(found))[:CLOSE]

    def spelling(self, name: str) -> Spelling:
        """Say how the system of an object compares names."""
        return self._spellings.get(self._systems.get(name, ""), Spelling())

    @cached_property
    def _parts(self) -> dict[str, tuple[Part, ...]]:
        return {}

    def _split(self, name: str) -> tuple[Part, ...]:
        parts = self._parts.get(name)
        if parts is None:
            parts = self._parts[name] = tuple(split_name(name))
        return parts

    def _ends(self, name: str, parts: Sequence[Part]) -> bool:
        own = self._split(name)
        if len(own) < len(parts):
            return False
        folding = self.spelling(name).tables
        return all(_fits(mine.text, part, folding) for mine, part in zip(own[::-1], parts[::-1], strict=False))

    def _columns_like(self, name: str, part: Part) -> Iterable[str]:
        if _is_all(part):
            return sorted(self.columns[name])
        folding = self.spelling(name).columns
        return sorted(column for column in self.columns[name] if _fits(column, part, folding))


def _is_all(part: Part) -> bool:
    """Say whether a part fits every name."""
    return part.text == ALL and not part.quoted


def _fits(mine: str, part: Part, folding: Folding) -> bool:
    """Compare a name that is stored with one that was typed; as it is stored always fits."""
    if part.text in (mine, ALL) and (mine == part.text or not part.quoted):
        return True
    if folding is Folding.EXACT and not part.is_pattern:
        return False
    own = mine.lower() if folding is Folding.INSENSITIVE else mine.upper() if folding is Folding.CAPITAL else mine
    typed = fold(part.text, part.quoted, folding)
    return bool(pattern_of(typed).match(own)) if part.is_pattern else own == typed
