"""What to rebuild after a change: the objects that are stale, those that others need first."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from lineage_pipeline.engine.diff.index import NAMED, Index
from lineage_pipeline.engine.diff.pair import Pair, pair_of
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.sets import ObjectKind, Severity
from lineage_pipeline.vocabulary.tables import Change

EVERYTHING = "*"

SAME_ROWS = frozenset({"OBJ002", "OBJ003", "OBJ006", "OBJ007", "COL003", "CON001", "CON002", "PII001", "SRC003"})
"""Rules after which what others read from the object is what it was."""

BROKEN = frozenset({"OBJ001", "OBJ002", "OBJ008", "COL001", "COL002", "COL006"})
"""Rules that are told again at whoever still names what is gone: head has no edge from there."""

BUILT = frozenset({ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW})


class Stale(msgspec.Struct, frozen=True):
    """One object to rebuild: where it stands, why, and the statements that make it."""

    object: str
    kind: ObjectKind
    level: int
    reason: str
    because: tuple[str, ...]
    path: str | None
    line: int | None
    makers: tuple[str, ...]


class Rebuild(msgspec.Struct, frozen=True):
    """What to rebuild in this order, and what is gone."""

    stale: tuple[Stale, ...]
    gone: tuple[str, ...]


def rebuild(base: Lineage, head: Lineage, changes: Sequence[Change]) -> Rebuild:
    """List the objects that a change makes stale: edited ones, and those whose values or rows come from a change."""
    pair = pair_of(base, head)
    reasons: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in pair.added:
        reasons[name]["new"]
    touched = {change.object for change in changes}
    for name in pair.common:
        if _is_another(pair, name):
            edited = not pair.is_unedited(name)
            reasons[name]["edited" if edited else "reads"] |= set() if edited else touched & {*pair.head.sources(name)}
    broken = _broken(changes)
    for name, source in broken:
        reasons[name]["reads"].add(source)
    seeds = [*_seeds(pair, changes), *((name, EVERYTHING) for name, _ in broken)]
    for name, sources in _reached(pair.head, seeds).items():
        reasons[name]["reads"] |= sources
    rows = [(pair.head.objects[name], why) for name, why in reasons.items() if _is_built(pair.head, name)]
    ordered = sorted(rows, key=lambda one: (one[0].level, one[0].object))
    return Rebuild(
        tuple(_stale(pair.head, row.object, why) for row, why in ordered),
        tuple(name for name in pair.removed if pair.base.objects[name].kind in BUILT),
    )


def _is_built(side: Index, name: str) -> bool:
    row = side.objects.get(name)
    lasting = row is not None and row.kind in BUILT and not row.temporary and side.definedness(name) != NAMED
    return lasting and not side.is_exposure(name)


def _is_another(pair: Pair, name: str) -> bool:
    """Say whether any statement that makes an object means something else than before, edited or not."""
    writers = pair.writers[name]
    if writers.rewrites or writers.gone or writers.new:
        return True
    declared = [
        [(one.name, one.type, one.nullable) for one in side.columns.get(name, {}).values()]
        for side in (pair.base, pair.head)
    ]
    return declared[0] != declared[1]


Node = tuple[str, str]


def _broken(changes: Sequence[Change]) -> list[tuple[str, str]]:
    """Name who still names what is gone, and whose it was."""
    causes = {one.id: one.object for one in changes if one.root}
    told = [one for one in changes if not one.root and one.column is None and one.rule in BROKEN]
    return [(one.object, causes[one.root_id]) for one in told if one.object != causes[one.root_id]]


def _seeds(pair: Pair, changes: Iterable[Change]) -> list[Node]:
    """Name the columns, or all of an object, that hold something else than before."""
    told = [one for one in changes if one.rule not in SAME_ROWS and one.effective is not Severity.INFO]
    names = pair.renames.names
    return [(names.object(one.object), one.column or EVERYTHING) for one in told if one.root or one.column]


def _reached(side: Index, seeds: Sequence[Node]) -> dict[str, set[str]]:
    """Follow values and decisions from the seeds; give for each object what it reads of what changed."""
    found: dict[str, set[str]] = defaultdict(set)
    seen, pending = set(seeds), list(seeds)
    while pending:
        name, column = pending.pop()
        for node in _readers(side, name, column):
            if node[0] != name:
                found[node[0]].add(name)
            if node not in seen:
                seen.add(node)
                pending.append(node)
    return found


def _readers(side: Index, name: str, column: str) -> list[Node]:
    if column == EVERYTHING:
        return [(reader, EVERYTHING) for reader, _ in side.readers.get(name, ())]
    return [(edge.to_object, edge.to_column) for edge in side.edges_from.get((name, column), ())]


def _stale(side: Index, name: str, why: dict[str, set[str]]) -> Stale:
    row = side.objects[name]
    reason = next(word for word in ("new", "edited", "reads") if word in why)
    makers = [f"{path}:{side.line((path, ordinal)) or 1}" for path, ordinal in side.makers.get(name, ())]
    return Stale(
        name,
        row.kind,
        row.level,
        reason,
        tuple(sorted(why.get("reads", ()))),
        row.path,
        row.line,
        tuple(dict.fromkeys(makers)),
    )
