"""The part of a lineage around one object."""

from collections import defaultdict
from collections.abc import Mapping, Set

import msgspec

from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.tables import Diagnostic


class Focus(msgspec.Struct, frozen=True):
    """An object by id, how many steps around it count (None: all), and in which directions."""

    object: str
    depth: int | None = None
    up: bool = True
    down: bool = True


def narrow_lineage(lineage: LineageTables, focus: Focus) -> LineageTables:
    """Keep the objects within reach of the focus, and the rows about them."""
    kept = _objects_around(lineage, focus)
    places = {
        (row.path, row.ordinal) for row in lineage.object_statements if row.object in kept and row.role.value != "read"
    }
    edges = tuple(row for row in lineage.column_edges if row.to_object in kept and row.from_object in kept | {"?"})
    places |= {(row.path, row.statement) for row in edges}
    paths = {path for path, _ in places}
    return msgspec.structs.replace(
        lineage,
        statements=tuple(row for row in lineage.statements if (row.path, row.ordinal) in places),
        objects=tuple(row for row in lineage.objects if row.object in kept),
        object_statements=tuple(
            row for row in lineage.object_statements if row.object in kept and (row.path, row.ordinal) in places
        ),
        object_edges=tuple(row for row in lineage.object_edges if {row.from_object, row.to_object} <= kept),
        columns=tuple(row for row in lineage.columns if row.object in kept),
        constraints=tuple(row for row in lineage.constraints if row.object in kept),
        column_edges=edges,
        facets=tuple(row for row in lineage.facets if row.object in kept),
        column_reach=tuple(row for row in lineage.column_reach if row.object in kept),
        diagnostics=tuple(row for row in lineage.diagnostics if _is_about(row, kept, paths)),
    )


def _is_about(row: Diagnostic, kept: frozenset[str], paths: Set[str]) -> bool:
    return row.object in kept if row.object is not None else row.path is not None and row.path in paths


def _objects_around(lineage: LineageTables, focus: Focus) -> frozenset[str]:
    """Return the objects within reach of the focus."""
    down: dict[str, set[str]] = defaultdict(set)
    up: dict[str, set[str]] = defaultdict(set)
    for edge in lineage.object_edges:
        down[edge.from_object].add(edge.to_object)
        up[edge.to_object].add(edge.from_object)
    found = {focus.object}
    if focus.up:
        found |= _walk_steps(focus.object, up, focus.depth)
    if focus.down:
        found |= _walk_steps(focus.object, down, focus.depth)
    return frozenset(found)


def _walk_steps(start: str, links: Mapping[str, set[str]], depth: int | None) -> set[str]:
    found, border, steps = {start}, {start}, 0
    while border and (depth is None or steps < depth):
        border = {other for name in border for other in links.get(name, ())} - found
        found |= border
        steps += 1
    return found
