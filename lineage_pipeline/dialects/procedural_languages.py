"""Procedural languages whose statements end in semicolons: modules, bodies, blocks and variables of each.

T-SQL, which needs no semicolons, has its tables in `tsql_statements`.
"""

import msgspec


class ProceduralLanguage(msgspec.Struct, frozen=True):
    """One procedural language.

    * `sections`: DECLARE opens a section of declarations up to BEGIN; without it, it is one statement.
    * `marks`: words of a module's header behind which its body stands; `opens`: words that are the body's first.
    * `languages`: those that are read where a header says LANGUAGE; `quoted`: bodies are strings.
    * `result_word`: the header says RETURN, and not RETURNS, before the type of a function.
    * `transactions`: what behind BEGIN says that it opens a transaction and no block.
    * `scripts`: a script has variables, and SET assigns to them, outside of any block.
    * `equals`: a bare `v = x` assigns. `marked`: queries name variables with a colon, everything else is a column.
    * `variable_first`: a variable hides a column of the same name in a query.
    * `dollars`: `$$` quotes bodies, which the parser's own tokenizer does not know.
    * `identifiers`: IDENTIFIER('a.b') is a name.
    * `rows`: the records of a trigger, new row first.
    """

    name: str
    sections: bool = False
    marks: frozenset[str] = frozenset({"AS"})
    opens: frozenset[str] = frozenset({"BEGIN"})
    languages: frozenset[str] = frozenset({"SQL"})
    quoted: bool = False
    result_word: bool = False
    transactions: frozenset[str] = frozenset("TRANSACTION WORK ; TRAN".split())
    scripts: bool = False
    equals: bool = False
    marked: bool = False
    variable_first: bool = False
    dollars: bool = False
    identifiers: bool = False
    rows: tuple[str, ...] = ("NEW", "OLD")


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLPGSQL = ProceduralLanguage(
    "PL/pgSQL",
    sections=True,
    opens=_split_words("BEGIN RETURN"),
    languages=_split_words("SQL PLPGSQL"),
    quoted=True,
    transactions=_split_words("TRANSACTION WORK ; ISOLATION READ DEFERRABLE NOT"),
    equals=True,
)
_PLSQL = ProceduralLanguage(
    "PL/SQL",
    sections=True,
    marks=_split_words("AS IS"),
    opens=_split_words("BEGIN DECLARE CALL COMPOUND"),
    languages=frozenset(),
    result_word=True,
    transactions=frozenset(),
)
_SNOWFLAKE = ProceduralLanguage(
    "Snowflake scripting",
    sections=True,
    opens=_split_words("BEGIN DECLARE"),
    quoted=True,
    transactions=_split_words("TRANSACTION WORK NAME ;"),
    marked=True,
    identifiers=True,
)
_BIGQUERY = ProceduralLanguage("BigQuery scripting", quoted=True, scripts=True)
_MYSQL = ProceduralLanguage(
    "MySQL",
    marks=_split_words("DO"),
    opens=_split_words(
        "BEGIN SELECT INSERT UPDATE DELETE REPLACE SET CALL IF CASE LOOP WHILE REPEAT FOR RETURN WITH EXECUTE SIGNAL "
        "TRUNCATE"
    ),
    variable_first=True,
)
_SPARK = ProceduralLanguage(
    "SQL scripting",
    marks=_split_words("AS"),
    opens=_split_words("BEGIN RETURN"),
    quoted=True,
    dollars=True,
    identifiers=True,
)
_TRINO = ProceduralLanguage("SQL routines", marks=frozenset(), opens=_split_words("BEGIN RETURN"))
_TERADATA = ProceduralLanguage("SPL", transactions=_split_words("TRANSACTION ;"))

PROCEDURAL_LANGUAGES: dict[str, ProceduralLanguage] = {
    "athena": _TRINO,
    "bigquery": _BIGQUERY,
    "databricks": _SPARK,
    "duckdb": ProceduralLanguage("macros", opens=frozenset()),
    "materialize": _PLPGSQL,
    "mysql": _MYSQL,
    "oracle": _PLSQL,
    "postgres": _PLPGSQL,
    "presto": _TRINO,
    "redshift": _PLPGSQL,
    "risingwave": _PLPGSQL,
    "snowflake": _SNOWFLAKE,
    "spark": _SPARK,
    "sqlite": ProceduralLanguage("triggers"),
    "starrocks": _MYSQL,
    "teradata": _TERADATA,
    "trino": _TRINO,
}
"""The procedural language of each dialect that has one."""

TRIPLE_QUOTE_DIALECTS = frozenset({"bigquery"})
"""Dialects in which three quotes open a string; elsewhere the second quote is an escaped one."""

VARIABLE_FIRST = frozenset(name for name, family in PROCEDURAL_LANGUAGES.items() if family.variable_first)
"""Dialects in which a variable hides a column of the same name; in all others a known column wins."""

VARIABLE_MARKED = frozenset(name for name, family in PROCEDURAL_LANGUAGES.items() if family.marked)
"""Dialects in which a name in a query is a variable only if it is marked."""

MODULE_KINDS = {
    "PROCEDURE": "procedure",
    "FUNCTION": "function",
    "TRIGGER": "trigger",
    "PACKAGE": "package",
    "MACRO": "function",
    "EVENT": "procedure",
}
"""What CREATE makes that has a body of statements, and its object kind."""

STATEMENT_RUNNERS = {"TASK": "AS", "ALERT": "THEN"}
"""What CREATE makes that runs a statement or block, and the word before it: TASK, ALERT."""

MODULE_MODIFIERS = frozenset(
    "OR REPLACE ALTER EDITIONABLE NONEDITIONABLE TEMP TEMPORARY SECURE AGGREGATE CONSTRAINT EXTERNAL TABLE DEFINER "
    "SQL SECURITY PUBLIC PRIVATE GLOBAL LIVE NO FORCE".split()
)
"""Words between CREATE and the kind of module."""

BLOCK_STARTS = frozenset("BEGIN DECLARE IF CASE LOOP WHILE FOR FOREACH FORALL REPEAT".split())
"""Words that begin a statement with nested statements."""

LOOP_BODIES = {"LOOP": "LOOP", "WHILE": "LOOP DO", "FOR": "LOOP DO", "FOREACH": "LOOP", "REPEAT": "REPEAT"}
"""The words that open the body of each loop."""

SILENT_BLOCK_STATEMENTS = frozenset(
    "NULL EXIT CONTINUE LEAVE ITERATE BREAK RAISE SIGNAL RESIGNAL GET COMMIT ROLLBACK SAVEPOINT CLOSE PRAGMA GOTO LOCK "
    "UNLOCK ANALYZE DEALLOCATE RELEASE START LISTEN NOTIFY UNLISTEN DEFINE QUIT FLUSH RESET DISCARD CANCEL AWAIT "
    "RAISERROR NEXT TYPE SUBTYPE ASSERT".split()
)
"""Statements inside a block without lineage, by their first word."""

METHOD_MODIFIERS = frozenset("MEMBER STATIC CONSTRUCTOR MAP ORDER FINAL OVERRIDING NOT INSTANTIABLE".split())
"""Words before the methods of a type."""

CONDITIONAL_COMPILATION = {"$IF": "$THEN", "$ELSIF": "$THEN", "$ELSE": "$ELSE", "$END": "$END"}
"""Conditional compilation directives; every branch between them is read."""
