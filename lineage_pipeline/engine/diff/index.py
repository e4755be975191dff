"""LineageIndex: the rows of one lineage by object, column and statement, built once and used by every rule."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from lineage_pipeline.engine.diff.policy import EXPOSURE
from lineage_pipeline.model.analysis import PROGRAM_ENDINGS, LineageTables
from lineage_pipeline.model.enums import EdgeKind, EdgeType, ObjectKind, Origin, Role
from lineage_pipeline.model.ir import BRANCH_KINDS
from lineage_pipeline.model.tables import DECLARATION, Column, ColumnEdge, Constraint, Facet, ObjectRow, StatementRow

KeyT = TypeVar("KeyT")

StatementKey = tuple[str, int]
"""A statement: path and ordinal."""

ROUTINES = frozenset({ObjectKind.PROCEDURE, ObjectKind.FUNCTION})

PARAMETER_PREFIX = "@"
"""Prefix of the parameters of a module among its columns."""

DEFINED, WRITTEN, NAMED = 2, 1, 0
"""How much a repository says about an object: its schema, its rows, or only its name."""


WRITE_KINDS = frozenset({"INSERT", "INSERT OVERWRITE", "REPLACE", "MERGE", "UPDATE", "DELETE"})

INSERT_KINDS = frozenset({"INSERT", "INSERT OVERWRITE", "REPLACE"})
"""Statements that leave a column empty which they do not name."""

SUPPLYING_CONSTRAINTS = frozenset({"default", "generated"})
"""Constraints that give a column its value where a writer omits it."""

READ_EDGE_KINDS = frozenset({EdgeKind.READ, EdgeKind.WRITE})

DELETE_KINDS = frozenset({"DELETE"})
"""Statements that remove rows and add none."""

CONDITION_KIND = "CONDITION"
"""The kind of a body that is a condition: it only decides what runs in its module."""


class StatementBody(msgspec.Struct, frozen=True):
    """What one statement writes to one object: its facets by name and column; `kind` is set for writes.

    `query` has the plans of the rows that it writes, one a line, and is empty where there is none.
    """

    place: StatementKey
    fingerprint: str
    facets: dict[tuple[str, str], Facet]
    kind: str = ""
    query: str = ""


class LineageIndex(msgspec.Struct, frozen=True):
    """The rows of one lineage by object, by column and by statement."""

    lineage: LineageTables
    objects: dict[str, ObjectRow]
    columns: dict[str, dict[str, Column]]
    parameters: dict[str, list[Column]]
    constraints: dict[str, list[Constraint]]
    statements: dict[StatementKey, StatementRow]
    bodies: dict[str, list[StatementBody]]
    makers: dict[str, list[StatementKey]]
    writers: dict[str, list[StatementKey]]
    changers: dict[str, list[StatementKey]]
    readers: dict[str, list[tuple[str, StatementKey]]]
    callers: dict[str, list[tuple[str, StatementKey]]]
    edges_from: dict[tuple[str, str], list[ColumnEdge]]
    edges_to: dict[tuple[str, str], list[ColumnEdge]]
    edges_at: dict[StatementKey, list[ColumnEdge]]
    files: dict[str, list[StatementRow]]
    declared: dict[tuple[str, str], tuple[str, int]]

    def definition_level(self, name: str) -> int:
        """How much is known about an object; one that is not compared counts as named only."""
        row = self.objects.get(name)
        if row is None or row.temporary or self._is_passing_query(row):
            return NAMED
        if row.origin in (Origin.IMPORTED, Origin.IMPLIED):
            return DEFINED
        return WRITTEN if self.bodies.get(name) or self.makers.get(name) else NAMED

    def _is_passing_query(self, row: ObjectRow) -> bool:
        """Say whether an object is a query in a program: it is edited with its reader."""
        return row.kind is ObjectKind.QUERY and (row.path or "").lower().endswith(PROGRAM_ENDINGS)

    def is_temporary(self, name: str) -> bool:
        """Say whether an object is temporary."""
        row = self.objects.get(name)
        return row is not None and row.temporary

    def last_name(self, name: str) -> str:
        """The name of an object without its schema and database."""
        row = self.objects.get(name)
        return row.name if row is not None else name.rpartition(".")[2]

    def is_exposure(self, name: str) -> bool:
        """Say whether an object represents external readers, which take only what they need."""
        row = self.objects.get(name)
        return row is not None and EXPOSURE in row.tags

    def inputs(self, name: str, column: str, place: StatementKey | None = None) -> list[ColumnEdge]:
        """The direct edges into a column, of one statement or of all."""
        edges = self.edges_to.get((name, column), ())
        return [e for e in edges if e.type is EdgeType.DIRECT and place in (None, (e.path, e.statement))]

    def sources(self, name: str) -> list[str]:
        """The objects read by the statements that make an object."""
        reads = {read for place in self.makers.get(name, ()) for read in self.reads(place)}
        return sorted(reads - {name})

    def statements_in(self, path: str) -> list[StatementRow]:
        """The statements of a file."""
        return self.files.get(path, [])

    def supplied_values(self, name: str, kinds: frozenset[str] = SUPPLYING_CONSTRAINTS) -> dict[str, str]:
        """What each column gets where a writer omits it, by kind and expression of the constraint."""
        rows = [one for one in self.constraints.get(name, ()) if one.kind in kinds and one.columns]
        return {one.columns[0]: f"{one.kind} {one.expression or ''}".strip() for one in rows}

    def reads(self, place: StatementKey) -> tuple[str, ...]:
        """The objects that a statement reads."""
        row = self.statements.get(place)
        return row.reads if row else ()

    def line(self, place: StatementKey) -> int | None:
        """The line on which a statement starts."""
        row = self.statements.get(place)
        return row.span.line if row and row.span else None

    def fingerprint(self, place: StatementKey) -> str:
        """The fingerprint of a statement wherever it stands, empty where it is unknown."""
        row = self.statements.get(place)
        return row.fingerprint if row else ""

    def kind(self, place: StatementKey) -> str:
        """The kind of a statement."""
        row = self.statements.get(place)
        return row.kind if row else ""

    def features(self, place: StatementKey) -> tuple[str, ...]:
        """The features of a statement."""
        row = self.statements.get(place)
        return row.features if row else ()


def is_reference_only(column: Column, owner: ObjectRow | None) -> bool:
    """Say whether a column is only named somewhere: its object is fully known and does not have it."""
    known = owner is not None and not owner.open and owner.origin in (Origin.IMPORTED, Origin.IMPLIED)
    return known and column.origin is Origin.INFERRED


def build_index(lineage: LineageTables) -> LineageIndex:
    """Index the rows of a lineage."""
    statements = {(row.path, row.ordinal): row for row in lineage.statements}
    routines = {row.object for row in lineage.objects if row.kind in ROUTINES}
    makers = _statements_by_object(lineage, (Role.DEFINE, Role.ALTER, Role.WRITE))
    objects = {row.object: _with_lasting(row, makers.get(row.object, ()), statements) for row in lineage.objects}
    columns: dict[str, dict[str, Column]] = defaultdict(dict)
    parameters: dict[str, list[Column]] = defaultdict(list)
    for column in sorted(lineage.columns, key=lambda column: (column.object, column.ordinal)):
        if column.object in routines and column.name.startswith(PARAMETER_PREFIX):
            parameters[column.object].append(column)
        elif not is_reference_only(column, objects.get(column.object)):
            columns[column.object].setdefault(column.name, column)  # a name that stands twice is known by its first
    constraints: dict[str, list[Constraint]] = defaultdict(list)
    for constraint in lineage.constraints:
        constraints[constraint.object].append(constraint)
    passing = {row.object for row in objects.values() if row.temporary}
    return LineageIndex(
        lineage=lineage,
        objects=objects,
        columns=dict(columns),
        parameters=dict(parameters),
        constraints=dict(constraints),
        statements=statements,
        bodies=_build_bodies(
            lineage.facets, statements, {name: made for name, made in makers.items() if name in passing}
        ),
        makers=makers,
        writers=_statements_by_object(lineage, (Role.WRITE,)),
        changers=_statements_by_object(lineage, (Role.ALTER, Role.DROP)),
        readers=_readers_by_object(lineage, statements, passing),
        callers=_callers_by_module(lineage, statements),
        edges_from=_edges_by_source(lineage.column_edges, passing),
        edges_to=_group_edges(lineage.column_edges, lambda edge: (edge.to_object, edge.to_column)),
        edges_at=_group_edges(lineage.column_edges, lambda edge: (edge.path, edge.statement)),
        files=_statements_by_file(lineage.statements),
        declared={
            (facet.object, facet.column): (facet.path, facet.span.line)
            for facet in lineage.facets
            if facet.name == DECLARATION and facet.span
        },
    )


def _with_lasting(
    row: ObjectRow, makers: Iterable[StatementKey], statements: Mapping[StatementKey, StatementRow]
) -> ObjectRow:
    """An object; a name that a client fills in (`${table}`) is no variable of a script, and what it means lasts."""
    if not row.temporary or not is_filled_in(row) or any(statements[place].kind == "DECLARE" for place in makers):
        return row
    return msgspec.structs.replace(row, temporary=False)


def is_filled_in(row: ObjectRow) -> bool:
    """Say whether a name belongs to a file and begins like a variable."""
    return row.name.startswith(PARAMETER_PREFIX) and row.schema.startswith('"')


def _statements_by_file(statements: Iterable[StatementRow]) -> dict[str, list[StatementRow]]:
    found: dict[str, list[StatementRow]] = defaultdict(list)
    for row in statements:
        found[row.path].append(row)
    return dict(found)


def _build_bodies(
    facets: Iterable[Facet], statements: dict[StatementKey, StatementRow], fillers: dict[str, list[StatementKey]]
) -> dict[str, list[StatementBody]]:
    parts: dict[tuple[str, StatementKey], dict[tuple[str, str], Facet]] = defaultdict(dict)
    for facet in facets:
        if facet.name == DECLARATION:
            continue
        parts[facet.object, (facet.path, facet.statement)][facet.name, facet.column] = facet
    bodies: dict[str, list[StatementBody]] = defaultdict(list)
    for (name, place), named in sorted(parts.items(), key=lambda part: part[0]):
        row = statements.get(place)
        kind = _write_kind(row, name) if row else ""
        mark = _body_fingerprint(row, statements, fillers) if row else ""
        held, query = named.get((VARIABLE_FACET, "*")), named.pop((QUERY_FACET, "*"), None)
        mark = f"{mark} {held.fingerprint}" if mark and held else mark
        bodies[name].append(StatementBody(place, mark, named, kind, query.text if query is not None else ""))
    return dict(bodies)


def _write_kind(row: StatementRow, name: str) -> str:
    """How a statement writes an object; rows that it logs to another one are an INSERT there."""
    if row.kind in BRANCH_KINDS:
        return CONDITION_KIND
    if row.kind not in WRITE_KINDS:
        return ""
    return row.kind if row.target in (name, None) else "INSERT"


def _body_fingerprint(
    row: StatementRow, statements: dict[StatementKey, StatementRow], fillers: dict[str, list[StatementKey]]
) -> str:
    """The fingerprint of a statement, with those of all that fills the temporary tables it reads."""
    if not fillers or fillers.keys().isdisjoint(row.reads):
        return row.fingerprint
    found, pending = {(row.path, row.ordinal): row}, [row]
    while pending:
        for place in (place for name in pending.pop().reads for place in fillers.get(name, ())):
            if place not in found and place in statements:
                found[place] = statements[place]
                pending.append(statements[place])
    return " ".join(one.fingerprint for _, one in sorted(found.items()))


def _statements_by_object(lineage: LineageTables, roles: tuple[Role, ...]) -> dict[str, list[StatementKey]]:
    places: dict[str, set[StatementKey]] = defaultdict(set)
    for row in lineage.object_statements:
        if row.role in roles:
            places[row.object].add((row.path, row.ordinal))
    return {name: sorted(found) for name, found in places.items()}


def _readers_by_object(
    lineage: LineageTables, statements: dict[StatementKey, StatementRow], passing: set[str]
) -> dict[str, list[tuple[str, StatementKey]]]:
    """The readers of each object, with their statements; passing on a parameter is no read."""
    readers: dict[str, set[tuple[str, StatementKey]]] = defaultdict(set)
    for edge in lineage.object_edges:
        places = [(ref.path, ref.statement) for ref in edge.statements]
        if edge.kind is EdgeKind.WRITE:  # a statement that fills one object may take rows from another without a value
            read = [place for place in places if place in statements and edge.from_object in statements[place].reads]
            places = read if edge.to_object not in passing else []
        if edge.kind in READ_EDGE_KINDS:
            readers[edge.from_object].update((edge.to_object, place) for place in places)
    for one in (edge for edge in lineage.column_edges if not edge.from_column.startswith(PARAMETER_PREFIX)):
        readers[one.from_object].add((one.to_object, (one.path, one.statement)))
    return {name: sorted(found) for name, found in readers.items()}


def _callers_by_module(
    lineage: LineageTables, statements: dict[StatementKey, StatementRow]
) -> dict[str, list[tuple[str, StatementKey]]]:
    """The callers of each module, with their statements; a statement without a target is named by its file."""
    callers: dict[str, set[tuple[str, StatementKey]]] = defaultdict(set)
    for row in lineage.object_statements:
        if row.role is Role.CALL:
            place = (row.path, row.ordinal)
            callers[row.object].add((find_maker(statements, place), place))
    return {name: sorted(found) for name, found in callers.items()}


def find_maker(statements: dict[StatementKey, StatementRow], place: StatementKey) -> str:
    """The object that a statement makes, else its module or file."""
    row = statements.get(place)
    while row is not None and row.target is None and row.parent is not None:
        row = statements.get((row.path, row.parent))
    return (row.target if row else None) or place[0]


def _edges_by_source(edges: Iterable[ColumnEdge], passing: set[str]) -> dict[tuple[str, str], list[ColumnEdge]]:
    """The edges that start at each column, and those that pass through one of a temporary table."""
    found = _group_edges(edges, lambda edge: (edge.from_object, edge.from_column))
    for edge in edges if passing else ():
        for hop in edge.hops:
            if hop.object in passing:
                found.setdefault((hop.object, hop.column), []).append(edge)
    return found


def _group_edges(edges: Iterable[ColumnEdge], key: Callable[[ColumnEdge], KeyT]) -> dict[KeyT, list[ColumnEdge]]:
    found: dict[KeyT, list[ColumnEdge]] = defaultdict(list)
    for edge in edges:
        found[key(edge)].append(edge)
    return dict(found)


PROJECTION_FACET, SOURCE_FACET, VARIABLE_FACET, QUERY_FACET = "projection", "source", "variable", "query"
FIELD_FACET = "field"
"""The facet for one field of a struct that a statement builds, by its path: `column.field`."""
