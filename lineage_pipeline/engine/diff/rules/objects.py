"""Objects that were removed, renamed, added, or are made in another way."""

from collections.abc import Iterator

from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule, at_body, at_edit
from lineage_pipeline.engine.diff.index import CONDITION_KIND, DEFINED, DELETE_KINDS, LineageIndex, is_filled_in
from lineage_pipeline.engine.diff.match import LineagePair
from lineage_pipeline.engine.diff.rules.analyzability import find_lost_objects, find_newly_read
from lineage_pipeline.engine.diff.rules.relocation import find_relocations, find_retargeted_writes
from lineage_pipeline.engine.diff.rules.write_mode import find_load
from lineage_pipeline.model.enums import Confidence, ObjectKind, Scope, Severity

CHANGING_KINDS = DELETE_KINDS | {"UPDATE"}
"""Kinds of statements that need rows to be there."""

KINDS_UNKNOWN = frozenset({ObjectKind.UNKNOWN, ObjectKind.EXTERNAL, ObjectKind.QUERY})

NON_FILLING_KINDS = DELETE_KINDS | {CONDITION_KIND}

VIEWS = frozenset({ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW})


def object_removed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Readers of a removed object fail; one that is only unreadable is reported as such."""
    lost = {name for name, _ in find_lost_objects(pair)} | find_relocations(pair).keys()
    for name in pair.removed:
        if name not in pair.renames.names.objects and name not in lost and not _is_only_changed(pair.base, name):
            kind = pair.base.objects[name].kind
            if kind is ObjectKind.QUERY and not pair.base.sources(name):
                continue  # constants that somebody looked at
            yield ChangeFinding("OBJ001", name, None, _severity_of_loss(kind), before=kind.value)


def _is_only_changed(side: LineageIndex, name: str) -> bool:
    """Say whether statements only update and delete rows of an object, which something else makes and fills."""
    bodies = side.bodies.get(name, ())
    changed = bool(bodies) and all(body.kind in CHANGING_KINDS for body in bodies)
    return changed and side.definition_level(name) != DEFINED


def _severity_of_loss(kind: ObjectKind) -> Severity:
    """No statement can name a query, or what a client names: whoever runs its file may miss it."""
    unnamed = kind in (ObjectKind.QUERY, ObjectKind.TEMP_TABLE)
    return Severity.POTENTIALLY_BREAKING if unnamed else Severity.BREAKING


def object_renamed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """An object with the same columns and the same body has another name."""
    for old, new in sorted(pair.renames.names.objects.items()):
        if is_filled_in(pair.base.objects[old]) and is_filled_in(pair.head.objects[new]):
            continue  # its file moved
        sure = bool(pair.base.bodies.get(old)) or old.rpartition(".")[2] == new.rpartition(".")[2]
        confidence = Confidence.CERTAIN if sure else Confidence.INFERRED
        severity = _severity_of_loss(pair.base.objects[old].kind)
        yield ChangeFinding("OBJ002", old, None, severity, before=old, after=new, confidence=confidence)
    for old, new in sorted(pair.covered.items()):
        severity = Severity.BREAKING if pair.head.writers.get(old) else Severity.NON_BREAKING
        yield ChangeFinding("OBJ002", old, None, severity, before=old, after=f"{new}, and a view of the old name")


def object_added(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A new object is harmless, unless an unedited statement now reads it instead of another."""
    moved = {*pair.renames.names.objects.values(), *(one.to for one in find_relocations(pair).values())}
    learned = find_newly_read(pair)
    for name in pair.added:
        row = pair.head.objects[name]
        if name in moved or row.path in learned or row.kind is ObjectKind.QUERY:  # nothing reads a query
            continue
        shadowed = _find_shadowed(pair, name)
        severity = Severity.POTENTIALLY_BREAKING if shadowed else Severity.NON_BREAKING
        yield ChangeFinding("OBJ003", name, None, severity, before=shadowed, after=row.kind.value)


def _find_shadowed(pair: LineagePair, name: str) -> str | None:
    """An object of the same last name that unedited readers read before."""
    last = pair.head.objects[name].name
    readers = (pair.head.fingerprint(place) for _, place in pair.head.readers.get(name, ()))
    places = [pair.unchanged[reader][0] for reader in readers if reader in pair.unchanged]
    reads = {read for place in places for read in pair.base.reads(place)} - {name}
    return next((read for read in sorted(reads) if read in pair.common and pair.base.objects[read].name == last), None)


def kind_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A view that becomes a table is as fresh as its last load; a table that becomes a view takes no writes."""
    for name in pair.common:
        before, after = pair.base.objects[name].kind, pair.head.objects[name].kind
        if before is after or {before, after} & KINDS_UNKNOWN:
            continue
        refuses = after in VIEWS and bool(pair.head.writers.get(name))
        severity = Severity.BREAKING if refuses else Severity.POTENTIALLY_BREAKING
        yield ChangeFinding("OBJ004", name, None, severity, before=before.value, after=after.value)


def producers_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Two statements may fill an object twice; none leaves it stale."""
    retargeted = {one.name for one in find_retargeted_writes(pair)} | {one.to for one in find_retargeted_writes(pair)}
    for name in pair.removed:
        if _is_only_changed(pair.base, name):
            found = ChangeFinding("OBJ005", name, None, Severity.POTENTIALLY_BREAKING, "1 writer", "0 writers")
            yield at_body(found, pair.base, pair.base.bodies[name][-1])
    for name in pair.common:
        writers = pair.writers[name]
        before, after = (_count_writers(side, name) for side in (pair.base, pair.head))
        if before == after or not (writers.gone or writers.new) or name in retargeted:
            continue
        if max(before, after) > 1 or after == 0:
            texts = [f"{count} writer{'s' * (count != 1)}" for count in (before, after)]
            found = ChangeFinding("OBJ005", name, None, Severity.POTENTIALLY_BREAKING, before=texts[0], after=texts[1])
            side, bodies = (pair.head, writers.new) if writers.new else (pair.base, writers.gone)
            yield at_body(found, side, bodies[-1])


def _count_writers(side: LineageIndex, name: str) -> int:
    """How many statements fill an object; a model that keeps its rows is one, for the first run and for the next."""
    filling = [body for body in side.bodies.get(name, ()) if body.kind not in NON_FILLING_KINDS]
    return len({body.place[0] for body in filling}) if find_load(side, name) else len(filling)


def query_refactored(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A query that is written in another way and proven to give the same rows."""
    for name in pair.common:
        for edit in pair.writers[name].refactored:
            yield at_edit(ChangeFinding("OBJ009", name, None, Severity.NON_BREAKING, after=SAME_MEANING), pair, edit)


SAME_MEANING = "refactored, same meaning (proven)"


RULES: tuple[Rule, ...] = (
    Rule(
        id="OBJ001",
        title="object removed",
        scope=Scope.INTERFACE,
        find=object_removed,
        meaning="The object is no longer defined. Whoever still names it fails.",
        remedy="Change its readers first, or keep a view under its name.",
    ),
    Rule(
        id="OBJ002",
        title="object renamed or moved",
        scope=Scope.INTERFACE,
        find=object_renamed,
        meaning="The same columns and the same body stand under another name.",
        remedy="Keep a view or synonym under the old name until every reader has moved.",
    ),
    Rule(
        id="OBJ003",
        title="object added",
        scope=Scope.INTERFACE,
        find=object_added,
        meaning="A new object. It matters only where it hides another one from statements that nobody touched.",
        remedy="Qualify the readers that now find another object than before.",
    ),
    Rule(
        id="OBJ004",
        title="kind of object changed",
        scope=Scope.INTERFACE,
        find=kind_changed,
        meaning="A view became a table, or the like: it is as fresh as its last load, and takes other rights "
        "and writes.",
        remedy="Tell the readers how fresh it is; change the statements that write into it.",
    ),
    Rule(
        id="OBJ005",
        title="number of writers changed",
        scope=Scope.ROW_SET,
        find=producers_changed,
        meaning="More or fewer statements fill the object: rows may be there twice, or no longer come.",
        remedy="Make sure that each row has one writer, and that the object is still filled.",
    ),
    Rule(
        id="OBJ009",
        title="refactored, same meaning",
        scope=Scope.INTERFACE,
        find=query_refactored,
        meaning="The query is written in another way, or a part of it moved into an object of its own or back, and its "
        "normal form is the same: it gives the same rows, whatever the tables hold.",
        remedy="Nothing.",
    ),
)
