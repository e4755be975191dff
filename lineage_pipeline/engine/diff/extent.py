"""How far a comparison has to look: what differs, all that follows from it, and what those read.

Two lineages that are cut down to their extent have the same changes as the whole ones; only names are needed to find
it, so that whoever holds the rows elsewhere need not gather them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from lineage_pipeline.vocabulary.sets import Role
from lineage_pipeline.vocabulary.tables import ObjectRow, ObjectStatement

MAKING = frozenset({Role.DEFINE, Role.ALTER, Role.WRITE, Role.DROP})

OWNERS: dict[str, str] = {
    "statements": "target",
    "objects": "object",
    "object_statements": "object",
    "object_edges": "to_object",
    "columns": "object",
    "constraints": "object",
    "column_edges": "to_object",
    "facets": "object",
    "diagnostics": "object",
}
"""The tables that a comparison reads, and whose row it is: who is read differs in nothing because of a new reader."""

PLACED = ("statements", "diagnostics")
"""Tables of which a row that differs makes its file differ, too."""

NEEDED: dict[str, tuple[str, ...]] = {
    "statements": (),
    "object_edges": ("from_object", "to_object"),
    "column_edges": ("from_object", "to_object"),
}
"""The columns by which an object needs a row, where they are not that of its owner."""

LINKS: dict[str, tuple[str, str]] = {
    "object_edges": ("from_object", "to_object"),
    "column_edges": ("from_object", "to_object"),
    "constraints": ("expression", "object"),
}
"""The tables that say who hangs on whom, and the columns for that: a foreign key needs what it points to."""

NEEDED_AT = ("statements", "column_edges", "diagnostics")
"""Tables whose rows are needed for the file that they stand in."""


class Differing(msgspec.Struct, frozen=True):
    """The objects and files of which a row is not the same on both sides."""

    objects: frozenset[str]
    paths: frozenset[str]


class Extent(msgspec.Struct, frozen=True):
    """The objects and files whose rows a comparison needs, of both sides."""

    objects: frozenset[str]
    paths: frozenset[str]


def needed_by(table: str) -> tuple[str, ...]:
    """Name the columns of a table that hold objects which need the row."""
    return NEEDED.get(table, (OWNERS[table],))


def counts(table: str, role: str | None) -> bool:
    """Say whether a row that differs bears on its owner; one that only reads an object does not change it."""
    return table != "object_statements" or role in MAKING


def extent(
    differing: Differing,
    objects: Iterable[ObjectRow],
    uses: Iterable[ObjectStatement],
    links: Iterable[tuple[str, str]],
) -> Extent:
    """Find the extent of a comparison, given the names of both sides and who feeds whom."""
    mentioned: dict[str, set[str]] = defaultdict(set)
    made: dict[str, set[str]] = defaultdict(set)
    for use in uses:
        mentioned[use.object].add(use.path)
        if use.role in MAKING:
            made[use.object].add(use.path)
    start = differing.objects | {name for name, paths in made.items() if not paths.isdisjoint(differing.paths)}
    readers: dict[str, set[str]] = defaultdict(set)
    sources: dict[str, set[str]] = defaultdict(set)
    for source, reader in links:
        readers[source].add(reader)
        sources[reader].add(source)
    felt = _closure(start, readers)
    known = _closure(felt | _namesakes(start, objects), sources)
    paths = {path for name in felt for path in mentioned[name]} | {path for name in known for path in made[name]}
    return Extent(frozenset(known), frozenset(paths | differing.paths))


def _closure(start: Iterable[str], following: Mapping[str, set[str]]) -> set[str]:
    found = set(start)
    pending = list(found)
    while pending:
        fresh = following.get(pending.pop(), set()) - found
        found |= fresh
        pending.extend(fresh)
    return found


def _namesakes(names: Iterable[str], objects: Iterable[ObjectRow]) -> set[str]:
    """Find the objects elsewhere whose last name is that of one: it may have moved there."""
    by_last: dict[str, set[str]] = defaultdict(set)
    last: dict[str, str] = {}
    for row in objects:
        last[row.object] = row.name.lstrip("#")
        by_last[last[row.object]].add(row.object)
    return {one for name in names if name in last for one in by_last[last[name]]}
