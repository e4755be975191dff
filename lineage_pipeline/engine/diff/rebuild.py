"""Rebuild plan: the objects that a change makes stale, in dependency order."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from lineage_pipeline.engine.diff.index import NAMED, LineageIndex
from lineage_pipeline.engine.diff.match import LineagePair, pair_lineages
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import ObjectKind, Severity
from lineage_pipeline.model.tables import Change

ALL_COLUMNS = "*"

HARMLESS_RULES = frozenset("OBJ002 OBJ003 OBJ006 OBJ007 OBJ009 COL003 CON001 CON002 PII001 SRC003".split())
"""Rules after which readers of the object get the same data as before."""

BROKEN_RULES = frozenset({"OBJ001", "OBJ002", "OBJ008", "COL001", "COL002", "COL006"})
"""Rules whose derived changes name readers of what is gone: head has no edge there."""

BUILT_KINDS = frozenset({ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW})


class StaleObject(msgspec.Struct, frozen=True):
    """One object to rebuild: where it is defined, why, and the statements that make it."""

    object: str
    kind: ObjectKind
    level: int
    reason: str
    because: tuple[str, ...]
    path: str | None
    line: int | None
    makers: tuple[str, ...]


class RebuildPlan(msgspec.Struct, frozen=True):
    """What to rebuild in this order, and what is gone."""

    stale: tuple[StaleObject, ...]
    gone: tuple[str, ...]


def plan_rebuild(base: LineageTables, head: LineageTables, changes: Sequence[Change]) -> RebuildPlan:
    """The objects that a change makes stale: edited ones, and those whose values or rows come from a change."""
    pair = pair_lineages(base, head)
    reasons: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in pair.added:
        reasons[name]["new"]
    touched = {change.object for change in changes}
    for name in pair.common:
        if _is_changed(pair, name):
            edited = not pair.is_unedited(name)
            reasons[name]["edited" if edited else "reads"] |= set() if edited else touched & {*pair.head.sources(name)}
    broken = _broken_readers(changes)
    for name, source in broken:
        reasons[name]["reads"].add(source)
    seeds = [*_changed_nodes(pair, changes), *((name, ALL_COLUMNS) for name, _ in broken)]
    for name, sources in _find_affected(pair.head, seeds).items():
        reasons[name]["reads"] |= sources
    rows = [(pair.head.objects[name], why) for name, why in reasons.items() if _is_built(pair.head, name)]
    ordered = sorted(rows, key=lambda one: (one[0].level, one[0].object))
    return RebuildPlan(
        tuple(_build_stale(pair.head, row.object, why) for row, why in ordered),
        tuple(name for name in pair.removed if pair.base.objects[name].kind in BUILT_KINDS),
    )


def _is_built(side: LineageIndex, name: str) -> bool:
    row = side.objects.get(name)
    lasting = row is not None and row.kind in BUILT_KINDS and not row.temporary and side.definition_level(name) != NAMED
    return lasting and not side.is_exposure(name)


def _is_changed(pair: LineagePair, name: str) -> bool:
    """Say whether any statement that makes an object means something else than before."""
    writers = pair.writers[name]
    if writers.rewrites or writers.gone or writers.new:
        return True
    declared = [
        [(one.name, one.type, one.nullable) for one in side.columns.get(name, {}).values()]
        for side in (pair.base, pair.head)
    ]
    return declared[0] != declared[1]


StaleNode = tuple[str, str]


def _broken_readers(changes: Sequence[Change]) -> list[tuple[str, str]]:
    """The readers that still name what is gone, with its owner."""
    causes = {one.id: one.object for one in changes if one.root}
    broken = [one for one in changes if not one.root and one.column is None and one.rule in BROKEN_RULES]
    return [(one.object, causes[one.root_id]) for one in broken if one.object != causes[one.root_id]]


def _changed_nodes(pair: LineagePair, changes: Iterable[Change]) -> list[StaleNode]:
    """The columns, or whole objects, that hold other data than before."""
    harmful = [one for one in changes if one.rule not in HARMLESS_RULES and one.effective is not Severity.INFO]
    names = pair.renames.names
    return [(names.head_object(one.object), one.column or ALL_COLUMNS) for one in harmful if one.root or one.column]


def _find_affected(side: LineageIndex, seeds: Sequence[StaleNode]) -> dict[str, set[str]]:
    """The affected objects downstream, each with the changed objects it reads."""
    found: dict[str, set[str]] = defaultdict(set)
    seen, pending = set(seeds), list(seeds)
    while pending:
        name, column = pending.pop()
        for node in _node_readers(side, name, column):
            if node[0] != name:
                found[node[0]].add(name)
            if node not in seen:
                seen.add(node)
                pending.append(node)
    return found


def _node_readers(side: LineageIndex, name: str, column: str) -> list[StaleNode]:
    if column == ALL_COLUMNS:
        return [(reader, ALL_COLUMNS) for reader, _ in side.readers.get(name, ())]
    return [(edge.to_object, edge.to_column) for edge in side.edges_from.get((name, column), ())]


def _build_stale(side: LineageIndex, name: str, why: dict[str, set[str]]) -> StaleObject:
    row = side.objects[name]
    reason = next(word for word in ("new", "edited", "reads") if word in why)
    makers = [f"{path}:{side.line((path, ordinal)) or 1}" for path, ordinal in side.makers.get(name, ())]
    return StaleObject(
        object=name,
        kind=row.kind,
        level=row.level,
        reason=reason,
        because=tuple(sorted(why.get("reads", ()))),
        path=row.path,
        line=row.line,
        makers=tuple(dict.fromkeys(makers)),
    )
