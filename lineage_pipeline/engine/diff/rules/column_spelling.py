"""Column names that became ambiguous, or are spelled differently."""

from collections.abc import Iterator

from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule
from lineage_pipeline.engine.diff.match import LineagePair
from lineage_pipeline.engine.diff.rules.analyzability import (
    AMBIGUOUS,
    find_new_diagnostics,
    find_new_owners,
    find_statement_at,
    parse_ambiguous_column,
)
from lineage_pipeline.model.enums import Scope, Severity


def became_ambiguous(pair: LineagePair) -> Iterator[ChangeFinding]:
    """An unedited statement names a column that two of its sources have now."""
    for one in find_new_diagnostics(pair, frozenset({AMBIGUOUS})):
        row, column = find_statement_at(pair.head, one), parse_ambiguous_column(one)
        owners = find_new_owners(pair, one)
        if row is not None and owners:
            yield ChangeFinding(
                "COL005",
                row.target or row.path,
                None,
                Severity.BREAKING,
                before=column,
                after=f"{column} of {' or '.join(owners)}",
                path=one.path,
                line=one.line,
            )


def spelling_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """The same name in another letter case: the engine may ignore it, clients may not."""
    renamed = pair.renames.names.columns
    for name in pair.common:
        for old, new in pair.columns(name):
            strict = (name, old.name) in renamed
            if old.written == new.written or old.name.casefold() != new.name.casefold():
                continue
            if old.origin is not new.origin and not strict:
                continue  # a description spells as it likes
            severity = Severity.BREAKING if strict else Severity.POTENTIALLY_BREAKING
            yield ChangeFinding("COL006", name, old.name, severity, before=old.written, after=new.written)


RULES: tuple[Rule, ...] = (
    Rule(
        id="COL005",
        title="name became ambiguous",
        scope=Scope.INTERFACE,
        find=became_ambiguous,
        meaning="A column was added, and a name without a qualifier now fits two sources: the statement fails.",
        remedy="Qualify the name in the statement that is listed, first.",
    ),
    Rule(
        id="COL006",
        title="name written in other letters",
        scope=Scope.INTERFACE,
        find=spelling_changed,
        meaning="Letter case or quotes of a name changed. Where letters count it is another name; clients may "
        "go by them.",
        remedy="Keep the spelling, or change whoever goes by it.",
    ),
)
