"""Objects that went, came, moved, or are made in another way."""

from collections.abc import Iterator

from lineage_pipeline.engine.diff.finding import Finding
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.rules.analysis import lost_objects
from lineage_pipeline.vocabulary.sets import Confidence, ObjectKind, Severity

KINDS_UNKNOWN = frozenset({ObjectKind.UNKNOWN, ObjectKind.EXTERNAL})

VIEWS = frozenset({ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW})


def object_removed(pair: Pair) -> Iterator[Finding]:
    """Whoever reads a removed object will fail; one that is only unreadable is reported as that."""
    lost = {name for name, _ in lost_objects(pair)}
    for name in pair.removed:
        if name not in pair.renames.names.objects and name not in lost:
            yield Finding("OBJ001", name, None, Severity.BREAKING, before=pair.base.objects[name].kind)


def object_renamed(pair: Pair) -> Iterator[Finding]:
    """An object with the same columns and the same body has another name."""
    for old, new in sorted(pair.renames.names.objects.items()):
        sure = bool(pair.base.bodies.get(old)) or old.rpartition(".")[2] == new.rpartition(".")[2]
        confidence = Confidence.CERTAIN if sure else Confidence.INFERRED
        yield Finding("OBJ002", old, None, Severity.BREAKING, before=old, after=new, confidence=confidence)


def object_added(pair: Pair) -> Iterator[Finding]:
    """A new object disturbs nobody, unless an untouched statement now reads it instead of another."""
    for name in pair.added:
        if name in pair.renames.names.objects.values():
            continue
        shadowed = _shadowed(pair, name)
        severity = Severity.POTENTIALLY_BREAKING if shadowed else Severity.NON_BREAKING
        yield Finding("OBJ003", name, None, severity, before=shadowed, after=pair.head.objects[name].kind)


def _shadowed(pair: Pair, name: str) -> str | None:
    """Find an object of the same last name that untouched readers read before."""
    last = pair.head.objects[name].name
    before = {place: fingerprint for place in pair.base.statements if (fingerprint := pair.base.fingerprint(place))}
    readers = {pair.head.fingerprint(place) for _, place in pair.head.readers.get(name, ()) if pair.is_kept(place)}
    if not readers:
        return None
    reads = {read for place, fingerprint in before.items() if fingerprint in readers for read in pair.base.reads(place)}
    others = [read for read in sorted(reads - {name}) if read in pair.base.objects]
    return next((read for read in others if pair.base.objects[read].name == last and read in pair.common), None)


def kind_changed(pair: Pair) -> Iterator[Finding]:
    """A view that becomes a table is as fresh as its last load; a table that becomes a view takes no writes."""
    for name in pair.common:
        before, after = pair.base.objects[name].kind, pair.head.objects[name].kind
        if before is after or {before, after} & KINDS_UNKNOWN:
            continue
        refuses = after in VIEWS and bool(pair.head.writers.get(name))
        severity = Severity.BREAKING if refuses else Severity.POTENTIALLY_BREAKING
        yield Finding("OBJ004", name, None, severity, before=before, after=after)


def producers_changed(pair: Pair) -> Iterator[Finding]:
    """Two statements may fill an object twice; none leaves it stale."""
    for name in pair.common:
        writers = pair.writers[name]
        before, after = len(pair.base.bodies.get(name, ())), len(pair.head.bodies.get(name, ()))
        if before == after or not (writers.gone or writers.new):
            continue
        if max(before, after) > 1 or after == 0:
            texts = f"{before} writers", f"{after} writers"
            yield Finding("OBJ005", name, None, Severity.POTENTIALLY_BREAKING, before=texts[0], after=texts[1])
