"""Two lineages reduced to the rows that their comparison needs, as Spark does it with tables."""

from collections import Counter
from typing import Any

import msgspec

from lineage_pipeline.engine.diff.comparison_scope import (
    FILE_NEEDED_TABLES,
    FILE_TABLES,
    LINK_COLUMNS,
    MAKING_ROLES,
    OWNER_COLUMNS,
    DifferingRows,
    find_comparison_scope,
    needed_columns,
)
from lineage_pipeline.model.analysis import LineageTables


def reduce_to_extent(base: LineageTables, head: LineageTables) -> tuple[LineageTables, LineageTables]:
    """Reduce two lineages to the extent of their comparison."""
    objects, paths = set(), set()
    for table, owner in OWNER_COLUMNS.items():
        before, after = (Counter(getattr(side, table)) for side in (base, head))
        for row in [*(before - after), *(after - before)]:
            if table != "object_statements" or row.role in MAKING_ROLES:  # one that reads an object changes it not
                objects.add(getattr(row, owner))
            if table in FILE_TABLES:
                paths.add(row.path)
    links = {
        (getattr(row, source), getattr(row, reader))
        for table, (source, reader) in LINK_COLUMNS.items()
        for side in (base, head)
        for row in getattr(side, table)
        if getattr(row, source) is not None
    }
    found = find_comparison_scope(
        DifferingRows(frozenset(objects - {None}), frozenset(paths - {None})),
        (*base.objects, *head.objects),
        (*base.object_statements, *head.object_statements),
        links,
    )
    prints = {row.fingerprint for side in (base, head) for row in side.statements if row.path in found.paths}

    def is_needed(table: str, row: Any) -> bool:
        known = any(getattr(row, name) in found.objects for name in needed_columns(table))
        near = table in FILE_NEEDED_TABLES and row.path in found.paths
        return known or near or (table == "statements" and row.fingerprint in prints)

    def cut(side: LineageTables) -> LineageTables:
        rows = {table: tuple(row for row in getattr(side, table) if is_needed(table, row)) for table in OWNER_COLUMNS}
        return msgspec.structs.replace(side, **rows)

    return cut(base), cut(head)
