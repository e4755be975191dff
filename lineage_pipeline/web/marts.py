"""The DuckDB file of the marts, opened read-only, and reopened when it is replaced."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from lineage_pipeline.model.errors import LineageError

Row = dict[str, Any]
Thing = TypeVar("Thing")

CACHED_SNAPSHOTS = 4
"""The number of snapshots of which something is cached."""


class MissingFiles(LineageError):
    """The marts refer to files that no longer exist."""


class Marts:
    """Runs queries on the marts; `asked` counts them."""

    def __init__(self, path: Path) -> None:
        """Store the path; the file is opened by the first query."""
        self.path = path
        self.asked = 0
        self._state = threading.Condition()
        self._users = 0
        self._stamp: tuple[int, int] | None = None
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._memory: OrderedDict[tuple[str, str], Any] = OrderedDict()

    def ask(self, sql: str, *values: Any) -> list[Row]:
        """Return the rows of a query as dicts."""
        self.asked += 1
        with self._open() as connection:
            try:
                found = connection.execute(sql, values)
            except duckdb.IOException as error:
                raise MissingFiles(
                    f"files of the warehouse are gone: {str(error).splitlines()[0]}; run again"
                ) from None
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def stamp(self) -> str:
        """Return a stamp of the state of the file; a replaced file has another one."""
        return "-".join(map(str, self._file_stamp()))

    def cached(self, snapshot: str, make: Callable[[], Thing]) -> Thing:
        """Return the cached value of a snapshot, or make it; it is made again when the file is replaced."""
        key = (self.stamp(), snapshot)
        with self._state:
            if key in self._memory:
                self._memory.move_to_end(key)
                kept: Thing = self._memory[key]
                return kept
        made = make()  # two who ask at once make it twice, and neither waits for the other
        with self._state:
            self._memory[key] = made
            while len(self._memory) > CACHED_SNAPSHOTS:
                self._memory.popitem(last=False)
        return made

    def close(self) -> None:
        """Close the file."""
        with self._state:
            if self._connection is not None:
                self._connection.close()
            self._connection, self._stamp = None, None

    @contextmanager
    def _open(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a cursor. DuckDB keeps one instance a path, so a new file waits until the old one is unused."""
        stamp = self._file_stamp()
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

    def _file_stamp(self) -> tuple[int, int]:
        try:
            found = self.path.stat()
        except OSError:
            raise LineageError(f"there is no {self.path}; `lineage run` makes it") from None
        return found.st_ino, found.st_mtime_ns
