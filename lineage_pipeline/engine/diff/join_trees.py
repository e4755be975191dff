"""One form of joins: a tree of sources in which only what an engine may not exchange has an order.

Trees are nested tuples: `("leaf", source)`, `("inner", trees, conditions)`, `("left", preserved, other, conditions)`,
`("full", one, other, conditions)`, `("semi", kept, asked, conditions, anti)`, and `("row", joins)` for sources that see
those before them, which stay as they are. In the form, left joins over one core are `("lefts", core, joins)`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lineage_pipeline.engine.diff.expression_forms import Expr, find_rejected_sources
from lineage_pipeline.engine.diff.query_sources import find_sources

Tree = tuple[Any, ...]

LeftJoin = tuple[Tree, tuple[Expr, ...]]


def list_leaves(tree: Tree) -> Iterator[int]:
    """The sources of a tree."""
    kind = tree[0]
    if kind == "leaf":
        yield tree[1]
    elif kind == "inner":
        for child in tree[1]:
            yield from list_leaves(child)
    elif kind == "lefts":
        yield from list_leaves(tree[1])
        for other, _ in tree[2]:
            yield from list_leaves(other)
    elif kind == "row":
        yield from (source for _, source, _ in tree[1])
    else:
        yield from list_leaves(tree[1])
        yield from list_leaves(tree[2])


def arrange_joins(tree: Tree) -> Tree:
    """The form of a tree of joins."""
    kind = tree[0]
    if kind == "inner":
        return _arrange_inner([arrange_joins(child) for child in tree[1]], tree[2])
    if kind == "left":
        return _arrange_left(arrange_joins(tree[1]), arrange_joins(tree[2]), tree[3])
    if kind == "lefts":
        found = arrange_joins(tree[1])
        for other, conditions in tree[2]:
            found = _arrange_left(found, arrange_joins(other), conditions)
        return found
    if kind == "full":
        return ("full", arrange_joins(tree[1]), arrange_joins(tree[2]), tuple(tree[3]))
    if kind == "semi":
        asked, kept = _push_down(arrange_joins(tree[2]), tree[3])
        return ("semi", arrange_joins(tree[1]), asked, tuple(kept), tree[4])
    return tree


def _arrange_left(preserved: Tree, other: Tree, conditions: Iterable[Expr]) -> Tree:
    """Left joins over one core in a set.

    A condition on the other side alone only decides which of its rows can be partners: it may as well filter them.
    Left joins over the same rows are exchanged freely where neither's condition names the other's columns; where one
    does, it can only stand behind. So every order that is possible gives the same rows.
    """
    other, kept = _push_down(other, conditions)
    if preserved[0] == "lefts":
        return ("lefts", preserved[1], (*preserved[2], (other, tuple(kept))))
    return ("lefts", preserved, ((other, tuple(kept)),))


def _push_down(tree: Tree, conditions: Iterable[Expr]) -> tuple[Tree, list[Expr]]:
    """A tree with the conditions that name its own sources alone, and the other conditions."""
    own = set(list_leaves(tree))
    pushed, kept = list[Expr](), list[Expr]()
    for condition in conditions:
        named = find_sources(condition)
        (pushed if named and named <= own else kept).append(condition)
    return (_arrange_inner([tree], pushed) if pushed else tree), kept


def _arrange_inner(children: Sequence[Tree], conditions: Iterable[Expr]) -> Tree:
    """Inner joins and filters as a set of sources and a set of conditions, with left joins around.

    Inner joins are associative and commutative, and their conditions are filters. `(P LEFT JOIN N) JOIN C` is
    `(P JOIN C) LEFT JOIN N` where the condition of the join does not name N: each row of P meets the same rows of C and
    of N, in whatever order. A filter that no row with NULLs for N passes makes a left join an inner one.
    """
    flat, held = list[Tree](), list(conditions)
    for child in children:
        if child[0] == "inner":
            flat.extend(child[1])
            held.extend(child[2])
        else:
            flat.append(child)
    outer = [child for child in flat if child[0] == "lefts"]
    if not outer:
        return flat[0] if len(flat) == 1 and not held else ("inner", tuple(flat), tuple(held))
    if (tightened := _tighten_left_joins(flat, held)) is not None:
        return _arrange_inner(*tightened)
    nullable = {leaf for child in outer for other, _ in child[2] for leaf in list_leaves(other)}
    low = [one for one in held if not find_sources(one) & nullable]
    high = [one for one in held if find_sources(one) & nullable]
    cores = [child[1] if child[0] == "lefts" else child for child in flat]
    core = _arrange_inner(cores, low) if len(cores) > 1 or low else cores[0]
    joins = tuple(join for child in outer for join in child[2])
    made: Tree = ("lefts", core[1], (*core[2], *joins)) if core[0] == "lefts" else ("lefts", core, joins)
    return ("inner", (made,), tuple(high)) if high else made


def _tighten_left_joins(children: Sequence[Tree], conditions: Sequence[Expr]) -> tuple[list[Tree], list[Expr]] | None:
    """The children and conditions after one left join has become an inner one, or None where none does."""
    rejected = set().union(*map(find_rejected_sources, conditions)) if conditions else set()
    for at, child in enumerate(children):
        for join in child[2] if child[0] == "lefts" else ():
            other, on = join
            own = set(list_leaves(other))
            beside = {leaf for one, _ in child[2] if one is not other for leaf in list_leaves(one)}
            if not own & rejected or any(find_sources(one) & beside for one in on):
                continue
            others = tuple(one for one in child[2] if one is not join)
            core = child[1]
            inner: Tree = ("inner", (core, other), on)
            made: Tree = ("lefts", inner, others) if others else inner
            return [*children[:at], arrange_joins(made), *children[at + 1 :]], list(conditions)
    return None
