"""Tables of what moves a severity: how a reader uses what changed."""

from collections.abc import Callable

from lineage_pipeline.engine.diff.finding import Finding
from lineage_pipeline.engine.diff.implication import keeps_null_out
from lineage_pipeline.engine.diff.joins import FILTER
from lineage_pipeline.engine.diff.lattice import is_narrower, read_type
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.policy import at_most, worst
from lineage_pipeline.engine.diff.readers import Reader
from lineage_pipeline.vocabulary.sets import ObjectKind, Severity, Subtype
from lineage_pipeline.vocabulary.tables import Column

NONE_OF = ("not(in(", "<> compare all(", "(compare all(")
"""How a canonical text keeps rows whose value is in no row of a query."""

NEEDS_ROWS = frozenset({"TYP002", "TYP003", "TYP004"})
"""Rules that whoever fills the column feels as well."""

SECRETS = frozenset({"EXP005"})
"""Rules that are as serious as they say even where nobody reads: somebody may look."""

_JOINS_OR_AGGREGATES = frozenset({Subtype.JOIN, Subtype.AGGREGATION, Subtype.GROUP_BY})

GRAIN: dict[str, frozenset[Subtype]] = {"ROW005": _JOINS_OR_AGGREGATES, "ROW006": _JOINS_OR_AGGREGATES}
"""Rules after which a row stands for something else, and the uses that break by it."""


def as_found(pair: Pair, finding: Finding, reader: Reader) -> Severity:
    """A finding is as serious at a reader as in itself."""
    return finding.severity


def _widened(pair: Pair, finding: Finding, reader: Reader) -> Severity:
    """A wider value may not fit where it is stored, nor meet its partner in a join, and has another hash."""
    target = _stored(pair, reader)
    narrow = target and target.type and finding.after and is_narrower(target.type, finding.after)
    compared = reader.subtype is Subtype.JOIN or (reader.masking and reader.subtype is not Subtype.AGGREGATION)
    return worst(Severity.POTENTIALLY_BREAKING, finding.severity) if narrow or compared else finding.severity


def _loosened(pair: Pair, finding: Finding, reader: Reader) -> Severity:
    """A null breaks where none may be stored, drops out of a join, and empties a NOT IN."""
    target = _stored(pair, reader)
    refused = target is not None and not target.nullable and reader.subtype is Subtype.IDENTITY
    refused = refused and not _is_kept_out(pair, finding, reader)
    lost = reader.subtype is Subtype.JOIN or _is_emptied(pair, finding, reader)
    return Severity.BREAKING if refused or lost else finding.severity


def _is_kept_out(pair: Pair, finding: Finding, reader: Reader) -> bool:
    """Say whether a reader takes no row in which the value is null."""
    bodies = [body for body in pair.head.bodies.get(reader.object, ()) if body.place == reader.place]
    filters = [facet.text for body in bodies for key, facet in body.facets.items() if key == (FILTER, "*")]
    return any(keeps_null_out(text, f"{finding.object}.{finding.column}") for text in filters)


def _is_emptied(pair: Pair, finding: Finding, reader: Reader) -> bool:
    """Say whether rows are kept that are in none of a list of values: a null among those leaves no row."""
    if "NOT IN" in reader.expression.upper():
        return True
    name = f"{finding.object}.{finding.column}"
    bodies = [body for body in pair.head.bodies.get(reader.object, ()) if body.place == reader.place]
    lines = [line for body in bodies for facet in body.facets.values() for line in facet.text.splitlines()]
    return any(start in line and f"{name}, source " in line for line in lines for start in NONE_OF)


def _recast(pair: Pair, finding: Finding, reader: Reader) -> Severity:
    """A date that became a timestamp does no harm to those who cast it."""
    families = [read_type(text or "").family for text in (finding.before, finding.after)]
    cast = "CAST" in reader.expression.upper() or "::" in reader.expression
    harmless = families == ["date", "timestamp"] and cast
    return at_most(finding.severity, Severity.POTENTIALLY_BREAKING) if harmless else finding.severity


AT_READER: dict[str, Callable[[Pair, Finding, Reader], Severity]] = {
    "TYP001": _widened,
    "TYP003": _recast,
    "TYP004": _widened,
    "NUL001": _loosened,
}
"""Rules whose severity depends on what a reader does."""


def _stored(pair: Pair, reader: Reader) -> Column | None:
    """Give the column of a table that a reader stores the value in."""
    row = pair.head.objects.get(reader.object)
    if row is None or row.kind is not ObjectKind.TABLE or not reader.direct or not reader.column:
        return None
    column = pair.head.columns.get(reader.object, {}).get(reader.column)
    made_here = column is not None and (column.path, column.statement) == reader.place
    return None if made_here else column
