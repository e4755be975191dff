"""What a project says about its own changes: who may read from outside, and how loud each rule is."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from lineage_pipeline.vocabulary.sets import Severity

Exposure = Literal["public", "unknown", "private", "internal"]

SEVERITIES = (Severity.INFO, Severity.NON_BREAKING, Severity.POTENTIALLY_BREAKING, Severity.BREAKING)
"""From the least to the most serious."""

LEVELS: dict[str, Severity] = {
    "error": Severity.BREAKING,
    "warn": Severity.POTENTIALLY_BREAKING,
    "info": Severity.INFO,
    **{severity.value: severity for severity in SEVERITIES},
}
"""What a rule's level may be, besides `off`."""

OFF = "off"


class Policy(msgspec.Struct, frozen=True):
    """Who reads an object that nobody in the repository reads, and the levels of rules that differ from the default.

    `public` and `private` are globs of object ids, `sensitive` of tags; `hops` is how far a change of rows is followed.
    """

    leaf: Literal["unknown", "public", "private"] = "unknown"
    public: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    levels: dict[str, str] = {}
    hops: int = 5
    sensitive: tuple[str, ...] = ("pii", "pii=*", "pii:*", "pii.*")


EXPOSURE = "exposure"
"""The tag of what stands for a dashboard or another reader outside."""

PUBLIC_TAGS = frozenset({"public", "contract", EXPOSURE})
"""Tags by which an object is promised to readers that we do not see; a value may stand behind them."""

DEFAULT = Policy()


def rank(severity: Severity) -> int:
    """Give a number that grows with the severity."""
    return SEVERITIES.index(severity)


def worst(*severities: Severity) -> Severity:
    """Give the most serious of some severities."""
    return max(severities, key=rank)


def at_most(severity: Severity, limit: Severity) -> Severity:
    """Lower a severity to a limit."""
    return min(severity, limit, key=rank)


def is_public(tags: Iterable[str]) -> bool:
    """Say whether tags promise an object to others; one that is set to false does not."""
    parts = (tag.lower().replace(":", "=").partition("=") for tag in tags)
    return any(key in PUBLIC_TAGS and value not in ("false", "no", "private") for key, _, value in parts)


def fits(word: str, globs: Iterable[str]) -> bool:
    """Say whether a word fits one of some patterns."""
    return any(fnmatchcase(word, glob) for glob in globs)


def exposure(policy: Policy, name: str, tags: Iterable[str], has_readers: bool) -> Exposure:
    """Say who may read an object beyond the readers that we see."""
    if fits(name, policy.public):
        return "public"
    if fits(name, policy.private):
        return "private"
    if is_public(tags):
        return "public"
    return "internal" if has_readers else policy.leaf


OUTSIDE: dict[Exposure, Severity] = {
    "public": Severity.BREAKING,
    "unknown": Severity.POTENTIALLY_BREAKING,
    "private": Severity.NON_BREAKING,
    "internal": Severity.NON_BREAKING,
}
"""How serious a change can be where no reader in the repository feels it."""


QUIET: dict[str, str] = {"OBJ007": OFF}
"""Rules with a level of their own where the policy gives none."""


def level_of(policy: Policy, rule: str) -> str:
    """Give the level of a rule, empty where it is as serious as what it finds."""
    return policy.levels.get(rule, QUIET.get(rule, ""))


def is_on(policy: Policy, rule: str) -> bool:
    """Say whether a rule reports at all."""
    return level_of(policy, rule) != OFF


def levelled(policy: Policy, rule: str, severity: Severity) -> Severity:
    """Give the severity that the policy wants for a rule, else the one that was found."""
    return LEVELS.get(level_of(policy, rule), severity)
