"""The gate: which changes are too serious to pass, and by what number a command says so."""

from collections.abc import Iterable
from enum import StrEnum

from lineage_pipeline.engine.diff.policy import rank
from lineage_pipeline.vocabulary.sets import Severity
from lineage_pipeline.vocabulary.tables import Change


class FailOn(StrEnum):
    """From which severity on a change does not pass."""

    BREAKING = "breaking"
    POTENTIALLY = "potentially"
    ANY = "any"


LIMITS: dict[FailOn, Severity] = {
    FailOn.BREAKING: Severity.BREAKING,
    FailOn.POTENTIALLY: Severity.POTENTIALLY_BREAKING,
    FailOn.ANY: Severity.INFO,
}


class ExitStyle(StrEnum):
    """What the number means at the end: 1 is "does not pass", or InfoTracker's 1 "changes" and 2 "breaking ones"."""

    PLAIN = "plain"
    INFOTRACKER = "infotracker"


def stopped(changes: Iterable[Change], limit: Severity) -> list[Change]:
    """List the causes at or above a severity that no waiver covers."""
    return [
        change for change in changes if change.root and change.waiver is None and rank(change.effective) >= rank(limit)
    ]


def exit_code(changes: Iterable[Change], fail_on: FailOn, style: ExitStyle) -> int:
    """Give the number by which a command says whether changes pass."""
    listed = list(changes)
    if style is ExitStyle.PLAIN:
        return 1 if stopped(listed, LIMITS[fail_on]) else 0
    if stopped(listed, Severity.BREAKING):
        return 2
    return 1 if stopped(listed, Severity.INFO) else 0
