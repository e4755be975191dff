"""The cells of the grid: all that a grammar has to show, one by one."""

from collections.abc import Iterator
from dataclasses import dataclass

from lineage_pipeline_tests.oracles.generator.grammar import GROUPED, WHOLE, Function, Grammar, Kind, Operator


@dataclass(frozen=True)
class Cell:
    """One place of the grid: a dimension, a row of it, and what the row meets there."""

    dimension: str
    row: str
    place: str


@dataclass(frozen=True)
class Item:
    """What a column of a query is to show: an operator over a pair, or a function of a kind."""

    cell: Cell
    way: Operator | Function
    left: Kind | None = None
    right: Kind | None = None


def items(grammar: Grammar) -> list[Item]:
    """Everything that stands in a select list without groups."""
    found = [_pair("operators", grammar, row, pair) for row in grammar.operators for pair in grammar.pairs(row)]
    for dimension, rows in (("functions", grammar.functions), ("windows", grammar.windows)):
        for row in rows:
            found += [Item(_of(dimension, row, kind), row, kind) for kind in _firsts(grammar, row)]
    for kind in grammar.kinds:
        for literal in kind.literals:
            found.append(Item(Cell("literals", literal, kind.name), Function("literals", literal)))
    return found


def aggregates(grammar: Grammar) -> list[Item]:
    """Every aggregate of every kind, over all rows and group by group."""
    return [
        Item(Cell("aggregates", row.text, f"{kind.name if kind else ''} {how}".strip()), row, kind)
        for row in grammar.aggregates
        for kind in _firsts(grammar, row)
        for how in (WHOLE, GROUPED)
    ]


def sets(grammar: Grammar) -> list[Item]:
    """Every set operation over every pair of kinds."""
    return [_pair("set operations", grammar, row, pair) for row in grammar.sets for pair in grammar.pairs(row)]


def clauses(grammar: Grammar) -> list[Cell]:
    """What stands around a select list: joins, sources, filters, groups."""
    return [
        *(Cell("joins", row.name, "") for row in grammar.joins),
        *(Cell("sources", row, "") for row in grammar.sources),
        *(Cell("filters", row, "") for row in grammar.filters),
        *(Cell("groups", row, "") for row in grammar.groupings),
    ]


def cells(grammar: Grammar) -> list[Cell]:
    """Every cell that must not stay empty."""
    made = [*items(grammar), *aggregates(grammar), *sets(grammar)]
    return [*(item.cell for item in made), *clauses(grammar)]


def _pair(dimension: str, grammar: Grammar, row: Operator, pair: tuple[Kind, Kind]) -> Item:
    return Item(Cell(dimension, row.name, f"{pair[0].name} {pair[1].name}"), row, *pair)


def _of(dimension: str, row: Function, kind: Kind | None) -> Cell:
    family = f"{row.family}: {row.text}" if dimension == "functions" else row.text
    return Cell(dimension, family, kind.name if kind else "")


def _firsts(grammar: Grammar, row: Function) -> Iterator[Kind | None]:
    """The kinds that the first hole of a text takes."""
    if not row.first:
        yield None
    else:
        yield from grammar.members(row.first)
