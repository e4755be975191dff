"""Set operations in canonical text: when the same branches stand in another order."""

from collections.abc import Mapping, Sequence

from lineage_pipeline.engine.diff.renames import PROJECTION

SET_OPERATION = "set operation"

BRANCH = " | "
"""What stands between the branches of a set operation in the canonical text of a column."""

BY_NAME = " by name"

ORDERED = ("except", "recursion", "values")
"""Set operations whose branches do not change places, by how they begin."""

Texts = Mapping[tuple[str, str], str]


def goes_by_place(facets: Mapping[str, str]) -> bool:
    """Say whether a statement puts the columns of branches together by their places, and not by their names."""
    return any(BY_NAME not in line for line in facets.get(SET_OPERATION, "").splitlines())


def same_branches(before: Texts, after: Texts) -> bool:
    """Say whether one set operation has the same branches, and every column got its values along with them."""
    said = before.get((SET_OPERATION, "*"), "")
    if not said or "\n" in said or said.startswith(ORDERED) or said != after.get((SET_OPERATION, "*"), ""):
        return False
    old, new = _branches(before), _branches(after)
    if old.keys() != new.keys() or old == new:
        return False
    # A text that branches share stands there once: it says nothing about their order.
    told = [name for name in old if len(old[name]) > 1 or len(new[name]) > 1]
    rows = _rows([old[name] for name in told]), _rows([new[name] for name in told])
    return all(old[name] == new[name] for name in old if name not in told) and rows[0] == rows[1] != []


def _rows(columns: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Give what each branch puts into the columns, in some order; nothing where branches cannot be told apart."""
    if len({len(parts) for parts in columns}) != 1:
        return []
    return sorted(zip(*columns, strict=True))


def _branches(texts: Texts) -> dict[str, list[str]]:
    return {column: text.split(BRANCH) for (name, column), text in texts.items() if name == PROJECTION}
