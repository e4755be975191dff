"""Streaming objects and models: CREATE SINK, CREATE STREAM, SUBSCRIBE, CREATE MODEL, and Druid's EXTERN target."""

from typing import Any

from sqlglot.tokens import TokenType

from lineage_pipeline.engine.compile.context import CompileContext, ReadFields
from lineage_pipeline.engine.compile.external_objects import build_external_name
from lineage_pipeline.engine.compile.statements.copy_load import (
    compile_inner_query,
    read_column_list,
    select_everything,
)
from lineage_pipeline.engine.compile.tokens import TokenReader
from lineage_pipeline.model import ir


def compile_create_stream(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    """Snowflake: a stream has the columns of its table and metadata of each change."""
    name = cursor.read_name()
    source = None
    if cursor.seek("ON") and cursor.take("ON"):
        cursor.take_any("EXTERNAL", "EVENT", "DYNAMIC")
        source = cursor.read_name() if cursor.take_any("TABLE", "VIEW") else None
    if name is None or source is None:
        return {"kind": "CREATE STREAM"}
    added = [
        ir.Output(name=word, written=word, expr=ir.Literal("other", word), start=-1, end=-1) for word in _STREAM_COLUMNS
    ]
    star = ir.Star((), ir.NOWHERE, ir.NOWHERE)
    relation = context.add_relation(ir.Select((ir.Source("", name=source),), (star, *added)))
    return {"kind": "CREATE STREAM", "definition": ir.Definition(name, "view", relation=relation, replace=True)}


_STREAM_COLUMNS = ("METADATA$ACTION", "METADATA$ISUPDATE", "METADATA$ROW_ID")


def compile_create_sink(context: CompileContext, cursor: TokenReader) -> dict[str, Any]:
    """CREATE SINK of a relation or query: into a table, or out of the database under the sink's own name."""
    name = cursor.read_name()
    if cursor.take("IN", "CLUSTER"):
        cursor.read_name()
    target = cursor.read_name() if cursor.take("INTO") else None
    columns = read_column_list(cursor) if target is not None else None
    relation = _compile_sink_rows(context, cursor)
    if name is None or relation == ir.NOWHERE:
        return {"kind": "CREATE SINK"}
    if target is not None:
        return {"kind": "CREATE SINK", "writes": (ir.Write(target, relation, "insert", columns),)}
    return {"kind": "CREATE SINK", "definition": ir.Definition(name, "external", relation=relation, replace=True)}


def _compile_sink_rows(context: CompileContext, cursor: TokenReader) -> int:
    """The relation that a sink sends, or NOWHERE."""
    if cursor.take("FROM"):
        source = cursor.read_name()
        return select_everything(context, source) if source is not None else ir.NOWHERE
    if not cursor.take("AS"):
        return ir.NOWHERE
    begin = cursor.index
    end = next((at for at in range(begin + 1, len(cursor.tokens)) if _is_options_at(cursor, at)), len(cursor.tokens))
    return compile_inner_query(context, cursor.tokens[begin:end])


def _is_options_at(cursor: TokenReader, index: int) -> bool:
    """Whether the options after the query of a sink begin at a token."""
    following = cursor.tokens[index + 1].token_type if index + 1 < len(cursor.tokens) else None
    return cursor.words[index] == "WITH" and following is TokenType.L_PAREN or cursor.words[index] == "FORMAT"


def compile_create_model(context: CompileContext, cursor: TokenReader) -> dict[str, Any] | None:
    """CREATE MODEL … FROM a table or a query in parentheses; one with AS has to be parsed."""
    name = cursor.read_name()
    if name is None or not cursor.seek("FROM", "AS") or not cursor.take("FROM"):
        return None
    relation = _compile_rows(context, cursor)
    if relation == ir.NOWHERE:
        return None
    return {"kind": "CREATE MODEL", "definition": ir.Definition(name, "model", relation=relation, replace=True)}


def _compile_rows(context: CompileContext, cursor: TokenReader) -> int:
    """The rows of a query in parentheses or of a table, or NOWHERE."""
    if cursor.at_open_paren():
        begin = cursor.index + 1
        cursor.read_list()
        return compile_inner_query(context, cursor.tokens[begin : cursor.index - 1])
    source = cursor.read_name()
    return select_everything(context, source) if source is not None else ir.NOWHERE


def compile_subscribe(context: CompileContext, cursor: TokenReader) -> dict[str, Any] | None:
    """Materialize: SUBSCRIBE TO a relation or query; its rows are a result."""
    cursor.index = 1
    cursor.take("TO")
    relation = _compile_rows(context, cursor)
    return {"kind": "SUBSCRIBE", "result": relation} if relation != ir.NOWHERE else None


def compile_insert_extern(context: CompileContext, cursor: TokenReader) -> dict[str, Any] | None:
    """Druid: `INSERT INTO EXTERN(s3(bucket => 'b', prefix => 'p')) AS CSV SELECT …` writes files."""
    cursor.index = 3
    system, begin = cursor.word(1).lower(), cursor.index
    cursor.read_list()
    texts = [token.text for token in cursor.tokens[begin : cursor.index] if token.token_type is TokenType.STRING]
    if not texts or not cursor.seek("SELECT", "WITH"):
        return None
    address = f"{'file' if system == 'local' else system}://{'/'.join(text.strip('/') for text in texts)}"
    relation = compile_inner_query(context, cursor.tokens[cursor.index :])
    write = ir.Write(build_external_name(address, cursor.traits), relation, "unload", None, by_name=True)
    return {"kind": "INSERT", "writes": (write,)}


def compile_join_index(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    """Teradata: CREATE JOIN INDEX stores the rows of a query, as a materialized view does."""
    cursor.take("INDEX")
    name = cursor.read_name()
    if name is None or not cursor.seek("AS"):
        return None
    begin = cursor.index + 1
    end = begin
    while end < len(cursor.tokens) and cursor.words[end] not in ("PRIMARY", "PRIMARY INDEX", "INDEX", "PARTITION"):
        end += 1
    relation = compile_inner_query(context, cursor.tokens[begin:end])
    definition = ir.Definition(name, "materialized view", relation=relation)
    return {"kind": "CREATE JOIN INDEX", "definition": definition}
