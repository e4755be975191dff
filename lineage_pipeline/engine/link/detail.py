"""Statement detail on demand: scripts linked without collapsing, so that inner relations and variables stay visible."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.faults import FAULTS
from lineage_pipeline.engine.link.context import BudgetExceeded
from lineage_pipeline.engine.link.model import (
    INDIRECT,
    BoundRelation,
    ColumnFlow,
    ExprResult,
    Flows,
    OutputColumn,
    TableInput,
    UnexpandedStar,
    union_flows,
)
from lineage_pipeline.engine.link.relation import RelationLinker
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.script import ScriptLinker
from lineage_pipeline.engine.link.statement import CONDITION, StatementLinker, WriteResult, find_trigger_tables
from lineage_pipeline.engine.link.variables import Environment
from lineage_pipeline.model import ir
from lineage_pipeline.model.enums import EdgeType, NodeType, Operation, Subtype
from lineage_pipeline.model.plan import CALL_SUFFIX, NameBindings
from lineage_pipeline.model.statement_detail import (
    ROWS_COLUMN,
    UNLISTED_COLUMNS,
    ColumnFeed,
    DetailColumn,
    DetailScope,
    ObjectMention,
    RowReading,
    StatementDetail,
    parse_variable_key,
    variable_key,
)

INNER_PREFIX = "\0"
"""Prefix of the name of an inner relation or variable where flows name objects."""


class DetailRelationLinker(RelationLinker):
    """Binds the relations of one statement one step deep; a relation without a reader of its own has no node."""

    @cached_property
    def active_relations(self) -> list[int]:
        """The relations that are being bound, the outermost first."""
        return []

    @cached_property
    def read_relations(self) -> set[int]:
        """The relations that have a reader."""
        return set()

    def relation(self, index: int, outer: Scope | None) -> BoundRelation:
        """The relation at an index: itself for the statement and for a renaming, an object for other readers."""
        reader = self.statement.relations[self.active_relations[-1]] if self.active_relations else None
        self.active_relations.append(index)
        linked = super().relation(index, outer)
        self.active_relations.pop()
        if reader is None or isinstance(reader, ir.Renamed):
            return linked
        self.read_relations.add(index)
        return present_as_object(str(index), linked)


class DetailStatementLinker(StatementLinker):
    """Links one statement one step deep."""

    relation_linker = DetailRelationLinker


class DetailEnvironment(Environment):
    """Variables as objects: a reader sees the assignment, not the flows behind it."""

    def __init__(self) -> None:
        """Start with an empty script."""
        super().__init__()
        self.statement = 0
        self.assigned: dict[str, BoundRelation] = {}

    def set(self, name: str, value: ExprResult, indirect: Flows = ()) -> None:
        """Assign one value to a variable."""
        known = msgspec.structs.replace(value, flows=union_flows([value.flows, indirect]))
        (column,) = self._store_assignment(name, BoundRelation((OutputColumn(name, name, known),))).columns
        super().set(name, column.value)

    def _build_record(self, name: str, linked: BoundRelation) -> BoundRelation:
        return self._store_assignment(name, super()._build_record(name, linked))

    def _store_assignment(self, name: str, linked: BoundRelation) -> BoundRelation:
        inner = variable_key(self.statement, name)
        self.assigned[inner] = linked
        return present_as_object(inner, linked)


def present_as_object(inner: str, linked: BoundRelation) -> BoundRelation:
    """A relation whose columns and rows flow from itself; an INDIRECT IDENTITY flow marks its rows."""
    name = INNER_PREFIX + inner
    columns = tuple(
        msgspec.structs.replace(
            column,
            value=msgspec.structs.replace(column.value, flows=(ColumnFlow(name, key),)),
            approximate=False,
        )
        for key, column in zip(number_column_keys(linked.columns), linked.columns, strict=True)
    )
    openings = (UnexpandedStar(name, ir.NOWHERE, ir.NOWHERE),) if linked.unexpanded else ()
    return BoundRelation(
        columns,
        openings,
        (ColumnFlow(name, ROWS_COLUMN, type=INDIRECT),),
        catch_all=linked.catch_all,
        unknown_range=linked.unknown_range,
    )


def number_column_keys(columns: Sequence[OutputColumn]) -> list[str]:
    """Unique keys for the columns of a relation: their names, numbered where they repeat."""
    taken: dict[str, int] = {}
    found = []
    for position, column in enumerate(columns):
        name = column.name or f"_col{position}"
        taken[name] = taken.get(name, 0) + 1
        found.append(name if taken[name] == 1 else f"{name}#{taken[name]}")
    return found


def strip_inner_prefix(name: str) -> str:
    """The inner relation or variable that a flow names, or an empty text for an object."""
    return name[len(INNER_PREFIX) :] if name.startswith(INNER_PREFIX) else ""


class StatementSteps(msgspec.Struct, frozen=True):
    """A statement linked step by step: its writes, its assignments, and the relations with a reader."""

    writes: tuple[WriteResult, ...]
    inner: dict[str, BoundRelation]
    sources: DetailRelationLinker

    def trace_unlisted_columns(self, targets: Mapping[str, Iterable[str]]) -> dict[str, dict[str, Flows]]:
        """The unlisted columns that pass through stars, by the object or relation they are requested from.

        `targets` are the columns that others request from what the statement writes.
        """
        found: dict[str, dict[str, Flows]] = {}
        listed = {inner: set(number_column_keys(linked.columns)) for inner, linked in self.inner.items()}
        pending = deque(flow for linked in self.inner.values() for flow in iter_flows(linked))
        pending.extend(flow for written in self.writes for flow in iter_flows(written))
        for written in self.writes:
            names = (*targets.get(written.target, ()), UNLISTED_COLUMNS) if written.unexpanded else ()
            passing = {name: _star_flows(written.unexpanded, name) for name in names}
            found.setdefault(written.target, {}).update(passing)
            pending.extend(flow for flows in passing.values() for flow in flows)
        while pending:
            flow = pending.popleft()
            inner = strip_inner_prefix(flow.object)
            if inner not in listed or flow.column == ROWS_COLUMN or flow.column in listed[inner]:
                continue
            passed = found.setdefault(flow.object, {})
            if flow.column not in passed:
                passed[flow.column] = _star_flows(self.inner[inner].unexpanded, flow.column)
                pending.extend(passed[flow.column])
        return found


def iter_flows(linked: BoundRelation | WriteResult) -> Iterable[ColumnFlow]:
    """All flows into a relation or a target."""
    for column in linked.columns:
        yield from (column[1] if isinstance(column, tuple) else column).value.flows
    yield from linked.indirect


def _star_flows(openings: Sequence[UnexpandedStar], name: str) -> Flows:
    """The flows of an unlisted column through stars; approximate where there are several sources."""
    found = [item for item in openings if name not in item.exclude]
    uncertain = len(found) > 1 or name == UNLISTED_COLUMNS
    return tuple(ColumnFlow(item.object, name, approximate=uncertain, start=item.start, end=item.end) for item in found)


class DetailScriptLinker(ScriptLinker):
    """Links one script step by step; temporary tables are not collapsed, and variables become objects."""

    @cached_property
    def steps(self) -> dict[int, StatementSteps]:
        """The linked statements by ordinal."""
        return {}

    def _link_statement(self, index: int, kept: bool) -> None:
        environment = self.environment
        assert isinstance(environment, DetailEnvironment)
        environment.statement, environment.assigned = index, {}
        statement = self.script.statements[index].statement
        seen = self.states.switch_states(self.state, self.bound[index]) if self.states.of else self.bound[index]
        linker = DetailStatementLinker(
            statement=statement, bound=seen, inputs=self.state, traits=self.traits, environment=environment
        )
        sources = linker.relations
        assert isinstance(sources, DetailRelationLinker)
        writes: tuple[WriteResult, ...] = ()
        try:
            writes = self.states.with_final_names(linker.link(), self.bound[index]).writes
        except (BudgetExceeded, RecursionError, MemoryError, *FAULTS):  # the ordinary way has said so
            sources.read_relations.clear()
        inner = {str(relation): sources.done[relation] for relation in sorted(sources.read_relations)}
        self.steps[index] = StatementSteps(writes, {**inner, **environment.assigned}, sources)


def link_script_steps(
    script: ir.Script, bound: Sequence[NameBindings], inputs: Mapping[str, TableInput], traits: DialectTraits
) -> dict[int, StatementSteps]:
    """All statements of a script, linked step by step."""
    linking = DetailScriptLinker(script=script, bound=bound, inputs=inputs, traits=traits, done={})
    linking.environment = DetailEnvironment()
    for name in linking.temporary:
        rows = (ColumnFlow(name, ROWS_COLUMN, type=INDIRECT),)
        linking.state[name] = msgspec.structs.replace(linking.state[name], indirect=rows)
    linking.follow(0, len(script.statements), kept=True)
    return linking.steps


WRITE_OPERATIONS = {
    "insert": Operation.INSERT,
    "overwrite": Operation.OVERWRITE,
    "update": Operation.UPDATE,
    "delete": Operation.DELETE,
}
JOIN_OPERATIONS = {
    "inner": Operation.INNER_JOIN,
    "left": Operation.LEFT_JOIN,
    "right": Operation.RIGHT_JOIN,
    "full": Operation.FULL_JOIN,
    "cross": Operation.CROSS_JOIN,
    "semi": Operation.SEMI_JOIN,
    "anti": Operation.ANTI_JOIN,
}
RequestedFlows = Mapping[str, Mapping[str, Flows]]
"""Unlisted columns that pass through stars, by the object they are requested from."""

SET_OPERATIONS = {"INTERSECT": Operation.INTERSECT, "EXCEPT": Operation.EXCEPT}


def build_statement_detail(
    statement: ir.Statement, bound: NameBindings, steps: StatementSteps, requested: Mapping[str, Iterable[str]]
) -> StatementDetail:
    """The steps of a statement; `requested` are the columns that others request from what it writes."""
    scopes = _DetailBuilder(statement, bound, steps, steps.trace_unlisted_columns(requested))
    targets = [*scopes.targets(), *map(scopes.write_columns, steps.writes)]
    inner = [*scopes.relations(), *scopes.variables()]
    return StatementDetail(
        (*inner, *targets), tuple(_iter_mentions(statement, bound)), tuple(_iter_calls(statement, bound))
    )


def list_taken_columns(inside: StatementDetail, objects: Collection[str]) -> Iterator[tuple[str, str]]:
    """The columns that a statement takes from certain objects."""
    for scope in inside.scopes:
        for feeds in (scope.deciders, *(column.feeds for column in scope.columns)):
            yield from ((feed.object, feed.column) for feed in feeds if feed.object in objects)


class _DetailBuilder:
    """Builds the relations, variables and targets of one statement."""

    def __init__(
        self, statement: ir.Statement, bound: NameBindings, steps: StatementSteps, asked: RequestedFlows
    ) -> None:
        self.statement = statement
        self.bound = bound
        self.names = dict(bound.names)
        self.steps = steps
        self.asked = asked
        self.labels: dict[str, str] = {}

    def relations(self) -> Iterator[DetailScope]:
        """The relations that have a reader, with their names."""
        common = {str(index): name for index, name in self.statement.ctes}
        found = {inner: linked for inner, linked in self.steps.inner.items() if parse_variable_key(inner) is None}
        readings = {inner: tuple(self._readings(int(inner), Operation.SELECT)) for inner in found}
        for inner, linked in found.items():
            name = common.get(inner)
            deciders, taken = _split_deciders(linked.indirect, readings[inner])
            yield DetailScope(
                inner=inner,
                object="",
                type=NodeType.SUBQUERY if name is None else NodeType.CTE,
                label=self.labels.get(inner, "") if name is None else name.written,
                columns=self._columns(inner, linked),
                deciders=deciders,
                readings=taken,
                start=ir.NOWHERE if name is None else name.start,
                end=ir.NOWHERE if name is None else name.end,
            )

    def variables(self) -> Iterator[DetailScope]:
        """The variables that the statement assigns."""
        for inner, linked in self.steps.inner.items():
            variable = parse_variable_key(inner)
            if variable is not None:
                name = variable[1]
                deciders, readings = _split_deciders(linked.indirect, tuple(self._assigned_readings(name)))
                yield DetailScope(
                    inner=inner,
                    object="",
                    type=NodeType.VARIABLE,
                    label=name,
                    columns=self._columns(inner, linked),
                    deciders=deciders,
                    readings=readings,
                )

    def _assigned_readings(self, name: str) -> Iterator[RowReading]:
        for assignment in self.statement.assigns:
            if name in assignment.variables and assignment.relation != ir.NOWHERE:
                yield from self._readings(assignment.relation, Operation.ASSIGN)

    def _columns(self, inner: str, linked: BoundRelation) -> tuple[DetailColumn, ...]:
        columns = [
            DetailColumn(
                key=key, label=out.name or key, start=out.start, end=out.end, feeds=_make_feeds(out.value.flows)
            )
            for key, out in zip(number_column_keys(linked.columns), linked.columns, strict=True)
        ]
        return (*columns, *self._unlisted_columns(INNER_PREFIX + inner))

    def _unlisted_columns(self, name: str) -> Iterator[DetailColumn]:
        return (_unlisted_column(column, flows) for column, flows in self.asked.get(name, {}).items())

    def targets(self) -> Iterator[DetailScope]:
        """The objects that the statement writes and defines, with what they read as a whole."""
        statement, definition = self.statement, self.statement.definition
        if definition is not None:
            columns = tuple(
                DetailColumn(key=item.name, label=item.written, start=item.start, end=item.end, feeds=())
                for item in definition.columns
            )
            model = self.names.get(definition.like.parts) if definition.like is not None else None
            like = (RowReading("", model, Operation.CREATE),) if model else ()
            yield self._target(self.names[definition.name.parts], definition.relation, Operation.CREATE, columns, like)
        for write in statement.writes:
            operation = WRITE_OPERATIONS.get(write.mode, Operation.WRITE)
            if statement.kind == "MERGE":
                operation = Operation.MERGE
            for target in (
                find_trigger_tables(self.names)
                if write.target.parts == ir.TRIGGER_ROWS
                else [self.names[write.target.parts]]
            ):
                yield self._target(target, write.relation, operation)
        if statement.result != ir.NOWHERE:
            yield self._target(self.bound.result, statement.result, Operation.SELECT)

    def _target(
        self,
        target: str,
        relation: int,
        operation: Operation,
        columns: tuple[DetailColumn, ...] = (),
        more: tuple[RowReading, ...] = (),
    ) -> DetailScope:
        inner = self.steps.inner
        found = [*more, *(self._readings(relation, operation) if relation != ir.NOWHERE else ())]
        readings = tuple(item for item in found if item.object != target and (item.object or item.inner in inner))
        if any(item.inner and item.inner not in inner for item in found):  # not linked: what is read is all there is
            reads = (self.names[parts] for parts in self.bound.reads if parts in self.names)
            readings = (*readings, *(RowReading("", name, operation) for name in reads))
        return DetailScope(
            inner="", object=target, type=None, label="", columns=columns, deciders=(), readings=readings
        )

    def write_columns(self, written: WriteResult) -> DetailScope:
        """The columns of one write, and what decides about its rows."""
        columns = [
            DetailColumn(key=name, label=name, start=out.start, end=out.end, feeds=_make_feeds(out.value.flows))
            for name, out in written.columns
        ]
        columns.extend(self._unlisted_columns(written.target))
        deciders, taken = _split_deciders(written.indirect, ())
        # The others say of themselves what they take rows from, but for those that take the row of a variable.
        asked = taken if written.mode == CONDITION or self._takes_record() else ()
        return DetailScope(
            inner="",
            object=written.target,
            type=None,
            label="",
            columns=tuple(columns),
            deciders=deciders,
            readings=asked,
        )

    def _takes_record(self) -> bool:
        selects = [relation for relation in self.statement.relations if isinstance(relation, ir.Select)]
        return any(source.record for select in selects for source in select.sources)

    def _readings(self, index: int, first: Operation) -> Iterator[RowReading]:
        """What a relation takes its rows from; its first source by operation `first`, the others by their joins."""
        body = self.statement.relations[index]
        match body:
            case ir.Renamed(relation=inner):
                yield from self._readings(inner, first)
            case ir.Select():
                for source in body.sources:
                    yield from self._source_readings(source, first)
            case ir.SetOperation(op=op, branches=branches):
                for number, branch in enumerate(branches, 1):
                    yield self._inner_reading(
                        branch, SET_OPERATIONS.get(op, Operation.UNION), f"{op.lower()} branch {number}"
                    )
            case ir.Recursive(anchor=anchor, step=step):
                yield self._inner_reading(anchor, Operation.RECURSION, "anchor")
                yield self._inner_reading(step, Operation.RECURSION, "step")
            case ir.Pivot(relation=inner):
                yield self._inner_reading(inner, Operation.PIVOT, "")
            case ir.Unpivot(relation=inner):
                yield self._inner_reading(inner, Operation.UNPIVOT, "")

    def _inner_reading(self, index: int, operation: Operation, label: str) -> RowReading:
        self.labels.setdefault(str(index), label)
        return RowReading(str(index), "", operation)

    def _source_readings(self, source: ir.Source, first: Operation) -> Iterator[RowReading]:
        joined = source.join is not None and first is not Operation.MERGE
        operation = JOIN_OPERATIONS.get(source.join.side, Operation.INNER_JOIN) if joined and source.join else first
        if source.relation != ir.NOWHERE:
            yield self._inner_reading(source.relation, operation, source.alias)
        elif source.name is not None:
            found = self.steps.sources.input(source.name)
            if source.function is None or found.columns:
                yield RowReading("", found.object, operation)


def _make_feeds(flows: Flows) -> tuple[ColumnFeed, ...]:
    return tuple(map(_make_feed, flows))


def _make_feed(flow: ColumnFlow) -> ColumnFeed:
    inner = strip_inner_prefix(flow.object)
    return ColumnFeed(
        inner=inner,
        object="" if inner else flow.object,
        column=flow.column,
        path=flow.path,
        type=flow.type,
        subtype=flow.subtype,
        approximate=flow.approximate,
        start=flow.start,
        end=flow.end,
    )


def _unlisted_column(name: str, flows: Flows) -> DetailColumn:
    place = (flows[0].start, flows[0].end) if flows else (ir.NOWHERE, ir.NOWHERE)
    return DetailColumn(name, name, *place, _make_feeds(flows))


def _split_deciders(
    flows: Flows, readings: tuple[RowReading, ...]
) -> tuple[tuple[ColumnFeed, ...], tuple[RowReading, ...]]:
    """Flows that decide about rows, separated from the rows that are taken unchanged: those are readings."""
    feeds = _make_feeds(flows)
    known = {(reading.inner, reading.object) for reading in readings}
    taken = [feed for feed in feeds if _takes_rows(feed)]
    more = tuple(
        RowReading(feed.inner, feed.object, Operation.SELECT)
        for feed in taken
        if (feed.inner, feed.object) not in known
    )
    return tuple(feed for feed in feeds if not _takes_rows(feed)), (*readings, *more)


def _takes_rows(feed: ColumnFeed) -> bool:
    return feed.column == ROWS_COLUMN and feed.type is EdgeType.INDIRECT and feed.subtype is Subtype.IDENTITY


def _iter_mentions(statement: ir.Statement, bound: NameBindings) -> Iterator[ObjectMention]:
    """The objects that a statement names, each where it does so first."""
    names = dict(bound.names)
    seen: set[str] = set()
    for name in _iter_names(statement):
        known = names.get(name.parts)
        if known is not None and known not in seen:
            seen.add(known)
            yield ObjectMention(known, name.written, name.start, name.end)
    for call in statement.calls:
        known = names.get(call.name.parts + CALL_SUFFIX)
        if known is not None and known not in seen:
            seen.add(known)
            yield ObjectMention(known, call.name.written, call.name.start, call.name.end)


def _iter_names(statement: ir.Statement) -> Iterator[ir.Name]:
    if statement.definition is not None:
        yield statement.definition.name
        if statement.definition.like is not None:
            yield statement.definition.like
    yield from (write.target for write in statement.writes)
    for relation in statement.relations:
        if isinstance(relation, ir.Select):
            yield from (source.name for source in relation.sources if source.name is not None)
    for alteration in statement.alterations:
        yield alteration.name
        if alteration.to is not None:
            yield alteration.to
    yield from (drop.name for drop in statement.drops)
    yield from statement.reads


def _iter_calls(statement: ir.Statement, bound: NameBindings) -> Iterator[ObjectMention]:
    names = dict(bound.names)
    for call in statement.calls:
        yield ObjectMention(
            names.get(call.name.parts + CALL_SUFFIX, ""), ".".join(call.name.parts), call.name.start, call.name.end
        )
