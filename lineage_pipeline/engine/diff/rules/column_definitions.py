"""Types, nullability, defaults and constraints of columns."""

from collections.abc import Iterator, Mapping, Set

import msgspec

from lineage_pipeline.engine.diff.consumers import find_omitting_writers
from lineage_pipeline.engine.diff.equivalence import excludes_null
from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule
from lineage_pipeline.engine.diff.index import PROJECTION_FACET, LineageIndex, StatementBody
from lineage_pipeline.engine.diff.match import LineagePair, replace_names
from lineage_pipeline.engine.diff.rules.struct_fields import compare_fields
from lineage_pipeline.engine.diff.type_comparison import compare_types
from lineage_pipeline.model.enums import Confidence, ObjectKind, Scope, Severity
from lineage_pipeline.model.tables import Column
from lineage_pipeline.model.templating import PLACEHOLDER_PREFIX

UNKNOWN_TYPES = frozenset({None, "", "UNKNOWN", "NULL"})

COLLATIONS = frozenset({"collation"})

GUARANTEE_KINDS = frozenset({"primary key", "unique", "foreign key", "check"})
"""Constraints that readers rely on; a default is none."""


def type_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Readers and writers of a column whose type changed may overflow, truncate or fail."""
    for old, new in _iter_changed_columns(pair):
        if (old.type or "").upper() == (new.type or "").upper() or compare_fields(old, new):
            continue
        known = not (_is_unknown(old.type) or _is_unknown(new.type))
        verdict = (
            compare_types(old.type or "", new.type or "") if known else ("TYP006", _unknown_type_severity(old, new))
        )
        if verdict is None or (_is_unknown(old.type) and _is_unknown(new.type)):
            continue
        confidence = _column_confidence(old, new) if known else Confidence.UNKNOWN
        yield ChangeFinding(
            rule=verdict[0],
            object=new.object,
            column=new.name,
            severity=verdict[1],
            before=old.type,
            after=new.type,
            confidence=confidence,
        )
    yield from _find_collation_changes(pair)


def _is_unknown(text: str | None) -> bool:
    """Say whether a type is not known, or is the name of a variable without a value."""
    return text in UNKNOWN_TYPES or PLACEHOLDER_PREFIX in (text or "").lower()


def _unknown_type_severity(old: Column, new: Column) -> Severity:
    """The severity of an unknown type; one that the head alone tells is only known better now."""
    learnt = _is_unknown(old.type) and not _is_unknown(new.type)
    return Severity.NON_BREAKING if learnt else Severity.POTENTIALLY_BREAKING


def _find_collation_changes(pair: LineagePair) -> Iterator[ChangeFinding]:
    """The same texts compare and sort differently."""
    for name in pair.common:
        before, after = pair.base.supplied_values(name, COLLATIONS), pair.head.supplied_values(name, COLLATIONS)
        for old, new in pair.columns(name) if before != after else ():
            texts = before.get(old.name), after.get(new.name)
            if texts[0] != texts[1]:
                yield ChangeFinding("TYP005", name, new.name, Severity.POTENTIALLY_BREAKING, *texts)


def nullability_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A new NULL surprises readers; a new NOT NULL surprises writers."""
    same = _find_same_values(pair)
    for old, new in map(_with_nulls_of_types, _iter_changed_columns(pair)):
        if old.nullable == new.nullable or is_null_filtered(pair.base, old) and is_null_filtered(pair.head, new):
            continue
        if (new.object, new.name) in same:
            continue
        if new.nullable:
            rule, severity = "NUL001", Severity.POTENTIALLY_BREAKING
        elif _is_stored(pair, new):
            rule, severity = "NUL003", Severity.BREAKING
        else:
            rule, severity = "NUL002", Severity.NON_BREAKING
        texts = ("NOT NULL", "NULL") if new.nullable else ("NULL", "NOT NULL")
        yield ChangeFinding(rule, new.object, new.name, severity, *texts, _column_confidence(old, new))
    for column in _iter_new_columns(pair):
        if not column.nullable and find_omitting_writers(pair.head, column.object, column.name):
            yield ChangeFinding("NUL003", column.object, column.name, Severity.BREAKING, after="NOT NULL")


def _with_nulls_of_types(columns: tuple[Column, Column]) -> tuple[Column, Column]:
    """ClickHouse: where only one type is Nullable(…), the other column has no NULL."""
    old, new = columns
    wraps = [(column.type or "").upper().startswith("NULLABLE(") for column in columns]
    if wraps[0] == wraps[1] or {old.type, new.type} & UNKNOWN_TYPES:
        return columns
    return msgspec.structs.replace(old, nullable=wraps[0]), msgspec.structs.replace(new, nullable=wraps[1])


def _find_same_values(pair: LineagePair) -> set[tuple[str, str]]:
    """The columns whose nullability is told otherwise although the values are proven the same, and those they feed."""
    changed = {(new.object, new.name): old for old, new in _iter_changed_columns(pair) if old.nullable != new.nullable}
    found: set[tuple[str, str]] = set()
    while True:
        more = {
            key for key, old in changed.items() if key not in found and _has_same_values(pair, key, old, changed, found)
        }
        if not more:
            return found
        found |= more


def _has_same_values(
    pair: LineagePair,
    key: tuple[str, str],
    old: Column,
    changed: Mapping[tuple[str, str], Column],
    same: Set[tuple[str, str]],
) -> bool:
    """Say whether no input of a column has other values, and the statement is proven or only passes them on."""
    inputs = {(edge.from_object, edge.from_column) for edge in pair.head.inputs(*key)} & changed.keys()
    kept = key[0] in pair.writers and pair.base.objects[key[0]].kind is pair.head.objects[key[0]].kind
    proven = kept and pair.writers[key[0]].proven  # a table promises less of the same values than a view
    return inputs <= same and (proven or bool(inputs) and pair.is_unedited(key[0]))


def _iter_new_columns(pair: LineagePair) -> Iterator[Column]:
    for name in pair.common:
        if pair.head.columns.get(name, {}).keys() - pair.base.columns.get(name, {}).keys():
            known = {new.name for _, new in pair.columns(name)}
            yield from (one for one in pair.head.columns[name].values() if one.name not in known)


def is_null_filtered(side: LineageIndex, column: Column, seen: tuple[str, ...] = ()) -> bool:
    """Say whether a filter keeps NULL out of a column, here or upstream."""
    bodies = [body for body in side.bodies.get(column.object, ()) if (PROJECTION_FACET, column.name) in body.facets]
    return bool(bodies) and all(_excludes_null(side, body, column, seen) for body in bodies)


def _excludes_null(side: LineageIndex, body: StatementBody, column: Column, seen: tuple[str, ...]) -> bool:
    text = body.facets[PROJECTION_FACET, column.name].text
    told = body.facets.get(("filter", "*"))
    if told is not None and excludes_null(told.text, text):
        return True
    source, _, name = text.rpartition(".")
    above = side.columns.get(source, {}).get(name)
    return above is not None and source not in seen and is_null_filtered(side, above, (*seen, source))


def constraint_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A removed constraint affects readers, a new one writers, a replaced one both."""
    for name in pair.common:
        before, after = _list_guarantees(pair, name, at_base=True), _list_guarantees(pair, name)
        gone, came = sorted(before.items() - after.items()), sorted(after.items() - before.items())
        for old, new in _pair_guarantees(gone, came):
            yield ChangeFinding(
                rule="CON001", object=name, column=None, severity=Severity.POTENTIALLY_BREAKING, before=old, after=new
            )


GuaranteeTexts = list[tuple[str, tuple[str, ...]]]
"""Guarantees as texts, each with its kind and columns."""


def _pair_guarantees(gone: GuaranteeTexts, came: GuaranteeTexts) -> Iterator[tuple[str | None, str | None]]:
    """Pair removed and added guarantees: over the same columns, else the only one of its kind."""
    left = dict(came)
    for text, subject in gone:
        alike = [one for one, other in left.items() if other == subject]
        kinds = [[one for one, (kind, *_) in side if kind == subject[0]] for side in (gone, left.items())]
        alike = alike or (kinds[1] if len(kinds[0]) == len(kinds[1]) == 1 else [])
        new = alike[0] if alike else None
        left.pop(new or "", None)
        yield text, new
    yield from ((None, text) for text in left)


def supply_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A column gets another value, or none, where a writer omits it."""
    for name in pair.common:
        before, after = pair.base.supplied_values(name), pair.head.supplied_values(name)
        for old, new in pair.columns(name) if before != after else ():
            texts = before.get(old.name), after.get(new.name)
            if texts[0] != texts[1]:
                yield ChangeFinding("COL008", name, new.name, Severity.POTENTIALLY_BREAKING, *texts)


def _iter_changed_columns(pair: LineagePair) -> Iterator[tuple[Column, Column]]:
    for name in (*pair.common, *_declared_temporaries(pair)):
        for old, new in pair.columns(name):
            if (old.type, old.nullable) != (new.type, new.nullable):
                yield old, new


def _declared_temporaries(pair: LineagePair) -> list[str]:
    """The temporary tables whose columns both sides declare: stored values are cut to fit."""
    both = pair.base.declared.keys() & pair.head.declared.keys()
    return sorted({name for name, _ in both if pair.base.is_temporary(name) and pair.head.is_temporary(name)})


def _column_confidence(old: Column, new: Column) -> Confidence:
    return Confidence.APPROXIMATE if old.approximate or new.approximate else Confidence.CERTAIN


def _is_stored(pair: LineagePair, column: Column) -> bool:
    """Say whether rows are written to a column, so that it is not only the output of its definition."""
    row = pair.head.objects[column.object]
    if row.kind is not ObjectKind.TABLE:
        return False
    bodies = pair.head.bodies.get(column.object, ())
    made = (body for body in bodies if body.place == (column.path, column.statement))
    return not any((PROJECTION_FACET, column.name) in body.facets for body in made)


def _list_guarantees(pair: LineagePair, name: str, *, at_base: bool = False) -> dict[str, tuple[str, ...]]:
    """The guarantees of an object, without constraint names, each with its kind and columns.

    A guarantee over a removed column does not count: its readers fail by the column.
    """
    left, found = pair.head.columns.get(name, {}), {}
    words = {old: new for (owner, old), new in pair.renames.names.columns.items() if owner == name} if at_base else {}
    for constraint in (pair.base if at_base else pair.head).constraints.get(name, ()):
        kind = constraint.kind.lower().replace("_", " ")
        columns = [words.get(column, column) for column in constraint.columns]
        if kind in GUARANTEE_KINDS and all(column in left for column in columns):
            listed = f"({', '.join(columns)})" if columns else ""
            said = replace_names(constraint.expression or "", pair.renames.names.objects | words if at_base else {})
            found[" ".join(filter(None, (kind, listed, said)))] = (kind, *columns)
    return found


RULES: tuple[Rule, ...] = (
    Rule(
        id="TYP001",
        title="type widened",
        scope=Scope.INTERFACE,
        find=type_changed,
        meaning="The column holds all that it held, and more.",
        remedy="Widen the columns that it is stored in as well.",
    ),
    Rule(
        id="TYP002",
        title="type narrowed",
        scope=Scope.INTERFACE,
        find=type_changed,
        meaning="Values that fitted may overflow or be cut.",
        remedy="Check the values that are there; keep the type or cast with care.",
    ),
    Rule(
        id="TYP003",
        title="type of another family",
        scope=Scope.INTERFACE,
        find=type_changed,
        meaning="Comparisons, functions and clients that expect the old type may fail.",
        remedy="Cast in the readers, or give the value under a new name.",
    ),
    Rule(
        id="TYP004",
        title="precision or scale changed",
        scope=Scope.INTERFACE,
        find=type_changed,
        meaning="Digits before or after the point come or go.",
        remedy="Check the rounding, and the digits that values need.",
    ),
    Rule(
        id="TYP005",
        title="sign, zone, charset or exactness changed",
        scope=Scope.INTERFACE,
        find=type_changed,
        meaning="The same values compare, sort or round in another way.",
        remedy="Check joins and comparisons on the column.",
    ),
    Rule(
        id="TYP006",
        title="type unknown",
        scope=Scope.ANALYSIS,
        find=type_changed,
        meaning="The type could be told on one side only.",
        remedy="Import the schema of its sources.",
    ),
    Rule(
        id="NUL001",
        title="may now be null",
        scope=Scope.INTERFACE,
        find=nullability_changed,
        meaning="Readers that never met a null may now: joins drop it, NOT IN empties, NOT NULL targets refuse it.",
        remedy="Give a default, or handle the null in the readers that are listed.",
    ),
    Rule(
        id="NUL002",
        title="no longer null",
        scope=Scope.INTERFACE,
        find=nullability_changed,
        meaning="A result that could be null no longer is.",
        remedy="Nothing.",
    ),
    Rule(
        id="NUL003",
        title="must no longer be null",
        scope=Scope.INTERFACE,
        find=nullability_changed,
        meaning="Writers that leave the column out, or write null, fail.",
        remedy="Give a default, or change the writers first.",
    ),
    Rule(
        id="CON001",
        title="constraint changed",
        scope=Scope.INTERFACE,
        find=constraint_changed,
        meaning="A key, reference or check that readers counted on is gone, or a new one binds writers.",
        remedy="Check for duplicates and orphans, or for writers that break it.",
    ),
    Rule(
        id="COL008",
        title="default, identity or computation changed",
        scope=Scope.INTERFACE,
        find=supply_changed,
        meaning="A column gets something else, or nothing, where a writer leaves it out; or a writer may no "
        "longer name it.",
        remedy="Check the writers that leave the column out, and those that name it.",
    ),
)
