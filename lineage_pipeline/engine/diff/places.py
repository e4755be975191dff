"""Where a change stands: at the statement that makes it, else where the column or the object is defined."""

from lineage_pipeline.engine.diff.finding import Finding
from lineage_pipeline.engine.diff.index import Index, Place
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.renames import PROJECTION

Spot = tuple[str, int | None]

ALTERED = ("OBJ001", "OBJ002", "OBJ008", "COL", "TYP", "NUL", "CON")
"""Rules whose findings a statement that alters or drops the object may bring about."""


def place(pair: Pair, finding: Finding) -> tuple[str | None, int | None]:
    """Say where a finding stands: at the head's column, else its object, else where it was at base."""
    if spot := _altered_at(pair, finding):
        return spot
    names = finding.object, finding.column or ""
    declared = any(names in side.declared for side in (pair.base, pair.head))
    for side, (name, column) in (
        (pair.head, pair.renames.names.column(*names)),
        (pair.head, names),
        (pair.base, names),
    ):
        spot = _column_place(side, name, column, declared=declared) or _object_place(side, name)
        if spot:
            return spot
    return None, None


def _column_place(side: Index, name: str, column_name: str, *, declared: bool) -> Spot | None:
    """Give the place of a column's expression, else of the statement that defines it; who fills it does not."""
    for body in side.bodies.get(name, ()):
        facet = body.facets.get((PROJECTION, column_name))
        if facet and facet.span and not (declared and body.kind):
            return facet.path, facet.span.line
    if (name, column_name) in side.declared:
        return side.declared[name, column_name]
    column = side.columns.get(name, {}).get(column_name)
    if column is None or column.path is None or column.statement is None:
        return None
    return column.path, side.line((column.path, column.statement))


def _object_place(side: Index, name: str) -> Spot | None:
    row = side.objects.get(name)
    return (row.path, row.line) if row and row.path else None


def _altered_at(pair: Pair, finding: Finding) -> Spot | None:
    """Give the new statement that alters or drops the object, and names the column."""
    if not finding.rule.startswith(ALTERED):
        return None
    names = dict.fromkeys((finding.object, pair.renames.names.object(finding.object)))
    found = [place for name in names for place in pair.head.changers.get(name, ()) if not pair.is_kept(place)]
    told = [place for place in found if _mentions(pair.head, place, finding.column or "")]
    return (told[-1][0], pair.head.line(told[-1])) if told else None


def _mentions(side: Index, place: Place, column: str) -> bool:
    row = side.statements.get(place)
    return row is not None and column.casefold() in row.preview.casefold()
