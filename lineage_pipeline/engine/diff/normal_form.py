"""The normal form of queries: two queries that have the same one give the same rows, whatever the tables hold.

A plan (`engine/link/query_plan.py`) becomes blocks (`query_blocks.py`): queries in FROM are looked through, and
expressions (`expression_forms.py`) and joins (`join_trees.py`) are put into one form, each rule with the reason why
rows stay the same. Then the sources get numbers by what they are and how they are used, so that aliases and the order
of what is commutative do not matter. Sources that are used alike keep their order: equal forms always mean equal rows,
and some queries that give the same rows have different forms.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from lineage_pipeline.engine.diff.expression_forms import VOLATILE, Expr, has_trait, iter_parts, make_call, rewrite
from lineage_pipeline.engine.diff.join_trees import Tree, list_leaves
from lineage_pipeline.engine.diff.query_blocks import (
    Block,
    Generated,
    Leaf,
    NamedTable,
    NotNormalizedError,
    Query,
    QueryReader,
    Rows,
    SetQuery,
    iter_conditions,
    map_query,
)
from lineage_pipeline.engine.diff.query_sources import find_sources, iter_deep_parts

_UNORDERED = frozenset({"AND", "OR", "EQ", "NEQ", "MUL", "NULLSAFEEQ", "NULLSAFENEQ", "BITWISEAND", "BITWISEOR"})

REFINEMENTS = 2
"""How often the use of the sources that stand beside a source is looked at again to tell sources apart."""

Labels = Mapping[int, str]

Ranks = Mapping[int, Mapping[Any, Any]]


def _keep_object(name: str) -> str:
    return name


def _keep_column(name: str, column: str) -> str:
    return column


def normalize_plan(
    text: str,
    rename_object: Callable[[str], str] = _keep_object,
    rename_column: Callable[[str, str], str] = _keep_column,
    rename_output: Callable[[str], str] = _keep_object,
    definitions: Mapping[str, str] | None = None,
    *,
    loose: bool = False,
) -> str | None:
    """The normal form of a plan as text, or None where it has none.

    The names are those to compare by. `definitions` are the plans of objects that are looked through, too. A loose form
    says of an expression only which columns it names: it tells where something stands, not what.
    """
    nodes = msgspec.json.decode(text)
    inner = {name: msgspec.json.decode(plan) for name, plan in (definitions or {}).items()}
    try:
        query = QueryReader(nodes, rename_object, rename_column, inner).read(len(nodes) - 1)
        if any(has_trait(expr, VOLATILE) for expr in query.iter_expressions()):
            return None  # how often such a function is asked is part of what the query means
        return _render_top(map_query(query, _loosen) if loose else query, rename_output)
    except (NotNormalizedError, RecursionError):
        return None


def _loosen(expr: Expr) -> Expr:
    """The columns and queries of an expression."""
    parts = [part for part in iter_parts(expr) if part[0] in ("col", "sub")]
    made = [("sub", part[1], map_query(part[2], _loosen), ()) if part[0] == "sub" else part for part in parts]
    return make_call("USES", *made)


def _render_top(query: Query, rename_output: Callable[[str], str]) -> str:
    """A query with its columns by name: in which order they stand is compared elsewhere."""
    if isinstance(query, Block):
        outputs = [(rename_output(name) if name != "*" else name, expr) for name, expr in query.outputs]
        return _render_block(msgspec.structs.replace(query, outputs=outputs), {}, named=True)[0]
    names = [rename_output(name) for name in query.names]
    order = sorted(range(len(names)), key=lambda at: names[at])
    return f"{[names[at] for at in order]} {_render_query(query, {}, order)}"


def _render_query(query: Query, labels: Labels, columns: Sequence[int] | None = None) -> str:
    """A query with some of its columns by position, or with all."""
    if isinstance(query, Rows):
        shown = columns if columns is not None else range(len(query.names))
        return f"values {[[_render(row[at], labels, {}) for at in shown] for row in query.rows]}"
    if isinstance(query, SetQuery):
        return _render_set_query(query, labels, columns)
    if columns is not None:
        if any(name == "*" for name, _ in query.outputs) or any(at >= len(query.outputs) for at in columns):
            raise NotNormalizedError
        query = msgspec.structs.replace(query, outputs=[query.outputs[at] for at in columns])
    return _render_block(query, labels, ordered=True)[0]


def _render_set_query(query: SetQuery, labels: Labels, columns: Sequence[int] | None) -> str:
    branches = [_render_query(branch, labels, columns) for branch in query.branches]
    if query.op in ("UNION", "INTERSECT"):
        branches = sorted(set(branches) if query.distinct else branches)
    if query.op == "UNION" and query.distinct and len(branches) == 1:
        return f"distinct {branches[0]}"
    return f"{query.op} {'distinct' if query.distinct else 'all'} {branches}"


def _render_block(
    block: Block, labels: Labels, *, named: bool = False, ordered: bool = False
) -> tuple[str, dict[Any, Any]]:
    """A block, and the rank of each output among its outputs; `ordered` outputs keep their order."""
    known, ranks, kinds = _label_sources(block, labels, named=named)

    def show(expr: Expr) -> str:
        return _render(expr, known, ranks)

    texts = [f"{name}=" * named + show(expr) for name, expr in block.outputs]
    order = texts if ordered else sorted(set(texts) if not named else texts)
    parts = [
        f"select {order}",
        f"from {_render_tree(block.tree, show, lambda leaf: f'{known[leaf]}:{kinds[leaf]}')}",
        f"group {sorted(map(show, block.group))} {block.grouping}" if block.group is not None else "",
        f"having {_show_set(block.having, show)}" if block.having else "",
        f"qualify {_show_set(block.qualify, show)}" if block.qualify else "",
        "distinct" if block.distinct else "",
    ]
    if block.tail is not None:
        keys, distinct_on, limit = block.tail
        parts.append(f"first {list(map(show, keys))} {sorted(map(show, distinct_on))} {limit}")
    places: dict[Any, Any] = {}
    for at, ((name, _), text) in enumerate(zip(block.outputs, texts, strict=True)):
        places[at] = order.index(text) if not ordered else at
        places.setdefault(name, places[at])
    return " ".join(filter(None, parts)), places


def _show_set(conditions: Iterable[Expr], show: Callable[[Expr], str]) -> list[str]:
    return sorted(set(map(show, conditions)))


# ── numbers of sources ───────────────────────────────────────────────────────────────────────────────────────────


def _label_sources(
    block: Block, labels: Labels, *, named: bool
) -> tuple[Labels, dict[int, Mapping[Any, Any]], dict[int, str]]:
    """The labels of the sources of a block, with those around; the ranks of columns of queries; what each source is."""
    leaves = list(dict.fromkeys(list_leaves(block.tree)))
    used = _find_used_columns(block, leaves)
    if _is_row(block.tree):  # sources that see those before them: their order is part of the query
        labels = {**labels, **{leaf: f"s{len(labels) + at}" for at, leaf in enumerate(leaves)}}
    kinds: dict[int, str] = {}
    ranks: dict[int, Mapping[Any, Any]] = {}
    for leaf in leaves:
        kinds[leaf], ranks[leaf] = _render_leaf(block.leaves[leaf], labels, used[leaf])
    if not _is_row(block.tree):
        marks = {leaf: _hash(f"{role} {kinds[leaf]}") for leaf, role in _iter_roles(block.tree, "core")}
        for _ in range(REFINEMENTS if len(leaves) > 1 else 0):
            marks = {leaf: _hash(marks[leaf], *_iter_uses(block, leaf, marks, labels, ranks, named)) for leaf in leaves}
        ordered = sorted(leaves, key=lambda leaf: (marks[leaf], leaf))
        labels = {**labels, **{leaf: f"s{len(labels) + at}" for at, leaf in enumerate(ordered)}}
    return labels, ranks, kinds


def _is_row(tree: Tree) -> bool:
    if tree[0] == "row":
        return True
    children = tree[1] if tree[0] == "inner" else [tree[1], *(one for one, _ in tree[2])] if tree[0] == "lefts" else ()
    pairs = tree[1:3] if tree[0] in ("full", "semi", "left") else ()
    return any(map(_is_row, (*children, *pairs)))


def _find_used_columns(block: Block, leaves: Sequence[int]) -> dict[int, set[Any]]:
    """The columns of each source that the block names."""
    found: dict[int, set[Any]] = {leaf: set() for leaf in leaves}
    for expr in block.iter_expressions():
        for part in iter_deep_parts(expr):
            if part[0] == "col" and part[1] in found:
                found[part[1]].add(part[2])
            elif part[0] == "star" and part[1] in found:
                found[part[1]].add("*")
    return found


def _render_leaf(leaf: Leaf, labels: Labels, used: set[Any]) -> tuple[str, Mapping[Any, Any]]:
    """What a source is, and the ranks of its columns: of a query, only those that are used matter."""
    if isinstance(leaf, NamedTable):
        return f"{leaf.name} {leaf.marks}" if leaf.marks else leaf.name, {}
    if isinstance(leaf, Generated):
        return f"{_render(leaf.call, labels, {})} {leaf.rest}", {}
    if isinstance(leaf, Rows):
        return _render_query(leaf, labels), {}
    if isinstance(leaf, SetQuery):
        plain = leaf.op == "UNION" and not leaf.distinct and all(isinstance(one, int) for one in used)
        kept = sorted(used) if plain else None
        places = {at: place for place, at in enumerate(kept)} if kept is not None else {}
        return _render_query(leaf, labels, kept), places
    if leaf.distinct or "*" in used or any(name == "*" for name, _ in leaf.outputs):
        text, ranks = _render_block(leaf, labels, named="*" in {name for name, _ in leaf.outputs})
        return f"({text})", {} if "*" in {name for name, _ in leaf.outputs} else ranks
    index = [at for at, (name, _) in enumerate(leaf.outputs) if at in used or (name and name in used)]
    text, ranks = _render_block(msgspec.structs.replace(leaf, outputs=[leaf.outputs[at] for at in index]), labels)
    found: dict[Any, Any] = {}
    for inner, at in enumerate(index):
        found[at] = ranks[inner]
        found.setdefault(leaf.outputs[at][0], ranks[inner])
    return f"({text})", found


def _iter_roles(tree: Tree, role: str) -> Iterator[tuple[int, str]]:
    """The part that each source plays in the joins."""
    kind = tree[0]
    if kind == "leaf":
        yield tree[1], role
    elif kind == "inner":
        for child in tree[1]:
            yield from _iter_roles(child, role)
    elif kind == "lefts":
        yield from _iter_roles(tree[1], role)
        for other, _ in tree[2]:
            yield from _iter_roles(other, f"{role} left")
    elif kind == "semi":
        yield from _iter_roles(tree[1], role)
        yield from _iter_roles(tree[2], f"{role} asked")
    elif kind != "row":
        for child in tree[1:3]:
            yield from _iter_roles(child, f"{role} {kind}")


def _iter_uses(
    block: Block, leaf: int, marks: Mapping[int, str], labels: Labels, ranks: Ranks, named: bool
) -> Iterator[str]:
    """The expressions that name a source, with what is known of the others."""
    seen = {**labels, **marks, leaf: "@"}
    uses = [
        *((f"out {name if named else ''}", expr) for name, expr in block.outputs),
        *(("group", expr) for expr in block.group or ()),
        *(("filter", expr) for expr in (*block.having, *block.qualify)),
        *(("on", expr) for expr in iter_conditions(block.tree)),
    ]
    yield from sorted(f"{tag} {_render(expr, seen, ranks)}" for tag, expr in uses if leaf in find_sources(expr))


def _hash(*texts: str) -> str:
    return sha256("\x1f".join(texts).encode()).hexdigest()[:16]


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _render_tree(tree: Tree, show: Callable[[Expr], str], name: Callable[[int], str]) -> str:
    kind = tree[0]
    if kind == "leaf":
        return name(tree[1])

    def inner(child: Tree) -> str:
        return _render_tree(child, show, name)

    if kind == "inner":
        return f"join({sorted(map(inner, tree[1]))} on {_show_set(tree[2], show)})"
    if kind == "lefts":
        joins = sorted(f"{inner(other)} on {_show_set(on, show)}" for other, on in tree[2])
        return f"left({inner(tree[1])} with {joins})"
    if kind == "full":
        return f"full({sorted(map(inner, tree[1:3]))} on {_show_set(tree[3], show)})"
    if kind == "semi":
        word = "anti" if tree[4] else "semi"
        return f"{word}({inner(tree[1])} ask {inner(tree[2])} on {_show_set(tree[3], show)})"
    return f"row({[f'{side} {name(leaf)} on {_show_set(on, show)}' for side, leaf, on in tree[1]]})"


def _render(expr: Expr, labels: Labels, ranks: Ranks) -> str:
    """An expression as text, with the operands of what is commutative in one order."""
    kind = expr[0]
    if kind == "col":
        return f"{labels.get(expr[1], '?')}.{ranks.get(expr[1], {}).get(expr[2], expr[2])}"
    if kind == "star":
        return f"{labels.get(expr[1], '?')}.* except {expr[2]}"
    if kind == "l":
        return f"{expr[1]}'{expr[2]}'"

    if kind == "sub":  # the labels of the sources inside begin behind those around
        args = ", ".join(_render(part, labels, ranks) for part in expr[3])
        return f"{expr[1]}({args}; {_render_inner(expr[2], labels, ranks)})"
    return _render_parts(expr, lambda part: _render(part, labels, ranks))


def _render_parts(expr: Expr, show: Callable[[Expr], str]) -> str:
    kind = expr[0]
    if kind == "c":
        return f"{expr[1].lower()}({', '.join(_order_operands(expr[1], list(map(show, expr[2]))))})"
    if kind == "w":
        whens = [f"{show(one)}: {show(two)}" for one, two in expr[1]]
        return f"case({', '.join(whens)} else {show(expr[2]) if expr[2] is not None else ''})"
    if kind == "o":
        return f"{show(expr[1])} over ({list(map(show, expr[2]))} {list(map(show, expr[3]))} {expr[4]})"
    if kind == "t":
        return f"{'try_' * bool(expr[3])}cast({show(expr[1])} as {expr[2].lower()})"
    parts = [show(part) if isinstance(part, tuple) and part and part[0] in _KINDS else str(part) for part in expr[1:]]
    return f"{kind}({', '.join(parts)})"


def _order_operands(op: str, texts: list[str]) -> list[str]:
    if op in ("AND", "OR", "USES"):
        return sorted(set(texts))
    if op == "IN":
        return [texts[0], *sorted(texts[1:])]
    return sorted(texts) if op in _UNORDERED else texts


_KINDS = frozenset({"col", "star", "l", "c", "w", "o", "sub", "t", "p", "x", "d", "m", "v", "a"})


def _render_inner(query: Query, labels: Labels, ranks: Ranks) -> str:
    if any(leaf in ranks and ranks[leaf] for leaf in _find_outer(query)):
        query = _with_ranks(query, ranks)
    return _render_query(query, labels)


def _find_outer(query: Query) -> set[int]:
    return {source for expr in query.iter_expressions() for source in find_sources(expr)}


def _with_ranks(query: Query, ranks: Ranks) -> Query:
    """A query inside an expression, with the columns of the queries around by their ranks."""

    def change(part: Expr) -> Expr:
        if part[0] == "col" and part[2] in ranks.get(part[1], {}):
            return ("col", part[1], f"#{ranks[part[1]][part[2]]}")
        return part

    return map_query(query, lambda expr: rewrite(expr, change))
