"""The grid: what an engine has against its types, and how many of the cells a run has filled."""

from collections import defaultdict
from collections.abc import Callable, Mapping

from lineage_pipeline_tests.oracles.generator.cells import Cell, cells
from lineage_pipeline_tests.oracles.generator.grammar import Grammar

Rows = dict[str, dict[str, list[Cell]]]
"""The cells of each row by the type that they meet first."""


def grid(grammar: Grammar, seen: Mapping[Cell, int]) -> list[str]:
    """Every operator, function, aggregate, window and set operation against the types, and every clause by itself."""
    return _drawn(grammar, seen, lambda cell: f"{cell.dimension}: {cell.row}")


def summary(grammar: Grammar, seen: Mapping[Cell, int]) -> list[str]:
    """The grid with one row for each dimension, and one for each family of functions."""
    return _drawn(grammar, seen, _family)


def _family(cell: Cell) -> str:
    if cell.dimension != "functions":
        return cell.dimension
    return f"functions of {cell.row.partition(':')[0]}"


def _drawn(grammar: Grammar, seen: Mapping[Cell, int], row_of: Callable[[Cell], str]) -> list[str]:
    """A line for each row: how many cells it has with each type; what is missing is shown as a part of that."""
    columns = [kind.name for kind in grammar.kinds] + [""]
    rows: Rows = defaultdict(lambda: defaultdict(list))
    for cell in cells(grammar):
        meets = cell.place.split(" ")[0]
        rows[row_of(cell)][meets if meets in columns else ""].append(cell)
    width = max(len(name) for name in rows) + 1
    sizes = [max(len(name) + 1, 6) for name in columns]
    lines = [" " * width + "".join(f"{name or '-':>{size}}" for name, size in zip(columns, sizes, strict=True))]
    for name, found in rows.items():
        shown = "".join(f"{_count(found[at], seen):>{size}}" for at, size in zip(columns, sizes, strict=True))
        lines.append(f"{name:{width}}{shown}")
    return lines


def _count(wanted: list[Cell], seen: Mapping[Cell, int]) -> str:
    """How many cells there are and, where one is empty, how many are not."""
    full = sum(1 for cell in wanted if seen.get(cell))
    if not wanted:
        return "·"
    return str(full) if full == len(wanted) else f"{full}/{len(wanted)}"
