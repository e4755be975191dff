"""The `[diff]` settings as the engine's diff policy, and findings about a change that relaxes its own settings."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lineage_pipeline.config.load import (
    FILE_NAME,
    PROJECT_NAME,
    Settings,
    merge_and_validate,
    read_environment_layer,
    select_own_table,
)
from lineage_pipeline.config.toml_files import parse_toml_text, suggest_word
from lineage_pipeline.engine.diff.policy import LEVELS, OFF, Policy, rank_severity, rule_level
from lineage_pipeline.engine.diff.rules.registry import RULES
from lineage_pipeline.files.git_command import run_git
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import Diagnostic


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
    yield from _removed_values("diff.public_layers", old.public_layers, new.public_layers)
    yield from _removed_values("diff.sensitive", old.sensitive, new.sensitive)
    yield from _removed_values("include", before.include, after.include)
    yield from _added_values("diff.private", old.private, new.private)
    yield from _added_values("diff.private_layers", old.private_layers, new.private_layers)
    yield from _added_values("diff.tests", old.tests, new.tests)
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


def report_relaxed_since(
    top: Path, commit: str, after: Settings, environ: Mapping[str, str], place: str = ""
) -> tuple[Diagnostic, ...]:
    """Return a finding for each setting that is milder than in the same folder at a commit."""
    from lineage_pipeline.discover.discovery import build_file_finding  # it takes a moment; a policy needs none of it

    try:
        found = list(find_relaxed_settings(_load_settings_at(top, commit, environ, place), after))
    except LineageError:
        return ()  # what cannot be read at the base was no judge there
    written = f"{place}{after.file.name if after.file is not None else FILE_NAME}"
    return tuple(build_file_finding("SETTINGS_RELAXED", written, **one._asdict()) for one in found)


def report_relaxed_between(top: Path, base: str, head: str, environ: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Return a finding for each setting of a repository that is milder at one commit than at another."""
    try:
        after = _load_settings_at(top, head, environ)
    except LineageError:
        return ()  # whoever reads with these settings says what is wrong with them
    return report_relaxed_since(top, base, after, environ)


def _load_settings_at(top: Path, commit: str, environ: Mapping[str, str], place: str = "") -> Settings:
    """Load the settings of a folder of a repository at a commit."""
    content = next(_read_settings_layers(top, commit, place), {})
    return merge_and_validate(content, f"{commit[:12]}:{place}{FILE_NAME}", read_environment_layer(Settings, environ))


def _read_settings_layers(top: Path, commit: str, place: str) -> Iterator[dict[str, Any]]:
    """Yield the layers of the settings files of a folder at a commit, the effective one first."""
    for name in (FILE_NAME, PROJECT_NAME):
        listed = run_git(top, "ls-tree", "--full-tree", "--name-only", commit, f"{place}{name}")
        if listed.strip():
            text = run_git(top, "cat-file", "blob", f"{commit}:{place}{name}").decode(errors="replace")
            part = select_own_table(parse_toml_text(text, name), name)
            if part or name == FILE_NAME:
                yield part
