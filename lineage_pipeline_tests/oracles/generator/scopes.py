"""What an expression may name, and the chance that decides what it does."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from lineage_pipeline_tests.oracles.generator.grammar import HOLE, Grammar, Kind

T = TypeVar("T")
TABLES = ("t1", "t2", "t3")
"""The tables of every engine."""


@dataclass(frozen=True)
class Column:
    """A column: what names it, and its kind."""

    text: str
    kind: str


@dataclass(frozen=True)
class Scope:
    """The columns that can be named, and by which kind."""

    columns: tuple[Column, ...]

    def of(self, kind: str) -> list[Column]:
        """The columns of a kind."""
        return [column for column in self.columns if column.kind == kind]


def table_columns(grammar: Grammar, qualifier: str) -> tuple[Column, ...]:
    """The columns of a table under a name: of every kind one that may be null and one that may not."""
    pairs = [(f"{qualifier}.{kind.name}_{ending}", kind.name) for kind in grammar.kinds for ending in ("n", "r")]
    return tuple(Column(text, kind) for text, kind in pairs)


def tables(grammar: Grammar, seed: int) -> dict[str, str]:
    """The tables that queries read: by name, their columns as a list of definitions."""
    chance = Random(f"tables {grammar.dialect} {seed}")
    found = {}
    for name in TABLES:
        columns = [f"id {'int' if name == TABLES[0] else 'bigint'} not null", "key int"]
        for kind in grammar.kinds:
            columns.append(f"{kind.name}_n {chance.choice(kind.spellings)}")
            columns.append(f"{kind.name}_r {chance.choice(kind.spellings)} not null")
        found[name] = ", ".join(columns)
    return found


class Values:
    """Writes values: columns, constants, and whatever gives the kind that is asked for."""

    def __init__(self, grammar: Grammar, chance: Random) -> None:
        self.grammar = grammar
        self.chance = chance
        self.giving: dict[str, list[str]] = {}
        for row in grammar.functions:
            if row.gives and "table" not in row.text:
                self.giving.setdefault(row.gives, []).append(row.text)

    def sometimes(self, share: int) -> bool:
        """True once in so many times."""
        return self.chance.randrange(share) == 0

    def one_of(self, items: Sequence[T]) -> T:
        """One of several."""
        return items[self.chance.randrange(len(items))]

    def filled(self, text: str, scope: Scope, depth: int, first: Kind | None = None) -> str:
        """A text with its holes filled; the first thing that it takes is of a given kind."""
        table, left = self.one_of(TABLES), [first]

        def fill(match: re.Match[str]) -> str:
            hole = match[1]
            if hole == "table":
                return table
            if hole.startswith("q."):
                inner = Scope(table_columns(self.grammar, "q"))
                return self.column(self.one_of(self.grammar.members(hole[2:])), inner)
            if hole in ("window", "frame"):
                return self.window(scope, hole == "frame")
            kind = left.pop() if left else None
            return self.operand(kind or self.one_of(self.grammar.members(hole)), scope, depth)

        return HOLE.sub(fill, text)

    def pair(self, text: str, left: Kind, right: Kind, scope: Scope, depth: int) -> str:
        """A text over a pair of kinds."""
        first, second = self.operand(left, scope, depth), self.operand(right, scope, depth)
        text = text.replace("{0}", first).replace("{1}", second)
        return self.filled(text.replace("{type}", self.one_of(right.spellings)), scope, 0)

    def operand(self, kind: Kind, scope: Scope, depth: int) -> str:
        """A value of a kind."""
        if depth <= 0 or not self.sometimes(3):
            return self.column(kind, scope) if not self.sometimes(5) else self.one_of(kind.literals)
        ways = [*_KEEPING, *self.giving.get(kind.name, ())]
        text = self.one_of(ways).replace("{kind}", f"{{{kind.name}}}")
        text = text if _CALL.fullmatch(text) else f"({text})"
        return self.filled(text, scope, depth - 1)

    def column(self, kind: Kind, scope: Scope) -> str:
        """A column of a kind, or a constant where there is none."""
        columns = scope.of(kind.name)
        return self.one_of(columns).text if columns else self.one_of(kind.literals)

    def window(self, scope: Scope, framed: bool) -> str:
        """The inside of OVER: what it puts together, in which order, and how far it looks."""
        keys = [column for column in scope.columns if column.kind in ("int", "string", "date")]
        parts = [f"partition by {self.one_of(keys).text}"] if self.sometimes(2) else []
        if not framed or self.sometimes(2):
            parts.append(f"order by {self.one_of(keys).text}{' desc' if self.sometimes(4) else ''}")
            parts += [self.one_of(_FRAMES)] if framed and self.sometimes(3) else []
        return " ".join(parts)


_KEEPING = (
    "coalesce({kind}, {kind})",
    "case when {boolean} then {kind} end",
    "case when {boolean} then {kind} else {kind} end",
)
"""What leaves a kind as it is, in every engine."""

_CALL = re.compile(r"\w+\(.*\)|case .* end")
"""What needs no brackets around it."""

_FRAMES = (
    "rows between 1 preceding and current row",
    "rows between unbounded preceding and unbounded following",
    "range between unbounded preceding and current row",
)
