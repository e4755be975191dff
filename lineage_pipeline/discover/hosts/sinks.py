"""Where programs hand SQL over: the calls, and the arguments of theirs that are SQL."""

import ast
import re
from collections.abc import Iterator, Mapping

import msgspec

from lineage_pipeline.discover.hosts.calls import TRANSPARENT, Evaluating, formatted, named_texts
from lineage_pipeline.discover.hosts.known import Function
from lineage_pipeline.discover.hosts.values import UNKNOWN_PART, Part, Texts, Value, substituted, text_of

BINDS = re.compile(r"%s|%\(\w+\)s")
"""Parameters as drivers of databases write them."""

NUMBERED = re.compile(r"(?<![\w$])\$\d+\b(?!\$)")
"""Parameters by number; in the body of a function, between dollars, they are its own."""

JINJA = re.compile(r"\{\{(?:(?!\{\{).)*?\}\}|\{[%#](?:(?!\{[%#]).)*?[%#]\}", re.DOTALL)
"""Templates that an operator fills when it runs."""

FIELDS = re.compile(r"\{[A-Za-z_]\w*\}")
"""What a text is given later, where it is a template of Python."""

ROWLESS = re.compile(r"(\([^()]*\)\s*)?\bVALUES\s*;?\s*\Z", re.IGNORECASE)
"""The end of an INSERT whose rows the driver sends apart."""

FILE = re.compile(r"^[\w./ {}-]+\.(sql|hql)$", re.IGNORECASE)


class Sink(msgspec.Struct, frozen=True):
    """An argument that is SQL if it looks like it; of a `sure` one anything else is worth telling.

    `binds`: `%s` is a parameter. `fields`: `{x}` is one that the call names. A `spare` one counts where nobody else
    takes what it is given.
    """

    node: ast.expr
    sure: bool = False
    binds: bool = False
    fields: ast.Call | None = None
    spare: bool = False


class Way(msgspec.Struct, frozen=True):
    """How a function takes SQL: the keywords besides its first argument, and whose method it has to be to be sure."""

    keywords: frozenset[str] = frozenset()
    owners: re.Pattern[str] | None = None
    binds: bool = True
    fields: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CURSORS = re.compile(
    r"(?i)^_?(cur|curs|cursor|conn|connection|con|engine|db|database|session|tx|transaction|sql_?context)\w*$|hook$"
)
_SESSIONS = re.compile(r"(?i)^_?(spark\w*|sql_?context|hive_?context|sqlc|duckdb|session)$")
_HOOKS = re.compile(r"(?i)hook$|^_?(bq|bigquery)\w*$|^(duckdb|wr|awswrangler)$")
_ANY = re.compile("")
_EXECUTE = Way(_words("sql query statement operation"), _CURSORS)
_READ = Way(_words("sql query"), _ANY)
_LOOSE = Way(_words("sql query statement"), _HOOKS)

CALLS: Mapping[str, Way] = {
    "sql": Way(_words("sqlQuery query"), _SESSIONS, binds=False, fields=True),
    **dict.fromkeys(_words("execute executemany executescript execute_async execute_string exec_driver_sql"), _EXECUTE),
    **dict.fromkeys(
        _words("read_sql read_sql_query read_database exec_driver_sql get_pandas_df get_pandas_df_by_chunks"), _READ
    ),
    **dict.fromkeys(
        _words(
            "text DDL query run run_query execute_query execute_sql raw_sql read_gbq get_records get_first mogrify "
            "get_df get_df_by_chunks fetch fetchrow fetchval fetch_all fetch_one copy_expert sql_query query_and_wait "
            "execute_many query_df command insert_job bulk_dump run_cli"
        ),
        _LOOSE,
    ),
}
"""The functions and methods that take SQL first, by name."""

TELLING = re.compile(r"(?i)sql|quer(?:y|ies)|exec|statement|stmt")
"""What functions are called that most likely run what they are given; all arguments that look like SQL are taken."""

KEYWORDS = _words(
    "sql hql bql query sql_query statement pre_sql post_sql preoperator postoperator select_query sql_stmt"
)
"""Arguments of operators, whatever those are called, that are SQL or lists of it."""

OPERATORS = re.compile(r"^[A-Z]\w*(?:Operator|Sensor)$")
"""What operators are called: of one that is given SQL, anything else than SQL is worth telling."""

WRITTEN = (ast.Constant, ast.JoinedStr)
"""Expressions that are texts as they stand there."""

SURELY = _words("sql hql bql")
"""Arguments that are SQL for certain where an operator takes them."""

KEYS = re.compile(r"(?i)^(?:\w*_)?(?:sql|hql|query|queries|statements?)(?:_\w*)?$")
"""Keys of dictionaries whose entries are SQL: the configuration of a job."""


SAYING = re.compile(
    r"(?i)^(?:print|log|debug|info|warn|warning|error|critical|exception|fail|skip|xfail|compile|match|fullmatch|search|sub"
    r"|findall|finditer|split|partition|startswith|endswith|find|count|index|replace|raises|echo|help|option|argument"
    r"|add_argument|getenv|assert\w*|\w*(?:error|exception|warning|message))$"
)
"""What functions are called that show, compare or look for what they are given, and run nothing."""


def sinks_of(node: ast.Call | ast.Dict, own: Function | None = None) -> Iterator[Sink]:
    """Give the arguments of a call, or entries of a dictionary, that may be SQL.

    What a function of the program's `own` does with its arguments is seen where it is read.
    """
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and KEYS.match(key.value):
                yield Sink(value)
        return
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    way = CALLS.get(name)
    if own is not None:
        yield from (Sink(argument, spare=True) for argument in node.args)
    elif way is not None or (name not in TRANSPARENT and TELLING.search(name)):
        yield from _positional(node, way)
    elif name not in TRANSPARENT and not SAYING.match(name):  # SQL that nothing says is any is known by its looks
        yield from (Sink(argument, spare=True) for argument in node.args if isinstance(argument, WRITTEN))
    yield from _named(node, way, OPERATORS.match(name) is not None)


def _positional(node: ast.Call, way: Way | None) -> Iterator[Sink]:
    for place, argument in enumerate(node.args):
        first = way if place == 0 else None
        sure = first is not None and first.owners is not None and first.owners.search(_owner(node.func)) is not None
        yield Sink(argument, sure, way is None or way.binds, node if first is not None and first.fields else None)


def _named(node: ast.Call, way: Way | None, operator: bool) -> Iterator[Sink]:
    keywords = KEYWORDS | way.keywords if way is not None else KEYWORDS
    for item in node.keywords:
        if item.arg in keywords:
            sure = (operator and item.arg in SURELY) or (way is not None and way.owners is _ANY)
            yield Sink(item.value, sure, way is not None and way.binds)
        elif item.arg and KEYS.match(item.arg):
            yield Sink(item.value, spare=True)


def returns_sql(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Say whether a function is made a task that runs the SQL which it gives: `@task.sql`."""
    for decorator in node.decorator_list:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(named, ast.Attribute) and named.attr == "sql" and _owner(named) == "task":
            return True
    return False


def _owner(function: ast.expr) -> str:
    """Give the name of what a method is called on, the last part of it: `self.spark` is `spark`."""
    value = function.value if isinstance(function, ast.Attribute) else function
    if isinstance(value, ast.Call):
        value = value.func
    return value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")


LEAD = r"^(?>\s|\(|--[^\n]*\n|/\*.*?\*/)*+"
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


PHRASE = re.compile(LEAD + r"[A-Za-z]\w*\s")
"""What a command looks like whose first word we do not know."""


STATEMENTS = re.compile(
    LEAD + r"(?:SELECT\b(?>.*?[,*=().\d\n]).*\bFROM\s+[\w\"`\[{]|SELECT\b.*\bFROM\s+\w+\.\w|WITH\s+\w+\s+AS\s*\("
    r"|INSERT\s+(?:INTO|OVERWRITE)\s+\S|UPDATE\s+\S+\s+SET\s+\S+\s*=|DELETE\s+FROM\s+\S|(?:MERGE|COPY)\s+INTO\s+\S"
    r"|CREATE\s+(?:\w+\s+){0,4}(?:TABLE|VIEW|SCHEMA|DATABASE)\s+[\w\"`\[{]"
    r"|(?:ALTER|DROP)\s+(?:TABLE|VIEW)\s+[\w\"`\[{])",
    re.IGNORECASE | re.DOTALL,
)
"""What a text looks like that can hardly be anything but SQL, where nothing says that it is."""


DETERMINERS = "the|your|our|this|that|these|those|any|some|each|every|an?"
PROSE = re.compile(
    LEAD + rf"(?:SELECT|UPDATE|DELETE|CREATE|DROP|ALTER)\s+(?:(?:{DETERMINERS}|one)\s+(?!FROM\b|AS\b)[a-z]"
    rf"|.*\bFROM\s+(?:{DETERMINERS}|all|it|them)\b(?![.\w]|\s+AS\b|\s*[,;)]))",
    re.IGNORECASE | re.DOTALL,
)
"""What a sentence looks like that begins as SQL does."""


def is_statement(said: str) -> bool:
    """Say whether a text is SQL, where nothing says that it is."""
    return STATEMENTS.match(said) is not None and PROSE.match(said) is None


def is_sql(said: str, *, sure: bool) -> bool:
    """Say whether a text is SQL, where it is sure to be run as SQL, or by its looks."""
    if not sure:
        return SHAPES.match(said) is not None and PROSE.match(said) is None
    return BEGINS.match(said) is not None or (PHRASE.match(said) is not None and not is_file(said))


def is_file(said: str) -> bool:
    """Say whether a text is the name of a file of SQL, which is read on its own."""
    return FILE.match(said.strip()) is not None


def finished(value: Value, sink: Sink, evaluator: Evaluating) -> Texts:
    """Give a text as the database sees it: parameters are values, and what is filled in at run time is a hole."""
    said = text_of(value)
    if sink.binds:
        value = substituted(value, BINDS, lambda match: (Part("?"),))
        if "$" in said and "$$" not in said:
            value = substituted(value, NUMBERED, lambda match: (Part("?"),))
    if "{{" in said or "{%" in said:
        value = substituted(value, JINJA, lambda match: (UNKNOWN_PART,) if match[0].startswith("{{") else (Part(" "),))
    if sink.spare:
        value = substituted(value, FIELDS, lambda match: (UNKNOWN_PART,))
    if ROWLESS.search(said):
        value = substituted(value, ROWLESS, _rows)
    if sink.fields is not None and sink.fields.keywords:
        return formatted(value, (), named_texts(evaluator, sink.fields))
    return (value,)


def _rows(match: re.Match[str]) -> Value:
    """Give rows that nobody knows, as wide as the list of columns before them."""
    if not match[1]:
        return Part("SELECT * FROM "), UNKNOWN_PART
    holes = [Part(match[1] + "VALUES ("), UNKNOWN_PART]
    for _ in range(match[1].count(",")):
        holes += [Part(", "), UNKNOWN_PART]
    return (*holes, Part(")"))
