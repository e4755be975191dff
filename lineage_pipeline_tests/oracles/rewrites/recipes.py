"""Queries that several builders make from the same draws: one writes SQL as people do, the others call libraries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from lineage_pipeline_tests.support.dialect_syntax import SOURCE_TABLES

SEED = 1
TEXTS = frozenset({"name", "region", "sku", "status"})
"""The columns of the tables of drawn queries that hold texts; all others hold numbers."""

NUMBER, TEXT = "number", "text"

Kinds = Mapping[str, str]
"""The columns of a relation by name, each with what it holds: numbers or texts."""


@dataclass(frozen=True)
class Relation:
    """What a builder has made so far, and its columns."""

    made: Any
    columns: Kinds

    def named(self, kind: str) -> list[str]:
        """The columns that hold one kind of values."""
        return [name for name, found in self.columns.items() if found == kind]


class Builder(Protocol):
    """Makes relations and values; each has the form that its library gives it."""

    def table(self, name: str, columns: Kinds) -> Any:
        """A table of the schema `s`."""

    def column(self, made: Any, name: str) -> Any:
        """A column of a relation."""

    def number(self, value: int) -> Any:
        """A number that is written out."""

    def text(self, value: str) -> Any:
        """A text that is written out."""

    def arithmetic(self, operator: str, one: Any, other: Any) -> Any:
        """A sum, difference or product."""

    def call(self, function: str, *values: Any) -> Any:
        """A call of `upper`, `lower` or `coalesce`."""

    def choose(self, condition: Any, one: Any, other: Any) -> Any:
        """CASE with one branch."""

    def compare(self, operator: str, one: Any, other: Any) -> Any:
        """A comparison."""

    def missing(self, value: Any) -> Any:
        """IS NULL."""

    def both(self, one: Any, other: Any) -> Any:
        """Two conditions."""

    def either(self, one: Any, other: Any) -> Any:
        """One of two conditions."""

    def project(self, made: Any, columns: Sequence[tuple[str, Any]]) -> Any:
        """Columns by name."""

    def filter(self, made: Any, condition: Any) -> Any:
        """The rows of a condition."""

    def filter_within(self, made: Any, column: str, other: Any, key: str) -> Any:
        """The rows whose value another relation has."""

    def group(self, made: Any, keys: Sequence[str], results: Sequence[tuple[str, str, str]]) -> Any:
        """Groups by keys; each result is a name, a function and a column."""

    def rank(self, made: Any, columns: Sequence[str], name: str, partition: str, order: str) -> Any:
        """All columns and ROW_NUMBER."""

    def join(
        self, left: Any, right: Any, outer: bool, keys: tuple[str, str], columns: Sequence[tuple[str, int, str]]
    ) -> Any:
        """A join; each column has its name, its side and its name there."""

    def union(self, one: Any, other: Any) -> Any:
        """UNION ALL."""

    def distinct(self, made: Any) -> Any:
        """SELECT DISTINCT."""

    def finish(self, made: Any, columns: Sequence[str]) -> str:
        """The text of the query."""


def build_queries(builder: Builder, count: int) -> list[str]:
    """The same queries for every builder."""
    return [Drawing(Random(f"{SEED} {at}"), builder).draw_query() for at in range(count)]


class Drawing:
    """One query as it is drawn: the choices do not depend on the builder."""

    def __init__(self, chance: Random, builder: Builder) -> None:
        """Draw from `chance` alone."""
        self.chance = chance
        self.builder = builder
        self.names = 0

    def draw_query(self) -> str:
        """A query of some steps."""
        relation = self._draw_relation(2)
        return self.builder.finish(relation.made, list(relation.columns))

    def _draw_relation(self, depth: int) -> Relation:
        relation = self._draw_table()
        steps: list[Callable[[Relation], Relation]] = [
            self._project,
            self._filter,
            self._group,
            self._rank,
            self._distinct,
        ]
        for _ in range(self.chance.randint(1, 3)):
            if depth and self.chance.random() < 0.5:
                relation = self._combine(relation, self._draw_relation(depth - 1))
            else:
                relation = self.chance.choice(steps)(relation)
        return relation

    def _draw_table(self) -> Relation:
        name = self.chance.choice(sorted(SOURCE_TABLES))
        columns = {column: TEXT if column in TEXTS else NUMBER for column in SOURCE_TABLES[name]}
        return Relation(self.builder.table(name, columns), columns)

    def _name(self) -> str:
        self.names += 1
        return f"c{self.names}"

    def _pick(self, relation: Relation, kind: str) -> Any:
        """A column of a kind, or a value that is written out where there is none."""
        if names := relation.named(kind):
            return self.builder.column(relation.made, self.chance.choice(names))
        return self.builder.number(self.chance.randint(1, 9)) if kind == NUMBER else self.builder.text("open")

    def _draw_value(self, relation: Relation, kind: str) -> Any:
        form = self.chance.randrange(4)
        one, other = self._pick(relation, kind), self._pick(relation, kind)
        if form == 0:
            return one
        if form == 1:
            return self.builder.call("coalesce", one, other)
        if form == 2:
            return self.builder.choose(self._draw_condition(relation), one, other)
        if kind == TEXT:
            return self.builder.call(self.chance.choice(("upper", "lower")), one)
        return self.builder.arithmetic(self.chance.choice("+-*"), one, other)

    def _draw_condition(self, relation: Relation) -> Any:
        kind = self.chance.choice((NUMBER, TEXT))
        first = self.builder.compare(
            self.chance.choice(("<", "=", ">=")), self._pick(relation, kind), self._pick(relation, kind)
        )
        form = self.chance.randrange(3)
        if form == 0:
            return first
        second = self.builder.missing(self._pick(relation, kind))
        return self.builder.both(first, second) if form == 1 else self.builder.either(first, second)

    def _project(self, relation: Relation) -> Relation:
        kinds = {self._name(): self.chance.choice((NUMBER, TEXT)) for _ in range(self.chance.randint(1, 3))}
        kept = {name: relation.columns[name] for name in self.chance.sample(sorted(relation.columns), 1)}
        columns = [(name, self.builder.column(relation.made, name)) for name in kept]
        columns += [(name, self._draw_value(relation, kind)) for name, kind in kinds.items()]
        return Relation(self.builder.project(relation.made, columns), {**kept, **kinds})

    def _filter(self, relation: Relation) -> Relation:
        return Relation(self.builder.filter(relation.made, self._draw_condition(relation)), relation.columns)

    def _distinct(self, relation: Relation) -> Relation:
        return Relation(self.builder.distinct(relation.made), relation.columns)

    def _group(self, relation: Relation) -> Relation:
        key = self.chance.choice(sorted(relation.columns))
        results = [(self._name(), "count", self.chance.choice(sorted(relation.columns)))]
        if numbers := relation.named(NUMBER):
            results += [(self._name(), function, self.chance.choice(numbers)) for function in ("sum", "max")]
        columns = {key: relation.columns[key], **{name: NUMBER for name, _, _ in results}}
        return Relation(self.builder.group(relation.made, [key], results), columns)

    def _rank(self, relation: Relation) -> Relation:
        partition, order = (self.chance.choice(sorted(relation.columns)) for _ in range(2))
        name = self._name()
        made = self.builder.rank(relation.made, list(relation.columns), name, partition, order)
        return Relation(made, {**relation.columns, name: NUMBER})

    def _combine(self, left: Relation, right: Relation) -> Relation:
        """Two relations in one: as a join, as a union, or by a condition."""
        kind = self.chance.choice((NUMBER, TEXT))
        if not left.named(kind) or not right.named(kind):
            kind = TEXT if kind == NUMBER else NUMBER
        if not left.named(kind) or not right.named(kind):
            return left
        keys = self.chance.choice(left.named(kind)), self.chance.choice(right.named(kind))
        match self.chance.randrange(4):
            case 0:
                return Relation(self.builder.filter_within(left.made, keys[0], right.made, keys[1]), left.columns)
            case 1:
                name = self._name()
                one, other = (
                    self.builder.project(side.made, [(name, self.builder.column(side.made, key))])
                    for side, key in ((left, keys[0]), (right, keys[1]))
                )
                return Relation(self.builder.union(one, other), {name: kind})
        columns: list[tuple[str, int, str]] = []
        kinds = {}
        for side, relation in enumerate((left, right)):
            for column in self.chance.sample(sorted(relation.columns), min(2, len(relation.columns))):
                name = self._name()
                columns.append((name, side, column))
                kinds[name] = relation.columns[column]
        outer = self.chance.random() < 0.5
        return Relation(self.builder.join(left.made, right.made, outer, keys, columns), kinds)


class SqlBuilder:
    """Writes each step as a query over the one before it, as people do who nest queries."""

    def __init__(self) -> None:
        """Begin with the first alias."""
        self.aliases = 0

    def _alias(self) -> str:
        self.aliases += 1
        return f"q{self.aliases}"

    def _select(self, columns: str, made: "SqlRelation", rest: str = "") -> "SqlRelation":
        return SqlRelation(f"select {columns} from {made.source} {made.alias}{rest}", self._alias(), made.columns)

    def table(self, name: str, columns: Kinds) -> Any:
        """A table of the schema `s`."""
        return SqlRelation(f"select {', '.join(columns)} from s.{name}", self._alias(), tuple(columns))

    def column(self, made: Any, name: str) -> Any:
        """A column of a relation."""
        return f"{made.alias}.{name}"

    def number(self, value: int) -> Any:
        """A number that is written out."""
        return str(value)

    def text(self, value: str) -> Any:
        """A text that is written out."""
        return f"'{value}'"

    def arithmetic(self, operator: str, one: Any, other: Any) -> Any:
        """A sum, difference or product."""
        return f"({one} {operator} {other})"

    def call(self, function: str, *values: Any) -> Any:
        """A call of `upper`, `lower` or `coalesce`."""
        return f"{function}({', '.join(values)})"

    def choose(self, condition: Any, one: Any, other: Any) -> Any:
        """CASE with one branch."""
        return f"case when {condition} then {one} else {other} end"

    def compare(self, operator: str, one: Any, other: Any) -> Any:
        """A comparison."""
        return f"{one} {operator} {other}"

    def missing(self, value: Any) -> Any:
        """IS NULL."""
        return f"{value} is null"

    def both(self, one: Any, other: Any) -> Any:
        """Two conditions."""
        return f"({one} and {other})"

    def either(self, one: Any, other: Any) -> Any:
        """One of two conditions."""
        return f"({one} or {other})"

    def project(self, made: Any, columns: Sequence[tuple[str, Any]]) -> Any:
        """Columns by name."""
        found = self._select(", ".join(f"{value} as {name}" for name, value in columns), made)
        return SqlRelation(found.query, found.alias, tuple(name for name, _ in columns))

    def filter(self, made: Any, condition: Any) -> Any:
        """The rows of a condition."""
        return self._select(", ".join(made.columns), made, f" where {condition}")

    def filter_within(self, made: Any, column: str, other: Any, key: str) -> Any:
        """The rows whose value another relation has."""
        within = f"select {other.alias}.{key} from {other.source} {other.alias}"
        return self._select(", ".join(made.columns), made, f" where {made.alias}.{column} in ({within})")

    def group(self, made: Any, keys: Sequence[str], results: Sequence[tuple[str, str, str]]) -> Any:
        """Groups by keys; each result is a name, a function and a column."""
        values = [*keys, *(f"{function}({column}) as {name}" for name, function, column in results)]
        found = self._select(", ".join(values), made, f" group by {', '.join(keys)}")
        return SqlRelation(found.query, found.alias, (*keys, *(name for name, _, _ in results)))

    def rank(self, made: Any, columns: Sequence[str], name: str, partition: str, order: str) -> Any:
        """All columns and ROW_NUMBER."""
        window = f"row_number() over (partition by {partition} order by {order}) as {name}"
        found = self._select(", ".join((*columns, window)), made)
        return SqlRelation(found.query, found.alias, (*columns, name))

    def join(
        self, left: Any, right: Any, outer: bool, keys: tuple[str, str], columns: Sequence[tuple[str, int, str]]
    ) -> Any:
        """A join; each column has its name, its side and its name there."""
        sides = left, self._rename(right)
        kind = "left join" if outer else "join"
        values = ", ".join(f"{sides[side].alias}.{column} as {name}" for name, side, column in columns)
        second = sides[1]
        on = f"{left.alias}.{keys[0]} = {second.alias}.{keys[1]}"
        found = self._select(values, left, f" {kind} {second.source} {second.alias} on {on}")
        return SqlRelation(found.query, found.alias, tuple(name for name, _, _ in columns))

    def _rename(self, made: Any) -> "SqlRelation":
        return SqlRelation(made.query, self._alias(), made.columns)

    def union(self, one: Any, other: Any) -> Any:
        """UNION ALL."""
        return SqlRelation(f"{one.query} union all {other.query}", self._alias(), one.columns)

    def distinct(self, made: Any) -> Any:
        """SELECT DISTINCT."""
        return self._select(f"distinct {', '.join(made.columns)}", made)

    def finish(self, made: Any, columns: Sequence[str]) -> str:
        """The text of the query."""
        return str(made.query)


@dataclass(frozen=True)
class SqlRelation:
    """A query with the alias that the next one reads it by."""

    query: str
    alias: str
    columns: tuple[str, ...]

    @property
    def source(self) -> str:
        """The query as FROM has it."""
        return f"({self.query})"
