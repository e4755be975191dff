"""Python as a text: whether it is a program, and its tree."""

import ast
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache

BROKEN = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What Python says of a text that is none of its own."""


def is_python(text: str) -> bool:
    """Say whether a text is a program."""
    try:
        return bool(parsed(text))
    except BROKEN:
        return False


def parsed(text: str) -> ast.Module:
    """Give the tree of a program."""
    with warnings.catch_warnings():  # somebody else's escapes are not ours to complain about
        warnings.simplefilter("ignore")
        return ast.parse(text)


@lru_cache(maxsize=256)
def expression(text: str) -> ast.expr:
    """Give the tree of an expression; programs put the same few into their texts again and again."""
    return ast.parse(text, mode="eval").body


LEAVES = frozenset({ast.Name, ast.Constant, ast.Load, ast.Store, ast.Pass})
"""Nodes with nothing inside: most of a tree."""


def nodes_of(top: ast.AST, kinds: tuple[type[ast.AST], ...]) -> list[ast.AST]:
    """Give the nodes of some kinds in a node, itself included, in the order of `ast.walk`, in half its time."""
    found = []
    todo = [top]
    for node in todo:
        kind = node.__class__
        if kind in LEAVES:
            continue
        if kind in kinds:
            found.append(node)
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                todo.extend([item for item in value if isinstance(item, ast.AST)])
            elif isinstance(value, ast.AST):
                todo.append(value)
    return found


BLOCKS = ("body", "orelse", "finalbody")


def statements_in(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Give statements and all statements inside them; no expression is looked into."""
    for statement in body:
        yield statement
        for name in BLOCKS:
            block = getattr(statement, name, None)
            if isinstance(block, list):
                yield from statements_in(block)
        for name in ("handlers", "cases"):
            yield from statements_in(getattr(statement, name, ()))


def expressions_of(node: ast.stmt) -> Iterator[ast.expr]:
    """Give the expressions of a statement that are not inside the statements in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr
        elif isinstance(child, ast.keyword):
            yield child.value
