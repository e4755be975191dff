"""The boundary for our own faults: a bug costs the statement that met it, and is reported as INTERNAL_ERROR."""

import re
from collections.abc import Callable
from typing import TypeVar

from lineage_pipeline.model import ir

T = TypeVar("T")

FAULTS = (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, AssertionError, RuntimeError, re.error)
"""What a bug raises. Recursion and memory have limits of their own, which are checked before."""


class MalformedTree(ValueError):
    """The parser returned a tree that is not a valid statement; the message says what is missing."""


def contain(compute: Callable[[], T], recover: Callable[[ir.Finding], T], construct: str, start: int, end: int) -> T:
    """Compute a result; if a bug stops it, `recover` makes one from the finding that says so."""
    try:
        return compute()
    except MalformedTree as error:
        return recover(ir.Finding("UNSUPPORTED_SYNTAX", (("construct", str(error)),), start, end))
    except FAULTS as error:
        return recover(internal_error(error, construct, start, end))


def internal_error(error: BaseException, construct: str, start: int, end: int) -> ir.Finding:
    """Build the finding for a bug: which statement met it, and where in our code."""
    where = error.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    module = where.tb_frame.f_globals.get("__name__", "?") if where is not None else "?"
    place = f"{type(error).__name__} in {module}, line {where.tb_lineno if where is not None else 0}"
    return ir.Finding("INTERNAL_ERROR", (("construct", construct), ("fault", place)), start, end)
