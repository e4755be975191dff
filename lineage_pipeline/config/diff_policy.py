"""The `[diff]` settings as the engine's diff policy, and which of them are milder than before."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lineage_pipeline.config.load import Settings
from lineage_pipeline.config.toml_files import suggest_word
from lineage_pipeline.engine.diff.policy import LEVELS, OFF, Policy, rank_severity, rule_level
from lineage_pipeline.engine.diff.rules.registry import RULES
from lineage_pipeline.model.errors import LineageError


def build_policy(settings: Settings) -> Policy:
    """Build the policy that judges changes; the level of an unknown rule is an error."""
    known = [rule.id for rule in RULES]
    for rule in settings.diff.levels:
        if rule not in known:
            raise LineageError(
                f"{settings.file or 'settings'}: diff.levels: there is no rule {rule}; {suggest_word(rule, known)}"
            )
    return Policy(**settings.diff.model_dump(mode="json"))


class RelaxedSetting(NamedTuple):
    """A setting under which more passes than before."""

    key: str
    before: str
    after: str


LEAF_STRICTNESS = ("private", "unknown", "public")
"""Values of `leaf`, the mildest first."""


def find_relaxed_settings(before: Settings, after: Settings) -> Iterator[RelaxedSetting]:
    """Yield the settings that judge more mildly, or cover less, than before."""
    old, new = build_policy(before), build_policy(after)
    for rule in sorted({*old.levels, *new.levels}):
        if _rule_strictness(new, rule) < _rule_strictness(old, rule):
            yield RelaxedSetting(
                f"diff.levels.{rule}", rule_level(old, rule) or "as found", rule_level(new, rule) or "as found"
            )
    if LEAF_STRICTNESS.index(new.leaf) < LEAF_STRICTNESS.index(old.leaf):
        yield RelaxedSetting("diff.leaf", old.leaf, new.leaf)
    if new.hops < old.hops:
        yield RelaxedSetting("diff.hops", str(old.hops), str(new.hops))
    yield from _removed_values("diff.public", old.public, new.public)
    yield from _removed_values("diff.sensitive", old.sensitive, new.sensitive)
    yield from _removed_values("include", before.include, after.include)
    yield from _added_values("diff.private", old.private, new.private)
    yield from _added_values("exclude", before.exclude, after.exclude)


DYNAMIC_LEVEL_STRICTNESS = rank_severity(LEVELS["error"]) - 0.5
"""Strictness of a rule whose level depends on the finding: between error and everything milder."""


def _rule_strictness(policy: Policy, rule: str) -> float:
    level = rule_level(policy, rule)
    return -1 if level == OFF else rank_severity(LEVELS[level]) if level else DYNAMIC_LEVEL_STRICTNESS


def _removed_values(key: str, before: Iterable[str], after: Iterable[str]) -> Iterator[RelaxedSetting]:
    gone = sorted({*before} - {*after})
    if gone:
        yield RelaxedSetting(key, ", ".join(gone), "nothing of that")


def _added_values(key: str, before: Iterable[str], after: Iterable[str]) -> Iterator[RelaxedSetting]:
    came = sorted({*after} - {*before})
    if came:
        yield RelaxedSetting(key, "nothing of that", ", ".join(came))
