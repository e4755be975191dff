"""The shapes of statements that warehouses are made of, as rows: how often, in which layer, and who writes them."""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import NamedTuple

from benchmarks.words import COLUMNS, MIXTURE, SUBJECTS, type_of


class Column(NamedTuple):
    """A column: its name, and what kind of value it holds."""

    name: str
    kind: str


class Relation(NamedTuple):
    """A table or view that later statements may read."""

    name: str
    columns: tuple[Column, ...]

    def of(self, *kinds: str) -> list[Column]:
        """The columns of some kinds; never none."""
        return [column for column in self.columns if column.kind in kinds] or [self.columns[0]]


class Draw(NamedTuple):
    """What a shape works with: chance, the dialect, and the relations it may read, nearest last."""

    chance: Random
    dialect: str
    readable: Sequence[Relation]

    def source(self) -> Relation:
        """A relation to read, more likely one of the last."""
        near = int(self.chance.betavariate(2.5, 1) * len(self.readable))
        return self.readable[min(near, len(self.readable) - 1)]

    def some(self, columns: Sequence[Column], least: int, most: int) -> list[Column]:
        """Some of the columns, in their own order."""
        wanted = min(len(columns), self.chance.randint(least, most))
        return sorted(self.chance.sample(columns, wanted), key=columns.index)


class Made(NamedTuple):
    """A file: its SQL, and the columns of what it defines."""

    sql: str
    columns: tuple[Column, ...]


def _listed(items: Iterable[str], indent: str = "    ") -> str:
    return ",\n".join(indent + item for item in items)


def _unique(columns: Iterable[Column]) -> tuple[Column, ...]:
    return tuple({column.name: column for column in columns}.values())


def _fresh(name: str, columns: Iterable[Column]) -> str:
    """A name that none of the columns has."""
    taken = {column.name for column in columns}
    number = 1
    while (shown := name if number == 1 else f"{name}_{number}") in taken:
        number += 1
    return shown


def raw_table(draw: Draw, name: str) -> Made:
    """A table with a column list and a key."""
    chance = draw.chance
    columns = [Column("id", "key")]
    for _ in range(chance.randint(6, 30)):
        kind = chance.choice(MIXTURE)
        columns.append(Column(chance.choice(COLUMNS[kind]), kind))
    columns = list(_unique(columns))
    lines = [
        f"{column.name} {type_of(column.kind, draw.dialect)}{' not null' if chance.random() < 0.4 else ''}"
        for column in columns
    ]
    return Made(f"create table {name} (\n{_listed(lines)}\n);\n", tuple(columns))


def staged_view(draw: Draw, name: str) -> Made:
    """One source, column by column: cleaned, converted, defaulted."""
    source = draw.source()
    columns = draw.some(source.columns, 5, 25)
    items = [f"{_cleaned(draw, column)} as {column.name}" for column in columns]
    where = _condition(draw, "src", source)
    body = f"select\n{_listed(items)}\nfrom {source.name} as src\nwhere {where}"
    return Made(f"create view {name} as\n{body};\n", tuple(columns))


def _cleaned(draw: Draw, column: Column) -> str:
    kind = type_of(column.kind, draw.dialect)
    forms = {
        "text": (f"trim(upper(src.{column.name}))", f"coalesce(src.{column.name}, 'n/a')", f"src.{column.name}"),
        "amount": (f"cast(src.{column.name} as {kind})", f"coalesce(src.{column.name}, 0)", f"src.{column.name}"),
        "date": (f"cast(src.{column.name} as {kind})", f"src.{column.name}"),
        "flag": (f"case when src.{column.name} is null then 'N' else 'Y' end", f"src.{column.name}"),
    }
    return draw.chance.choice(forms.get(column.kind, (f"src.{column.name}",)))


def _condition(draw: Draw, alias: str, source: Relation) -> str:
    chance = draw.chance
    tests = {
        "key": "{} is not null",
        "text": "{} in ('A', 'B', 'C')",
        "amount": "{} > 0",
        "count": "{} between 1 and 1000",
        "date": "{} >= '2024-01-01'",
        "flag": "{} is not null",
    }
    used = draw.some(source.columns, 1, 3)
    joiner = chance.choice((" and ", " and ", " or "))
    return joiner.join(tests[column.kind].format(f"{alias}.{column.name}") for column in used)


def latest_rows(draw: Draw, name: str) -> Made:
    """The newest row of each key, by a numbered CTE and a star."""
    source = draw.source()
    key = draw.chance.choice(source.of("key"))
    newest = draw.chance.choice(source.of("date", "count"))
    window = f"row_number() over (partition by src.{key.name} order by src.{newest.name} desc)"
    position = _fresh("position_in_key", source.columns)
    body = (
        f"with numbered as (\n    select\n        src.*,\n        {window} as {position}\n"
        f"    from {source.name} as src\n)\n\nselect *\nfrom numbered\nwhere {position} = 1"
    )
    return Made(f"create view {name} as\n{body};\n", (*source.columns, Column(position, "count")))


def joined(draw: Draw, name: str) -> Made:
    """Two to five sources side by side."""
    chance = draw.chance
    sources = [draw.source() for _ in range(chance.randint(2, 5))]
    columns: list[Column] = []
    items: list[str] = []
    for position, source in enumerate(sources, 1):
        for column in draw.some(source.columns, 2, 9):
            shown = _fresh(column.name, columns)
            columns.append(Column(shown, column.kind))
            items.append(f"t{position}.{column.name}{f' as {shown}' if shown != column.name else ''}")
    ratio = _fresh("ratio", columns)
    items.append(f"{_ratio(draw, sources)} as {ratio}")
    columns.append(Column(ratio, "amount"))
    joins = [f"from {sources[0].name} as t1"]
    for position, source in enumerate(sources[1:], 2):
        left, right = chance.choice(sources[0].of("key")), chance.choice(source.of("key"))
        side = chance.choice(("inner join", "left join", "left join"))
        joins.append(f"{side} {source.name} as t{position}\n    on t1.{left.name} = t{position}.{right.name}")
    body = f"select\n{_listed(items)}\n" + "\n".join(joins) + f"\nwhere {_condition(draw, 't1', sources[0])}"
    return Made(f"create view {name} as\n{body};\n", tuple(columns))


def _ratio(draw: Draw, sources: Sequence[Relation]) -> str:
    over, under = draw.chance.choice(sources[0].of("amount", "count")), sources[1].of("amount", "count")[0]
    return f"case when t2.{under.name} = 0 then null else t1.{over.name} / t2.{under.name} end"


def cte_chain(draw: Draw, name: str) -> Made:
    """Two to six steps that read each other, the last one with a window."""
    chance = draw.chance
    source = draw.source()
    columns = draw.some(source.columns, 4, 14)
    steps = [
        f"step_1 as (\n    select\n{_listed((f'base.{c.name}' for c in columns), '        ')}\n"
        f"    from {source.name} as base\n    where {_condition(draw, 'base', source)}\n)"
    ]
    for number in range(2, chance.randint(2, 6) + 1):
        columns, step = _step(draw, number, columns)
        steps.append(step)
    last = f"step_{len(steps)}"
    relation = Relation(last, tuple(columns))
    key, value = chance.choice(relation.of("key", "text")), chance.choice(relation.of("amount", "count"))
    total = _fresh("running_total", columns)
    window = f"sum({last}.{value.name}) over (partition by {last}.{key.name}) as {total}"
    items = [*(f"{last}.{column.name}" for column in columns), window]
    body = "with " + ",\n\n".join(steps) + f"\n\nselect\n{_listed(items)}\nfrom {last}"
    return Made(f"create view {name} as\n{body};\n", (*columns, Column(total, "amount")))


def _step(draw: Draw, number: int, columns: list[Column]) -> tuple[list[Column], str]:
    """One more CTE: it derives a column, or joins a further source."""
    chance, before = draw.chance, f"step_{number - 1}"
    items = [f"{before}.{column.name}" for column in columns]
    added = Column(_fresh(f"derived_{number}", columns), "amount")
    value = chance.choice(Relation(before, tuple(columns)).of("amount", "count")).name
    if chance.random() < 0.5:
        items.append(f"coalesce({before}.{value}, 0) * {chance.randint(2, 99)} as {added.name}")
        return [*columns, added], f"step_{number} as (\n    select\n{_listed(items, '        ')}\n    from {before}\n)"
    other = draw.source()
    left, right = chance.choice(columns), chance.choice(other.of("key"))
    items.append(f"greatest({before}.{value}, extra.{chance.choice(other.of('amount', 'count')).name}) as {added.name}")
    join = (
        f"    from {before}\n    left join {other.name} as extra\n        on {before}.{left.name} = extra.{right.name}"
    )
    return [*columns, added], f"step_{number} as (\n    select\n{_listed(items, '        ')}\n{join}\n)"


def united(draw: Draw, name: str) -> Made:
    """The same columns out of two to four sources."""
    chance = draw.chance
    kinds = [chance.choice(MIXTURE) for _ in range(chance.randint(3, 10))]
    columns = _unique(Column(f"{kind}_{position}", kind) for position, kind in enumerate(kinds, 1))
    branches = []
    for position in range(1, chance.randint(2, 4) + 1):
        source = draw.source()
        picked = [f"{chance.choice(source.of(column.kind)).name} as {column.name}" for column in columns]
        branches.append(f"select\n    'source {position}' as origin,\n{_listed(picked)}\nfrom {source.name}")
    body = "\nunion all\n".join(branches)
    return Made(f"create view {name} as\n{body};\n", (Column("origin", "text"), *columns))


def starred(draw: Draw, name: str) -> Made:
    """All of one source, and a few columns of another."""
    first, second = draw.source(), draw.source()
    taken = {column.name for column in first.columns}
    extra = [column for column in draw.some(second.columns, 1, 5) if column.name not in taken]
    items = ["a.*", *(f"b.{column.name}" for column in extra)]
    key, other = draw.chance.choice(first.of("key")), draw.chance.choice(second.of("key"))
    join = f"from {first.name} as a\nleft join {second.name} as b\n    on a.{key.name} = b.{other.name}"
    return Made(f"create view {name} as\nselect\n{_listed(items)}\n{join};\n", _unique((*first.columns, *extra)))


def aggregated(draw: Draw, name: str) -> Made:
    """Sums and counts by a few keys, over a derived table, with a filter by subquery."""
    chance = draw.chance
    source, other = draw.source(), draw.source()
    keys = draw.some(source.of("key", "text", "date"), 1, 4)
    values = draw.some(source.of("amount", "count"), 1, 6)
    sums = [(f"{chance.choice(('sum', 'avg', 'min', 'max'))}(d.{c.name})", f"total_{c.name}") for c in values]
    items = [f"d.{column.name}" for column in keys]
    items += [f"{call} as {shown}" for call, shown in sums] + ["count(*) as row_count"]
    inner = _listed((column.name for column in _unique((*keys, *values))), "        ")
    member = f"d.{keys[0].name} in (select o.{chance.choice(other.of(keys[0].kind)).name} from {other.name} as o)"
    body = (
        f"select\n{_listed(items)}\nfrom (\n    select\n{inner}\n    from {source.name}\n) as d\nwhere {member}\n"
        f"group by\n{_listed(f'd.{column.name}' for column in keys)}\nhaving count(*) > {chance.randint(1, 9)}"
    )
    columns = (*keys, *(Column(shown, "amount") for _, shown in sums), Column("row_count", "count"))
    return Made(f"create view {name} as\n{body};\n", _unique(columns))


def loaded(draw: Draw, name: str) -> Made:
    """A table, emptied and filled by an INSERT with a column list."""
    source = draw.source()
    columns = draw.some(source.columns, 4, 16)
    lines = _listed(f"{column.name} {type_of(column.kind, draw.dialect)}" for column in columns)
    names = _listed(column.name for column in columns)
    values = _listed(f"s.{column.name}" for column in columns)
    insert = f"insert into {name} (\n{names}\n)\nselect\n{values}\nfrom {source.name} as s"
    create = f"create table {name} (\n{lines}\n);\n\ntruncate table {name};\n\n"
    return Made(f"{create}{insert}\nwhere {_condition(draw, 's', source)};\n", tuple(columns))


class Shape(NamedTuple):
    """A kind of file: its layer, how often it comes, how many statements it holds, and who writes it."""

    layer: str
    weight: int
    statements: int
    write: Callable[[Draw, str], Made]


SHAPES: tuple[Shape, ...] = (
    Shape("raw", 20, 1, raw_table),
    Shape("staging", 22, 1, staged_view),
    Shape("staging", 6, 1, latest_rows),
    Shape("core", 16, 1, joined),
    Shape("core", 10, 1, cte_chain),
    Shape("core", 5, 1, united),
    Shape("core", 4, 1, starred),
    Shape("core", 4, 3, loaded),
    Shape("mart", 10, 1, aggregated),
    Shape("mart", 3, 1, starred),
)

LAYERS = {"raw": (), "staging": ("raw",), "core": ("staging", "core"), "mart": ("core", "staging")}
"""The layers in order, and those that each of them reads."""


def object_name(chance: Random, layer: str, number: int) -> str:
    """A name that no other object of the repository has."""
    return f"{layer}.{chance.choice(SUBJECTS)}_{chance.choice(SUBJECTS)}_{number}"
