"""Variables of procedural code: what each one holds from statement to statement, through branches and loops."""

import re
from collections.abc import Collection, Iterable, Iterator

import msgspec

from lineage_pipeline.engine.link.canonical import shorten_text
from lineage_pipeline.engine.link.model import (
    NO_FLOWS,
    BoundRelation,
    ColumnFlow,
    ExprResult,
    Flows,
    InputColumn,
    OutputColumn,
    TableInput,
    VariableValues,
    drop_positions,
    union_flows,
)
from lineage_pipeline.model import ir
from lineage_pipeline.model.enums import Subtype
from lineage_pipeline.model.tables import Hop

MODULE_KINDS = frozenset({"procedure", "function", "trigger"})
"""Kinds of definitions that have variables of their own."""

MAX_HELD = 50
"""How many variables of a statement, and values of one, are compared at most."""

_WORD = re.compile(r"[\w@$#]+")

_BLOCK_KINDS = frozenset({"BEGIN", "TRY", "CREATE PACKAGE"})


class VariableFrame(msgspec.Struct):
    """The variables visible inside a module, a block or a branch; `arms` are the alternative branches."""

    kind: str
    ordinal: int
    owner: str
    visible: VariableValues
    types: dict[str, str]
    assigned: set[str] = set()
    declared: set[str] = set()
    arms: list["VariableFrame"] = []
    outputs: tuple[str, ...] = ()
    columns: frozenset[str] = frozenset()


def parameter_column_name(name: str) -> str:
    """The column of a module that represents a parameter: prefixed with `@`, unlike its result columns."""
    return name if name.startswith("@") else f"@{name}"


class Environment:
    """The variables at one point of a script; statements come in text order."""

    def __init__(self) -> None:
        """Start with an empty script."""
        self.frames = [_make_frame("", -1, "")]
        self._held: dict[str, dict[str, list[str]]] = {}

    def describe_held(self, texts: Iterable[str]) -> Iterator[str]:
        """What was put into the variables that canonical texts name, and into those that these name, one a line."""
        held = self._held.get(self.module, {})
        seen: set[str] = set()
        pending = list(texts) if held else []
        while pending:
            for name in _WORD.findall(pending.pop()):
                if name in held and name not in seen:
                    seen.add(name)
                    pending.extend(held[name])
        yield from (shorten_text(f"{name} = {' | '.join(held[name])}") for name in sorted(seen)[:MAX_HELD])

    @property
    def visible(self) -> VariableValues:
        """The variables that can be read here."""
        return self.frames[-1].visible

    def output_column(self, name: str) -> tuple[str, str]:
        """The module and column that an output variable belongs to, or two empty texts."""
        module = next((frame for frame in reversed(self.frames) if frame.kind in MODULE_KINDS), None)
        if module is None or name not in module.outputs:
            return "", ""
        return module.owner, name if name in module.columns else parameter_column_name(name)

    @property
    def module(self) -> str:
        """The enclosing module, or an empty text."""
        return self.frames[-1].owner

    @property
    def module_ordinal(self) -> int:
        """The ordinal of the definition of the enclosing module, or -1."""
        return next((frame.ordinal for frame in reversed(self.frames) if frame.kind in MODULE_KINDS), -1)

    @property
    def has_variables(self) -> bool:
        """Say whether any variable is visible here."""
        return bool(self.visible.scalars or self.visible.records)

    def advance(self, ordinal: int, placed: ir.Placed, ancestors: Collection[int], module: str) -> None:
        """Move to a statement: leave frames it is not in, enter the one it opens; `module` is what it defines."""
        self.leave(ancestors)
        statement = placed.statement
        definition = statement.definition
        if definition is not None and definition.kind in MODULE_KINDS:
            around = self.frames[-1]
            nested = around.kind in MODULE_KINDS or around.kind == "CREATE PACKAGE"
            self.frames.append(
                _make_module_frame(ordinal, definition, module, around.visible if nested else VariableValues({}, {}))
            )
        elif statement.kind in ir.BRANCH_KINDS or statement.kind in _BLOCK_KINDS:
            self._enter_branch(ordinal, statement.kind)
        elif statement.kind == "GO":
            self.frames = [_make_frame("", -1, "")]

    def leave(self, ancestors: Collection[int]) -> None:
        """Close all frames except those of the given statements."""
        while len(self.frames) > 1 and self.frames[-1].ordinal not in ancestors:
            self._close_frame(self.frames.pop())

    def _enter_branch(self, ordinal: int, kind: str) -> None:
        around = self.frames[-1]
        base = around
        if kind in ir.ARM_KINDS and around.kind in ir.BRANCH_KINDS:
            base = self.frames[-2]  # an arm does not see what the arm before it did
        visible = msgspec.structs.replace(
            base.visible, scalars=dict(base.visible.scalars), records=dict(base.visible.records)
        )
        self.frames.append(_make_frame(kind, ordinal, around.owner, visible, dict(base.types)))

    def _close_frame(self, frame: VariableFrame) -> None:
        around = self.frames[-1]
        if frame.kind in MODULE_KINDS:
            return
        outside = frame.assigned - frame.declared
        if frame.kind in _BLOCK_KINDS:
            for name in outside:
                self._put(around, name, frame.visible.scalars.get(name), frame.visible.records.get(name))
        elif frame.kind in ir.ARM_KINDS and around.kind in ir.BRANCH_KINDS:
            around.arms.append(frame)
        else:
            self._merge_arms(around, frame)

    def _merge_arms(self, around: VariableFrame, frame: VariableFrame) -> None:
        """Merge a branch: a variable holds what any arm assigned, and its old value unless all arms assign."""
        arms = [frame, *frame.arms]
        exhaustive = frame.kind in ("IF", "CASE") and bool(frame.arms) and frame.arms[-1].kind == "ELSE"
        for name in sorted(set().union(*(arm.assigned - arm.declared for arm in arms))):
            setting = [arm for arm in arms if name in arm.assigned]
            if not exhaustive or len(setting) < len(arms):
                setting.insert(0, around)
            scalars = [arm.visible.scalars[name] for arm in setting if name in arm.visible.scalars]
            records = [arm.visible.records[name] for arm in setting if name in arm.visible.records]
            self._put(around, name, _merge_scalars(scalars), _merge_records(records))

    @staticmethod
    def _put(frame: VariableFrame, name: str, scalar: ExprResult | None, record: BoundRelation | None) -> None:
        frame.assigned.add(name)
        if scalar is not None:
            frame.visible.scalars[name] = scalar
        if record is not None:
            frame.visible.records[name] = record
            frame.visible.scalars.pop(name, None)  # declared, and empty until now

    def restart_loop(self) -> None:
        """Start a loop again with what its first pass assigned."""
        if len(self.frames) < 2:  # half of a block: the loop was left together with what is around it
            return
        frame, around = self.frames[-1], self.frames[-2]
        for name in frame.assigned:
            known = [part.visible.scalars[name] for part in (around, frame) if name in part.visible.scalars]
            self._put(frame, name, _merge_scalars(known), None)

    def assign(self, assignment: ir.Assignment, linked: BoundRelation | None) -> None:
        """Assign the columns of a relation to variables."""
        frame = self.frames[-1]
        for position, name in enumerate(assignment.variables):
            if assignment.declares:
                frame.declared.add(name)
            if position < len(assignment.types):
                frame.types[name] = assignment.types[position]
            if assignment.row and linked is not None:
                self._put(frame, name, None, self._build_record(name, linked))
            elif linked is None:
                self._put(frame, name, ExprResult(NO_FLOWS, frame.types.get(name), True, name), None)
            elif position < len(linked.columns):
                self.set(name, linked.columns[position].value, linked.indirect)
            elif linked.catch_all is not None:
                self.set(name, linked.catch_all, linked.indirect)

    def set(self, name: str, value: ExprResult, indirect: Flows = NO_FLOWS) -> None:
        """Assign one value to a variable, or to a field of a record."""
        frame = self.frames[-1]
        record, _, field = name.partition(".")
        if field:
            inner = msgspec.structs.replace(
                value, flows=self._flows_through(record, field, union_flows([value.flows, indirect]))
            )
            self._put(
                frame,
                record,
                None,
                with_record_field(frame.visible.records.get(record), OutputColumn(field, field, inner)),
            )
            return
        texts = self._held.setdefault(frame.owner, {}).setdefault(name, [])
        if value.text not in texts and len(texts) < MAX_HELD:
            texts.append(shorten_text(value.text))
        flows = self._flows_through(name, name, union_flows([value.flows, indirect]))
        self._put(frame, name, ExprResult(flows, frame.types.get(name) or value.type, value.nullable, name), None)

    def _build_record(self, name: str, linked: BoundRelation) -> BoundRelation:
        columns = tuple(
            OutputColumn(
                column.name,
                column.written,
                msgspec.structs.replace(column.value, flows=self._flows_through(name, column.name, column.value.flows)),
            )
            for column in linked.columns
        )
        indirect = self._flows_through(name, name, drop_positions(linked.indirect))
        return BoundRelation(
            columns, linked.unexpanded, indirect, catch_all=linked.catch_all, unknown_range=linked.unknown_range
        )

    def _flows_through(self, variable: str, column: str, flows: Flows) -> Flows:
        """Flows that pass a variable; repeated passes are recorded as one hop."""
        owner = self.frames[-1].owner
        hop = Hop(f"{owner}.{variable}" if owner else variable, column)
        return union_flows(
            [
                tuple(
                    msgspec.structs.replace(
                        flow,
                        start=ir.NOWHERE,
                        end=ir.NOWHERE,
                        hops=flow.hops if hop in flow.hops else (*flow.hops, hop),
                    )
                    for flow in flows
                )
            ]
        )


def read_value_at(value: ExprResult, start: int, end: int) -> ExprResult:
    """The value of a variable, seen from the position where a statement reads it."""
    flows = tuple(msgspec.structs.replace(flow, start=start, end=end) for flow in value.flows)
    return ExprResult(flows=flows, type=value.type, nullable=value.nullable, text=value.text, members=value.members)


def with_record_field(record: BoundRelation | None, field: OutputColumn) -> BoundRelation:
    """A record with a new value in one field; an undeclared record may have any field."""
    if record is None:
        return BoundRelation((field,), catch_all=ExprResult())
    kept = [field if column.name == field.name else column for column in record.columns]
    columns = kept if any(column is field for column in kept) else [*kept, field]
    return msgspec.structs.replace(record, columns=tuple(columns))


def with_record_conditions(value: ExprResult, record: BoundRelation) -> ExprResult:
    """A value of a record, with the flows that decide which row the record holds."""
    return (
        msgspec.structs.replace(value, flows=union_flows([value.flows, record.indirect])) if record.indirect else value
    )


def read_variable(variables: VariableValues, expr: ir.Variable) -> ExprResult:
    """The value of a variable in an expression; an unassigned one has only its type."""
    known = variables.scalars.get(expr.name)
    return (
        read_value_at(known, expr.start, expr.end)
        if known is not None
        else ExprResult(type=expr.declared or None, text=expr.name)
    )


def _make_frame(
    kind: str, ordinal: int, owner: str, visible: VariableValues | None = None, types: dict[str, str] | None = None
) -> VariableFrame:
    return VariableFrame(
        kind=kind,
        ordinal=ordinal,
        owner=owner,
        visible=visible or VariableValues({}, {}),
        types=types or {},
        assigned=set(),
        declared=set(),
        arms=[],
    )


def _make_module_frame(ordinal: int, definition: ir.Definition, module: str, around: VariableValues) -> VariableFrame:
    """The frame of a module: it sees only the enclosing module, and each parameter is an input column."""
    scalars = {
        parameter.name: ExprResult(
            (ColumnFlow(module, parameter_column_name(parameter.name)),), parameter.type or None, True, ""
        )
        for parameter in definition.parameters
    }
    scalars = {name: msgspec.structs.replace(value, text=name) for name, value in scalars.items()}
    types = {parameter.name: parameter.type for parameter in definition.parameters if parameter.type}
    plain = definition.kind == "function"
    visible = VariableValues(around.scalars | scalars, dict(around.records), definition.name.parts[-1], plain)
    frame = _make_frame(definition.kind, ordinal, module, visible, types)
    frame.outputs = definition.outputs
    frame.columns = frozenset(column.name for column in definition.columns)
    return frame


def _merge_scalars(values: list[ExprResult]) -> ExprResult | None:
    """A variable that holds one of several values."""
    if len(values) < 2:
        return values[0] if values else None
    nullable = any(value.nullable for value in values)
    return ExprResult(union_flows(value.flows for value in values), values[-1].type, nullable, values[-1].text)


def _merge_records(records: list[BoundRelation]) -> BoundRelation | None:
    """A record or cursor that holds one of several rows; rows of another width than the last are ignored."""
    if len(records) < 2:
        return records[0] if records else None
    last = records[-1]
    alike = [record for record in records if len(record.columns) == len(last.columns)]
    columns = tuple(
        msgspec.structs.replace(
            column, value=_merge_scalars([record.columns[at].value for record in alike]) or column.value
        )
        for at, column in enumerate(last.columns)
    )
    openings = tuple(dict.fromkeys(opening for record in alike for opening in record.unexpanded))
    indirect = union_flows(record.indirect for record in alike)
    return msgspec.structs.replace(last, columns=columns, unexpanded=openings, indirect=indirect)


def with_declared_type(expr: ir.Call, value: ExprResult) -> ExprResult:
    """The value of a function, with the return type that its header declares."""
    return msgspec.structs.replace(value, type=expr.result, members=None)


def evaluate_function_result(called: ExprResult, function: TableInput | None) -> ExprResult:
    """The value of a call of a user-defined function: what it returns, and the flows of its arguments."""
    if function is None or not function.columns:
        return called
    members = tuple((column.name, _function_column(called, function, column)) for column in function.columns)
    whole = union_flows(value.flows for _, value in members)
    if len(members) == 1:
        return members[0][1]
    return ExprResult(flows=whole, type=None, nullable=True, text=called.text, members=members)


def _function_column(called: ExprResult, function: TableInput, column: InputColumn) -> ExprResult:
    own = ColumnFlow(function.object, column.name, subtype=Subtype.TRANSFORMATION)
    return ExprResult(union_flows([called.flows, (own,)]), column.type, True, called.text)
