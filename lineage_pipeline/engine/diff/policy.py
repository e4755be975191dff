"""Policy: who may read an object from outside, the level of each rule, and the gate: which changes fail a check."""

from collections.abc import Iterable
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.tables import Change

Exposure = Literal["public", "unknown", "private", "internal"]

SEVERITIES = (Severity.INFO, Severity.NON_BREAKING, Severity.POTENTIALLY_BREAKING, Severity.BREAKING)
"""From the least to the most serious."""

LEVELS: dict[str, Severity] = {
    "error": Severity.BREAKING,
    "warn": Severity.POTENTIALLY_BREAKING,
    "info": Severity.INFO,
    **{severity.value: severity for severity in SEVERITIES},
}
"""The levels that a rule may have, besides `off`."""

OFF = "off"


class Policy(msgspec.Struct, frozen=True):
    """Who reads an object that has no reader in the repository, and the rule levels that differ from the default.

    `public` and `private` are globs of object ids, `sensitive` of tags; `hops` is how far row changes are followed.
    """

    leaf: Literal["unknown", "public", "private"] = "unknown"
    public: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    levels: dict[str, str] = {}
    hops: int = 5
    sensitive: tuple[str, ...] = ("pii", "pii=*", "pii:*", "pii.*")


EXPOSURE = "exposure"
"""The tag of an object that represents a dashboard or another external reader."""

PUBLIC_TAGS = frozenset({"public", "contract", EXPOSURE})
"""Tags that promise an object to external readers; they may have a value."""

DEFAULT = Policy()


def rank_severity(severity: Severity) -> int:
    """A number that grows with the severity."""
    return SEVERITIES.index(severity)


def max_severity(*severities: Severity) -> Severity:
    """The most serious of some severities."""
    return max(severities, key=rank_severity)


def cap_severity(severity: Severity, limit: Severity) -> Severity:
    """A severity, lowered to a limit."""
    return min(severity, limit, key=rank_severity)


def has_public_tag(tags: Iterable[str]) -> bool:
    """Say whether tags promise an object to others; one set to false does not."""
    parts = (tag.lower().replace(":", "=").partition("=") for tag in tags)
    return any(key in PUBLIC_TAGS and value not in ("false", "no", "private") for key, _, value in parts)


def matches_any_glob(word: str, globs: Iterable[str]) -> bool:
    """Say whether a word matches one of some globs."""
    return any(fnmatchcase(word, glob) for glob in globs)


def classify_exposure(policy: Policy, name: str, tags: Iterable[str], has_readers: bool) -> Exposure:
    """Who may read an object beyond the readers in the repository."""
    if matches_any_glob(name, policy.public):
        return "public"
    if matches_any_glob(name, policy.private):
        return "private"
    if has_public_tag(tags):
        return "public"
    return "internal" if has_readers else policy.leaf


EXTERNAL_SEVERITIES: dict[Exposure, Severity] = {
    "public": Severity.BREAKING,
    "unknown": Severity.POTENTIALLY_BREAKING,
    "private": Severity.NON_BREAKING,
    "internal": Severity.NON_BREAKING,
}
"""How serious a change can be where no reader in the repository is affected."""


DEFAULT_LEVELS: dict[str, str] = {"OBJ007": OFF}
"""Default levels of rules where the policy sets none."""


def rule_level(policy: Policy, rule: str) -> str:
    """The level of a rule, empty where the severity it finds applies."""
    return policy.levels.get(rule, DEFAULT_LEVELS.get(rule, ""))


def is_rule_enabled(policy: Policy, rule: str) -> bool:
    """Say whether a rule reports at all."""
    return rule_level(policy, rule) != OFF


def apply_rule_level(policy: Policy, rule: str, severity: Severity) -> Severity:
    """The severity that the policy sets for a rule, else the one that was found."""
    return LEVELS.get(rule_level(policy, rule), severity)


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
