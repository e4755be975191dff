"""Write mode: rows that were added are now replaced, or kept ones removed."""

from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule, at_body, at_edit
from lineage_pipeline.engine.diff.index import DELETE_KINDS, LineageIndex, StatementBody, StatementKey
from lineage_pipeline.engine.diff.match import LineagePair
from lineage_pipeline.model.enums import Scope, Severity

LOAD_KIND = "load"
"""The kind of constraint that says how a table is filled anew."""

FILTER, MANNER, TRUNCATE, DELETE = "filter", "write", "TRUNCATE", "DELETE"

REPLACING_KINDS = frozenset({"INSERT OVERWRITE", "REPLACE"})


def writing_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Rows are added, replaced or removed differently: history may be lost, or rows duplicated."""
    for name in pair.common:
        for rewrite in pair.writers[name].rewrites:
            before, after = rewrite.base.kind, rewrite.head.kind
            if before and after and before != after:
                lost = after in REPLACING_KINDS | DELETE_KINDS and before not in REPLACING_KINDS | DELETE_KINDS
                yield at_edit(_write_finding(name, before, after, breaks=lost), pair, rewrite)
            elif after == DELETE and rewrite.text(FILTER)[0] != rewrite.text(FILTER)[1]:
                old, new = (_render_delete(text) for text in rewrite.text(FILTER))
                yield at_edit(_write_finding(name, old, new, breaks=not rewrite.text(FILTER)[1]), pair, rewrite)
            elif rewrite.text(MANNER)[0] != rewrite.text(MANNER)[1]:
                old, new = rewrite.text(MANNER)
                breaks = _removes_rows(new) and not _removes_rows(old)
                yield at_edit(_write_finding(name, old or None, new or None, breaks=breaks), pair, rewrite)
        yield from _find_removals(pair, name)
        old, new = find_load(pair.base, name), find_load(pair.head, name)
        if old != new:
            kinds = (side.objects[name].kind.value for side in (pair.base, pair.head))
            texts = (mode or kind for mode, kind in zip((old, new), kinds, strict=True))
            yield _write_finding(name, *texts, breaks=False)


def find_load(side: LineageIndex, name: str) -> str:
    """How a table that keeps its rows is filled anew, such as an incremental model of dbt; else empty."""
    rows = side.constraints.get(name, ())
    return next((one.expression or "" for one in rows if one.kind == LOAD_KIND), "")


def _removes_rows(manner: str) -> bool:
    """Say whether a MERGE arm removes rows."""
    return any(line.partition(": ")[2].startswith("delete") for line in manner.splitlines())


def _find_removals(pair: LineagePair, name: str) -> Iterator[ChangeFinding]:
    """Statements that remove rows, which one side has more of."""
    writers = pair.writers[name]
    for body in writers.gone:
        if body.kind in DELETE_KINDS:
            yield at_body(_write_finding(name, _describe_delete(body), None, breaks=False), pair.base, body)
    for body in writers.new:
        if body.kind in DELETE_KINDS:
            found = _write_finding(name, None, _describe_delete(body), breaks=(FILTER, "*") not in body.facets)
            yield at_body(found, pair.head, body)
    before, after = _list_truncates(pair.base, name), _list_truncates(pair.head, name)
    if len(before) < len(after):
        yield _at_truncate(_write_finding(name, None, TRUNCATE, breaks=True), pair.head, after)
    elif len(after) < len(before):
        yield _at_truncate(_write_finding(name, TRUNCATE, None, breaks=False), pair.base, before)


def _list_truncates(side: LineageIndex, name: str) -> list[StatementKey]:
    return [place for place in side.makers.get(name, ()) if side.kind(place) == TRUNCATE]


def _at_truncate(finding: ChangeFinding, side: LineageIndex, places: Sequence[StatementKey]) -> ChangeFinding:
    return msgspec.structs.replace(finding, path=places[-1][0], line=side.line(places[-1]))


def _describe_delete(body: StatementBody) -> str:
    facet = body.facets.get((FILTER, "*"))
    return _render_delete(facet.text if facet else "")


def _render_delete(text: str) -> str:
    return f"{DELETE} where {text}" if text else f"{DELETE} of all rows"


def _write_finding(name: str, before: str | None, after: str | None, *, breaks: bool) -> ChangeFinding:
    severity = Severity.BREAKING if breaks else Severity.POTENTIALLY_BREAKING
    return ChangeFinding(rule="ROW009", object=name, column=None, severity=severity, before=before, after=after)


RULES: tuple[Rule, ...] = (
    Rule(
        id="ROW009",
        title="way of writing changed",
        scope=Scope.ROW_SET,
        find=writing_changed,
        meaning="Rows are added, replaced or removed in another way: history may be lost, or rows come twice.",
        remedy="Check what a second run leaves behind; keep what others need of the history.",
    ),
)
