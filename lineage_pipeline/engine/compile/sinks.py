"""Sinks of streaming databases, which send rows on, and models, which are trained on rows."""

from typing import Any

from sqlglot.tokens import TokenType

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.cursor import Cursor
from lineage_pipeline.engine.compile.outside import outside
from lineage_pipeline.engine.compile.transfers import columns_in_brackets, everything, query_of
from lineage_pipeline.vocabulary import ir


def sink(context: Context, cursor: Cursor) -> dict[str, Any]:
    """CREATE SINK of a relation or a query: into a table, or out of the database under the sink's own name."""
    name = cursor.name()
    if cursor.take("IN", "CLUSTER"):
        cursor.name()
    target = cursor.name() if cursor.take("INTO") else None
    columns = columns_in_brackets(cursor) if target is not None else None
    relation = _sent(context, cursor)
    if name is None or relation == ir.NOWHERE:
        return {"kind": "CREATE SINK"}
    if target is not None:
        return {"kind": "CREATE SINK", "writes": (ir.Write(target, relation, "insert", columns),)}
    return {"kind": "CREATE SINK", "definition": ir.Definition(name, "external", relation=relation, replace=True)}


def _sent(context: Context, cursor: Cursor) -> int:
    """What a sink sends, or nowhere."""
    if cursor.take("FROM"):
        source = cursor.name()
        return everything(context, source) if source is not None else ir.NOWHERE
    if not cursor.take("AS"):
        return ir.NOWHERE
    begin = cursor.index
    end = next((at for at in range(begin + 1, len(cursor.tokens)) if _are_options(cursor, at)), len(cursor.tokens))
    return query_of(context, cursor.tokens[begin:end])


def _are_options(cursor: Cursor, index: int) -> bool:
    """Whether the options behind the query of a sink begin at a token."""
    following = cursor.tokens[index + 1].token_type if index + 1 < len(cursor.tokens) else None
    return cursor.words[index] == "WITH" and following is TokenType.L_PAREN or cursor.words[index] == "FORMAT"


def model(context: Context, cursor: Cursor) -> dict[str, Any] | None:
    """CREATE MODEL … FROM a table or a query in brackets; one with AS is for the parser to read."""
    name = cursor.name()
    if name is None or not cursor.find("FROM", "AS") or not cursor.take("FROM"):
        return None
    relation = _rows(context, cursor)
    if relation == ir.NOWHERE:
        return None
    return {"kind": "CREATE MODEL", "definition": ir.Definition(name, "model", relation=relation, replace=True)}


def _rows(context: Context, cursor: Cursor) -> int:
    """The rows of a query in brackets or of a table, or nowhere."""
    if cursor.opens():
        begin = cursor.index + 1
        cursor.brackets()
        return query_of(context, cursor.tokens[begin : cursor.index - 1])
    source = cursor.name()
    return everything(context, source) if source is not None else ir.NOWHERE


def subscribe(context: Context, cursor: Cursor) -> dict[str, Any] | None:
    """SUBSCRIBE TO a relation or a query: the rows that come to it are a result."""
    cursor.index = 1
    cursor.take("TO")
    relation = _rows(context, cursor)
    return {"kind": "SUBSCRIBE", "result": relation} if relation != ir.NOWHERE else None


def sent_outside(context: Context, cursor: Cursor) -> dict[str, Any] | None:
    """Druid: `INSERT INTO EXTERN(s3(bucket => 'b', prefix => 'p')) AS CSV SELECT …` writes files."""
    cursor.index = 3
    system, begin = cursor.word(1).lower(), cursor.index
    cursor.brackets()
    texts = [token.text for token in cursor.tokens[begin : cursor.index] if token.token_type is TokenType.STRING]
    if not texts or not cursor.find("SELECT", "WITH"):
        return None
    address = f"{'file' if system == 'local' else system}://{'/'.join(text.strip('/') for text in texts)}"
    relation = query_of(context, cursor.tokens[cursor.index :])
    write = ir.Write(outside(address, cursor.traits), relation, "unload", None, by_name=True)
    return {"kind": "INSERT", "writes": (write,)}
