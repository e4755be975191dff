"""One statement: what it writes, column by column, and the findings of linking it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.identifier_folding import fold_for_alias
from lineage_pipeline.engine.faults import contain
from lineage_pipeline.engine.link.canonical import VARIABLE_FACET, group_facets, with_write_facet
from lineage_pipeline.engine.link.context import BudgetExceeded, FileTally, RelationResolver
from lineage_pipeline.engine.link.expression import evaluate_expression
from lineage_pipeline.engine.link.model import (
    NO_FLOWS,
    BoundRelation,
    ColumnFlow,
    ExprResult,
    FindingReporter,
    Flows,
    OutputColumn,
    PlanNode,
    TableInput,
    UnexpandedStar,
    mark_approximate,
    mark_as_condition,
    union_flows,
)
from lineage_pipeline.engine.link.positional import assign_by_position, number_duplicate_columns, rename_by_position
from lineage_pipeline.engine.link.query_plan import plan_write, render_plan
from lineage_pipeline.engine.link.relation import RelationLinker
from lineage_pipeline.engine.link.routine import (
    apply_row_type,
    assign_output_parameters,
    bind_call_arguments,
    merge_trigger_rows,
)
from lineage_pipeline.engine.link.scope import Scope, ScopeSource, ScopeSources
from lineage_pipeline.engine.link.type_inference import report_stored_types
from lineage_pipeline.engine.link.variables import Environment
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import ResultSet
from lineage_pipeline.model.plan import CALL_SUFFIX, NameBindings
from lineage_pipeline.model.tables import QUERY_PLAN

CONDITION = "condition"
"""The write mode of a condition: it writes nothing, but its columns decide about the module."""


def find_trigger_tables(names: Mapping[tuple[str, ...], str]) -> list[str]:
    """The tables whose rows the triggers pass to the function that a statement is in."""
    return [identity for parts, identity in names.items() if parts[:1] == ir.TRIGGER_ROWS]


class WriteResult(msgspec.Struct, frozen=True):
    """What a statement writes to one object: target columns with their values, and flows that decide about rows."""

    target: str
    mode: str
    columns: tuple[tuple[str, OutputColumn], ...]
    unexpanded: tuple[UnexpandedStar, ...] = ()
    indirect: Flows = NO_FLOWS
    facets: tuple[tuple[str, str], ...] = ()
    conditional: bool = False
    lists: bool = False  # columns by name: what passes unseen goes into them by position, whatever its names are
    plan: PlanNode | None = None


class LinkedStatement(msgspec.Struct, frozen=True):
    """A statement after linking, and the steps that linking it took."""

    writes: tuple[WriteResult, ...]
    findings: tuple[ir.Finding, ...]
    turns: int = 0


def link_statement(
    statement: ir.Statement,
    bound: NameBindings,
    inputs: Mapping[str, TableInput],
    traits: DialectTraits,
    environment: Environment | None = None,
) -> LinkedStatement:
    """Link a statement to the objects it names; its assignments update the environment."""

    def link() -> LinkedStatement:
        try:
            return StatementLinker(
                statement=statement, bound=bound, inputs=inputs, traits=traits, environment=environment or Environment()
            ).link()
        except BudgetExceeded as excess:
            return _limit_exceeded("the statement", str(excess), excess.turns)
        except (RecursionError, MemoryError):
            return _limit_exceeded("the nesting", "what can be followed")

    return contain(link, build_fault_result, statement.kind, 0, 0)


def build_fault_result(fault: ir.Finding) -> LinkedStatement:
    """The result of a statement that met an internal error: the finding alone."""
    return LinkedStatement((), (fault,))


def link_within_limits(tally: FileTally, bound: NameBindings, link: Callable[[], LinkedStatement]) -> LinkedStatement:
    """Link a statement unless its file has exceeded its limit, and count its edges."""
    excess = tally.exceeded_limit(bound.edges)
    found = _limit_exceeded("the file", excess) if excess else link()
    count_statement(tally, found)
    return found


def count_statement(tally: FileTally, linked: LinkedStatement) -> None:
    """Count the edges and steps of one more statement."""
    tally.turns += linked.turns
    for written in linked.writes:
        tally.edges += sum([len(out.value.flows) or 1 for _, out in written.columns]) + len(written.indirect)


def _limit_exceeded(what: str, limit: str, turns: int = 0) -> LinkedStatement:
    return LinkedStatement((), (ir.Finding("LIMIT_EXCEEDED", (("what", what), ("limit", limit)), 0, 0),), turns)


class StatementLinker:
    """Links one statement to the objects it reads and writes."""

    relation_linker: type[RelationLinker] = RelationLinker

    def __init__(
        self,
        statement: ir.Statement,
        bound: NameBindings,
        inputs: Mapping[str, TableInput],
        traits: DialectTraits,
        environment: Environment,
    ) -> None:
        """Start with the bound names, the inputs of those objects, and the variables."""
        self.statement = statement
        self.environment = environment
        self.bound = bound
        self.names = dict(bound.names)
        self.inputs = inputs
        self.findings: dict[tuple[object, ...], ir.Finding] = {}
        self.seen = {**self.names, **dict(bound.states)} if bound.states else self.names
        self.by_name = {
            parts: inputs.get(self.seen[parts]) or TableInput(name, (), True) for parts, name in bound.names
        }
        if rows := find_trigger_tables(self.names):
            self.by_name[ir.TRIGGER_ROWS] = merge_trigger_rows(
                [inputs.get(name) or TableInput(name, (), True) for name in rows]
            )
        self.traits = traits
        self.relations = self._make_relation_linker(with_first_result_sets(self.by_name))

    def _make_relation_linker(self, by_name: Mapping[tuple[str, ...], TableInput]) -> RelationLinker:
        visible, edges = self.environment.visible, self.bound.edges
        return self.relation_linker(self.statement, by_name, self.traits, self.report, visible, edges)

    def report(self, code: str, start: int, end: int, **values: str) -> None:
        """Keep a finding, once for each position."""
        finding = ir.Finding(code, tuple(values.items()), start, end)
        self.findings.setdefault((code, start, finding.values), finding)

    def link(self) -> LinkedStatement:
        """All writes of the statement."""
        statement = self.statement
        written: list[WriteResult] = []
        definition = statement.definition
        if definition is not None and definition.relation != ir.NOWHERE:
            own = self._link_definition(definition)
            written.extend(() if self.bound.superseded else (own,))
        if definition is not None or statement.alterations:
            written.extend(self._link_computed_columns())
        for write in statement.writes:
            written.extend(item for target in self._find_targets(write) for item in self._link_writes(write, target))
        if statement.result != ir.NOWHERE:
            linked = self.relations.relation(statement.result, None)
            if ir.ROW_TYPE_FEATURE in statement.features:
                row = self.inputs.get(self.bound.result)
                linked = apply_row_type(statement, row, linked, self._empty_scope(), self.relations)
            written.append(self._make_write(self.bound.result, "result", name_columns(linked.columns, ()), linked))
        for pairs, guarded in relay_result_sets(statement, self.names, self.inputs, self.environment.module):
            written.append(self._make_write(self.environment.module, "result", pairs, BoundRelation(()), guarded))
        written.extend(item for call in statement.calls if call.names for item in self._link_call(call))
        written.extend(
            self._make_write(callee, "call", ((out.name, out),), BoundRelation(()))
            for (callee, _), out in self.relations.handed.items()
        )
        written.extend(item for assignment in statement.assigns for item in self._link_assignment(assignment))
        if "guessed" in statement.features:
            written = [_mark_write_approximate(item) for item in written]
        return LinkedStatement(tuple(written), tuple(self.findings.values()), self.relations.budget.turns)

    def _make_write(
        self,
        target: str,
        mode: str,
        pairs: Sequence[tuple[str, OutputColumn]],
        linked: BoundRelation,
        conditional: bool = False,
    ) -> WriteResult:
        guarded = conditional or self.bound.conditional
        facets = tuple(group_facets(linked.facets).items())
        plan = plan_write([name for name, _ in pairs], linked)
        if plan is not None and (text := render_plan(plan)):
            facets = (*facets, (QUERY_PLAN, text))
        return WriteResult(
            target=target,
            mode=mode,
            columns=tuple(pairs),
            unexpanded=linked.unexpanded,
            indirect=linked.indirect,
            facets=facets,
            conditional=guarded,
            plan=plan,
        )

    def _link_assignment(self, assignment: ir.Assignment) -> Iterator[WriteResult]:
        """Assign values to variables; an output variable is written to a column of its module."""
        known = assignment.relation != ir.NOWHERE and not self._reads_unknown_trigger_rows(assignment)
        linked = self.relations.relation(assignment.relation, None) if known else None
        self.environment.assign(assignment, linked)
        if linked is not None and not assignment.variables and self.environment.module:  # a condition
            flows = union_flows([linked.indirect, *(mark_as_condition(out.value.flows) for out in linked.columns)])
            facets = tuple(("filter", out.value.text) for out in linked.columns)
            yield self._make_write(
                self.environment.module, CONDITION, (), BoundRelation((), indirect=flows, facets=facets)
            )
        columns = linked.columns if linked is not None else ()
        whole = product(assignment.variables, columns) if assignment.row else ()  # a record is all of its columns
        for target, out in whole or zip(assignment.variables, columns, strict=False):
            name = target.partition(".")[0]
            module, node = self.environment.output_column(name)
            if module and linked is not None:
                value = msgspec.structs.replace(out.value, flows=union_flows([out.value.flows, linked.indirect]))
                given = msgspec.structs.replace(out, value=value)
                yield self._make_write(module, "output", ((node, given),), BoundRelation(()))

    def _reads_unknown_trigger_rows(self, assignment: ir.Assignment) -> bool:
        """Say whether a trigger's rows are read although no table is known for it."""
        relation = self.statement.relations[assignment.relation]
        sources = relation.sources if isinstance(relation, ir.Select) else ()
        return ir.TRIGGER_ROWS not in self.names and any(
            item.name and item.name.parts == ir.TRIGGER_ROWS for item in sources
        )

    def _link_call(self, call: ir.Invocation) -> Iterator[WriteResult]:
        """Pass arguments to the parameters of a module, and assign its output parameters."""
        callee = self.names.get(call.name.parts + CALL_SUFFIX, "")
        known = self.inputs.get(callee) or (TableInput(callee, (), True) if callee else None)
        pairs = list(bind_call_arguments(call, known, self._empty_scope(), self.relations))
        taken = assign_output_parameters(call, known, self.environment)
        if pairs:
            yield self._make_write(callee, "call", pairs, BoundRelation(()))
        for name, value in taken:  # what a module hands back may be handed on
            module, node = self.environment.output_column(name)
            if module and value.flows:
                yield self._make_write(module, "output", ((node, OutputColumn(node, node, value)),), BoundRelation(()))

    def _empty_scope(self) -> Scope:
        """The scope of an expression outside of any query."""
        return Scope(self.traits, None, self.report, self.environment.visible)

    def _link_definition(self, definition: ir.Definition) -> WriteResult:
        linked = number_duplicate_columns(self.relations.relation(definition.relation, None), self.traits)
        adds = self.traits.query_adds_columns and definition.kind == "table"  # to those that are declared, by name
        header = () if adds else definition.header or tuple(column.name for column in definition.columns)
        if linked.unknown_range is not None:
            linked = rename_by_position(linked, header, self.traits.short_lists)
        return self._make_write(
            self.names[definition.name.parts], "define", name_columns(linked.columns, header), linked
        )

    def _link_computed_columns(self) -> Iterator[WriteResult]:
        """Computed columns of a table are fed by its other columns."""
        inputs, seen, scope = self.inputs, self.seen, self._empty_scope()
        for name, pairs in evaluate_computed_columns(
            self.statement, lambda parts: inputs.get(seen[parts]) if parts in seen else None, scope, self.relations
        ):
            yield WriteResult(self.names[name.parts], "define", pairs)

    def _find_targets(self, write: ir.Write) -> list[str]:
        """The objects that a write goes to; writes to a trigger's row go to every table it is on."""
        return (
            find_trigger_tables(self.names)
            if write.target.parts == ir.TRIGGER_ROWS
            else [self.names[write.target.parts]]
        )

    def _link_writes(self, write: ir.Write, target: str) -> Iterator[WriteResult]:
        """The results of one write; an INSERT from a procedure has one for each result set."""
        sets = list(select_inserted_result_sets(self.statement, write, self.by_name, self.inputs.get(target)))
        for parts, procedure, guarded in sets:
            self.relations = self._make_relation_linker({**self.by_name, parts: procedure})
            yield self._link_write(msgspec.structs.replace(write, conditional=write.conditional or guarded), target)
        if not sets:
            yield self._link_write(write, target)

    def _link_write(self, write: ir.Write, target: str) -> WriteResult:
        linked = with_write_facet(write, self.relations.relation(write.relation, None))
        own = self.inputs.get(self.seen.get(write.target.parts, target) if self.bound.states else target)
        if write.mode == "load":
            return self._make_write(target, write.mode, self._link_load(write, own), linked, write.conditional)
        if write.columns is not None:
            pairs = list(assign_by_position(linked, write.columns, short=False))
            self._check_arity(write, target, len(write.columns), linked)
            report_listed_columns(write, own, self.relations, self.report)
        elif write.by_name or own is None or own.guessed or own.open:
            pairs = list(name_columns(linked.columns, ()))
        else:
            pairs = self._assign_positional(write, target, own, linked)
        report_stored_types(target, own, pairs, self.traits.types.conversions, self.report)
        linked = self._with_variables(pairs, linked)
        written = self._make_write(target, write.mode, pairs, linked, write.conditional)
        return msgspec.structs.replace(written, lists=write.columns is not None)

    def _with_variables(self, pairs: Sequence[tuple[str, OutputColumn]], linked: BoundRelation) -> BoundRelation:
        """The rows of a write, with a facet for what the variables hold that decide about them."""
        texts = [*(out.value.text for _, out in pairs), *(text for _, text in linked.facets)]
        held = tuple((VARIABLE_FACET, line) for line in self.environment.describe_held(texts))
        return msgspec.structs.replace(linked, facets=(*linked.facets, *held)) if held else linked

    def _link_load(self, write: ir.Write, own: TableInput | None) -> list[tuple[str, OutputColumn]]:
        """The columns of a table that a file loads: by name, approximate."""
        body = self.statement.relations[write.relation]
        files = [item.name for item in body.sources if item.name is not None] if isinstance(body, ir.Select) else []
        known = [column.name for column in own.columns if not column.generated] if own is not None else []
        pairs = []
        for name in known if write.columns is None else write.columns:
            flows = tuple(ColumnFlow(self.names[file.parts], name, approximate=True) for file in files)
            if name not in write.fixed:
                pairs.append((name, OutputColumn(name, name, ExprResult(flows, None, True, f"file.{name}"))))
        return pairs

    def _assign_positional(
        self, write: ir.Write, target: str, own: TableInput, linked: BoundRelation
    ) -> list[tuple[str, OutputColumn]]:
        """Values by position; generated columns are skipped."""
        names = select_positional_targets(
            write, own, ir.NOWHERE if linked.unknown_range else len(linked.columns), target in self.bound.elsewhere
        )
        short = self.traits.short_insert and len(linked.columns) < len(names)
        if not own.open and not short:
            self._check_arity(write, target, len(names), linked)
        return list(assign_by_position(linked, names, self.traits.short_insert))

    def _check_arity(self, write: ir.Write, target: str, expected: int, linked: BoundRelation) -> None:
        given, known = len(linked.columns), not linked.unexpanded and linked.catch_all is None
        if write.mode in ("insert", "overwrite") and known and given != expected:
            first = linked.columns[0].start if linked.columns else ir.NOWHERE
            start = next(place for place in (write.rows, first, write.target.start, 0) if place >= 0)
            values = {"target": target, "expected": str(expected), "given": str(given)}
            self.report("INSERT_ARITY_MISMATCH", start, start, **values)


def _mark_write_approximate(written: WriteResult) -> WriteResult:
    """The write of a statement whose text is only partly known."""
    columns = tuple(
        (
            name,
            msgspec.structs.replace(
                out,
                value=msgspec.structs.replace(out.value, flows=mark_approximate(out.value.flows)),
                approximate=True,
            ),
        )
        for name, out in written.columns
    )
    return msgspec.structs.replace(written, columns=columns, indirect=mark_approximate(written.indirect))


def report_listed_columns(
    write: ir.Write, own: TableInput | None, links: RelationLinker, report: FindingReporter
) -> None:
    """Report listed columns that the target does not have or that are listed twice."""
    if not write.starts or write.columns is None:
        return
    if write.mode in ("insert", "overwrite") and len(set(write.columns)) < len(write.columns):
        _report_duplicate(write, report)
    if own is None or own.open or not own.columns:
        return
    positions = own.positions
    missing = [at for at, name in enumerate(write.columns) if name not in positions]
    if missing:
        _report_missing_columns(write, own, missing, links, report)


def _report_duplicate(write: ir.Write, report: FindingReporter) -> None:
    columns: Sequence[str] = write.columns or ()
    at = next(at for at, name in enumerate(columns) if name in columns[:at])
    target = f"{'.'.join(write.target.parts)}, which lists {columns[at]} twice,"
    start = max(write.starts[at], 0) if at < len(write.starts) else 0
    values = {"target": target, "expected": str(len(set(columns))), "given": str(len(columns))}
    report("INSERT_ARITY_MISMATCH", start, start, **values)


def _report_missing_columns(
    write: ir.Write, own: TableInput, missing: Sequence[int], links: RelationLinker, report: FindingReporter
) -> None:
    stored = links.traits.table_pseudo_columns
    for at in missing:
        name = (write.columns or ())[at]
        start = write.starts[at] if at < len(write.starts) else ir.NOWHERE
        if start >= 0 and name.upper() not in stored and not _may_set_joined_table(write, name, links):
            report("UNKNOWN_COLUMN", start, start, column=name, candidates=own.object)


def _may_set_joined_table(write: ir.Write, name: str, links: RelationLinker) -> bool:
    """Say whether an UPDATE may set the column of another table that it names."""
    if write.mode != "update" or not links.traits.updates_joined:
        return False
    relation = links.statement.relations[write.relation]
    sources = relation.sources if isinstance(relation, ir.Select) else ()
    others = [links.inputs.get(item.name.parts) for item in sources if item.name and item.name != write.target]
    return any(item is None or item.open or name in item.positions for item in others)


def select_positional_targets(write: ir.Write, own: TableInput, given: int, elsewhere: bool) -> list[str]:
    """The columns that positional values go into: all, or those that the engine does not fill itself.

    Where other files add columns, it is unknown which of them exist yet.
    """
    columns = [column for column in own.columns if column.name not in write.fixed]
    if given == len(columns):
        return [column.name for column in columns]
    settable = [column for column in columns if not column.generated]
    first = [column.name for column in settable if not column.added]
    if elsewhere and len(first) <= given < len(settable):
        later = [column.name for column in settable if column.added]
        return [*first, *later][:given]
    return [column.name for column in settable]


ColumnAssignments = list[tuple[str, OutputColumn]]
"""Values with the names of their target columns."""


def with_result_set(procedure: TableInput, given: ResultSet) -> TableInput:
    """A procedure as the source of one of its result sets."""
    columns = tuple(procedure.columns[procedure.positions[name]] for name in given.columns)
    return msgspec.structs.replace(procedure, columns=columns, results=())


def with_first_result_sets(by_name: Mapping[tuple[str, ...], TableInput]) -> Mapping[tuple[str, ...], TableInput]:
    """The inputs of a statement, each procedure with its first result set."""
    if not any(item.results for item in by_name.values()):
        return by_name
    return {parts: with_result_set(item, item.results[0]) if item.results else item for parts, item in by_name.items()}


def select_inserted_result_sets(
    statement: ir.Statement, write: ir.Write, by_name: Mapping[tuple[str, ...], TableInput], own: TableInput | None
) -> Iterator[tuple[tuple[str, ...], TableInput, bool]]:
    """The result sets that fit INSERT ... EXEC, each with whether a branch guards it.

    A procedure without a known or fitting result set counts as open: it may run dynamic SQL.
    """
    relation = statement.relations[write.relation] if write.relation != ir.NOWHERE else None
    called = {call.name.parts for call in statement.calls}
    sources = relation.sources if isinstance(relation, ir.Select) else ()
    names = [source.name.parts for source in sources if source.name is not None and source.name.parts in called]
    for parts in names[:1]:
        procedure = by_name[parts]
        widths = _target_widths(write, own)
        fitting = [one for one in procedure.results if len(one.columns) in widths or not any(widths)]
        fitting = fitting if any(widths) else fitting[:1]
        for one in fitting:
            yield parts, with_result_set(procedure, one), one.conditional
        if not fitting and (procedure.results or not procedure.columns):
            yield parts, msgspec.structs.replace(procedure, columns=(), results=(), open=True), False


def _target_widths(write: ir.Write, own: TableInput | None) -> Sequence[int]:
    """How many columns a target takes."""
    if write.columns is not None:
        return (len(write.columns),)
    known = own.columns if own is not None else ()
    return len(known), sum(not column.generated for column in known)


def relay_result_sets(
    statement: ir.Statement, names: Mapping[tuple[str, ...], str], inputs: Mapping[str, TableInput], module: str
) -> Iterator[tuple[ColumnAssignments, bool]]:
    """The result sets that a module passes on from the modules it calls."""
    if not module or statement.kind not in ir.RELAYING_KINDS or statement.writes or statement.result != ir.NOWHERE:
        return
    for call in statement.calls:
        callee = inputs.get(names.get(call.name.parts + CALL_SUFFIX, ""))
        if callee is not None and callee.object != module:
            for one in callee.results:
                yield [_result_column(callee, name, call.name) for name in one.columns], one.conditional


def _result_column(callee: TableInput, name: str, at: ir.Name) -> tuple[str, OutputColumn]:
    column = callee.columns[callee.positions[name]]
    flow = ColumnFlow(callee.object, name, start=at.start, end=at.end)
    value = ExprResult((flow,), column.type, column.nullable, f"{callee.object}.{name}")
    return name, OutputColumn(name=name, written=column.written, value=value, start=at.start, end=at.end)


def name_columns(columns: Sequence[OutputColumn], header: Sequence[str]) -> list[tuple[str, OutputColumn]]:
    """The columns under their target names: the header's, their own, or one made of their position."""
    pairs = []
    for position, column in enumerate(columns):
        name = header[position] if position < len(header) else column.name or f"_col{position}"
        pairs.append((name, column))
    return pairs


ComputedColumns = tuple[ir.Name, list[ir.ColumnDef]]
"""A table and its computed columns."""


def list_computed_columns(statement: ir.Statement) -> list[ComputedColumns]:
    """The computed columns of a CREATE TABLE, and those that an ALTER TABLE adds."""
    found: list[ComputedColumns] = []
    definition = statement.definition
    if definition is not None and definition.relation == ir.NOWHERE:
        found.append((definition.name, [column for column in definition.columns if column.computed is not None]))
    added: dict[tuple[str, ...], ComputedColumns] = {}
    for item in statement.alterations:
        if item.action == "add" and item.definition is not None and item.definition.computed is not None:
            added.setdefault(item.name.parts, (item.name, []))[1].append(item.definition)
    return [(name, columns) for name, columns in (*found, *added.values()) if columns]


def list_untyped_computed_columns(statement: ir.Statement) -> frozenset[str]:
    """The computed columns without a declared type."""
    return frozenset(
        column.name for _, columns in list_computed_columns(statement) for column in columns if not column.type
    )


def evaluate_computed_columns(
    statement: ir.Statement,
    input_of: Callable[[tuple[str, ...]], TableInput | None],
    scope: Scope,
    links: RelationResolver,
) -> Iterator[tuple[ir.Name, tuple[tuple[str, OutputColumn], ...]]]:
    """The computed columns of each table with their values; `input_of` finds a table by its name."""
    definition = statement.definition
    for name, columns in list_computed_columns(statement):
        own = input_of(name.parts)
        if own is None:
            continue
        if definition is not None and definition.kind == "external":  # its columns are cut out of undeclared ones
            own = msgspec.structs.replace(own, open=True)
        parts = fold_for_alias(name.parts, links.traits.aliases)
        scope.sources = ScopeSources([ScopeSource(parts[-1], parts, input=own)])
        yield name, tuple(_evaluate_computed_column(column, scope, links) for column in columns)


def _evaluate_computed_column(column: ir.ColumnDef, scope: Scope, links: RelationResolver) -> tuple[str, OutputColumn]:
    assert column.computed is not None
    value = evaluate_expression(column.computed, scope, links)
    return column.name, OutputColumn(
        name=column.name, written=column.written, value=value, start=column.start, end=column.end
    )
