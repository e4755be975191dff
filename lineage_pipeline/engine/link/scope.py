"""Scopes: the sources of a select, and which of them owns a column reference."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.types.coercion import common_type
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.inference import inference_for
from lineage_pipeline.engine.link.canonical import shorten_text
from lineage_pipeline.engine.link.model import (
    DIRECT,
    IDENTITY,
    NO_FLOWS,
    WHOLE_ROW,
    BoundRelation,
    ColumnFlow,
    ExprResult,
    FindingReporter,
    Flows,
    OutputColumn,
    TableInput,
    UnexpandedStar,
    VariableValues,
    enter_statement,
    index_names,
    is_scalar_type,
    map_member_flows,
    mark_approximate,
    parse_struct_members,
    resolve_member,
    union_flows,
    with_hop,
)
from lineage_pipeline.engine.link.positional import rename_by_position
from lineage_pipeline.engine.link.type_inference import build_struct_type
from lineage_pipeline.engine.link.variables import read_value_at, with_record_conditions
from lineage_pipeline.model import ir
from lineage_pipeline.model.tables import Hop

QUERY_NAME = "(subquery)"
"""What canonical texts call a query among the sources of another one."""


def describe_unexpanded_star(name: str, known: bool = False) -> dict[str, str]:
    """Message values of the finding for a star whose columns are not all known."""
    if known:
        return {"columns": "some columns", "name": name, "outcome": "gives only the others"}
    return {"columns": "the columns", "name": name, "outcome": "is not expanded"}


def _written_column_name(column: OutputColumn) -> str:
    """A column's name as written, unless it has been renamed since."""
    return column.written if column.written.lower() == column.name.lower() else column.name


class ScopeSource(msgspec.Struct):
    """One source of a select: an object or a bound relation; the rows of a table function are a relation, too.

    Where the alias names an `element` of an array, it hides columns of that name; `text` is the canonical text of a
    function. A source that occurs again in a select has a `mark` that distinguishes its values. `reach` says that a
    bare name never means a column of it, or only as a last resort. Columns that USING or NATURAL combined with those
    of another source are `merged`.
    """

    alias: str
    parts: tuple[str, ...]
    input: TableInput | None = None
    linked: BoundRelation | None = None
    columns: tuple[str, ...] = ()
    nullable: bool = False
    element: bool = False
    text: str = ""
    mark: str = ""
    reach: str = ""
    merged: frozenset[str] = frozenset()
    positions: dict[str, int] = {}
    passed: dict[tuple[int, bool], ExprResult] = {}

    def __post_init__(self) -> None:
        """Index the known columns; of equal names the first counts."""
        if self.input is not None and not self.columns:
            self.positions = self.input.positions
        else:
            self.positions = index_names(self.names())

    def names(self) -> list[str]:
        """The known columns, in order."""
        if self.input is not None:
            own = [column.name for column in self.input.columns]
        else:
            own = [column.name for column in self.linked.columns] if self.linked is not None else []
        return [*self.columns, *own[len(self.columns) :]] if self.columns else own

    def written_names(self) -> list[str]:
        """The known columns as written, in order; column aliases keep their spelling."""
        if self.input is not None:
            own = [column.written or column.name for column in self.input.columns]
        else:
            own = [_written_column_name(column) for column in self.linked.columns] if self.linked is not None else []
        return [*self.columns, *own[len(self.columns) :]] if self.columns else own

    def is_open(self) -> bool:
        """Say whether the source may have unknown columns."""
        if self.input is not None:
            return self.input.open
        return bool(self.linked.unexpanded) if self.linked is not None else False

    def is_uncertain(self) -> bool:
        """Say whether it is disputed, or only partly known, which columns a star over the source has."""
        return self.input is not None and self.input.disputed

    def has_catch_all(self) -> bool:
        """Say whether any column requested from the source comes from one and the same value."""
        return self.linked is not None and self.linked.catch_all is not None

    def may_catch(self, name: str) -> bool:
        """Say whether a bare name may be a column from the catch-all value: a member of it, if those are known."""
        if self.reach or self.linked is None or self.linked.catch_all is None:
            return False
        members = parse_struct_members(self.linked.catch_all.type or "", lower=True)
        return not members or any(own == name.lower() for own, _ in members)

    def is_renamed(self) -> bool:
        """Say whether the alias differs from the object's own name."""
        return not self.parts or self.parts[-1] != self.alias

    def unexpanded_stars(self, star: ir.Star) -> tuple[UnexpandedStar, ...]:
        """The unexpanded stars that a star over this source passes on."""
        if self.input is not None:
            own = (UnexpandedStar(self.input.object, star.start, star.end, star.exclude),) if self.input.open else ()
            return self.input.passes or own
        return self.linked.unexpanded if self.linked is not None else ()

    def display_name(self) -> str:
        """The id of the source's object, `(subquery)` for a query, empty for a function."""
        if self.input is not None:
            return self.input.object
        return QUERY_NAME if self.linked is not None and not self.text and not self.element else ""

    @property
    def identity(self) -> str | int:
        """A key that is equal for sources over the same object or relation; unknown objects are never equal."""
        if self.input is not None:
            return self.input.object or id(self)
        return id(self if self.linked is None else self.linked)

    def has(self, name: str) -> bool:
        """Say whether a column of this name is known."""
        return name in self.positions

    def candidates(self, lowered: str) -> Sequence[str]:
        """The columns whose lowercase name is the given one."""
        if self.input is not None and not self.columns:
            return self.input.names_by_lowercase.get(lowered, ())
        return [own for own in self.positions if own.lower() == lowered]

    def column(self, name: str, start: int, end: int) -> ExprResult | None:
        """The value of a column, or None where the source cannot have it."""
        position = self.positions.get(name)
        if position is None and name[:1] == "$" and name[1:].isdecimal():
            number = parse_whole_number(name[1:])
            position = number - 1 if 0 < number <= len(self.positions) else None
        if position is not None:
            return self.column_at(position, name, start, end)
        if self.linked is not None and self.linked.catch_all is not None:
            return resolve_member(self.linked.catch_all, (name,))
        if not self.is_open():
            return None
        if self.input is not None and not self.input.passes:
            return self.unlisted_column(name, start, end)
        openings = self.input.passes if self.input is not None else self.linked.unexpanded if self.linked else ()
        flows = tuple(
            ColumnFlow(item.object, name, start=start, end=end) for item in openings if name not in item.exclude
        )
        flows = mark_approximate(flows) if len(flows) > 1 else flows
        hop = Hop(self.alias, name)
        return ExprResult(with_hop(flows, hop), None, True, "|".join(f"{flow.object}.{flow.column}" for flow in flows))

    def unlisted_column(self, name: str, start: int, end: int) -> ExprResult:
        """The value of a column of the object that its schema does not list."""
        owner = self.input.object if self.input is not None else "?"
        return ExprResult((ColumnFlow(owner, name, start=start, end=end),), None, True, f"{owner}.{name}{self.mark}")

    def column_at(self, position: int, name: str, start: int, end: int) -> ExprResult:
        """The value of the column at a position."""
        if self.columns and self._is_position_only(position):
            return self._position_only_column(name, start, end)
        if self.input is not None:
            column, owner = self.input.columns[position], self.input.object
            name = column.name
            if column.flows is None:
                own = self.input.final_name(name)
                flows: Flows = (
                    ColumnFlow(
                        object=owner,
                        column=own,
                        path="",
                        type=DIRECT,
                        subtype=IDENTITY,
                        masking=False,
                        approximate=column.approximate,
                        start=start,
                        end=end,
                    ),
                )
            elif owner:
                flows = enter_statement(column.flows, start, end, Hop(owner, name))
            else:  # rows of any of several tables
                flows = tuple(msgspec.structs.replace(flow, start=start, end=end) for flow in column.flows)
            text = (column.text or f"{owner}.{name}") + self.mark
            members = map_member_flows(column.members, lambda own: enter_statement(own, start, end, Hop(owner, name)))
            return ExprResult(
                flows=flows, type=column.type, nullable=column.nullable or self.nullable, text=text, members=members
            )
        known = self.passed.get((position, self.nullable))
        if known is None:
            known = self.passed[position, self.nullable] = self._relation_column(position, name)
        return known

    def _is_position_only(self, position: int) -> bool:
        """Say whether a column alias names a column that is known only by its position."""
        if self.input is not None and self.input.open:  # its columns are known by their names only
            return True
        own = self.input.columns if self.input is not None else self.linked.columns if self.linked is not None else None
        return own is not None and position >= len(own)

    def _position_only_column(self, name: str, start: int, end: int) -> ExprResult:
        """The value of an unlisted column: a flow from the whole row, marked as approximate."""
        openings = self.unexpanded_stars(ir.Star((), start, end))
        flows = tuple(ColumnFlow(item.object, WHOLE_ROW, approximate=True, start=start, end=end) for item in openings)
        return ExprResult(with_hop(flows, Hop(self.alias, name)), None, True, f"{self.alias}.{name}")

    def _relation_column(self, position: int, name: str) -> ExprResult:
        """The value of a relation's column, seen from outside."""
        assert self.linked is not None
        value = self.linked.columns[position].value
        if not self.alias:
            return value if not self.nullable else msgspec.structs.replace(value, nullable=True)
        hop = Hop(self.alias, name)
        members = (
            map_member_flows(value.members, lambda flows: with_hop(flows, hop)) if value.members is not None else None
        )
        text = value.text + self.mark
        return ExprResult(
            flows=with_hop(value.flows, hop),
            type=value.type,
            nullable=value.nullable or self.nullable,
            text=text,
            members=members,
        )

    def row_value(self, start: int, end: int, report: Callable[..., None], exclude: Sequence[str] = ()) -> ExprResult:
        """All columns as one value; unknown ones are reported."""
        if self.element and self.linked is not None:
            return self.column_at(0, self.alias, start, end)
        openings = self.unexpanded_stars(ir.Star((), start, end))
        for opening in openings:
            report("APPROXIMATE_LINEAGE", start, end, **describe_unexpanded_star(opening.object))
        members = tuple(
            (name, self.column_at(position, name, start, end))
            for position, name in enumerate(self.names())
            if name not in exclude
        )
        made = (self.linked.catch_all.flows,) if self.linked is not None and self.linked.catch_all is not None else ()
        rows = tuple(
            ColumnFlow(opening.object, WHOLE_ROW, approximate=True, start=start, end=end) for opening in openings
        )
        flows = union_flows([*(value.flows for _, value in members), *made, rows])
        return ExprResult(
            flows=flows,
            type=None,
            nullable=True,
            text=f"{self.alias}.*",
            members=members if not rows and not made else None,
        )

    def matches(self, qualifier: Sequence[str]) -> bool:
        """Say whether a qualifier names this source: by its alias, or by the end of its unaliased name."""
        if len(qualifier) == 1 and qualifier[0] == self.alias:
            return True
        parts = self.parts
        return bool(parts) and parts[-1] == self.alias and parts[-len(qualifier) :] == tuple(qualifier)

    def is_end_of(self, qualifier: Sequence[str]) -> bool:
        """Say whether a qualifier names this source with more than it was written with: `FROM t`, then `s.t.x`."""
        parts = self.parts
        return 0 < len(parts) < len(qualifier) and parts[-1] == self.alias and tuple(qualifier)[-len(parts) :] == parts


def build_relation_source(source: ir.Source, linked: BoundRelation, traits: DialectTraits) -> ScopeSource:
    """The source for a relation with an alias that may rename its columns."""
    if linked.unknown_range is not None and source.columns:
        return ScopeSource(source.alias, (), linked=rename_by_position(linked, source.columns, traits.short_lists))
    return ScopeSource(source.alias, (), linked=linked, columns=source.columns)


def build_excluded_source(alias: str, rows: BoundRelation, table: TableInput) -> ScopeSource:
    """The source for the rows an upsert could not insert (EXCLUDED, VALUES), named after the table's columns."""
    if not table.open:
        return ScopeSource(alias, (), linked=rows, columns=tuple(column.name for column in table.columns))
    flows = mark_approximate(union_flows(column.value.flows for column in rows.columns))
    anything = ExprResult(tuple(msgspec.structs.replace(flow, keeps=False) for flow in flows))
    return ScopeSource(alias, (), linked=msgspec.structs.replace(rows, catch_all=anything))


class ScopeSources(list[ScopeSource]):
    """The sources of one select, in order and by alias: a select may join thousands."""

    def __init__(self, sources: Iterable[ScopeSource] = ()) -> None:
        """Start with some sources; appended ones are indexed on the next lookup."""
        super().__init__(sources)
        self._indexed = 0
        self._by_alias: dict[str, list[ScopeSource]] = {}
        self._same_counts: dict[str | int, int] = {}

    def with_alias(self, alias: str) -> Sequence[ScopeSource]:
        """The sources with an alias; a qualifier that ends with it can name no other."""
        self._update_index()
        return self._by_alias.get(alias, ())

    def matching(self, qualifier: Sequence[str]) -> list[ScopeSource]:
        """The sources that a qualifier names; `s.t` may also be a table `t` whose schema is a default."""
        named = self.with_alias(qualifier[-1])
        found = [source for source in named if source.matches(qualifier)]
        if found or len(qualifier) == 1 or self._may_be_member(qualifier[0]):
            return found
        return [source for source in named if source.is_end_of(qualifier)]

    def _may_be_member(self, name: str) -> bool:
        """Say whether what follows a name may be a member of a row or of a struct."""
        return bool(self.with_alias(name)) or any(source.has(name) for source in self)

    def count_same(self, source: ScopeSource) -> int:
        """How many sources have the same identity as another one."""
        self._update_index()
        return self._same_counts.get(source.identity, 0)

    def _update_index(self) -> None:
        for source in self[self._indexed :] if self._indexed < len(self) else ():
            self._by_alias.setdefault(source.alias, []).append(source)
            self._same_counts[source.identity] = self._same_counts.get(source.identity, 0) + 1
        self._indexed = len(self)


_POSITION_PREFIXES = ("$", "#")
"""Prefixes of a column number (`$1`, `#1`); `#` needs a source whose columns are all known."""


class Scope:
    """The sources of one select, the aliases of its select list, and the outer scope."""

    def __init__(
        self, traits: DialectTraits, outer: "Scope | None", report: FindingReporter, variables: VariableValues
    ) -> None:
        """Start without sources; a name that matches no column may be one of the `variables`."""
        self.variables = variables
        self.traits = traits
        self.outer = outer
        self.report = report
        self.sources = ScopeSources()
        self.placed: list[ScopeSource] = []
        self.placed_sides: list[str] = []
        self.placed_by_alias: dict[str, list[tuple[int, ScopeSource]]] = {}
        self.merged: dict[str, tuple[ScopeSource, ...]] = {}
        self.merged_types: dict[str, str | None] = {}
        self.leading: list[ScopeSource] = []
        self.aliases: dict[str, ExprResult] = {}
        self.hidden: dict[str, ExprResult] = {}
        self.typing = inference_for(traits)
        self.hole: ExprResult | None = None
        self.sees_aliases = traits.lateral_alias

    def place(self, source: ScopeSource, side: str) -> None:
        """Keep a source at its place in FROM, also one that later clauses do not see."""
        self.placed_by_alias.setdefault(source.alias, []).append((len(self.placed), source))
        self.placed.append(source)
        self.placed_sides.append(side)

    def resolve(self, ref: ir.Ref) -> ExprResult:
        """The value of a reference; one that cannot be resolved is reported and flows from an unknown object."""
        found = self.lookup(ref)
        if found is not None:
            return found
        if len(ref.parts) == 1 and ref.parts[0].upper() in self.traits.value_keywords:
            return ExprResult(NO_FLOWS, self._engine_type(ref.parts[0]), True, ref.parts[0].lower())
        self._report_missing(ref)
        likely = self._resolve_ignoring_case(ref)
        if likely is not None:
            return ExprResult(mark_approximate(likely.flows), likely.type, True, likely.text)
        if not ref.parts[-1]:  # "" is a name in no engine
            return ExprResult()
        named = self._matching_sources(ref.parts[:-1]) if ref.parts[:-1] else []
        if len(named) == 1 and named[0].input is not None and named[0].input.imported:  # the catalog is behind
            unlisted = named[0].unlisted_column(ref.parts[-1], ref.start, ref.end)
            return msgspec.structs.replace(unlisted, flows=mark_approximate(unlisted.flows))
        return ExprResult(
            (ColumnFlow("?", ref.parts[-1], approximate=True, start=ref.start, end=ref.end),),
            None,
            True,
            f"?.{ref.parts[-1]}",
        )

    def lookup(self, ref: ir.Ref) -> ExprResult | None:
        """The value of a reference in this scope or an outer one, or None."""
        if self.hidden and ref.parts[0] in self.hidden:
            return resolve_member(self.hidden[ref.parts[0]], ref.parts[1:])
        if len(ref.parts) == 1:
            if ref is ir.STAR_COLUMN or ref.parts[0] == "*":
                return self.hole
            if ref.parts[0] in self.variables.scalars and self.traits.variables_hide_columns:
                return read_value_at(self.variables.scalars[ref.parts[0]], ref.start, ref.end)
            found = self._resolve_unqualified(ref)
            if found is None and self.outer is not None:
                found = self.outer.lookup(ref)
            unclaimed = found is None and self.traits.alias_if_unclaimed
            return self.aliases.get(ref.parts[0]) if unclaimed else found
        scope: Scope | None = self
        while scope is not None:  # a qualifier that somebody answers to comes before a guess at a struct
            found = scope._resolve_qualified(ref)
            if found is not None:
                return found
            scope = scope.outer
        return self._resolve_record_field(ref) or self._resolve_sequence(ref) or self._resolve_struct_member(ref)

    # ── a name alone ─────────────────────────────────────────────────────────────────────────────────────────────

    def _resolve_unqualified(self, ref: ir.Ref) -> ExprResult | None:
        name = ref.parts[0]
        if name in self.merged:
            values = [
                value for source in self.merged[name] if (value := source.column(name, ref.start, ref.end)) is not None
            ]
            found = _merge_using_columns(values, self.typing.family)
            kind = self.merged_types.get(name)
            return found if kind is None or kind == found.type else msgspec.structs.replace(found, type=kind)
        owners = [source for source in self.sources if source.has(name) and not source.reach]
        if len(owners) > 1:  # the element of an array hides the column of its name
            owners = [source for source in owners if source.element] or owners
        if len(owners) > 1:
            return self._resolve_ambiguous(ref, owners)
        if owners:
            return owners[0].column(name, ref.start, ref.end)
        if self.sees_aliases and name in self.aliases:
            return self.aliases[name]
        return (
            self._resolve_variable(ref, name) or self._resolve_undeclared(ref, name) or self._resolve_in_last(ref, name)
        )

    def _resolve_variable(self, ref: ir.Ref, name: str) -> ExprResult | None:
        """The value of a variable of that name; a record is a whole row."""
        variables = self.variables
        if self.traits.marks_variables and not variables.plain:
            return None
        if name in variables.scalars:
            return read_value_at(variables.scalars[name], ref.start, ref.end)
        if name not in variables.records:
            return None
        record = variables.records[name]
        whole = ScopeSource(name, (), linked=record).row_value(ref.start, ref.end, self.report)
        return read_value_at(with_record_conditions(whole, record), ref.start, ref.end)

    def _resolve_undeclared(self, ref: ir.Ref, name: str) -> ExprResult | None:
        """A name no source is known to have: a column number, an engine value, a row, or an unlisted column."""
        if name[:1] in _POSITION_PREFIXES and name[1:].isdigit() and self.sources:
            source = self.sources[0]
            return source.column(f"${name[1:]}", ref.start, ref.end) if name[0] == "$" or not source.is_open() else None
        if name.upper() in self.traits.reserved_values:
            return ExprResult(NO_FLOWS, self._engine_type(name), True, name.lower())
        rows = self.sources.with_alias(name)
        if rows and self.traits.row_values and (rows[0].is_renamed() or not rows[0].is_open()):
            row = rows[0].row_value(ref.start, ref.end, self.report)
            kind = build_struct_type(row.members or (), self.typing.family)
            return row if kind is None else msgspec.structs.replace(row, type=kind)
        stored = [source for source in self.sources if self._has_engine_column(source, name)]
        opened = [
            source
            for source in self.sources
            if (source.is_open() and not source.reach)
            or (not source.alias and source.may_catch(name) and not self._is_outer_column(name))
        ]
        candidates = stored or opened
        if len(candidates) > 1:
            return self._resolve_ambiguous(ref, candidates)
        if candidates:
            return candidates[0].column(name, ref.start, ref.end) or self._resolve_engine_column(
                candidates[0], name, ref
            )
        if rows:
            return rows[0].row_value(ref.start, ref.end, self.report)
        makers = [source for source in self.sources if source.may_catch(name)]
        if not makers or self._is_outer_column(name, or_may_be=all(source.alias for source in makers)):
            return None
        return makers[0].column(name, ref.start, ref.end)

    def _is_outer_column(self, name: str, or_may_be: bool = False) -> bool:
        """Say whether a source of an outer query has such a column, or may have it.

        `(SELECT sum(i.price * rate) FROM UNNEST(items) AS i)`: whoever names the elements names their members by it.
        """
        scope = self.outer
        while scope is not None:
            for source in scope.sources:
                if not source.reach and (source.has(name) or (or_may_be and source.is_open())):
                    return True
            scope = scope.outer
        return False

    def _resolve_in_last(self, ref: ir.Ref, name: str) -> ExprResult | None:
        """A column of a source that is searched only when no other source has it."""
        owners = [source for source in self.sources if source.reach == "last"]
        owners = [source for source in owners if source.has(name)] or [item for item in owners if item.is_open()]
        return owners[0].column(name, ref.start, ref.end) if len(owners) == 1 else None

    def _has_engine_column(self, source: ScopeSource, name: str) -> bool:
        """Say whether a table has such a column beside its schema: a dropped one, or one that the engine adds."""
        own = source.input
        return own is not None and (name in own.dropped_columns or name.upper() in self.traits.table_pseudo_columns)

    def _resolve_engine_column(self, source: ScopeSource, name: str, ref: ir.Ref) -> ExprResult:
        """The value of a column that a table has beside its schema, with the type that the engine gives it."""
        return msgspec.structs.replace(source.unlisted_column(name, ref.start, ref.end), type=self._engine_type(name))

    def _engine_type(self, name: str) -> str | None:
        """The type of a column or value that the engine itself provides."""
        return self.traits.pseudo_column_types.get(name.upper())

    # ── a name with a qualifier ──────────────────────────────────────────────────────────────────────────────────

    def _resolve_qualified(self, ref: ir.Ref) -> ExprResult | None:
        parts = ref.parts
        if len(parts) == 2:  # only an alias answers to one word
            for source in self.sources.with_alias(parts[0]):
                position = source.positions.get(parts[1])
                if position is not None:
                    return source.column_at(position, parts[1], ref.start, ref.end)
        for size in range(len(parts) - 1, 0, -1):
            for source in self.sources.matching(parts[:size]):
                value = source.column(parts[size], ref.start, ref.end)
                if value is None and self._has_engine_column(source, parts[size]):
                    value = self._resolve_engine_column(source, parts[size], ref)
                found = _resolve_member_or_none(value, parts[size + 1 :]) if value is not None else None
                if found is not None:
                    return found
        return None

    def _resolve_record_field(self, ref: ir.Ref) -> ExprResult | None:
        """A field of a record or cursor variable, or a variable qualified with its module."""
        variables = self.variables
        record = variables.records.get(ref.parts[0])
        if record is None and ref.parts[0] == variables.module and ref.parts[1] in variables.scalars:
            return resolve_member(read_value_at(variables.scalars[ref.parts[1]], ref.start, ref.end), ref.parts[2:])
        if record is None:
            return None
        value = ScopeSource(ref.parts[0], (), linked=record).column(ref.parts[1], ref.start, ref.end)
        return (
            resolve_member(read_value_at(with_record_conditions(value, record), ref.start, ref.end), ref.parts[2:])
            if value is not None
            else None
        )

    def _resolve_sequence(self, ref: ir.Ref) -> ExprResult | None:
        """The next or current value of a sequence, which flows from no column."""
        words = self.traits.sequence_columns
        if ref.parts[-1].upper() not in words or any(source.has(ref.parts[0]) for source in self.sources):
            return None
        return ExprResult(NO_FLOWS, self._engine_type(ref.parts[-1]), False, ".".join(ref.parts).lower())

    def _resolve_struct_member(self, ref: ir.Ref) -> ExprResult | None:
        """A member of a struct column: of the source that has the column, or of the one that may have it."""
        name = ref.parts[0]
        owners = [source for source in self.sources if source.has(name)]
        owners = [source for source in owners if source.element] or owners
        if not owners and self.sees_aliases and name in self.aliases:
            return resolve_member(self.aliases[name], ref.parts[1:])
        stored = [source for source in self.sources if self._has_engine_column(source, name)] if not owners else []
        if stored:
            return resolve_member(stored[0].unlisted_column(name, ref.start, ref.end), ref.parts[1:])
        if not owners and (not self.traits.dotted_members or self._is_known_qualifier(ref)):
            return None  # a source of that name is known, and has no such column, or a column could have no members
        if not owners:
            owners = [
                source for source in self.sources if source.is_open() or (not source.alias and source.has_catch_all())
            ]
            if len(owners) > 1:
                return self._resolve_ambiguous(ref, owners)
        if not owners:
            owners = [source for source in self.sources if source.has_catch_all()]
        if not owners:
            return self.outer._resolve_struct_member(ref) if self.outer is not None else None
        value = owners[0].column(name, ref.start, ref.end)
        return _resolve_member_or_none(value, ref.parts[1:]) if value is not None else None

    def _is_known_qualifier(self, ref: ir.Ref) -> bool:
        """Say whether the qualifier names a fully known source in this scope or an outer one."""
        scope: Scope | None = self
        while scope is not None:
            if any(not source.is_open() for source in scope.sources.with_alias(ref.parts[0])):
                return True
            scope = scope.outer
        return False

    # ── what cannot be decided ───────────────────────────────────────────────────────────────────────────────────

    def _resolve_ambiguous(self, ref: ir.Ref, owners: Sequence[ScopeSource]) -> ExprResult:
        name = ref.parts[0]
        values = [value for source in owners if (value := source.column(name, ref.start, ref.end)) is not None]
        names = [source.alias or "a subquery" for source in owners]
        self.report("AMBIGUOUS_COLUMN", ref.start, ref.end, column=name, candidates=", ".join(names))
        flows = mark_approximate(union_flows(value.flows for value in values))
        value = ExprResult(flows, None, True, "|".join(value.text for value in values))
        return resolve_member(value, ref.parts[1:]) if len(ref.parts) > 1 else value

    def _resolve_ignoring_case(self, ref: ir.Ref) -> ExprResult | None:
        """The only column that differs from a reference in letter case alone; the engine would reject it."""
        name = ref.parts[-1].lower()
        sources = self.sources if len(ref.parts) == 1 else self.sources.matching(ref.parts[:-1])
        near = [(source, own) for source in sources for own in source.candidates(name)]
        return near[0][0].column(near[0][1], ref.start, ref.end) if len(near) == 1 else None

    def _report_missing(self, ref: ir.Ref) -> None:
        written = ".".join(ref.parts)
        known = self._matching_sources(ref.parts[:-1]) if len(ref.parts) > 1 else []
        if len(ref.parts) == 2 and not known and ref.parts[0] in self.variables.records:
            self.report("UNKNOWN_COLUMN", ref.start, ref.end, column=written, candidates=ref.parts[0])
            return
        if len(ref.parts) > 1 and not known:
            self.report("UNRESOLVED_REFERENCE", ref.start, ref.end, name=".".join(ref.parts[:-1]))
            return
        candidates = ", ".join(source.alias or "a subquery" for source in known or self.sources) or "any source"
        self.report("UNKNOWN_COLUMN", ref.start, ref.end, column=written, candidates=candidates)

    def _matching_sources(self, qualifier: tuple[str, ...]) -> list[ScopeSource]:
        """The sources that a qualifier names, in this scope or an outer one."""
        found = self.sources.matching(qualifier)
        return found if found or self.outer is None else self.outer._matching_sources(qualifier)


def _resolve_member_or_none(value: ExprResult, path: Sequence[str]) -> ExprResult | None:
    """A member of a value, or None where its type cannot have any."""
    if not path:
        return value
    return resolve_member(value, path) if not is_scalar_type(value.type) else None


def _merge_using_columns(values: Sequence[ExprResult], family: TypeFamily) -> ExprResult:
    """The single column that USING makes of several."""
    if len(values) == 1:
        return values[0]
    flows = union_flows(value.flows for value in values)
    return ExprResult(
        flows,
        common_type([value.type for value in values], family),
        all(value.nullable for value in values),
        shorten_text(f"coalesce({', '.join(sorted(value.text for value in values))})"),
    )
