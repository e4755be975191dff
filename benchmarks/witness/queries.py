"""Programs at random: queries and scripts that give the same rows whenever they are run on the same rows.

Whatever an engine may decide by itself (which of several equal rows comes first) does not occur: LIMIT follows an order
by all outputs, ROW_NUMBER an order that ends with unique columns.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

import msgspec

from benchmarks.witness.rows import (
    DATE,
    DECIMAL,
    INT,
    JOURNAL,
    LEDGER,
    LIST,
    NESTED_COLUMNS,
    NESTED_TABLE,
    STRUCT,
    TABLES,
    TEXT,
    draw_value,
)
from benchmarks.witness.syntax import Syntax

RESULT = "result"
"""The object whose columns are looked at, where a program is a query."""

CREATE_RESULT = f"create view {RESULT} as "

Columns = tuple[tuple[str, str], ...]
HOLE = re.compile(r"\{([a-z ]+)\}")
_MADE = re.compile(r"create (?:\w+ )?(?:table|view) (\w+) as ")
OUTPUT_NAMES = ("x", "y", "z", "n", "s", "id", "total", "k")


class Program(msgspec.Struct, frozen=True):
    """Statements to run in order, the objects whose rows are looked at, and what the program is made of."""

    statements: tuple[str, ...]
    targets: tuple[str, ...]
    constructs: frozenset[str]

    def tables(self, known: Sequence[str]) -> list[str]:
        """The source tables that the program may read."""
        text = " ".join(self.statements)
        return [name for name in known if name in text]

    @property
    def made(self) -> list[str]:
        """The objects that the program makes."""
        return [match.group(1) for text in self.statements if (match := _MADE.match(text))]

    def may_read(self, column: str) -> bool:
        """Whether a column may matter: its name or a star occurs somewhere."""
        text = " ".join(self.statements)
        return ".*" in text or "select *" in text or re.search(rf"\b{column}\b", text) is not None


class Source(msgspec.Struct, frozen=True):
    """An item of FROM: its alias, its columns, and those that together are unique."""

    alias: str
    columns: Columns
    key: tuple[str, ...] | None = None


class Scope(msgspec.Struct, frozen=True):
    """What an expression may name; `merged` are the columns that USING made one, `qualified` forbids bare names."""

    sources: tuple[Source, ...]
    merged: Columns = ()
    outer: "Scope | None" = None
    qualified: bool = False

    def columns(self, kind: str) -> list[str]:
        """Every way to name a column of a kind in this query."""
        merged = [name for name, _ in self.merged]
        found = [name for name, own in self.merged if own == kind and not self.qualified]
        names = [name for source in self.sources for name, _ in source.columns]
        for source in self.sources:
            for name, own in source.columns:
                if own == kind and name not in merged:
                    found.append(f"{source.alias}.{name}")
                    if names.count(name) == 1 and self.outer is None and not self.qualified:
                        found.append(name)
        return found

    def outer_columns(self, kind: str) -> list[str]:
        """The columns of the queries around this one."""
        if self.outer is None:
            return []
        return [f"{one.alias}.{name}" for one in self.outer.sources for name, own in one.columns if own == kind]

    def keys(self) -> list[str] | None:
        """Columns that together tell all rows apart, or None."""
        if self.merged or any(source.key is None for source in self.sources):
            return None
        return [f"{source.alias}.{name}" for source in self.sources for name in source.key or ()]


class Query(msgspec.Struct, frozen=True):
    """A query, its columns, and those that together are unique."""

    text: str
    columns: Columns
    key: tuple[str, ...] | None = None


class ProgramWriter:
    """Writes one program of an engine's syntax."""

    def __init__(self, syntax: Syntax, chance: Random) -> None:
        """Start with the source tables."""
        self.syntax = syntax
        self.chance = chance
        self.count = 0
        self.constructs: set[str] = set()
        self.commons: list[tuple[str, Query]] = []
        self.tables: dict[str, Columns] = {
            name: tuple(columns.items()) for name, columns in TABLES.items() if name not in (LEDGER, JOURNAL)
        }
        if syntax.nested:
            self.tables[NESTED_TABLE] = tuple(NESTED_COLUMNS.items())

    # ── chance ───────────────────────────────────────────────────────────────────────────────────────────────────

    def flip(self, share: float, construct: str = "") -> bool:
        """True in a share of the cases; notes the construct then."""
        if self.chance.random() >= share:
            return False
        if construct:
            self.constructs.add(construct)
        return True

    def has(self, construct: str, share: float) -> bool:
        """True in a share of the cases, where the engine has the construct."""
        return construct in self.syntax.constructs and self.flip(share, construct)

    def name(self, stem: str = "a") -> str:
        """A new alias."""
        self.count += 1
        return f"{stem}{self.count}"

    # ── programs ─────────────────────────────────────────────────────────────────────────────────────────────────

    def program(self) -> Program:
        """A query, or a script."""
        if "ctas" in self.syntax.constructs and self.flip(0.35):
            return self.script()
        query = self.query(self.chance.choice([0, 0, 1, 1, 2]))
        return self.finish([f"{CREATE_RESULT}{self.with_clause(query.text)}"], [RESULT])

    def finish(self, statements: Sequence[str], targets: Sequence[str]) -> Program:
        """A program of these statements."""
        return Program(tuple(statements), tuple(targets), frozenset(self.constructs))

    def with_clause(self, text: str) -> str:
        """A query behind the common table expressions that it reads."""
        if not self.commons:
            return text
        recursive = "recursive " if self.syntax.recursive_word and "recursive cte" in self.constructs else ""
        made = ", ".join(f"{name} as ({query.text})" for name, query in self.commons)
        self.commons = []
        return f"with {recursive}{made} {text}"

    def script(self) -> Program:
        """Temporary tables and views that read each other, and statements that change a table."""
        statements, targets = [], []
        for _ in range(self.chance.randint(0, 2)):
            name = self.name("made")
            query = self.query(1)
            kind = self.chance.choice(self.syntax.made)
            if kind == "view" and any(source.startswith("made") for source in self.tables):
                kind = "table"
            self.constructs.add(f"create {kind} as")
            statements.append(f"create {kind} {name} as {self.with_clause(query.text)}")
            self.tables[name] = query.columns
            targets += [name] if kind in ("table", "view") else []
        ways = [way for way in DML_WRITERS if way in self.syntax.constructs]
        for _ in range(self.chance.randint(1, 2)):
            way = self.chance.choice(ways)
            self.constructs.add(way)
            statements.append(DML_WRITERS[way](self))
        changed = [name for name in (LEDGER, JOURNAL) if any(name in statement for statement in statements)]
        return self.finish(statements, [*targets, *changed])

    # ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────

    def query(self, depth: int, outer: Scope | None = None, kinds: Sequence[str] | None = None) -> Query:
        """A select, a set operation of two, or either behind an order and a limit."""
        if depth > 0 and outer is None and self.flip(0.3, "cte"):
            self.commons.append(self.common(depth - 1))
        made = self.select(depth, outer, kinds)
        if depth > 0 and self.flip(0.18):
            made = self.set_operation(made, outer)
        elif outer is None and self.flip(0.12, "limit"):
            order = ", ".join(str(at) for at in range(1, len(made.columns) + 1))
            limit = self.chance.randint(1, 4)
            offset = f" offset {self.chance.randint(0, 2)}" if self.flip(0.3, "offset") else ""
            inner, alias = f"{made.text} order by {order} limit {limit}{offset}", self.name()
            if set(dict(made.columns).values()) <= {INT, TEXT, DATE, DECIMAL}:
                return msgspec.structs.replace(made, text=f"select {alias}.* from ({inner}) as {alias}")
        return made

    def common(self, depth: int) -> tuple[str, Query]:
        """A common table expression, once in a while a recursive one."""
        if "recursive cte" in self.syntax.constructs and self.flip(0.25, "recursive cte"):
            return self.recursion()
        name, query = self.name("c"), self.query(depth)
        if self.flip(0.3, "column list of a cte"):
            columns = tuple((f"h{at}", kind) for at, (_, kind) in enumerate(query.columns))
            return f"{name}({', '.join(own for own, _ in columns)})", Query(query.text, columns)
        return name, query

    def recursion(self) -> tuple[str, Query]:
        """A common table expression that counts up to a limit, or walks from key to key."""
        name, alias = self.name("c"), self.name()
        header = f"{name}(step, a, b)"
        columns = (("step", INT), ("a", INT), ("b", TEXT))
        if self.flip(0.5):
            text = (
                f"select 0, {alias}.k, {alias}.s from orders as {alias} union all "
                f"select {name}.step + 1, {name}.a + 1, {name}.b from {name} where {name}.step < 3"
            )
        else:
            text = (
                f"select 0, {alias}.n, {alias}.s from people as {alias} where {alias}.id < 4 union all "
                f"select {name}.step + 1, t.m, t.r from {name} join items as t on t.k = {name}.a where {name}.step < 2"
            )
        return header, Query(text, columns)

    def set_operation(self, first: Query, outer: Scope | None) -> Query:
        """Two queries, one below the other."""
        word = self.chance.choices(SET_WORDS, (5, 4, 2, 1))[0]
        kinds = [kind for _, kind in first.columns]
        if any(kind in (LIST, STRUCT) for kind in kinds):
            return first
        self.constructs.add(word)
        if word == "intersect":  # of computed values nothing would be in both
            first, second = self.plain_select(kinds), self.plain_select(kinds)
        else:
            second = self.select(0, outer, kinds)
        return Query(f"{first.text} {word} {second.text}", first.columns)

    def plain_select(self, kinds: Sequence[str]) -> Query:
        """A select of columns of one table, which has many values."""
        source, text = self.source(0)
        items, columns = self.outputs(-1, Scope((source,)), kinds, window=False)
        return Query(f"select {', '.join(items)} from {text}", columns)

    def select(self, depth: int, outer: Scope | None, kinds: Sequence[str] | None = None) -> Query:
        """A select with some of its clauses."""
        scope, text = self.sources(depth, outer)
        where = f" where {self.condition(depth, scope)}" if self.flip(0.4, "where") else ""
        if self.flip(0.25, "group by"):
            return self.grouping(depth, scope, text + where, kinds)
        if kinds is None and self.flip(0.15):
            starred = self.star(scope, text + where)
            if starred is not None:
                return starred
        items, columns = self.outputs(depth, scope, kinds, window=True)
        distinct = "distinct " if self.flip(0.1, "distinct") else ""
        made = f"select {distinct}{', '.join(items)} from {text}{where}"
        if self.has("qualify", 0.12) and not distinct:
            made += f" qualify {self.rank(scope)} <= {self.chance.randint(1, 3)}"
        return Query(made, columns)

    def star(self, scope: Scope, rest: str) -> Query | None:
        """A select of a star, where no two columns have one name."""
        source = self.chance.choice(scope.sources)
        if scope.merged:
            return None
        self.constructs.add("star")
        star, columns = f"{source.alias}.*", list(source.columns)
        if self.has("star exclude", 0.4) and len(columns) > 1:
            out = self.chance.choice(columns)[0]
            columns = [(name, kind) for name, kind in columns if name != out]
            star += f" exclude ({out})"
        elif self.has("star replace", 0.4):
            name, kind = self.chance.choice(columns)
            if kind in (LIST, STRUCT):
                return None
            star += f" replace ({self.value(kind, scope, 1)} as {name})"
        return Query(f"select {star} from {rest}", tuple(columns))

    def outputs(
        self, depth: int, scope: Scope, kinds: Sequence[str] | None, *, window: bool
    ) -> tuple[list[str], Columns]:
        """A select list, no two items of one name."""
        wanted = list(kinds) if kinds is not None else self.draw_kinds(scope)
        names = self.chance.sample(OUTPUT_NAMES, len(wanted)) if len(wanted) <= len(OUTPUT_NAMES) else []
        names = names or [f"o{at}" for at in range(len(wanted))]
        items, columns = [], []
        for name, kind in zip(names, wanted, strict=True):
            value = self.window(kind, scope) if window and self.flip(0.14) else ""
            items.append(f"{value or self.value(kind, scope, depth + 1)} as {name}")
            columns.append((name, kind))
        return items, tuple(columns)

    def grouping(self, depth: int, scope: Scope, rest: str, kinds: Sequence[str] | None) -> Query:
        """A select of keys and aggregates."""
        wanted = list(kinds) if kinds is not None else self.draw_kinds(scope)
        items, by, columns = [], [], []
        for at, kind in enumerate(wanted):
            name = f"g{at}"
            if kind in (INT, TEXT, DATE, DECIMAL) and (at == 0 or self.flip(0.3)):
                text = self.value(kind, scope, 0) if self.flip(0.8) else self.value(kind, scope, 1)
                if not any(sign in text for sign in ".(") and not text.isidentifier():
                    text = self.column(kind, scope) or text
                if text.lstrip("-").isdigit():  # a number would be a position
                    text = f"({text} + 0)"
                by.append(text)
            else:
                text = self.aggregate(kind, scope)
            items.append(f"{text} as {name}")
            columns.append((name, kind))
        unique = len(by) > 1 or any(text.rpartition(".")[2] == "id" for text in by)
        having = f" having {self.aggregate_condition(scope, 0 if unique else 1)}" if self.flip(0.25, "having") else ""
        if not by:
            return Query(f"select {', '.join(items)} from {rest}{having}", tuple(columns))
        words = ", ".join(by)
        if len(by) > 1 and self.has("rollup", 0.3):
            words = f"rollup ({words})"
        elif len(by) > 1 and self.has("grouping sets", 0.3):
            words = f"grouping sets (({words}), ({by[0]}))"
        elif self.has("group by position", 0.2):
            words = ", ".join(
                str(at + 1) for at, item in enumerate(items) if any(item.startswith(f"{own} as") for own in by)
            )
        return Query(f"select {', '.join(items)} from {rest} group by {words}{having}", tuple(columns))

    # ── FROM ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def sources(self, depth: int, outer: Scope | None) -> tuple[Scope, str]:
        """A FROM clause, and what the rest of the query may name."""
        first, text = self.source(depth)
        scope = Scope((first,), outer=outer)
        for _ in range(self.chance.choice([0, 0, 0, 1, 1, 2])):
            if self.has("lateral", 0.12) and depth > 0:
                scope, text = self.lateral(depth, scope, text)
            elif self.has("unnest", 0.15) and scope.columns(LIST):
                alias, own = self.name(), self.chance.choice(scope.columns(LIST))
                scope = self.with_source(scope, Source(alias, (("tag", TEXT),)))
                text += f", unnest({own}) as {alias}(tag)"
            else:
                scope, text = self.join(depth, scope, text)
        return scope, text

    def with_source(self, scope: Scope, source: Source) -> Scope:
        """The scope with one more source."""
        return Scope((*scope.sources, source), scope.merged, scope.outer)

    def source(self, depth: int) -> tuple[Source, str]:
        """A table, a common table expression or a derived table."""
        alias = self.name()
        if depth > 0 and self.flip(0.2, "derived table"):
            query = self.query(depth - 1) if self.flip(0.85) or "pivot" not in self.syntax.constructs else self.pivot()
            return Source(alias, query.columns, query.key), f"({query.text}) as {alias}"
        if self.commons and self.flip(0.5):
            name, query = self.chance.choice(self.commons)
            return Source(alias, query.columns), f"{name.partition('(')[0]} as {alias}"
        if self.has("values", 0.05):
            rows = ", ".join(f"({at}, '{word}')" for at, word in enumerate(("a", "b", "c")))
            return Source(alias, (("v", INT), ("w", TEXT)), ("v",)), f"(values {rows}) as {alias}(v, w)"
        made = [name for name in self.tables if name.startswith("made")]
        table = self.chance.choice(made) if made and self.flip(0.5) else self.chance.choice(list(self.tables))
        key = ("id",) if table in TABLES or table == NESTED_TABLE else None
        return Source(alias, self.tables[table], key), f"{table} as {alias}"

    def pivot(self) -> Query:
        """A table with a column for each of some values, or a row for each of some columns."""
        if self.flip(0.5, "pivot"):
            inner = "select k, s, n from orders"
            text = f"select * from ({inner}) pivot (sum(n) for s in ('a' as in_a, 'b' as in_b))"
            return Query(text, (("k", INT), ("in_a", INT), ("in_b", INT)))
        self.constructs.add("unpivot")
        text = "select * from (select id, k, m from items) unpivot (value for label in (k, m))"
        return Query(text, (("id", INT), ("label", TEXT), ("value", INT)))

    def join(self, depth: int, scope: Scope, text: str) -> tuple[Scope, str]:
        """One more source, joined in one of the ways there are."""
        added, written = self.source(depth)
        both = self.with_source(scope, added)
        side = self.chance.choice([one for one in JOIN_WORDS if one in self.syntax.constructs])
        self.constructs.add(side)
        if side in ("cross join", "comma"):
            if side == "comma" and scope.merged:
                side = "cross join"
            return both, f"{text}{', ' if side == 'comma' else ' cross join '}{written}"
        if side in ("semi join", "anti join"):
            return scope, f"{text} {side} {written} on {self.tie(scope, added)}"
        shared = [pair for pair in scope.sources[0].columns if pair in added.columns and pair[1] == INT]
        if len(scope.sources) == 1 and shared and not scope.merged and self.has("using", 0.3):
            chosen = self.chance.choice(shared)
            return Scope(both.sources, (chosen,), scope.outer), f"{text} {side} {written} using ({chosen[0]})"
        return both, f"{text} {side} {written} on {self.tie(scope, added)}"

    def tie(self, scope: Scope, added: Source) -> str:
        """A condition between what is there and what is added."""
        right = Scope((added,))
        kinds = [kind for kind in (INT, INT, INT, TEXT, DATE) if scope.columns(kind) and right.columns(kind)]
        if not kinds:
            return "1 = 1"
        kind = self.chance.choice(kinds)
        left = [one for one in scope.columns(kind) if "." in one] or scope.columns(kind)
        own = [one for one in right.columns(kind) if "." in one]
        sign = self.chance.choice(["=", "=", "=", "=", "<="])
        text = f"{self.chance.choice(left)} {sign} {self.chance.choice(own)}"
        if self.flip(0.2, "condition in on"):
            text += f" and {self.comparison(right)}"
        return text

    def lateral(self, depth: int, scope: Scope, text: str) -> tuple[Scope, str]:
        """A derived table that sees the sources before it."""
        inner, rest = self.sources(0, scope)
        items, columns = self.outputs(0, inner, None, window=False)
        tie = self.correlated(inner)
        alias = self.name()
        made = f"(select {', '.join(items)} from {rest} where {tie}) as {alias}"
        return self.with_source(scope, Source(alias, columns)), f"{text} cross join lateral {made}"

    def correlated(self, inner: Scope) -> str:
        """A condition between a subquery and the query around it."""
        kinds = [kind for kind in (INT, INT, TEXT) if inner.columns(kind) and inner.outer_columns(kind)]
        if not kinds:
            return self.comparison(inner)
        kind = self.chance.choice(kinds)
        own = [one for one in inner.columns(kind) if "." in one] or inner.columns(kind)
        return f"{self.chance.choice(own)} = {self.chance.choice(inner.outer_columns(kind))}"

    # ── conditions ───────────────────────────────────────────────────────────────────────────────────────────────

    def condition(self, depth: int, scope: Scope) -> str:
        """A condition of WHERE."""
        if depth > 0 and self.flip(0.3):
            return self.subquery_condition(scope)
        text = self.comparison(scope)
        if self.flip(0.3):
            text = f"{text} {self.chance.choice(['and', 'or'])} {self.comparison(scope)}"
        return f"not ({text})" if self.flip(0.1) else text

    def comparison(self, scope: Scope) -> str:
        """A condition on columns."""
        kind = self.kind(scope)
        columns = [one for one in scope.columns(kind) if one.rpartition(".")[2] != "id"] or scope.columns(kind)
        if not columns:
            return "1 = 1"
        own = self.chance.choice(columns)
        other = self.chance.choice([one for one in scope.columns(kind) if one != own] or [own])
        form = self.chance.choice([form for form in COMPARISONS if f"{{{kind}}}" in form or "{any}" in form])
        return form.format(
            int=own,
            text=own,
            date=own,
            any=own,
            other=other,
            number=self.chance.randint(0, 3),
            least=self.chance.randint(0, 1),
            word=self.chance.choice("abc"),
            day=self.literal(DATE),
        )

    def subquery_condition(self, scope: Scope) -> str:
        """EXISTS, IN or a comparison with a subquery."""
        inner, rest = self.sources(0, Scope(scope.sources, scope.merged))
        form = self.chance.choice(
            ["exists", "not exists", "in", "not in", "compare", *(["any"] if "any" in self.syntax.constructs else [])]
        )
        self.constructs.add(f"{form} subquery")
        columns, tie = inner.columns(INT), self.correlated(inner)
        left = self.column(INT, scope)
        own = self.chance.choice(columns) if columns else None
        if own is None or left is None:
            return f"exists (select 1 from {rest} where {tie})"
        match form:
            case "exists" | "not exists":
                return f"{form} (select 1 from {rest} where {tie})"
            case "in" | "not in":
                more = f" where {tie}" if self.flip(0.4) else ""
                return f"{left} {form} (select {own} from {rest}{more})"
            case "any":
                return f"{left} > any (select {own} from {rest})"
            case _:
                return f"{left} > (select min({own}) from {rest} where {tie})"

    # ── values ───────────────────────────────────────────────────────────────────────────────────────────────────

    def kind(self, scope: Scope) -> str:
        """A kind of value, of which there are columns if there are any."""
        kinds = (INT, INT, INT, TEXT, TEXT, DATE, DECIMAL)
        return self.chance.choice([kind for kind in kinds if scope.columns(kind)] or kinds)

    def draw_kinds(self, scope: Scope) -> list[str]:
        """The kinds of one to three outputs."""
        return [self.kind(scope) for _ in range(self.chance.randint(1, 3))]

    def column(self, kind: str, scope: Scope) -> str | None:
        """A column in scope, or None."""
        columns = scope.columns(kind)
        if scope.outer is not None and self.flip(0.2) and scope.outer_columns(kind):
            return self.chance.choice(scope.outer_columns(kind))
        return self.chance.choice(columns) if columns else None

    def literal(self, kind: str) -> str:
        """A constant."""
        match kind:
            case "int":
                return str(self.chance.randint(0, 4))
            case "text":
                return f"'{self.chance.choice('abc')}'"
            case "date":
                return self.syntax.date.format(draw_value(DATE, self.chance))
            case _:
                return f"{self.chance.randint(0, 4)}.5"

    def value(self, kind: str, scope: Scope, depth: int) -> str:
        """An expression of a kind."""
        if depth <= 0 or self.flip(0.35):
            return self.column(kind, scope) or self.literal(kind)
        if depth > 1 and self.flip(0.1) and kind != DATE:
            return self.scalar_subquery(kind, scope)
        form = self.chance.choice(self.syntax.forms[kind])
        self.constructs.add(form.construct)
        return self.fill(form.text, scope, depth - 1)

    def fill(self, text: str, scope: Scope, depth: int) -> str:
        """A form with its holes filled, from left to right."""
        parts = HOLE.split(text)
        return "".join(self.hole(part, scope, depth) if at % 2 else part for at, part in enumerate(parts))

    def hole(self, hole: str, scope: Scope, depth: int) -> str:
        """What stands for a hole."""
        if hole == "condition":
            return self.comparison(scope)
        if hole.startswith("column "):
            kind = hole.partition(" ")[2]
            return self.column(kind, scope) or _NOTHING[kind]
        return self.value(hole, scope, depth)

    def scalar_subquery(self, kind: str, scope: Scope) -> str:
        """A subquery for one value, tied to the query around it or not."""
        self.constructs.add("scalar subquery")
        inner, rest = self.sources(0, Scope(scope.sources, scope.merged))
        columns = inner.columns(kind)  # an aggregate of outer columns alone would belong to the outer query
        own = self.chance.choice(columns) if columns else self.literal(kind)
        where = f" where {self.correlated(inner)}" if self.flip(0.7) else ""
        return f"(select max({own}) from {rest}{where})"

    def aggregate(self, kind: str, scope: Scope) -> str:
        """An aggregate of a kind."""
        form = self.chance.choice(self.syntax.aggregates[kind])
        self.constructs.add(form.construct)
        text = self.fill(form.text, scope, 1)
        if form.filters and self.has("filter", 0.15):
            text += f" filter (where {self.comparison(scope)})"
        return text

    def aggregate_condition(self, scope: Scope, least: int) -> str:
        """A condition of HAVING; groups by a key have one row."""
        return f"{self.chance.choice(['count(*)', self.aggregate(INT, scope)])} > {least}"

    def window(self, kind: str, scope: Scope) -> str:
        """A function over a window, or nothing where none gives the kind."""
        self.constructs.add("window")
        scope = self.window_scope(scope)
        keys, groups = scope.keys(), self.group_columns(scope)
        partition = f"partition by {self.chance.choice(groups)} " if groups and self.flip(0.6) else ""
        order = self.column(self.chance.choice([INT, TEXT, DATE]), scope)
        value = self.value(kind, scope, 1)
        if order is None:
            return ""
        if keys is not None and self.flip(0.5):
            total = f"order by {', '.join([order, *keys])}"
            forms = [
                f"lag({value}) over ({partition}{total})",
                f"lead({value}, 1) over ({partition}{total})",
                f"first_value({value}) over ({partition}{total})",
                f"last_value({value}) over ({partition}{total} rows between 1 preceding and 1 following)",
            ]
            if kind == INT:
                forms.append(f"row_number() over ({partition}{total})")
            return self.chance.choice(forms)
        if kind == INT and self.flip(0.5):
            return self.rank(scope)
        frame = f"order by {order}" if self.flip(0.6) else ""
        word = self.chance.choice(["min", "max", "sum"] if kind in (INT, DECIMAL) else ["min", "max"])
        return f"{word}({value}) over ({partition}{frame})"

    def window_scope(self, scope: Scope) -> Scope:
        """What an expression inside OVER may name."""
        return msgspec.structs.replace(scope, qualified=True) if self.syntax.aliases_in_windows else scope

    def group_columns(self, scope: Scope) -> list[str]:
        """Columns by which rows fall into groups of several."""
        return [name for name in scope.columns(INT) if name.rpartition(".")[2] != "id"]

    def rank(self, scope: Scope) -> str:
        """A rank, which equal rows share."""
        scope = self.window_scope(scope)
        groups = self.group_columns(scope)
        partition = f"partition by {self.chance.choice(groups)} " if groups and self.flip(0.6) else ""
        order = self.column(self.chance.choice([INT, TEXT, DATE]), scope) or self.column(INT, scope) or "1"
        word = self.chance.choice(["rank", "dense_rank"])
        return f"{word}() over ({partition}order by {order}{' desc' * self.flip(0.3)})"

    # ── DML ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def journal_query(self) -> Query:
        """A query whose columns fit the journal."""
        return self.query(1, kinds=list(TABLES[JOURNAL].values()))

    def insert(self) -> str:
        """INSERT of a query by position."""
        query = self.journal_query()
        return f"insert into {JOURNAL} {self.with_clause(query.text)}"

    def insert_columns(self) -> str:
        """INSERT with a list of columns."""
        names = self.chance.sample(list(TABLES[JOURNAL]), self.chance.randint(1, 4))
        query = self.query(1, kinds=[TABLES[JOURNAL][name] for name in names])
        return f"insert into {JOURNAL} ({', '.join(names)}) {self.with_clause(query.text)}"

    def update(self) -> str:
        """UPDATE by the table's own columns and subqueries."""
        scope = Scope((Source("ledger", tuple(TABLES["ledger"].items())),))
        name, kind = self.chance.choice([("k", INT), ("n", INT), ("s", TEXT), ("d", DATE)])
        more = f" where {self.condition(1, scope)}" if self.flip(0.7) else ""
        return f"update ledger set {name} = {self.value(kind, scope, 2)}{more}"

    def update_from(self) -> str:
        """UPDATE from a table that has one row for each of the ledger's keys."""
        name, kind = self.chance.choice([("k", INT), ("n", INT), ("s", TEXT), ("d", DATE)])
        table = self.chance.choice(["orders", "people"])
        scope = Scope((Source("ledger", tuple(TABLES["ledger"].items())), Source("o", tuple(TABLES[table].items()))))
        value = self.value(kind, scope, 1)
        more = f" and {self.comparison(scope)}" if self.flip(0.4) else ""
        return f"update ledger set {name} = {value} from {table} as o where ledger.id = o.id{more}"

    def update_join(self) -> str:
        """MySQL: UPDATE of a join, with one row for each of the ledger's keys."""
        name, kind = self.chance.choice([("k", INT), ("n", INT), ("s", TEXT), ("d", DATE)])
        table = self.chance.choice(["orders", "people"])
        scope = Scope((Source("ledger", tuple(TABLES["ledger"].items())), Source("o", tuple(TABLES[table].items()))))
        value = self.value(kind, scope, 1)
        more = f" where {self.comparison(scope)}" if self.flip(0.4) else ""
        return f"update ledger join {table} as o on ledger.id = o.id set ledger.{name} = {value}{more}"

    def delete(self) -> str:
        """DELETE by a condition."""
        scope = Scope((Source("ledger", tuple(TABLES["ledger"].items())),))
        return f"delete from ledger where {self.condition(1, scope)}"

    def delete_using(self) -> str:
        """DELETE of rows that another table knows."""
        scope = Scope((Source("ledger", tuple(TABLES["ledger"].items())), Source("o", tuple(TABLES["items"].items()))))
        more = f" and {self.comparison(scope)}" if self.flip(0.5) else ""
        return f"delete from ledger using items as o where ledger.k = o.k{more}"

    def merge(self) -> str:
        """MERGE of a table by its key."""
        table = self.chance.choice(["orders", "people"])
        own, other = Source("t", tuple(TABLES["ledger"].items())), Source("o", tuple(TABLES[table].items()))
        both, alone = Scope((own, other)), Scope((other,))
        name, kind = self.chance.choice([("k", INT), ("n", INT), ("s", TEXT), ("d", DATE)])
        more = f" and {self.comparison(both)}" if self.flip(0.4) else ""
        update = f"when matched{more} then update set {name} = {self.value(kind, both, 1)}"
        gone = f" when matched and {self.comparison(alone)} then delete" if self.flip(0.3) else ""
        values = ", ".join(["o.id", self.value(INT, alone, 1), self.value(TEXT, alone, 1)])
        added = f" when not matched then insert (id, n, s) values ({values})"
        return f"merge into ledger as t using {table} as o on t.id = o.id {update}{gone}{added}"

    def upsert(self) -> str:
        """INSERT … ON CONFLICT."""
        return (
            "insert into ledger (id, k, s) select o.id, o.k, o.s from orders as o where 1 = 1 "
            "on conflict (id) do update set k = excluded.k, s = ledger.s || excluded.s"
        )

    def upsert_duplicate(self) -> str:
        """MySQL: INSERT … ON DUPLICATE KEY UPDATE."""
        return (
            "insert into ledger (id, k, s) select o.id, o.k, o.s from orders as o "
            "on duplicate key update k = values(k), s = concat(ledger.s, values(s))"
        )


_NOTHING = {LIST: "['a']", STRUCT: "{'a': 1, 'b': 'x'}", INT: "1", TEXT: "'a'", DECIMAL: "1.5"}

SET_WORDS = ("union all", "union", "except", "intersect")

JOIN_WORDS = (
    "join",
    "inner join",
    "left join",
    "left join",
    "right join",
    "full join",
    "cross join",
    "comma",
    "semi join",
    "anti join",
)

COMPARISONS = (
    "{int} > {number}",
    "{int} <= {number}",
    "{int} >= 1",
    "{int} in ({number}, 3)",
    "{text} = '{word}'",
    "{text} <> '{word}'",
    "{text} like '{word}%'",
    "{date} > {day}",
    "({any} is null or {any} <= {other})",  # alone, it contradicts most other conditions
    "{any} is not null",
    "{any} = {other}",
    "{any} <= {other}",
    "{int} between {least} and {number} + 1",
    "coalesce({int}, 2) > {number}",
)

DML_WRITERS: Mapping[str, Callable[[ProgramWriter], str]] = {
    "insert": ProgramWriter.insert,
    "insert with columns": ProgramWriter.insert_columns,
    "update": ProgramWriter.update,
    "update from": ProgramWriter.update_from,
    "update join": ProgramWriter.update_join,
    "delete": ProgramWriter.delete,
    "delete using": ProgramWriter.delete_using,
    "merge": ProgramWriter.merge,
    "upsert": ProgramWriter.upsert,
    "on duplicate key": ProgramWriter.upsert_duplicate,
}
"""Statements that change the ledger."""


def write_program(syntax: Syntax, seed: int) -> Program:
    """The program of a number, always the same."""
    return ProgramWriter(syntax, Random(f"{syntax.dialect} {seed}")).program()
