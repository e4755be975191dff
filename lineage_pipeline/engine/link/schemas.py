"""Schemas: the definitions and alterations of each object, folded in order into its final columns."""

from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter

import msgspec

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.link.altering import altered, renamed
from lineage_pipeline.engine.link.budget import Tally
from lineage_pipeline.engine.link.computed import untyped
from lineage_pipeline.engine.link.conflicts import Definition, reconciled
from lineage_pipeline.engine.link.declared import declared
from lineage_pipeline.engine.link.memory import LinkMemory
from lineage_pipeline.engine.link.model import Input
from lineage_pipeline.engine.link.shaping import STORED, input_of, schema_columns, stored
from lineage_pipeline.engine.link.statement import LinkedStatement, link_statement, within
from lineage_pipeline.engine.link.variables import parameter_node
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import ResultSet, SchemaColumn, TableSchema
from lineage_pipeline.vocabulary.plan import CALL, Bound, Event, Known
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin, Role

Shaper = tuple[ir.Statement, Bound, Traits]
StatementAt = Callable[[str, int], Shaper]
"""The statement at a path and an ordinal, with what its names stand for."""


Fold = tuple[tuple[Event, ...], tuple[SchemaColumn, ...], tuple[SchemaColumn, ...]]
"""Statements that shape an object, and the columns and parameters that it has behind them."""


class SchemaRegistry:
    """The schemas of a snapshot while they are being worked out, parents first.

    `objects` may have states of objects among them, under keys of their own: those have inputs and no schemas.
    """

    def __init__(
        self,
        objects: Mapping[str, Known],
        statement_at: StatementAt,
        imported: Mapping[str, TableSchema],
        memory: LinkMemory | None = None,
        *,
        forgets: bool = False,
    ) -> None:
        """Start with what is imported, and with what is remembered; who `forgets` wants schemas alone in the end."""
        self.memory = memory
        self.objects = objects
        self.statement_at = statement_at
        self.imported = imported
        self.schemas: dict[str, TableSchema] = {}
        self.states: dict[str, TableSchema] = {}
        self.inputs: dict[str, Input] = {}
        self.linked: dict[tuple[str, int], LinkedStatement] = {}
        self.disputed: dict[str, dict[str, TableSchema]] = {}
        self.cut: set[str] = set()
        self._folds: dict[tuple[str, int], Fold] = {}
        self._tallies: defaultdict[str, Tally] = defaultdict(Tally)
        self._uses = Counter(place for known in objects.values() for place in _places(known)) if forgets else None
        self._restless = {known.row.object for key, known in objects.items() if known.row.object != key}

    def resolve(self, order: Iterable[Iterable[str]]) -> dict[str, TableSchema]:
        """The schemas of all objects of groups that stand in order of need."""
        for group in order:
            for name in group:
                if self.objects[name].row.object == name:
                    self._keep(self._schema(name))
                else:
                    self.states[name] = state = self._state(name)
                    make = self.memory.input if self.memory is not None else input_of
                    self.inputs[name] = make(state, self.objects[name].row.temporary)
                if self._uses is not None:
                    self._forget(self.objects[name], self._uses)
        return self.schemas

    def take(self, key: str, schema: TableSchema, temporary: bool) -> None:
        """Know the schema of an object, or of a state of one, that was worked out before."""
        if self.objects[key].row.object == key:
            self._keep(schema)
        else:
            self.states[key] = schema
            self.inputs[key] = input_of(schema, temporary)

    def _forget(self, known: Known, uses: "Counter[tuple[str, int]]") -> None:
        """Drop what was linked for an object, unless another one is still to be made of it."""
        for place in _places(known):
            uses[place] -= 1
            if not uses[place]:
                self.linked.pop(place, None)

    def _state(self, key: str) -> TableSchema:
        """What an object is at a place of a script, with the names that its columns have in the end."""
        known = self.objects[key]
        name, done = known.row.object, len(known.shapers)
        last = self.objects[name].shapers
        rest = last[done:] if last[:done] == known.shapers else ()
        later = [item for event in rest for item in self.statement_at(event.path, event.ordinal)[0].alterations]
        return msgspec.structs.replace(self._folded(name, known), renamed=renamed(later))

    def _keep(self, schema: TableSchema) -> None:
        self.schemas[schema.object] = schema
        for conflict in schema.conflicts:
            self.disputed.setdefault(conflict.path, {})[schema.object] = schema
        make = self.memory.input if self.memory is not None else input_of
        self.inputs[schema.object] = make(schema, self.objects[schema.object].row.temporary)

    def _schema(self, name: str) -> TableSchema:
        known = self.objects[name]
        if known.imported:
            return self._imported(name, known)
        return self._folded(name, known)

    def _folded(self, name: str, known: Known) -> TableSchema:
        """What definitions and alterations make of an object."""
        done, columns, parameters = self._known_fold(name, known.shapers)
        results: list[ResultSet] = []
        for count, event in enumerate(known.shapers[done:], done + 1):
            if event.role is Role.WRITE and columns and known.kind is ObjectKind.FUNCTION:
                continue  # its type says which columns it has, whatever a query calls them
            columns = self._shaped(name, event, columns)
            if event.role is Role.DEFINE:
                parameters = self._parameters(event)
            elif known.kind is ObjectKind.PROCEDURE:
                results.extend(self._results(name, event))
            if name in self._restless:
                self._folds[name, count] = known.shapers, columns, parameters
        if known.origin is Origin.INFERRED and name in known.needs:  # a writer that reads it did not know it yet
            for place in _places(known):
                self.linked.pop(place, None)
        opened, given = known.row.open or name in self.cut, tuple(dict.fromkeys(results))
        return TableSchema(name, known.kind, known.origin, columns, opened, parameters, results=given)

    def _results(self, name: str, event: Event) -> Iterator[ResultSet]:
        """The result sets that a statement of a procedure gives: its own one, or those of a procedure that it calls."""
        statement, bound, traits = self.statement_at(event.path, event.ordinal)
        if event.role is Role.CALL:
            for callee in self._called(bound, name):
                yield from (_guarded(one, bound.conditional) for one in callee.results)
        elif event.role is Role.WRITE:
            for written in self._link(event, statement, bound, traits).writes:
                if written.target == name and written.mode == "result":
                    yield ResultSet(tuple(item for item, _ in written.columns), bound.conditional)

    def _called(self, bound: Bound, name: str) -> Iterator[TableSchema]:
        """The schemas of the modules that a statement calls, but for the one that it stands in."""
        names = {known for parts, known in bound.names if parts[-1:] == CALL} - {name}
        yield from (self.schemas[known] for known in sorted(names) if known in self.schemas)

    def _known_fold(
        self, name: str, shapers: tuple[Event, ...]
    ) -> tuple[int, tuple[SchemaColumn, ...], tuple[SchemaColumn, ...]]:
        """How far another state of an object came on the same way, and the columns and parameters that it has there."""
        for count in range(len(shapers), 0, -1) if name in self._restless else ():
            found = self._folds.get((name, count))
            if found is not None and found[0][:count] == shapers[:count]:
                return count, found[1], found[2]
        return 0, (), ()

    def _imported(self, name: str, known: Known) -> TableSchema:
        """The imported schema, held against the statements that define or alter the object."""
        given = msgspec.structs.replace(self.imported[known.imported], object=name, kind=known.kind)
        if not known.shapers:
            return given
        first, last = known.shapers[0], known.shapers[-1]
        columns = given.columns if first.role is Role.ALTER else ()
        for event in known.shapers:
            columns = self._shaped(name, event, columns)
        statement, _, traits = self.statement_at(first.path, first.ordinal)
        declares = not takes_query(statement, first.role)
        opened = known.row.open or name in self.cut
        return reconciled(given, Definition(columns, last, declares, traits.family, opened))

    def _parameters(self, event: Event) -> tuple[SchemaColumn, ...]:
        """The parameters of a module, as columns that only the module itself reads."""
        definition = self.statement_at(event.path, event.ordinal)[0].definition
        if definition is None:
            return ()
        return tuple(
            SchemaColumn(
                parameter_node(item.name),
                item.written or item.name,
                item.type or None,
                generated=item.identity,
                output=item.name in definition.outputs,
            )
            for item in definition.parameters
        )

    def _shaped(self, name: str, event: Event, columns: tuple[SchemaColumn, ...]) -> tuple[SchemaColumn, ...]:
        """The columns of an object after one more statement."""
        traits = self.statement_at(event.path, event.ordinal)[2]
        found = self._made(name, event, columns)
        if traits.columns not in STORED or found is columns:
            return found
        kept = len(columns) if found[: len(columns)] == columns else 0  # they are stored already, and may be many
        return (*found[:kept], *stored(found[kept:]))

    def _made(self, name: str, event: Event, columns: tuple[SchemaColumn, ...]) -> tuple[SchemaColumn, ...]:
        statement, bound, traits = self.statement_at(event.path, event.ordinal)
        if event.role is Role.CALL:
            known = {column.name: column for callee in self._called(bound, name) for column in callee.columns}
            held = {column.name for column in columns}
            return (*columns, *(column for one, column in known.items() if one not in held))
        if event.role is Role.ALTER:
            after = _since(columns, altered(columns, statement.alterations), event)
            return self._computed(after, name, event)
        definition = statement.definition
        if definition is not None and not takes_query(statement, event.role):
            return self._computed((*self._copied(definition, bound), *declared(definition)), name, event)
        linked = self._link(event, statement, bound, traits)
        if any(finding.code == "LIMIT_EXCEEDED" for finding in linked.findings):
            self.cut.add(name)
        found = list(columns)
        if definition is not None and traits.query_adds_columns:
            given = {item for written in linked.writes if written.target == name for item, _ in written.columns}
            found.extend(column for column in declared(definition) if column.name not in given)
        kept = traits.keeps_not_null or "clone" in statement.features
        copied = definition is not None and definition.kind == "table" and not kept
        names = set(map(_NAME, found))
        for written in linked.writes:
            if written.target == name:
                fresh = schema_columns(written, definition.columns if definition else (), copied)
                added = [column for column in fresh if event.role is Role.DEFINE or column.name not in names]
                found.extend(added)
                names.update(column.name for column in added)
        return tuple(found) if len(found) > len(columns) else columns

    def _computed(self, columns: tuple[SchemaColumn, ...], name: str, event: Event) -> tuple[SchemaColumn, ...]:
        """The columns of a table with the types of those that are computed and declare none."""
        statement, bound, traits = self.statement_at(event.path, event.ordinal)
        wanted = untyped(statement)
        if not wanted:
            return columns
        known = self.objects[name]
        own = input_of(TableSchema(name, known.kind, known.origin, columns), temporary=False)
        parts = {item for item, key in bound.names if key == name}
        states = (key for item, key in bound.states if item in parts)
        seen = ChainMap(dict.fromkeys((name, *states), own), self.inputs)
        writes = link_statement(statement, bound, seen, traits).writes
        types = {one: out.value.type for written in writes if written.target == name for one, out in written.columns}
        return tuple(
            msgspec.structs.replace(column, type=types.get(column.name)) if column.name in wanted else column
            for column in columns
        )

    def _copied(self, definition: ir.Definition, bound: Bound) -> tuple[SchemaColumn, ...]:
        """The columns of the object that a definition says another one is like."""
        if definition.like is None:
            return ()
        parts = definition.like.parts
        state = self.states.get(dict(bound.states).get(parts, ""))
        model = state or self.schemas.get(dict(bound.names).get(parts, ""))
        return model.columns if model is not None else ()

    def _link(self, event: Event, statement: ir.Statement, bound: Bound, traits: Traits) -> LinkedStatement:
        place = (event.path, event.ordinal)
        if bound.superseded:  # nothing of it is left in the end, but for those who saw it
            seen = msgspec.structs.replace(bound, superseded=False)
            return link_statement(statement, seen, self.inputs, traits)
        if place not in self.linked:
            link = self.memory.link if self.memory is not None else link_statement
            tally = self._tallies[event.path]
            self.linked[place] = within(tally, bound, lambda: link(statement, bound, self.inputs, traits))
        return self.linked[place]


def _guarded(given: ResultSet, conditional: bool) -> ResultSet:
    return msgspec.structs.replace(given, conditional=given.conditional or conditional)


def _places(known: Known) -> set[tuple[str, int]]:
    """The statements that shape an object."""
    return {(event.path, event.ordinal) for event in known.shapers}


_NAME = attrgetter("name")


def _since(before: tuple[SchemaColumn, ...], after: tuple[SchemaColumn, ...], event: Event) -> tuple[SchemaColumn, ...]:
    """The columns after an alteration; those that it adds or renames come from it."""
    if after[: len(before)] == before:
        added = (
            msgspec.structs.replace(column, path=event.path, statement=event.ordinal) for column in after[len(before) :]
        )
        return (*before, *added)
    names = {column.name for column in before}
    return tuple(
        column if column.name in names else msgspec.structs.replace(column, path=event.path, statement=event.ordinal)
        for column in after
    )


def takes_query(statement: ir.Statement, role: Role) -> bool:
    """Say whether a statement shapes an object by what a query gives, and not by columns that it lists or alters."""
    listed = role is Role.DEFINE and statement.definition is not None and statement.definition.relation == ir.NOWHERE
    return role is not Role.ALTER and not listed
