"""Findings: a change as a rule finds it, before its impact is known, and its location."""

import re
from collections.abc import Callable, Iterator
from hashlib import sha256

import msgspec

from lineage_pipeline.engine.diff.index import PROJECTION_FACET, LineageIndex, StatementBody
from lineage_pipeline.engine.diff.match import LineagePair, StatementEdit
from lineage_pipeline.model.enums import Confidence, Scope, Severity
from lineage_pipeline.model.tables import LONGEST_PREVIEW

ID_LENGTH = 16


class ChangeFinding(msgspec.Struct, frozen=True):
    """One change; `path` and `line` are set only where they differ from those of the object or column."""

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


def at_edit(finding: ChangeFinding, pair: LineagePair, rewrite: StatementEdit) -> ChangeFinding:
    """A finding at the statement that writes, where that is not the definition of the object."""
    if not rewrite.head.kind:
        return finding
    path, _ = rewrite.head.place
    facet = rewrite.head.facets.get(("projection", finding.column or ""))
    line = facet.span.line if facet and facet.span else pair.head.line(rewrite.head.place)
    return msgspec.structs.replace(finding, path=path, line=line)


def at_body(finding: ChangeFinding, side: LineageIndex, body: StatementBody) -> ChangeFinding:
    """A finding at a statement that only one side has, or at the object where the statement was made for it."""
    row, path = side.objects.get(finding.object), body.place[0]
    line = side.line(body.place) or (row.line if row and row.path == path else None)
    return msgspec.structs.replace(finding, path=path, line=line)


class Rule(msgspec.Struct, frozen=True):
    """A kind of change: its title, its scope, the function that finds it, what it means and what to do."""

    id: str
    title: str
    scope: Scope
    find: Callable[[LineagePair], Iterator[ChangeFinding]]
    meaning: str
    remedy: str


def change_id(finding: ChangeFinding) -> str:
    """An id that depends on what changed, not on its location."""
    return _hash_parts(finding.rule, finding.object, finding.column, finding.before, finding.after)


def change_fingerprint(finding: ChangeFinding) -> str:
    """An id that stays the same when the same thing changes in another way."""
    return _hash_parts(finding.rule, finding.object, finding.column)


def finding_order(finding: ChangeFinding) -> tuple[str, str, str, str, str]:
    """Sort key: by object and column, then by rule."""
    return (finding.object, finding.column or "", finding.rule, finding.before or "", finding.after or "")


def _hash_parts(*parts: str | None) -> str:
    text = "\x1f".join("\x00" if part is None else part for part in parts)
    return sha256(text.encode()).hexdigest()[:ID_LENGTH]


Location = tuple[str, int | None]

ALTERING_RULES = ("OBJ001", "OBJ002", "OBJ008", "COL", "TYP", "NUL", "CON")
"""Rules whose findings may come from a statement that alters or drops the object."""


def locate_finding(pair: LineagePair, finding: ChangeFinding) -> tuple[str | None, int | None]:
    """The location of a finding: at the head's column, else its object, else where it was at base."""
    if spot := _locate_alteration(pair, finding):
        return spot
    names = finding.object, finding.column or ""
    declared = any(names in side.declared for side in (pair.base, pair.head))
    for side, (name, column) in (
        (pair.head, pair.renames.names.head_column(*names)),
        (pair.head, names),
        (pair.base, names),
    ):
        spot = _locate_column(side, name, column, declared=declared) or _locate_object(side, name)
        if spot:
            return spot
    return None, None


def _locate_column(side: LineageIndex, name: str, column_name: str, *, declared: bool) -> Location | None:
    """The location of a column's expression or declaration; a statement that only fills it does not count."""
    for body in side.bodies.get(name, ()):
        facet = body.facets.get((PROJECTION_FACET, column_name))
        if facet and facet.span and not (declared and body.kind):
            return facet.path, facet.span.line
    if (name, column_name) in side.declared:
        return side.declared[name, column_name]
    column = side.columns.get(name, {}).get(column_name)
    if column is None or column.path is None or column.statement is None:
        return None
    return column.path, side.line((column.path, column.statement))


def _locate_object(side: LineageIndex, name: str) -> Location | None:
    row = side.objects.get(name)
    return (row.path, row.line) if row and row.path else None


def _locate_alteration(pair: LineagePair, finding: ChangeFinding) -> Location | None:
    """The new statement that alters or drops the object and names the column."""
    if not finding.rule.startswith(ALTERING_RULES):
        return None
    names = dict.fromkeys((finding.object, pair.renames.names.head_object(finding.object)))
    found = [place for name in names for place in pair.head.changers.get(name, ()) if not pair.is_unchanged(place)]
    name = re.compile(rf"(?<!\w){re.escape(finding.column or '')}(?!\w)", re.IGNORECASE)
    previews = [(place, pair.head.statements[place].preview) for place in found if place in pair.head.statements]
    places = [place for place, text in previews if not finding.column or name.search(text)]
    places = places or [place for place, text in previews if len(text) >= LONGEST_PREVIEW]  # it may be named further on
    return (places[-1][0], pair.head.line(places[-1])) if places else None
