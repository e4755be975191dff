"""Comparison pages: the changes of a comparison, and the SQL of an object before and after."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from lineage_pipeline.export.escaping import escape_hidden
from lineage_pipeline.web import mart_queries
from lineage_pipeline.web.api import RequestError, choose_snapshot
from lineage_pipeline.web.marts import Marts, MissingFiles
from lineage_pipeline.web.rendering import render_page, requested_snapshot

CONTEXT_LINES = 4
"""The number of unchanged lines shown around changed ones."""


class LinePair(NamedTuple):
    """A line before and after; `kind` is `same`, `changed`, `added`, `removed`, or `skipped` for omitted lines."""

    kind: str
    before_number: int | None
    before: str
    after_number: int | None
    after: str


def show_changes(request: Request) -> Response:
    """Show the comparisons, and the changes of one of them."""
    marts: Marts = request.app.state.marts
    pairs = mart_queries.list_comparisons(marts)
    base, head = (request.query_params.get(name, "") for name in ("base", "head"))
    if not (base and head) and pairs:
        wanted = request.query_params.get("snapshot", "")
        row = next((row for row in pairs if row["head"] == wanted), pairs[0])
        base, head = row["base"], row["head"]
    found = mart_queries.list_changes(marts, base, head) if base and head else []
    return render_page(request, "changes.html", head, pairs=pairs, base=base, head=head, changes=found)


def show_side_by_side(request: Request) -> Response:
    """Show the file that defines an object, before and after."""
    marts, head = requested_snapshot(request)
    base = choose_snapshot(marts, request.query_params.get("base", ""))
    name = request.query_params.get("object", "")
    sides = [_definition_text(marts, snapshot, name) for snapshot in (base, head)]
    if sides[0] is None and sides[1] is None:
        raise RequestError(f"there is no SQL of {escape_hidden(name)} in these snapshots", 404)
    before, after = (side or ("", "") for side in sides)
    pairs = list(_skip_unchanged(list(align_lines(before[1], after[1]))))
    return render_page(request, "sql.html", head, base=base, object=name, pairs=pairs, paths=(before[0], after[0]))


def _definition_text(marts: Marts, snapshot: str, name: str) -> tuple[str, str] | None:
    """Return the path and the text of the file that defines an object, or None."""
    try:
        return mart_queries.get_definition(marts, snapshot, name)
    except MissingFiles:
        return None


def align_lines(before: str, after: str) -> Iterator[LinePair]:
    """Yield the lines of two texts side by side."""
    old, new = before.splitlines(), after.splitlines()
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for step in range(max(i_end - i, j_end - j)):
            left = i + step if i + step < i_end else None
            right = j + step if j + step < j_end else None
            kind = "same" if tag == "equal" else "added" if left is None else "removed" if right is None else "changed"
            yield LinePair(
                kind=kind,
                before_number=None if left is None else left + 1,
                before="" if left is None else old[left],
                after_number=None if right is None else right + 1,
                after="" if right is None else new[right],
            )


def _skip_unchanged(pairs: Sequence[LinePair]) -> Iterator[LinePair]:
    """Replace unchanged lines far from changed ones by a count."""
    near = {
        place + step
        for place, pair in enumerate(pairs)
        if pair.kind != "same"
        for step in range(-CONTEXT_LINES, CONTEXT_LINES + 1)
    }
    skipped = 0
    for place, pair in enumerate(pairs):
        if place in near or not near:
            if skipped:
                yield LinePair(
                    kind="skipped",
                    before_number=None,
                    before=f"{skipped} lines are the same",
                    after_number=None,
                    after="",
                )
            skipped = 0
            yield pair
        else:
            skipped += 1
    if skipped:
        yield LinePair(
            kind="skipped", before_number=None, before=f"{skipped} lines are the same", after_number=None, after=""
        )
