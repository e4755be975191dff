"""Engines that run programs: each holds the source tables, runs a program on them, and takes everything back."""

import datetime
import decimal
import sqlite3
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import duckdb
import msgspec
import psycopg
import pymysql

from benchmarks.witness.queries import CREATE_RESULT, RESULT, Program
from benchmarks.witness.rows import JOURNAL, LEDGER, NESTED_COLUMNS, NESTED_TABLE, TABLES, Row, Rows
from benchmarks.witness.syntax import DUCKDB, MARIADB, POSTGRES, SPARK, SQLITE, Syntax

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Refused(Exception):
    """The engine does not run a program on some rows, and says why."""


class Result(msgspec.Struct, frozen=True):
    """The rows of one object after a program, and the names of its columns."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


Results = Mapping[str, Result]

MOST_SECONDS = 2.0
"""What one run may take; a program that multiplies its rows too often is refused."""

MOST_STEPS = 4_000_000
"""The same for SQLite, in steps of its machine."""


class Engine(Protocol):
    """Runs programs."""

    syntax: Syntax

    def run(self, program: Program, rows: Rows) -> Results:
        """What the targets of a program hold after it has run on these rows, or Refused."""


def list_tables(syntax: Syntax) -> dict[str, Mapping[str, str]]:
    """The source tables of an engine."""
    return {**TABLES, NESTED_TABLE: NESTED_COLUMNS} if syntax.nested else dict(TABLES)


def describe_key(name: str) -> str:
    """What is declared of the column `id` of a table: only the one that statements update has a key."""
    return {LEDGER: " not null primary key", JOURNAL: ""}.get(name, " not null")


def define_table(syntax: Syntax, name: str) -> str:
    """The CREATE TABLE of a source table."""
    columns = [
        f"{own} {syntax.types[kind]}{describe_key(name) if own == 'id' else ''}"
        for own, kind in list_tables(syntax)[name].items()
    ]
    return f"create table {name} ({', '.join(columns)})"


def define_tables(syntax: Syntax) -> list[str]:
    """The CREATE TABLE statements of all source tables."""
    return [define_table(syntax, name) for name in list_tables(syntax)]


def write_constant(value: Any) -> str:
    """A value as SQL."""
    match value:
        case None:
            return "null"
        case bool() | int() | decimal.Decimal():
            return str(value)
        case datetime.date():
            return f"'{value}'"
        case str():
            return f"'{value}'"
        case list():
            return f"[{', '.join(map(write_constant, value))}]"
        case _:
            return "{" + ", ".join(f"'{name}': {write_constant(own)}" for name, own in value.items()) + "}"


def write_insert(name: str, rows: Sequence[Row]) -> str:
    """The INSERT of rows."""
    values = ", ".join(f"({', '.join(map(write_constant, row))})" for row in rows)
    return f"insert into {name} values {values}"


class Watch:
    """Interrupts what takes too long, from a thread of its own."""

    def __init__(self, interrupt: Callable[[], object]) -> None:
        """Start watching."""
        self.interrupt = interrupt
        self.ends: float | None = None
        threading.Thread(target=look_at_times, args=(weakref.ref(self),), daemon=True).start()

    def look(self) -> None:
        """Interrupt a run whose time is over."""
        if self.ends is not None and time.monotonic() > self.ends:
            self.ends = None
            self.interrupt()

    def begin(self) -> None:
        """A run begins."""
        self.ends = time.monotonic() + MOST_SECONDS

    def end(self) -> None:
        """It has ended."""
        self.ends = None


def look_at_times(watched: "weakref.ref[Watch]") -> None:
    """Look a few times a second, as long as somebody holds the watch."""
    while (watch := watched()) is not None:
        watch.look()
        del watch
        time.sleep(MOST_SECONDS / 8)


class TransactionalEngine(ABC):
    """An engine that runs a program in a transaction and undoes it; subclasses run statements and name their errors."""

    syntax: Syntax
    errors: type[Exception]

    def __init__(self) -> None:
        """Make the source tables."""
        self.loaded: dict[str, tuple[Row, ...]] = {}
        for statement in define_tables(self.syntax):
            self.execute(statement)

    @abstractmethod
    def execute(self, statement: str) -> None:
        """Run a statement."""

    @abstractmethod
    def read(self, query: str) -> Result:
        """All rows of a query."""

    def begin(self) -> None:  # noqa: B027 - not every engine measures
        """Start measuring the time or the steps of a run."""

    def end(self) -> None:  # noqa: B027
        """Stop measuring."""

    def load(self, rows: Rows, tables: Sequence[str]) -> None:
        """Fill the tables that hold other rows."""
        for name in tables:
            if self.loaded.get(name) != rows[name]:
                self.loaded.pop(name, None)
                self.execute(f"delete from {name}")
                self.execute(write_insert(name, rows[name]))
                self.loaded[name] = rows[name]

    def run(self, program: Program, rows: Rows) -> Results:
        """Run in a transaction that is taken back."""
        try:
            self.load(rows, program.tables(list(rows)))
            self.begin()
            if program.statements[0].startswith(CREATE_RESULT):
                return {RESULT: self.read(program.statements[0].removeprefix(CREATE_RESULT))}
            self.execute("begin")
            try:
                for statement in program.statements:
                    self.execute(statement)
                return {target: self.read(f"select * from {target}") for target in program.targets}
            finally:
                self.take_back(program)
        except self.errors as refusal:
            raise Refused(str(refusal).partition("\n")[0]) from None
        finally:
            self.end()

    def take_back(self, _program: Program) -> None:
        """Undo what a program did."""
        self.execute("rollback")


class DuckDB(TransactionalEngine):
    """DuckDB in this process, without files and network."""

    syntax = DUCKDB
    errors = duckdb.Error

    def __init__(self) -> None:
        """Make the source tables."""
        self.database = duckdb.connect(config={"enable_external_access": "false", "threads": "1"})
        self.watch = Watch(self.database.interrupt)
        super().__init__()

    def begin(self) -> None:
        """Measure the time of a run from here."""
        self.watch.begin()

    def end(self) -> None:
        """Stop measuring."""
        self.watch.end()

    def execute(self, statement: str) -> None:
        """Run a statement."""
        self.database.execute(statement)

    def read(self, query: str) -> Result:
        """All rows of a query."""
        found = self.database.execute(query)
        return Result(tuple(column[0] for column in found.description or ()), tuple(found.fetchall()))


class SQLite(TransactionalEngine):
    """SQLite in this process."""

    syntax = SQLITE
    errors = sqlite3.Error

    def __init__(self) -> None:
        """Make the source tables."""
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        self.database.set_progress_handler(self.count_steps, MOST_STEPS // 10)
        self.steps = 0
        super().__init__()

    def begin(self) -> None:
        """Count the steps of a run from here."""
        self.steps = 0

    def count_steps(self) -> bool:
        """Say whether a run has to end."""
        self.steps += 1
        return self.steps > 10

    def execute(self, statement: str) -> None:
        """Run a statement."""
        self.database.execute(statement)

    def read(self, query: str) -> Result:
        """All rows of a query."""
        found = self.database.execute(query)
        return Result(tuple(column[0] for column in found.description), tuple(found.fetchall()))


class PostgreSQL(TransactionalEngine):
    """A PostgreSQL server that listens on a socket in a folder."""

    syntax = POSTGRES
    errors = psycopg.Error

    def __init__(self, folder: str) -> None:
        """Make the source tables in a schema of its own."""
        self.database = psycopg.connect(
            host=folder, user="lineage", dbname="postgres", autocommit=True, prepare_threshold=None
        )
        self.execute("drop schema if exists witness cascade; create schema witness; set search_path to witness")
        self.execute(f"set statement_timeout to {int(MOST_SECONDS * 1000)}; set client_min_messages to error")
        super().__init__()

    def execute(self, statement: str) -> None:
        """Run a statement."""
        self.database.execute(statement.encode())

    def read(self, query: str) -> Result:
        """All rows of a query."""
        found = self.database.execute(query.encode())
        return Result(tuple(column.name for column in found.description or ()), tuple(found.fetchall()))


class MariaDB(TransactionalEngine):
    """A MariaDB server that listens on a socket; only temporary tables can be taken back there."""

    syntax = MARIADB
    errors = pymysql.Error

    def __init__(self, socket: str) -> None:
        """Make the source tables in a database of its own, which compares texts byte by byte as other engines do."""
        self.database = pymysql.connect(unix_socket=socket, user="root", autocommit=True, charset="utf8mb4")
        self.execute("drop database if exists witness")
        self.execute("create database witness character set utf8mb4 collate utf8mb4_nopad_bin")
        self.execute("use witness")
        self.execute("set names utf8mb4 collate utf8mb4_nopad_bin")
        self.execute("set sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_ALL_TABLES'")
        self.execute(f"set max_statement_time = {MOST_SECONDS}")
        super().__init__()

    def execute(self, statement: str) -> None:
        """Run a statement."""
        with self.database.cursor() as cursor:
            cursor.execute(statement)

    def read(self, query: str) -> Result:
        """All rows of a query."""
        with self.database.cursor() as cursor:
            cursor.execute(query)
            return Result(tuple(column[0] for column in cursor.description or ()), tuple(cursor.fetchall()))

    def take_back(self, program: Program) -> None:
        """Undo what a program did; temporary tables outlive their transaction."""
        self.execute("rollback")
        for target in program.made:
            self.execute(f"drop temporary table if exists {target}")


class Spark:
    """Spark in this process; its programs are queries."""

    syntax = SPARK

    def __init__(self, session: "SparkSession") -> None:
        """Hold a session."""
        self.session = session
        self.loaded: dict[str, tuple[Row, ...]] = {}

    def load(self, rows: Rows, tables: Sequence[str]) -> None:
        """Fill the tables that hold other rows."""
        for name in tables:
            if self.loaded.get(name) != rows[name]:
                columns = list_tables(self.syntax)[name]
                casts = [f"cast({own} as {self.syntax.types[kind]}) as {own}" for own, kind in columns.items()]
                values = ", ".join(f"({', '.join(map(write_spark_constant, row))})" for row in rows[name])
                text = f"select {', '.join(casts)} from values {values} as given({', '.join(columns)})"
                self.session.sql(text).createOrReplaceTempView(name)
                self.loaded[name] = rows[name]

    def run(self, program: Program, rows: Rows) -> Results:
        """Run a query."""
        from pyspark.errors import PySparkException

        try:
            self.load(rows, program.tables(list(rows)))
            found = self.session.sql(program.statements[0].removeprefix(CREATE_RESULT))
            return {RESULT: Result(tuple(found.columns), tuple(tuple(row) for row in found.collect()))}
        except PySparkException as refusal:
            raise Refused(str(refusal).partition("\n")[0]) from None


def write_spark_constant(value: Any) -> str:
    """A value as SQL of Spark."""
    match value:
        case list():
            return f"array({', '.join(map(write_constant, value))})" if value else "cast(array() as array<string>)"
        case dict():
            return "named_struct(" + ", ".join(f"'{name}', {write_constant(own)}" for name, own in value.items()) + ")"
        case _:
            return write_constant(value)
