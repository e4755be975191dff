"""Query alignment: queries that are named by their files keep their names where others come, go or move beside them."""

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.engine.graph.query_names import UNPLACED_NAME, name_path
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import ObjectKind, Role

NUMBER_SUFFIX = re.compile(r"_\d+\Z")

NAMED_ROWS = {
    "objects": ("object",),
    "object_statements": ("object",),
    "object_edges": ("to_object",),
    "columns": ("object",),
    "column_edges": ("to_object",),
    "facets": ("object",),
    "column_reach": ("object",),
    "diagnostics": ("object",),
    "statements": ("target",),
}
"""The fields that hold the name of a query by table: nothing reads one."""


class QueryPlace(msgspec.Struct, frozen=True):
    """A query by its object, the fingerprint of its statement, and whether only its file gives it a name."""

    object: str
    fingerprint: str
    is_query: bool
    by_file: bool


def align_queries(base: LineageTables, head: LineageTables) -> LineageTables:
    """The base with its queries under the names that the head has for them."""
    old, new = _queries_by_file(base), _queries_by_file(head)
    names: dict[str, str] = {}
    for path in old.keys() & new.keys():
        if [one.object for one in old[path]] != [one.object for one in new[path]] or len(old[path]) > 1:
            names |= dict(_match_queries(old[path], new[path]))
    known = {row.object for row in base.objects}
    queries = {one.object for ones in old.values() for one in ones if one.is_query}
    moved = {name: to for name, to in names.items() if name != to and (to not in known or to in queries)}
    if not moved:
        return base
    # What has no partner gives its name up, if another query now has it.
    free = iter(sorted(moved.keys() - set(moved.values()) - {row.object for row in head.objects}))
    homeless = sorted((set(moved.values()) & known) - moved.keys())
    moved |= dict(zip(homeless, free, strict=False))
    return _rename_objects(base, moved)


def _queries_by_file(lineage: LineageTables) -> dict[str, list[QueryPlace]]:
    """The queries of each file, in order; a table that a query fills is one of them."""
    rows = {row.object: row for row in lineage.objects if row.kind in (ObjectKind.QUERY, ObjectKind.TABLE) and row.path}
    prints = {(row.path, row.ordinal): row.fingerprint for row in lineage.statements if row.kind == "SELECT"}
    found: dict[str, list[tuple[int, QueryPlace]]] = defaultdict(list)
    for part in lineage.object_statements:
        row = rows.get(part.object)
        if row is None or part.role is not Role.WRITE or (part.path, part.ordinal) not in prints:
            continue
        stem = NUMBER_SUFFIX.sub("", row.name)
        place = QueryPlace(
            object=part.object,
            fingerprint=prints[part.path, part.ordinal],
            is_query=row.kind is ObjectKind.QUERY,
            by_file=stem in (name_path(part.path)[-1], part.path, UNPLACED_NAME) or row.kind is ObjectKind.TABLE,
        )
        found[part.path].append((part.ordinal, place))
    return {path: [place for _, place in sorted(places, key=lambda one: one[0])] for path, places in found.items()}


def _match_queries(old: Sequence[QueryPlace], new: Sequence[QueryPlace]) -> Iterator[tuple[str, str]]:
    """The pairs of one file: unedited queries first, then the others in order; a declared name stays."""
    before = [one for one in old if one.is_query and one.by_file]
    after = [one for one in new if one.by_file]
    alike: dict[str, deque[QueryPlace]] = defaultdict(deque)
    for place in after:
        alike[place.fingerprint].append(place)
    edited, taken = list[QueryPlace](), set[str]()
    for place in before:
        if place.fingerprint and alike[place.fingerprint]:
            partner = alike[place.fingerprint].popleft().object
            taken.add(partner)
            yield place.object, partner
        else:
            edited.append(place)
    left = (place.object for place in after if place.object not in taken)
    yield from zip((place.object for place in edited), left, strict=False)


def _rename_objects(lineage: LineageTables, names: Mapping[str, str]) -> LineageTables:
    """The rows of a lineage with queries under other names."""
    tables = {
        table: tuple([_rename_row(row, fields, names) for row in getattr(lineage, table)])
        for table, fields in NAMED_ROWS.items()
    }
    statements = tuple(
        msgspec.structs.replace(row, targets=tuple(names.get(one, one) for one in row.targets))
        if not names.keys().isdisjoint(row.targets)
        else row
        for row in tables.pop("statements")
    )
    return msgspec.structs.replace(lineage, **tables, statements=statements)


def _rename_row(row: Any, fields: Sequence[str], names: Mapping[str, str]) -> Any:
    changed = {field: names[name] for field in fields if (name := getattr(row, field)) in names}
    return msgspec.structs.replace(row, **changed) if changed else row
