"""ROLLUP, CUBE and GROUPING SETS: the keys in them, and which of these group only some of the rows."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)
_CLAUSES = ("grouping_sets", "cube", "rollup")


def grouping_keys(group: exp.Expr) -> list[exp.Expr]:
    """The columns that group, however they are bracketed into sets."""
    return list(_flat([*group.expressions, *_clauses(group)]))


def partial_keys(group: exp.Expr) -> set[int]:
    """The ids of the keys that are missing from a grouping, and null in its rows."""
    sets = [*_clauses(group), *(key for key in group.expressions if isinstance(key, _SETS))]
    if not sets:
        return set()
    plain = [key for key in group.expressions if not isinstance(key, _SETS)]
    listed = [key for part in sets for key in _flat([part])]
    groupings = [names for part in sets for names in _groupings(part)]
    # WITH ROLLUP has no keys of its own; Hive lists all keys first, and the sets of them behind
    apart = listed and not {key.sql() for key in plain} & {key.sql() for key in listed}
    always = {key.sql() for key in plain} if apart else set()
    keys = [*plain, *listed]
    return {id(key) for key in keys if key.sql() not in always and not all(key.sql() in names for names in groupings)}


def grouping_words(group: exp.Expr) -> str:
    """What keys are bracketed into: ROLLUP, CUBE or GROUPING SETS."""
    named = [kind for kind in _CLAUSES if group.args.get(kind)]
    inside = [type(item).__name__ for item in group.expressions if isinstance(item, _SETS)]
    return " ".join([*named, *inside]).upper()


def _clauses(group: exp.Expr) -> list[exp.Expr]:
    """The clauses behind the keys."""
    return [part for kind in _CLAUSES for part in group.args.get(kind) or () if isinstance(part, exp.Expr)]


def _flat(nodes: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, (*_SETS, exp.Tuple)):
            yield from _flat(node.expressions)
        elif isinstance(node, exp.Paren):
            yield from _flat([node.this])
        else:
            yield node


def _groupings(part: exp.Expr) -> list[set[str]]:
    """The keys of each grouping that a part makes; ROLLUP and CUBE make one that has none."""
    if not isinstance(part, exp.GroupingSets):
        return [set()]
    return [
        names
        for item in part.expressions
        for names in (_groupings(item) if isinstance(item, _SETS) else [{key.sql() for key in _flat([item])}])
    ]
