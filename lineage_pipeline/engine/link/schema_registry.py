"""Schema registry: the definitions and alterations of each object, folded in order into its final columns."""

from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.link.context import FileTally
from lineage_pipeline.engine.link.link_cache import LinkCache
from lineage_pipeline.engine.link.model import TableInput
from lineage_pipeline.engine.link.statement import (
    LinkedStatement,
    link_statement,
    link_within_limits,
    list_untyped_computed_columns,
)
from lineage_pipeline.engine.link.table_schema import (
    CASELESS_FOLDINGS,
    DefinedSchema,
    alter_columns,
    build_schema_columns,
    build_table_input,
    collect_final_names,
    fold_written_names,
    list_declared_columns,
    reconcile_schema,
)
from lineage_pipeline.engine.link.variables import parameter_column_name
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import ResultSet, SchemaColumn, TableSchema
from lineage_pipeline.model.enums import ObjectKind, Origin, Role
from lineage_pipeline.model.plan import CALL_SUFFIX, NameBindings, ObjectEntry, ObjectEvent

ShapingStatement = tuple[ir.Statement, NameBindings, DialectTraits]
StatementAt = Callable[[str, int], ShapingStatement]
"""Finds the statement at a path and ordinal, with its bound names and dialect."""


SchemaFold = tuple[tuple[ObjectEvent, ...], tuple[SchemaColumn, ...], tuple[SchemaColumn, ...]]
"""The statements folded so far, with the columns and parameters they lead to."""


class SchemaRegistry:
    """The schemas of a snapshot while they are resolved, dependencies first.

    `objects` may contain states of objects under keys of their own: those have inputs and no schemas.
    """

    def __init__(
        self,
        objects: Mapping[str, ObjectEntry],
        statement_at: StatementAt,
        imported: Mapping[str, TableSchema],
        memory: LinkCache | None = None,
        *,
        forgets: bool = False,
    ) -> None:
        """Start with imported schemas and an optional cache; `forgets` drops linked statements after use."""
        self.memory = memory
        self.objects = objects
        self.statement_at = statement_at
        self.imported = imported
        self.schemas: dict[str, TableSchema] = {}
        self.states: dict[str, TableSchema] = {}
        self.inputs: dict[str, TableInput] = {}
        self.linked: dict[tuple[str, int], LinkedStatement] = {}
        self.disputed: dict[str, dict[str, TableSchema]] = {}
        self.cut: set[str] = set()
        self._folds: dict[tuple[str, int], SchemaFold] = {}
        self._tallies: defaultdict[str, FileTally] = defaultdict(FileTally)
        self._uses = (
            Counter(place for known in objects.values() for place in _shaping_statements(known)) if forgets else None
        )
        self._restless = {known.row.object for key, known in objects.items() if known.row.object != key}

    def resolve(self, order: Iterable[Iterable[str]]) -> dict[str, TableSchema]:
        """The schemas of all objects, given groups in dependency order."""
        for group in order:
            for name in group:
                if self.objects[name].row.object == name:
                    self._store_schema(self._resolve_schema(name))
                else:
                    self.states[name] = state = self._resolve_state(name)
                    make = self.memory.input if self.memory is not None else build_table_input
                    self.inputs[name] = make(state, self.objects[name].row.temporary)
                if self._uses is not None:
                    self._forget(self.objects[name], self._uses)
        return self.schemas

    def add_resolved(self, key: str, schema: TableSchema, temporary: bool) -> None:
        """Add the schema of an object, or of a state of one, that was resolved before."""
        if self.objects[key].row.object == key:
            self._store_schema(schema)
        else:
            self.states[key] = schema
            self.inputs[key] = build_table_input(schema, temporary)

    def _forget(self, known: ObjectEntry, uses: "Counter[tuple[str, int]]") -> None:
        """Drop the linked statements of an object, unless another object still needs them."""
        for place in _shaping_statements(known):
            uses[place] -= 1
            if not uses[place]:
                self.linked.pop(place, None)

    def _resolve_state(self, key: str) -> TableSchema:
        """The schema of an object at one point of a script, with the final names of its columns."""
        known = self.objects[key]
        name, done = known.row.object, len(known.shapers)
        last = self.objects[name].shapers
        rest = last[done:] if last[:done] == known.shapers else ()
        later = [item for event in rest for item in self.statement_at(event.path, event.ordinal)[0].alterations]
        return msgspec.structs.replace(self._fold_statements(name, known), renamed=collect_final_names(later))

    def _store_schema(self, schema: TableSchema) -> None:
        self.schemas[schema.object] = schema
        for conflict in schema.conflicts:
            self.disputed.setdefault(conflict.path, {})[schema.object] = schema
        make = self.memory.input if self.memory is not None else build_table_input
        self.inputs[schema.object] = make(schema, self.objects[schema.object].row.temporary)

    def _resolve_schema(self, name: str) -> TableSchema:
        known = self.objects[name]
        if known.imported:
            return self._resolve_imported(name, known)
        return self._fold_statements(name, known)

    def _fold_statements(self, name: str, known: ObjectEntry) -> TableSchema:
        """The schema that definitions and alterations lead to."""
        done, columns, parameters = self._find_fold(name, known.shapers)
        results: list[ResultSet] = []
        for count, event in enumerate(known.shapers[done:], done + 1):
            if event.role is Role.WRITE and columns and known.kind is ObjectKind.FUNCTION:
                continue  # its type says which columns it has, whatever a query calls them
            columns = self._apply_event(name, event, columns)
            if event.role is Role.DEFINE:
                parameters = self._parameter_columns(event)
            elif known.kind is ObjectKind.PROCEDURE:
                results.extend(self._list_result_sets(name, event))
            if name in self._restless:
                self._folds[name, count] = known.shapers, columns, parameters
        if known.origin is Origin.INFERRED and name in known.needs:  # a writer that reads it did not know it yet
            for place in _shaping_statements(known):
                self.linked.pop(place, None)
        opened, given = known.row.open or name in self.cut, tuple(dict.fromkeys(results))
        return TableSchema(
            object=name,
            kind=known.kind,
            origin=known.origin,
            columns=columns,
            open=opened,
            parameters=parameters,
            results=given,
        )

    def _list_result_sets(self, name: str, event: ObjectEvent) -> Iterator[ResultSet]:
        """The result sets that a statement of a procedure returns: its own, or those of a procedure it calls."""
        statement, bound, traits = self.statement_at(event.path, event.ordinal)
        if event.role is Role.CALL:
            for callee in self._called_schemas(bound, name):
                yield from (_mark_conditional(one, bound.conditional) for one in callee.results)
        elif event.role is Role.WRITE:
            for written in self._link(event, statement, bound, traits).writes:
                if written.target == name and written.mode == "result":
                    yield ResultSet(tuple(item for item, _ in written.columns), bound.conditional)

    def _called_schemas(self, bound: NameBindings, name: str) -> Iterator[TableSchema]:
        """The schemas of the modules that a statement calls, except its own module."""
        names = {known for parts, known in bound.names if parts[-1:] == CALL_SUFFIX} - {name}
        yield from (self.schemas[known] for known in sorted(names) if known in self.schemas)

    def _find_fold(
        self, name: str, shapers: tuple[ObjectEvent, ...]
    ) -> tuple[int, tuple[SchemaColumn, ...], tuple[SchemaColumn, ...]]:
        """The longest fold of the same statements that another state of the object has reached."""
        for count in range(len(shapers), 0, -1) if name in self._restless else ():
            found = self._folds.get((name, count))
            if found is not None and found[0][:count] == shapers[:count]:
                return count, found[1], found[2]
        return 0, (), ()

    def _resolve_imported(self, name: str, known: ObjectEntry) -> TableSchema:
        """The imported schema, reconciled with the statements that define or alter the object."""
        given = msgspec.structs.replace(self.imported[known.imported], object=name, kind=known.kind)
        if not known.shapers:
            return given
        first, last = known.shapers[0], known.shapers[-1]
        columns = given.columns if first.role is Role.ALTER else ()
        for event in known.shapers:
            columns = self._apply_event(name, event, columns)
        statement, _, traits = self.statement_at(first.path, first.ordinal)
        declares = not is_shaped_by_query(statement, first.role)
        opened = known.row.open or name in self.cut
        return reconcile_schema(
            given, DefinedSchema(columns=columns, event=last, declares=declares, family=traits.types, open=opened)
        )

    def _parameter_columns(self, event: ObjectEvent) -> tuple[SchemaColumn, ...]:
        """The parameters of a module, as columns that only the module itself reads."""
        definition = self.statement_at(event.path, event.ordinal)[0].definition
        if definition is None:
            return ()
        return tuple(
            SchemaColumn(
                parameter_column_name(item.name),
                item.written or item.name,
                item.type or None,
                generated=item.identity,
                output=item.name in definition.outputs,
            )
            for item in definition.parameters
        )

    def _apply_event(
        self, name: str, event: ObjectEvent, columns: tuple[SchemaColumn, ...]
    ) -> tuple[SchemaColumn, ...]:
        """The columns of an object after one more statement, under the names that the engine stores."""
        traits = self.statement_at(event.path, event.ordinal)[2]
        found = self._apply_statement(name, event, columns)
        if traits.columns not in CASELESS_FOLDINGS or found is columns:
            return found
        kept = len(columns) if found[: len(columns)] == columns else 0  # they are stored already, and may be many
        return (*found[:kept], *fold_written_names(found[kept:]))

    def _apply_statement(
        self, name: str, event: ObjectEvent, columns: tuple[SchemaColumn, ...]
    ) -> tuple[SchemaColumn, ...]:
        statement, bound, traits = self.statement_at(event.path, event.ordinal)
        if event.role is Role.CALL:
            known = {column.name: column for callee in self._called_schemas(bound, name) for column in callee.columns}
            held = {column.name for column in columns}
            return (*columns, *(column for one, column in known.items() if one not in held))
        if event.role is Role.ALTER:
            after = _mark_changed_columns(columns, alter_columns(columns, statement.alterations), event)
            return self._with_computed_types(after, name, event)
        definition = statement.definition
        if definition is not None and not is_shaped_by_query(statement, event.role):
            return self._with_computed_types(
                (*self._copy_like_columns(definition, bound), *list_declared_columns(definition)), name, event
            )
        linked = self._link(event, statement, bound, traits)
        if any(finding.code == "LIMIT_EXCEEDED" for finding in linked.findings):
            self.cut.add(name)
        found = list(columns)
        if definition is not None and traits.query_adds_columns:
            given = {item for written in linked.writes if written.target == name for item, _ in written.columns}
            found.extend(column for column in list_declared_columns(definition) if column.name not in given)
        kept = traits.keeps_not_null or "clone" in statement.features
        copied = definition is not None and definition.kind == "table" and not kept
        names = set(map(_GET_NAME, found))
        for written in linked.writes:
            if written.target == name:
                fresh = build_schema_columns(written, definition.columns if definition else (), copied)
                added = [column for column in fresh if event.role is Role.DEFINE or column.name not in names]
                found.extend(added)
                names.update(column.name for column in added)
        return tuple(found) if len(found) > len(columns) else columns

    def _with_computed_types(
        self, columns: tuple[SchemaColumn, ...], name: str, event: ObjectEvent
    ) -> tuple[SchemaColumn, ...]:
        """The columns of a table with inferred types for computed columns that declare none."""
        statement, bound, traits = self.statement_at(event.path, event.ordinal)
        wanted = list_untyped_computed_columns(statement)
        if not wanted:
            return columns
        known = self.objects[name]
        own = build_table_input(TableSchema(name, known.kind, known.origin, columns), temporary=False)
        parts = {item for item, key in bound.names if key == name}
        states = (key for item, key in bound.states if item in parts)
        seen = ChainMap(dict.fromkeys((name, *states), own), self.inputs)
        writes = link_statement(statement, bound, seen, traits).writes
        types = {one: out.value.type for written in writes if written.target == name for one, out in written.columns}
        return tuple(
            msgspec.structs.replace(column, type=types.get(column.name)) if column.name in wanted else column
            for column in columns
        )

    def _copy_like_columns(self, definition: ir.Definition, bound: NameBindings) -> tuple[SchemaColumn, ...]:
        """CREATE TABLE ... LIKE: the columns of the other object."""
        if definition.like is None:
            return ()
        parts = definition.like.parts
        state = self.states.get(dict(bound.states).get(parts, ""))
        model = state or self.schemas.get(dict(bound.names).get(parts, ""))
        return model.columns if model is not None else ()

    def _link(
        self, event: ObjectEvent, statement: ir.Statement, bound: NameBindings, traits: DialectTraits
    ) -> LinkedStatement:
        place = (event.path, event.ordinal)
        if bound.superseded:  # nothing of it is left in the end, but for those who saw it
            seen = msgspec.structs.replace(bound, superseded=False)
            return link_statement(statement, seen, self.inputs, traits)
        if place not in self.linked:
            link = self.memory.link if self.memory is not None else link_statement
            tally = self._tallies[event.path]
            self.linked[place] = link_within_limits(tally, bound, lambda: link(statement, bound, self.inputs, traits))
        return self.linked[place]


def _mark_conditional(given: ResultSet, conditional: bool) -> ResultSet:
    return msgspec.structs.replace(given, conditional=given.conditional or conditional)


def _shaping_statements(known: ObjectEntry) -> set[tuple[str, int]]:
    """The statements that shape an object."""
    return {(event.path, event.ordinal) for event in known.shapers}


_GET_NAME = attrgetter("name")


def _mark_changed_columns(
    before: tuple[SchemaColumn, ...], after: tuple[SchemaColumn, ...], event: ObjectEvent
) -> tuple[SchemaColumn, ...]:
    """The columns after an alteration; added and renamed ones get its path and ordinal."""
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


def is_shaped_by_query(statement: ir.Statement, role: Role) -> bool:
    """Say whether a statement shapes an object by a query's result, not by listed or altered columns."""
    listed = role is Role.DEFINE and statement.definition is not None and statement.definition.relation == ir.NOWHERE
    return role is not Role.ALTER and not listed
