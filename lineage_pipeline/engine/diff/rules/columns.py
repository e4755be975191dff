"""Columns that went, came, changed their names or their places."""

import re
from collections.abc import Iterator

from lineage_pipeline.engine.diff.finding import Finding, Rule
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.readers import natural_readers, positional_sinks, star_readers
from lineage_pipeline.vocabulary.sets import Confidence, Origin, Scope, Severity
from lineage_pipeline.vocabulary.tables import Column


def column_removed(pair: Pair) -> Iterator[Finding]:
    """Whoever names a removed column will fail."""
    for name in pair.common:
        for column in _missing(pair, name):
            candidates = pair.renames.candidates.get((name, column.name), ())
            confidence = _certainty(pair, column)
            unsure = confidence is Confidence.UNKNOWN
            yield Finding(
                "COL001",
                name,
                column.name,
                Severity.POTENTIALLY_BREAKING if unsure else Severity.BREAKING,
                before=describe(column),
                after=f"candidates: {', '.join(candidates)}" if candidates else None,
                confidence=confidence,
            )


def _certainty(pair: Pair, column: Column) -> Confidence:
    """Say how sure it is that a column is gone: a star that cannot be expanded may still bring it."""
    row = pair.head.objects[column.object]
    if not row.open:
        return Confidence.CERTAIN
    listed = row.origin is Origin.IMPORTED and column.origin is Origin.IMPORTED
    return Confidence.INFERRED if listed else Confidence.UNKNOWN


def column_renamed(pair: Pair) -> Iterator[Finding]:
    """Whoever uses the old name will fail; those who moved on will not."""
    for (name, old), new in sorted(pair.renames.names.columns.items()):
        if old.casefold() == new.casefold():
            continue
        certain = bool(pair.base.inputs(name, old)) or is_said(pair, name, old, new)
        confidence = Confidence.CERTAIN if certain else Confidence.INFERRED
        yield Finding("COL002", name, old, Severity.BREAKING, before=old, after=new, confidence=confidence)


def is_said(pair: Pair, name: str, old: str, new: str) -> bool:
    """Say whether a new statement that alters the object names a column before and after."""
    places = [place for place in pair.head.changers.get(name, ()) if not pair.is_kept(place)]
    words = {place: set(_WORDS.findall(pair.head.statements[place].preview.casefold())) for place in places}
    return any({old.casefold(), new.casefold()} <= found for found in words.values())


_WORDS = re.compile(r"\w+")


def column_added(pair: Pair) -> Iterator[Finding]:
    """A new column harms nobody who lists columns, and reaches everybody who does not."""
    for name in pair.common:
        known = {new.name for _, new in pair.columns(name)}
        for column in pair.head.columns.get(name, {}).values():
            if column.name in known:
                continue
            origins = pair.renames.origins.get((name, column.name), ())
            spreads = bool(
                star_readers(pair, name, column.name)
                or positional_sinks(pair, name)
                or natural_readers(pair, name, column.name)
            )
            yield Finding(
                "COL004" if spreads else "COL003",
                name,
                column.name,
                Severity.POTENTIALLY_BREAKING if spreads else Severity.NON_BREAKING,
                before=f"candidates: {', '.join(origins)}" if origins else None,
                after=describe(column),
            )


def describe(column: Column) -> str:
    """Say in one line what a column is."""
    return " ".join(filter(None, (column.name, column.type, "" if column.nullable else "NOT NULL")))


def _missing(pair: Pair, name: str) -> list[Column]:
    """List the columns that an object lost and did not rename."""
    after, renamed = pair.head.columns.get(name, {}), pair.renames.names.columns
    columns = pair.base.columns.get(name, {}).values()
    return [column for column in columns if column.name not in after and (name, column.name) not in renamed]


RULES: tuple[Rule, ...] = (
    Rule(
        "COL001",
        "column removed",
        Scope.INTERFACE,
        column_removed,
        "The column is gone. Whoever still names it fails; nobody else does.",
        "Change the readers that are listed, or keep the column until they are.",
    ),
    Rule(
        "COL002",
        "column renamed",
        Scope.INTERFACE,
        column_renamed,
        "The same expression, or the same inputs, stand under another name.",
        "Change the readers that are listed, or give the column under both names for a while.",
    ),
    Rule(
        "COL003",
        "column added",
        Scope.INTERFACE,
        column_added,
        "A new column that only those get who ask for it.",
        "Nothing.",
    ),
    Rule(
        "COL004",
        "column added and passed on",
        Scope.POSITIONAL,
        column_added,
        "A new column reaches readers that take a star, or statements that count columns.",
        "List the columns where the star or the INSERT without a list stands.",
    ),
)
