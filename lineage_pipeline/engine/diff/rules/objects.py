"""Objects that went, came, moved, or are made in another way."""

from collections.abc import Iterator

from lineage_pipeline.engine.diff.finding import Finding, Rule, at_body
from lineage_pipeline.engine.diff.index import CONDITION, EMPTYING
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.rules.analysis import lost_objects
from lineage_pipeline.engine.diff.rules.moves import relocations, retargeted
from lineage_pipeline.vocabulary.sets import Confidence, ObjectKind, Scope, Severity

KINDS_UNKNOWN = frozenset({ObjectKind.UNKNOWN, ObjectKind.EXTERNAL})

FILLING_NOTHING = EMPTYING | {CONDITION}

VIEWS = frozenset({ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW})


def object_removed(pair: Pair) -> Iterator[Finding]:
    """Whoever reads a removed object will fail; one that is only unreadable is reported as that."""
    lost = {name for name, _ in lost_objects(pair)} | relocations(pair).keys()
    for name in pair.removed:
        if name not in pair.renames.names.objects and name not in lost:
            yield Finding("OBJ001", name, None, Severity.BREAKING, before=pair.base.objects[name].kind.value)


def object_renamed(pair: Pair) -> Iterator[Finding]:
    """An object with the same columns and the same body has another name."""
    for old, new in sorted(pair.renames.names.objects.items()):
        sure = bool(pair.base.bodies.get(old)) or old.rpartition(".")[2] == new.rpartition(".")[2]
        confidence = Confidence.CERTAIN if sure else Confidence.INFERRED
        yield Finding("OBJ002", old, None, Severity.BREAKING, before=old, after=new, confidence=confidence)
    for old, new in sorted(pair.covered.items()):
        severity = Severity.BREAKING if pair.head.writers.get(old) else Severity.NON_BREAKING
        yield Finding("OBJ002", old, None, severity, before=old, after=f"{new}, and a view of the old name")


def object_added(pair: Pair) -> Iterator[Finding]:
    """A new object disturbs nobody, unless an untouched statement now reads it instead of another."""
    moved = {*pair.renames.names.objects.values(), *(one.to for one in relocations(pair).values())}
    for name in pair.added:
        if name in moved:
            continue
        shadowed = _shadowed(pair, name)
        severity = Severity.POTENTIALLY_BREAKING if shadowed else Severity.NON_BREAKING
        yield Finding("OBJ003", name, None, severity, before=shadowed, after=pair.head.objects[name].kind.value)


def _shadowed(pair: Pair, name: str) -> str | None:
    """Find an object of the same last name that untouched readers read before."""
    last = pair.head.objects[name].name
    readers = (pair.head.fingerprint(place) for _, place in pair.head.readers.get(name, ()))
    places = [pair.kept[reader][0] for reader in readers if reader in pair.kept]
    reads = {read for place in places for read in pair.base.reads(place)} - {name}
    return next((read for read in sorted(reads) if read in pair.common and pair.base.objects[read].name == last), None)


def kind_changed(pair: Pair) -> Iterator[Finding]:
    """A view that becomes a table is as fresh as its last load; a table that becomes a view takes no writes."""
    for name in pair.common:
        before, after = pair.base.objects[name].kind, pair.head.objects[name].kind
        if before is after or {before, after} & KINDS_UNKNOWN:
            continue
        refuses = after in VIEWS and bool(pair.head.writers.get(name))
        severity = Severity.BREAKING if refuses else Severity.POTENTIALLY_BREAKING
        yield Finding("OBJ004", name, None, severity, before=before.value, after=after.value)


def producers_changed(pair: Pair) -> Iterator[Finding]:
    """Two statements may fill an object twice; none leaves it stale."""
    told = {one.name for one in retargeted(pair)} | {one.to for one in retargeted(pair)}
    for name in pair.common:
        writers = pair.writers[name]
        before, after = (
            sum(body.kind not in FILLING_NOTHING for body in side.bodies.get(name, ()))
            for side in (pair.base, pair.head)
        )
        if before == after or not (writers.gone or writers.new) or name in told:
            continue
        if max(before, after) > 1 or after == 0:
            texts = [f"{count} writer{'s' * (count != 1)}" for count in (before, after)]
            found = Finding("OBJ005", name, None, Severity.POTENTIALLY_BREAKING, before=texts[0], after=texts[1])
            side, bodies = (pair.head, writers.new) if writers.new else (pair.base, writers.gone)
            yield at_body(found, side, bodies[-1])


RULES: tuple[Rule, ...] = (
    Rule(
        "OBJ001",
        "object removed",
        Scope.INTERFACE,
        object_removed,
        "The object is no longer defined. Whoever still names it fails.",
        "Change its readers first, or keep a view under its name.",
    ),
    Rule(
        "OBJ002",
        "object renamed or moved",
        Scope.INTERFACE,
        object_renamed,
        "The same columns and the same body stand under another name.",
        "Keep a view or synonym under the old name until every reader has moved.",
    ),
    Rule(
        "OBJ003",
        "object added",
        Scope.INTERFACE,
        object_added,
        "A new object. It matters only where it hides another one from statements that nobody touched.",
        "Qualify the readers that now find another object than before.",
    ),
    Rule(
        "OBJ004",
        "kind of object changed",
        Scope.INTERFACE,
        kind_changed,
        "A view became a table, or the like: it is as fresh as its last load, and takes other rights and writes.",
        "Tell the readers how fresh it is; change the statements that write into it.",
    ),
    Rule(
        "OBJ005",
        "number of writers changed",
        Scope.ROW_SET,
        producers_changed,
        "More or fewer statements fill the object: rows may be there twice, or no longer come.",
        "Make sure that each row has one writer, and that the object is still filled.",
    ),
)
