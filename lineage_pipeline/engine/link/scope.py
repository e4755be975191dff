"""Scopes: which source owns a column that an expression names."""

from collections.abc import Callable, Sequence

import msgspec

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.link.flows import Flow, approximated, entering, into_path, through, united
from lineage_pipeline.engine.link.model import Input, Linked, Opening, Value, Variables
from lineage_pipeline.engine.link.variables import held
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.tables import Hop

PSEUDO = frozenset(
    "ROWNUM LEVEL SYSDATE SYSTIMESTAMP ROWID USER CURRENT_USER SESSION_USER CURRENT_DATE CURRENT_TIMESTAMP".split()
)
"""Words that stand for a value of the engine where no source has a column of that name."""

Report = Callable[..., None]


class Source(msgspec.Struct):
    """A source of a select while it is being linked: an object, a relation or a function."""

    alias: str
    parts: tuple[str, ...]
    input: Input | None = None
    linked: Linked | None = None
    function: Value | None = None
    arguments: tuple[Value, ...] = ()
    columns: tuple[str, ...] = ()
    nullable: bool = False
    positions: dict[str, int] = {}
    passed: dict[tuple[int, bool], Value] = {}

    def __post_init__(self) -> None:
        """Number the columns that are known; of two with one name the first counts."""
        self.positions = {}
        for position, name in enumerate(self.names()):
            self.positions.setdefault(name, position)

    def names(self) -> list[str]:
        """The columns that are known, in order."""
        if self.input is not None:
            own = [column.name for column in self.input.columns]
        elif self.linked is not None:
            own = [column.name for column in self.linked.columns]
        else:
            own = list(self.columns)
        return [*self.columns, *own[len(self.columns) :]] if self.columns else own

    def is_open(self) -> bool:
        """Whether the source may have columns that are not known."""
        if self.input is not None:
            return self.input.open
        return bool(self.linked.openings) if self.linked is not None else True

    def openings(self, star: ir.Star) -> tuple[Opening, ...]:
        """What passes unseen through a star over this source."""
        if self.input is not None:
            own = (Opening(self.input.object, star.start, star.end, star.exclude),) if self.input.open else ()
            return self.input.passes or own
        return self.linked.openings if self.linked is not None else ()

    def has(self, name: str) -> bool:
        """Whether a column of that name is known."""
        return name in self.positions

    def column(self, name: str, start: int, end: int) -> Value | None:
        """The value of a column, or None where the source cannot have it."""
        position = self.positions.get(name)
        if position is not None:
            return self.at(position, name, start, end)
        if self.function is not None:
            return self._produced(name)
        if name.startswith("$") and name[1:].isdigit() and 0 < int(name[1:]) <= len(self.positions):
            return self.at(int(name[1:]) - 1, self.names()[int(name[1:]) - 1], start, end)
        if not self.is_open():
            return None
        if self.input is not None and not self.input.passes:
            flow = Flow(self.input.object, name, start=start, end=end)
            return Value((flow,), None, True, f"{self.input.object}.{name}")
        openings = self.input.passes if self.input is not None else self.linked.openings if self.linked else ()
        flows = tuple(Flow(item.object, name, start=start, end=end) for item in openings if name not in item.exclude)
        flows = approximated(flows) if len(flows) > 1 else flows
        hop = Hop(self.alias, name)
        return Value(through(flows, hop), None, True, "|".join(f"{flow.object}.{flow.column}" for flow in flows))

    def at(self, position: int, name: str, start: int, end: int) -> Value:
        """The value of the column at a position."""
        if self.columns and self._is_unlisted(position):
            return self._unlisted(name, start, end)
        if self.input is not None:
            column = self.input.columns[position]
            own = (Flow(self.input.object, column.name, start=start, end=end, approximate=column.approximate),)
            flows = (
                own if column.flows is None else entering(column.flows, start, end, Hop(self.input.object, column.name))
            )
            return Value(flows, column.type, column.nullable or self.nullable, f"{self.input.object}.{column.name}")
        if self.linked is None:
            return self._produced(name)
        known = self.passed.get((position, self.nullable))
        if known is None:
            value = self.linked.columns[position].value
            flows = through(value.flows, Hop(self.alias, name)) if self.alias else value.flows
            known = Value(flows, value.type, value.nullable or self.nullable, value.text)
            self.passed[position, self.nullable] = known
        return known

    def _is_unlisted(self, position: int) -> bool:
        """Whether an alias names a column that is known by its position only."""
        own = self.input.columns if self.input is not None else self.linked.columns if self.linked is not None else None
        return own is not None and position >= len(own)

    def _unlisted(self, name: str, start: int, end: int) -> Value:
        """One of the columns that nobody lists; which of them, only the schema could tell."""
        openings = self.openings(ir.Star((), start, end))
        flows = tuple(Flow(item.object, "*", approximate=True, start=start, end=end) for item in openings)
        return Value(through(flows, Hop(self.alias, name)), None, True, f"{self.alias}.{name}")

    def _produced(self, name: str) -> Value:
        """A column that a function makes of its arguments; with as many columns as arguments, each of its own."""
        function = self.function or Value()
        flows = function.flows
        if self.arguments and len(self.arguments) == len(self.columns) and name in self.columns:
            flows = self.arguments[self.columns.index(name)].flows
        return Value(flows, None, True, f"{function.text}.{name}")

    def whole(self, start: int, end: int) -> Value:
        """All known columns as one value."""
        values = [value for name in self.names() if (value := self.column(name, start, end)) is not None]
        return Value(united(value.flows for value in values), None, True, f"{self.alias}.*")

    def answers(self, qualifier: Sequence[str]) -> bool:
        """Whether a qualifier names this source: its alias, or the end of its name where it has no other alias."""
        if len(qualifier) == 1 and qualifier[0] == self.alias:
            return True
        parts = self.parts
        return bool(parts) and parts[-1] == self.alias and parts[-len(qualifier) :] == tuple(qualifier)


class Scope:
    """The sources of one select, the columns it names itself, and the scope around it."""

    def __init__(self, traits: Traits, outer: "Scope | None", report: Report, variables: Variables) -> None:
        """Start without sources; `variables` answer to names that no column has."""
        self.variables = variables
        self.traits = traits
        self.outer = outer
        self.report = report
        self.sources: list[Source] = []
        self.merged: dict[str, tuple[Source, ...]] = {}
        self.aliases: dict[str, Value] = {}
        self.hidden: list[str] = []
        self.sees_aliases = traits.lateral_alias

    def resolve(self, ref: ir.Ref) -> Value:
        """The value of a reference; what cannot be found is reported and comes from nowhere."""
        found = self.lookup(ref)
        if found is not None:
            return found
        if len(ref.parts) == 1 and ref.parts[0].upper() in PSEUDO:
            return Value(text=ref.parts[0].lower())
        self._missing(ref)
        likely = self._spelt_otherwise(ref)
        if likely is not None:
            return Value(approximated(likely.flows), likely.type, True, likely.text)
        return Value(
            (Flow("?", ref.parts[-1], approximate=True, start=ref.start, end=ref.end),),
            None,
            True,
            f"?.{ref.parts[-1]}",
        )

    def lookup(self, ref: ir.Ref) -> Value | None:
        """The value of a reference here or in the scopes around, or None."""
        if ref.parts[0] in self.hidden:
            return Value(text=ref.parts[0])
        if len(ref.parts) == 1:
            found = self._unqualified(ref)
            return self.outer.lookup(ref) if found is None and self.outer is not None else found
        scope: Scope | None = self
        while scope is not None:  # a qualifier that somebody answers to comes before a guess at a struct
            found = scope._qualified(ref)
            if found is not None:
                return found
            scope = scope.outer
        return self._record(ref) or self._struct(ref)

    def _unqualified(self, ref: ir.Ref) -> Value | None:
        name = ref.parts[0]
        if name in self.merged:
            values = [
                value for source in self.merged[name] if (value := source.column(name, ref.start, ref.end)) is not None
            ]
            return _merged(values)
        owners = [source for source in self.sources if source.has(name)]
        if len(owners) > 1:
            return self._ambiguous(ref, owners)
        if owners:
            return owners[0].column(name, ref.start, ref.end)
        if self.sees_aliases and name in self.aliases:
            return self.aliases[name]
        if name in self.variables.scalars:
            return held(self.variables.scalars[name], ref.start, ref.end)
        opened = [source for source in self.sources if source.is_open() and source.function is None]
        if len(opened) > 1 and self.outer is None:
            return self._ambiguous(ref, opened)
        if opened:
            return opened[0].column(name, ref.start, ref.end)
        for source in self.sources:
            if source.alias == name:
                return source.whole(ref.start, ref.end)
        produced = [source for source in self.sources if source.function is not None and not source.columns]
        return produced[0].column(name, ref.start, ref.end) if produced else None

    def _qualified(self, ref: ir.Ref) -> Value | None:
        parts = ref.parts
        for size in range(len(parts) - 1, 0, -1):
            qualifier = parts[:size]
            for source in self.sources:
                if source.answers(qualifier):
                    value = source.column(parts[size], ref.start, ref.end)
                    if value is not None:
                        return _member(value, parts[size + 1 :])
        return None

    def _record(self, ref: ir.Ref) -> Value | None:
        """A column of a record or cursor variable."""
        record = self.variables.records.get(ref.parts[0])
        if record is None:
            return None
        value = Source(ref.parts[0], (), linked=record).column(ref.parts[1], ref.start, ref.end)
        return _member(held(value, ref.start, ref.end), ref.parts[2:]) if value is not None else None

    def _struct(self, ref: ir.Ref) -> Value | None:
        """A member of a struct column: of the source that has it, or of the one that may have it."""
        owners = [source for source in self.sources if source.has(ref.parts[0])]
        if not owners:
            owners = [source for source in self.sources if source.is_open() and source.function is None]
            if len(owners) > 1 and self.outer is None:
                return self._ambiguous(ref, owners)
        if not owners:
            return self.outer._struct(ref) if self.outer is not None else None
        value = owners[0].column(ref.parts[0], ref.start, ref.end)
        return _member(value, ref.parts[1:]) if value is not None else None

    def _ambiguous(self, ref: ir.Ref, owners: Sequence[Source]) -> Value:
        name = ref.parts[0]
        self.report(
            "AMBIGUOUS_COLUMN", ref.start, ref.end, column=name, candidates=", ".join(source.alias for source in owners)
        )
        values = [value for source in owners if (value := source.column(name, ref.start, ref.end)) is not None]
        flows = approximated(united(value.flows for value in values))
        return Value(flows, None, True, "|".join(value.text for value in values))

    def _spelt_otherwise(self, ref: ir.Ref) -> Value | None:
        """The one column that differs from a reference in letter case alone: the engine would refuse it."""
        name = ref.parts[-1].lower()
        sources = [source for source in self.sources if len(ref.parts) == 1 or source.answers(ref.parts[:-1])]
        near = [(source, own) for source in sources for own in source.positions if own.lower() == name]
        return near[0][0].column(near[0][1], ref.start, ref.end) if len(near) == 1 else None

    def _missing(self, ref: ir.Ref) -> None:
        written = ".".join(ref.parts)
        known = [source for source in self.sources if len(ref.parts) > 1 and source.answers(ref.parts[:-1])]
        if len(ref.parts) > 1 and not known:
            self.report("UNRESOLVED_REFERENCE", ref.start, ref.end, name=".".join(ref.parts[:-1]))
            return
        candidates = ", ".join(source.alias or "a subquery" for source in known or self.sources) or "any source"
        self.report("UNKNOWN_COLUMN", ref.start, ref.end, column=written, candidates=candidates)


def _member(value: Value, path: Sequence[str]) -> Value:
    """A member of a struct column."""
    if not path:
        return value
    return Value(into_path(value.flows, path), None, True, f"{value.text}.{'.'.join(path)}")


def _merged(values: Sequence[Value]) -> Value:
    """The one column that USING makes of several."""
    if len(values) == 1:
        return values[0]
    flows = united(value.flows for value in values)
    return Value(
        flows,
        values[0].type,
        all(value.nullable for value in values),
        f"coalesce({', '.join(sorted(value.text for value in values))})",
    )
