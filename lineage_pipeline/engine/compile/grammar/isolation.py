"""Isolation: analyses in several threads do not affect each other, or other users of sqlglot in the process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Generic, TypeVar

from sqlglot import parser
from sqlglot.dialects.dialect import Dialect

T = TypeVar("T")

_IS_QUIET = ContextVar("_IS_QUIET", default=False)


class Pool(Generic[T]):
    """Stateful objects, such as parsers: made on demand, lent to one caller at a time, used again."""

    def __init__(self, make: Callable[[], T]) -> None:
        """Start without any."""
        self._make = make
        self._idle: list[T] = []  # append and pop of a list are atomic: no lock is needed

    @contextmanager
    def borrow(self) -> Iterator[T]:
        """Lend an object for the length of a `with` block; no other caller gets it meanwhile."""
        try:
            found = self._idle.pop()
        except IndexError:
            found = self._make()
        yield found
        self._idle.append(found)  # not reached after an unexpected error, since its state is unknown then


@contextmanager
def silence_sqlglot() -> Iterator[None]:
    """Keep sqlglot's warnings about our texts out of the log: what it cannot read becomes a finding."""
    parser.logger.addFilter(_is_logged)  # adding it again has no effect
    token = _IS_QUIET.set(True)
    try:
        yield
    finally:
        _IS_QUIET.reset(token)


def _is_logged(_: object) -> bool:
    return not _IS_QUIET.get()


def load_dialect(name: str) -> Dialect:
    """Make an instance of sqlglot's dialect of that name.

    sqlglot registers a dialect class before its parser is set, so a second thread may see an incomplete one.
    Importing the module first waits for the thread that is loading it.
    """
    if name:
        import_module(f"sqlglot.dialects.{name}")
    return Dialect.get_or_raise(name or None)
