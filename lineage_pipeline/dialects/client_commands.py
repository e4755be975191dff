"""Client commands: lines for psql, SQL*Plus and the MySQL, Hive and Snowflake shells, not for the database."""

import re

import msgspec


class ClientCommands(msgspec.Struct, frozen=True):
    """What the command lines of one client look like."""

    line: re.Pattern[str]
    """Matches a command at the start of a statement; its group `word` is the name of the command."""
    kinds: dict[str, str] = {}
    """The statement kind of commands that several clients have, by word; others are CLIENT COMMAND."""
    statement: frozenset[str] = frozenset()
    """Commands that are a SQL statement after their mark: `\\copy`."""
    anywhere: frozenset[str] = frozenset()
    """Commands that count inside of an open statement too."""
    interrupts: re.Pattern[str] | None = None
    """Matches a command that ends an open statement behind a blank line (SQL*Plus docs: SET SQLBLANKLINES)."""
    ends: re.Pattern[str] | None = None
    """Matches what ends a statement instead of a semicolon: `\\g`."""
    data: re.Pattern[str] | None = None
    """Matches a statement that rows of data follow: `COPY t FROM stdin;`."""
    data_end: re.Pattern[str] | None = None
    """Matches the line that ends such rows; its group 1 is the mark."""


_INCLUDE_WORDS = dict.fromkeys(("i", "ir", "include", "include_relative", "@", "@@", "start", "source"), "INCLUDE")
_OTHER_WORDS = {"echo": "ECHO", "qecho": "ECHO", "warn": "ECHO", "prompt": "ECHO", "set": "SET", "unset": "SET"}
_CONNECT_WORDS = {"c": "CONNECT", "connect": "CONNECT", "conn": "CONNECT", "u": "CONNECT"}
COMMAND_KINDS = {**_INCLUDE_WORDS, **_OTHER_WORDS, **_CONNECT_WORDS, "delimiter": "DELIMITER"}
"""The statement kinds of commands that several clients have, by word."""

DOT_SHELL = ClientCommands(
    re.compile(r"\.(?P<word>[a-z]+)(?=\s|$)"), {**COMMAND_KINDS, "read": "INCLUDE", "print": "ECHO"}
)
"""The commands of the shells of SQLite and DuckDB, which take it from there: `.read other.sql`."""
