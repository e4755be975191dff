"""SQL in R: the strings that stand in calls that run SQL, without following variables."""

import re

from lineage_pipeline.discover.hosts.literals import unescaped
from lineage_pipeline.discover.hosts.sinks import BEGINS
from lineage_pipeline.discover.hosts.values import Extract, Part, Value, text_of

CALL = re.compile(
    r"\b(?:sql|dbGetQuery|dbExecute|dbSendQuery|dbSendStatement|sqlQuery|sqldf|spark_sql|SQL)\s*\(\s*"
    r"(?:[\w.$]+\s*,\s*)?(?:\w+\s*=\s*)?(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)')",
    re.DOTALL,
)
ESCAPE = re.compile(r"\\.", re.DOTALL)
SIMPLE = {"n": "\n", "t": "\t", "r": "\r"}


def read_r(text: str) -> Extract:
    """Give the SQL of a program."""
    return Extract(tuple(value for match in CALL.finditer(text) if BEGINS.match(text_of(value := _value(match)))))


def _value(match: re.Match[str]) -> Value:
    group = 1 if match[1] is not None else 2
    value: tuple[Part, ...] = tuple(unescaped(match[group], match.start(group), ESCAPE, _meaning))
    return value


def _meaning(escape: str) -> str:
    return SIMPLE.get(escape[1], escape[1])
