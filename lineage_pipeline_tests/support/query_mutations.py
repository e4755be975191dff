"""Mutations of queries: one node of a tree loses an argument, gets another value, or becomes its opposite."""

from collections.abc import Callable, Iterator
from functools import partial

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

OPPOSITE_NODES: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.Any: exp.All,
    exp.All: exp.Any,
    exp.Cast: exp.TryCast,
    exp.TryCast: exp.Cast,
    exp.Sum: exp.Max,
    exp.Add: exp.Sub,
    exp.EQ: exp.LT,
    exp.And: exp.Or,
    exp.Except: exp.Intersect,
    exp.Union: exp.Except,
}

Edit = Callable[[exp.Expr], object]


def mutate_query(sql: str, dialect: str) -> Iterator[tuple[str, str]]:
    """The name of the edited argument and the text after each single edit that still parses."""
    tree = sqlglot.parse_one(sql, dialect=dialect)
    seen = {tree.sql(dialect=dialect)}
    for index, node in enumerate(tree.walk()):
        for key, edit in _node_edits(node):
            text = _apply_edit(tree, index, edit, dialect)
            if text and text not in seen:
                seen.add(text)
                yield f"{type(node).__name__}.{key}", text


def _apply_edit(tree: exp.Expr, index: int, edit: Edit, dialect: str) -> str:
    copy = tree.copy()
    try:
        edit(next(item for at, item in enumerate(copy.walk()) if at == index))
        text = copy.sql(dialect=dialect)
        again = sqlglot.parse_one(text, dialect=dialect)
    except (SqlglotError, ValueError, AttributeError, TypeError, IndexError, KeyError, AssertionError):
        return ""  # no statement any more
    return "" if isinstance(again, exp.Command) else text


def _node_edits(node: exp.Expr) -> Iterator[tuple[str, Edit]]:
    kind = type(node)
    if kind is exp.Literal:
        yield "this", lambda item: item.set("this", f"{item.this}1")
    elif kind not in (exp.Identifier, exp.TableAlias):
        if kind in OPPOSITE_NODES:
            yield "kind", lambda item: item.replace(OPPOSITE_NODES[type(item)](**item.args))
        for key, value in list(node.args.items()):
            if isinstance(value, list):
                yield from ((key, partial(_drop_argument, key=key, at=at)) for at in range(len(value)))
            elif value:
                yield key, partial(_set_argument, key=key, value=None)
        for key in kind.arg_types:
            if not node.args.get(key):
                yield key, partial(_set_argument, key=key, value=True)


def _set_argument(item: exp.Expr, key: str, value: object) -> None:
    item.set(key, value)


def _drop_argument(item: exp.Expr, key: str, at: int) -> None:
    item.args[key].pop(at)
