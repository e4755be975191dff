"""The DuckDB file of the marts, opened for reading, and opened again when another one took its place."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from lineage_pipeline.vocabulary.errors import LineageError

Row = dict[str, Any]
Thing = TypeVar("Thing")

REMEMBERED = 4
"""Of how many snapshots something is kept in memory."""


class Gone(LineageError):
    """The marts refer to files that somebody took away."""


class Marts:
    """Asks the marts; `asked` counts the queries."""

    def __init__(self, path: Path) -> None:
        """Remember where the file is; it is opened with the first question."""
        self.path = path
        self.asked = 0
        self._state = threading.Condition()
        self._users = 0
        self._stamp: tuple[int, int] | None = None
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._memory: OrderedDict[tuple[str, str], Any] = OrderedDict()

    def ask(self, sql: str, *values: Any) -> list[Row]:
        """Give the rows of a query by the names of its columns."""
        self.asked += 1
        with self._open() as connection:
            try:
                found = connection.execute(sql, values)
            except duckdb.IOException as error:
                raise Gone(f"files of the warehouse are gone: {str(error).splitlines()[0]}; run again") from None
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def stamp(self) -> str:
        """Name the state of the file: another one has another stamp."""
        return "-".join(map(str, self._look()))

    def remembered(self, snapshot: str, make: Callable[[], Thing]) -> Thing:
        """Give what was made of a snapshot, or make it; another state of the file is made anew."""
        key = (self.stamp(), snapshot)
        with self._state:
            if key in self._memory:
                self._memory.move_to_end(key)
                kept: Thing = self._memory[key]
                return kept
        made = make()  # two who ask at once make it twice, and neither waits for the other
        with self._state:
            self._memory[key] = made
            while len(self._memory) > REMEMBERED:
                self._memory.popitem(last=False)
        return made

    def close(self) -> None:
        """Let the file go."""
        with self._state:
            if self._connection is not None:
                self._connection.close()
            self._connection, self._stamp = None, None

    @contextmanager
    def _open(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Lend a cursor. DuckDB keeps one instance for each path, so a new file waits until the old one is unused."""
        stamp = self._look()
        with self._state:
            while stamp != self._stamp and self._users:
                self._state.wait()
            if stamp != self._stamp:
                self._reopen(stamp)
            assert self._connection is not None
            cursor = self._connection.cursor()
            self._users += 1
        try:
            yield cursor
        finally:
            cursor.close()
            with self._state:
                self._users -= 1
                self._state.notify_all()

    def _reopen(self, stamp: tuple[int, int]) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        try:
            self._connection = duckdb.connect(str(self.path), read_only=True)
        except duckdb.Error as error:
            raise LineageError(f"cannot open {self.path}: {str(error).splitlines()[0]}") from None
        self._stamp = stamp

    def _look(self) -> tuple[int, int]:
        try:
            found = self.path.stat()
        except OSError:
            raise LineageError(f"there is no {self.path}; `lineage run` makes it") from None
        return found.st_ino, found.st_mtime_ns
