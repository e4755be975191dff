"""The settings of `[diff]` as the engine takes them."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lineage_pipeline.engine.diff.policy import LEVELS, OFF, Policy, level_of, rank
from lineage_pipeline.engine.diff.table import RULES
from lineage_pipeline.settings import Settings, suggestion
from lineage_pipeline.vocabulary.errors import LineageError


def policy_of(settings: Settings) -> Policy:
    """Give how changes are judged; the level of a rule that there is not is an error."""
    known = [rule.id for rule in RULES]
    for rule in settings.diff.levels:
        if rule not in known:
            raise LineageError(
                f"{settings.file or 'settings'}: diff.levels: there is no rule {rule}; {suggestion(rule, known)}"
            )
    return Policy(**settings.diff.model_dump(mode="json"))


class Relaxed(NamedTuple):
    """A setting by which more passes than before."""

    key: str
    before: str
    after: str


LEAVES = ("private", "unknown", "public")
"""What a leaf may be, the mildest first."""


def relaxed(before: Settings, after: Settings) -> Iterator[Relaxed]:
    """List what settings judge more mildly, or leave out, than others did."""
    old, new = policy_of(before), policy_of(after)
    for rule in sorted({*old.levels, *new.levels}):
        if _strictness(new, rule) < _strictness(old, rule):
            yield Relaxed(f"diff.levels.{rule}", level_of(old, rule) or "as found", level_of(new, rule) or "as found")
    if LEAVES.index(new.leaf) < LEAVES.index(old.leaf):
        yield Relaxed("diff.leaf", old.leaf, new.leaf)
    if new.hops < old.hops:
        yield Relaxed("diff.hops", str(old.hops), str(new.hops))
    yield from _fewer("diff.public", old.public, new.public)
    yield from _fewer("diff.sensitive", old.sensitive, new.sensitive)
    yield from _fewer("include", before.include, after.include)
    yield from _more("diff.private", old.private, new.private)
    yield from _more("exclude", before.exclude, after.exclude)


AS_FOUND = rank(LEVELS["error"]) - 0.5
"""A rule that is as serious as what it finds is milder than an error, and stricter than anything else."""


def _strictness(policy: Policy, rule: str) -> float:
    level = level_of(policy, rule)
    return -1 if level == OFF else rank(LEVELS[level]) if level else AS_FOUND


def _fewer(key: str, before: Iterable[str], after: Iterable[str]) -> Iterator[Relaxed]:
    gone = sorted({*before} - {*after})
    if gone:
        yield Relaxed(key, ", ".join(gone), "nothing of that")


def _more(key: str, before: Iterable[str], after: Iterable[str]) -> Iterator[Relaxed]:
    came = sorted({*after} - {*before})
    if came:
        yield Relaxed(key, "nothing of that", ", ".join(came))
