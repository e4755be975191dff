"""One lineage by its keys: who reads and writes what, built once, asked by every rule."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from lineage_pipeline.engine.diff.policy import EXPOSURE
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.ir import BRANCHES
from lineage_pipeline.vocabulary.sets import EdgeKind, EdgeType, ObjectKind, Origin, Role
from lineage_pipeline.vocabulary.tables import (
    DECLARATION,
    Column,
    ColumnEdge,
    Constraint,
    Facet,
    ObjectRow,
    StatementRow,
)

Key = TypeVar("Key")

Place = tuple[str, int]
"""A statement: path and ordinal."""

ROUTINES = frozenset({ObjectKind.PROCEDURE, ObjectKind.FUNCTION})

PARAMETER = "@"
"""How the parameters of a module begin among its columns."""

NOT_COMPARED = frozenset({ObjectKind.QUERY, ObjectKind.TEMP_TABLE})

DEFINED, WRITTEN, NAMED = 2, 1, 0
"""How much a repository says about an object: its schema, its rows, or only its name."""


WRITING = frozenset({"INSERT", "INSERT OVERWRITE", "REPLACE", "MERGE", "UPDATE", "DELETE"})

ADDING = frozenset({"INSERT", "INSERT OVERWRITE", "REPLACE"})
"""Statements that leave a column empty which they do not name."""

SUPPLIED = frozenset({"default", "generated"})
"""Constraints that say what a column gets where a writer says nothing."""

READING = frozenset({EdgeKind.READ, EdgeKind.WRITE})

EMPTYING = frozenset({"DELETE"})
"""Statements that take rows away and bring none."""

CONDITION = "CONDITION"
"""How a statement is said to write a module that only decides what runs in it."""


class Body(msgspec.Struct, frozen=True):
    """What one statement puts into one object: its facets by name and column; `kind` is said of those that write."""

    place: Place
    fingerprint: str
    facets: dict[tuple[str, str], Facet]
    kind: str = ""


class Index(msgspec.Struct, frozen=True):
    """The rows of one lineage by object, by column and by statement."""

    lineage: Lineage
    objects: dict[str, ObjectRow]
    columns: dict[str, dict[str, Column]]
    parameters: dict[str, list[Column]]
    constraints: dict[str, list[Constraint]]
    statements: dict[Place, StatementRow]
    bodies: dict[str, list[Body]]
    makers: dict[str, list[Place]]
    writers: dict[str, list[Place]]
    changers: dict[str, list[Place]]
    readers: dict[str, list[tuple[str, Place]]]
    callers: dict[str, list[tuple[str, Place]]]
    edges_from: dict[tuple[str, str], list[ColumnEdge]]
    edges_to: dict[tuple[str, str], list[ColumnEdge]]
    edges_at: dict[Place, list[ColumnEdge]]
    files: dict[str, list[StatementRow]]
    declared: dict[tuple[str, str], tuple[str, int]]

    def definedness(self, name: str) -> int:
        """Say how much is known about an object; one that is not compared counts as named only."""
        row = self.objects.get(name)
        if row is None or row.temporary or row.kind in NOT_COMPARED:
            return NAMED
        if row.origin in (Origin.IMPORTED, Origin.IMPLIED):
            return DEFINED
        return WRITTEN if self.bodies.get(name) or self.makers.get(name) else NAMED

    def is_temporary(self, name: str) -> bool:
        """Say whether an object lasts no longer than its script."""
        row = self.objects.get(name)
        return row is not None and row.temporary

    def is_exposure(self, name: str) -> bool:
        """Say whether an object stands for readers outside, who take what they need of what it lists."""
        row = self.objects.get(name)
        return row is not None and EXPOSURE in row.tags

    def inputs(self, name: str, column: str, place: Place | None = None) -> list[ColumnEdge]:
        """List the edges that carry values into a column, of one statement or of all."""
        edges = self.edges_to.get((name, column), ())
        return [e for e in edges if e.type is EdgeType.DIRECT and place in (None, (e.path, e.statement))]

    def sources(self, name: str) -> list[str]:
        """List the objects that the statements which make an object read."""
        reads = {read for place in self.makers.get(name, ()) for read in self.reads(place)}
        return sorted(reads - {name})

    def statements_in(self, path: str) -> list[StatementRow]:
        """List the statements of a file."""
        return self.files.get(path, [])

    def supplied(self, name: str, kinds: frozenset[str] = SUPPLIED) -> dict[str, str]:
        """Say what each column gets by itself where a writer leaves it out, whatever the constraint is called."""
        rows = [one for one in self.constraints.get(name, ()) if one.kind in kinds and one.columns]
        return {one.columns[0]: f"{one.kind} {one.expression or ''}".strip() for one in rows}

    def reads(self, place: Place) -> tuple[str, ...]:
        """List the objects that a statement reads."""
        row = self.statements.get(place)
        return row.reads if row else ()

    def line(self, place: Place) -> int | None:
        """Give the line on which a statement starts."""
        row = self.statements.get(place)
        return row.span.line if row and row.span else None

    def fingerprint(self, place: Place) -> str:
        """Give what identifies a statement wherever it stands, empty where nothing is known."""
        row = self.statements.get(place)
        return row.fingerprint if row else ""

    def kind(self, place: Place) -> str:
        """Give the kind of a statement."""
        row = self.statements.get(place)
        return row.kind if row else ""

    def features(self, place: Place) -> tuple[str, ...]:
        """List the features of a statement."""
        row = self.statements.get(place)
        return row.features if row else ()


def is_former(column: Column, owner: ObjectRow | None) -> bool:
    """Say whether a column is only named somewhere: the object is known, and does not have it in the end."""
    known = owner is not None and not owner.open and owner.origin in (Origin.IMPORTED, Origin.IMPLIED)
    return known and column.origin is Origin.INFERRED


def index(lineage: Lineage) -> Index:
    """Arrange the rows of a lineage by their keys."""
    statements = {(row.path, row.ordinal): row for row in lineage.statements}
    routines = {row.object for row in lineage.objects if row.kind in ROUTINES}
    objects = {row.object: row for row in lineage.objects}
    columns: dict[str, dict[str, Column]] = defaultdict(dict)
    parameters: dict[str, list[Column]] = defaultdict(list)
    for column in sorted(lineage.columns, key=lambda column: (column.object, column.ordinal)):
        if column.object in routines and column.name.startswith(PARAMETER):
            parameters[column.object].append(column)
        elif not is_former(column, objects.get(column.object)):
            columns[column.object].setdefault(column.name, column)  # a name that stands twice is known by its first
    constraints: dict[str, list[Constraint]] = defaultdict(list)
    for constraint in lineage.constraints:
        constraints[constraint.object].append(constraint)
    makers = _places(lineage, (Role.DEFINE, Role.ALTER, Role.WRITE))
    passing = {row.object for row in lineage.objects if row.temporary}
    return Index(
        lineage=lineage,
        objects=objects,
        columns=dict(columns),
        parameters=dict(parameters),
        constraints=dict(constraints),
        statements=statements,
        bodies=_bodies(lineage.facets, statements, {name: made for name, made in makers.items() if name in passing}),
        makers=makers,
        writers=_places(lineage, (Role.WRITE,)),
        changers=_places(lineage, (Role.ALTER, Role.DROP)),
        readers=_readers(lineage, statements, passing),
        callers=_callers(lineage, statements),
        edges_from=_edges_from(lineage.column_edges, passing),
        edges_to=_by(lineage.column_edges, lambda edge: (edge.to_object, edge.to_column)),
        edges_at=_by(lineage.column_edges, lambda edge: (edge.path, edge.statement)),
        files=_files(lineage.statements),
        declared={
            (facet.object, facet.column): (facet.path, facet.span.line)
            for facet in lineage.facets
            if facet.name == DECLARATION and facet.span
        },
    )


def _files(statements: Iterable[StatementRow]) -> dict[str, list[StatementRow]]:
    found: dict[str, list[StatementRow]] = defaultdict(list)
    for row in statements:
        found[row.path].append(row)
    return dict(found)


def _bodies(
    facets: Iterable[Facet], statements: dict[Place, StatementRow], fillers: dict[str, list[Place]]
) -> dict[str, list[Body]]:
    parts: dict[tuple[str, Place], dict[tuple[str, str], Facet]] = defaultdict(dict)
    for facet in facets:
        if facet.name == DECLARATION:
            continue
        parts[facet.object, (facet.path, facet.statement)][facet.name, facet.column] = facet
    bodies: dict[str, list[Body]] = defaultdict(list)
    for (name, place), named in sorted(parts.items(), key=lambda part: part[0]):
        row = statements.get(place)
        kind = _kind(row, name) if row else ""
        bodies[name].append(Body(place, _identity(row, statements, fillers) if row else "", named, kind))
    return dict(bodies)


def _kind(row: StatementRow, name: str) -> str:
    """Say how a statement writes an object: what it reports of its rows into another one is added there."""
    if row.kind in BRANCHES:
        return CONDITION
    if row.kind not in WRITING:
        return ""
    return row.kind if row.target in (name, None) else "INSERT"


def _identity(row: StatementRow, statements: dict[Place, StatementRow], fillers: dict[str, list[Place]]) -> str:
    """Give what a statement says, with all that fills the temporary objects which it reads."""
    if not fillers or fillers.keys().isdisjoint(row.reads):
        return row.fingerprint
    found, pending = {(row.path, row.ordinal): row}, [row]
    while pending:
        for place in (place for name in pending.pop().reads for place in fillers.get(name, ())):
            if place not in found and place in statements:
                found[place] = statements[place]
                pending.append(statements[place])
    return " ".join(one.fingerprint for _, one in sorted(found.items()))


def _places(lineage: Lineage, roles: tuple[Role, ...]) -> dict[str, list[Place]]:
    places: dict[str, set[Place]] = defaultdict(set)
    for row in lineage.object_statements:
        if row.role in roles:
            places[row.object].add((row.path, row.ordinal))
    return {name: sorted(found) for name, found in places.items()}


def _readers(
    lineage: Lineage, statements: dict[Place, StatementRow], passing: set[str]
) -> dict[str, list[tuple[str, Place]]]:
    """List who reads each object in which statement; who hands on a parameter does not read what its module gives."""
    readers: dict[str, set[tuple[str, Place]]] = defaultdict(set)
    for edge in lineage.object_edges:
        places = [(ref.path, ref.statement) for ref in edge.statements]
        if edge.kind is EdgeKind.WRITE:  # a statement that fills one object may take rows from another without a value
            read = [place for place in places if place in statements and edge.from_object in statements[place].reads]
            places = read if edge.to_object not in passing else []
        if edge.kind in READING:
            readers[edge.from_object].update((edge.to_object, place) for place in places)
    for one in (edge for edge in lineage.column_edges if not edge.from_column.startswith(PARAMETER)):
        readers[one.from_object].add((one.to_object, (one.path, one.statement)))
    return {name: sorted(found) for name, found in readers.items()}


def _callers(lineage: Lineage, statements: dict[Place, StatementRow]) -> dict[str, list[tuple[str, Place]]]:
    """List who calls each module in which statement; a statement that makes nothing goes by its file."""
    callers: dict[str, set[tuple[str, Place]]] = defaultdict(set)
    for row in lineage.object_statements:
        if row.role is Role.CALL:
            place = (row.path, row.ordinal)
            callers[row.object].add((maker(statements, place), place))
    return {name: sorted(found) for name, found in callers.items()}


def maker(statements: dict[Place, StatementRow], place: Place) -> str:
    """Say what a statement makes, else the module or the file that it stands in."""
    row = statements.get(place)
    while row is not None and row.target is None and row.parent is not None:
        row = statements.get((row.path, row.parent))
    return (row.target if row else None) or place[0]


def _edges_from(edges: Iterable[ColumnEdge], passing: set[str]) -> dict[tuple[str, str], list[ColumnEdge]]:
    """List the edges that go out from each column, and those that pass one of a temporary object."""
    found = _by(edges, lambda edge: (edge.from_object, edge.from_column))
    for edge in edges if passing else ():
        for hop in edge.hops:
            if hop.object in passing:
                found.setdefault((hop.object, hop.column), []).append(edge)
    return found


def _by(edges: Iterable[ColumnEdge], key: Callable[[ColumnEdge], Key]) -> dict[Key, list[ColumnEdge]]:
    found: dict[Key, list[ColumnEdge]] = defaultdict(list)
    for edge in edges:
        found[key(edge)].append(edge)
    return dict(found)
