"""Lines for the client and not for the database: psql's, SQL*Plus', those of the MySQL, Hive and Snowflake shells."""

import re

import msgspec


class Directives(msgspec.Struct, frozen=True):
    """What the lines of one client look like.

    `line` matches one at the start of a statement, its group `word` naming the command; `anywhere` are words that are
    one inside a statement too. `kinds` name commands that others have as well; `statement` are those that are a
    statement of the language behind their mark, and `ends` what ends a statement instead of a semicolon.
    """

    line: re.Pattern[str]
    kinds: dict[str, str] = {}
    statement: frozenset[str] = frozenset()
    anywhere: frozenset[str] = frozenset()
    ends: re.Pattern[str] | None = None
    data: re.Pattern[str] | None = None
    data_end: re.Pattern[str] | None = None


_INCLUDES = dict.fromkeys(("i", "ir", "include", "include_relative", "@", "@@", "start", "source"), "INCLUDE")
_OTHERS = {"echo": "ECHO", "qecho": "ECHO", "warn": "ECHO", "prompt": "ECHO", "set": "SET", "unset": "SET"}
_CONNECTS = {"c": "CONNECT", "connect": "CONNECT", "conn": "CONNECT", "u": "CONNECT"}
_KINDS = {**_INCLUDES, **_OTHERS, **_CONNECTS, "delimiter": "DELIMITER"}

_PSQL = Directives(
    re.compile(r"\\(?P<word>[A-Za-z!?_]+)"),
    _KINDS,
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

DIRECTIVES: dict[str, Directives] = {
    "postgres": _PSQL,
    "redshift": _PSQL,
    "oracle": Directives(
        re.compile(
            r"(?P<word>@@?|/(?=\s*$)|(?:rem(?:ark)?|pro(?:mpt)?)\b|(?:set|spo(?:ol)?|whenever|def(?:ine)?|undef(?:ine)?|"
            r"col(?:umn)?|tti(?:tle)?|bti(?:tle)?|bre(?:ak)?|comp(?:ute)?|conn(?:ect)?|disc(?:onnect)?|quit|host|pau(?:se)?|"
            r"acc(?:ept)?|var(?:iable)?|pri(?:nt)?|cl(?:ear)?|sta(?:rt)?|timi(?:ng)?|store|rephe(?:ader)?|repfo(?:oter)?|"
            r"sho(?:w)?|desc(?:ribe)?|ru?n?(?=\s*$))\b(?!\s*(?:[(.,]|:?=)))",
            re.IGNORECASE,
        ),
        _KINDS,
        anywhere=frozenset({"/"}),
    ),
    "mysql": Directives(
        re.compile(r"(?P<word>delimiter|source|\\[.!a-zA-Z])(?=\s|$)", re.IGNORECASE),
        _KINDS,
        anywhere=frozenset({"delimiter"}),
    ),
    "hive": Directives(re.compile(r"(?P<word>dfs(?=\s+-)|source(?=\s)|!(?=\w))", re.IGNORECASE), _KINDS),
    "snowflake": Directives(re.compile(r"!(?P<word>[a-z]+)"), _KINDS),
    "teradata": Directives(re.compile(r"\.(?P<word>[a-z]+)", re.IGNORECASE), {**_KINDS, "run": "INCLUDE"}),
}
"""The clients by family of dialects."""
