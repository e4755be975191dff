"""Queries as blocks: a plan is read, queries in FROM are looked through, and each select becomes one block.

A block joins and filters its sources, groups, filters the groups, computes windows, filters by them, and puts out
columns, distinct ones perhaps, and the first of them perhaps. That is the order in which SQL defines a select.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.engine.diff.expression_forms import (
    Expr,
    has_aggregate,
    has_window,
    make_call,
    map_parts,
    normalize,
    rewrite,
    split_conjuncts,
)
from lineage_pipeline.engine.diff.join_trees import Tree, arrange_joins, list_leaves
from lineage_pipeline.engine.diff.query_sources import find_query_sources, find_sources, iter_deep_parts

MAX_SOURCES = 2_000
"""How many sources a query may have once all of its queries are looked through."""


class NotNormalizedError(Exception):
    """A plan that has no normal form here."""


class NamedTable(msgspec.Struct, frozen=True):
    """A named object among the sources; `marks` are what else decides about its rows."""

    name: str
    marks: tuple[Any, ...] = ()


class Generated(msgspec.Struct, frozen=True):
    """A function among the sources."""

    call: Expr
    rest: tuple[Any, ...]

    def iter_expressions(self) -> Iterator[Expr]:
        """The call."""
        yield self.call


class Rows(msgspec.Struct, frozen=True):
    """Rows of expressions."""

    rows: tuple[tuple[Expr, ...], ...]
    names: tuple[str, ...]

    def iter_expressions(self) -> Iterator[Expr]:
        """All values."""
        for row in self.rows:
            yield from row


class SetQuery(msgspec.Struct, eq=False):
    """UNION, INTERSECT or EXCEPT of queries, by position."""

    op: str
    distinct: bool
    branches: list["Query"]
    names: tuple[str, ...]

    def iter_expressions(self) -> Iterator[Expr]:
        """The expressions of all branches."""
        for branch in self.branches:
            yield from branch.iter_expressions()


class Block(msgspec.Struct, eq=False):
    """One select; `group` is None where nothing is grouped, and empty where all rows are one group."""

    tree: Tree
    outputs: list[tuple[str, Expr]]
    group: list[Expr] | None = None
    grouping: str = ""
    having: list[Expr] = []
    qualify: list[Expr] = []
    distinct: bool = False
    tail: tuple[tuple[Expr, ...], tuple[Expr, ...], str] | None = None
    leaves: dict[int, "Leaf"] = {}

    def iter_expressions(self) -> Iterator[Expr]:
        """All expressions, those of its sources included."""
        yield from (expr for _, expr in self.outputs)
        yield from (*(self.group or ()), *self.having, *self.qualify)
        if self.tail is not None:
            yield from (*self.tail[0], *self.tail[1])
        yield from iter_conditions(self.tree)
        for leaf in self.leaves.values():
            if not isinstance(leaf, NamedTable):
                yield from leaf.iter_expressions()

    @property
    def has_windows(self) -> bool:
        """Say whether a value of the block depends on several of its rows in a window."""
        return bool(self.qualify) or any(has_window(expr) for _, expr in self.outputs)

    @property
    def is_plain(self) -> bool:
        """Say whether the block only joins, filters and computes row by row."""
        return self.group is None and not self.has_windows and not self.distinct and self.tail is None


Query = Block | SetQuery | Rows

Leaf = NamedTable | Generated | Block | SetQuery | Rows


def iter_conditions(tree: Tree) -> Iterator[Expr]:
    """The conditions in a tree of joins."""
    kind = tree[0]
    if kind == "leaf":
        return
    if kind == "inner":
        for child in tree[1]:
            yield from iter_conditions(child)
        yield from tree[2]
    elif kind == "lefts":
        yield from iter_conditions(tree[1])
        for other, conditions in tree[2]:
            yield from iter_conditions(other)
            yield from conditions
    elif kind == "row":
        yield from (condition for _, _, conditions in tree[1] for condition in conditions)
    else:
        yield from iter_conditions(tree[1])
        yield from iter_conditions(tree[2])
        yield from tree[3]


def map_conditions(tree: Tree, change: Callable[[Expr], Expr]) -> Tree:
    """A tree with every condition changed."""
    kind = tree[0]
    if kind == "leaf":
        return tree
    if kind == "inner":
        return ("inner", tuple(map_conditions(one, change) for one in tree[1]), tuple(map(change, tree[2])))
    if kind == "row":
        return ("row", tuple((side, leaf, tuple(map(change, on))) for side, leaf, on in tree[1]))
    if kind == "lefts":
        joins = tuple((map_conditions(one, change), tuple(map(change, on))) for one, on in tree[2])
        return ("lefts", map_conditions(tree[1], change), joins)
    sides = (map_conditions(one, change) for one in tree[1:3])
    return (kind, *sides, tuple(map(change, tree[3])), *tree[4:])


class QueryReader:
    """Reads the queries of one plan into blocks; `rename_object` and `rename_column` give the names to compare by."""

    def __init__(
        self,
        nodes: Sequence[Any],
        rename_object: Callable[[str], str],
        rename_column: Callable[[str, str], str],
        definitions: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        """Keep the plan; `definitions` are the plans of objects that are looked through."""
        self.nodes = nodes
        self.rename_object = rename_object
        self.rename_column = rename_column
        self.definitions = definitions or {}
        self.leaves: dict[int, Leaf] = {}
        self.used: dict[int, set[Any]] = {}
        self.original: dict[int, str] = {}

    def read(self, index: int, env: Sequence[Mapping[int, int]] = ()) -> Query:
        """The block of a query; `env` are the sources by place of the selects around it."""
        body = self.nodes[index]
        kind = body[0]
        if kind == "S":
            return self._read_select(body, env)
        if kind == "A":
            return rename_outputs(self.read(body[2][1], env), body[1])
        if kind == "V":
            rows = tuple(tuple(normalize(self._read_expression(cell, env)) for cell in row) for row in body[1])
            return Rows(rows, tuple(body[2]))
        branches = [self.read(branch[1], env) for branch in body[3]]
        return combine_branches(SetQuery(body[1], body[2], branches, tuple(body[4])))

    # ── one select ───────────────────────────────────────────────────────────────────────────────────────────────

    def _read_select(self, body: Sequence[Any], env: Sequence[Mapping[int, int]]) -> Query:
        _, sources, joins, outputs, where, group, grouping, having, qualify, order, distinct, distinct_on, limit = body
        places: dict[int, int] = {}
        scope = [places, *env]
        for place, source in enumerate(sources):
            places[place] = self._add_leaf(source, scope, env)
        exprs = _SelectParts(
            joins=[(side, [self._read_expression(one, scope) for one in on]) for side, on in joins],
            outputs=[self._read_output(one, scope) for one in outputs],
            where=self._read_expression(where, scope) if where is not None else None,
            group=[self._read_expression(one, scope) for one in group],
            having=self._read_expression(having, scope) if having is not None else None,
            qualify=self._read_expression(qualify, scope) if qualify is not None else None,
            order=[self._read_expression(one, scope) for one in order],
            distinct_on=[self._read_expression(one, scope) for one in distinct_on],
        )
        for expr in exprs.iter_expressions():
            self._note_uses(expr)
        tree = self._build_tree([places[place] for place in range(len(sources))], exprs)
        replaced: dict[int, Block] = {}
        tree = self._look_through(tree, replaced, nullable=False)

        def change(expr: Expr) -> Expr:
            return normalize(self._substitute(expr, replaced))

        tree = arrange_joins(map_conditions(tree, change)) if tree[0] != "row" else map_conditions(tree, change)
        made = [item for name, expr in exprs.outputs for item in self._expand_output(name, expr, replaced, change)]
        aggregated = bool(group or grouping) or exprs.having is not None or any(has_aggregate(one) for _, one in made)
        block = Block(
            tree=tree,
            outputs=made,
            group=[change(one) for one in exprs.group] if aggregated else None,
            grouping=grouping,
            having=split_conjuncts(change(exprs.having)) if exprs.having is not None else [],
            qualify=split_conjuncts(change(exprs.qualify)) if exprs.qualify is not None else [],
            distinct=bool(distinct),
            tail=(tuple(map(change, exprs.order)), tuple(map(change, exprs.distinct_on)), limit)
            if limit or distinct_on
            else None,
        )
        block.leaves = {leaf: self.leaves[leaf] for leaf in list_leaves(tree)}
        return normalize_grouping(self._merge_single(block))

    def _add_leaf(self, source: Sequence[Any], scope: list[Mapping[int, int]], env: Sequence[Mapping[int, int]]) -> int:
        if len(self.leaves) >= MAX_SOURCES:
            raise NotNormalizedError
        number = len(self.leaves)
        self.leaves[number] = NamedTable("")
        if source[0] == "t":
            name = self.rename_object(source[1])
            self.original[number] = source[1]
            looked_through = name in self.definitions and not source[2]
            self.leaves[number] = (
                self._read_definition(name) if looked_through else NamedTable(name, _freeze(source[2]))
            )
        elif source[0] == "q":
            inner = [dict(scope[0]), *env] if source[2] else env
            self.leaves[number] = self.read(source[1][1], inner)
        else:
            call = normalize(self._read_expression(source[1], scope))
            self.leaves[number] = Generated(call, _freeze(source[2:]))
        return number

    def _read_definition(self, name: str) -> Query:
        """The query of an object that is looked through; one that reads itself is not."""
        nodes, definitions = self.nodes, self.definitions
        self.nodes = definitions[name]
        self.definitions = {other: plan for other, plan in definitions.items() if other != name}
        found = self.read(len(self.nodes) - 1)
        self.nodes, self.definitions = nodes, definitions
        return found

    def _build_tree(self, leaves: Sequence[int], parts: "_SelectParts") -> Tree:
        """The tree of a FROM clause, with the conditions of WHERE on top."""
        where = (
            list(map(rewrite_in_as_exists, split_conjuncts(normalize(parts.where)))) if parts.where is not None else []
        )
        seen: set[int] = set()
        for leaf in leaves:
            held = self.leaves[leaf]
            if not isinstance(held, NamedTable) and find_query_sources(held) & seen:
                joins = [(side or "first", at, tuple(on)) for at, (side, on) in zip(leaves, parts.joins, strict=True)]
                return ("row", (*joins[:-1], joins[-1], ("where", joins[-1][1], tuple(where))))
            seen.add(leaf)
        tree: Tree = ("leaf", leaves[0]) if leaves else ("inner", (), ())
        for leaf, (side, conditions) in zip(leaves[1:], parts.joins[1:], strict=True):
            on = tuple(part for condition in conditions for part in split_conjuncts(normalize(condition)))
            other: Tree = ("leaf", leaf)
            if side == "left":
                tree = ("left", tree, other, on)
            elif side == "right":
                tree = ("left", other, tree, on)
            elif side == "full":
                tree = ("full", tree, other, on)
            elif side in ("semi", "anti"):
                tree = ("semi", tree, other, on, side == "anti")
            else:
                tree = ("inner", (tree, other), on)
        return ("inner", (tree,), tuple(where))

    # ── queries in FROM ──────────────────────────────────────────────────────────────────────────────────────────

    def _look_through(self, tree: Tree, replaced: dict[int, Block], *, nullable: bool) -> Tree:
        """A tree with the joins of plain queries in the place of these.

        A plain query gives for each row of its joins that passes its filters one row of values: joining these rows and
        taking the values later is the same. On the side that an outer join fills with NULLs only columns can be taken
        later: they are NULL there by themselves, and other expressions need not be.
        """
        kind = tree[0]
        if kind == "leaf":
            held = self.leaves[tree[1]]
            if isinstance(held, Block) and held.is_plain and self._can_take_later(tree[1], held, nullable=nullable):
                replaced[tree[1]] = held
                return held.tree
            return tree
        if kind == "row":
            return tree
        if kind == "inner":
            children = tuple(self._look_through(one, replaced, nullable=nullable) for one in tree[1])
            return ("inner", children, tree[2])
        sides = nullable or kind == "full", nullable or kind in ("full", "left")
        one, other = (
            self._look_through(child, replaced, nullable=side) for child, side in zip(tree[1:3], sides, strict=True)
        )
        return (kind, one, other, *tree[3:])

    def _can_take_later(self, leaf: int, block: Block, *, nullable: bool) -> bool:
        used = self.used.get(leaf, set())
        values = [self._find_output(block, key) for key in used - {"*"}]
        if "*" in used:
            values += [expr for name, expr in block.outputs if name != "*"]
        if None in values:
            return False
        own = set(list_leaves(block.tree))
        return not nullable or all(value is not None and value[0] == "col" and value[1] in own for value in values)

    def _find_output(self, query: Query, key: Any) -> Expr | None:
        """The value of an output of a block by position or name; None where it is not there or not alone."""
        if not isinstance(query, Block):
            return None
        if isinstance(key, int):
            return query.outputs[key][1] if key < len(query.outputs) and query.outputs[key][0] != "*" else None
        named = [expr for name, expr in query.outputs if name == key]
        if named:
            return named[0] if len(named) == 1 else None
        stars = [expr for name, expr in query.outputs if name == "*"]
        if len(stars) != 1 or key in stars[0][2]:
            return None
        return ("col", stars[0][1], self._final_column(stars[0][1], key))

    def _final_column(self, leaf: int, key: Any) -> Any:
        return self.rename_column(self.original[leaf], key) if leaf in self.original and isinstance(key, str) else key

    def _note_uses(self, expr: Expr) -> None:
        for part in iter_deep_parts(expr):
            if part[0] == "col":
                self.used.setdefault(part[1], set()).add(part[2])
            elif part[0] == "star":
                self.used.setdefault(part[1], set()).add("*")

    def _substitute(self, expr: Expr, replaced: Mapping[int, Block]) -> Expr:
        def change(part: Expr) -> Expr:
            if part[0] == "col" and part[1] in replaced:
                found = self._find_output(replaced[part[1]], part[2])
                if found is None:
                    raise NotNormalizedError
                return found
            if part[0] == "sub" and find_query_sources(part[2]) & replaced.keys():
                return ("sub", part[1], self._substitute_query(part[2], replaced), part[3])
            return part

        return rewrite(expr, change)

    def _substitute_query(self, query: Any, replaced: Mapping[int, Block]) -> Any:
        def change(expr: Expr) -> Expr:
            return normalize(self._substitute(expr, replaced))

        return map_query(query, change)

    def _expand_output(
        self, name: str, expr: Expr, replaced: Mapping[int, Block], change: Callable[[Expr], Expr]
    ) -> Iterator[tuple[str, Expr]]:
        """An output; a star over a query that is looked through is what the query puts out."""
        if expr[0] != "star" or expr[1] not in replaced:
            yield name, expr if expr[0] == "star" else change(expr)
            return
        for inner, value in replaced[expr[1]].outputs:
            if inner == "*":
                yield "*", ("star", value[1], tuple(sorted({*value[2], *expr[2]})))
            elif inner not in expr[2]:
                yield inner, value

    # ── one source alone ─────────────────────────────────────────────────────────────────────────────────────────

    def _merge_single(self, block: Block) -> Query:
        """A select over one query alone, merged with it where it only filters and computes row by row.

        Filters over groups are HAVING, filters over windows QUALIFY: both pass rows after those were computed. Over a
        UNION ALL each branch is selected from by itself.
        """
        tree = block.tree
        leaf, conditions = (tree, ()) if tree[0] == "leaf" else (("", -1), ())
        if tree[0] == "inner" and len(tree[1]) == 1 and tree[1][0][0] == "leaf":
            leaf, conditions = tree[1][0], tree[2]
        held = self.leaves.get(leaf[1]) if leaf[0] == "leaf" else None
        if (
            held is None
            or isinstance(held, NamedTable | Generated | Rows)
            or block.group is not None
            or block.has_windows
        ):
            return block
        if isinstance(held, SetQuery):
            return self._merge_branches(block, leaf[1], held, conditions)
        return self._merge_block(block, leaf[1], held, conditions) or block

    def _merge_block(self, block: Block, leaf: int, held: Block, conditions: Sequence[Expr]) -> Block | None:
        replaced = {leaf: held}
        if (held.tail is not None and (conditions or block.distinct or block.tail is not None)) or (
            held.distinct and block.tail is not None
        ):
            return None

        def change(expr: Expr) -> Expr:
            return normalize(self._substitute(expr, replaced))

        try:
            outputs = [
                item for name, expr in block.outputs for item in self._expand_output(name, expr, replaced, change)
            ]
            filters = [part for one in conditions for part in split_conjuncts(change(one))]
            tail = (
                (tuple(map(change, block.tail[0])), tuple(map(change, block.tail[1])), block.tail[2])
                if block.tail is not None
                else held.tail
            )
        except NotNormalizedError:
            return None
        if held.distinct and {repr(expr) for _, expr in outputs} != {repr(expr) for _, expr in held.outputs}:
            return None
        windowed = held.has_windows
        grouped = held.group is not None and not windowed
        return Block(
            tree=held.tree if windowed or grouped else arrange_joins(("inner", (held.tree,), tuple(filters))),
            outputs=outputs,
            group=held.group,
            grouping=held.grouping,
            having=[*held.having, *(filters if grouped else ())],
            qualify=[*held.qualify, *(filters if windowed else ())],
            distinct=held.distinct or block.distinct,
            tail=tail,
            leaves=held.leaves,
        )

    def _merge_branches(self, block: Block, leaf: int, held: SetQuery, conditions: Sequence[Expr]) -> Query:
        whole = [expr for _, expr in block.outputs] == [("col", leaf, at) for at in range(len(held.names))]
        if whole and not conditions and not block.distinct and block.tail is None:
            return rename_outputs(held, [name for name, _ in block.outputs])
        if held.op != "UNION" or held.distinct or block.distinct or block.tail is not None:
            return block
        if any(expr[0] == "star" for _, expr in block.outputs):
            return block
        made: list[Query] = []
        for branch in held.branches:
            if not isinstance(branch, Block):
                return block
            again = Block(tree=("leaf", leaf), outputs=block.outputs)
            merged = self._merge_block(again, leaf, branch, conditions)
            if merged is None:
                return block
            made.append(normalize_grouping(merged))
        return combine_branches(SetQuery("UNION", False, made, tuple(name for name, _ in block.outputs)))

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────────────────

    def _read_output(self, output: Sequence[Any], scope: Sequence[Mapping[int, int]]) -> tuple[str, Expr]:
        if output[0] == "*" and len(output) == 3:  # noqa: PLR2004
            leaf = scope[0][output[1]]
            held = self.leaves[leaf]
            if isinstance(held, SetQuery | Rows):
                raise NotNormalizedError
            return "*", ("star", leaf, tuple(output[2]))
        return output[0], self._read_expression(output[1], scope)

    def _read_expression(self, plan: Sequence[Any], scope: Sequence[Mapping[int, int]]) -> Expr:
        kind = plan[0]
        if kind == "r":
            if plan[1] >= len(scope) or plan[2] not in scope[plan[1]]:
                raise NotNormalizedError
            leaf = scope[plan[1]][plan[2]]
            return ("col", leaf, self._name_column(leaf, plan[3]))
        if kind == "q":
            args = tuple(self._read_expression(arg, scope) for arg in plan[3])
            return ("sub", plan[1], prepare_subquery(plan[1], self.read(plan[2][1], scope)), args)
        return map_parts(plan, lambda part: self._read_expression(part, scope))

    def _name_column(self, leaf: int, key: Any) -> Any:
        """The key of a column: by position where the names of a query are known, in the names to compare by."""
        held = self.leaves[leaf]
        if isinstance(key, str):
            if isinstance(held, SetQuery | Rows):
                if held.names.count(key) != 1:
                    raise NotNormalizedError
                return held.names.index(key)
            return self._final_column(leaf, key)
        return key


class _SelectParts(msgspec.Struct):
    """The expressions of a select before queries in its FROM are looked through."""

    joins: list[tuple[str, list[Expr]]]
    outputs: list[tuple[str, Expr]]
    where: Expr | None
    group: list[Expr]
    having: Expr | None
    qualify: Expr | None
    order: list[Expr]
    distinct_on: list[Expr]

    def iter_expressions(self) -> Iterator[Expr]:
        """All expressions."""
        yield from (one for _, on in self.joins for one in on)
        yield from (expr for _, expr in self.outputs)
        yield from (one for one in (self.where, self.having, self.qualify) if one is not None)
        yield from (*self.group, *self.order, *self.distinct_on)


def _freeze(value: Any) -> Any:
    return tuple(map(_freeze, value)) if isinstance(value, list | tuple) else value


def map_query(query: Query, change: Callable[[Expr], Expr]) -> Query:
    """A query with every expression changed."""
    if isinstance(query, Rows):
        return Rows(tuple(tuple(map(change, row)) for row in query.rows), query.names)
    if isinstance(query, SetQuery):
        return SetQuery(query.op, query.distinct, [map_query(one, change) for one in query.branches], query.names)
    return Block(
        tree=map_conditions(query.tree, change),
        outputs=[(name, expr if expr[0] == "star" else change(expr)) for name, expr in query.outputs],
        group=None if query.group is None else list(map(change, query.group)),
        grouping=query.grouping,
        having=list(map(change, query.having)),
        qualify=list(map(change, query.qualify)),
        distinct=query.distinct,
        tail=(tuple(map(change, query.tail[0])), tuple(map(change, query.tail[1])), query.tail[2])
        if query.tail is not None
        else None,
        leaves={
            number: leaf if isinstance(leaf, NamedTable) else _map_leaf(leaf, change)
            for number, leaf in query.leaves.items()
        },
    )


def _map_leaf(leaf: Leaf, change: Callable[[Expr], Expr]) -> Leaf:
    if isinstance(leaf, Generated):
        return Generated(change(leaf.call), leaf.rest)
    return leaf if isinstance(leaf, NamedTable) else map_query(leaf, change)


def rename_outputs(query: Query, names: Sequence[str]) -> Query:
    """A query whose columns have other names."""
    if isinstance(query, Block):
        if any(name == "*" for name, _ in query.outputs):
            raise NotNormalizedError
        outputs = [(new, expr) for new, (_, expr) in zip(names, query.outputs, strict=False)]
        return msgspec.structs.replace(query, outputs=outputs)
    return msgspec.structs.replace(query, names=tuple(names))


def prepare_subquery(mode: str, query: Query) -> Query:
    """A query inside an expression: EXISTS and IN ask for rows, however often they are there."""
    if mode not in ("exists", "in"):
        return query
    query = _without_distinct(query)
    if mode == "in" or not isinstance(query, Block) or query.group is not None or query.tail is not None:
        return query
    return msgspec.structs.replace(query, outputs=[], distinct=False)


def rewrite_in_as_exists(condition: Expr) -> Expr:
    """A filter `x IN (SELECT y …)` as EXISTS with `x = y`: one is true where the other is, and only that counts."""
    if condition[:2] != ("sub", "in") or len(condition[3]) != 1:
        return condition
    query = condition[2]
    if not isinstance(query, Block) or not query.is_plain or len(query.outputs) != 1 or query.outputs[0][0] == "*":
        return condition
    if query.tree[0] == "row":
        return condition
    equal = normalize(make_call("EQ", condition[3][0], query.outputs[0][1]))
    tree = arrange_joins(("inner", (query.tree,), (equal,)))
    return ("sub", "exists", msgspec.structs.replace(query, tree=tree, outputs=[]), ())


def normalize_grouping(query: Query) -> Query:
    """A block whose grouping is in one form.

    A filter of groups that only asks for keys is as well a filter of rows: all rows of a group share the keys. Without
    aggregates DISTINCT groups by the outputs. Groups whose keys are all put out are distinct already.
    """
    if not isinstance(query, Block) or any(name == "*" for name, _ in query.outputs):
        return query
    block = query
    if block.group and not block.grouping:
        keys = [key for key in block.group if key[0] != "l"] or block.group[:1]
        block.group = sorted(dict.fromkeys(keys), key=repr)
        _move_key_filters(block)
    plain = block.tail is None and not block.has_windows
    if block.distinct and block.group is None and plain:
        keys = [expr for _, expr in block.outputs if expr[0] != "l"]
        if keys:
            block.group, block.distinct = sorted(dict.fromkeys(keys), key=repr), False
    elif block.distinct and block.group is not None and plain and not block.grouping:
        shown = {expr for _, expr in block.outputs}
        block.distinct = not all(key in shown or key[0] == "l" for key in block.group)
    return block


def _move_key_filters(block: Block) -> None:
    keys = set(block.group or ())

    def is_key(part: Expr) -> Expr:
        return ("l", "number", "0") if part in keys else part

    low = [
        one
        for one in block.having
        if not has_aggregate(one) and find_sources(one) and not find_sources(rewrite(one, is_key))
    ]
    if low and block.tree[0] != "row":
        block.having = [one for one in block.having if one not in low]
        block.tree = arrange_joins(("inner", (block.tree,), tuple(low)))


def combine_branches(query: SetQuery) -> SetQuery:
    """A set operation in one form: UNIONs of UNIONs are one; what drops duplicates needs none dropped inside."""
    if query.op != "UNION":
        return query
    branches: list[Query] = []
    for branch in query.branches:
        inner = isinstance(branch, SetQuery) and branch.op == "UNION" and (query.distinct or not branch.distinct)
        branches.extend(branch.branches if inner and isinstance(branch, SetQuery) else (branch,))
    if query.distinct:
        branches = [_without_distinct(branch) for branch in branches]
    return msgspec.structs.replace(query, branches=branches)


def _without_distinct(query: Query) -> Query:
    """A query that need not drop duplicates."""
    if not isinstance(query, Block) or query.tail is not None or query.grouping:
        return query
    values = {expr for _, expr in query.outputs}
    keys = set(query.group or ())
    idle = query.group is not None and not query.having and not query.has_windows
    if idle and keys == {one for one in values if one[0] != "l"} and not any(map(has_aggregate, values)):
        return msgspec.structs.replace(query, group=None)
    return msgspec.structs.replace(query, distinct=False)
