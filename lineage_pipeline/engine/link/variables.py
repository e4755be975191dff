"""Variables: what each one holds while a script is followed from statement to statement, through branches and loops."""

from collections.abc import Collection

import msgspec

from lineage_pipeline.engine.link.flows import NONE, Flow, Flows, placeless, united
from lineage_pipeline.engine.link.model import Input, InputColumn, Linked, Out, Value, Variables
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.sets import Subtype
from lineage_pipeline.vocabulary.tables import Hop

MODULES = frozenset({"procedure", "function", "trigger"})
"""Kinds of objects that have variables of their own."""

_BLOCKS = frozenset({"BEGIN", "TRY", "CREATE PACKAGE"})


class Frame(msgspec.Struct):
    """What is visible inside a module, a block or a branch; `arms` are the branches that ran instead of this one."""

    kind: str
    ordinal: int
    owner: str
    visible: Variables
    types: dict[str, str]
    assigned: set[str] = set()
    declared: set[str] = set()
    arms: list["Frame"] = []
    outputs: tuple[str, ...] = ()
    columns: frozenset[str] = frozenset()


def parameter_node(name: str) -> str:
    """The column of a module that stands for a parameter: marked, so that no column of its result is taken for it."""
    return name if name.startswith("@") else f"@{name}"


class Environment:
    """The variables at one point of a script; statements come in text order."""

    def __init__(self) -> None:
        """Start with an empty script."""
        self.frames = [_frame("", -1, "")]

    @property
    def visible(self) -> Variables:
        """What can be read here."""
        return self.frames[-1].visible

    def output(self, name: str) -> tuple[str, str]:
        """The module to whose caller a variable is handed back, and the column that it is there; or nothing."""
        module = next((frame for frame in reversed(self.frames) if frame.kind in MODULES), None)
        if module is None or name not in module.outputs:
            return "", ""
        return module.owner, name if name in module.columns else parameter_node(name)

    @property
    def module(self) -> str:
        """The module in which the statement stands, or nothing."""
        return self.frames[-1].owner

    @property
    def known(self) -> bool:
        """Whether there is any variable here."""
        return bool(self.visible.scalars or self.visible.records)

    def advance(self, ordinal: int, placed: ir.Placed, ancestors: Collection[int], module: str) -> None:
        """Go on to a statement: leave what it does not stand in, enter what it begins; `module` is what it defines."""
        self.leave(ancestors)
        statement = placed.statement
        definition = statement.definition
        if definition is not None and definition.kind in MODULES:
            around = self.frames[-1]
            nested = around.kind in MODULES or around.kind == "CREATE PACKAGE"
            self.frames.append(_module(ordinal, definition, module, around.visible if nested else Variables({}, {})))
        elif statement.kind in ir.BRANCHES or statement.kind in _BLOCKS:
            self._enter(ordinal, statement.kind)
        elif statement.kind == "GO":
            self.frames = [_frame("", -1, "")]

    def leave(self, ancestors: Collection[int]) -> None:
        """Leave everything but the given statements."""
        while len(self.frames) > 1 and self.frames[-1].ordinal not in ancestors:
            self._close(self.frames.pop())

    def _enter(self, ordinal: int, kind: str) -> None:
        around = self.frames[-1]
        base = around
        if kind in ir.ARMS and around.kind in ir.BRANCHES:
            base = self.frames[-2]  # an arm does not see what the arm before it did
        visible = msgspec.structs.replace(
            base.visible, scalars=dict(base.visible.scalars), records=dict(base.visible.records)
        )
        self.frames.append(_frame(kind, ordinal, around.owner, visible, dict(base.types)))

    def _close(self, frame: Frame) -> None:
        around = self.frames[-1]
        if frame.kind in MODULES:
            return
        outside = frame.assigned - frame.declared
        if frame.kind in _BLOCKS:
            for name in outside:
                self._put(around, name, frame.visible.scalars.get(name), frame.visible.records.get(name))
        elif frame.kind in ir.ARMS and around.kind in ir.BRANCHES:
            around.arms.append(frame)
        else:
            self._join(around, frame)

    def _join(self, around: Frame, frame: Frame) -> None:
        """What a variable holds behind a branch: what any arm gave it, and what it held before unless all did."""
        arms = [frame, *frame.arms]
        exhaustive = frame.kind in ("IF", "CASE") and bool(frame.arms) and frame.arms[-1].kind == "ELSE"
        for name in sorted(set().union(*(arm.assigned - arm.declared for arm in arms))):
            setting = [arm for arm in arms if name in arm.assigned]
            if not exhaustive or len(setting) < len(arms):
                setting.insert(0, around)
            scalars = [arm.visible.scalars[name] for arm in setting if name in arm.visible.scalars]
            records = [arm.visible.records[name] for arm in setting if name in arm.visible.records]
            self._put(around, name, _either(scalars), _either_row(records))

    @staticmethod
    def _put(frame: Frame, name: str, scalar: Value | None, record: Linked | None) -> None:
        frame.assigned.add(name)
        if scalar is not None:
            frame.visible.scalars[name] = scalar
        if record is not None:
            frame.visible.records[name] = record
            frame.visible.scalars.pop(name, None)  # declared, and empty until now

    def repeat(self) -> None:
        """Let the loop that was just gone through once begin again with what it left behind."""
        if len(self.frames) < 2:  # half of a block: the loop was left together with what is around it
            return
        frame, around = self.frames[-1], self.frames[-2]
        for name in frame.assigned:
            known = [part.visible.scalars[name] for part in (around, frame) if name in part.visible.scalars]
            self._put(frame, name, _either(known), None)

    def assign(self, assignment: ir.Assignment, linked: Linked | None) -> None:
        """Put the columns of a relation into variables."""
        frame = self.frames[-1]
        for position, name in enumerate(assignment.variables):
            if assignment.declares:
                frame.declared.add(name)
            if position < len(assignment.types):
                frame.types[name] = assignment.types[position]
            if assignment.row and linked is not None:
                self._put(frame, name, None, self._record(name, linked))
            elif linked is None:
                self._put(frame, name, Value(NONE, frame.types.get(name), True, name), None)
            elif position < len(linked.columns):
                self.set(name, linked.columns[position].value, linked.indirect)
            elif linked.rest is not None:
                self.set(name, linked.rest, linked.indirect)

    def set(self, name: str, value: Value, indirect: Flows = NONE) -> None:
        """Put one value into a variable, or into the field of a record."""
        frame = self.frames[-1]
        record, _, field = name.partition(".")
        if field:
            inner = msgspec.structs.replace(value, flows=self._through(record, field, united([value.flows, indirect])))
            self._put(frame, record, None, with_field(frame.visible.records.get(record), Out(field, field, inner)))
            return
        flows = self._through(name, name, united([value.flows, indirect]))
        self._put(frame, name, Value(flows, frame.types.get(name) or value.type, value.nullable, name), None)

    def _record(self, name: str, linked: Linked) -> Linked:
        columns = tuple(
            Out(
                column.name,
                column.written,
                msgspec.structs.replace(column.value, flows=self._through(name, column.name, column.value.flows)),
            )
            for column in linked.columns
        )
        indirect = self._through(name, name, placeless(linked.indirect))
        return Linked(columns, linked.openings, indirect, rest=linked.rest, gap=linked.gap)

    def _through(self, variable: str, column: str, flows: Flows) -> Flows:
        """Flows from elsewhere that pass a variable; one that passes it again and again is said to pass it once."""
        owner = self.frames[-1].owner
        hop = Hop(f"{owner}.{variable}" if owner else variable, column)
        return united(
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


def held(value: Value, start: int, end: int) -> Value:
    """What a variable holds, seen from the statement that reads it at a place."""
    flows = tuple(msgspec.structs.replace(flow, start=start, end=end) for flow in value.flows)
    return Value(flows, value.type, value.nullable, value.text, value.members)


def with_field(record: Linked | None, field: Out) -> Linked:
    """A record with another value in one of its fields; one that was empty may have any field."""
    if record is None:
        return Linked((field,), rest=Value())
    kept = [field if column.name == field.name else column for column in record.columns]
    columns = kept if any(column is field for column in kept) else [*kept, field]
    return msgspec.structs.replace(record, columns=tuple(columns))


def decided(value: Value, record: Linked) -> Value:
    """A value of a record, with what decides which row the record holds."""
    return msgspec.structs.replace(value, flows=united([value.flows, record.indirect])) if record.indirect else value


def read_variable(variables: Variables, expr: ir.Variable) -> Value:
    """What a variable holds where an expression names it; one that nobody set has its type alone."""
    known = variables.scalars.get(expr.name)
    return held(known, expr.start, expr.end) if known is not None else Value(type=expr.declared or None, text=expr.name)


def _frame(
    kind: str, ordinal: int, owner: str, visible: Variables | None = None, types: dict[str, str] | None = None
) -> Frame:
    return Frame(kind, ordinal, owner, visible or Variables({}, {}), types or {}, set(), set(), [])


def _module(ordinal: int, definition: ir.Definition, module: str, around: Variables) -> Frame:
    """A module sees nothing from outside but what it stands in, and each parameter is an input of its own."""
    scalars = {
        parameter.name: Value((Flow(module, parameter_node(parameter.name)),), parameter.type or None, True, "")
        for parameter in definition.parameters
    }
    scalars = {name: msgspec.structs.replace(value, text=name) for name, value in scalars.items()}
    types = {parameter.name: parameter.type for parameter in definition.parameters if parameter.type}
    plain = definition.kind == "function"
    visible = Variables(around.scalars | scalars, dict(around.records), definition.name.parts[-1], plain)
    frame = _frame(definition.kind, ordinal, module, visible, types)
    frame.outputs = definition.outputs
    frame.columns = frozenset(column.name for column in definition.columns)
    return frame


def _either(values: list[Value]) -> Value | None:
    """A variable that holds one of several values."""
    if len(values) < 2:
        return values[0] if values else None
    nullable = any(value.nullable for value in values)
    return Value(united(value.flows for value in values), values[-1].type, nullable, values[-1].text)


def _either_row(records: list[Linked]) -> Linked | None:
    """A record or cursor that holds one of several rows; of rows of other widths the last one counts."""
    if len(records) < 2:
        return records[0] if records else None
    last = records[-1]
    alike = [record for record in records if len(record.columns) == len(last.columns)]
    columns = tuple(
        msgspec.structs.replace(column, value=_either([record.columns[at].value for record in alike]) or column.value)
        for at, column in enumerate(last.columns)
    )
    openings = tuple(dict.fromkeys(opening for record in alike for opening in record.openings))
    indirect = united(record.indirect for record in alike)
    return msgspec.structs.replace(last, columns=columns, openings=openings, indirect=indirect)


def declared(expr: ir.Call, value: Value) -> Value:
    """The value of a function: it has the type that the header declares."""
    return msgspec.structs.replace(value, type=expr.result, members=None)


def returned(called: Value, function: Input | None) -> Value:
    """What a function of the user's own gives: what it returns, made with its arguments."""
    if function is None or not function.columns:
        return called
    members = tuple((column.name, _given(called, function, column)) for column in function.columns)
    whole = united(value.flows for _, value in members)
    if len(members) == 1:
        return members[0][1]
    return Value(whole, None, True, called.text, members)


def _given(called: Value, function: Input, column: InputColumn) -> Value:
    own = Flow(function.object, column.name, subtype=Subtype.TRANSFORMATION)
    return Value(united([called.flows, (own,)]), column.type, True, called.text)
