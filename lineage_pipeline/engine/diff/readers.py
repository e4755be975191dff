"""Who reads, and who still names what is gone: decided on the head."""

from collections.abc import Iterable, Iterator

import msgspec

from lineage_pipeline.engine.diff.index import ADDING, WRITING, Index, Place, maker
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.renames import PROJECTION
from lineage_pipeline.vocabulary.plan import MODULES
from lineage_pipeline.vocabulary.sets import EdgeType, ObjectKind, Subtype
from lineage_pipeline.vocabulary.tables import ColumnEdge, Consumer, StatementRow

STAR, POSITIONAL, NATURAL, GUESSED = "star", "positional insert", "natural join", "guessed"

UNRESOLVED = "?"

COUNTING = ("SERIAL", "BIGSERIAL", "SMALLSERIAL", "ROWVERSION")
"""How types begin that give a column its values."""

UNKNOWN_COLUMN, MISMATCH = "UNKNOWN_COLUMN", "INSERT_ARITY_MISMATCH"

LASTING = frozenset({ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW, *MODULES})
"""What reads again whenever it is asked, and not when it was written alone."""


class Reader(msgspec.Struct, frozen=True):
    """One use of a column or an object; `column` is None where the whole statement feels it."""

    object: str
    column: str | None
    place: Place
    line: int | None
    direct: bool = True
    subtype: Subtype | None = None
    approximate: bool = False
    expression: str = ""
    path: str | None = None
    masking: bool = False


def column_readers(side: Index, name: str, column: str) -> list[Reader]:
    """List the uses of a column."""
    return [_reader(side, edge) for edge in side.edges_from.get((name, column), ())]


def object_readers(side: Index, name: str) -> list[Reader]:
    """List the statements that read an object, but for those that fill it themselves."""
    found = side.readers.get(name, ())
    return [Reader(reader, None, place, side.line(place)) for reader, place in found if reader != name]


def has_readers(side: Index, name: str) -> bool:
    """Say whether anybody but the object itself reads it."""
    return any(reader != name for reader, _ in side.readers.get(name, ()))


def object_writers(side: Index, name: str) -> list[Reader]:
    """List the statements that put rows into an object."""
    return [Reader(name, None, place, side.line(place)) for place in side.writers.get(name, ())]


def referring(side: Index, name: str) -> list[Reader]:
    """List the statements that make a table whose foreign key points to an object."""
    rows = (one for rows in side.constraints.values() for one in rows)
    tables = {one.object for one in rows if one.kind == "foreign key" and one.expression == name} - {name}
    places = [(table, place) for table in sorted(tables) for place in side.makers.get(table, ())[:1]]
    return [Reader(table, None, place, side.line(place)) for table, place in places]


def omitting(side: Index, name: str, column: str) -> list[Reader]:
    """List the statements that add rows to an object without a value for a column, which has none of its own."""
    type_ = (known.type or "") if (known := side.columns.get(name, {}).get(column)) else ""
    if column in side.supplied(name) or type_.upper().startswith(COUNTING):
        return []
    bodies = [body for body in side.bodies.get(name, ()) if body.kind in ADDING]
    places = [body.place for body in bodies if (PROJECTION, column) not in body.facets]
    return [Reader(name, None, place, side.line(place)) for place in places if place in side.writers.get(name, ())]


def callers(pair: Pair, name: str) -> list[Reader]:
    """List the calls of a module that stand as they were; one that was edited is taken to have been put right."""
    found = [Reader(caller, None, place, pair.head.line(place)) for caller, place in pair.head.callers.get(name, ())]
    return [reader for reader in found if pair.is_kept(reader.place)]


def possible_readers(side: Index, name: str) -> list[Reader]:
    """List the statements that read an object and may name any of its columns: parts of their text are not known."""
    found = [
        Reader(reader, None, place, side.line(place), approximate=True)
        for reader, place in side.readers.get(name, ())
        if GUESSED in side.features(place)
    ]
    return list(dict.fromkeys(found))


def positional_writers(pair: Pair, name: str) -> list[Reader]:
    """List the INSERTs without a column list into an object that nobody edited along with it and that no longer fit."""
    writers = [reader for reader in object_writers(pair.head, name) if pair.is_kept(reader.place)]
    counting = [reader for reader in writers if POSITIONAL in pair.head.features(reader.place)]
    return [reader for reader in counting if not _still_fits(pair, reader)]


def _still_fits(pair: Pair, reader: Reader) -> bool:
    """Say whether each value of an INSERT goes where it went, and nobody misses one: all that it counts fits still."""
    side, key = pair.head, pair.head.fingerprint(reader.place)
    if key not in pair.kept or side.kind(reader.place) not in WRITING:  # what a file holds nobody knows
        return False
    before = _values(pair.base, reader.object, pair.kept[key][0])
    after = _values(side, reader.object, reader.place)
    left = side.columns.get(reader.object, {})
    told = (one for one in side.lineage.diagnostics if one.code == MISMATCH and one.path == reader.place[0])
    moved = any(text != after.get(column) for column, text in before.items() if column in left)
    return bool(after) and not moved and not any(_covers(side.statements[reader.place], one.line) for one in told)


def _values(side: Index, name: str, place: Place) -> dict[str, str]:
    """Give what a statement puts into each column of an object."""
    bodies = [body for body in side.bodies.get(name, ()) if body.place == place]
    return {
        column: facet.text for body in bodies for (kind, column), facet in body.facets.items() if kind == PROJECTION
    }


def natural_readers(pair: Pair, name: str, column: str) -> list[Reader]:
    """List who joins by common names, of which a column has become one."""
    return [
        reader
        for reader in object_readers(pair.head, name)
        if NATURAL in pair.head.features(reader.place)
        and any(column in pair.head.columns.get(one, {}) for one in pair.head.reads(reader.place) if one != name)
    ]


def broken_readers(pair: Pair, name: str, column: str) -> list[Reader]:
    """List who still names a column that is gone: by an edge, by a finding, or because nobody touched the statement."""
    found = column_readers(pair.head, name, column)
    for search in (_unresolved, _untouched, _complaints):
        known = {(reader.object, reader.place) for reader in found}
        found += [one for one in search(pair, name, column) if (one.object, one.place) not in known]
    return [_judged(pair, name, column, one) for one in found if not _came_before(pair.head, name, column, one)]


def _came_before(side: Index, name: str, column: str, reader: Reader) -> bool:
    """Say whether a statement reads the column before its own script changes the object: there it has it still."""
    path, ordinal = reader.place
    row = side.objects.get(reader.object)
    if row is not None and row.kind in LASTING:
        return False
    edges = side.edges_from.get((name, column), ())
    later = any(other == path and at > ordinal for other, at in side.makers.get(name, ()))
    return later and any((edge.path, edge.statement) == reader.place for edge in edges)


def _judged(pair: Pair, name: str, column: str, reader: Reader) -> Reader:
    """Doubt a reader only where it was doubtful at base: the head cannot resolve what is gone."""
    edges = pair.base.edges_from.get((name, column), ())
    doubts = [edge.approximate for edge in edges if edge.to_object == reader.object]
    return msgspec.structs.replace(reader, approximate=bool(doubts) and all(doubts))


def takes_star(side: Index, reader: Reader) -> bool:
    """Say whether a statement takes all columns without naming them; what an exposure lists says nothing of them."""
    return STAR in side.features(reader.place) and not side.is_exposure(reader.object)


def star_readers(pair: Pair, name: str, column: str) -> list[Reader]:
    """List who gets a column without naming it."""
    known = [r for r in column_readers(pair.head, name, column) if r.direct and takes_star(pair.head, r)]
    blind = [
        Reader(reader, None, place, pair.head.line(place), approximate=True)
        for reader, place in pair.head.readers.get(name, ())
        if STAR in pair.head.features(place) and (row := pair.head.objects.get(reader)) and row.open
    ]
    return known or blind


def row_facets(side: Index, name: str, place: Place) -> dict[str, str]:
    """Give what a statement does to the rows of an object."""
    bodies = [body for body in side.bodies.get(name, ()) if body.place == place]
    return {name: facet.text for body in bodies for (name, column), facet in body.facets.items() if column == "*"}


def counts_places(pair: Pair, reader: Reader) -> bool:
    """Say whether an untouched statement sorts before a limit, or groups, by another column: it goes by its place."""
    if not pair.is_kept(reader.place):
        return False
    was = pair.kept[pair.head.fingerprint(reader.place)][0]
    before, after = row_facets(pair.base, reader.object, was), row_facets(pair.head, reader.object, reader.place)
    sorted_anew = "limit" in after and before.get("order") != after.get("order")
    return sorted_anew or before.get("grouping") != after.get("grouping")


def positional_sinks(pair: Pair, name: str) -> list[Reader]:
    """List who counts on the number and order of an object's columns: INSERTs without a list, into it or from its star.

    A statement that was edited along with the object is taken to have been put right.
    """
    stars = [reader for reader in object_readers(pair.head, name) if STAR in pair.head.features(reader.place)]
    readers = [reader for reader in stars if POSITIONAL in pair.head.features(reader.place)]
    return [*positional_writers(pair, name), *(reader for reader in readers if not _still_fits(pair, reader))]


def consumers(side: Index, readers: Iterable[Reader]) -> tuple[Consumer, ...]:
    """Name the readers, each once, in order."""
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


def _reader(side: Index, edge: ColumnEdge) -> Reader:
    place = (edge.path, edge.statement)
    span = edge.from_span or edge.span
    return Reader(
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


def _unresolved(pair: Pair, name: str, column: str) -> Iterator[Reader]:
    """Find statements that read the object and name the column, but get no answer."""
    for edge in pair.head.edges_from.get((UNRESOLVED, column), ()):
        if name in pair.head.reads((edge.path, edge.statement)):
            yield _reader(pair.head, edge)


def _complaints(pair: Pair, name: str, column: str) -> Iterator[Reader]:
    """Find statements that read or fill the object and in which the analysis missed a column of this name."""
    missed = [
        one for one in pair.head.lineage.diagnostics if one.code == UNKNOWN_COLUMN and _names(one.message, column)
    ]
    if not missed:
        return
    around = {place: reader for reader, place in pair.head.readers.get(name, ())}
    around |= dict.fromkeys(pair.head.writers.get(name, ()), name)
    for one in sorted(missed, key=lambda one: (one.path or "", one.line or 0)):
        for row in pair.head.statements_in(one.path or ""):
            place = (row.path, row.ordinal)
            if _covers(row, one.line) and (place in around or name in row.reads):
                reader = around.get(place) or row.target or maker(pair.head.statements, place)
                yield Reader(reader, None, place, one.line)


def _names(message: str, column: str) -> bool:
    return message.partition(" ")[0].rpartition(".")[2].strip('"') == column


def _covers(row: StatementRow, line: int | None) -> bool:
    return row.span is not None and row.span.line <= (line or 0) <= row.span.end_line


def lost_with(pair: Pair, name: str, column: str) -> list[Reader]:
    """List who took a column by a star that stands as it was: they lose it as well, and do not fail by that."""
    found = []
    for edge in pair.base.edges_from.get((name, column), ()):
        reader = _reader(pair.base, edge)
        if reader.direct and takes_star(pair.base, reader) and pair.is_kept(reader.place, at_base=True):
            found.append(_moved(pair, reader))
    return found


def _moved(pair: Pair, reader: Reader) -> Reader:
    """Give a reader at base where its statement stands at head."""
    now = pair.kept[pair.base.fingerprint(reader.place)][1]
    shift = (pair.head.line(now) or 0) - (pair.base.line(reader.place) or 0)
    return msgspec.structs.replace(reader, place=now, line=reader.line and reader.line + shift)


def _untouched(pair: Pair, name: str, column: str) -> Iterator[Reader]:
    """Find readers at base whose statements stand at head as they were; a star takes what is there."""
    for edge in pair.base.edges_from.get((name, column), ()):
        place = (edge.path, edge.statement)
        star = edge.type is EdgeType.DIRECT and STAR in pair.base.features(place)
        if pair.is_kept(place, at_base=True) and not star:
            yield _moved(pair, _reader(pair.base, edge))
