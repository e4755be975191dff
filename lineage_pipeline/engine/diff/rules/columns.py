"""Columns that went, came, changed their names or their places."""

from collections.abc import Iterator

from lineage_pipeline.engine.diff.finding import Finding, Rule
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.readers import positional_sinks, star_readers
from lineage_pipeline.vocabulary.sets import Confidence, Origin, Scope, Severity
from lineage_pipeline.vocabulary.tables import Column


def column_removed(pair: Pair) -> Iterator[Finding]:
    """Whoever names a removed column will fail."""
    for name in pair.common:
        for column in _missing(pair, name):
            candidates = pair.renames.candidates.get((name, column.name), ())
            unsure = pair.head.objects[name].open  # a star that cannot be expanded may still bring it
            yield Finding(
                "COL001",
                name,
                column.name,
                Severity.POTENTIALLY_BREAKING if unsure else Severity.BREAKING,
                before=describe(column),
                after=f"candidates: {', '.join(candidates)}" if candidates else None,
                confidence=Confidence.UNKNOWN if unsure else Confidence.CERTAIN,
            )


def column_renamed(pair: Pair) -> Iterator[Finding]:
    """Whoever uses the old name will fail; those who moved on will not."""
    for (name, old), new in sorted(pair.renames.names.columns.items()):
        certain = bool(pair.base.inputs(name, old))
        confidence = Confidence.CERTAIN if certain else Confidence.INFERRED
        yield Finding("COL002", name, old, Severity.BREAKING, before=old, after=new, confidence=confidence)


def column_added(pair: Pair) -> Iterator[Finding]:
    """A new column harms nobody who lists columns, and reaches everybody who does not."""
    for name in pair.common:
        known = {new.name for _, new in pair.columns(name)}
        for column in pair.head.columns.get(name, {}).values():
            if column.name in known:
                continue
            origins = pair.renames.origins.get((name, column.name), ())
            spreads = bool(star_readers(pair, name, column.name) or positional_sinks(pair, name))
            yield Finding(
                "COL004" if spreads else "COL003",
                name,
                column.name,
                Severity.POTENTIALLY_BREAKING if spreads else Severity.NON_BREAKING,
                before=f"candidates: {', '.join(origins)}" if origins else None,
                after=describe(column),
            )


def columns_reordered(pair: Pair) -> Iterator[Finding]:
    """Whoever counts columns gets others, with the same names in another order."""
    for name, before, after in _orders(pair):
        if before != after:
            yield Finding(
                "POS001",
                name,
                None,
                Severity.POTENTIALLY_BREAKING,
                before=", ".join(before),
                after=", ".join(after),
            )


def columns_shifted(pair: Pair) -> Iterator[Finding]:
    """A column that came or went in the middle moves those behind it."""
    for name, before, after in _orders(pair):
        shift = _first_shift(pair, name)
        if before == after and shift:
            old, new = (f"{column.name} at {column.ordinal}" for column in shift)
            yield Finding("POS002", name, None, Severity.POTENTIALLY_BREAKING, before=old, after=new)


def describe(column: Column) -> str:
    """Say in one line what a column is."""
    return " ".join(filter(None, (column.name, column.type, "" if column.nullable else "NOT NULL")))


def _missing(pair: Pair, name: str) -> list[Column]:
    """List the columns that an object lost and did not rename."""
    after, renamed = pair.head.columns.get(name, {}), pair.renames.names.columns
    columns = pair.base.columns.get(name, {}).values()
    return [column for column in columns if column.name not in after and (name, column.name) not in renamed]


def _orders(pair: Pair) -> Iterator[tuple[str, list[str], list[str]]]:
    """Give the shared columns of each object in both orders, by their names at head."""
    for name in pair.common:
        # Columns that are inferred from use have no order of their own.
        if Origin.INFERRED in (pair.base.objects[name].origin, pair.head.objects[name].origin):
            continue
        shared = [new for _, new in pair.columns(name)]
        by_place = sorted(shared, key=lambda column: column.ordinal)
        yield name, [column.name for column in shared], [column.name for column in by_place]


def _first_shift(pair: Pair, name: str) -> tuple[Column, Column] | None:
    return next(((old, new) for old, new in pair.columns(name) if old.ordinal != new.ordinal), None)


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
    Rule(
        "POS001",
        "columns reordered",
        Scope.POSITIONAL,
        columns_reordered,
        "The same columns in another order: whoever goes by position gets others.",
        "Put new columns last, and list the columns where they are inserted.",
    ),
    Rule(
        "POS002",
        "columns shifted",
        Scope.POSITIONAL,
        columns_shifted,
        "A column that came or went in the middle moved those behind it.",
        "Put new columns last, and list the columns where they are inserted.",
    ),
)
