"""The generator of SQL queries: one program at a time, every choice drawn from hypothesis."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hypothesis import strategies as st

from lineage_pipeline_tests.support.dialect_syntax import DIALECT_SYNTAXES, SOURCE_TABLES, TARGET_COLUMNS, DialectSyntax
from lineage_pipeline_tests.support.generated_sql import Column, CommonTable, GeneratedProgram, Query, ValueInputs

T = TypeVar("T")
NO_INPUTS: ValueInputs = frozenset()
OUTPUT_NAMES = ("x", "y", "z", "id", "amount", "total", "name", "status")
"""The names of output columns; some of them are names of source columns, too."""


@dataclass(frozen=True)
class FromItem:
    """An item of a FROM clause: its qualifier and its columns."""

    qualifier: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class DrawnExpression:
    """An expression and the columns that give its value."""

    text: str
    inputs: ValueInputs = NO_INPUTS


@dataclass(frozen=True)
class DrawnScope:
    """What an expression may reference: the sources of its query, merged columns, and the sources around it."""

    sources: tuple[FromItem, ...] = ()
    merged: tuple[Column, ...] = ()
    outer: tuple[FromItem, ...] = ()
    taken: tuple[str, ...] = ()

    def columns(self) -> list[DrawnExpression]:
        """Every way to name a column."""
        merged = {column.name for column in self.merged}
        found = [DrawnExpression(column.name, column.inputs) for column in self.merged]
        every = [column.name for source in self.sources for column in source.columns]
        for source in self.sources:
            for column in source.columns:
                if column.name in merged:
                    continue
                found.append(DrawnExpression(f"{source.qualifier}.{column.name}", column.inputs))
                if every.count(column.name) == 1 and column.name not in self.taken:
                    found.append(DrawnExpression(column.name, column.inputs))
        return found

    def outer_columns(self) -> list[DrawnExpression]:
        """The columns of the outer sources, as they can be referenced here."""
        own = {source.qualifier for source in self.sources}
        return [
            DrawnExpression(f"{source.qualifier}.{column.name}", column.inputs)
            for source in self.outer
            if source.qualifier not in own
            for column in source.columns
        ]

    def visible_sources(self) -> tuple[FromItem, ...]:
        """The sources that a subquery of this query can see."""
        own = {source.qualifier for source in self.sources}
        return (*self.sources, *(source for source in self.outer if source.qualifier not in own))


def _merged_inputs(side: str, left: ValueInputs, right: ValueInputs) -> ValueInputs:
    """The inputs of the one column that a join merges from two."""
    return {"right join": right, "full join": left | right}.get(side, left)


class QueryWriter:
    """Writes one program."""

    def __init__(self, draw: Callable[..., Any], flavour: DialectSyntax) -> None:
        """Start without common table expressions."""
        self.draw = draw
        self.flavour = flavour
        self.commons: list[CommonTable] = []
        self.count = 0

    def number(self, highest: int) -> int:
        """A number from 0."""
        return int(self.draw(st.integers(0, highest)))

    def one_of(self, items: Sequence[T]) -> T:
        """One of some items; the simpler ones stand first."""
        return items[self.number(len(items) - 1)]

    def sometimes(self, share: int = 3) -> bool:
        """True once in a while."""
        return self.number(share) == share

    def mark(self, letter: str = "a") -> str:
        """A new alias."""
        self.count += 1
        return f"‹{letter}{self.count}›"

    # ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────

    def program(self) -> GeneratedProgram:
        """A query over common table expressions."""
        for _ in range(self.number(2)):
            self.commons.append(self.common())
        return GeneratedProgram(self.flavour, tuple(self.commons), self.query(2))

    def common(self) -> CommonTable:
        """A common table expression, once in a while a recursive one or one with a list of columns."""
        mark = self.mark("c")
        if self.flavour.recursive and self.sometimes(5):
            return self.recursion(mark)
        query = self.query(1)
        header = tuple(f"h{position}" for position, _ in enumerate(query.columns)) if self.sometimes(4) else ()
        return CommonTable(mark, query, header)

    def recursion(self, mark: str) -> CommonTable:
        """A common table expression that counts on from a column."""
        table = self.one_of(list(SOURCE_TABLES))
        column = self.one_of(SOURCE_TABLES[table])
        other = self.one_of(SOURCE_TABLES[table])
        text = (
            f"select {column} as n, {other} as m from s.{table} "
            f"union all select {mark}.n + 1, {mark}.m from {mark} where {mark}.n < 10"
        )
        columns = (Column("n", frozenset({(table, column)})), Column("m", frozenset({(table, other)})))
        return CommonTable(mark, Query(text, columns), ("n", "m"), recursive=True)

    def query(self, depth: int, outer: tuple[FromItem, ...] = ()) -> Query:
        """A select, or a set operation of two."""
        first = self.select(depth, outer)
        if depth == 0 or not self.sometimes(4):
            return first
        words = ["union all", "union distinct" if self.flavour.dialect in ("bigquery", "clickhouse") else "union"]
        words += ["intersect"] if self.flavour.intersect else []
        word = self.one_of([*words, self.flavour.excepts])
        second = self.select(0, outer, width=len(first.columns))
        kept = word.split()[0] in ("union", "intersect")
        columns = tuple(
            Column(one.name, one.inputs | (other.inputs if kept else NO_INPUTS))
            for one, other in zip(first.columns, second.columns, strict=True)
        )
        return Query(f"{first.text} {word} {second.text}", columns)

    def select(self, depth: int, outer: tuple[FromItem, ...], width: int = 0) -> Query:
        """A select with some of its clauses; `width` asks for a number of columns."""
        scope, from_ = self.sources(depth, outer)
        grouped = self.sometimes(4)
        if grouped:
            return self.grouping(scope, from_, width)
        items, columns = self.outputs(depth, scope, width)
        distinct = "distinct " if self.sometimes(6) else ""
        text = f"select {distinct}{', '.join(items)} from {from_}{self.where(depth, scope)}"
        if self.flavour.qualify and self.sometimes(5):
            text += f" qualify {self.window(scope).text} = 1"
        return Query(text, tuple(columns))

    def grouping(self, scope: DrawnScope, from_: str, width: int) -> Query:
        """A select with keys and aggregates."""
        key = self.column(scope)
        total = width or 1 + self.number(2)
        names = self.distinct_names(total)
        items, columns = [f"{key.text} as {names[0]}"], [Column(names[0], key.inputs)]
        for name in names[1:]:
            function = self.one_of(("sum({})", "min({})", "count(distinct {})", "max({} + 1)"))
            value = self.column(scope)
            items.append(f"{function.format(value.text)} as {name}")
            columns.append(Column(name, value.inputs))
        by = key.text
        if self.flavour.group_position and self.sometimes(4):
            by = "1"
        having = f" having min({self.column(scope).text}) > 0" if self.sometimes(4) else ""
        text = f"select {', '.join(items)} from {from_}{self.where(0, scope)} group by {by}{having}"
        return Query(text, tuple(columns))

    # ── sources ──────────────────────────────────────────────────────────────────────────────────────────────────

    def sources(self, depth: int, outer: tuple[FromItem, ...]) -> tuple[DrawnScope, str]:
        """A FROM clause, and what the rest of the query may name."""
        first, text = self.source(depth, ())
        scope = DrawnScope((first,), (), outer)
        commas = self.sometimes(5)
        for _ in range(self.number(2)):
            if self.flavour.lateral and depth and self.sometimes(5):
                scope, text = self.lateral(depth, scope, text)
                continue
            added, written = self.source(depth, tuple(source.qualifier for source in scope.sources))
            if commas:
                scope, text = replace(scope, sources=(*scope.sources, added)), f"{text}, {written}"
                continue
            scope, text = self.join(scope, text, added, written)
        return scope, text

    def source(self, depth: int, used: tuple[str, ...]) -> tuple[FromItem, str]:
        """A table, a common table expression or a derived table."""
        kinds = ["table", "table", *(["common"] if self.commons else []), *(["derived"] if depth else [])]
        kind = self.one_of(kinds)
        if kind == "derived":
            query, alias = self.query(depth - 1), self.mark()
            return FromItem(alias, query.columns), f"({query.text}) {self.flavour.alias}{alias}"
        if kind == "common":
            common = self.one_of(self.commons)
            name, own, columns = common.mark, common.mark, common.columns
        else:
            table = self.one_of(list(SOURCE_TABLES))
            name, own = f"s.{table}", table
            columns = tuple(Column(column, frozenset({(table, column)})) for column in SOURCE_TABLES[table])
        if own in used or self.sometimes(1):
            alias = self.mark()
            return FromItem(alias, columns), f"{name} {self.one_of((self.flavour.alias, ''))}{alias}"
        return FromItem(own, columns), name

    def join(self, scope: DrawnScope, text: str, added: FromItem, written: str) -> tuple[DrawnScope, str]:
        """One more source, joined in one of the ways there are."""
        sides = ["join", "left join", "inner join", "right join", *(["full join"] if self.flavour.full else [])]
        side = self.one_of([*sides, "cross join"])
        both = replace(scope, sources=(*scope.sources, added))
        if side == "cross join":
            return both, f"{text} cross join {written}"
        (left, *rest), names = scope.sources, {column.name for column in added.columns}
        shared = [column for column in left.columns if column.name in names]
        if self.flavour.using and shared and not rest and not scope.merged and self.sometimes(2):
            return self.merge(scope, text, added, written, side)
        one, other = self.column(scope), self.one_of(DrawnScope((added,)).columns())
        condition = f"{one.text} = {added.qualifier}.{other.text.rpartition('.')[2]}"
        return both, f"{text} {side} {written} on {self.qualified(scope, one, added, condition)}"

    def qualified(self, scope: DrawnScope, one: DrawnExpression, added: FromItem, condition: str) -> str:
        """A condition whose left side is not ambiguous now that a source has been added."""
        name = one.text
        if "." not in name and any(column.name == name for column in added.columns):
            merged = {column.name for column in scope.merged}
            if name not in merged:
                owner = next(source for source in scope.sources if any(item.name == name for item in source.columns))
                return f"{owner.qualifier}.{condition}"
            return "1 = 1"
        return condition

    def merge(self, scope: DrawnScope, text: str, added: FromItem, written: str, side: str) -> tuple[DrawnScope, str]:
        """A join that merges a column that both sides have."""
        left = scope.sources[0]
        others = {column.name: column for column in added.columns}
        shared = [column for column in left.columns if column.name in others]
        natural = self.flavour.natural and self.sometimes(3)
        chosen = shared if natural else [self.one_of(shared)]
        merged = tuple(
            Column(column.name, _merged_inputs(side, column.inputs, others[column.name].inputs)) for column in chosen
        )
        both = DrawnScope((left, added), merged, scope.outer)
        if natural:
            return both, f"{text} natural {side} {written}"
        return both, f"{text} {side} {written} using ({merged[0].name})"

    def lateral(self, depth: int, scope: DrawnScope, text: str) -> tuple[DrawnScope, str]:
        """A derived table that sees the sources before it."""
        query, alias = self.query(depth - 1, scope.visible_sources()), self.mark()
        item = self.flavour.lateral.format(query=query.text, alias=self.flavour.alias + alias)
        space = "" if item.startswith(",") else " "
        return replace(scope, sources=(*scope.sources, FromItem(alias, query.columns))), f"{text}{space}{item}"

    # ── outputs ──────────────────────────────────────────────────────────────────────────────────────────────────

    def outputs(self, depth: int, scope: DrawnScope, width: int) -> tuple[list[str], list[Column]]:
        """A select list and the columns that it makes, no two of one name."""
        if not width and self.sometimes(3):
            starred = self.star(scope)
            if starred is not None:
                return starred
        items: list[str] = []
        columns: list[Column] = []
        names = self.distinct_names(width or 1 + self.number(3))
        if self.flavour.alias_first:  # an alias hides a column of its name, to the left of it as well
            scope = replace(scope, taken=(*scope.taken, *names))
        for name in names:
            plain = self.column(scope)
            own = plain.text.rpartition(".")[2]
            taken = {column.name for column in columns}
            if not width and own not in taken and own not in OUTPUT_NAMES and self.sometimes(2):
                items.append(plain.text)
                columns.append(Column(own, plain.inputs))
                continue
            if name in taken:
                continue
            value = self.value(depth, scope)
            if self.flavour.lateral_alias and self.sometimes(5):
                value = self.repeated(scope, columns) or value
            items.append(f"{value.text} {self.one_of(('as ', ''))}{name}")
            columns.append(Column(name, value.inputs))
        return items, columns

    def repeated(self, scope: DrawnScope, columns: list[Column]) -> DrawnExpression | None:
        """An expression of an output to the left, where no source has a column of its name."""
        taken = {column.name for source in (*scope.sources, *scope.outer) for column in source.columns}
        free = [column for column in columns if column.name not in taken]
        if not free:
            return None
        column = self.one_of(free)
        return DrawnExpression(f"{column.name} + 1", column.inputs)

    def distinct_names(self, count: int) -> list[str]:
        """Names of outputs, in some order."""
        first, step = self.number(len(OUTPUT_NAMES) - 1), self.one_of((1, 3, 5))
        return [OUTPUT_NAMES[(first + position * step) % len(OUTPUT_NAMES)] for position in range(count)]

    def star(self, scope: DrawnScope) -> tuple[list[str], list[Column]] | None:
        """A star, where no two of the columns it stands for have one name and there are not too many."""
        source = self.one_of([None, *scope.sources])
        merged = {column.name for column in scope.merged}
        if source is None:
            columns = [*scope.merged]
            for item in scope.sources:
                columns.extend(column for column in item.columns if column.name not in merged)
        elif merged:
            return None
        else:
            columns = list(source.columns)
        written = "*" if source is None else f"{source.qualifier}.*"
        if self.flavour.left_out and len(columns) > 1 and self.sometimes(2):
            out = self.one_of(columns).name
            written += " " + self.flavour.left_out.format(out)
            columns = [column for column in columns if column.name != out]
        if not columns or len({column.name for column in columns}) < len(columns) or len(columns) > len(TARGET_COLUMNS):
            return None
        return [written], columns

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────────────────

    def value(self, depth: int, scope: DrawnScope) -> DrawnExpression:
        """An expression over the columns in scope."""
        return self.one_of(EXPRESSION_KINDS if depth else EXPRESSION_KINDS[:-1])(self, scope)

    def column(self, scope: DrawnScope) -> DrawnExpression:
        """One column in scope."""
        return self.one_of(scope.columns())

    def of_two(self, text: str, scope: DrawnScope) -> DrawnExpression:
        """An expression of two columns that both give its value."""
        one, other = self.column(scope), self.column(scope)
        return DrawnExpression(text.format(one.text, other.text), one.inputs | other.inputs)

    def of_one(self, text: str, scope: DrawnScope) -> DrawnExpression:
        """An expression of one column."""
        one = self.column(scope)
        return DrawnExpression(text.format(one.text, type=self.flavour.text), one.inputs)

    def choice(self, scope: DrawnScope) -> DrawnExpression:
        """A CASE: its condition decides, it gives no value."""
        condition = self.column(scope)
        return self.of_two(f"case when {condition.text} > 1 then {{}} else {{}} end", scope)

    def window(self, scope: DrawnScope, function: str = "row_number()") -> DrawnExpression:
        """A function over a window: its keys decide, they give no value."""
        value = self.of_one(function, scope) if "{" in function else DrawnExpression(function)
        by, order = self.column(scope), self.column(scope)
        return DrawnExpression(f"{value.text} over (partition by {by.text} order by {order.text} desc)", value.inputs)

    def scalar(self, scope: DrawnScope) -> DrawnExpression:
        """A subquery for one value, tied to the query around it or not."""
        inner, from_ = self.sources(0, scope.visible_sources())
        value = self.one_of([*inner.columns(), *inner.outer_columns()])
        return DrawnExpression(f"(select max({value.text}) from {from_}{self.where(0, inner)})", value.inputs)

    def where(self, depth: int, scope: DrawnScope) -> str:
        """A filter, or none."""
        if not self.sometimes(2):
            return ""
        columns = [*scope.columns(), *scope.outer_columns()]
        one, other = self.one_of(columns), self.one_of(columns)
        form = self.number(3 if depth else 1)
        if form > 1:
            inner, from_ = self.sources(0, scope.visible_sources())
            if form == 2:
                return f" where {one.text} in (select {self.column(inner).text} from {from_})"
            tied = self.one_of([*inner.outer_columns(), *inner.columns()])
            return f" where exists (select 1 from {from_} where {self.column(inner).text} = {tied.text})"
        if form:
            return f" where {one.text} is not null and {other.text} in (1, 2)"
        return f" where {one.text} > {other.text}"


EXPRESSION_KINDS: tuple[Callable[[QueryWriter, DrawnScope], DrawnExpression], ...] = (
    QueryWriter.column,
    lambda writer, scope: writer.of_two("{} + {}", scope),
    lambda writer, scope: writer.of_one("upper({})", scope),
    lambda writer, scope: writer.of_two("coalesce({}, {}, 0)", scope),
    QueryWriter.choice,
    lambda writer, scope: writer.of_one("cast({} as {type})", scope),
    lambda writer, scope: writer.of_one("(({}))", scope),
    lambda writer, scope: DrawnExpression("'a (b; c'"),
    lambda writer, scope: writer.window(scope, "sum({})"),
    QueryWriter.window,
    QueryWriter.scalar,
)
"""Kinds of expressions, simple ones first; the last needs room for a subquery."""


@st.composite
def draw_programs(draw: Callable[..., Any], dialects: Sequence[str] = ()) -> GeneratedProgram:
    """A program in one of the dialects."""
    chosen = [flavour for flavour in DIALECT_SYNTAXES if not dialects or flavour.dialect in dialects]
    return QueryWriter(draw, draw(st.sampled_from(chosen))).program()
