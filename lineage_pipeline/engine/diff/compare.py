"""Two lineages in, changes out: rules find, causes sort roots from what follows, impact asks who feels it."""

from collections.abc import Iterable, Sequence

import msgspec

from lineage_pipeline.engine.diff.causes import roots
from lineage_pipeline.engine.diff.finding import Finding, finding_id, fingerprint, order
from lineage_pipeline.engine.diff.impact import confidence, impact
from lineage_pipeline.engine.diff.pair import Pair, pair_of
from lineage_pipeline.engine.diff.places import place
from lineage_pipeline.engine.diff.policy import DEFAULT, Policy, is_on, level_of, levelled, worst
from lineage_pipeline.engine.diff.readers import consumers
from lineage_pipeline.engine.diff.table import RULES
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.sets import Scope, Severity
from lineage_pipeline.vocabulary.tables import Change

SCOPES: dict[str, Scope] = {rule.id: rule.scope for rule in RULES}


def diff(base: Lineage, head: Lineage, policy: Policy = DEFAULT) -> tuple[Change, ...]:
    """List the changes from base to head by place; roots count, the others say where a root is felt."""
    pair = pair_of(base, head, policy.sensitive)
    told = [finding for finding in find(pair) if is_on(policy, finding.rule)]
    found = [
        _levelled(change, policy)
        for finding, root in roots(pair, told).items()
        for change in _changes(pair, finding, root, policy)
    ]
    return tuple(sorted(_raised(_distinct(found), policy), key=_order))


def find(pair: Pair) -> list[Finding]:
    """Apply every rule once; rules of one family share a function."""
    functions = dict.fromkeys(rule.find for rule in RULES)
    return sorted({finding for function in functions for finding in function(pair)}, key=order)


def _changes(pair: Pair, finding: Finding, root: Finding, policy: Policy) -> list[Change]:
    """Give the change for a finding, and those that follow at its consumers."""
    felt = impact(pair, finding, policy)
    path, line = (finding.path, finding.line) if finding.path else place(pair, finding)
    own = msgspec.structs.replace(
        _change(finding, finding_id(root)),
        effective=felt.severity,
        confidence=confidence(finding, felt.readers),
        consumers=consumers(pair.head, felt.readers),
        path=path,
        line=line,
    )
    return [own, *(_change(one, finding_id(root)) for one in felt.derived)]


def _change(finding: Finding, root_id: str) -> Change:
    """Give a finding as a row, felt by nobody yet."""
    return Change(
        id=finding_id(finding),
        rule=finding.rule,
        object=finding.object,
        column=finding.column,
        intrinsic=finding.severity,
        effective=finding.severity,
        confidence=finding.confidence,
        scope=finding.scope or SCOPES[finding.rule],
        root=finding_id(finding) == root_id,
        root_id=root_id,
        consumers=(),
        before=finding.before,
        after=finding.after,
        path=finding.path,
        line=finding.line,
        fingerprint=fingerprint(finding),
        waiver=None,
    )


def _distinct(changes: Iterable[Change]) -> list[Change]:
    """Keep one change for each id: what is reached by two ways counts once, at its worst."""
    found: dict[str, Change] = {}
    for change in sorted(changes, key=lambda change: (not change.root, change.root_id)):
        known = found.setdefault(change.id, change)
        found[change.id] = msgspec.structs.replace(known, effective=worst(known.effective, change.effective))
    return list(found.values())


def _raised(changes: Sequence[Change], policy: Policy) -> list[Change]:
    """Raise each root to the worst of what follows from it; one whose level is set, to what it breaks elsewhere."""
    set_by_policy = {change.id for change in changes if level_of(policy, change.rule)}
    worst_of = {change.id: change.effective for change in changes if change.root}
    for change in changes:
        if change.root_id not in set_by_policy or change.effective is Severity.BREAKING:
            worst_of[change.root_id] = worst(worst_of[change.root_id], change.effective)
    return [
        msgspec.structs.replace(change, effective=worst_of[change.id]) if change.root else change for change in changes
    ]


def _levelled(change: Change, policy: Policy) -> Change:
    """Put the policy's word after the consumers, before the waivers; what a rule causes has a level of its own."""
    return msgspec.structs.replace(change, effective=levelled(policy, change.rule, change.effective))


def _order(change: Change) -> tuple[str, str, str, str]:
    return change.object, change.column or "", change.rule, change.id
