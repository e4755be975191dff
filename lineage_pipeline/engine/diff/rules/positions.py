"""Columns that stand somewhere else, and values that go somewhere else with them."""

from collections.abc import Iterator, Mapping

from lineage_pipeline.engine.diff.finding import Finding, Rule, at
from lineage_pipeline.engine.diff.pair import Pair, Rewrite
from lineage_pipeline.engine.diff.renames import PROJECTION
from lineage_pipeline.engine.diff.rules.analysis import new_findings, statement_at
from lineage_pipeline.engine.diff.unions import BRANCH
from lineage_pipeline.vocabulary.sets import Origin, Scope, Severity
from lineage_pipeline.vocabulary.tables import Column, ObjectRow

MISMATCHES = frozenset({"SET_OPERATION_MISMATCH", "INSERT_ARITY_MISMATCH"})

POSITIONAL_KINDS = frozenset({"INSERT", "REPLACE", "MERGE"})


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


def branches_mismatched(pair: Pair) -> Iterator[Finding]:
    """Branches or values no longer fit the columns that they go into, by number or by place."""
    for one in new_findings(pair, MISMATCHES):
        row = statement_at(pair.head, one)
        name = row.target if row and row.target else one.object or one.path or ""
        yield Finding("POS003", name, None, Severity.BREAKING, after=one.message, path=one.path, line=one.line)
    for name in pair.common:
        for rewrite in pair.writers[name].rewrites:
            for before, after in exchanged(pair, rewrite):
                texts = ", ".join(before), ", ".join(after)
                yield at(Finding("POS003", name, None, Severity.BREAKING, *texts), pair, rewrite)


def exchanged(pair: Pair, rewrite: Rewrite) -> Iterator[tuple[list[str], list[str]]]:
    """Give the columns that swapped what one branch or one INSERT puts into them, and what they are now."""
    before = {column: text for (name, column), text in rewrite.before.items() if name == PROJECTION}
    after = {column: text for (name, column), text in rewrite.after.items() if name == PROJECTION}
    counts = {len(text.split(BRANCH)) for text in (*before.values(), *after.values())}
    if len(counts) != 1:
        return
    branches = counts.pop()
    inserts = pair.head.kind(rewrite.head.place) in POSITIONAL_KINDS
    for branch in range(0 if inserts else 1, branches):
        old = {column: text.split(BRANCH)[branch] for column, text in before.items() if column in after}
        new = {column: text.split(BRANCH)[branch] for column, text in after.items() if column in before}
        moved = _permuted(old, new)
        if moved:
            yield [old[column] for column in moved], [new[column] for column in moved]


def _permuted(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """List the columns that got each other's values."""
    moved = sorted(column for column in old if old[column] != new[column])
    same = sorted(old[column] for column in moved) == sorted(new[column] for column in moved)
    return moved if same and len(moved) > 1 else []


def misplaced(pair: Pair, rewrite: Rewrite) -> frozenset[str]:
    """Name the columns whose new values are told as ones that went to the wrong place."""
    told = [set(after) for _, after in exchanged(pair, rewrite)]
    texts = {column: text for (name, column), text in rewrite.after.items() if name == PROJECTION}
    return frozenset(
        column for column, text in texts.items() if any(part in one for one in told for part in text.split(BRANCH))
    )


def _orders(pair: Pair) -> Iterator[tuple[str, list[str], list[str]]]:
    """Give the shared columns of each object in both orders, by their names at head."""
    for name in pair.common:
        # Columns that are inferred from use have no order of their own, nor those that a description picks out.
        if any(_is_unordered(side.objects[name]) for side in (pair.base, pair.head)):
            continue
        shared = [new for _, new in pair.columns(name)]
        by_place = sorted(shared, key=lambda column: column.ordinal)
        yield name, [column.name for column in shared], [column.name for column in by_place]


def _is_unordered(row: ObjectRow) -> bool:
    return row.origin is Origin.INFERRED or (row.open and row.origin is Origin.IMPORTED)


def _first_shift(pair: Pair, name: str) -> tuple[Column, Column] | None:
    return next(((old, new) for old, new in pair.columns(name) if old.ordinal != new.ordinal), None)


RULES: tuple[Rule, ...] = (
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
    Rule(
        "POS003",
        "values go into other columns",
        Scope.POSITIONAL,
        branches_mismatched,
        "The branches of a set operation, or the values of an INSERT, no longer fit the columns by number or by place.",
        "Put them into the order of the columns, and list those.",
    ),
)
