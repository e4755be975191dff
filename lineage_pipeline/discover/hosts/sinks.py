"""Where programs hand SQL over: the calls, and the arguments of theirs that are SQL."""

import ast
import re
from collections.abc import Iterator, Mapping

import msgspec


class Sink(msgspec.Struct, frozen=True):
    """An argument that is SQL if it looks like it; of a `sure` one anything else is worth telling.

    `binds`: `%s` is a parameter. `fields`: `{x}` is one that the call names.
    """

    node: ast.expr
    sure: bool = False
    binds: bool = False
    fields: ast.Call | None = None


class Way(msgspec.Struct, frozen=True):
    """How a function takes SQL: the keywords besides its first argument, and whose method it has to be to be sure."""

    keywords: frozenset[str] = frozenset()
    owners: re.Pattern[str] | None = None
    binds: bool = True
    fields: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CURSORS = re.compile(r"(?i)^_?(cur|cursor|conn|connection|con|engine|db|database|session|tx|sql_?context)\w*$")
_SESSIONS = re.compile(r"(?i)^_?(spark\w*|sql_?context|hive_?context|sqlc|duckdb)$")
_EXECUTE = Way(_words("sql query statement operation"), _CURSORS)
_READ = Way(_words("sql query"), re.compile(""))
_LOOSE = Way(_words("sql query statement"))

CALLS: Mapping[str, Way] = {
    "sql": Way(_words("sqlQuery query"), _SESSIONS, binds=False, fields=True),
    **dict.fromkeys(_words("execute executemany executescript execute_async execute_string exec_driver_sql"), _EXECUTE),
    **dict.fromkeys(_words("read_sql read_sql_query read_database"), _READ),
    **dict.fromkeys(
        _words(
            "text DDL query run run_query execute_query execute_sql raw_sql read_gbq get_records get_first mogrify "
            "get_pandas_df get_df fetch fetchrow fetchval fetch_all fetch_one copy_expert sql_query query_and_wait "
            "execute_many query_df command"
        ),
        _LOOSE,
    ),
}
"""The functions and methods that take SQL first, by name."""

KEYWORDS = _words("sql hql bql query sql_query statement pre_sql post_sql preoperator postoperator select_query")
"""Arguments of operators, whatever those are called, that are SQL or lists of it."""

KEYS = _words("query sql")
"""Keys of dictionaries whose entries are SQL: the configuration of a job."""


def sinks_of(node: ast.expr) -> Iterator[Sink]:
    """Give the arguments of a call, or entries of a dictionary, that may be SQL."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value in KEYS:
                yield Sink(value)
    if not isinstance(node, ast.Call):
        return
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    way = CALLS.get(name)
    if way is not None and node.args:
        sure = way.owners is not None and way.owners.match(_owner(function)) is not None
        yield Sink(node.args[0], sure, way.binds, node if way.fields else None)
    keywords = KEYWORDS | way.keywords if way is not None else KEYWORDS
    for item in node.keywords:
        if item.arg in keywords:
            yield Sink(item.value, binds=way is not None and way.binds)


def _owner(function: ast.expr) -> str:
    """Give the name of what a method is called on, the last part of it: `self.spark` is `spark`."""
    value = function.value if isinstance(function, ast.Attribute) else function
    if isinstance(value, ast.Call):
        value = value.func
    return value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")


LEAD = r"^(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*"
FIRST_WORDS = (
    "SELECT WITH INSERT UPDATE DELETE MERGE CREATE ALTER DROP TRUNCATE GRANT REVOKE SET USE SHOW DESCRIBE DESC EXPLAIN "
    "CALL EXEC EXECUTE COPY REPLACE REFRESH OPTIMIZE VACUUM ANALYZE CACHE UNCACHE MSCK LOAD UNLOAD BEGIN DECLARE "
    "PRAGMA ATTACH DETACH EXPORT IMPORT COMMIT ROLLBACK VALUES FROM UPSERT INSTALL PUT GET LIST REINDEX COMMENT KILL "
    "LOCK DO"
)
BEGINS = re.compile(LEAD + rf"(?:{'|'.join(FIRST_WORDS.split())})\b", re.IGNORECASE | re.DOTALL)
"""What a text begins with that is SQL, where SQL is expected."""

SHAPES = re.compile(
    LEAD + r"(?:SELECT\b.*\bFROM\b|WITH\b.*\bAS\s*(?:NOT\s+|MATERIALIZED\s*)*\(|INSERT\s+(?:INTO|OVERWRITE|OR|IGNORE)\b"
    r"|UPDATE\b.*\bSET\b|DELETE\s+FROM\b|MERGE\s+INTO\b|TRUNCATE\s+TABLE\b|REPLACE\s+INTO\b|UNLOAD\s*\(|VACUUM\s+\w"
    r"|COPY\s+(?:INTO\b|.*\b(?:FROM|TO)\b)|(?:CREATE|ALTER|DROP)\s+(?:\w+\s+){0,5}(?:TABLE|VIEW|SCHEMA|DATABASE|INDEX"
    r"|FUNCTION|PROCEDURE|TRIGGER|SEQUENCE|STAGE|ROLE|USER|WAREHOUSE|TASK|STREAM|MODEL|CATALOG|EXTENSION|TYPE)\b"
    r"|(?:CALL|EXEC)\s+[\w.\"\[]+)",
    re.IGNORECASE | re.DOTALL,
)
"""What a text looks like that is SQL, wherever it stands."""
