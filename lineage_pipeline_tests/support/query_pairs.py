"""Pairs of queries: one meaning written twice at random, or two meanings that a known edit tells apart."""

import random
from collections.abc import Sequence

import msgspec

TABLES = {
    "t": "create table t (a int, b int, c varchar, d int);",
    "u": "create table u (a int, e int, f varchar);",
    "w": "create table w (a int, g int);",
}
"""Tables that share the column a; values repeat and are missing in every column."""

COLUMNS = {"t": "abcd", "u": "aef", "w": "ag"}

NUMBERS = {"t": "abd", "u": "ae", "w": "ag"}


class Join(msgspec.Struct, frozen=True):
    """A table joined by a column of the first one; `extra` is a further condition on its own rows."""

    kind: str
    table: str
    column: str
    extra: "Filter | None" = None


class Filter(msgspec.Struct, frozen=True):
    """A condition on a column of a table."""

    table: str
    column: str
    form: str
    values: tuple[int, ...]


class WrittenQuery(msgspec.Struct, frozen=True):
    """A query, and the views that it reads, each with its query."""

    views: tuple[tuple[str, str], ...]
    text: str

    @property
    def script(self) -> str:
        """The statements that make the views."""
        return " ".join(f"create view {name} as {query};" for name, query in self.views)


class Meaning(msgspec.Struct, frozen=True):
    """What a query asks for: joins over t, filters, and how rows become outputs."""

    joins: tuple[Join, ...]
    filters: tuple[Filter, ...]
    mode: str
    keys: tuple[tuple[str, str], ...]
    value: tuple[str, str]
    measure: str = "sum"
    having: int | None = None
    fallback: int = 0
    branches: tuple["Meaning", ...] = ()
    union: str = "union all"
    asked: Filter | None = None


def draw_meaning(chance: random.Random, *, nested: bool = True) -> Meaning:
    """A meaning at random."""
    others = chance.sample(["u", "w"], chance.randint(0, 2))
    joins = tuple(
        Join(
            chance.choice(["join", "left join"]),
            table,
            chance.choice("abd"),
            draw_filter(chance, [table]) if chance.random() < 0.4 else None,
        )
        for table in others
    )
    tables = ["t", *others]
    inner = ["t", *(join.table for join in joins if join.kind == "join")]
    filters = tuple(
        draw_filter(chance, inner if chance.random() < 0.8 else tables) for _ in range(chance.randint(0, 3))
    )
    mode = chance.choice(["plain", "plain", "group", "group", "distinct", "window", *(["union"] if nested else [])])
    keys = tuple(dict.fromkeys(draw_column(chance, tables) for _ in range(2)))
    meaning = Meaning(
        joins=joins,
        filters=filters,
        mode=mode,
        keys=keys,
        value=draw_number(chance, tables),
        measure=chance.choice(["sum", "min", "max", "count", "rows", "some"]),
        having=chance.randint(0, 3) if chance.random() < 0.5 else None,
        fallback=chance.randint(0, 2),
        asked=draw_filter(chance, ["w"]) if chance.random() < 0.25 else None,
    )
    if mode != "union":
        return meaning
    branches = tuple(
        msgspec.structs.replace(draw_meaning(chance, nested=False), mode="plain", keys=(("t", "a"),)) for _ in range(2)
    )
    return msgspec.structs.replace(
        meaning, branches=branches, union=chance.choice(["union all", "union"]), joins=(), filters=(), asked=None
    )


def draw_column(chance: random.Random, tables: Sequence[str]) -> tuple[str, str]:
    table = chance.choice(tables)
    return table, chance.choice(COLUMNS[table])


def draw_number(chance: random.Random, tables: Sequence[str]) -> tuple[str, str]:
    table = chance.choice(tables)
    return table, chance.choice(NUMBERS[table])


def draw_filter(chance: random.Random, tables: Sequence[str]) -> Filter:
    table, column = draw_number(chance, tables)
    form = chance.choice(["in", "between", "more", "less", "present", "not", "absent"])
    values = tuple(chance.sample(range(5), 2))
    return Filter(table, column, form, values)


# ── writing a meaning ────────────────────────────────────────────────────────────────────────────────────────────


class Writer:
    """Writes a meaning as SQL; whatever may be written in several ways is drawn."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.ctes: list[tuple[str, str]] = []
        self.count = 0

    def flip(self, share: float = 0.5) -> bool:
        return self.chance.random() < share

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}_{self.chance.randint(0, 9)}"

    def write(self, meaning: Meaning) -> WrittenQuery:
        """The query; the first of its CTEs may be views of their own."""
        query = self.query(meaning)
        if self.flip(0.3):
            name = self.name("q")
            self.ctes.append((name, query))
            query = f"select * from {name}"
        elif self.flip(0.2):
            query = f"select * from ({query}) as {self.name('q')}"
        apart = self.chance.randint(0, len(self.ctes)) if self.flip(0.3) else 0
        inner = ", ".join(f"{name} as ({text})" for name, text in self.ctes[apart:])
        return WrittenQuery(tuple(self.ctes[:apart]), f"with {inner} {query}" if inner else query)

    def query(self, meaning: Meaning) -> str:
        if meaning.mode == "union":
            parts = [self.query(branch) for branch in meaning.branches]
            if self.flip():
                parts.reverse()
            return f" {meaning.union} ".join(parts)
        names, origin, conditions = self.origin(meaning)
        keys = [(f"k{at}", f"{names[table]}.{column}") for at, (table, column) in enumerate(meaning.keys)]
        where = f" where {' and '.join(conditions)}" if conditions else ""
        value = f"{names[meaning.value[0]]}.{meaning.value[1]}"
        write = {"plain": self.plain, "group": self.group, "distinct": self.distinct, "window": self.window}
        return write[meaning.mode](meaning, keys, value, origin + where)

    def plain(self, meaning: Meaning, keys: list[tuple[str, str]], value: str, rest: str) -> str:
        outputs = [f"{text} as {name}" for name, text in keys] + [f"{self.fallback(value, meaning.fallback)} as v"]
        return f"select {', '.join(outputs)} from {rest}"

    def distinct(self, meaning: Meaning, keys: list[tuple[str, str]], value: str, rest: str) -> str:
        shown = ", ".join(f"{text} as {name}" for name, text in keys)
        if self.flip():
            return f"select distinct {shown} from {rest}"
        return f"select {shown} from {rest} group by {self.list_keys(keys)}"

    def list_keys(self, keys: list[tuple[str, str]]) -> str:
        if self.flip(0.3):
            return ", ".join(str(at) for at in range(1, len(keys) + 1))
        texts = [text for _, text in keys]
        self.chance.shuffle(texts)
        return ", ".join(texts)

    def group(self, meaning: Meaning, keys: list[tuple[str, str]], value: str, rest: str) -> str:
        measure = self.measure(meaning.measure, value, meaning.fallback)
        shown = [*(f"{text} as {name}" for name, text in keys), f"{measure} as m"]
        query = f"select {', '.join(shown)} from {rest} group by {self.list_keys(keys)}"
        if meaning.having is None:
            return query
        if self.flip():
            return f"{query} having {self.compare(measure, meaning.having)}"
        outer = self.name("g")
        names = ", ".join(f"{outer}.{name}" for name in [*(name for name, _ in keys), "m"])
        return f"select {names} from ({query}) as {outer} where {self.compare(f'{outer}.m', meaning.having)}"

    def window(self, meaning: Meaning, keys: list[tuple[str, str]], value: str, rest: str) -> str:
        parts = f"partition by {keys[0][1]} order by {', '.join([value, *(text for _, text in keys[1:])])}"
        shown = ", ".join(f"{text} as {name}" for name, text in keys)
        rank = f"rank() over ({parts})"
        if self.flip():
            return f"select {shown} from {rest} qualify {rank} = 1"
        outer = self.name("r")
        names = ", ".join(f"{outer}.{name}" for name, _ in keys)
        return f"select {names} from (select {shown}, {rank} as r from {rest}) as {outer} where {outer}.r = 1"

    def measure(self, kind: str, value: str, bound: int) -> str:
        if kind == "rows":
            return self.chance.choice(["count(*)", "count(1)"])
        if kind == "some":
            condition = f"{value} > {bound}"
            if self.flip():
                return f"sum({value}) filter (where {condition})"
            return f"sum(case when {condition} then {value}{' else null' * self.flip()} end)"
        return f"{kind}({value})"

    def compare(self, value: str, bound: int) -> str:
        return self.chance.choice([f"{value} > {bound}", f"{bound} < {value}", f"not ({value} <= {bound})"])

    def fallback(self, value: str, bound: int) -> str:
        return self.chance.choice(
            [
                f"coalesce({value}, {bound})",
                f"case when {value} is null then {bound} else {value} end",
                f"case when {value} is not null then {value} else {bound} end",
            ]
        )

    # ── FROM ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def origin(self, meaning: Meaning) -> tuple[dict[str, str], str, list[str]]:
        """The aliases, the FROM clause and the conditions of WHERE."""
        aliases = {table: self.name("x") for table in ("t", "u", "w")}
        early: dict[str, list[str]] = {}
        conditions = []
        outer = {join.table for join in meaning.joins if join.kind == "left join"}
        for one in meaning.filters:
            if one.table not in outer and self.flip(0.4):
                early.setdefault(one.table, []).append(self.condition(one, ""))
            else:
                conditions.append(self.condition(one, f"{aliases[one.table]}."))
        if meaning.asked is not None:
            conditions.append(self.ask(meaning.asked, f"{aliases['t']}.b"))
        parts = [(self.source("t", aliases["t"], early.get("t", [])), "", "")]
        left: list[tuple[str, str, str]] = []
        for join in meaning.joins:
            tie = [f"{aliases['t']}.{join.column}", f"{aliases[join.table]}.a"]
            self.chance.shuffle(tie)
            on = [" = ".join(tie)]
            own = list(early.get(join.table, []))
            if join.extra is not None:
                if self.flip():
                    own.append(self.condition(join.extra, ""))
                else:
                    on.append(self.condition(join.extra, f"{aliases[join.table]}."))
            self.chance.shuffle(on)
            merged = len(meaning.joins) == len(on) == 1 and join.column == "a" and self.flip()
            clause = "using (a)" if merged else f"on {' and '.join(on)}"
            part = (self.source(join.table, aliases[join.table], own), join.kind, clause)
            (left if join.kind == "left join" else parts).append(part)
        self.chance.shuffle(left)
        text = self.join_parts(parts, left, conditions)
        self.chance.shuffle(conditions)
        return aliases, text, conditions

    def join_parts(
        self, parts: list[tuple[str, str, str]], left: list[tuple[str, str, str]], conditions: list[str]
    ) -> str:
        if len(parts) == 2 and not left and parts[1][2].startswith("on ") and self.flip(0.4):  # noqa: PLR2004
            conditions.append(parts[1][2].removeprefix("on "))
            sources = [parts[0][0], parts[1][0]]
            self.chance.shuffle(sources)
            return ", ".join(sources)
        if len(parts) == 2 and self.flip(0.4):  # noqa: PLR2004
            parts = [(parts[1][0], "", ""), (parts[0][0], "inner join", parts[1][2])]
        rest = [*parts[1:], *left]
        if self.flip(0.4) and not any(" = " in kind for _, kind, _ in rest):
            head, rest = rest[: len(parts) - 1], rest[len(parts) - 1 :]
            order = [*rest, *head] if parts[0][1] == "" and self.flip() and len(parts) == 1 else [*head, *rest]
            rest = order
        return " ".join([parts[0][0], *(f"{kind} {source} {clause}" for source, kind, clause in rest)])

    def source(self, table: str, alias: str, own: Sequence[str]) -> str:
        where = f" where {' and '.join(own)}" if own else ""
        if not own and self.flip():
            return f"{table} as {alias}"
        listed = "*" if self.flip() else ", ".join(COLUMNS[table])
        query = f"select {listed} from {table}{where}"
        if self.flip():
            name = self.name("c")
            self.ctes.append((name, query))
            return f"{name} as {alias}"
        return f"({query}) as {alias}"

    def ask(self, condition: Filter, value: str) -> str:
        inner = self.name("y")
        own = self.condition(condition, f"{inner}.")
        if self.flip():
            return f"{value} in (select {inner}.a from w as {inner} where {own})"
        shown = self.chance.choice(["1", f"{inner}.g", "*"])
        return f"exists (select {shown} from w as {inner} where {own} and {inner}.a = {value})"

    def condition(self, one: Filter, prefix: str) -> str:
        column, (low, high) = f"{prefix}{one.column}", sorted(one.values)
        forms = {
            "in": [
                f"{column} in ({low}, {high})",
                f"{column} in ({high}, {low})",
                f"({column} = {low} or {column} = {high})",
                f"({high} = {column} or {column} in ({low}))",
            ],
            "between": [
                f"{column} between {low} and {high}",
                f"{column} >= {low} and {column} <= {high}",
                f"not ({column} < {low} or {column} > {high})",
            ],
            "more": [f"{column} > {low}", f"{low} < {column}", f"not ({column} <= {low})"],
            "less": [f"{column} <= {high}", f"{high} >= {column}", f"not ({high} < {column})"],
            "present": [f"{column} is not null", f"not ({column} is null)"],
            "not": [f"{column} <> {low}", f"not ({column} = {low})", f"{column} not in ({low})"],
            "absent": [
                f"nullif({column}, {low}) is null",
                f"case when {column} = {low} then null else {column} end is null",
            ],
        }
        return self.chance.choice(forms[one.form])


# ── edits ────────────────────────────────────────────────────────────────────────────────────────────────────────


def edit_meaning(chance: random.Random, meaning: Meaning) -> Meaning:
    """A meaning after one edit, which most often is another one."""
    made = _EDITS[chance.randrange(len(_EDITS))](chance, meaning)
    return made if made != meaning else edit_meaning(chance, meaning)


def _edit_filter(chance: random.Random, meaning: Meaning) -> Meaning:
    tables = ["t", *(join.table for join in meaning.joins)]
    if meaning.mode == "union":
        branch = _edit_filter(chance, meaning.branches[0])
        return msgspec.structs.replace(meaning, branches=(branch, *meaning.branches[1:]))
    if meaning.filters and chance.random() < 0.5:
        return msgspec.structs.replace(meaning, filters=meaning.filters[1:])
    return msgspec.structs.replace(meaning, filters=(*meaning.filters, draw_filter(chance, tables)))


def _edit_join(chance: random.Random, meaning: Meaning) -> Meaning:
    if not meaning.joins:
        return meaning
    first, *others = meaning.joins
    kind = "join" if first.kind == "left join" else "left join"
    column = chance.choice("abd")
    changed = chance.choice(
        [
            msgspec.structs.replace(first, kind=kind),
            msgspec.structs.replace(first, column=column),
            msgspec.structs.replace(first, extra=None if first.extra else draw_filter(chance, [first.table])),
        ]
    )
    return msgspec.structs.replace(meaning, joins=(changed, *others))


def _edit_place(chance: random.Random, meaning: Meaning) -> Meaning:
    """Move a condition between ON and WHERE."""
    for at, join in enumerate(meaning.joins):
        if join.extra is not None:
            joins = [*meaning.joins]
            joins[at] = msgspec.structs.replace(join, extra=None)
            return msgspec.structs.replace(meaning, joins=tuple(joins), filters=(*meaning.filters, join.extra))
    return meaning


def _edit_mode(chance: random.Random, meaning: Meaning) -> Meaning:
    if meaning.mode == "union":
        return msgspec.structs.replace(meaning, union="union" if meaning.union == "union all" else "union all")
    having = None if meaning.having is not None else 1
    return chance.choice(
        [
            msgspec.structs.replace(meaning, having=having) if meaning.mode == "group" else meaning,
            msgspec.structs.replace(meaning, measure=chance.choice(["sum", "min", "max", "count", "rows"])),
            msgspec.structs.replace(meaning, fallback=meaning.fallback + 1),
            msgspec.structs.replace(meaning, asked=None if meaning.asked else draw_filter(chance, ["w"])),
        ]
    )


_EDITS = (_edit_filter, _edit_join, _edit_place, _edit_mode)
