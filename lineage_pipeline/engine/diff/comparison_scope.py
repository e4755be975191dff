"""Scope of a comparison: what differs, everything downstream of it, and what those objects read.

Two lineages that are reduced to their scope have the same changes as the whole ones. Only names are needed to find it,
so that rows stored elsewhere need not be loaded.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from lineage_pipeline.model.enums import Role
from lineage_pipeline.model.tables import ObjectRow, ObjectStatement

MAKING_ROLES = frozenset({Role.DEFINE, Role.ALTER, Role.WRITE, Role.DROP})

OWNER_COLUMNS: dict[str, str] = {
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
"""The tables that a comparison reads, and the column with the owner of a row: a new reader changes no source."""

FILE_TABLES = ("statements", "diagnostics")
"""Tables in which a differing row makes its file differ, too."""

NEEDED_COLUMNS: dict[str, tuple[str, ...]] = {
    "statements": (),
    "object_edges": ("from_object", "to_object"),
    "column_edges": ("from_object", "to_object"),
}
"""The columns by which objects need a row, where these are not the owner column."""

LINK_COLUMNS: dict[str, tuple[str, str]] = {
    "object_edges": ("from_object", "to_object"),
    "column_edges": ("from_object", "to_object"),
    "constraints": ("expression", "object"),
}
"""The tables that connect objects, with their columns: a foreign key needs its referenced table."""

FILE_NEEDED_TABLES = ("statements", "column_edges", "diagnostics")
"""Tables whose rows are needed for the file they are in."""


class DifferingRows(msgspec.Struct, frozen=True):
    """The objects and files with a row that differs between the sides."""

    objects: frozenset[str]
    paths: frozenset[str]


class ComparisonScope(msgspec.Struct, frozen=True):
    """The objects and files of both sides whose rows a comparison needs."""

    objects: frozenset[str]
    paths: frozenset[str]


def needed_columns(table: str) -> tuple[str, ...]:
    """The columns of a table that hold the objects which need the row."""
    return NEEDED_COLUMNS.get(table, (OWNER_COLUMNS[table],))


def find_comparison_scope(
    differing: DifferingRows,
    objects: Iterable[ObjectRow],
    uses: Iterable[ObjectStatement],
    links: Iterable[tuple[str, str]],
) -> ComparisonScope:
    """The scope of a comparison, given the names of both sides and the edges between them."""
    mentioned: dict[str, set[str]] = defaultdict(set)
    made: dict[str, set[str]] = defaultdict(set)
    for use in uses:
        mentioned[use.object].add(use.path)
        if use.role in MAKING_ROLES:
            made[use.object].add(use.path)
    start = differing.objects | {name for name, paths in made.items() if not paths.isdisjoint(differing.paths)}
    readers: dict[str, set[str]] = defaultdict(set)
    sources: dict[str, set[str]] = defaultdict(set)
    for source, reader in links:
        readers[source].add(reader)
        sources[reader].add(source)
    affected = _transitive_closure(start, readers)
    known = _transitive_closure(affected | _find_namesakes(start, objects), sources)
    paths = {path for name in affected for path in mentioned[name]} | {path for name in known for path in made[name]}
    return ComparisonScope(frozenset(known), frozenset(paths | differing.paths))


def _transitive_closure(start: Iterable[str], following: Mapping[str, set[str]]) -> set[str]:
    found = set(start)
    pending = list(found)
    while pending:
        fresh = following.get(pending.pop(), set()) - found
        found |= fresh
        pending.extend(fresh)
    return found


def _find_namesakes(names: Iterable[str], objects: Iterable[ObjectRow]) -> set[str]:
    """The objects with the same last name: one may have moved there."""
    by_last: dict[str, set[str]] = defaultdict(set)
    last: dict[str, str] = {}
    for row in objects:
        last[row.object] = row.name.lstrip("#")
        by_last[last[row.object]].add(row.object)
    return {one for name in names if name in last for one in by_last[last[name]]}
