"""Column order: columns that moved, and values that go into other columns by position."""

from collections.abc import Iterator, Mapping

from lineage_pipeline.engine.diff.equivalence import BRANCH_SEPARATOR
from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule, at_edit
from lineage_pipeline.engine.diff.index import PROJECTION_FACET
from lineage_pipeline.engine.diff.match import LineagePair, StatementEdit
from lineage_pipeline.engine.diff.rules.analyzability import find_new_diagnostics, find_statement_at
from lineage_pipeline.model.enums import Origin, Scope, Severity
from lineage_pipeline.model.tables import Column, ObjectRow

MISMATCHES = frozenset({"SET_OPERATION_MISMATCH", "INSERT_ARITY_MISMATCH"})

POSITIONAL_KINDS = frozenset({"INSERT", "REPLACE", "MERGE"})


def columns_reordered(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Positional readers get other columns: the same names in another order."""
    for name, before, after in _iter_orders(pair):
        if before != after:
            yield ChangeFinding(
                "POS001",
                name,
                None,
                Severity.POTENTIALLY_BREAKING,
                before=", ".join(before),
                after=", ".join(after),
            )


def columns_shifted(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A column added or removed in the middle moves those behind it."""
    for name, before, after in _iter_orders(pair):
        shift = _first_shift(pair, name)
        if before == after and shift:
            old, new = (f"{column.name} at {column.ordinal}" for column in shift)
            yield ChangeFinding("POS002", name, None, Severity.POTENTIALLY_BREAKING, before=old, after=new)


def branches_mismatched(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Branches or values no longer fit their columns, by number or by position."""
    for one in find_new_diagnostics(pair, MISMATCHES):
        row = find_statement_at(pair.head, one)
        name = row.target if row and row.target else one.object or one.path or ""
        yield ChangeFinding("POS003", name, None, Severity.BREAKING, after=one.message, path=one.path, line=one.line)
    for name in pair.common:
        for rewrite in pair.writers[name].rewrites:
            for before, after in find_exchanged_columns(pair, rewrite):
                texts = ", ".join(before), ", ".join(after)
                yield at_edit(ChangeFinding("POS003", name, None, Severity.BREAKING, *texts), pair, rewrite)


def find_exchanged_columns(pair: LineagePair, rewrite: StatementEdit) -> Iterator[tuple[list[str], list[str]]]:
    """The columns that swapped values in one branch or one INSERT, before and after."""
    before = {column: text for (name, column), text in rewrite.before.items() if name == PROJECTION_FACET}
    after = {column: text for (name, column), text in rewrite.after.items() if name == PROJECTION_FACET}
    counts = {len(text.split(BRANCH_SEPARATOR)) for text in (*before.values(), *after.values())}
    if len(counts) != 1:
        return
    branches = counts.pop()
    inserts = pair.head.kind(rewrite.head.place) in POSITIONAL_KINDS
    for branch in range(0 if inserts else 1, branches):
        old = {column: text.split(BRANCH_SEPARATOR)[branch] for column, text in before.items() if column in after}
        new = {column: text.split(BRANCH_SEPARATOR)[branch] for column, text in after.items() if column in before}
        moved = _find_permuted(old, new)
        if moved:
            yield [old[column] for column in moved], [new[column] for column in moved]


def _find_permuted(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """The columns that got each other's values."""
    moved = sorted(column for column in old if old[column] != new[column])
    same = sorted(old[column] for column in moved) == sorted(new[column] for column in moved)
    return moved if same and len(moved) > 1 else []


def find_misplaced_columns(pair: LineagePair, rewrite: StatementEdit) -> frozenset[str]:
    """The columns whose new values are reported as misplaced."""
    exchanged = [set(after) for _, after in find_exchanged_columns(pair, rewrite)]
    texts = {column: text for (name, column), text in rewrite.after.items() if name == PROJECTION_FACET}
    return frozenset(
        column
        for column, text in texts.items()
        if any(part in one for one in exchanged for part in text.split(BRANCH_SEPARATOR))
    )


def _iter_orders(pair: LineagePair) -> Iterator[tuple[str, list[str], list[str]]]:
    """The shared columns of each object in both orders, by their names at head."""
    for name in pair.common:
        # Columns that are inferred from use have no order of their own, nor those that a description picks out.
        if any(_is_unordered(side.objects[name]) for side in (pair.base, pair.head)):
            continue
        shared = [new for _, new in pair.columns(name)]
        by_place = sorted(shared, key=lambda column: column.ordinal)
        yield name, [column.name for column in shared], [column.name for column in by_place]


def _is_unordered(row: ObjectRow) -> bool:
    return row.origin is Origin.INFERRED or (row.open and row.origin is Origin.IMPORTED)


def _first_shift(pair: LineagePair, name: str) -> tuple[Column, Column] | None:
    return next(((old, new) for old, new in pair.columns(name) if old.ordinal != new.ordinal), None)


RULES: tuple[Rule, ...] = (
    Rule(
        id="POS001",
        title="columns reordered",
        scope=Scope.POSITIONAL,
        find=columns_reordered,
        meaning="The same columns in another order: whoever goes by position gets others.",
        remedy="Put new columns last, and list the columns where they are inserted.",
    ),
    Rule(
        id="POS002",
        title="columns shifted",
        scope=Scope.POSITIONAL,
        find=columns_shifted,
        meaning="A column that came or went in the middle moved those behind it.",
        remedy="Put new columns last, and list the columns where they are inserted.",
    ),
    Rule(
        id="POS003",
        title="values go into other columns",
        scope=Scope.POSITIONAL,
        find=branches_mismatched,
        meaning="The branches of a set operation, or the values of an INSERT, no longer fit the columns by "
        "number or by place.",
        remedy="Put them into the order of the columns, and list those.",
    ),
)
