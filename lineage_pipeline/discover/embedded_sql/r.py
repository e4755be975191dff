"""SQL in R: string literals in calls that run SQL; variables are not followed."""

import re

from lineage_pipeline.discover.embedded_sql.sql_sinks import SQL_START
from lineage_pipeline.discover.embedded_sql.string_literals import unescape_parts
from lineage_pipeline.discover.embedded_sql.text_parts import ExtractedSql, TextPart, TextValue, join_parts

R_SQL_CALL = re.compile(
    r"\b(?:sql|dbGetQuery|dbExecute|dbSendQuery|dbSendStatement|sqlQuery|sqldf|spark_sql|SQL)\s*\(\s*"
    r"(?:[\w.$]+\s*,\s*)?(?:\w+\s*=\s*)?(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)')",
    re.DOTALL,
)
R_ESCAPE = re.compile(r"\\.", re.DOTALL)
R_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def extract_r(text: str) -> ExtractedSql:
    """Extract the SQL of an R program."""
    return ExtractedSql(
        tuple(
            value for match in R_SQL_CALL.finditer(text) if SQL_START.match(join_parts(value := _literal_parts(match)))
        )
    )


def _literal_parts(match: re.Match[str]) -> TextValue:
    group = 1 if match[1] is not None else 2
    value: tuple[TextPart, ...] = tuple(unescape_parts(match[group], match.start(group), R_ESCAPE, _r_escape_value))
    return value


def _r_escape_value(escape: str) -> str:
    return R_SIMPLE_ESCAPES.get(escape[1], escape[1])
