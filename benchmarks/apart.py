"""Work in a process of its own, so that nothing finds what another left behind."""

import multiprocessing
from collections.abc import Callable
from typing import TypeVar

GivenT = TypeVar("GivenT")
ResultT = TypeVar("ResultT")


def apart(function: Callable[[GivenT], ResultT], given: GivenT, method: str = "fork") -> ResultT:
    """Call a function in a process that is forked from this one, or spawned anew.

    It is asked to end, not sent a signal: where this process ignores SIGINT, as behind `&`, libraries make it ignore
    SIGTERM too, and a child inherits that.
    """
    pool = multiprocessing.get_context(method).Pool(1)
    try:
        return pool.apply(function, (given,))
    finally:
        pool.close()
        pool.join()
