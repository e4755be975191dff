"""The inside of a statement, on demand: what graphs show and the collapsed edges have left behind."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from lineage_pipeline.engine.link.flows import Flow, Flows
from lineage_pipeline.engine.link.model import Linked
from lineage_pipeline.engine.link.statement import CONDITION, Written
from lineage_pipeline.engine.link.steps import MARK, Steps, inner_of, keys
from lineage_pipeline.engine.link.watched import watched
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.inside import ROWS, Feed, Inner, InnerColumn, Inside, Mention, Reading, set_by
from lineage_pipeline.vocabulary.plan import CALL, Bound
from lineage_pipeline.vocabulary.sets import EdgeType, NodeType, Operation, Subtype

WRITES = {
    "insert": Operation.INSERT,
    "overwrite": Operation.OVERWRITE,
    "update": Operation.UPDATE,
    "delete": Operation.DELETE,
}
JOINS = {
    "inner": Operation.INNER_JOIN,
    "left": Operation.LEFT_JOIN,
    "right": Operation.RIGHT_JOIN,
    "full": Operation.FULL_JOIN,
    "cross": Operation.CROSS_JOIN,
    "semi": Operation.SEMI_JOIN,
    "anti": Operation.ANTI_JOIN,
}
Asked = Mapping[str, Mapping[str, Flows]]
"""Columns that pass through stars, by what they are asked of."""

SET_OPERATIONS = {"INTERSECT": Operation.INTERSECT, "EXCEPT": Operation.EXCEPT}


def inside_of(statement: ir.Statement, bound: Bound, steps: Steps, requested: Mapping[str, Iterable[str]]) -> Inside:
    """What a statement does step by step; `requested` are the columns that others ask of what it writes."""
    scopes = _Scopes(statement, bound, steps, steps.asked(requested))
    targets = [*scopes.targets(), *map(scopes.written, steps.writes)]
    inner = [*scopes.relations(), *scopes.variables()]
    return Inside((*inner, *targets), tuple(_mentions(statement, bound)), tuple(_calls(statement, bound)))


def taken_from(inside: Inside, objects: Collection[str]) -> Iterator[tuple[str, str]]:
    """The columns of certain objects that a statement takes."""
    for scope in inside.scopes:
        for feeds in (scope.deciders, *(column.feeds for column in scope.columns)):
            yield from ((feed.object, feed.column) for feed in feeds if feed.object in objects)


class _Scopes:
    """The relations, variables and targets of one statement."""

    def __init__(self, statement: ir.Statement, bound: Bound, steps: Steps, asked: Asked) -> None:
        self.statement = statement
        self.bound = bound
        self.names = dict(bound.names)
        self.steps = steps
        self.asked = asked
        self.labels: dict[str, str] = {}

    def relations(self) -> Iterator[Inner]:
        """The relations that somebody reads, each with a name where it has one."""
        common = {str(index): name for index, name in self.statement.ctes}
        found = {inner: linked for inner, linked in self.steps.inner.items() if set_by(inner) is None}
        readings = {inner: tuple(self._readings(int(inner), Operation.SELECT)) for inner in found}
        for inner, linked in found.items():
            name = common.get(inner)
            deciders, taken = _split(linked.indirect, readings[inner])
            yield Inner(
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

    def variables(self) -> Iterator[Inner]:
        """The variables that the statement sets."""
        for inner, linked in self.steps.inner.items():
            variable = set_by(inner)
            if variable is not None:
                name = variable[1]
                deciders, readings = _split(linked.indirect, tuple(self._assigned(name)))
                yield Inner(inner, "", NodeType.VARIABLE, name, self._columns(inner, linked), deciders, readings)

    def _assigned(self, name: str) -> Iterator[Reading]:
        for assignment in self.statement.assigns:
            if name in assignment.variables and assignment.relation != ir.NOWHERE:
                yield from self._readings(assignment.relation, Operation.ASSIGN)

    def _columns(self, inner: str, linked: Linked) -> tuple[InnerColumn, ...]:
        columns = [
            InnerColumn(key, out.name or key, out.start, out.end, _feeds(out.value.flows))
            for key, out in zip(keys(linked.columns), linked.columns, strict=True)
        ]
        return (*columns, *self._passed(MARK + inner))

    def _passed(self, name: str) -> Iterator[InnerColumn]:
        return (_asked(column, flows) for column, flows in self.asked.get(name, {}).items())

    def targets(self) -> Iterator[Inner]:
        """What the statement writes and defines, with the relations and objects that feed it as a whole."""
        statement, definition = self.statement, self.statement.definition
        if definition is not None:
            columns = tuple(
                InnerColumn(item.name, item.written, item.start, item.end, ()) for item in definition.columns
            )
            model = self.names.get(definition.like.parts) if definition.like is not None else None
            like = (Reading("", model, Operation.CREATE),) if model else ()
            yield self._target(self.names[definition.name.parts], definition.relation, Operation.CREATE, columns, like)
        for write in statement.writes:
            operation = WRITES.get(write.mode, Operation.WRITE)
            if statement.kind == "MERGE":
                operation = Operation.MERGE
            for target in watched(self.names) if write.target.parts == ir.ROWS else [self.names[write.target.parts]]:
                yield self._target(target, write.relation, operation)
        if statement.result != ir.NOWHERE:
            yield self._target(self.bound.result, statement.result, Operation.SELECT)

    def _target(
        self,
        target: str,
        relation: int,
        operation: Operation,
        columns: tuple[InnerColumn, ...] = (),
        more: tuple[Reading, ...] = (),
    ) -> Inner:
        inner = self.steps.inner
        found = [*more, *(self._readings(relation, operation) if relation != ir.NOWHERE else ())]
        readings = tuple(item for item in found if item.object != target and (item.object or item.inner in inner))
        if any(item.inner and item.inner not in inner for item in found):  # not linked: what is read is all there is
            reads = (self.names[parts] for parts in self.bound.reads if parts in self.names)
            readings = (*readings, *(Reading("", name, operation) for name in reads))
        return Inner("", target, None, "", columns, (), readings)

    def written(self, written: Written) -> Inner:
        """The columns of one write, and what decides about its rows."""
        columns = [
            InnerColumn(name, name, out.start, out.end, _feeds(out.value.flows)) for name, out in written.columns
        ]
        columns.extend(self._passed(written.target))
        deciders, taken = _split(written.indirect, ())
        # The others say of themselves what they take rows from, but for those that take the row of a variable.
        asked = taken if written.mode == CONDITION or self._takes_record() else ()
        return Inner("", written.target, None, "", tuple(columns), deciders, asked)

    def _takes_record(self) -> bool:
        selects = [relation for relation in self.statement.relations if isinstance(relation, ir.Select)]
        return any(source.record for select in selects for source in select.sources)

    def _readings(self, index: int, first: Operation) -> Iterator[Reading]:
        """What a relation takes its rows from; its first source is taken as `first` says, the others are joined."""
        body = self.statement.relations[index]
        match body:
            case ir.Renamed(relation=inner):
                yield from self._readings(inner, first)
            case ir.Select():
                for source in body.sources:
                    yield from self._source(source, first)
            case ir.SetOperation(op=op, branches=branches):
                for number, branch in enumerate(branches, 1):
                    yield self._inner(branch, SET_OPERATIONS.get(op, Operation.UNION), f"{op.lower()} branch {number}")
            case ir.Recursive(anchor=anchor, step=step):
                yield self._inner(anchor, Operation.RECURSION, "anchor")
                yield self._inner(step, Operation.RECURSION, "step")
            case ir.Pivot(relation=inner):
                yield self._inner(inner, Operation.PIVOT, "")
            case ir.Unpivot(relation=inner):
                yield self._inner(inner, Operation.UNPIVOT, "")

    def _inner(self, index: int, operation: Operation, label: str) -> Reading:
        self.labels.setdefault(str(index), label)
        return Reading(str(index), "", operation)

    def _source(self, source: ir.Source, first: Operation) -> Iterator[Reading]:
        joined = source.join is not None and first is not Operation.MERGE
        operation = JOINS.get(source.join.side, Operation.INNER_JOIN) if joined and source.join else first
        if source.relation != ir.NOWHERE:
            yield self._inner(source.relation, operation, source.alias)
        elif source.name is not None:
            found = self.steps.sources.input(source.name)
            if source.function is None or found.columns:
                yield Reading("", found.object, operation)


def _feeds(flows: Flows) -> tuple[Feed, ...]:
    return tuple(map(_feed, flows))


def _feed(flow: Flow) -> Feed:
    inner = inner_of(flow.object)
    return Feed(
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


def _asked(name: str, flows: Flows) -> InnerColumn:
    place = (flows[0].start, flows[0].end) if flows else (ir.NOWHERE, ir.NOWHERE)
    return InnerColumn(name, name, *place, _feeds(flows))


def _split(flows: Flows, readings: tuple[Reading, ...]) -> tuple[tuple[Feed, ...], tuple[Reading, ...]]:
    """What decides about rows, apart from the rows that are taken as they are: those are readings."""
    feeds = _feeds(flows)
    known = {(reading.inner, reading.object) for reading in readings}
    taken = [feed for feed in feeds if _is_taken(feed)]
    more = tuple(
        Reading(feed.inner, feed.object, Operation.SELECT) for feed in taken if (feed.inner, feed.object) not in known
    )
    return tuple(feed for feed in feeds if not _is_taken(feed)), (*readings, *more)


def _is_taken(feed: Feed) -> bool:
    return feed.column == ROWS and feed.type is EdgeType.INDIRECT and feed.subtype is Subtype.IDENTITY


def _mentions(statement: ir.Statement, bound: Bound) -> Iterator[Mention]:
    """The objects that a statement names, each where it does so first."""
    names = dict(bound.names)
    seen: set[str] = set()
    for name in _named(statement):
        known = names.get(name.parts)
        if known is not None and known not in seen:
            seen.add(known)
            yield Mention(known, name.written, name.start, name.end)
    for call in statement.calls:
        known = names.get(call.name.parts + CALL)
        if known is not None and known not in seen:
            seen.add(known)
            yield Mention(known, call.name.written, call.name.start, call.name.end)


def _named(statement: ir.Statement) -> Iterator[ir.Name]:
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


def _calls(statement: ir.Statement, bound: Bound) -> Iterator[Mention]:
    names = dict(bound.names)
    for call in statement.calls:
        yield Mention(names.get(call.name.parts + CALL, ""), ".".join(call.name.parts), call.name.start, call.name.end)
