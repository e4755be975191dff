"""The pages that compare: what a comparison found, and the SQL of an object before and after."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from lineage_pipeline.export.escaping import visible
from lineage_pipeline.web import questions
from lineage_pipeline.web.api import Refusal, chosen
from lineage_pipeline.web.marts import Gone, Marts
from lineage_pipeline.web.rendering import asked, shown

AROUND = 4
"""How many lines that did not change stand around those that did."""


class Pair(NamedTuple):
    """A line before and after; `kind` is `same`, `changed`, `added`, `removed`, or `skipped` for lines left out."""

    kind: str
    before_number: int | None
    before: str
    after_number: int | None
    after: str


def changes(request: Request) -> Response:
    """Show the comparisons, and what one of them found."""
    marts: Marts = request.app.state.marts
    pairs = questions.comparisons(marts)
    base, head = (request.query_params.get(name, "") for name in ("base", "head"))
    if not (base and head) and pairs:
        wanted = request.query_params.get("snapshot", "")
        row = next((row for row in pairs if row["head"] == wanted), pairs[0])
        base, head = row["base"], row["head"]
    found = questions.changes(marts, base, head) if base and head else []
    return shown(request, "changes.html", head, pairs=pairs, base=base, head=head, changes=found)


def side_by_side(request: Request) -> Response:
    """Show the file that defines an object, before and after."""
    marts, head = asked(request)
    base = chosen(marts, request.query_params.get("base", ""))
    name = request.query_params.get("object", "")
    sides = [_text(marts, snapshot, name) for snapshot in (base, head)]
    if sides[0] is None and sides[1] is None:
        raise Refusal(f"there is no SQL of {visible(name)} in these snapshots", 404)
    before, after = (side or ("", "") for side in sides)
    pairs = list(_shortened(list(aligned(before[1], after[1]))))
    return shown(request, "sql.html", head, base=base, object=name, pairs=pairs, paths=(before[0], after[0]))


def _text(marts: Marts, snapshot: str, name: str) -> tuple[str, str] | None:
    """Give the path and the text of the file that an object is defined in."""
    try:
        return questions.definition_of(marts, snapshot, name)
    except Gone:
        return None


def aligned(before: str, after: str) -> Iterator[Pair]:
    """Put the lines of two texts side by side."""
    old, new = before.splitlines(), after.splitlines()
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for step in range(max(i_end - i, j_end - j)):
            left = i + step if i + step < i_end else None
            right = j + step if j + step < j_end else None
            kind = "same" if tag == "equal" else "added" if left is None else "removed" if right is None else "changed"
            yield Pair(
                kind,
                None if left is None else left + 1,
                "" if left is None else old[left],
                None if right is None else right + 1,
                "" if right is None else new[right],
            )


def _shortened(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Leave lines out that did not change and stand far from those that did."""
    near = {
        place + step for place, pair in enumerate(pairs) if pair.kind != "same" for step in range(-AROUND, AROUND + 1)
    }
    skipped = 0
    for place, pair in enumerate(pairs):
        if place in near or not near:
            if skipped:
                yield Pair("skipped", None, f"{skipped} lines are the same", None, "")
            skipped = 0
            yield pair
        else:
            skipped += 1
    if skipped:
        yield Pair("skipped", None, f"{skipped} lines are the same", None, "")
