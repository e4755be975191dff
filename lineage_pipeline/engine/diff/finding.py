"""A change as a rule finds it, before anyone asks who feels it; and the shape of a rule."""

from collections.abc import Callable, Iterator
from hashlib import sha256

import msgspec

from lineage_pipeline.engine.diff.index import Body, Index
from lineage_pipeline.engine.diff.pair import Pair, Rewrite
from lineage_pipeline.vocabulary.sets import Confidence, Scope, Severity

ID_LENGTH = 16


class Finding(msgspec.Struct, frozen=True):
    """One change at its own place; `path` and `line` only where they are not those of the object or column."""

    rule: str
    object: str
    column: str | None
    severity: Severity
    before: str | None = None
    after: str | None = None
    confidence: Confidence = Confidence.CERTAIN
    scope: Scope | None = None
    path: str | None = None
    line: int | None = None


def at(finding: Finding, pair: Pair, rewrite: Rewrite) -> Finding:
    """Place a finding at the statement that writes, where that is not the definition of the object."""
    if not rewrite.head.kind:
        return finding
    path, _ = rewrite.head.place
    facet = rewrite.head.facets.get(("projection", finding.column or ""))
    line = facet.span.line if facet and facet.span else pair.head.line(rewrite.head.place)
    return msgspec.structs.replace(finding, path=path, line=line)


def at_body(finding: Finding, side: Index, body: Body) -> Finding:
    """Place a finding at a statement that only one side has, or at the object where that one was made for it."""
    row, path = side.objects.get(finding.object), body.place[0]
    line = side.line(body.place) or (row.line if row and row.path == path else None)
    return msgspec.structs.replace(finding, path=path, line=line)


class Rule(msgspec.Struct, frozen=True):
    """A kind of change: what it is called, what it touches, who finds it, what it means and what to do."""

    id: str
    title: str
    scope: Scope
    find: Callable[[Pair], Iterator[Finding]]
    meaning: str
    remedy: str


def finding_id(finding: Finding) -> str:
    """Give an id that depends on what changed, not on where it stands."""
    return _digest(finding.rule, finding.object, finding.column, finding.before, finding.after)


def fingerprint(finding: Finding) -> str:
    """Give an id that stays when the same thing changes in another way."""
    return _digest(finding.rule, finding.object, finding.column)


def order(finding: Finding) -> tuple[str, str, str, str, str]:
    """Sort by place, then by rule."""
    return (finding.object, finding.column or "", finding.rule, finding.before or "", finding.after or "")


def _digest(*parts: str | None) -> str:
    text = "\x1f".join("\x00" if part is None else part for part in parts)
    return sha256(text.encode()).hexdigest()[:ID_LENGTH]
