"""Two lineages cut down to what their comparison has to look at, as Spark does it with tables."""

from collections import Counter
from typing import Any

import msgspec

from lineage_pipeline.engine.diff.extent import LINKS, NEEDED_AT, OWNERS, PLACED, Differing, counts, extent, needed_by
from lineage_pipeline.vocabulary.analysis import Lineage


def narrowed(base: Lineage, head: Lineage) -> tuple[Lineage, Lineage]:
    """Cut two lineages down to the extent of their comparison, as Spark does with tables."""
    objects, paths = set(), set()
    for table, owner in OWNERS.items():
        before, after = (Counter(getattr(side, table)) for side in (base, head))
        for row in [*(before - after), *(after - before)]:
            if counts(table, getattr(row, "role", None)):
                objects.add(getattr(row, owner))
            if table in PLACED:
                paths.add(row.path)
    links = {
        (getattr(row, source), getattr(row, reader))
        for table, (source, reader) in LINKS.items()
        for side in (base, head)
        for row in getattr(side, table)
        if getattr(row, source) is not None
    }
    found = extent(
        Differing(frozenset(objects - {None}), frozenset(paths - {None})),
        (*base.objects, *head.objects),
        (*base.object_statements, *head.object_statements),
        links,
    )
    prints = {row.fingerprint for side in (base, head) for row in side.statements if row.path in found.paths}

    def is_needed(table: str, row: Any) -> bool:
        known = any(getattr(row, name) in found.objects for name in needed_by(table))
        near = table in NEEDED_AT and row.path in found.paths
        return known or near or (table == "statements" and row.fingerprint in prints)

    def cut(side: Lineage) -> Lineage:
        rows = {table: tuple(row for row in getattr(side, table) if is_needed(table, row)) for table in OWNERS}
        return msgspec.structs.replace(side, **rows)

    return cut(base), cut(head)
