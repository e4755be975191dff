"""Imported schemas and a comparison: a catalog of what is in production must not hide what head is about to change."""

from collections import defaultdict

from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.sets import EdgeKind, Origin, Role

MAKING = frozenset({Role.DEFINE, Role.ALTER, Role.DROP})


def contested(base: Lineage, head: Lineage) -> frozenset[str]:
    """The imported objects whose definition head changed, with the imported ones that are defined on top of them."""
    imported = {row.object for side in (base, head) for row in side.objects if row.origin is Origin.IMPORTED}
    if not imported:
        return frozenset()
    before, after = _makers(base), _makers(head)
    changed = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    readers: dict[str, set[str]] = defaultdict(set)
    for side in (base, head):
        for edge in side.object_edges:
            if edge.kind is EdgeKind.READ:
                readers[edge.from_object].add(edge.to_object)
    found = set(changed)
    while changed:
        fresh = readers[changed.pop()] - found
        found |= fresh
        changed.extend(fresh)
    return frozenset(found & imported & {*before, *after})


def defined(lineage: Lineage) -> frozenset[str]:
    """The objects that statements of a lineage define."""
    return frozenset(row.object for row in lineage.object_statements if row.role is Role.DEFINE)


def _makers(lineage: Lineage) -> dict[str, list[tuple[str, str]]]:
    """The statements that define, alter and drop each object, whatever file they stand in."""
    prints = {(row.path, row.ordinal): row.fingerprint for row in lineage.statements}
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in lineage.object_statements:
        if row.role in MAKING:
            found[row.object].append((row.role.value, prints[row.path, row.ordinal]))
    return {name: sorted(parts) for name, parts in found.items()}
