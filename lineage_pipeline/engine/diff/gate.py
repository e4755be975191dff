"""The gate: which changes fail a check, and its exit code."""

from collections.abc import Iterable
from enum import StrEnum

from lineage_pipeline.engine.diff.policy import rank_severity
from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.tables import Change


class FailOn(StrEnum):
    """The severity from which a change fails the check."""

    BREAKING = "breaking"
    POTENTIALLY = "potentially"
    ANY = "any"


FAIL_SEVERITIES: dict[FailOn, Severity] = {
    FailOn.BREAKING: Severity.BREAKING,
    FailOn.POTENTIALLY: Severity.POTENTIALLY_BREAKING,
    FailOn.ANY: Severity.INFO,
}


class ExitStyle(StrEnum):
    """Meaning of the exit code: 1 is "failed", or InfoTracker's 1 "changes" and 2 "breaking changes"."""

    PLAIN = "plain"
    INFOTRACKER = "infotracker"


def list_failing_changes(changes: Iterable[Change], limit: Severity) -> list[Change]:
    """The root changes at or above a severity that no waiver covers."""
    return [
        change
        for change in changes
        if change.root and change.waiver is None and rank_severity(change.effective) >= rank_severity(limit)
    ]


def compute_exit_code(changes: Iterable[Change], fail_on: FailOn, style: ExitStyle) -> int:
    """The exit code of a check."""
    listed = list(changes)
    if style is ExitStyle.PLAIN:
        return 1 if list_failing_changes(listed, FAIL_SEVERITIES[fail_on]) else 0
    if list_failing_changes(listed, Severity.BREAKING):
        return 2
    return 1 if list_failing_changes(listed, Severity.INFO) else 0
