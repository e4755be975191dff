"""Rows between tables and files: COPY, LOAD, UNLOAD, EXPORT and BULK INSERT, read word by word."""

import re
from collections.abc import Sequence
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.cursor import STRINGS, Cursor
from lineage_pipeline.engine.compile.outside import outside
from lineage_pipeline.engine.compile.parse import Failure, parse
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.tokenizing import tokenize
from lineage_pipeline.vocabulary import ir

Parts = dict[str, Any]

_STANDARD = ("STDIN", "STDOUT")


def everything(context: Context, name: ir.Name, columns: tuple[str, ...] = ()) -> int:
    """A relation of all columns of an object, or of those that are listed."""
    source = ir.Source("", name=name)
    listed = tuple(ir.Output(column, column, ir.Ref((column,), -1, -1), -1, -1) for column in columns)
    return context.add(ir.Select((source,), listed or (ir.Star((), ir.NOWHERE, ir.NOWHERE),)))


def copy(context: Context, cursor: Cursor) -> Parts | None:
    """COPY in both directions: a table or a query, and files, a stage, a program or the script itself."""
    cursor.index = 1
    cursor.take("FILES")
    cursor.take("INTO")
    cursor.take("BINARY")
    if cursor.opens():
        begin = cursor.index + 1
        cursor.brackets()
        relation = query_of(context, cursor.tokens[begin : cursor.index - 1])
        return _unloaded(context, cursor, relation) if cursor.take("TO") else None
    name = place(context, cursor)
    if name is None:
        return None
    columns = columns_in_brackets(cursor)
    if cursor.take("TO"):
        return _unloaded(context, cursor, everything(context, name, columns or ()))
    placed = cursor.take("BY") and cursor.take("POSITION")
    named = context.traits.copies_names and columns is None and not placed
    return _received(context, cursor, name, columns, named) if cursor.take("FROM") else None


def columns_in_brackets(cursor: Cursor) -> tuple[str, ...] | None:
    """A list of columns in brackets, each perhaps with a type or a default."""
    if not cursor.opens():
        return None
    return tuple(Cursor(item, cursor.traits).column() for item in cursor.brackets())


def place(context: Context, cursor: Cursor) -> ir.Name | None:
    """The table, or the file, stage or program, that is named here; what stands for the script itself is neither."""
    if cursor.done:
        return None
    token = cursor.tokens[cursor.index]
    start = token.start - context.origin
    if cursor.take("PROGRAM"):
        return outside(f"program://{cursor.string()}", cursor.traits, start, start + 1)
    if token.token_type in STRINGS or token.token_type is TokenType.IDENTIFIER and "/" in token.text:
        cursor.index += 1
        return outside(token.text, cursor.traits, start, token.end + 1 - context.origin)
    if token.text.startswith("@") or token.token_type is TokenType.PARAMETER:
        end = _unbroken(cursor)
        return outside(context.text[token.start : end], cursor.traits, start, end - context.origin)
    return cursor.name()


def _unbroken(cursor: Cursor) -> int:
    """The offset behind tokens without a gap, going on behind them."""
    end = cursor.tokens[cursor.index].end + 1
    cursor.index += 1
    while not cursor.done and cursor.tokens[cursor.index].start == end and cursor.tokens[cursor.index].text not in ",)":
        end = cursor.tokens[cursor.index].end + 1
        cursor.index += 1
    return int(end)


def _received(
    context: Context, cursor: Cursor, name: ir.Name, columns: tuple[str, ...] | None, named: bool
) -> Parts | None:
    """Rows come from a query or from files, or go into a stage that stands where the table does."""
    if cursor.opens():
        begin = cursor.index + 1
        cursor.brackets()
        inside = cursor.tokens[begin : cursor.index - 1]
        if inside and inside[0].token_type not in STRINGS:
            relation = query_of(context, inside)
            return {"kind": "COPY", "writes": (ir.Write(name, relation, "insert", columns, by_name=named),)}
        cursor.index = begin
    if "://" in name.parts[0]:
        source = place(context, cursor)
        return _sent("COPY", name, everything(context, source)) if source is not None else None
    if cursor.take_any(*_STANDARD, "LOCAL"):
        empty = context.add(ir.Select((), ()))
        return {"kind": "COPY", "writes": (ir.Write(name, empty, "load", columns),)}
    return loaded(context, "COPY", name, _files(context, cursor), columns)


def _files(context: Context, cursor: Cursor) -> list[ir.Name]:
    """One address, or several behind each other."""
    found = []
    while (name := place(context, cursor)) is not None:
        found.append(name)
        if cursor.done or cursor.tokens[cursor.index].token_type is not TokenType.COMMA:
            break
        cursor.index += 1
    return found


def loaded(
    context: Context, kind: str, target: ir.Name, files: Sequence[ir.Name], columns: tuple[str, ...] | None
) -> Parts:
    """Files fill a table."""
    if columns is None and not context.traits.copies_names and not _may_name(context.tokens):
        context.features.add("positional insert")
    relations = [context.add(ir.Select((ir.Source("", name=file),), ())) for file in files]
    return {"kind": kind, "writes": tuple(ir.Write(target, relation, "load", columns) for relation in relations)}


def _may_name(tokens: Sequence[Token]) -> bool:
    """Whether files may say themselves which columns they hold, or a format does that is described elsewhere."""
    words = {token.text.upper() for token in tokens}
    return not words.isdisjoint(_NAMING) or "FILE_FORMAT" in words and "TYPE" not in words


_NAMING = frozenset("AVRO JSON ORC PARQUET XML MATCH_BY_COLUMN_NAME MATCH FORMAT_NAME FORMATFILE".split())
"""Words of a load whose files do not count columns, or need not."""


def _unloaded(context: Context, cursor: Cursor, relation: int) -> Parts | None:
    if cursor.take_any(*_STANDARD):
        return {"kind": "COPY", "result": relation}
    target = place(context, cursor)
    return _sent("COPY", target, relation) if target is not None else None


def _sent(kind: str, target: ir.Name, relation: int) -> Parts:
    """Rows go into a file under their own names."""
    return {"kind": kind, "writes": (ir.Write(target, relation, "unload", None, by_name=True),)}


def query_of(context: Context, tokens: Sequence[Token]) -> int:
    """The relation of a query inside a statement that is read without the parser."""
    piece = Piece(tokens, begin=context.origin, stop=context.end)
    parsed = parse(piece, context.text, context.traits) if tokens else Failure("no query", 0, 0)
    if isinstance(parsed, Failure) or isinstance(parsed[0], exp.Command):
        reason = parsed.reason if isinstance(parsed, Failure) else "this query"
        start = tokens[0].start if tokens else context.origin
        context.report("UNSUPPORTED_SYNTAX", start, start + 1, construct=f"the query inside ({reason})")
        return context.add(ir.Select((), ()))
    context.items = parsed[1]
    return context.compile_query(context, parsed[0])


_DOLLARS = re.compile(r"\$\w*\$")


def unload(context: Context, cursor: Cursor) -> Parts | None:
    """UNLOAD of a query, which Redshift writes as a string and Athena as it is."""
    cursor.index = 2
    begin, token = cursor.index, cursor.tokens[2] if len(cursor.tokens) > 2 else cursor.tokens[0]
    if token.token_type in STRINGS:
        relation = query_of(context, _inside(context, token))
        cursor.index = 4
    else:
        cursor.index = 1
        cursor.brackets()
        relation = query_of(context, cursor.tokens[begin : cursor.index - 1])
    if not cursor.find("TO"):
        return None
    cursor.index += 1
    target = place(context, cursor)
    return _sent("UNLOAD", target, relation) if target is not None else None


def _inside(context: Context, token: Token) -> list[Token]:
    """The tokens of a statement in a string, at their places in the file; a doubled quote is one quote."""
    raw = context.text[token.start : token.end + 1]
    opened = _DOLLARS.match(raw)
    width = len(opened[0]) if opened is not None else 1
    body = raw[width:-width]
    if opened is None:
        body = body.replace("''", " '").replace("\\'", " '")
    tokens = tokenize(body, context.traits)
    if isinstance(tokens, Failure):
        return []
    shift = token.start + width
    return [
        Token(item.token_type, item.text, item.line, item.col, item.start + shift, item.end + shift) for item in tokens
    ]


def export(context: Context, cursor: Cursor) -> Parts | None:
    """BigQuery: EXPORT DATA … AS query. Hive: EXPORT TABLE t TO 'folder'. Exasol: EXPORT t INTO CSV … FILE 'name'."""
    if cursor.take("EXPORT", "DATA"):
        return _export_data(context, cursor)
    cursor.index = 1
    cursor.take("TABLE")
    if cursor.opens():
        begin = cursor.index + 1
        cursor.brackets()
        relation = query_of(context, cursor.tokens[begin : cursor.index - 1])
    else:
        name = cursor.name()
        if name is None:
            return None
        relation = everything(context, name, columns_in_brackets(cursor) or ())
    if not cursor.find("TO", "FILE"):
        return None
    cursor.index += 1
    target = place(context, cursor)
    return _sent("EXPORT", target, relation) if target is not None else None


def import_rows(context: Context, cursor: Cursor) -> Parts | None:
    """Hive: IMPORT TABLE t FROM 'folder'. Exasol: IMPORT INTO t FROM CSV … FILE 'name', or FROM JDBC AT connection."""
    cursor.index = 1
    cursor.take("EXTERNAL")
    if not cursor.take_any("TABLE", "INTO"):
        return None
    target = cursor.name()
    columns = columns_in_brackets(cursor)
    files = [outside(item.text, cursor.traits) for item in strings_behind(cursor, "FILE")]
    if not files and cursor.find("FROM"):
        cursor.index += 1
        driver = cursor.word().lower()
        files = _files(context, cursor) if driver == "" else []
        if not files and cursor.find("AT") and cursor.index + 1 < len(cursor.tokens):
            files = [outside(f"{driver}://{cursor.tokens[cursor.index + 1].text}", cursor.traits)]
    return loaded(context, "IMPORT", target, files, columns) if target is not None and files else None


def _export_data(context: Context, cursor: Cursor) -> Parts | None:
    """BigQuery: EXPORT DATA OPTIONS (uri = …) AS query."""
    files = strings_behind(cursor, "URI")
    if not files or not cursor.find("AS"):
        return None
    relation = query_of(context, cursor.tokens[cursor.index + 1 :])
    return _sent("EXPORT DATA", outside(files[0].text, cursor.traits), relation)


def strings_behind(cursor: Cursor, *words: str) -> list[Token]:
    """The strings behind an option, up to the next comma outside brackets."""
    at = next((index for index, word in enumerate(cursor.words) if word in words), len(cursor.words))
    found, depth = [], 0
    for token in cursor.tokens[at + 1 :]:
        depth += (token.token_type is TokenType.L_BRACKET) - (token.token_type is TokenType.R_BRACKET)
        if token.token_type in STRINGS or (token.token_type is TokenType.IDENTIFIER and token.text):
            found.append(token)
        if depth == 0 and (found or token.token_type in (TokenType.COMMA, TokenType.R_PAREN)):
            break
    return found


def bulk_insert(context: Context, cursor: Cursor) -> Parts | None:
    """T-SQL: BULK INSERT table FROM 'file'."""
    cursor.index = 2
    target = cursor.name()
    if target is None or not cursor.take("FROM"):
        return None
    return loaded(context, "BULK INSERT", target, _files(context, cursor), None)


def insert_from_file(context: Context, cursor: Cursor) -> Parts | None:
    """ClickHouse: INSERT INTO table FROM INFILE 'file'."""
    cursor.index = 1
    cursor.take("INTO")
    cursor.take("TABLE")
    target = cursor.name()
    columns = columns_in_brackets(cursor)
    if target is None or not cursor.take("FROM", "INFILE"):
        return None
    return loaded(context, "INSERT", target, _files(context, cursor), columns)


def select_into_file(context: Context, cursor: Cursor) -> Parts | None:
    """MySQL and ClickHouse: SELECT … INTO OUTFILE 'file'."""
    at = next((index for index, word in enumerate(cursor.words) if word in ("OUTFILE", "DUMPFILE")), 0)
    if at < 2 or cursor.words[at - 1] != "INTO":
        return None
    cursor.index = at + 1
    target = place(context, cursor)
    if target is None:
        return None
    rest = next((index for index in range(cursor.index, len(cursor.words)) if cursor.words[index] == "FROM"), None)
    tail = cursor.tokens[rest:] if rest is not None else ()
    return _sent("SELECT INTO", target, query_of(context, [*cursor.tokens[: at - 1], *tail]))
