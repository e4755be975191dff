"""What an engine has, as rows: its types, and the texts in which they occur.

A text names in braces what it takes: a kind of type (`{int}`), a class of kinds (`{number}`), or one of the words that
the writer knows (`{window}`, `{frame}`, `{table}`, and `{q.number}` for a column of that table). An operator takes a
pair: `{0}` and `{1}`, or `{type}` for the second one's name.
"""

import re
from dataclasses import dataclass
from functools import cached_property

HOLE = re.compile(r"\{([\w.]+)\}")
ANY = "any"
"""The class of all kinds that a column can have."""

WHOLE, GROUPED = "whole", "grouped"
"""How rows are put together: all of them, or group by group."""


@dataclass(frozen=True)
class Kind:
    """A type: how tables may spell it, how it is written out, and the classes that it belongs to."""

    name: str
    spellings: tuple[str, ...]
    literals: tuple[str, ...]
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operator:
    """A text over a pair of kinds; `takes` lists pairs of classes: `number|string number; date whole`."""

    name: str
    text: str
    takes: str


@dataclass(frozen=True)
class Function:
    """A text that gives a value; `gives` is its kind, where that is always the same."""

    family: str
    text: str
    gives: str = ""

    @cached_property
    def first(self) -> str:
        """The first thing that it takes, or nothing."""
        return next((hole for hole in HOLE.findall(self.text) if "." not in hole and hole not in WORDS), "")


WORDS = frozenset({"window", "frame", "table", "type"})


@dataclass(frozen=True)
class Join:
    """A join of `{left}` and `{right}` on a `{condition}`; one that tests shows the columns of its left side only."""

    name: str
    text: str
    tests: bool = False


@dataclass(frozen=True)
class Grammar:
    """All rows of one engine. `unnamed` is one of how many columns that has no alias, 0 for none."""

    dialect: str
    kinds: tuple[Kind, ...]
    operators: tuple[Operator, ...]
    functions: tuple[Function, ...]
    aggregates: tuple[Function, ...]
    windows: tuple[Function, ...]
    joins: tuple[Join, ...]
    sets: tuple[Operator, ...]
    groupings: tuple[str, ...]
    filters: tuple[str, ...]
    sources: tuple[str, ...]
    unnamed: int = 0

    @cached_property
    def by_class(self) -> dict[str, list[Kind]]:
        """The kinds of each class; every kind is a class of its own."""
        found: dict[str, list[Kind]] = {}
        for kind in self.kinds:
            for name in (kind.name, *kind.classes, ANY):
                found.setdefault(name, []).append(kind)
        return found

    def members(self, names: str) -> list[Kind]:
        """The kinds that classes stand for, `number|string`, in the order of the rows."""
        wanted = {kind.name for name in names.split("|") for kind in self.by_class[name]}
        return [kind for kind in self.kinds if kind.name in wanted]

    def pairs(self, operator: Operator) -> list[tuple[Kind, Kind]]:
        """The pairs of kinds that an operator takes."""
        found: dict[tuple[str, str], tuple[Kind, Kind]] = {}
        for pair in operator.takes.split(";"):
            lefts, rights = pair.split()
            for left in self.members(lefts):
                for right in self.members(rights):
                    found[left.name, right.name] = left, right
        return list(found.values())


def functions(family: str, gives: str, texts: str) -> tuple[Function, ...]:
    """The functions of a family that give one kind: their texts, between semicolons."""
    return tuple(Function(family, text.strip(), gives) for text in texts.split(";"))
