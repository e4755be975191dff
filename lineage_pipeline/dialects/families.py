"""Procedural families whose statements end in semicolons: how each writes modules, bodies, blocks and variables.

T-SQL, which needs no semicolons, has tables of its own in `procedural`.
"""

import msgspec


class Family(msgspec.Struct, frozen=True):
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


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLPGSQL = Family(
    "PL/pgSQL",
    sections=True,
    opens=_words("BEGIN RETURN"),
    languages=_words("SQL PLPGSQL"),
    quoted=True,
    transactions=_words("TRANSACTION WORK ; ISOLATION READ DEFERRABLE NOT"),
    equals=True,
)
_PLSQL = Family(
    "PL/SQL",
    sections=True,
    marks=_words("AS IS"),
    opens=_words("BEGIN DECLARE CALL COMPOUND"),
    languages=frozenset(),
    result_word=True,
    transactions=frozenset(),
)
_SNOWFLAKE = Family(
    "Snowflake scripting",
    sections=True,
    opens=_words("BEGIN DECLARE"),
    quoted=True,
    transactions=_words("TRANSACTION WORK NAME ;"),
    marked=True,
    identifiers=True,
)
_BIGQUERY = Family("BigQuery scripting", quoted=True, scripts=True)
_MYSQL = Family(
    "MySQL",
    marks=_words("DO"),
    opens=_words(
        "BEGIN SELECT INSERT UPDATE DELETE REPLACE SET CALL IF CASE LOOP WHILE REPEAT FOR RETURN WITH EXECUTE SIGNAL "
        "TRUNCATE"
    ),
    variable_first=True,
)
_SPARK = Family(
    "SQL scripting", marks=_words("AS"), opens=_words("BEGIN RETURN"), quoted=True, dollars=True, identifiers=True
)
_TRINO = Family("SQL routines", marks=frozenset(), opens=_words("BEGIN RETURN"))
_TERADATA = Family("SPL", transactions=_words("TRANSACTION ;"))

FAMILIES: dict[str, Family] = {
    "athena": _TRINO,
    "bigquery": _BIGQUERY,
    "databricks": _SPARK,
    "duckdb": Family("macros", opens=frozenset()),
    "materialize": _PLPGSQL,
    "mysql": _MYSQL,
    "oracle": _PLSQL,
    "postgres": _PLPGSQL,
    "presto": _TRINO,
    "redshift": _PLPGSQL,
    "risingwave": _PLPGSQL,
    "snowflake": _SNOWFLAKE,
    "spark": _SPARK,
    "sqlite": Family("triggers"),
    "starrocks": _MYSQL,
    "teradata": _TERADATA,
    "trino": _TRINO,
}
"""The procedural family of each dialect that has one."""

TRIPLE_QUOTES = frozenset({"bigquery"})
"""Dialects in which three quotes open a string that may have quotes in it; elsewhere the second one is doubled."""

VARIABLE_FIRST = frozenset(name for name, family in FAMILIES.items() if family.variable_first)
"""Dialects in which a variable hides a column of the same name; in all others a column that is known hides it."""

VARIABLE_MARKED = frozenset(name for name, family in FAMILIES.items() if family.marked)
"""Dialects in which a name in a query is never a variable, unless it is marked as one."""

MODULES = {
    "PROCEDURE": "procedure",
    "FUNCTION": "function",
    "TRIGGER": "trigger",
    "PACKAGE": "package",
    "MACRO": "function",
    "EVENT": "procedure",
}
"""What CREATE makes that has a body of statements, and the kind of object that is."""

RUNNERS = {"TASK": "AS", "ALERT": "THEN"}
"""What CREATE makes that runs a statement or a block, and the word that stands before that."""

BEFORE_MODULE = frozenset(
    "OR REPLACE ALTER EDITIONABLE NONEDITIONABLE TEMP TEMPORARY SECURE AGGREGATE CONSTRAINT EXTERNAL TABLE DEFINER "
    "SQL SECURITY PUBLIC PRIVATE GLOBAL LIVE NO FORCE".split()
)
"""Words that may stand between CREATE and the kind of module."""

BLOCKS = frozenset("BEGIN DECLARE IF CASE LOOP WHILE FOR FOREACH FORALL REPEAT".split())
"""Words that begin a statement with others inside."""

LOOPS = {"LOOP": "LOOP", "WHILE": "LOOP DO", "FOR": "LOOP DO", "FOREACH": "LOOP", "REPEAT": "REPEAT"}
"""The words that open the body of each loop."""

SILENT = frozenset(
    "NULL EXIT CONTINUE LEAVE ITERATE BREAK RAISE SIGNAL RESIGNAL GET COMMIT ROLLBACK SAVEPOINT CLOSE PRAGMA GOTO LOCK "
    "UNLOCK ANALYZE DEALLOCATE RELEASE START LISTEN NOTIFY UNLISTEN DEFINE QUIT FLUSH RESET DISCARD CANCEL AWAIT "
    "RAISERROR NEXT TYPE SUBTYPE ASSERT".split()
)
"""Statements inside a block that carry no lineage, by their first word."""

MEMBERS = frozenset("MEMBER STATIC CONSTRUCTOR MAP ORDER FINAL OVERRIDING NOT INSTANTIABLE".split())
"""Words before the methods of a type."""

CHOICES = {"$IF": "$THEN", "$ELSIF": "$THEN", "$ELSE": "$ELSE", "$END": "$END"}
"""Conditional compilation: from and to these words nothing is read; what lies between them is, whatever the choice."""
