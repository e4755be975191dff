"""SQL sinks: the calls of programs that run SQL, which arguments of theirs are SQL, and whether a text is SQL."""

import ast
import re
from collections.abc import Iterator, Mapping

import msgspec

from lineage_pipeline.discover.embedded_sql.known_values import ProgramFunction
from lineage_pipeline.discover.embedded_sql.python_evaluator import (
    TRANSPARENT_FUNCTIONS,
    ValueEvaluator,
    format_fields,
    keyword_texts,
)
from lineage_pipeline.discover.embedded_sql.text_parts import (
    UNKNOWN_PART,
    PossibleTexts,
    TextPart,
    TextValue,
    join_parts,
    substitute_placeholders,
)

BIND_PARAMETERS = re.compile(r"%s|%\(\w+\)s")
"""Bind parameters of database drivers."""

NUMBERED_PARAMETERS = re.compile(r"(?<![\w$])\$\d+\b(?!\$)")
"""Bind parameters by number; inside a dollar-quoted function body they are its own."""

JINJA_TAGS = re.compile(r"\{\{(?:(?!\{\{).)*?\}\}|\{[%#](?:(?!\{[%#]).)*?[%#]\}", re.DOTALL)
"""Templates that an Airflow operator fills when it runs."""

FORMAT_FIELDS = re.compile(r"\{[A-Za-z_]\w*\}")
"""Fields of a format text that is filled later."""

OPEN_VALUES = re.compile(r"(\([^()]*\)\s*)?\bVALUES\s*;?\s*\Z", re.IGNORECASE)
"""The end of an INSERT whose rows the driver sends separately."""

SQL_FILE_NAME = re.compile(r"^[\w./ {}-]+\.(sql|hql)$", re.IGNORECASE)


class SqlSink(msgspec.Struct, frozen=True):
    """An argument that is SQL if it looks like it; for a `sure` one anything else is reported.

    `binds`: `%s` is a parameter. `fields`: `{x}` is filled by keywords of the call. A `spare` one counts only where
    no other sink takes the same text.
    """

    node: ast.expr
    sure: bool = False
    binds: bool = False
    fields: ast.Call | None = None
    spare: bool = False


class SinkSignature(msgspec.Struct, frozen=True):
    """How a function takes SQL: keywords besides its first argument, and the receivers for which it is sure."""

    keywords: frozenset[str] = frozenset()
    owners: re.Pattern[str] | None = None
    binds: bool = True
    fields: bool = False


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CURSOR_RECEIVERS = re.compile(
    r"(?i)^_?(cur|curs|cursor|conn|connection|con|engine|db|database|session|tx|transaction|sql_?context)\w*$|hook$"
)
_SESSION_RECEIVERS = re.compile(r"(?i)^_?(spark\w*|sql_?context|hive_?context|sqlc|duckdb|session)$")
_HOOK_RECEIVERS = re.compile(r"(?i)hook$|^_?(bq|bigquery)\w*$|^(duckdb|wr|awswrangler)$")
_ANY_RECEIVER = re.compile("")
_EXECUTE_SIGNATURE = SinkSignature(_split_words("sql query statement operation"), _CURSOR_RECEIVERS)
_READ_SIGNATURE = SinkSignature(_split_words("sql query"), _ANY_RECEIVER)
_LOOSE_SIGNATURE = SinkSignature(_split_words("sql query statement"), _HOOK_RECEIVERS)

SINK_CALLS: Mapping[str, SinkSignature] = {
    "sql": SinkSignature(_split_words("sqlQuery query"), _SESSION_RECEIVERS, binds=False, fields=True),
    **dict.fromkeys(
        _split_words("execute executemany executescript execute_async execute_string exec_driver_sql"),
        _EXECUTE_SIGNATURE,
    ),
    **dict.fromkeys(
        _split_words("read_sql read_sql_query read_database exec_driver_sql get_pandas_df get_pandas_df_by_chunks"),
        _READ_SIGNATURE,
    ),
    **dict.fromkeys(
        _split_words(
            "text DDL query run run_query execute_query execute_sql raw_sql read_gbq get_records get_first mogrify "
            "get_df get_df_by_chunks fetch fetchrow fetchval fetch_all fetch_one copy_expert sql_query query_and_wait "
            "execute_many query_df command insert_job bulk_dump run_cli"
        ),
        _LOOSE_SIGNATURE,
    ),
}
"""Functions and methods whose first argument is SQL, by name."""

SINK_NAME_HINT = re.compile(r"(?i)sql|quer(?:y|ies)|exec|statement|stmt")
"""Function names that suggest running SQL; all their arguments that look like SQL are taken."""

SINK_KEYWORDS = _split_words(
    "sql hql bql query sql_query statement pre_sql post_sql preoperator postoperator select_query sql_stmt"
)
"""Keyword arguments of operators that are SQL or lists of it."""

OPERATOR_NAME = re.compile(r"^[A-Z]\w*(?:Operator|Sensor)$")
"""Class names of Airflow operators and sensors: their SQL arguments that are not SQL are reported."""

LITERAL_NODES = (ast.Constant, ast.JoinedStr)
"""Expressions that are text literals."""

SURE_KEYWORDS = _split_words("sql hql bql")
"""Keyword arguments of operators that are certainly SQL."""

SQL_KEYS = re.compile(r"(?i)^(?:\w*_)?(?:sql|hql|query|queries|statements?)(?:_\w*)?$")
"""Dictionary keys whose entries are SQL: the configuration of a job."""


NON_SINK_NAME = re.compile(
    r"(?i)^(?:print|log|debug|info|warn|warning|error|critical|exception|fail|skip|xfail|compile|match|fullmatch|search|sub"
    r"|findall|finditer|split|partition|startswith|endswith|find|count|index|replace|raises|echo|help|option|argument"
    r"|add_argument|getenv|assert\w*|\w*(?:error|exception|warning|message))$"
)
"""Names of functions that print, compare or search their arguments, and run nothing."""


def find_sinks(node: ast.Call | ast.Dict, own: ProgramFunction | None = None) -> Iterator[SqlSink]:
    """Return the arguments of a call, or entries of a dictionary, that may be SQL.

    Functions of the program's `own` are skipped, as their bodies are read themselves.
    """
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and SQL_KEYS.match(key.value):
                yield SqlSink(value)
        return
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    way = SINK_CALLS.get(name)
    if own is not None:
        yield from (SqlSink(argument, spare=True) for argument in node.args)
    elif way is not None or (name not in TRANSPARENT_FUNCTIONS and SINK_NAME_HINT.search(name)):
        yield from _positional_sinks(node, way)
    elif name not in TRANSPARENT_FUNCTIONS and not NON_SINK_NAME.match(
        name
    ):  # SQL that nothing says is any is known by its looks
        yield from (SqlSink(argument, spare=True) for argument in node.args if isinstance(argument, LITERAL_NODES))
    yield from _keyword_sinks(node, way, OPERATOR_NAME.match(name) is not None)


def _positional_sinks(node: ast.Call, way: SinkSignature | None) -> Iterator[SqlSink]:
    for place, argument in enumerate(node.args):
        first = way if place == 0 else None
        sure = (
            first is not None
            and first.owners is not None
            and first.owners.search(_receiver_name(node.func)) is not None
        )
        yield SqlSink(argument, sure, way is None or way.binds, node if first is not None and first.fields else None)


def _keyword_sinks(node: ast.Call, way: SinkSignature | None, operator: bool) -> Iterator[SqlSink]:
    keywords = SINK_KEYWORDS | way.keywords if way is not None else SINK_KEYWORDS
    for item in node.keywords:
        if item.arg in keywords:
            sure = (operator and item.arg in SURE_KEYWORDS) or (way is not None and way.owners is _ANY_RECEIVER)
            yield SqlSink(item.value, sure, way is not None and way.binds)
        elif item.arg and SQL_KEYS.match(item.arg):
            yield SqlSink(item.value, spare=True)


def returns_sql(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function is decorated as a task that runs the SQL it returns: `@task.sql`."""
    for decorator in node.decorator_list:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(named, ast.Attribute) and named.attr == "sql" and _receiver_name(named) == "task":
            return True
    return False


def _receiver_name(function: ast.expr) -> str:
    """Return the last part of the receiver of a method: `self.spark` is `spark`."""
    value = function.value if isinstance(function, ast.Attribute) else function
    if isinstance(value, ast.Call):
        value = value.func
    return value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")


LEADING_TEXT = r"^(?>\s|\(|--[^\n]*\n|/\*.*?\*/)*+"
FIRST_WORDS = (
    "SELECT WITH INSERT UPDATE DELETE MERGE CREATE ALTER DROP TRUNCATE GRANT REVOKE SET USE SHOW DESCRIBE DESC EXPLAIN "
    "CALL EXEC EXECUTE COPY REPLACE REFRESH OPTIMIZE VACUUM ANALYZE CACHE UNCACHE MSCK LOAD UNLOAD BEGIN DECLARE "
    "PRAGMA ATTACH DETACH EXPORT IMPORT COMMIT ROLLBACK VALUES FROM UPSERT INSTALL PUT GET LIST REINDEX COMMENT KILL "
    "LOCK DO"
)
SQL_START = re.compile(LEADING_TEXT + rf"(?:{'|'.join(FIRST_WORDS.split())})\b", re.IGNORECASE | re.DOTALL)
"""The start of a SQL text, where SQL is expected."""

SQL_SHAPE = re.compile(
    LEADING_TEXT
    + r"(?:SELECT\b.*\bFROM\b|WITH\b.*\bAS\s*(?:NOT\s+|MATERIALIZED\s*)*\(|INSERT\s+(?:INTO|OVERWRITE|OR|IGNORE)\b"
    r"|UPDATE\b.*\bSET\b|DELETE\s+FROM\b|MERGE\s+INTO\b|TRUNCATE\s+TABLE\b|REPLACE\s+INTO\b|UNLOAD\s*\(|VACUUM\s+\w"
    r"|COPY\s+(?:INTO\b|.*\b(?:FROM|TO)\b)|(?:CREATE|ALTER|DROP)\s+(?:\w+\s+){0,5}(?:TABLE|VIEW|SCHEMA|DATABASE|INDEX"
    r"|FUNCTION|PROCEDURE|TRIGGER|SEQUENCE|STAGE|ROLE|USER|WAREHOUSE|TASK|STREAM|MODEL|CATALOG|EXTENSION|TYPE)\b"
    r"|(?:CALL|EXEC)\s+[\w.\"\[]+)",
    re.IGNORECASE | re.DOTALL,
)
"""The form of a SQL text, wherever it is found."""


COMMAND_START = re.compile(LEADING_TEXT + r"[A-Za-z]\w*\s")
"""The start of a command whose first word is unknown."""


SQL_STATEMENT = re.compile(
    LEADING_TEXT
    + r"(?:SELECT\b(?>.*?[,*=().\d\n]).*\bFROM\s+[\w\"`\[{]|SELECT\b.*\bFROM\s+\w+\.\w|WITH\s+\w+\s+AS\s*\("
    r"|INSERT\s+(?:INTO|OVERWRITE)\s+\S|UPDATE\s+\S+\s+SET\s+\S+\s*=|DELETE\s+FROM\s+\S|(?:MERGE|COPY)\s+INTO\s+\S"
    r"|CREATE\s+(?:\w+\s+){0,4}(?:TABLE|VIEW|SCHEMA|DATABASE)\s+[\w\"`\[{]"
    r"|(?:ALTER|DROP)\s+(?:TABLE|VIEW)\s+[\w\"`\[{])",
    re.IGNORECASE | re.DOTALL,
)
"""The form of a text that can hardly be anything but SQL."""


DETERMINERS = "the|your|our|this|that|these|those|any|some|each|every|an?"
PROSE_SENTENCE = re.compile(
    LEADING_TEXT + rf"(?:SELECT|UPDATE|DELETE|CREATE|DROP|ALTER)\s+(?:(?:{DETERMINERS}|one)\s+(?!FROM\b|AS\b)[a-z]"
    rf"|.*\bFROM\s+(?:{DETERMINERS}|all|it|them)\b(?![.\w]|\s+AS\b|\s*[,;)]))",
    re.IGNORECASE | re.DOTALL,
)
"""The form of an English sentence that starts like SQL."""


def is_sql_statement(said: str) -> bool:
    """Return whether a text is SQL without any hint from its use."""
    return SQL_STATEMENT.match(said) is not None and PROSE_SENTENCE.match(said) is None


def is_sql_text(said: str, *, sure: bool) -> bool:
    """Return whether a text is SQL, where it is `sure` to be run, or by its form."""
    if not sure:
        return SQL_SHAPE.match(said) is not None and PROSE_SENTENCE.match(said) is None
    return SQL_START.match(said) is not None or (COMMAND_START.match(said) is not None and not is_sql_file_name(said))


def is_sql_file_name(said: str) -> bool:
    """Return whether a text is the name of a SQL file, which is read on its own."""
    return SQL_FILE_NAME.match(said.strip()) is not None


def finish_python_sql(value: TextValue, sink: SqlSink, evaluator: ValueEvaluator) -> PossibleTexts:
    """Return a text as the database sees it: parameters become values, runtime fields placeholders."""
    said = join_parts(value)
    if sink.binds:
        value = substitute_placeholders(value, BIND_PARAMETERS, lambda match: (TextPart("?"),))
        if "$" in said and "$$" not in said:
            value = substitute_placeholders(value, NUMBERED_PARAMETERS, lambda match: (TextPart("?"),))
    if "{{" in said or "{%" in said:
        value = substitute_placeholders(
            value, JINJA_TAGS, lambda match: (UNKNOWN_PART,) if match[0].startswith("{{") else (TextPart(" "),)
        )
    if sink.spare:
        value = substitute_placeholders(value, FORMAT_FIELDS, lambda match: (UNKNOWN_PART,))
    if OPEN_VALUES.search(said):
        value = substitute_placeholders(value, OPEN_VALUES, _unknown_rows)
    if sink.fields is not None and sink.fields.keywords:
        return format_fields(value, (), keyword_texts(evaluator, sink.fields))
    return (value,)


def _unknown_rows(match: re.Match[str]) -> TextValue:
    """Return rows of unknown values, as wide as the column list before them."""
    if not match[1]:
        return TextPart("SELECT * FROM "), UNKNOWN_PART
    holes = [TextPart(match[1] + "VALUES ("), UNKNOWN_PART]
    for _ in range(match[1].count(",")):
        holes += [TextPart(", "), UNKNOWN_PART]
    return (*holes, TextPart(")"))
