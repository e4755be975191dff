"""The writer of generated queries: deals out the cells of the grid, and writes around them what else a query has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from random import Random
from typing import Generic, TypeVar

from lineage_pipeline_tests.oracles.generator import cells
from lineage_pipeline_tests.oracles.generator.cells import Cell, Item
from lineage_pipeline_tests.oracles.generator.grammar import GROUPED, WHOLE, Function, Grammar
from lineage_pipeline_tests.oracles.generator.scopes import TABLES, Scope, Values, table_columns

T = TypeVar("T")
ROWS = "rows"
"""The form of queries that put nothing together."""

SPARE = 1.4
"""How often every cell is dealt, at least."""


@dataclass(frozen=True)
class Generated:
    """A query, what each of its columns is to show, and what it shows as a whole."""

    sql: str
    columns: tuple[str, ...]
    cells: tuple[Cell, ...]


class Deck(Generic[T]):
    """Cards that are dealt one by one; when all are gone, they are shuffled again."""

    def __init__(self, cards: Sequence[T], chance: Random) -> None:
        self.cards = list(cards)
        self.chance = chance
        self.left: list[T] = []

    def deal(self) -> T:
        """The next card."""
        if not self.left:
            self.left = list(self.cards)
            self.chance.shuffle(self.left)
        return self.left.pop()

    def hand(self, count: int) -> list[T]:
        """Several cards."""
        return [self.deal() for _ in range(count)]


class Writer:
    """Writes the queries of one engine, one after the other."""

    def __init__(self, grammar: Grammar, chance: Random) -> None:
        self.grammar = grammar
        self.values = Values(grammar, chance)
        self.joins = Deck(grammar.joins, chance)
        self.sources = Deck(grammar.sources, chance)
        self.filters = Deck(grammar.filters, chance)
        self.groupings = Deck(grammar.groupings, chance)
        forms: dict[str, list[Item]] = {ROWS: cells.items(grammar)}
        for item in cells.aggregates(grammar):
            forms.setdefault(GROUPED if item.cell.place.endswith(GROUPED) else WHOLE, []).append(item)
        for item in cells.sets(grammar):
            forms.setdefault(item.cell.row, []).append(item)
        self.forms = {form: Deck(made, chance) for form, made in forms.items()}
        self.shown: list[Cell] = []

    def query(self, form: str, width: int) -> Generated:
        """A query of one form."""
        self.shown = []
        write = {ROWS: self.rows, WHOLE: self.rows, GROUPED: self.groups}.get(form, self.united)
        sql, columns = write(self.forms[form].hand(width))
        return Generated(sql, tuple(columns), tuple(self.shown))

    def rows(self, made: Sequence[Item]) -> tuple[str, list[str]]:
        """A select without groups; a column that a join merges is shown, too."""
        source, scope = self.source()
        merged = ["id"] if "using (id)" in source and made[0].cell.dimension != "aggregates" else []
        columns = [*merged, *self.columns(made, scope)]
        return f"select {', '.join(columns)} from {source}{self.filter(scope)}", columns

    def columns(self, made: Sequence[Item], scope: Scope) -> list[str]:
        """A select list."""
        return [self.named(self.written(item, scope), position) for position, item in enumerate(made)]

    def groups(self, made: Sequence[Item]) -> tuple[str, list[str]]:
        """A select that puts rows together by keys."""
        source, scope = self.source()
        keys = [self.values.one_of(scope.of(kind)).text for kind in ("int", "string")]
        grouping = self.groupings.deal()
        self.shown.append(Cell("groups", grouping, ""))
        columns = [*keys, *self.columns(made, scope)]
        by = grouping.replace("{0}", keys[0]).replace("{1}", keys[1])
        return f"select {', '.join(columns)} from {source}{self.filter(scope)} {by}", columns

    def united(self, made: Sequence[Item]) -> tuple[str, list[str]]:
        """A set operation of two selects."""
        sides = []
        for kinds in ([item.left for item in made], [item.right for item in made]):
            source, scope = self.source()
            sides.append((source, [self.values.operand(kind, scope, 1) for kind in kinds if kind is not None]))
        self.shown += [item.cell for item in made]
        columns = [f"{text} as c{position}" for position, text in enumerate(sides[0][1])]
        first = f"select {', '.join(columns)} from {sides[0][0]}"
        second = f"select {', '.join(sides[1][1])} from {sides[1][0]}"
        pairs = [f"{text} / {other}" for text, other in zip(columns, sides[1][1], strict=True)]
        return made[0].way.text.replace("{0}", first).replace("{1}", second), pairs

    def written(self, item: Item, scope: Scope) -> str:
        """What shows an item."""
        self.shown.append(item.cell)
        depth = self.values.chance.randrange(3)
        if isinstance(item.way, Function):
            return self.values.filled(item.way.text, scope, depth, item.left)
        assert item.left is not None and item.right is not None
        return self.values.pair(item.way.text, item.left, item.right, scope, depth)

    def named(self, text: str, position: int) -> str:
        """A column of a select list; once in a while the engine has to name it."""
        share = self.grammar.unnamed
        return text if share and self.values.sometimes(share) else f"{text} as c{position}"

    def source(self) -> tuple[str, Scope]:
        """What stands behind FROM: one source, or a join of two."""
        left, scope = self.one("a")
        if not self.values.sometimes(2):
            return left, scope
        right, other = self.one("b")
        join = self.joins.deal()
        self.shown.append(Cell("joins", join.name, ""))
        condition = f"{self.of_kind('int', scope)} = {self.of_kind('int', other)}"
        text = join.text.replace("{left}", left).replace("{right}", right).replace("{condition}", condition)
        return text, scope if join.tests else Scope((*scope.columns, *other.columns))

    def of_kind(self, kind: str, scope: Scope) -> str:
        """A value of a kind by its name."""
        return self.values.column(self.grammar.by_class[kind][0], scope)

    def one(self, alias: str) -> tuple[str, Scope]:
        """One source under an alias: a table, or a query over one."""
        text, table = self.sources.deal(), self.values.one_of(TABLES)
        self.shown.append(Cell("sources", text, ""))
        inner = Scope(table_columns(self.grammar, "s"))
        text = text.replace("{alias}", alias).replace("{name}", table)
        text = text.replace("{filter}", self.filter(inner) if "{filter}" in text else "")
        return text, Scope(table_columns(self.grammar, alias))

    def filter(self, scope: Scope) -> str:
        """A WHERE clause, or nothing."""
        if not self.values.sometimes(2):
            return ""
        text = self.filters.deal()
        self.shown.append(Cell("filters", text, ""))
        return f" where {self.values.filled(text, scope, 0)}"


def generate(grammar: Grammar, seed: int, count: int) -> Iterator[Generated]:
    """So many queries, the same for the same seed; together they deal out every cell, and a few again."""
    writer = Writer(grammar, Random(f"{grammar.dialect} {seed}"))
    sizes = {form: len(deck.cards) for form, deck in writer.forms.items()}
    width = max(3, ceil(SPARE * sum(sizes.values()) / count))
    for form in _spread(sizes, count):
        yield writer.query(form, width)


def _spread(sizes: Mapping[str, int], count: int) -> Iterator[str]:
    """The forms in turn, each as often as its size asks for."""
    done = dict.fromkeys(sizes, 0)
    for _ in range(count):
        form = min(sizes, key=lambda name: (done[name] + 1) / sizes[name])
        done[form] += 1
        yield form
