"""Statement registry: compilers of parsed statements (STATEMENTS) and of token lists (TOKEN_STATEMENTS)."""

from collections.abc import Callable, Sequence

from sqlglot import exp
from sqlglot.tokens import Token

from lineage_pipeline.dialects import statement_words
from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.compile.context import CompileContext, ReadFields, StatementFields
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure, parse_statement
from lineage_pipeline.engine.compile.grammar.rewrites import REWRITES
from lineage_pipeline.engine.compile.relations.query import compile_query
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.engine.compile.statements.alter import compile_alter, read_alter, read_object_kind
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
    compile_execute,
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
    compile_subscribe,
)
from lineage_pipeline.engine.compile.statements.update_delete import compile_delete, compile_truncate, compile_update
from lineage_pipeline.engine.compile.tokens import TokenReader
from lineage_pipeline.model import ir


def compile_statement(context: CompileContext, tree: exp.Expr) -> StatementFields | None:
    """The fields of a parsed statement, or None for an unknown kind."""
    compiler = STATEMENTS.get(type(tree))
    if compiler is not None:
        return compiler(context, tree)
    if isinstance(tree, exp.Query | exp.Values | exp.Pivot):
        return compile_bare_query(context, tree)
    return None


def compile_nested_write(context: CompileContext, tree: exp.Expr) -> StatementFields:
    """The fields of a writing statement inside another one."""
    return STATEMENTS[type(tree)](context, tree)


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


def compile_comment(context: CompileContext, tree: exp.Expr) -> StatementFields:
    """COMMENT ON, which sqlglot parsed: it does not affect lineage."""
    return {"kind": "COMMENT"}


def build_ignored_compiler(kind: str) -> Callable[[CompileContext, exp.Expr], StatementFields]:
    """A compiler for a kind of statement without lineage."""
    return lambda context, tree: {"kind": kind}


STATEMENTS: dict[type[exp.Expr], Callable[[CompileContext, exp.Expr], StatementFields]] = {
    exp.Alter: compile_alter,
    exp.Analyze: build_ignored_compiler("ANALYZE"),
    exp.Attach: build_ignored_compiler("ATTACH"),
    exp.Cache: compile_cache,
    exp.Comment: compile_comment,
    exp.Commit: build_ignored_compiler("COMMIT"),
    exp.Create: compile_create,
    exp.Declare: compile_declare,
    exp.Delete: compile_delete,
    exp.Describe: build_ignored_compiler("DESCRIBE"),
    exp.Detach: build_ignored_compiler("DETACH"),
    exp.Drop: compile_drop,
    exp.Execute: compile_execute,
    exp.Grant: build_ignored_compiler("GRANT"),
    exp.Insert: compile_insert,
    exp.Kill: build_ignored_compiler("KILL"),
    exp.Merge: compile_merge,
    exp.MultitableInserts: compile_multi_insert,
    exp.Pragma: build_ignored_compiler("PRAGMA"),
    exp.Refresh: build_ignored_compiler("REFRESH"),
    exp.Revoke: build_ignored_compiler("REVOKE"),
    exp.Rollback: build_ignored_compiler("ROLLBACK"),
    exp.Set: compile_set,
    exp.Show: build_ignored_compiler("SHOW"),
    exp.Transaction: build_ignored_compiler("BEGIN TRANSACTION"),
    exp.TruncateTable: compile_truncate,
    exp.Uncache: build_ignored_compiler("UNCACHE"),
    exp.Update: compile_update,
    exp.Use: compile_use,
}
"""Compilers of parsed statements, by type of tree."""


StatementReader = Callable[[CompileContext, TokenReader], ReadFields | None]


def read_statement(context: CompileContext) -> ReadFields | None:
    """The fields of a statement that is compiled from its tokens, or None if it has to be parsed."""
    word = context.tokens[0].text.upper()
    reader = TOKEN_STATEMENTS.get(word)
    if word == "INSERT" and context.tokens[min(2, len(context.tokens) - 1)].text.upper() == "EXTERN":
        return compile_insert_extern(context, TokenReader(context.tokens, context.traits))
    if word == "INSERT" and all(token.text.upper() != "INFILE" for token in context.tokens[:40]):
        return None  # there are many of them, and long ones
    if word == "CREATE" and read_object_kind(TokenReader(context.tokens[:10], context.traits)) not in _CREATE_READERS:
        return None
    return reader(context, TokenReader(context.tokens, context.traits)) if reader is not None else None


def _read_create(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    reader = _CREATE_READERS.get(read_object_kind(cursor))
    cursor.take("IF", "NOT", "EXISTS")
    return reader(context, cursor) if reader is not None else None


def _build_inner_reader(kind: str) -> StatementReader:
    """A reader of an object that runs a statement (PIPE, TASK): its lineage is that of the statement."""

    def read_inner(context: CompileContext, cursor: TokenReader) -> ReadFields:
        if not cursor.seek("AS"):
            return {"kind": kind}
        inner = cursor.tokens[cursor.index + 1 :]
        parts = _read_inner_statement(context, inner) if inner else None
        return {**(parts or {}), "kind": kind}

    return read_inner


def _read_inner_statement(context: CompileContext, tokens: Sequence[Token]) -> ReadFields | None:
    """The fields of a statement inside another one."""
    reader = TOKEN_STATEMENTS.get(tokens[0].text.upper())
    if reader is not None:
        found = reader(context, TokenReader(tokens, context.traits, context.origin))
        if found is not None:
            return found
    parsed = parse_statement(RawStatement(tokens, begin=context.origin, stop=context.end), context.text, context.traits)
    if isinstance(parsed, ParseFailure) or isinstance(parsed[0], exp.Command):
        return None
    context.items = parsed[1]
    return compile_statement(context, parsed[0])


_CREATE_READERS: dict[str, StatementReader] = {
    "ALIAS": compile_create_synonym,
    "CLUSTERED INDEX": compile_create_index,
    "CORTEX": _build_inner_reader("CREATE CORTEX SEARCH SERVICE"),
    "INDEX": compile_create_index,
    "MODEL": compile_create_model,
    "NONCLUSTERED INDEX": compile_create_index,
    "PIPE": _build_inner_reader("CREATE PIPE"),
    "PIPELINE": _build_inner_reader("CREATE PIPELINE"),
    "SINK": compile_create_sink,
    "STREAM": compile_create_stream,
    "SYNONYM": compile_create_synonym,
}


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


def read_unparsed_statement(context: CompileContext) -> ReadFields | None:
    """The fields of a statement that did not parse: SELECT … INTO OUTFILE."""
    cursor = TokenReader(context.tokens, context.traits)
    if "OUTFILE" in cursor.words or "DUMPFILE" in cursor.words:
        return compile_select_into_file(context, cursor)
    return None


TOKEN_STATEMENTS: dict[str, StatementReader] = {
    "ALTER": read_alter,
    "BULK": compile_bulk_insert,
    "CALL": compile_call,
    "COMMENT": _read_comment,
    "COPY": compile_copy,
    "CREATE": _read_create,
    "DROP": compile_drop_index,
    "EXCHANGE": compile_exchange_tables,
    "EXECUTE": compile_execute_prepared,
    "EXPORT": compile_export,
    "IMPORT": compile_import,
    "INSERT": compile_insert_from_file,
    "LOAD": compile_load_data,
    "RENAME": compile_rename,
    "SUBMIT": _build_inner_reader("SUBMIT TASK"),
    "SUBSCRIBE": compile_subscribe,
    "UNLOAD": compile_unload,
}
"""Compilers of statements that are read from their tokens, by first keyword."""


_UNPARSED_COMMANDS = statement_words.SILENT_COMMANDS - {"BEGIN", "SET", "DECLARE"}
"""Commands without lineage that need not be parsed."""


def is_ignored_command(first: str, traits: DialectTraits) -> bool:
    """Whether the first keyword shows that a statement has no lineage; rewritten statements may have some."""
    return first in _UNPARSED_COMMANDS and first not in REWRITES.get(traits.family, ())


def is_ignored_statement(tokens: Sequence[Token]) -> bool:
    """Whether a statement that sqlglot does not parse is of a kind without lineage."""
    words = [word for token in tokens[:12] for word in token.text.upper().split()] or [""]
    if words[0] in statement_words.SILENT_IF_UNPARSED:
        return True
    about = next((word for word in words[1:] if word not in statement_words.OBJECT_WORDS), "")
    silent = statement_words.SILENT_ALTERATIONS if words[0] in ("ALTER", "DROP") else statement_words.SILENT_OBJECTS
    return words[0] in ("CREATE", "ALTER", "DROP", "UPDATE") and about in silent
