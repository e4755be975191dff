"""Scopes: which source owns a column that an expression names."""

from collections.abc import Callable, Sequence

import msgspec

from lineage_pipeline.dialects import pseudo
from lineage_pipeline.dialects.families import VARIABLE_FIRST, VARIABLE_MARKED
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.dialects.typing.families import Family
from lineage_pipeline.dialects.typing.rules import typing_of
from lineage_pipeline.dialects.typing.widening import common_type
from lineage_pipeline.engine.link.canonical import shortened
from lineage_pipeline.engine.link.flows import NONE, Flow, approximated, united
from lineage_pipeline.engine.link.members import member
from lineage_pipeline.engine.link.model import Value, Variables
from lineage_pipeline.engine.link.shapes import is_plain
from lineage_pipeline.engine.link.source import Source, Sources
from lineage_pipeline.engine.link.types import struct_type
from lineage_pipeline.engine.link.variables import decided, held
from lineage_pipeline.vocabulary import ir

Report = Callable[..., None]
_NOBODY: frozenset[str] = frozenset()
_POSITIONS = ("$", "#")
"""What stands before the number of a column; behind the second, only a table whose columns are known has one."""


class Scope:
    """The sources of one select, the columns it names itself, and the scope around it."""

    def __init__(self, traits: Traits, outer: "Scope | None", report: Report, variables: Variables) -> None:
        """Start without sources; `variables` answer to names that no column has."""
        self.variables = variables
        self.traits = traits
        self.outer = outer
        self.report = report
        self.sources = Sources()
        self.merged: dict[str, tuple[Source, ...]] = {}
        self.merged_types: dict[str, str | None] = {}
        self.aliases: dict[str, Value] = {}
        self.hidden: dict[str, Value] = {}
        self.typing = typing_of(traits.family)
        self.hole: Value | None = None
        self.sees_aliases = traits.lateral_alias

    def resolve(self, ref: ir.Ref) -> Value:
        """The value of a reference; what cannot be found is reported and comes from nowhere."""
        found = self.lookup(ref)
        if found is not None:
            return found
        name = self.traits.name
        if len(ref.parts) == 1 and ref.parts[0].upper() in pseudo.VALUES.get(name, pseudo.VALUES[""]):
            return Value(NONE, self._said(ref.parts[0]), True, ref.parts[0].lower())
        self._missing(ref)
        likely = self._spelt_otherwise(ref)
        if likely is not None:
            return Value(approximated(likely.flows), likely.type, True, likely.text)
        if not ref.parts[-1]:  # "" is a name in no engine
            return Value()
        return Value(
            (Flow("?", ref.parts[-1], approximate=True, start=ref.start, end=ref.end),),
            None,
            True,
            f"?.{ref.parts[-1]}",
        )

    def lookup(self, ref: ir.Ref) -> Value | None:
        """The value of a reference here or in the scopes around, or None."""
        if self.hidden and ref.parts[0] in self.hidden:
            return member(self.hidden[ref.parts[0]], ref.parts[1:])
        if len(ref.parts) == 1:
            if ref is ir.HOLE or ref.parts[0] == "*":
                return self.hole
            if ref.parts[0] in self.variables.scalars and self.traits.name in VARIABLE_FIRST:
                return held(self.variables.scalars[ref.parts[0]], ref.start, ref.end)
            found = self._unqualified(ref)
            return self.outer.lookup(ref) if found is None and self.outer is not None else found
        scope: Scope | None = self
        while scope is not None:  # a qualifier that somebody answers to comes before a guess at a struct
            found = scope._qualified(ref)
            if found is not None:
                return found
            scope = scope.outer
        return self._record(ref) or self._sequenced(ref) or self._struct(ref)

    # ── a name alone ─────────────────────────────────────────────────────────────────────────────────────────────

    def _unqualified(self, ref: ir.Ref) -> Value | None:
        name = ref.parts[0]
        if name in self.merged:
            values = [
                value for source in self.merged[name] if (value := source.column(name, ref.start, ref.end)) is not None
            ]
            found = _merged(values, self.typing.family)
            kind = self.merged_types.get(name)
            return found if kind is None or kind == found.type else msgspec.structs.replace(found, type=kind)
        owners = [source for source in self.sources if source.has(name) and not source.reach]
        if len(owners) > 1:  # the element of an array hides the column of its name
            owners = [source for source in owners if source.element] or owners
        if len(owners) > 1:
            return self._ambiguous(ref, owners)
        if owners:
            return owners[0].column(name, ref.start, ref.end)
        if self.sees_aliases and name in self.aliases:
            return self.aliases[name]
        return self._variable(ref, name) or self._undeclared(ref, name) or self._last(ref, name)

    def _variable(self, ref: ir.Ref, name: str) -> Value | None:
        """What a variable of that name holds; a record is a whole row."""
        variables = self.variables
        if self.traits.name in VARIABLE_MARKED and not variables.plain:
            return None
        if name in variables.scalars:
            return held(variables.scalars[name], ref.start, ref.end)
        if name not in variables.records:
            return None
        record = variables.records[name]
        whole = Source(name, (), linked=record).whole(ref.start, ref.end, self.report)
        return held(decided(whole, record), ref.start, ref.end)

    def _undeclared(self, ref: ir.Ref, name: str) -> Value | None:
        """A name that no source is known to have: a word of the engine, a whole row, or a column all the same."""
        if name[:1] in _POSITIONS and name[1:].isdigit() and self.sources:
            source = self.sources[0]
            return source.column(f"${name[1:]}", ref.start, ref.end) if name[0] == "$" or not source.is_open() else None
        if name.upper() in pseudo.RESERVED.get(self.traits.name, _NOBODY):
            return Value(NONE, self._said(name), True, name.lower())
        rows = self.sources.called(name)
        if rows and self.traits.row_values and (rows[0].is_renamed() or not rows[0].is_open()):
            row = rows[0].whole(ref.start, ref.end, self.report)
            kind = struct_type(row.members or (), self.typing.family)
            return row if kind is None else msgspec.structs.replace(row, type=kind)
        stored = [source for source in self.sources if self._stores(source, name)]
        opened = [source for source in self.sources if (source.is_open() or source.is_bare()) and not source.reach]
        candidates = stored or opened
        if len(candidates) > 1:
            return self._ambiguous(ref, candidates)
        if candidates:
            return candidates[0].column(name, ref.start, ref.end) or self._stored(candidates[0], name, ref)
        if rows:
            return rows[0].whole(ref.start, ref.end, self.report)
        makers = [source for source in self.sources if source.makes_anything() and not source.reach]
        return makers[0].column(name, ref.start, ref.end) if makers else None

    def _last(self, ref: ir.Ref, name: str) -> Value | None:
        """A column of a source that is asked when no other has it."""
        owners = [source for source in self.sources if source.reach == "last"]
        owners = [source for source in owners if source.has(name)] or [item for item in owners if item.is_open()]
        return owners[0].column(name, ref.start, ref.end) if len(owners) == 1 else None

    def _stores(self, source: Source, name: str) -> bool:
        """Whether a source is a table that has such a column beside those of its schema."""
        own = source.input
        return own is not None and (name in own.left or name.upper() in pseudo.STORED.get(self.traits.name, _NOBODY))

    def _stored(self, source: Source, name: str, ref: ir.Ref) -> Value:
        """A column that a table has beside those of its schema, of the type that the engine gives it."""
        return msgspec.structs.replace(source.stored(name, ref.start, ref.end), type=self._said(name))

    def _said(self, name: str) -> str | None:
        """The type of a column or a value that the engine itself says."""
        return pseudo.TYPES.get(self.traits.name, {}).get(name.upper())

    # ── a name with a qualifier ──────────────────────────────────────────────────────────────────────────────────

    def _qualified(self, ref: ir.Ref) -> Value | None:
        parts = ref.parts
        if len(parts) == 2:  # only an alias answers to one word
            for source in self.sources.called(parts[0]):
                position = source.positions.get(parts[1])
                if position is not None:
                    return source.at(position, parts[1], ref.start, ref.end)
        for size in range(len(parts) - 1, 0, -1):
            for source in self.sources.answering(parts[:size]):
                value = source.column(parts[size], ref.start, ref.end)
                if value is None and self._stores(source, parts[size]):
                    value = self._stored(source, parts[size], ref)
                found = _inside(value, parts[size + 1 :]) if value is not None else None
                if found is not None:
                    return found
        return None

    def _record(self, ref: ir.Ref) -> Value | None:
        """A column of a record or cursor variable."""
        variables = self.variables
        record = variables.records.get(ref.parts[0])
        if record is None and ref.parts[0] == variables.module and ref.parts[1] in variables.scalars:
            return member(held(variables.scalars[ref.parts[1]], ref.start, ref.end), ref.parts[2:])
        if record is None:
            return None
        value = Source(ref.parts[0], (), linked=record).column(ref.parts[1], ref.start, ref.end)
        return member(held(decided(value, record), ref.start, ref.end), ref.parts[2:]) if value is not None else None

    def _sequenced(self, ref: ir.Ref) -> Value | None:
        """The number that a sequence hands out: it comes from no column."""
        words = pseudo.SEQUENCED.get(self.traits.name, _NOBODY)
        if ref.parts[-1].upper() not in words or any(source.has(ref.parts[0]) for source in self.sources):
            return None
        return Value(NONE, self._said(ref.parts[-1]), False, ".".join(ref.parts).lower())

    def _struct(self, ref: ir.Ref) -> Value | None:
        """A member of a struct column: of the source that has it, or of the one that may have it."""
        name = ref.parts[0]
        owners = [source for source in self.sources if source.has(name)]
        owners = [source for source in owners if source.element] or owners
        if not owners and self.sees_aliases and name in self.aliases:
            return member(self.aliases[name], ref.parts[1:])
        stored = [source for source in self.sources if self._stores(source, name)] if not owners else []
        if stored:
            return member(stored[0].stored(name, ref.start, ref.end), ref.parts[1:])
        if not owners and (not self.traits.dotted_members or self._is_answered(ref)):
            return None  # a source of that name is known, and has no such column, or a column could have no members
        if not owners:
            owners = [source for source in self.sources if source.is_open() or source.is_bare()]
            if len(owners) > 1:
                return self._ambiguous(ref, owners)
        if not owners:
            owners = [source for source in self.sources if source.makes_anything()]
        if not owners:
            return self.outer._struct(ref) if self.outer is not None else None
        value = owners[0].column(name, ref.start, ref.end)
        return _inside(value, ref.parts[1:]) if value is not None else None

    def _is_answered(self, ref: ir.Ref) -> bool:
        """Whether a source here or around, of which all is known, answers to the qualifier of a reference."""
        scope: Scope | None = self
        while scope is not None:
            if any(not source.is_open() for source in scope.sources.called(ref.parts[0])):
                return True
            scope = scope.outer
        return False

    # ── what cannot be decided ───────────────────────────────────────────────────────────────────────────────────

    def _ambiguous(self, ref: ir.Ref, owners: Sequence[Source]) -> Value:
        name = ref.parts[0]
        values = [value for source in owners if (value := source.column(name, ref.start, ref.end)) is not None]
        names = [source.alias or "a subquery" for source in owners]
        self.report("AMBIGUOUS_COLUMN", ref.start, ref.end, column=name, candidates=", ".join(names))
        flows = approximated(united(value.flows for value in values))
        value = Value(flows, None, True, "|".join(value.text for value in values))
        return member(value, ref.parts[1:]) if len(ref.parts) > 1 else value

    def _spelt_otherwise(self, ref: ir.Ref) -> Value | None:
        """The one column that differs from a reference in letter case alone: the engine would refuse it."""
        name = ref.parts[-1].lower()
        sources = self.sources if len(ref.parts) == 1 else self.sources.answering(ref.parts[:-1])
        near = [(source, own) for source in sources for own in source.spelt(name)]
        return near[0][0].column(near[0][1], ref.start, ref.end) if len(near) == 1 else None

    def _missing(self, ref: ir.Ref) -> None:
        written = ".".join(ref.parts)
        known = self._answering(ref.parts[:-1]) if len(ref.parts) > 1 else []
        if len(ref.parts) == 2 and not known and ref.parts[0] in self.variables.records:
            self.report("UNKNOWN_COLUMN", ref.start, ref.end, column=written, candidates=ref.parts[0])
            return
        if len(ref.parts) > 1 and not known:
            self.report("UNRESOLVED_REFERENCE", ref.start, ref.end, name=".".join(ref.parts[:-1]))
            return
        candidates = ", ".join(source.alias or "a subquery" for source in known or self.sources) or "any source"
        self.report("UNKNOWN_COLUMN", ref.start, ref.end, column=written, candidates=candidates)

    def _answering(self, qualifier: tuple[str, ...]) -> list[Source]:
        """The sources, here or around, that answer to a qualifier."""
        found = self.sources.answering(qualifier)
        return found if found or self.outer is None else self.outer._answering(qualifier)


def _inside(value: Value, path: Sequence[str]) -> Value | None:
    """A member of a value, or None where its type can have none."""
    if not path:
        return value
    return member(value, path) if not is_plain(value.type) else None


def _merged(values: Sequence[Value], family: Family) -> Value:
    """The one column that USING makes of several."""
    if len(values) == 1:
        return values[0]
    flows = united(value.flows for value in values)
    return Value(
        flows,
        common_type([value.type for value in values], family),
        all(value.nullable for value in values),
        shortened(f"coalesce({', '.join(sorted(value.text for value in values))})"),
    )
