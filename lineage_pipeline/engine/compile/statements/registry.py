"""Statement registry: for every kind of statement who reads it, what it compiles to, and what is ignored on purpose.

To support a new statement, add a row to `STATEMENT_KINDS` and write the function that it names.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from typing import Any

import msgspec
from sqlglot import exp
from sqlglot.tokens import Token

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.procedural_languages import MODULE_KINDS, SILENT_BLOCK_STATEMENTS, STATEMENT_RUNNERS
from lineage_pipeline.dialects.statement_words import OBJECT_WORDS
from lineage_pipeline.dialects.tsql import SILENT_BATCH_STATEMENTS
from lineage_pipeline.engine.compile.context import CompileContext, ReadFields, StatementFields
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure, parse_statement
from lineage_pipeline.engine.compile.grammar.rules import has_rules_before_parsing
from lineage_pipeline.engine.compile.relations.query import compile_query
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.engine.compile.statements.alter import (
    has_routine_body,
    read_alter,
)
from lineage_pipeline.engine.compile.statements.copy_load import (
    compile_bulk_insert,
    compile_copy,
    compile_export,
    compile_import,
    compile_insert_from_file,
    compile_load_data,
    compile_select_into_file,
    compile_unload,
)
from lineage_pipeline.engine.compile.statements.create import (
    compile_create,
    compile_create_index,
    compile_create_synonym,
)
from lineage_pipeline.engine.compile.statements.drop_rename import (
    compile_drop,
    compile_drop_index,
    compile_exchange_tables,
    compile_rename,
)
from lineage_pipeline.engine.compile.statements.insert import compile_insert, compile_multi_insert, compile_select_into
from lineage_pipeline.engine.compile.statements.merge import compile_merge
from lineage_pipeline.engine.compile.statements.session import (
    compile_cache,
    compile_call,
    compile_declare,
    compile_execute_prepared,
    compile_select_assignments,
    compile_set,
    compile_use,
    has_variable_assignments,
)
from lineage_pipeline.engine.compile.statements.streaming import (
    compile_create_model,
    compile_create_sink,
    compile_create_stream,
    compile_insert_extern,
    compile_join_index,
    compile_subscribe,
)
from lineage_pipeline.engine.compile.statements.update_delete import compile_delete, compile_truncate, compile_update
from lineage_pipeline.engine.compile.tokens import STATEMENT_KEYWORDS, TEXT_TOKENS, TokenReader, keyword, token_type_at
from lineage_pipeline.model import ir


class ReadAs(StrEnum):
    """Who reads a kind of statement."""

    TREE = "tree"
    """sqlglot parses it; the compiler gets the tree."""
    TOKENS = "tokens"
    """The compiler reads its tokens before sqlglot is asked; None if this one has to be parsed after all."""
    UNPARSED = "tokens, if sqlglot fails"
    """The compiler reads its tokens where sqlglot cannot parse it."""
    SPLIT = "splitter"
    """The splitter takes it apart; its statements are compiled one by one."""
    IGNORED_IN_BLOCK = "ignored by the splitter, in a block"
    """It has no lineage; outside of a block, its first word may begin another statement."""
    IGNORED_IN_BATCH = "ignored by the splitter, in a batch"
    """The same for T-SQL."""
    IGNORED = "ignored"
    """It has no lineage: its first words are enough."""
    IGNORED_UNPARSED = "ignored, if sqlglot fails"
    """It has no lineage; the same words may begin another statement, which sqlglot parses."""


class StatementKind(msgspec.Struct, frozen=True):
    """A kind of statement: how it begins, who reads it and what it compiles to."""

    words: tuple[str, ...]
    """How it begins: `COPY`, or a verb and a kind of object without the modifiers between them: `CREATE STREAM`."""
    read_as: ReadAs
    """Who reads it."""
    meaning: str
    """What it compiles to, or why it is ignored."""
    compiler: Callable[..., Any] | None = None
    """The function that gets its tree or its tokens, and returns the fields of `ir.Statement`."""
    tree: type[exp.Expr] | None = None
    """Its class in sqlglot; subclasses without a row of their own belong to it."""
    applies: Callable[[Sequence[Token]], bool] | None = None
    """Whether a statement that begins like this is of this kind; None if its words decide."""


TreeCompiler = Callable[[CompileContext, exp.Expr], StatementFields]
TokensCompiler = Callable[[CompileContext, TokenReader], ReadFields | None]


def from_tree(words: str, tree: type[exp.Expr], compiler: TreeCompiler, meaning: str) -> StatementKind:
    """A statement that sqlglot parses; variants of its first words are separated by commas."""
    return StatementKind(tuple(words.split(", ")), ReadAs.TREE, meaning, compiler, tree)


def from_tokens(
    words: str,
    compiler: TokensCompiler,
    meaning: str,
    applies: Callable[[Sequence[Token]], bool] | None = None,
    read_as: ReadAs = ReadAs.TOKENS,
) -> StatementKind:
    """A statement that is read from its tokens; variants of its first words are separated by commas."""
    return StatementKind(tuple(words.split(", ")), read_as, meaning, compiler, applies=applies)


def ignored_commands(meaning: str, words: str, read_as: ReadAs = ReadAs.IGNORED) -> StatementKind:
    """Statements without lineage, by their first word."""
    return StatementKind(tuple(words.split()), read_as, meaning)


def ignored_objects(meaning: str, kinds: str, verbs: str = "CREATE ALTER DROP UPDATE") -> StatementKind:
    """Kinds of objects without lineage: `CREATE ROLE`, `ALTER WAREHOUSE`."""
    words = tuple(f"{verb} {kind}" for kind in kinds.split() for verb in verbs.split())
    return StatementKind(words, ReadAs.IGNORED_UNPARSED, meaning)


def split_statements(meaning: str, words: str) -> StatementKind:
    """Statements that the splitter takes apart or prepares for the parser, in scripts of procedural languages."""
    return StatementKind(tuple(words.split()), ReadAs.SPLIT, meaning)


def compile_bare_query(context: CompileContext, tree: exp.Expr) -> StatementFields:
    """A query that returns its rows, goes INTO a table, or into variables."""
    if context.traits.select_assigns and has_variable_assignments(tree):
        return compile_select_assignments(context, tree)
    first = tree
    while isinstance(first, exp.SetOperation):  # the first branch says where the rows of all go
        first = first.this
    target = first.args.get("into")
    if target is not None and isinstance(target.this, exp.Table):
        return compile_select_into(context, tree, target)
    return {"kind": "SELECT", "result": compile_query(context, tree)}


def _build_inner_reader(kind: str) -> TokensCompiler:
    """A reader of an object that runs a statement (PIPE, TASK): its lineage is that of the statement."""

    def read_inner(context: CompileContext, cursor: TokenReader) -> ReadFields:
        found = cursor.seek("AS")
        while found and token_type_at(cursor.tokens, cursor.index + 1) in TEXT_TOKENS:  # EXECUTED AS 'user'
            cursor.index += 1
            found = cursor.seek("AS")
        if not found:
            return {"kind": kind}
        inner = cursor.tokens[cursor.index + 1 :]
        fields = _compile_inner_statement(context, inner) if inner else None
        return {**(fields or {}), "kind": kind}

    return read_inner


def _read_explained(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    """EXPLAIN ANALYZE runs its statement."""
    begin = next((at for at, word in enumerate(cursor.words) if at and word in STATEMENT_KEYWORDS), 0)
    fields = _compile_inner_statement(context, cursor.tokens[begin:]) if begin else None
    return {**fields, "kind": "EXPLAIN"} if fields is not None else None


def _is_run(tokens: Sequence[Token]) -> bool:
    return any(keyword(token) == "ANALYZE" for token in tokens[1:4])


def _compile_inner_statement(context: CompileContext, tokens: Sequence[Token]) -> ReadFields | None:
    """The fields of a statement inside another one."""
    found = _read_tokens(context, tokens, context.origin)
    if found is not None:
        return found
    parsed = parse_statement(RawStatement(tokens, begin=context.origin, stop=context.end), context.text, context.traits)
    if isinstance(parsed, ParseFailure) or isinstance(parsed[0], exp.Command):
        return None
    context.items = parsed[1]
    return compile_statement(context, parsed[0])


def _read_comment(context: CompileContext, cursor: TokenReader) -> ReadFields:
    """COMMENT ON a table, a view or a column."""
    cursor.take("COMMENT", "ON")
    if cursor.take("COLUMN"):
        name = cursor.read_name()
        if name is not None and len(name.parts) > 1 and cursor.take("IS"):
            token = cursor.tokens[cursor.index - 2]
            column = TokenReader([token], cursor.traits).read_column()
            table = ir.Name(name.parts[:-1], name.parts[-2], name.start, name.end)
            described = ir.ColumnDef(column, "", "", comment=cursor.read_string())
            return {"kind": "COMMENT", "alterations": (ir.Alteration(table, "comment", column, described),)}
    elif cursor.take("TABLE") or cursor.take("VIEW") or cursor.take("MATERIALIZED", "VIEW"):
        name = cursor.read_name()
        if name is not None and cursor.take("IS"):
            described = ir.ColumnDef("", "", "", comment=cursor.read_string())
            return {"kind": "COMMENT", "alterations": (ir.Alteration(name, "comment", "", described),)}
    return {"kind": "COMMENT"}


def _read_alter(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    """ALTER of a table, a view or an object without lineage; None for a routine with a new body."""
    fields = read_alter(context, cursor)
    if fields is None and not has_routine_body(cursor):
        kind = cursor.read_object_kind()
        return {"kind": f"ALTER {kind}"} if f"ALTER {kind}" in _ignored_words() else None
    return fields


def _reads_file(tokens: Sequence[Token]) -> bool:
    """Whether an INSERT names a file near its beginning: there are many of them, and long ones."""
    return any(token.text.upper() == "INFILE" for token in tokens[:40])


def _writes_extern(tokens: Sequence[Token]) -> bool:
    return tokens[min(2, len(tokens) - 1)].text.upper() == "EXTERN"


def _writes_file(tokens: Sequence[Token]) -> bool:
    return any(keyword(token) in ("OUTFILE", "DUMPFILE") for token in tokens)


STATEMENT_KINDS: tuple[StatementKind, ...] = (
    # queries
    from_tree(
        "SELECT, WITH, FROM, TABLE, LOCKING, USING EXTERNAL FUNCTION",
        exp.Query,
        compile_bare_query,
        "the result columns; SELECT INTO writes a table",
    ),
    from_tree("VALUES", exp.Values, compile_bare_query, "the result columns"),
    from_tree("PIVOT", exp.Pivot, compile_bare_query, "the result columns (DuckDB)"),
    from_tokens(
        "SELECT, WITH, VALUES, TABLE, (",
        compile_select_into_file,
        "MySQL: SELECT … INTO OUTFILE writes a file",
        applies=_writes_file,
        read_as=ReadAs.UNPARSED,
    ),
    # definitions
    from_tree("CREATE", exp.Create, compile_create, "a table, view, function or other object with its columns"),
    from_tree("DROP", exp.Drop, compile_drop, "the dropped object"),
    from_tokens("ALTER", _read_alter, "changed columns, constraints, names, partitions of a table or view"),
    from_tokens("RENAME", compile_rename, "renamed tables"),
    from_tokens("EXCHANGE", compile_exchange_tables, "ClickHouse: two tables that swap their names"),
    from_tokens("COMMENT", _read_comment, "the comment of a table, a view or a column"),
    from_tokens("CREATE SYNONYM, CREATE ALIAS", compile_create_synonym, "another name of an object"),
    from_tokens(
        "CREATE INDEX, CREATE CLUSTERED INDEX, CREATE NONCLUSTERED INDEX",
        compile_create_index,
        "an index; a unique one is a key of the table",
    ),
    from_tokens("DROP", compile_drop_index, "a dropped index; other objects are parsed"),
    from_tokens("CREATE MODEL", compile_create_model, "BigQuery ML: a model trained on a query"),
    from_tokens("CREATE STREAM", compile_create_stream, "Snowflake: the changed rows of a table"),
    from_tokens("CREATE SINK", compile_create_sink, "Materialize, RisingWave: rows that leave the database"),
    from_tokens("CREATE PIPE", _build_inner_reader("CREATE PIPE"), "what its COPY writes"),
    from_tokens("CREATE PIPELINE", _build_inner_reader("CREATE PIPELINE"), "SingleStore: what its LOAD DATA writes"),
    from_tokens("CREATE CORTEX", _build_inner_reader("CREATE CORTEX SEARCH SERVICE"), "what its query reads"),
    from_tokens("CREATE SCHEDULED", _build_inner_reader("CREATE SCHEDULED QUERY"), "Hive: what its statement writes"),
    from_tokens("CREATE JOIN", compile_join_index, "Teradata: the stored result of a join"),
    from_tokens("EXPLAIN", _read_explained, "EXPLAIN ANALYZE: what its statement writes", applies=_is_run),
    from_tokens("SUBMIT", _build_inner_reader("SUBMIT TASK"), "StarRocks: what its statement writes"),
    StatementKind(
        tuple(f"CREATE {kind}" for kind in (*MODULE_KINDS, *STATEMENT_RUNNERS)),
        ReadAs.SPLIT,
        "the statements of its body, each under its routine",
    ),
    split_statements(
        "blocks, branches and loops: the statements inside", "BEGIN CASE DO FOR FORALL FOREACH IF LOOP REPEAT WHILE"
    ),
    split_statements("declared variables and cursors; values that variables get", "DECLARE SET LET OPEN FETCH"),
    split_statements(
        "what routines write, return or assign with a clause of their language",
        "SELECT WITH INSERT UPDATE DELETE MERGE REPLACE RETURN PIPE RECEIVE WAITFOR",
    ),
    split_statements("called procedures; executed texts are read as SQL", "CALL EXEC EXECUTE PERFORM PREPARE"),
    split_statements("T-SQL: routines and table types", "CREATE ALTER"),
    # writes
    from_tree(
        "INSERT, REPLACE, APPLY CHANGES, CREATE FLOW",
        exp.Insert,
        compile_insert,
        "written columns, also of an upsert",
    ),
    from_tokens("INSERT", compile_insert_from_file, "ClickHouse: INSERT … FROM INFILE reads a file", _reads_file),
    from_tokens("INSERT", compile_insert_extern, "Druid: INSERT INTO EXTERN writes files", _writes_extern),
    from_tree("INSERT ALL", exp.MultitableInserts, compile_multi_insert, "the columns of every written table"),
    from_tree("UPDATE", exp.Update, compile_update, "assigned columns"),
    from_tree("DELETE", exp.Delete, compile_delete, "the rows that go"),
    from_tree("TRUNCATE", exp.TruncateTable, compile_truncate, "a table without rows"),
    from_tree("MERGE", exp.Merge, compile_merge, "the columns that each arm writes"),
    from_tree("CACHE", exp.Cache, compile_cache, "Spark: a temporary view of a query"),
    from_tokens("COPY", compile_copy, "files to a table, or a table to files"),
    from_tokens("LOAD", compile_load_data, "files to a table"),
    from_tokens("BULK", compile_bulk_insert, "T-SQL: a file to a table"),
    from_tokens("IMPORT", compile_import, "files to a table"),
    from_tokens("EXPORT", compile_export, "a table or a query to files"),
    from_tokens("UNLOAD", compile_unload, "a query to files"),
    from_tokens("SUBSCRIBE", compile_subscribe, "Materialize: the changes of a query"),
    # calls and sessions
    from_tokens("CALL", compile_call, "a called procedure and its arguments"),
    from_tokens("EXECUTE", compile_execute_prepared, "nothing, or DYNAMIC_SQL if the executed text is unknown"),
    from_tree("DECLARE", exp.Declare, compile_declare, "variables and table variables"),
    from_tree("SET", exp.Set, compile_set, "variables"),
    from_tree("USE", exp.Use, compile_use, "the current schema"),
    from_tree("BEGIN", exp.Transaction, lambda context, tree: {"kind": "BEGIN TRANSACTION"}, "nothing: a transaction"),
    # known by the first word, and without lineage
    ignored_commands("permissions", "GRANT REVOKE DENY"),
    ignored_commands("messages and errors", "PRINT RAISERROR THROW NOTIFY LISTEN"),
    ignored_commands("information", "SHOW DESCRIBE DESC"),
    ignored_commands("transactions", "COMMIT ROLLBACK SAVEPOINT SAVE START"),
    ignored_commands("settings", "DISCARD RESET RECONFIGURE"),
    ignored_commands("flow of control", "GOTO BREAK CONTINUE WAITFOR"),
    ignored_commands("cursors without rows of their own", "OPEN CLOSE FETCH DEALLOCATE"),
    ignored_commands(
        "maintenance", "ANALYZE VACUUM BACKUP RESTORE DBCC CHECKPOINT OPTIMIZE REFRESH CLUSTER REINDEX LOCK UNLOCK KILL"
    ),
    StatementKind(
        tuple(sorted(SILENT_BLOCK_STATEMENTS)),
        ReadAs.IGNORED_IN_BLOCK,
        "statements of procedural languages without data: flow of control, errors, transactions, types",
    ),
    StatementKind(
        tuple(sorted(SILENT_BATCH_STATEMENTS)),
        ReadAs.IGNORED_IN_BATCH,
        "T-SQL: triggers that are switched, conversations, sessions",
    ),
    # known by the first word where sqlglot fails, and without lineage
    ignored_commands("blocks, variables and settings", "END SET DECLARE", ReadAs.IGNORED_UNPARSED),
    ignored_commands("permissions and audits", "AUDIT NOAUDIT REASSIGN SECURITY", ReadAs.IGNORED_UNPARSED),
    ignored_commands("messages and errors", "SIGNAL RESIGNAL DIAGNOSTIC WATCH UNLISTEN", ReadAs.IGNORED_UNPARSED),
    ignored_commands(
        "information", "ANALYSE CHECK CHECKSUM EXISTS EXPLAIN HELP LIST LS VALIDATE", ReadAs.IGNORED_UNPARSED
    ),
    ignored_commands("transactions", "ABORT RELEASE XA BINLOG", ReadAs.IGNORED_UNPARSED),
    ignored_commands(
        "sessions and settings",
        "ATTACH DETACH EXIT PRAGMA SESSION UNSET QUIT SPOOL COMPUTE HANDLER ALLOCATE "
        "ASSOCIATE DISASSOCIATE GENERATE LEAVE",
        ReadAs.IGNORED_UNPARSED,
    ),
    ignored_commands(
        "files and stages: what is loaded from them stands in COPY",
        "ADD GET IMPORT LOAD PUT REMOVE RM",
        ReadAs.IGNORED_UNPARSED,
    ),
    ignored_commands(
        "maintenance",
        "ADMIN CANCEL CHANGE CLEAR COLLECT COMPILE CONVERT CRYPTO DELETE_KEY DISABLE ENABLE ERASURE FLASHBACK FLUSH "
        "FORCE FSCK INSTALL INVALIDATE MODIFY MOVE MSCK PAUSE PURGE RECOVER RELOAD REORG REPAIR RESUME SHUTDOWN STOP "
        "SUSPEND SYNC SYSTEM TRUNCATE UNCACHE UNDROP UNINSTALL",
        ReadAs.IGNORED_UNPARSED,
    ),
    # objects without lineage
    ignored_objects(
        "security",
        "ACCESS RLS AUDIT AUTHENTICATION AUTHORIZATION ACCOUNT ASYMMETRIC CERTIFICATE CREDENTIAL CRYPTOGRAPHIC "
        "ENCRYPTION IDENTITY LOGIN MASKING MASTER OWNED PASSWORD POLICY PRIVILEGES PROFILE ROLE SECRET SECURITY "
        "SIGNATURE SYMMETRIC USER TAG",
    ),
    ignored_objects(
        "databases, servers and their resources",
        "ASSIGNMENT AVAILABILITY BI_CAPACITY BUDGET CAPACITY CATALOG CLUSTER COMPUTE DATABASE DATA DISKGROUP "
        "FAILOVER FEDERATION FLASHBACK INSTANCE KEYSPACE ORGANIZATION PLUGGABLE QUOTA REPLICATION "
        "RESERVATION RESOURCE RESTORE ROLLBACK SCHEMA SERVER SESSION SETTINGS SNAPSHOT SYSTEM UNDO WAREHOUSE WORKLOAD",
    ),
    ignored_objects(
        "links to the outside; what is read through them stands in queries",
        "API BROKER CONNECTION CONNECTOR DATASHARE ENDPOINT EXTERNAL_FUNCTION INTEGRATION LINK LISTING LOCATION "
        "NETWORK PROVIDER PUBLICATION RECIPIENT REMOTE REPOSITORY GIT SHARE SINK SOURCE STAGE SUBSCRIPTION VOLUME",
    ),
    ignored_objects(
        "storage and access paths",
        "COLUMN COLUMNSTORE DICTIONARY DIRECTORY FILE FULLTEXT GROUP HASH HISTOGRAM INDEX INDEXTYPE INMEMORY "
        "JOIN LARGE LOGFILE OUTLINE PARTITION PRIMARY PROJECTION ROW SEARCH SEQUENCE SPATIAL STATISTICS STORAGE "
        "TABLESPACE TEXT VECTOR XML ZONE",
    ),
    ignored_objects(
        "programs and settings around the data",
        "AGENT AGGREGATE AGGREGATION APPLICATION ASSEMBLY CAST CLASS COLLATION CONTEXT CONTRACT CONVERSION CORTEX DBT "
        "DCM DEFAULT DIMENSION DOMAIN EXTENSION IMAGE INFERENCE JAVA LANGUAGE LIBRARY LUA MACRO MCP MESSAGE MODEL "
        "NAMED NOTEBOOK NOTIFICATION OPERATOR PACKAGES PREPARE PROJECT PYTHON3 QUEUE ROUTE ROUTINE RULE "
        "SCRIPT SERVICE SNOWFLAKE TRANSFORM TYPE VAR VARIABLE WIDGET ASSERTION",
    ),
    ignored_objects("its own rows say what it does", "ALERT EVENT JOB PIPE SCHEDULED STREAM SYNONYM TASK"),
    ignored_objects("a changed property of a routine", "FUNCTION PROCEDURE TRIGGER PACKAGE", verbs="ALTER DROP"),
)
"""The kinds of statements. Rows for tokens are asked before sqlglot, those for a failed parse after it.

Among the rows of one reader, the first that applies reads a statement. A tree is found by its class, not by its words.
"""


@cache
def _kinds_by_word(read_as: ReadAs) -> dict[str, tuple[StatementKind, ...]]:
    """The kinds that one reader reads, by the words that they begin with."""
    found: dict[str, tuple[StatementKind, ...]] = {}
    for kind in STATEMENT_KINDS:
        for words in kind.words if kind.read_as is read_as else ():
            found[words] = (*found.get(words, ()), kind)
    return found


@cache
def _ignored_words() -> frozenset[str]:
    """The words that begin statements without lineage."""
    return frozenset({*_kinds_by_word(ReadAs.IGNORED), *_kinds_by_word(ReadAs.IGNORED_UNPARSED)})


@cache
def _compilers_by_tree() -> dict[type, TreeCompiler]:
    return {kind.tree: kind.compiler for kind in STATEMENT_KINDS if kind.tree is not None and kind.compiler is not None}


def _find_tree_compiler(tree: exp.Expr) -> TreeCompiler | None:
    """The compiler of a tree: that of its own class, or of the class that it is derived from."""
    compilers = _compilers_by_tree()
    return next((compilers[base] for base in type(tree).__mro__ if base in compilers), None)


def compile_statement(context: CompileContext, tree: exp.Expr) -> StatementFields | None:
    """The fields of a parsed statement, or None for an unknown kind."""
    compiler = _find_tree_compiler(tree)
    return compiler(context, tree) if compiler is not None else None


def compile_nested_write(context: CompileContext, tree: exp.Expr) -> StatementFields:
    """The fields of a writing statement inside another one."""
    compiler = _find_tree_compiler(tree)
    assert compiler is not None, f"no kind of statement: {type(tree).__name__}"
    return compiler(context, tree)


def reads_tokens(first: str) -> bool:
    """Whether statements with this first word may be read from their tokens."""
    return first in _first_words()


@cache
def _first_words() -> frozenset[str]:
    return frozenset(words.split(" ")[0] for words in _kinds_by_word(ReadAs.TOKENS))


def read_statement(context: CompileContext) -> ReadFields | None:
    """The fields of a statement that is compiled from its tokens, or None if it has to be parsed."""
    return _read_tokens(context, context.tokens)


def read_unparsed_statement(context: CompileContext) -> ReadFields | None:
    """The fields of a statement that sqlglot could not parse, read from its tokens."""
    return _read_tokens(context, context.tokens, read_as=ReadAs.UNPARSED)


def _read_tokens(
    context: CompileContext, tokens: Sequence[Token], origin: int = -1, read_as: ReadAs = ReadAs.TOKENS
) -> ReadFields | None:
    kinds = _kinds_by_word(read_as).get(_head_of(tokens, context.traits), ())
    kind = next((kind for kind in kinds if kind.applies is None or kind.applies(tokens)), None)
    if kind is None or kind.compiler is None:
        return None
    cursor = TokenReader(tokens, context.traits, origin)
    if cursor.word() == "CREATE":
        cursor.read_object_kind()
        cursor.take("IF", "NOT", "EXISTS")
    found: ReadFields | None = kind.compiler(context, cursor)
    return found


def _head_of(tokens: Sequence[Token], traits: DialectTraits) -> str:
    """The words that decide the kind of a statement: the first one, for CREATE with the kind of object."""
    first = tokens[0].text.upper()
    return f"CREATE {TokenReader(tokens[:10], traits).read_object_kind()}" if first == "CREATE" else first


def is_ignored_command(first: str, traits: DialectTraits) -> bool:
    """Whether the first keyword shows that a statement has no lineage; rewritten statements may have some."""
    return first in _kinds_by_word(ReadAs.IGNORED) and not has_rules_before_parsing(first, traits)


def is_ignored_statement(tokens: Sequence[Token]) -> bool:
    """Whether a statement that sqlglot does not parse is of a kind without lineage."""
    words = [word for token in tokens[:12] for word in token.text.upper().split()] or [""]
    kind = next((word for word in words[1:] if word not in OBJECT_WORDS), "")
    return words[0] in _ignored_words() or f"{words[0]} {kind}" in _ignored_words()
