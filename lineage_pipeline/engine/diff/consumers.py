"""Consumers of objects and columns at head, including those that still name what is gone."""

from collections.abc import Iterable, Iterator

import msgspec

from lineage_pipeline.engine.diff.index import (
    INSERT_KINDS,
    PROJECTION_FACET,
    WRITE_KINDS,
    LineageIndex,
    StatementKey,
    find_maker,
)
from lineage_pipeline.engine.diff.match import LineagePair
from lineage_pipeline.model.enums import EdgeType, ObjectKind, Subtype
from lineage_pipeline.model.plan import CALLABLE_KINDS
from lineage_pipeline.model.tables import ColumnEdge, Consumer, Span, StatementRow

STAR, POSITIONAL, NATURAL, GUESSED = "star", "positional insert", "natural join", "guessed"
"""Features of statements."""

UNRESOLVED_OBJECT = "?"

AUTO_VALUE_TYPES = ("SERIAL", "BIGSERIAL", "SMALLSERIAL", "ROWVERSION")
"""Prefixes of types that give a column its value."""

UNKNOWN_COLUMN_CODE, ARITY_MISMATCH_CODE = "UNKNOWN_COLUMN", "INSERT_ARITY_MISMATCH"

REEVALUATED_KINDS = frozenset({ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW, *CALLABLE_KINDS})
"""Objects that read their sources again whenever they are used."""


class ConsumerUse(msgspec.Struct, frozen=True):
    """One use of a column or an object; `column` is None where the whole statement is affected."""

    object: str
    column: str | None
    place: StatementKey
    line: int | None
    direct: bool = True
    subtype: Subtype | None = None
    approximate: bool = False
    expression: str = ""
    path: str | None = None
    masking: bool = False


def find_column_readers(side: LineageIndex, name: str, column: str) -> list[ConsumerUse]:
    """The uses of a column."""
    return [_build_use(side, edge) for edge in side.edges_from.get((name, column), ())]


def find_object_readers(side: LineageIndex, name: str) -> list[ConsumerUse]:
    """The statements that read an object, except those that fill it."""
    found = side.readers.get(name, ())
    return [ConsumerUse(reader, None, place, side.line(place)) for reader, place in found if reader != name]


def has_readers(side: LineageIndex, name: str) -> bool:
    """Say whether an object has a reader besides itself."""
    return any(reader != name for reader, _ in side.readers.get(name, ()))


def find_object_writers(side: LineageIndex, name: str) -> list[ConsumerUse]:
    """The statements that write rows to an object."""
    return [ConsumerUse(name, None, place, side.line(place)) for place in side.writers.get(name, ())]


def find_referring_tables(side: LineageIndex, name: str) -> list[ConsumerUse]:
    """The statements that make a table with a foreign key to an object."""
    rows = (one for rows in side.constraints.values() for one in rows)
    tables = {one.object for one in rows if one.kind == "foreign key" and one.expression == name} - {name}
    places = [(table, place) for table in sorted(tables) for place in side.makers.get(table, ())[:1]]
    return [ConsumerUse(table, None, place, side.line(place)) for table, place in places]


def find_omitting_writers(side: LineageIndex, name: str, column: str) -> list[ConsumerUse]:
    """The statements that add rows without a value for a column that has no default."""
    type_ = (known.type or "") if (known := side.columns.get(name, {}).get(column)) else ""
    if column in side.supplied_values(name) or type_.upper().startswith(AUTO_VALUE_TYPES):
        return []
    bodies = [body for body in side.bodies.get(name, ()) if body.kind in INSERT_KINDS]
    places = [body.place for body in bodies if (PROJECTION_FACET, column) not in body.facets]
    return [ConsumerUse(name, None, place, side.line(place)) for place in places if place in side.writers.get(name, ())]


def find_unchanged_callers(pair: LineagePair, name: str) -> list[ConsumerUse]:
    """The unchanged calls of a module; an edited call is assumed to be adapted."""
    found = [
        ConsumerUse(caller, None, place, pair.head.line(place)) for caller, place in pair.head.callers.get(name, ())
    ]
    return [reader for reader in found if pair.is_unchanged(reader.place)]


def find_possible_readers(side: LineageIndex, name: str) -> list[ConsumerUse]:
    """The statements that may read any column of an object: parts of their text are unknown."""
    found = [
        ConsumerUse(reader, None, place, side.line(place), approximate=True)
        for reader, place in side.readers.get(name, ())
        if GUESSED in side.features(place)
    ]
    return list(dict.fromkeys(found))


def find_broken_positional_writers(pair: LineagePair, name: str) -> list[ConsumerUse]:
    """The unchanged INSERTs without a column list that no longer fit an object."""
    writers = [reader for reader in find_object_writers(pair.head, name) if pair.is_unchanged(reader.place)]
    counting = [reader for reader in writers if POSITIONAL in pair.head.features(reader.place)]
    return [reader for reader in counting if not _still_fits(pair, reader)]


def _still_fits(pair: LineagePair, reader: ConsumerUse) -> bool:
    """Say whether each value of an INSERT goes where it went, and none is missing."""
    side, key = pair.head, pair.head.fingerprint(reader.place)
    if key not in pair.unchanged or side.kind(reader.place) not in WRITE_KINDS:  # what a file holds nobody knows
        return False
    before = _stored_values(pair.base, reader.object, pair.unchanged[key][0])
    after = _stored_values(side, reader.object, reader.place)
    left = side.columns.get(reader.object, {})
    misfits = (
        one for one in side.lineage.diagnostics if one.code == ARITY_MISMATCH_CODE and one.path == reader.place[0]
    )
    moved = any(text != after.get(column) for column, text in before.items() if column in left)
    return (
        bool(after) and not moved and not any(_covers_line(side.statements[reader.place], one.line) for one in misfits)
    )


def _stored_values(side: LineageIndex, name: str, place: StatementKey) -> dict[str, str]:
    """What a statement writes to each column of an object."""
    bodies = [body for body in side.bodies.get(name, ()) if body.place == place]
    return {
        column: facet.text
        for body in bodies
        for (kind, column), facet in body.facets.items()
        if kind == PROJECTION_FACET
    }


def find_natural_joins(pair: LineagePair, name: str, column: str) -> list[ConsumerUse]:
    """The NATURAL JOINs for which a column has become a common one."""
    return [
        reader
        for reader in find_object_readers(pair.head, name)
        if NATURAL in pair.head.features(reader.place)
        and any(column in pair.head.columns.get(one, {}) for one in pair.head.reads(reader.place) if one != name)
    ]


def find_broken_readers(pair: LineagePair, name: str, column: str) -> list[ConsumerUse]:
    """The uses of a column that is gone: by an edge, by a finding, or in an unchanged statement."""
    found = find_column_readers(pair.head, name, column)
    for search in (_find_unresolved, _find_unchanged_readers, _find_reported):
        known = {(reader.object, reader.place) for reader in found}
        found += [one for one in search(pair, name, column) if (one.object, one.place) not in known]
    return [
        _with_base_confidence(pair, name, column, one)
        for one in found
        if not _reads_before_change(pair.head, name, column, one) and not _read_before_change(pair, name, column, one)
    ]


def _read_before_change(pair: LineagePair, name: str, column: str, reader: ConsumerUse) -> bool:
    """Say whether an unchanged statement read the column before its script gave it the name that is gone."""
    key = pair.head.fingerprint(reader.place)
    if key not in pair.unchanged:
        return False
    return _reads_before_change(pair.base, name, column, msgspec.structs.replace(reader, place=pair.unchanged[key][0]))


def _reads_before_change(side: LineageIndex, name: str, column: str, reader: ConsumerUse) -> bool:
    """Say whether a statement reads the column before its own script changes the object."""
    path, ordinal = reader.place
    row = side.objects.get(reader.object)
    if row is not None and row.kind in REEVALUATED_KINDS:
        return False
    edges = side.edges_from.get((name, column), ())
    later = any(other == path and at > ordinal for other, at in side.makers.get(name, ()))
    return later and any((edge.path, edge.statement) == reader.place for edge in edges)


def _with_base_confidence(pair: LineagePair, name: str, column: str, reader: ConsumerUse) -> ConsumerUse:
    """A reader, approximate only where it was so at base: the head cannot resolve what is gone."""
    edges = pair.base.edges_from.get((name, column), ())
    doubts = [edge.approximate for edge in edges if edge.to_object == reader.object]
    return msgspec.structs.replace(reader, approximate=bool(doubts) and all(doubts))


def takes_star(side: LineageIndex, reader: ConsumerUse) -> bool:
    """Say whether a statement takes all columns by a star; an exposure does not."""
    return STAR in side.features(reader.place) and not side.is_exposure(reader.object)


def takes_star_of(side: LineageIndex, name: str, reader: ConsumerUse) -> bool:
    """Say whether a star of a statement is over this object: columns that one star brings stand at one place.

    A star over a CTE that lists the object's columns goes by their names.
    """
    row, columns = side.objects.get(name), side.columns.get(name, {})
    if not takes_star(side, reader):
        return False
    if row is None or row.open or len(columns) < 2:  # noqa: PLR2004
        return True
    taken = [
        edge
        for edge in side.edges_at.get(reader.place, ())
        if edge.from_object == name and edge.to_object == reader.object and edge.type is EdgeType.DIRECT
    ]
    by_place: dict[Span | None, set[str]] = {}
    for edge in taken:
        by_place.setdefault(edge.from_span, set()).add(edge.from_column)
    return any(place is None or len(names) > 1 for place, names in by_place.items())


def find_star_readers(pair: LineagePair, name: str, column: str) -> list[ConsumerUse]:
    """The readers that get a column by a star."""
    known = [r for r in find_column_readers(pair.head, name, column) if r.direct and takes_star(pair.head, r)]
    blind = [
        ConsumerUse(reader, None, place, pair.head.line(place), approximate=True)
        for reader, place in pair.head.readers.get(name, ())
        if STAR in pair.head.features(place) and (row := pair.head.objects.get(reader)) and row.open
    ]
    return known or blind


def list_row_facets(side: LineageIndex, name: str, place: StatementKey) -> dict[str, str]:
    """The facets of what a statement does to the rows of an object."""
    bodies = [body for body in side.bodies.get(name, ()) if body.place == place]
    return {name: facet.text for body in bodies for (name, column), facet in body.facets.items() if column == "*"}


def has_positional_clause(pair: LineagePair, reader: ConsumerUse) -> bool:
    """Say whether an unchanged ORDER BY with LIMIT, or a GROUP BY, now uses another column by its ordinal."""
    if not pair.is_unchanged(reader.place):
        return False
    was = pair.unchanged[pair.head.fingerprint(reader.place)][0]
    before, after = (
        list_row_facets(pair.base, reader.object, was),
        list_row_facets(pair.head, reader.object, reader.place),
    )
    sorted_anew = "limit" in after and before.get("order") != after.get("order")
    return sorted_anew or before.get("grouping") != after.get("grouping")


def find_positional_sinks(pair: LineagePair, name: str) -> list[ConsumerUse]:
    """The INSERTs without a column list into an object or from a star over it.

    A statement that was edited along with the object is assumed to be adapted.
    """
    stars = [reader for reader in find_object_readers(pair.head, name) if STAR in pair.head.features(reader.place)]
    readers = [reader for reader in stars if POSITIONAL in pair.head.features(reader.place)]
    return [
        *find_broken_positional_writers(pair, name),
        *(reader for reader in readers if not _still_fits(pair, reader)),
    ]


def build_consumers(side: LineageIndex, readers: Iterable[ConsumerUse]) -> tuple[Consumer, ...]:
    """The affected consumers, each once, in order."""
    found = {
        (reader.object, reader.column or "", reader.place[0], reader.line or 0): Consumer(
            object=reader.object,
            column=reader.column,
            path=reader.place[0],
            line=reader.line,
            owners=row.owners if (row := side.objects.get(reader.object)) else (),
        )
        for reader in readers
    }
    return tuple(found[key] for key in sorted(found))


def _build_use(side: LineageIndex, edge: ColumnEdge) -> ConsumerUse:
    place = (edge.path, edge.statement)
    span = edge.from_span or edge.span
    return ConsumerUse(
        object=edge.to_object,
        column=None if edge.to_column == "*" else edge.to_column,
        place=place,
        line=span.line if span else side.line(place),
        direct=edge.type is EdgeType.DIRECT,
        subtype=edge.subtype,
        approximate=edge.approximate,
        expression=edge.expression,
        path=edge.from_path,
        masking=edge.masking,
    )


def _find_unresolved(pair: LineagePair, name: str, column: str) -> Iterator[ConsumerUse]:
    """Statements that read the object and name the column, but cannot resolve it."""
    for edge in pair.head.edges_from.get((UNRESOLVED_OBJECT, column), ()):
        if name in pair.head.reads((edge.path, edge.statement)):
            yield _build_use(pair.head, edge)


def _find_reported(pair: LineagePair, name: str, column: str) -> Iterator[ConsumerUse]:
    """Statements that read or write the object and for which an unknown column of this name is reported."""
    missed = [
        one
        for one in pair.head.lineage.diagnostics
        if one.code == UNKNOWN_COLUMN_CODE and _names_column(one.message, column)
    ]
    if not missed:
        return
    around = {place: reader for reader, place in pair.head.readers.get(name, ())}
    around |= dict.fromkeys(pair.head.writers.get(name, ()), name)
    for one in sorted(missed, key=lambda one: (one.path or "", one.line or 0)):
        for row in pair.head.statements_in(one.path or ""):
            place = (row.path, row.ordinal)
            if _covers_line(row, one.line) and (place in around or name in row.reads):
                reader = around.get(place) or row.target or find_maker(pair.head.statements, place)
                yield ConsumerUse(reader, None, place, one.line)


def _names_column(message: str, column: str) -> bool:
    return message.partition(" ")[0].rpartition(".")[2].strip('"') == column


def _covers_line(row: StatementRow, line: int | None) -> bool:
    return row.span is not None and row.span.line <= (line or 0) <= row.span.end_line


def find_losing_stars(pair: LineagePair, name: str, column: str) -> list[ConsumerUse]:
    """The unchanged stars that lose a column without failing."""
    found = []
    for edge in pair.base.edges_from.get((name, column), ()):
        reader = _build_use(pair.base, edge)
        if reader.direct and takes_star(pair.base, reader) and pair.is_unchanged(reader.place, at_base=True):
            found.append(_at_head(pair, reader))
    return found


def _at_head(pair: LineagePair, reader: ConsumerUse) -> ConsumerUse:
    """A use at base, at the head position of its statement."""
    now = pair.unchanged[pair.base.fingerprint(reader.place)][1]
    shift = (pair.head.line(now) or 0) - (pair.base.line(reader.place) or 0)
    return msgspec.structs.replace(reader, place=now, line=reader.line and reader.line + shift)


def _find_unchanged_readers(pair: LineagePair, name: str, column: str) -> Iterator[ConsumerUse]:
    """The readers at base whose statements are unchanged at head; stars adapt."""
    for edge in pair.base.edges_from.get((name, column), ()):
        place = (edge.path, edge.statement)
        star = edge.type is EdgeType.DIRECT and STAR in pair.base.features(place)
        if pair.is_unchanged(place, at_base=True) and not star:
            yield _at_head(pair, _build_use(pair.base, edge))
