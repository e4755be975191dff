"""Columns that were removed, renamed or added."""

import re
from collections.abc import Iterator

from lineage_pipeline.engine.diff.consumers import find_natural_joins, find_positional_sinks, find_star_readers
from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule, at_edit
from lineage_pipeline.engine.diff.index import PROJECTION_FACET, LineageIndex
from lineage_pipeline.engine.diff.match import LineagePair, StatementEdit
from lineage_pipeline.engine.diff.rules.analyzability import find_newly_read
from lineage_pipeline.engine.diff.rules.write_mode import find_load
from lineage_pipeline.model.enums import Confidence, ObjectKind, Origin, Scope, Severity
from lineage_pipeline.model.tables import Column


def column_removed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Readers that name a removed column fail."""
    for name in pair.common:
        for column in _removed_columns(pair, name):
            candidates = pair.renames.candidates.get((name, column.name), ())
            confidence = _removal_confidence(pair, column)
            unsure = confidence is Confidence.UNKNOWN
            yield ChangeFinding(
                "COL001",
                name,
                column.name,
                Severity.POTENTIALLY_BREAKING if unsure else Severity.BREAKING,
                before=describe_column(column),
                after=f"candidates: {', '.join(candidates)}" if candidates else None,
                confidence=confidence,
            )
        yield from _find_unlisted_changes(pair, name, gone=True)


def list_unlisted(pair: LineagePair, rewrite: StatementEdit) -> tuple[list[str], list[str], list[str]]:
    """The columns that an edited result set of a procedure lost, gained and kept, where no list has them.

    Only so many result sets of a procedure are listed, and a copy of it elsewhere in the repository has as many.
    """
    if pair.head.objects[rewrite.object].kind is not ObjectKind.PROCEDURE:
        return [], [], []
    listed = {*pair.base.columns.get(rewrite.object, {}), *pair.head.columns.get(rewrite.object, {})}
    before, after = (
        {column for name, column in texts if name == PROJECTION_FACET and column not in listed}
        for texts in (rewrite.before, rewrite.after)
    )
    return sorted(before - after), sorted(after - before), sorted(before & after)


def _find_unlisted_changes(pair: LineagePair, name: str, *, gone: bool) -> Iterator[ChangeFinding]:
    rule, severity = ("COL001", Severity.BREAKING) if gone else ("COL003", Severity.NON_BREAKING)
    for rewrite in pair.writers[name].rewrites:
        lost, gained, _ = list_unlisted(pair, rewrite)
        for column in lost if gone else gained:
            before, after = (column, None) if gone else (None, column)
            found = ChangeFinding(rule, name, column, severity, before, after, Confidence.INFERRED)
            yield at_edit(found, pair, rewrite)


def _removal_confidence(pair: LineagePair, column: Column) -> Confidence:
    """The confidence that a column is gone: an unexpanded star may still provide it."""
    row = pair.head.objects[column.object]
    if not row.open:
        return Confidence.CERTAIN
    listed = row.origin is Origin.IMPORTED and column.origin is Origin.IMPORTED
    return Confidence.INFERRED if listed else Confidence.UNKNOWN


def column_renamed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Readers of the old name fail; those that were adapted do not."""
    for (name, old), new in sorted(pair.renames.names.columns.items()):
        if old.casefold() == new.casefold():
            continue
        certain = bool(pair.base.inputs(name, old)) or is_stated_rename(pair, name, old, new)
        confidence = Confidence.CERTAIN if certain else Confidence.INFERRED
        yield ChangeFinding("COL002", name, old, Severity.BREAKING, before=old, after=new, confidence=confidence)


def is_stated_rename(pair: LineagePair, name: str, old: str, new: str) -> bool:
    """Say whether a new ALTER statement names both the old and the new column."""
    places = [place for place in pair.head.changers.get(name, ()) if not pair.is_unchanged(place)]
    words = {place: set(_WORDS.findall(pair.head.statements[place].preview.casefold())) for place in places}
    return any({old.casefold(), new.casefold()} <= found for found in words.values())


_WORDS = re.compile(r"\w+")


def column_added(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A new column is harmless for column lists, and reaches everything that has a star."""
    learned = find_newly_read(pair)
    for name in pair.common:
        if pair.head.objects[name].path in learned and _has_only_inferred_columns(pair.base, name):
            continue  # its definition could not be read before
        known = {new.name for _, new in pair.columns(name)}
        for column in pair.head.columns.get(name, {}).values():
            if column.name in known or _is_only_implied(pair.head, column):
                continue
            origins = pair.renames.origins.get((name, column.name), ())
            # A description in part says what is worth saying: whoever takes every column had this one, too.
            described = pair.is_described_in_part(name)
            spreads = not described and bool(
                find_star_readers(pair, name, column.name)
                or find_positional_sinks(pair, name)
                or find_natural_joins(pair, name, column.name)
            )
            yield ChangeFinding(
                "COL004" if spreads else "COL003",
                name,
                column.name,
                Severity.POTENTIALLY_BREAKING if spreads else Severity.NON_BREAKING,
                before=f"candidates: {', '.join(origins)}" if origins else None,
                after=describe_column(column) + _describe_wait(pair, name),
                confidence=Confidence.INFERRED if described else Confidence.CERTAIN,
            )
        yield from _find_unlisted_changes(pair, name, gone=False)


def _has_only_inferred_columns(side: LineageIndex, name: str) -> bool:
    """Say whether only its readers say which columns an object has."""
    return all(column.origin is Origin.INFERRED for column in side.columns.get(name, {}).values())


def _describe_wait(pair: LineagePair, name: str) -> str:
    """What delays a column of a table that keeps its rows and its columns until it is built anew."""
    waits = all("on_schema_change: ignore" in find_load(side, name) for side in (pair.base, pair.head))
    return ", not in the table until a full refresh" if waits else ""


def describe_column(column: Column) -> str:
    """A column in one line."""
    return " ".join(filter(None, (column.name, column.type, "" if column.nullable else "NOT NULL")))


def _removed_columns(pair: LineagePair, name: str) -> list[Column]:
    """The columns that an object lost and did not rename."""
    after, renamed = pair.head.columns.get(name, {}), pair.renames.names.columns
    columns = [one for one in pair.base.columns.get(name, {}).values() if not _is_only_implied(pair.base, one)]
    return [column for column in columns if column.name not in after and (name, column.name) not in renamed]


def _is_only_implied(side: LineageIndex, column: Column) -> bool:
    """Say whether a star that nobody can expand may give a column, and only its readers say so: no interface."""
    row = side.objects.get(column.object)
    return column.origin is Origin.INFERRED and row is not None and row.open


RULES: tuple[Rule, ...] = (
    Rule(
        id="COL001",
        title="column removed",
        scope=Scope.INTERFACE,
        find=column_removed,
        meaning="The column is gone. Whoever still names it fails; nobody else does.",
        remedy="Change the readers that are listed, or keep the column until they are.",
    ),
    Rule(
        id="COL002",
        title="column renamed",
        scope=Scope.INTERFACE,
        find=column_renamed,
        meaning="The same expression, or the same inputs, stand under another name.",
        remedy="Change the readers that are listed, or give the column under both names for a while.",
    ),
    Rule(
        id="COL003",
        title="column added",
        scope=Scope.INTERFACE,
        find=column_added,
        meaning="A new column that only those get who ask for it.",
        remedy="Nothing.",
    ),
    Rule(
        id="COL004",
        title="column added and passed on",
        scope=Scope.POSITIONAL,
        find=column_added,
        meaning="A new column reaches readers that take a star, or statements that count columns.",
        remedy="List the columns where the star or the INSERT without a list stands.",
    ),
)
