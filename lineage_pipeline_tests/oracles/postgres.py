"""The analyser of the real PostgreSQL: the columns of views over empty tables, as its catalogue has them."""

import atexit
import re
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache

import psycopg

from lineage_pipeline_tests.oracles.answers import Answer, Answered, Sources, tables
from lineage_pipeline_tests.oracles.server import binaries, running

COLUMNS = """
select attname, format_type(atttypid, atttypmod) from pg_attribute
where attrelid = 'asked'::regclass and attnum > 0 order by attnum
"""

READ = """
select distinct tables.relname || '.' || attname
from pg_depend
join pg_rewrite on pg_rewrite.oid = objid and ev_class = 'asked'::regclass
join pg_class tables on tables.oid = refobjid
join pg_attribute on attrelid = refobjid and attnum = refobjsubid
where classid = 'pg_rewrite'::regclass and refobjid <> ev_class and refobjsubid > 0
"""

SPELLINGS = {
    "integer": "INT",
    "character varying": "VARCHAR",
    "character": "CHAR",
    "numeric": "DECIMAL",
    "timestamp without time zone": "TIMESTAMP",
    "timestamp with time zone": "TIMESTAMPTZ",
    "time without time zone": "TIME",
    "time with time zone": "TIMETZ",
    "bit varying": "VARBIT",
    '"bit"': "BIT",
}
"""Types by the names that we have for them; all others are called the same."""

_TYPE = re.compile(r"(\"?[a-z ]+?\"?)(\([\d,]+\))?( with(?:out)? time zone)?((?:\[\])*)")


@cache
def _server() -> psycopg.Connection:
    """A connection to a server of its own, which stays until the process ends."""
    programs = binaries()
    assert programs is not None, "PostgreSQL is not installed"
    stack = ExitStack()
    atexit.register(stack.close)
    home = stack.enter_context(running(programs))
    return stack.enter_context(psycopg.connect(host=home, user="lineage", dbname="postgres", autocommit=True))


def create(wanted: Mapping[str, str]) -> None:
    """Make empty tables: by name, their columns as a list of definitions."""
    for name, columns in wanted.items():
        _server().execute(f"drop table if exists {name}; create table {name} ({columns})".encode())


@cache
def _ground() -> psycopg.Connection:
    """The server once the tables of the fixtures are there."""
    create(tables("postgres"))
    return _server()


def spelt(kind: str) -> str:
    """A type of PostgreSQL as we write it."""
    found = _TYPE.fullmatch(kind)
    if found is None:
        return kind.upper()
    name, digits, zone, arrays = (part or "" for part in found.groups())
    known = SPELLINGS.get(name + zone, name + zone)
    return f"{known}{digits}{arrays}".upper()


def reads(sql: str) -> Sources:
    """The columns of tables that a view depends on that is defined by a query."""
    connection = _ground()
    connection.execute(f"create temporary view asked as {sql}".encode())
    rows = connection.execute(READ).fetchall()
    connection.execute("drop view asked")
    return frozenset(name for (name,) in rows)


def _described(connection: psycopg.Connection, sql: str) -> Answer:
    """What PostgreSQL says about the columns of a statement."""
    connection.pgconn.prepare(b"", sql.encode())
    found = connection.pgconn.describe_prepared(b"")
    kinds = [(found.ftype(at), found.fmod(at)) for at in range(found.nfields)]
    texts = [connection.execute("select format_type(%s, %s)", kind).fetchone() for kind in kinds]
    names = [(found.fname(at) or b"").decode() for at in range(found.nfields)]
    return tuple(Answered(name, spelt(text[0])) for name, text in zip(names, texts, strict=True) if text is not None)


def describe(sql: str) -> Answer | str:
    """What PostgreSQL says about the columns of a view that is defined by a query, or why it refuses it."""
    connection = _ground()
    try:
        connection.execute(f"create temporary view asked as {sql}".encode())
    except psycopg.errors.DuplicateColumn:  # no view has two columns of one name: the statement is described instead
        return _described(connection, sql)
    except psycopg.Error as refusal:
        return str(refusal).partition("\n")[0]
    rows = connection.execute(COLUMNS).fetchall()
    connection.execute("drop view asked")
    return tuple(Answered(name, spelt(kind)) for name, kind in rows)
