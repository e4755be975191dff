"""Columns that hold other values than before: their types, whether they may be null, and what is guaranteed."""

from collections.abc import Iterator

from lineage_pipeline.engine.diff.finding import Finding, Rule
from lineage_pipeline.engine.diff.implication import keeps_null_out
from lineage_pipeline.engine.diff.index import Body, Index
from lineage_pipeline.engine.diff.lattice import compare
from lineage_pipeline.engine.diff.names import replace_words
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.readers import omitting
from lineage_pipeline.engine.diff.renames import PROJECTION
from lineage_pipeline.engine.diff.rules.nested import nested
from lineage_pipeline.vocabulary.sets import Confidence, ObjectKind, Scope, Severity
from lineage_pipeline.vocabulary.tables import Column

UNKNOWN_TYPES = frozenset({None, "", "UNKNOWN", "NULL"})

COLLATIONS = frozenset({"collation"})

GUARANTEES = frozenset({"primary key", "unique", "foreign key", "check"})
"""Constraints that readers count on; a default is none."""


def type_changed(pair: Pair) -> Iterator[Finding]:
    """Readers and writers of a column whose type changed may overflow, truncate or fail."""
    for old, new in _changed(pair):
        if (old.type or "").upper() == (new.type or "").upper() or nested(old, new):
            continue
        known = not {old.type, new.type} & UNKNOWN_TYPES
        verdict = compare(old.type or "", new.type or "") if known else ("TYP006", _doubt(pair, old, new))
        if verdict is None or {old.type, new.type} <= UNKNOWN_TYPES:
            continue
        confidence = _confidence(old, new) if known else Confidence.UNKNOWN
        yield Finding(verdict[0], new.object, new.name, verdict[1], old.type, new.type, confidence)
    yield from _collation_changed(pair)


def _doubt(pair: Pair, old: Column, new: Column) -> Severity:
    """Doubt a type that is not known, or was not; where nobody touched the object, it is only known better now."""
    learnt = old.type in UNKNOWN_TYPES and new.type not in UNKNOWN_TYPES and pair.is_unedited(new.object)
    return Severity.NON_BREAKING if learnt else Severity.POTENTIALLY_BREAKING


def _collation_changed(pair: Pair) -> Iterator[Finding]:
    """The same texts compare and sort in another way."""
    for name in pair.common:
        before, after = pair.base.supplied(name, COLLATIONS), pair.head.supplied(name, COLLATIONS)
        for old, new in pair.columns(name) if before != after else ():
            texts = before.get(old.name), after.get(new.name)
            if texts[0] != texts[1]:
                yield Finding("TYP005", name, new.name, Severity.POTENTIALLY_BREAKING, *texts)


def nullability_changed(pair: Pair) -> Iterator[Finding]:
    """Null where there was none surprises readers; no null where there was surprises writers."""
    for old, new in _changed(pair):
        if old.nullable == new.nullable or is_guarded(pair.base, old) and is_guarded(pair.head, new):
            continue
        if new.nullable:
            rule, severity = "NUL001", Severity.POTENTIALLY_BREAKING
        elif _is_written(pair, new):
            rule, severity = "NUL003", Severity.BREAKING
        else:
            rule, severity = "NUL002", Severity.NON_BREAKING
        texts = ("NOT NULL", "NULL") if new.nullable else ("NULL", "NOT NULL")
        yield Finding(rule, new.object, new.name, severity, *texts, _confidence(old, new))
    for column in _new_columns(pair):
        if not column.nullable and omitting(pair.head, column.object, column.name):
            yield Finding("NUL003", column.object, column.name, Severity.BREAKING, after="NOT NULL")


def _new_columns(pair: Pair) -> Iterator[Column]:
    for name in pair.common:
        if pair.head.columns.get(name, {}).keys() - pair.base.columns.get(name, {}).keys():
            known = {new.name for _, new in pair.columns(name)}
            yield from (one for one in pair.head.columns[name].values() if one.name not in known)


def is_guarded(side: Index, column: Column, seen: tuple[str, ...] = ()) -> bool:
    """Say whether no null gets into a column whatever its inputs hold: a filter keeps it out, here or further up."""
    bodies = [body for body in side.bodies.get(column.object, ()) if (PROJECTION, column.name) in body.facets]
    return bool(bodies) and all(_lets_no_null(side, body, column, seen) for body in bodies)


def _lets_no_null(side: Index, body: Body, column: Column, seen: tuple[str, ...]) -> bool:
    text = body.facets[PROJECTION, column.name].text
    told = body.facets.get(("filter", "*"))
    if told is not None and keeps_null_out(told.text, text):
        return True
    source, _, name = text.rpartition(".")
    above = side.columns.get(source, {}).get(name)
    return above is not None and source not in seen and is_guarded(side, above, (*seen, source))


def constraint_changed(pair: Pair) -> Iterator[Finding]:
    """A guarantee that goes is lost for readers; one that comes binds writers; another one in its place does both."""
    for name in pair.common:
        before, after = _guarantees(pair, name, at_base=True), _guarantees(pair, name)
        gone, came = sorted(before.items() - after.items()), sorted(after.items() - before.items())
        for old, new in _replaced(gone, came):
            yield Finding("CON001", name, None, Severity.POTENTIALLY_BREAKING, old, new)


Said = list[tuple[str, tuple[str, ...]]]
"""Guarantees as they are told, each with its kind and columns."""


def _replaced(gone: Said, came: Said) -> Iterator[tuple[str | None, str | None]]:
    """Pair what went with what came: over the same columns, else the only one of its kind."""
    left = dict(came)
    for text, subject in gone:
        alike = [one for one, other in left.items() if other == subject]
        kinds = [[one for one, (kind, *_) in side if kind == subject[0]] for side in (gone, left.items())]
        alike = alike or (kinds[1] if len(kinds[0]) == len(kinds[1]) == 1 else [])
        new = alike[0] if alike else None
        left.pop(new or "", None)
        yield text, new
    yield from ((None, text) for text in left)


def supply_changed(pair: Pair) -> Iterator[Finding]:
    """A column gets another value, or none, where a writer leaves it out."""
    for name in pair.common:
        before, after = pair.base.supplied(name), pair.head.supplied(name)
        for old, new in pair.columns(name) if before != after else ():
            texts = before.get(old.name), after.get(new.name)
            if texts[0] != texts[1]:
                yield Finding("COL008", name, new.name, Severity.POTENTIALLY_BREAKING, *texts)


def _changed(pair: Pair) -> Iterator[tuple[Column, Column]]:
    for name in (*pair.common, *_declared_in_passing(pair)):
        for old, new in pair.columns(name):
            if (old.type, old.nullable) != (new.type, new.nullable):
                yield old, new


def _declared_in_passing(pair: Pair) -> list[str]:
    """List the temporary objects whose columns both sides declare: what is put there is cut to fit."""
    both = pair.base.declared.keys() & pair.head.declared.keys()
    return sorted({name for name, _ in both if pair.base.is_temporary(name) and pair.head.is_temporary(name)})


def _confidence(old: Column, new: Column) -> Confidence:
    return Confidence.APPROXIMATE if old.approximate or new.approximate else Confidence.CERTAIN


def _is_written(pair: Pair, column: Column) -> bool:
    """Say whether rows are put into a column, so that it is not only the output of its own definition."""
    row = pair.head.objects[column.object]
    if row.kind is not ObjectKind.TABLE:
        return False
    bodies = pair.head.bodies.get(column.object, ())
    made = (body for body in bodies if body.place == (column.path, column.statement))
    return not any((PROJECTION, column.name) in body.facets for body in made)


def _guarantees(pair: Pair, name: str, *, at_base: bool = False) -> dict[str, tuple[str, ...]]:
    """Say what the constraints of an object guarantee, whatever they are called, each with its kind and columns.

    One over a column that is gone binds and helps nobody any more: who counted on it fails by the column.
    """
    left, found = pair.head.columns.get(name, {}), {}
    words = {old: new for (owner, old), new in pair.renames.names.columns.items() if owner == name} if at_base else {}
    for constraint in (pair.base if at_base else pair.head).constraints.get(name, ()):
        kind = constraint.kind.lower().replace("_", " ")
        columns = [words.get(column, column) for column in constraint.columns]
        if kind in GUARANTEES and all(column in left for column in columns):
            listed = f"({', '.join(columns)})" if columns else ""
            said = replace_words(constraint.expression or "", pair.renames.names.objects | words if at_base else {})
            found[" ".join(filter(None, (kind, listed, said)))] = (kind, *columns)
    return found


RULES: tuple[Rule, ...] = (
    Rule(
        "TYP001",
        "type widened",
        Scope.INTERFACE,
        type_changed,
        "The column holds all that it held, and more.",
        "Widen the columns that it is stored in as well.",
    ),
    Rule(
        "TYP002",
        "type narrowed",
        Scope.INTERFACE,
        type_changed,
        "Values that fitted may overflow or be cut.",
        "Check the values that are there; keep the type or cast with care.",
    ),
    Rule(
        "TYP003",
        "type of another family",
        Scope.INTERFACE,
        type_changed,
        "Comparisons, functions and clients that expect the old type may fail.",
        "Cast in the readers, or give the value under a new name.",
    ),
    Rule(
        "TYP004",
        "precision or scale changed",
        Scope.INTERFACE,
        type_changed,
        "Digits before or after the point come or go.",
        "Check the rounding, and the digits that values need.",
    ),
    Rule(
        "TYP005",
        "sign, zone, charset or exactness changed",
        Scope.INTERFACE,
        type_changed,
        "The same values compare, sort or round in another way.",
        "Check joins and comparisons on the column.",
    ),
    Rule(
        "TYP006",
        "type unknown",
        Scope.ANALYSIS,
        type_changed,
        "The type could be told on one side only.",
        "Import the schema of its sources.",
    ),
    Rule(
        "NUL001",
        "may now be null",
        Scope.INTERFACE,
        nullability_changed,
        "Readers that never met a null may now: joins drop it, NOT IN empties, NOT NULL targets refuse it.",
        "Give a default, or handle the null in the readers that are listed.",
    ),
    Rule(
        "NUL002",
        "no longer null",
        Scope.INTERFACE,
        nullability_changed,
        "A result that could be null no longer is.",
        "Nothing.",
    ),
    Rule(
        "NUL003",
        "must no longer be null",
        Scope.INTERFACE,
        nullability_changed,
        "Writers that leave the column out, or write null, fail.",
        "Give a default, or change the writers first.",
    ),
    Rule(
        "CON001",
        "constraint changed",
        Scope.INTERFACE,
        constraint_changed,
        "A key, reference or check that readers counted on is gone, or a new one binds writers.",
        "Check for duplicates and orphans, or for writers that break it.",
    ),
    Rule(
        "COL008",
        "default, identity or computation changed",
        Scope.INTERFACE,
        supply_changed,
        "A column gets something else, or nothing, where a writer leaves it out; or a writer may no longer name it.",
        "Check the writers that leave the column out, and those that name it.",
    ),
)
