"""SQL in Scala: the strings that stand in calls of `sql`, without following variables."""

import re

from lineage_pipeline.discover.hosts.literals import unescaped
from lineage_pipeline.discover.hosts.sinks import BEGINS
from lineage_pipeline.discover.hosts.values import Extract, Part, Value, substituted, text_of
from lineage_pipeline.vocabulary.analysis import HOLE

CALL = re.compile(
    r'\b(?:sql|executeQuery|executeUpdate|execute)\s*\(\s*([sf]?)("""(.*?)"""|"((?:[^"\\\n]|\\.)*)")', re.DOTALL
)
FIELD = re.compile(r"\$\{[^}]*\}|\$[A-Za-z_]\w*")
ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
MARGIN = re.compile(r"(?m)^[ \t]*\|")
SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def read_scala(text: str) -> Extract:
    """Give the SQL of a program."""
    return Extract(tuple(value for match in CALL.finditer(text) if BEGINS.match(text_of(value := _value(match, text)))))


def _value(match: re.Match[str], text: str) -> Value:
    long = match[3] is not None
    body, at = (match[3], match.start(3)) if long else (match[4], match.start(4))
    value: Value = (Part(body, at),) if long else tuple(unescaped(body, at, ESCAPE, _meaning))
    if long and text.startswith(".stripMargin", match.end()):
        value = substituted(value, MARGIN, lambda found: (Part(" " * len(found[0])),))
    return substituted(value, FIELD, lambda found: (Part(HOLE),)) if match[1] else value


def _meaning(escape: str) -> str:
    return chr(int(escape[2:], 16)) if escape[1] == "u" else SIMPLE.get(escape[1], escape[1])
