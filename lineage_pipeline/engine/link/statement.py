"""One statement: what it writes, column by column, and the schema of what it defines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import msgspec

from lineage_pipeline.dialects.clauses import SHORT_LISTS
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.faults import contain
from lineage_pipeline.engine.link.budget import Tally, TooMuch
from lineage_pipeline.engine.link.computed import fed
from lineage_pipeline.engine.link.facets import facet_lines, with_manner
from lineage_pipeline.engine.link.fitting import report_stored
from lineage_pipeline.engine.link.flows import NONE, Flow, Flows, approximated, deciding, united
from lineage_pipeline.engine.link.gaps import headed, stored
from lineage_pipeline.engine.link.invocations import handed_over, take_back, typed
from lineage_pipeline.engine.link.listed import fitting, report_listed
from lineage_pipeline.engine.link.model import Input, Linked, Opening, Out, Value
from lineage_pipeline.engine.link.relations import RelationLinker
from lineage_pipeline.engine.link.results import inserted_sets, named, relayed, told_apart, with_first_sets
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.variables import Environment
from lineage_pipeline.engine.link.watched import merged, watched
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.plan import CALL, Bound

CONDITION = "condition"
"""How a statement writes that only asks: into nothing, but what it asks for decides about its module."""


class Written(msgspec.Struct, frozen=True):
    """What a statement puts into one object: target columns with their values, and what decides about the rows."""

    target: str
    mode: str
    columns: tuple[tuple[str, Out], ...]
    openings: tuple[Opening, ...] = ()
    indirect: Flows = NONE
    facets: tuple[tuple[str, str], ...] = ()
    conditional: bool = False
    lists: bool = False  # columns by name: what passes unseen goes into them by position, whatever its names are


class LinkedStatement(msgspec.Struct, frozen=True):
    """A statement after linking, and how many steps that took."""

    writes: tuple[Written, ...]
    findings: tuple[ir.Finding, ...]
    turns: int = 0


def link_statement(
    statement: ir.Statement,
    bound: Bound,
    inputs: Mapping[str, Input],
    traits: Traits,
    environment: Environment | None = None,
) -> LinkedStatement:
    """A statement linked against the objects that its names stand for; what it assigns is put into variables."""

    def link() -> LinkedStatement:
        try:
            return StatementLinker(statement, bound, inputs, traits, environment or Environment()).link()
        except TooMuch as excess:
            return _cut_short("the statement", str(excess), excess.turns)
        except (RecursionError, MemoryError):
            return _cut_short("the nesting", "what can be followed")

    return contain(link, unlinked, statement.kind, 0, 0)


def unlinked(fault: ir.Finding) -> LinkedStatement:
    """Give what is left of a statement that met a fault of ours: the finding alone."""
    return LinkedStatement((), (fault,))


def within(tally: Tally, bound: Bound, link: Callable[[], LinkedStatement]) -> LinkedStatement:
    """A statement linked, unless its file has come to too much before it."""
    excess = tally.excess(bound.edges)
    found = _cut_short("the file", excess) if excess else link()
    count(tally, found)
    return found


def count(tally: Tally, linked: LinkedStatement) -> None:
    """Count the edges and the steps of one more statement."""
    tally.turns += linked.turns
    for written in linked.writes:
        tally.edges += sum([len(out.value.flows) or 1 for _, out in written.columns]) + len(written.indirect)


def _cut_short(what: str, limit: str, turns: int = 0) -> LinkedStatement:
    return LinkedStatement((), (ir.Finding("LIMIT_EXCEEDED", (("what", what), ("limit", limit)), 0, 0),), turns)


class StatementLinker:
    """Links one statement against the objects it reads and writes."""

    relation_linker: type[RelationLinker] = RelationLinker

    def __init__(
        self,
        statement: ir.Statement,
        bound: Bound,
        inputs: Mapping[str, Input],
        traits: Traits,
        environment: Environment,
    ) -> None:
        """Start with what the names stand for, what is known of those objects, and what variables hold."""
        self.statement = statement
        self.environment = environment
        self.bound = bound
        self.names = dict(bound.names)
        self.inputs = inputs
        self.findings: dict[tuple[object, ...], ir.Finding] = {}
        self.seen = {**self.names, **dict(bound.states)} if bound.states else self.names
        self.by_name = {parts: inputs.get(self.seen[parts]) or Input(name, (), True) for parts, name in bound.names}
        if rows := watched(self.names):
            self.by_name[ir.ROWS] = merged([inputs.get(name) or Input(name, (), True) for name in rows])
        self.traits = traits
        self.relations = self._relations(with_first_sets(self.by_name))

    def _relations(self, by_name: Mapping[tuple[str, ...], Input]) -> RelationLinker:
        visible, edges = self.environment.visible, self.bound.edges
        return self.relation_linker(self.statement, by_name, self.traits, self.report, visible, edges)

    def report(self, code: str, start: int, end: int, **values: str) -> None:
        """Keep a finding, once for each place."""
        finding = ir.Finding(code, tuple(values.items()), start, end)
        self.findings.setdefault((code, start, finding.values), finding)

    def link(self) -> LinkedStatement:
        """All that the statement writes."""
        statement = self.statement
        written: list[Written] = []
        definition = statement.definition
        if definition is not None and definition.relation != ir.NOWHERE:
            own = self._defined(definition)
            written.extend(() if self.bound.superseded else (own,))
        if definition is not None or statement.alterations:
            written.extend(self._computed())
        for write in statement.writes:
            written.extend(item for target in self._targets(write) for item in self._writes(write, target))
        if statement.result != ir.NOWHERE:
            linked = self.relations.relation(statement.result, None)
            if ir.TYPED in statement.features:
                row = self.inputs.get(self.bound.result)
                linked = typed(statement, row, linked, self._outside(), self.relations)
            written.append(self._written(self.bound.result, "result", named(linked.columns, ()), linked))
        for pairs, guarded in relayed(statement, self.names, self.inputs, self.environment.module):
            written.append(self._written(self.environment.module, "result", pairs, Linked(()), guarded))
        written.extend(item for call in statement.calls if call.names for item in self._call(call))
        written.extend(
            self._written(callee, "call", ((out.name, out),), Linked(()))
            for (callee, _), out in self.relations.handed.items()
        )
        written.extend(item for assignment in statement.assigns for item in self._assign(assignment))
        if "guessed" in statement.features:
            written = [_approximate(item) for item in written]
        return LinkedStatement(tuple(written), tuple(self.findings.values()), self.relations.budget.turns)

    def _written(
        self, target: str, mode: str, pairs: Sequence[tuple[str, Out]], linked: Linked, conditional: bool = False
    ) -> Written:
        guarded = conditional or self.bound.conditional
        facets = tuple(facet_lines(linked.facets).items())
        return Written(target, mode, tuple(pairs), linked.openings, linked.indirect, facets, guarded)

    def _assign(self, assignment: ir.Assignment) -> Iterator[Written]:
        """Put values into variables; one that is handed back to the caller is a column of the module."""
        known = assignment.relation != ir.NOWHERE and not self._is_rowless(assignment)
        linked = self.relations.relation(assignment.relation, None) if known else None
        self.environment.assign(assignment, linked)
        if linked is not None and not assignment.variables and self.environment.module:  # a condition
            flows = united([linked.indirect, *(deciding(out.value.flows) for out in linked.columns)])
            facets = tuple(("filter", out.value.text) for out in linked.columns)
            yield self._written(self.environment.module, CONDITION, (), Linked((), indirect=flows, facets=facets))
        columns = linked.columns if linked is not None else ()
        whole = product(assignment.variables, columns) if assignment.row else ()  # a record is all of its columns
        for target, out in whole or zip(assignment.variables, columns, strict=False):
            name = target.partition(".")[0]
            module, node = self.environment.output(name)
            if module and linked is not None:
                value = msgspec.structs.replace(out.value, flows=united([out.value.flows, linked.indirect]))
                given = msgspec.structs.replace(out, value=value)
                yield self._written(module, "output", ((node, given),), Linked(()))

    def _is_rowless(self, assignment: ir.Assignment) -> bool:
        """Whether the rows of a trigger are asked for that nobody knows."""
        relation = self.statement.relations[assignment.relation]
        sources = relation.sources if isinstance(relation, ir.Select) else ()
        return ir.ROWS not in self.names and any(item.name and item.name.parts == ir.ROWS for item in sources)

    def _call(self, call: ir.Invocation) -> Iterator[Written]:
        """Hand arguments to the parameters of a module, and take back what it hands back."""
        callee = self.names.get(call.name.parts + CALL, "")
        known = self.inputs.get(callee) or (Input(callee, (), True) if callee else None)
        pairs = list(handed_over(call, known, self._outside(), self.relations))
        taken = take_back(call, known, self.environment)
        if pairs:
            yield self._written(callee, "call", pairs, Linked(()))
        for name, value in taken:  # what a module hands back may be handed on
            module, node = self.environment.output(name)
            if module and value.flows:
                yield self._written(module, "output", ((node, Out(node, node, value)),), Linked(()))

    def _outside(self) -> Scope:
        """What an expression outside of any query sees."""
        return Scope(self.traits, None, self.report, self.environment.visible)

    def _defined(self, definition: ir.Definition) -> Written:
        linked = told_apart(self.relations.relation(definition.relation, None), self.traits)
        adds = self.traits.query_adds_columns and definition.kind == "table"  # to those that are declared, by name
        header = () if adds else definition.header or tuple(column.name for column in definition.columns)
        if linked.gap is not None:
            linked = headed(linked, header, self.traits.family in SHORT_LISTS)
        return self._written(self.names[definition.name.parts], "define", named(linked.columns, header), linked)

    def _computed(self) -> Iterator[Written]:
        """Computed columns of a table are fed by its other columns."""
        inputs, seen, scope = self.inputs, self.seen, self._outside()
        for name, pairs in fed(self.statement, lambda parts: inputs.get(seen.get(parts, "")), scope, self.relations):
            yield Written(self.names[name.parts], "define", pairs)

    def _targets(self, write: ir.Write) -> list[str]:
        """What a write goes to: what is put into a trigger's row goes to whatever table it is of."""
        return watched(self.names) if write.target.parts == ir.ROWS else [self.names[write.target.parts]]

    def _writes(self, write: ir.Write, target: str) -> Iterator[Written]:
        """What one write comes to: that of each result set where it takes those of a procedure."""
        sets = list(inserted_sets(self.statement, write, self.by_name, self.inputs.get(target)))
        for parts, procedure, guarded in sets:
            self.relations = self._relations({**self.by_name, parts: procedure})
            yield self._write(msgspec.structs.replace(write, conditional=write.conditional or guarded), target)
        if not sets:
            yield self._write(write, target)

    def _write(self, write: ir.Write, target: str) -> Written:
        linked = with_manner(write, self.relations.relation(write.relation, None))
        own = self.inputs.get(self.seen.get(write.target.parts, target) if self.bound.states else target)
        if write.mode == "load":
            return self._written(target, write.mode, self._loaded(write, own), linked, write.conditional)
        if write.columns is not None:
            pairs = list(stored(linked, write.columns, short=False))
            self._check_arity(write, target, len(write.columns), linked)
            report_listed(write, own, self.relations, self.report)
        elif write.by_name or own is None or own.guessed or own.open:
            pairs = list(named(linked.columns, ()))
        else:
            pairs = self._positional(write, target, own, linked)
        report_stored(target, own, pairs, self.traits.family, self.report)
        written = self._written(target, write.mode, pairs, linked, write.conditional)
        return msgspec.structs.replace(written, lists=write.columns is not None)

    def _loaded(self, write: ir.Write, own: Input | None) -> list[tuple[str, Out]]:
        """What a file gives to the columns of a table: one of the same name, for all that is known."""
        body = self.statement.relations[write.relation]
        files = [item.name for item in body.sources if item.name is not None] if isinstance(body, ir.Select) else []
        known = [column.name for column in own.columns if not column.generated] if own is not None else []
        pairs = []
        for name in known if write.columns is None else write.columns:
            flows = tuple(Flow(self.names[file.parts], name, approximate=True) for file in files)
            if name not in write.fixed:
                pairs.append((name, Out(name, name, Value(flows, None, True, f"file.{name}"))))
        return pairs

    def _positional(self, write: ir.Write, target: str, own: Input, linked: Linked) -> list[tuple[str, Out]]:
        """Values by position; columns that the engine fills itself are passed over."""
        names = fitting(write, own, ir.NOWHERE if linked.gap else len(linked.columns), target in self.bound.elsewhere)
        short = self.traits.short_insert and len(linked.columns) < len(names)
        if not own.open and not short:
            self._check_arity(write, target, len(names), linked)
        return list(stored(linked, names, self.traits.short_insert))

    def _check_arity(self, write: ir.Write, target: str, expected: int, linked: Linked) -> None:
        given, known = len(linked.columns), not linked.openings and linked.rest is None
        if write.mode in ("insert", "overwrite") and known and given != expected:
            first = linked.columns[0].start if linked.columns else ir.NOWHERE
            start = next(place for place in (write.rows, first, write.target.start, 0) if place >= 0)
            values = {"target": target, "expected": str(expected), "given": str(given)}
            self.report("INSERT_ARITY_MISMATCH", start, start, **values)


def _approximate(written: Written) -> Written:
    """What a statement writes whose text is known in part."""
    columns = tuple(
        (
            name,
            msgspec.structs.replace(
                out,
                value=msgspec.structs.replace(out.value, flows=approximated(out.value.flows)),
                approximate=True,
            ),
        )
        for name, out in written.columns
    )
    return msgspec.structs.replace(written, columns=columns, indirect=approximated(written.indirect))
