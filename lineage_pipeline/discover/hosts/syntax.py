"""Python as a text: whether it is a program, and its tree."""

import ast
import warnings

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
