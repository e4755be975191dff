"""diff(): match two lineages, apply the rules, find root causes, assess the impact, apply the policy."""

from collections.abc import Iterable, Sequence

import msgspec

from lineage_pipeline.engine.diff.change_impact import assess_confidence, assess_impact
from lineage_pipeline.engine.diff.consumers import build_consumers
from lineage_pipeline.engine.diff.finding import (
    ChangeFinding,
    change_fingerprint,
    change_id,
    finding_order,
    locate_finding,
)
from lineage_pipeline.engine.diff.match import LineagePair, pair_lineages
from lineage_pipeline.engine.diff.policy import (
    DEFAULT,
    Policy,
    apply_rule_level,
    is_rule_enabled,
    max_severity,
    rule_level,
)
from lineage_pipeline.engine.diff.root_cause import find_roots
from lineage_pipeline.engine.diff.rules.analyzability import find_repaired_objects
from lineage_pipeline.engine.diff.rules.registry import RULES
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import Scope, Severity
from lineage_pipeline.model.tables import Change

RULE_SCOPES: dict[str, Scope] = {rule.id: rule.scope for rule in RULES}


def diff(base: LineageTables, head: LineageTables, policy: Policy = DEFAULT) -> tuple[Change, ...]:
    """The changes from base to head, sorted; root causes count, derived changes show where they take effect."""
    pair = pair_lineages(base, head, policy.sensitive)
    enabled = [finding for finding in apply_rules(pair) if is_rule_enabled(policy, finding.rule)]
    repaired = find_repaired_objects(pair)
    found = [
        _apply_level(change, policy)
        for finding, root in find_roots(pair, enabled).items()
        for change in _build_changes(pair, finding, root, policy, repaired=is_repair(finding, repaired))
    ]
    return tuple(sorted(_raise_roots(_drop_duplicate_changes(found), policy), key=_change_order))


def apply_rules(pair: LineagePair) -> list[ChangeFinding]:
    """Apply every rule function once; rules of one family share a function."""
    functions = dict.fromkeys(rule.find for rule in RULES)
    return sorted({finding for function in functions for finding in function(pair)}, key=finding_order)


REPAIRED_FAMILIES = ("EXP", "ROW", "TYP", "NUL", "SRC001")
"""Rules about what a statement gives, which it did not give while it could not run."""


def is_repair(finding: ChangeFinding, repaired: frozenset[str]) -> bool:
    """Say whether a finding is good news: its statement could not run before."""
    return finding.object in repaired and finding.rule.startswith(REPAIRED_FAMILIES)


def _build_changes(
    pair: LineagePair, finding: ChangeFinding, root: ChangeFinding, policy: Policy, *, repaired: bool
) -> list[Change]:
    """The change for a finding, and those derived at its consumers."""
    judged = msgspec.structs.replace(finding, severity=Severity.INFO) if repaired else finding
    impact = assess_impact(pair, judged, policy)
    path, line = (finding.path, finding.line) if finding.path else locate_finding(pair, finding)
    own = msgspec.structs.replace(
        build_change(finding, change_id(root)),
        effective=impact.severity,
        confidence=assess_confidence(finding, impact.readers),
        consumers=build_consumers(pair.head, impact.readers),
        path=path,
        line=line,
    )
    return [own, *(build_change(one, change_id(root)) for one in impact.derived)]


def build_change(finding: ChangeFinding, root_id: str) -> Change:
    """A finding as a row, without consumers yet."""
    return Change(
        id=change_id(finding),
        rule=finding.rule,
        object=finding.object,
        column=finding.column,
        intrinsic=finding.severity,
        effective=finding.severity,
        confidence=finding.confidence,
        scope=finding.scope or RULE_SCOPES[finding.rule],
        root=change_id(finding) == root_id,
        root_id=root_id,
        consumers=(),
        before=finding.before,
        after=finding.after,
        path=finding.path,
        line=finding.line,
        fingerprint=change_fingerprint(finding),
        waiver=None,
    )


def _drop_duplicate_changes(changes: Iterable[Change]) -> list[Change]:
    """One change for each id, with its worst severity."""
    found: dict[str, Change] = {}
    for change in sorted(changes, key=lambda change: (not change.root, change.root_id)):
        known = found.setdefault(change.id, change)
        found[change.id] = msgspec.structs.replace(known, effective=max_severity(known.effective, change.effective))
    return list(found.values())


def _raise_roots(changes: Sequence[Change], policy: Policy) -> list[Change]:
    """Raise each root to the worst derived severity; one with a policy level only to what breaks elsewhere."""
    set_by_policy = {change.id for change in changes if rule_level(policy, change.rule)}
    worst_of = {change.id: change.effective for change in changes if change.root}
    for change in changes:
        if change.root_id not in set_by_policy or change.effective is Severity.BREAKING:
            worst_of[change.root_id] = max_severity(worst_of[change.root_id], change.effective)
    return [
        msgspec.structs.replace(change, effective=worst_of[change.id]) if change.root else change for change in changes
    ]


def _apply_level(change: Change, policy: Policy) -> Change:
    """Apply the policy's level after the consumers and before the waivers."""
    return msgspec.structs.replace(change, effective=apply_rule_level(policy, change.rule, change.effective))


def _change_order(change: Change) -> tuple[str, str, str, str]:
    return change.object, change.column or "", change.rule, change.id
