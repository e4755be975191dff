"""Procedural languages whose statements end in semicolons: modules, bodies, blocks and variables of each.

T-SQL, which needs no semicolons, has its tables in `tsql`.
"""

from collections.abc import Mapping

import msgspec


class ProceduralLanguage(msgspec.Struct, frozen=True):
    """One procedural language: how its routines, blocks and variables are written."""

    name: str
    """What the vendor calls the language."""
    sections: bool = False
    """DECLARE opens a section up to BEGIN, and is no statement of its own (PostgreSQL docs: Structure of PL/pgSQL)."""
    marks: frozenset[str] = frozenset({"AS"})
    """Header words after which a routine's body starts: `IS`, `AS` (Oracle docs: CREATE PROCEDURE Statement)."""
    opens: frozenset[str] = frozenset({"BEGIN"})
    """Words that end a routine's header because they begin its body: `CREATE PROCEDURE p() BEGIN …`."""
    languages: frozenset[str] = frozenset({"SQL"})
    """Values of LANGUAGE whose quoted bodies are analyzed, not reported (PostgreSQL docs: CREATE FUNCTION)."""
    plsql: bool = False
    """PL/SQL: RETURN, not RETURNS, comes before the result type, a slash ends a block, procedures are called by their
    name alone, a query may define functions in WITH (Oracle docs: PL/SQL Language Elements, SQL*Plus: / command).
    """
    transactions: frozenset[str] = frozenset("TRANSACTION WORK ; TRAN".split())
    """Words after BEGIN that open a transaction, not a block: `BEGIN WORK`, `BEGIN;` (PostgreSQL docs: BEGIN)."""
    scripts: bool = False
    """SET assigns script variables outside of any block: `SET x = 1;` (BigQuery docs: Procedural language)."""
    equals: bool = False
    """PL/pgSQL: `v = x` assigns like `v := x` (PostgreSQL docs: Basic Statements)."""
    marked: bool = False
    """A query marks variables with a colon: `WHERE id = :v` (Snowflake docs: Working with variables)."""
    variable_first: bool = False
    """A variable hides a column of the same name in a query (MySQL docs: Local Variable Scope and Resolution)."""
    dollars: bool = False
    """`$$` quotes bodies, unknown to sqlglot's tokenizer (Databricks docs: CREATE FUNCTION (SQL and Python))."""
    identifiers: bool = False
    """`IDENTIFIER('a.b')` is the name `a.b` (Databricks docs: IDENTIFIER clause)."""
    executors: Mapping[str, tuple[int, str]] = {}
    """Procedures that run a text: which argument it is, by position and by name (Oracle docs: DBMS_SCHEDULER)."""
    rows: tuple[str, ...] = ("NEW", "OLD")
    """The records of a trigger, the new row first: `NEW.id` (MySQL docs: Trigger Syntax and Examples)."""


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
