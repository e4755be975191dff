"""Statements that write in another way: what was added is now replaced, or what was kept is removed."""

from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.engine.diff.finding import Finding, Rule, at, at_body
from lineage_pipeline.engine.diff.index import EMPTYING, Body, Index, Place
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.vocabulary.sets import Scope, Severity

FILTER, MANNER, TRUNCATE, DELETE = "filter", "write", "TRUNCATE", "DELETE"

REPLACING = frozenset({"INSERT OVERWRITE", "REPLACE"})


def writing_changed(pair: Pair) -> Iterator[Finding]:
    """Rows are added, replaced or removed in another way than before: history may go, or come twice."""
    for name in pair.common:
        for rewrite in pair.writers[name].rewrites:
            before, after = rewrite.base.kind, rewrite.head.kind
            if before and after and before != after:
                lost = after in REPLACING | EMPTYING and before not in REPLACING | EMPTYING
                yield at(_finding(name, before, after, breaks=lost), pair, rewrite)
            elif after == DELETE and rewrite.text(FILTER)[0] != rewrite.text(FILTER)[1]:
                old, new = (_deletes(text) for text in rewrite.text(FILTER))
                yield at(_finding(name, old, new, breaks=not rewrite.text(FILTER)[1]), pair, rewrite)
            elif rewrite.text(MANNER)[0] != rewrite.text(MANNER)[1]:
                old, new = rewrite.text(MANNER)
                breaks = _removes(new) and not _removes(old)
                yield at(_finding(name, old or None, new or None, breaks=breaks), pair, rewrite)
        yield from _emptied(pair, name)


def _removes(manner: str) -> bool:
    """Say whether an arm of a MERGE takes rows away."""
    return any(line.partition(": ")[2].startswith("delete") for line in manner.splitlines())


def _emptied(pair: Pair, name: str) -> Iterator[Finding]:
    """Look at the statements that remove rows, of which one side has more."""
    writers = pair.writers[name]
    for body in writers.gone:
        if body.kind in EMPTYING:
            yield at_body(_finding(name, _spelled(body), None, breaks=False), pair.base, body)
    for body in writers.new:
        if body.kind in EMPTYING:
            found = _finding(name, None, _spelled(body), breaks=(FILTER, "*") not in body.facets)
            yield at_body(found, pair.head, body)
    before, after = _truncates(pair.base, name), _truncates(pair.head, name)
    if len(before) < len(after):
        yield _truncating(_finding(name, None, TRUNCATE, breaks=True), pair.head, after)
    elif len(after) < len(before):
        yield _truncating(_finding(name, TRUNCATE, None, breaks=False), pair.base, before)


def _truncates(side: Index, name: str) -> list[Place]:
    return [place for place in side.makers.get(name, ()) if side.kind(place) == TRUNCATE]


def _truncating(finding: Finding, side: Index, places: Sequence[Place]) -> Finding:
    return msgspec.structs.replace(finding, path=places[-1][0], line=side.line(places[-1]))


def _spelled(body: Body) -> str:
    facet = body.facets.get((FILTER, "*"))
    return _deletes(facet.text if facet else "")


def _deletes(text: str) -> str:
    return f"{DELETE} where {text}" if text else f"{DELETE} of all rows"


def _finding(name: str, before: str | None, after: str | None, *, breaks: bool) -> Finding:
    severity = Severity.BREAKING if breaks else Severity.POTENTIALLY_BREAKING
    return Finding("ROW009", name, None, severity, before, after)


RULES: tuple[Rule, ...] = (
    Rule(
        "ROW009",
        "way of writing changed",
        Scope.ROW_SET,
        writing_changed,
        "Rows are added, replaced or removed in another way: history may be lost, or rows come twice.",
        "Check what a second run leaves behind; keep what others need of the history.",
    ),
)
