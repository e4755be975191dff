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
    ends: re.Pattern[str] | None = None
    """Matches what ends a statement instead of a semicolon: `\\g`."""
    data: re.Pattern[str] | None = None
    """Matches a statement that rows of data follow: `COPY t FROM stdin;`."""
    data_end: re.Pattern[str] | None = None
    """Matches the line that ends such rows; its group 1 is the mark."""


_INCLUDE_WORDS = dict.fromkeys(("i", "ir", "include", "include_relative", "@", "@@", "start", "source"), "INCLUDE")
_OTHER_WORDS = {"echo": "ECHO", "qecho": "ECHO", "warn": "ECHO", "prompt": "ECHO", "set": "SET", "unset": "SET"}
_CONNECT_WORDS = {"c": "CONNECT", "connect": "CONNECT", "conn": "CONNECT", "u": "CONNECT"}
_COMMAND_KINDS = {**_INCLUDE_WORDS, **_OTHER_WORDS, **_CONNECT_WORDS, "delimiter": "DELIMITER"}

_PSQL = ClientCommands(
    re.compile(r"\\(?P<word>[A-Za-z!?_]+)"),
    _COMMAND_KINDS,
    statement=frozenset({"copy"}),
    anywhere=frozenset(
        "if elif else endif echo i ir set unset c connect pset x timing watch d dt q o t a r p e".split()
    ),
    ends=re.compile(r"\\(?:g(?:set|exec|desc|x)?|crosstabview|watch|bind|bind_named|parse|sendpipeline)\b[^\n]*"),
    # Each part is taken once for all and ends where another COPY begins: or many would each look at all others.
    data=re.compile(
        r"^copy\b(?>(?:[^;\n]|\n(?!copy\b))*?\bfrom\s+stdin\b)(?:[^;\n]|\n(?!copy\b))*+;[^\n]*\n", re.IGNORECASE | re.M
    ),
    data_end=re.compile(r"^(\\\.)[ \t]*$", re.M),
)

CLIENT_COMMANDS: dict[str, ClientCommands] = {
    "postgres": _PSQL,
    "redshift": _PSQL,
    "oracle": ClientCommands(
        re.compile(
            r"(?P<word>@@?|/(?=\s*$)|(?:rem(?:ark)?|pro(?:mpt)?)\b|(?:set|spo(?:ol)?|whenever|def(?:ine)?|undef(?:ine)?|"
            r"col(?:umn)?|tti(?:tle)?|bti(?:tle)?|bre(?:ak)?|comp(?:ute)?|conn(?:ect)?|disc(?:onnect)?|quit|host|pau(?:se)?|"
            r"acc(?:ept)?|var(?:iable)?|pri(?:nt)?|cl(?:ear)?|sta(?:rt)?|timi(?:ng)?|store|rephe(?:ader)?|repfo(?:oter)?|"
            r"sho(?:w)?|desc(?:ribe)?|ru?n?(?=\s*$))\b(?!\s*(?:[(.,]|:?=)))",
            re.IGNORECASE,
        ),
        _COMMAND_KINDS,
        anywhere=frozenset({"/"}),
    ),
    "mysql": ClientCommands(
        re.compile(r"(?P<word>delimiter|source|\\[.!a-zA-Z])(?=\s|$)", re.IGNORECASE),
        _COMMAND_KINDS,
        anywhere=frozenset({"delimiter"}),
    ),
    "hive": ClientCommands(re.compile(r"(?P<word>dfs(?=\s+-)|source(?=\s)|!(?=\w))", re.IGNORECASE), _COMMAND_KINDS),
    "snowflake": ClientCommands(re.compile(r"!(?P<word>[a-z]+)"), _COMMAND_KINDS),
    "teradata": ClientCommands(re.compile(r"\.(?P<word>[a-z]+)", re.IGNORECASE), {**_COMMAND_KINDS, "run": "INCLUDE"}),
}
"""The clients by dialect family."""
