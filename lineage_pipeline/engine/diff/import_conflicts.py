"""Import conflicts in a comparison: a catalog of production must not hide what the head changes."""

from collections import defaultdict

from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeKind, Origin, Role

DEFINING_ROLES = frozenset({Role.DEFINE, Role.ALTER, Role.DROP})


def find_import_conflicts(base: LineageTables, head: LineageTables) -> frozenset[str]:
    """The imported objects whose definition head changed, and the imported ones that depend on them."""
    imported = {row.object for side in (base, head) for row in side.objects if row.origin is Origin.IMPORTED}
    if not imported:
        return frozenset()
    before, after = _defining_statements(base), _defining_statements(head)
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


def list_defined_objects(lineage: LineageTables) -> frozenset[str]:
    """The objects that statements of a lineage define."""
    return frozenset(row.object for row in lineage.object_statements if row.role is Role.DEFINE)


def _defining_statements(lineage: LineageTables) -> dict[str, list[tuple[str, str]]]:
    """The statements that define, alter and drop each object, in whatever file."""
    prints = {(row.path, row.ordinal): row.fingerprint for row in lineage.statements}
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in lineage.object_statements:
        if row.role in DEFINING_ROLES:
            found[row.object].append((row.role.value, prints[row.path, row.ordinal]))
    return {name: sorted(parts) for name, parts in found.items()}
