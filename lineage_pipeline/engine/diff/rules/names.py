"""Names that are written in another way, or that no longer say whose column they mean."""

from collections.abc import Iterator

from lineage_pipeline.engine.diff.finding import Finding, Rule
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.rules.analysis import (
    AMBIGUOUS,
    ambiguous_column,
    new_findings,
    owners_now,
    statement_at,
)
from lineage_pipeline.vocabulary.sets import Scope, Severity


def became_ambiguous(pair: Pair) -> Iterator[Finding]:
    """A statement that nobody touched names a column that two of its sources have now."""
    for one in new_findings(pair, frozenset({AMBIGUOUS})):
        row, column = statement_at(pair.head, one), ambiguous_column(one)
        owners = owners_now(pair, one)
        if row is not None and owners:
            yield Finding(
                "COL005",
                row.target or row.path,
                None,
                Severity.BREAKING,
                before=column,
                after=f"{column} of {' or '.join(owners)}",
                path=one.path,
                line=one.line,
            )


def spelling_changed(pair: Pair) -> Iterator[Finding]:
    """The same name in other letters: the engine may not care, whoever goes by the letters does."""
    renamed = pair.renames.names.columns
    for name in pair.common:
        for old, new in pair.columns(name):
            strict = (name, old.name) in renamed
            if old.written == new.written or old.name.casefold() != new.name.casefold():
                continue
            if old.origin is not new.origin and not strict:
                continue  # a description spells as it likes
            severity = Severity.BREAKING if strict else Severity.POTENTIALLY_BREAKING
            yield Finding("COL006", name, old.name, severity, before=old.written, after=new.written)


RULES: tuple[Rule, ...] = (
    Rule(
        "COL005",
        "name became ambiguous",
        Scope.INTERFACE,
        became_ambiguous,
        "A column was added, and a name without a qualifier now fits two sources: the statement fails.",
        "Qualify the name in the statement that is listed, first.",
    ),
    Rule(
        "COL006",
        "name written in other letters",
        Scope.INTERFACE,
        spelling_changed,
        "Letter case or quotes of a name changed. Where letters count it is another name; clients may go by them.",
        "Keep the spelling, or change whoever goes by it.",
    ),
)
