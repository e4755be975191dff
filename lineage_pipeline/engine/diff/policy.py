"""Policy: who may read an object from outside, the level of each rule, and the gate: which changes fail a check."""

import re
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.layers import PRIVATE_LAYERS, PUBLIC_LAYERS, TEST_FOLDERS
from lineage_pipeline.model.tables import Change, ObjectRow


class Audience(StrEnum):
    """Who may read an object beyond the repository."""

    PUBLIC = "public"
    UNKNOWN = "unknown"
    PRIVATE = "private"
    TEST = "test"


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
    """Who reads an object beyond the repository, and the rule levels that differ from the default.

    `public` and `private` are globs of object ids, `sensitive` of tags; layers are words of schemas and folders, and
    `tests` are folders; `leaf` is for all that neither globs nor tags decide; `hops` is how far row changes go.
    """

    leaf: Literal["unknown", "public", "private"] = "unknown"
    public: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    public_layers: tuple[str, ...] = PUBLIC_LAYERS
    private_layers: tuple[str, ...] = PRIVATE_LAYERS
    tests: tuple[str, ...] = TEST_FOLDERS
    levels: dict[str, str] = {}
    hops: int = 5
    sensitive: tuple[str, ...] = ("pii", "pii=*", "pii:*", "pii.*")


EXPOSURE = "exposure"
"""The tag of an object that represents a dashboard or another external reader."""

PUBLIC_TAGS = frozenset({"public", "contract", EXPOSURE})
"""Tags that promise an object to external readers; they may have a value."""

PRIVATE_TAGS = frozenset({"private"})
"""Tags that keep an object from external readers."""

TAG_DENIALS = frozenset({"false", "no", "private"})
"""Values by which a tag says the opposite."""

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


def matches_any_glob(word: str, globs: Iterable[str]) -> bool:
    """Say whether a word matches one of some globs."""
    return any(fnmatchcase(word, glob) for glob in globs)


class Exposure(msgspec.Struct, frozen=True):
    """Who may read an object beyond the repository, and what says so; a layer is a custom, the rest are promises."""

    audience: Audience
    reason: str
    promised: bool = True

    def __str__(self) -> str:
        """Spell it as reports do."""
        return f"{self.audience} ({self.reason})"


def classify_exposure(
    policy: Policy, name: str, rows: Sequence[ObjectRow], tags: Sequence[str] = (), *, read: bool = True
) -> Exposure:
    """Who may read an object beyond the repository: by settings, tags, and layers, in this order.

    `rows` are the object on both sides: a promise that the change removes still counts. A private layer is there for
    the later ones: where none of them reads the object (`read`), it is not known who does.
    """
    found = (
        _find_test_folder(policy, rows)
        or _match_settings(policy, name)
        or _read_tags([*tags, *(tag for row in rows for tag in row.tags)])
        or _read_leaf(policy)
        or _find_layer(policy, rows)
    )
    if found is None:
        return Exposure(Audience.UNKNOWN, "no setting, tag or layer says who reads it")
    unread = found.audience is Audience.PRIVATE and not found.promised and not read
    return Exposure(Audience.UNKNOWN, f"{found.reason}, but nothing here reads it") if unread else found


def _read_leaf(policy: Policy) -> Exposure | None:
    return None if policy.leaf == "unknown" else Exposure(Audience(policy.leaf), "diff.leaf")


def find_test_folder(policy: Policy, path: str | None) -> str | None:
    """The folder of tests in which a file is, or None."""
    return next((folder for folder in _list_folders(path) if folder in policy.tests), None)


def _find_test_folder(policy: Policy, rows: Sequence[ObjectRow]) -> Exposure | None:
    """Tests, where each side that has the object defines it in a folder of tests."""
    folders = [find_test_folder(policy, row.path) for row in rows]
    return Exposure(Audience.TEST, f"folder {folders[0]}") if folders and all(folders) else None


def _match_settings(policy: Policy, name: str) -> Exposure | None:
    if matches_any_glob(name, policy.public):
        return Exposure(Audience.PUBLIC, "diff.public")
    return Exposure(Audience.PRIVATE, "diff.private") if matches_any_glob(name, policy.private) else None


def _read_tags(tags: Iterable[str]) -> Exposure | None:
    """What tags promise; a promise outweighs its opposite."""
    for words, audience in ((PUBLIC_TAGS, Audience.PUBLIC), (PRIVATE_TAGS, Audience.PRIVATE)):
        for tag in tags:
            if _is_tag_set(tag, words):
                return Exposure(audience, f"tag {tag}")
    return None


def has_public_tag(tags: Iterable[str]) -> bool:
    """Say whether tags promise an object to others."""
    return any(_is_tag_set(tag, PUBLIC_TAGS) for tag in tags)


def _is_tag_set(tag: str, words: Collection[str]) -> bool:
    """Say whether a tag is one of some words and not set to the opposite."""
    key, _, value = tag.lower().replace(":", "=").partition("=")
    return key in words and value not in TAG_DENIALS


def _find_layer(policy: Policy, rows: Sequence[ObjectRow]) -> Exposure | None:
    """The layer by the schema, else by the nearest folder that names one; the side that is public counts."""
    found = [layer for row in rows if (layer := _layer_of_row(policy, row)) is not None]
    return next((layer for layer in found if layer.audience is Audience.PUBLIC), found[0] if found else None)


def _layer_of_row(policy: Policy, row: ObjectRow) -> Exposure | None:
    places = [("schema", row.schema.lower()), *(("folder", part) for part in reversed(_list_folders(row.path)))]
    for kind, word in places:
        if _names_layer(word, policy.private_layers):
            return Exposure(Audience.PRIVATE, f"{kind} {word}", promised=False)
        if _names_layer(word, policy.public_layers):
            return Exposure(Audience.PUBLIC, f"{kind} {word}", promised=False)
    return None


def _names_layer(word: str, layers: Iterable[str]) -> bool:
    """Say whether a word is a layer or begins or ends with one: `staging`, `dbt_marts`, `stg_shop`."""
    parts = _WORD_BREAKS.split(word)
    return any(layer in (word, parts[0], parts[-1]) for layer in layers)


_WORD_BREAKS = re.compile(r"[^a-z]+")


def _list_folders(path: str | None) -> list[str]:
    return (path or "").lower().split("/")[:-1]


EXTERNAL_SEVERITIES: dict[Audience, Severity] = {
    Audience.PUBLIC: Severity.BREAKING,
    Audience.UNKNOWN: Severity.POTENTIALLY_BREAKING,
    Audience.PRIVATE: Severity.NON_BREAKING,
    Audience.TEST: Severity.NON_BREAKING,
}
"""How serious a change can be for readers beyond the repository."""

NAMING_FAMILIES = ("OBJ", "COL")
"""Rules about names, on which every reader depends; how one uses values, types and rows is not known."""

POSITIONAL_FAMILIES = ("POS",)
"""Rules about the order of columns, on which few readers depend."""


def limit_external_severity(exposure: Exposure, rule: str, *, read: bool) -> Severity:
    """How serious a change can be for readers beyond the repository.

    By a layer alone only a lost name breaks, and readers beyond are thought to take columns by name as those here do
    (`read`).
    """
    if exposure.audience is Audience.PUBLIC and exposure.promised:
        return Severity.BREAKING
    if read and rule.startswith(POSITIONAL_FAMILIES):
        return Severity.NON_BREAKING
    limit = EXTERNAL_SEVERITIES[exposure.audience]
    return limit if rule.startswith(NAMING_FAMILIES) else cap_severity(limit, Severity.POTENTIALLY_BREAKING)


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
