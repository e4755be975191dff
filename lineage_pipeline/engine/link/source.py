"""Sources: what stands behind FROM while a select is being linked."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from lineage_pipeline.dialects.clauses import SHORT_LISTS
from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.link.flows import (
    DIRECT,
    IDENTITY,
    ROW,
    Flow,
    Flows,
    approximated,
    entering,
    through,
    united,
)
from lineage_pipeline.engine.link.gaps import headed
from lineage_pipeline.engine.link.members import mapped, member
from lineage_pipeline.engine.link.model import Input, Linked, Opening, Out, Value, numbered
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.tables import Hop


def unexpanded(name: str, known: bool = False) -> dict[str, str]:
    """How a finding says that a star stands for more than is known."""
    if known:
        return {"columns": "some columns", "name": name, "outcome": "gives only the others"}
    return {"columns": "the columns", "name": name, "outcome": "is not expanded"}


def _lettered(column: Out) -> str:
    """A column of a relation as it is written, unless it is called otherwise by now."""
    return column.written if column.written.lower() == column.name.lower() else column.name


class Source(msgspec.Struct):
    """A source of a select: an object, or a relation; what a function makes is a relation as well.

    Where the alias names an `element` of an array, it hides columns of that name; `text` is what a function says.
    What stands in a select once more has a `mark`, by which its values can be told from those of the first. Where a
    name alone does not mean a column of it, or only in the end, `reach` says so. Columns that a join has made one with
    those of another source are `merged`.
    """

    alias: str
    parts: tuple[str, ...]
    input: Input | None = None
    linked: Linked | None = None
    columns: tuple[str, ...] = ()
    nullable: bool = False
    element: bool = False
    text: str = ""
    mark: str = ""
    reach: str = ""
    merged: frozenset[str] = frozenset()
    positions: dict[str, int] = {}
    passed: dict[tuple[int, bool], Value] = {}

    def __post_init__(self) -> None:
        """Number the columns that are known; of two with one name the first counts."""
        if self.input is not None and not self.columns:
            self.positions = self.input.positions
        else:
            self.positions = numbered(self.names())

    def names(self) -> list[str]:
        """The columns that are known, in order."""
        if self.input is not None:
            own = [column.name for column in self.input.columns]
        else:
            own = [column.name for column in self.linked.columns] if self.linked is not None else []
        return [*self.columns, *own[len(self.columns) :]] if self.columns else own

    def written(self) -> list[str]:
        """The columns that are known as they are written, in order; those that an alias names have its letters."""
        if self.input is not None:
            own = [column.written or column.name for column in self.input.columns]
        else:
            own = [_lettered(column) for column in self.linked.columns] if self.linked is not None else []
        return [*self.columns, *own[len(self.columns) :]] if self.columns else own

    def is_open(self) -> bool:
        """Whether the source may have columns that are not known."""
        if self.input is not None:
            return self.input.open
        return bool(self.linked.openings) if self.linked is not None else False

    def is_vague(self) -> bool:
        """Whether a star takes columns of an object of which not all are known, or of which it is disputed which."""
        return self.input is not None and self.input.disputed

    def makes_anything(self) -> bool:
        """Whether whatever is asked of the source is made of the same thing."""
        return self.linked is not None and self.linked.rest is not None

    def is_bare(self) -> bool:
        """Whether only names alone can reach what the source makes."""
        return not self.alias and self.makes_anything()

    def is_renamed(self) -> bool:
        """Whether the alias is not the name of the object itself."""
        return not self.parts or self.parts[-1] != self.alias

    def openings(self, star: ir.Star) -> tuple[Opening, ...]:
        """What passes unseen through a star over this source."""
        if self.input is not None:
            own = (Opening(self.input.object, star.start, star.end, star.exclude),) if self.input.open else ()
            return self.input.passes or own
        return self.linked.openings if self.linked is not None else ()

    def called(self) -> str:
        """The object that a source is, or that it is a query; empty for a function."""
        if self.input is not None:
            return self.input.object
        return "(subquery)" if self.linked is not None and not self.text and not self.element else ""

    @property
    def same(self) -> str | int:
        """What sources that are the same have in common; one whose object is not known is like no other."""
        if self.input is not None:
            return self.input.object or id(self)
        return id(self if self.linked is None else self.linked)

    def has(self, name: str) -> bool:
        """Whether a column of that name is known."""
        return name in self.positions

    def spelt(self, lowered: str) -> Sequence[str]:
        """The columns that a name in small letters may mean."""
        if self.input is not None and not self.columns:
            return self.input.lowered.get(lowered, ())
        return [own for own in self.positions if own.lower() == lowered]

    def column(self, name: str, start: int, end: int) -> Value | None:
        """The value of a column, or None where the source cannot have it."""
        position = self.positions.get(name)
        if position is None and name[:1] == "$" and name[1:].isdecimal():
            number = whole_number(name[1:])
            position = number - 1 if 0 < number <= len(self.positions) else None
        if position is not None:
            return self.at(position, name, start, end)
        if self.linked is not None and self.linked.rest is not None:
            return member(self.linked.rest, (name,))
        if not self.is_open():
            return None
        if self.input is not None and not self.input.passes:
            return self.stored(name, start, end)
        openings = self.input.passes if self.input is not None else self.linked.openings if self.linked else ()
        flows = tuple(Flow(item.object, name, start=start, end=end) for item in openings if name not in item.exclude)
        flows = approximated(flows) if len(flows) > 1 else flows
        hop = Hop(self.alias, name)
        return Value(through(flows, hop), None, True, "|".join(f"{flow.object}.{flow.column}" for flow in flows))

    def stored(self, name: str, start: int, end: int) -> Value:
        """A column of the object that its schema does not list."""
        owner = self.input.object if self.input is not None else "?"
        return Value((Flow(owner, name, start=start, end=end),), None, True, f"{owner}.{name}{self.mark}")

    def at(self, position: int, name: str, start: int, end: int) -> Value:
        """The value of the column at a position."""
        if self.columns and self._is_unlisted(position):
            return self._unlisted(name, start, end)
        if self.input is not None:
            column, owner = self.input.columns[position], self.input.object
            name = column.name
            if column.flows is None:
                own = self.input.final(name)
                flows: Flows = (Flow(owner, own, "", DIRECT, IDENTITY, False, column.approximate, start, end),)
            elif owner:
                flows = entering(column.flows, start, end, Hop(owner, name))
            else:  # rows of any of several tables
                flows = tuple(msgspec.structs.replace(flow, start=start, end=end) for flow in column.flows)
            text = (column.text or f"{owner}.{name}") + self.mark
            members = mapped(column.members, lambda own: entering(own, start, end, Hop(owner, name)))
            return Value(flows, column.type, column.nullable or self.nullable, text, members)
        known = self.passed.get((position, self.nullable))
        if known is None:
            known = self.passed[position, self.nullable] = self._passed_on(position, name)
        return known

    def _is_unlisted(self, position: int) -> bool:
        """Whether an alias names a column that is known by its position only."""
        if self.input is not None and self.input.open:  # its columns are known by their names only
            return True
        own = self.input.columns if self.input is not None else self.linked.columns if self.linked is not None else None
        return own is not None and position >= len(own)

    def _unlisted(self, name: str, start: int, end: int) -> Value:
        """One of the columns that nobody lists; which of them, only the schema could tell."""
        openings = self.openings(ir.Star((), start, end))
        flows = tuple(Flow(item.object, ROW, approximate=True, start=start, end=end) for item in openings)
        return Value(through(flows, Hop(self.alias, name)), None, True, f"{self.alias}.{name}")

    def _passed_on(self, position: int, name: str) -> Value:
        """The value of a column of a relation, seen from outside."""
        assert self.linked is not None
        value = self.linked.columns[position].value
        if not self.alias:
            return value if not self.nullable else msgspec.structs.replace(value, nullable=True)
        hop = Hop(self.alias, name)
        members = mapped(value.members, lambda flows: through(flows, hop)) if value.members is not None else None
        text = value.text + self.mark
        return Value(through(value.flows, hop), value.type, value.nullable or self.nullable, text, members)

    def whole(self, start: int, end: int, report: Callable[..., None], exclude: Sequence[str] = ()) -> Value:
        """All columns as one value; what is not known of them is said."""
        if self.element and self.linked is not None:
            return self.at(0, self.alias, start, end)
        openings = self.openings(ir.Star((), start, end))
        for opening in openings:
            report("APPROXIMATE_LINEAGE", start, end, **unexpanded(opening.object))
        members = tuple(
            (name, self.at(position, name, start, end))
            for position, name in enumerate(self.names())
            if name not in exclude
        )
        made = (self.linked.rest.flows,) if self.linked is not None and self.linked.rest is not None else ()
        rows = tuple(Flow(opening.object, ROW, approximate=True, start=start, end=end) for opening in openings)
        flows = united([*(value.flows for _, value in members), *made, rows])
        return Value(flows, None, True, f"{self.alias}.*", members if not rows and not made else None)

    def answers(self, qualifier: Sequence[str]) -> bool:
        """Whether a qualifier names this source: its alias, or the end of its name where it has no other alias."""
        if len(qualifier) == 1 and qualifier[0] == self.alias:
            return True
        parts = self.parts
        return bool(parts) and parts[-1] == self.alias and parts[-len(qualifier) :] == tuple(qualifier)


def renamed(source: ir.Source, linked: Linked, traits: Traits) -> Source:
    """A relation under an alias that may name its columns."""
    if linked.gap is not None and source.columns:
        return Source(source.alias, (), linked=headed(linked, source.columns, traits.family in SHORT_LISTS))
    return Source(source.alias, (), linked=linked, columns=source.columns)


def proposed(alias: str, rows: Linked, table: Input) -> Source:
    """The rows that an upsert could not insert: called as the columns of the table are, where those are known."""
    if not table.open:
        return Source(alias, (), linked=rows, columns=tuple(column.name for column in table.columns))
    flows = approximated(united(column.value.flows for column in rows.columns))
    anything = Value(tuple(msgspec.structs.replace(flow, keeps=False) for flow in flows))
    return Source(alias, (), linked=msgspec.structs.replace(rows, rest=anything))


class Sources(list[Source]):
    """The sources of one select in their order, and by what they are called: a select may join thousands."""

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        """Start with some sources; those that are appended are filed when somebody asks."""
        super().__init__(sources)
        self._filed = 0
        self._called: dict[str, list[Source]] = {}
        self._times: dict[str | int, int] = {}

    def called(self, alias: str) -> Sequence[Source]:
        """The sources with an alias: nothing else answers to a qualifier that ends with it."""
        self._file()
        return self._called.get(alias, ())

    def answering(self, qualifier: Sequence[str]) -> list[Source]:
        """The sources that a qualifier names."""
        return [source for source in self.called(qualifier[-1]) if source.answers(qualifier)]

    def times(self, source: Source) -> int:
        """How many sources are what another one is."""
        self._file()
        return self._times.get(source.same, 0)

    def _file(self) -> None:
        for source in self[self._filed :] if self._filed < len(self) else ():
            self._called.setdefault(source.alias, []).append(source)
            self._times[source.same] = self._times.get(source.same, 0) + 1
        self._filed = len(self)
