"""COPY, LOAD DATA, UNLOAD, EXPORT, IMPORT and BULK INSERT: rows between tables and files, read from tokens."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.external_objects import build_external_name
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure, parse_statement
from lineage_pipeline.engine.compile.lexer import tokenize
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.engine.compile.tokens import TEXT_TOKENS, TokenReader, synthetic_token
from lineage_pipeline.model import ir

CopyFields = dict[str, Any]

_STANDARD_STREAMS = ("STDIN", "STDOUT")


def select_everything(context: CompileContext, name: ir.Name, columns: tuple[str, ...] = ()) -> int:
    """A relation of all columns of an object, or of those that are listed."""
    source = ir.Source("", name=name)
    listed = tuple(
        ir.Output(name=column, written=column, expr=ir.Ref((column,), -1, -1), start=-1, end=-1) for column in columns
    )
    return context.add_relation(ir.Select((source,), listed or (ir.Star((), ir.NOWHERE, ir.NOWHERE),)))


def compile_copy(context: CompileContext, cursor: TokenReader) -> CopyFields | None:
    """COPY in both directions: a table or query, and files, a stage, a program or standard input and output."""
    cursor.index = 1
    cursor.take("FILES")
    cursor.take("INTO")
    cursor.take("BINARY")
    if cursor.at_open_paren():
        begin = cursor.index + 1
        cursor.read_list()
        relation = compile_inner_query(context, cursor.tokens[begin : cursor.index - 1])
        return _compile_copy_to(context, cursor, relation) if cursor.take("TO") else None
    if cursor.take("FROM", "DATABASE"):  # DuckDB: every table, none of which is named
        return {"kind": "COPY DATABASE"}
    name = read_location(context, cursor)
    if name is None:
        return None
    columns = read_column_list(cursor)
    if cursor.take("TO"):
        return _compile_copy_to(context, cursor, select_everything(context, name, columns or ()))
    placed = cursor.take("BY") and cursor.take("POSITION")
    named = context.traits.copies_names and columns is None and not placed
    return _compile_copy_from(context, cursor, name, columns, named) if cursor.take("FROM") else None


def read_column_list(cursor: TokenReader) -> tuple[str, ...] | None:
    """A list of columns in parentheses, each perhaps with a type or a default."""
    if not cursor.at_open_paren():
        return None
    return tuple(TokenReader(item, cursor.traits).read_column() for item in cursor.read_list())


def read_location(context: CompileContext, cursor: TokenReader) -> ir.Name | None:
    """The table, file, stage or program that is named here."""
    if cursor.done:
        return None
    token = cursor.tokens[cursor.index]
    start = token.start - context.origin
    if cursor.take("PROGRAM"):
        return build_external_name(f"program://{cursor.read_string()}", cursor.traits, start, start + 1)
    if token.token_type in TEXT_TOKENS or token.token_type is TokenType.IDENTIFIER and "/" in token.text:
        cursor.index += 1
        return build_external_name(token.text, cursor.traits, start, token.end + 1 - context.origin)
    if token.text.startswith("@") or token.token_type is TokenType.PARAMETER:
        end = _read_unbroken(cursor)
        return build_external_name(context.text[token.start : end], cursor.traits, start, end - context.origin)
    return cursor.read_name()


def _read_unbroken(cursor: TokenReader) -> int:
    """The offset after tokens without a gap; reads them."""
    end = cursor.tokens[cursor.index].end + 1
    cursor.index += 1
    while not cursor.done and cursor.tokens[cursor.index].start == end and cursor.tokens[cursor.index].text not in ",)":
        end = cursor.tokens[cursor.index].end + 1
        cursor.index += 1
    return int(end)


def _compile_copy_from(
    context: CompileContext, cursor: TokenReader, name: ir.Name, columns: tuple[str, ...] | None, named: bool
) -> CopyFields | None:
    """Rows come from a query or from files, or go into a stage in place of the table."""
    if cursor.at_open_paren():
        begin = cursor.index + 1
        cursor.read_list()
        inside = cursor.tokens[begin : cursor.index - 1]
        if inside and inside[0].token_type not in TEXT_TOKENS:
            relation = compile_inner_query(context, inside)
            return {"kind": "COPY", "writes": (ir.Write(name, relation, "insert", columns, by_name=named),)}
        cursor.index = begin
    if "://" in name.parts[0]:
        source = read_location(context, cursor)
        return _compile_unload_to("COPY", name, select_everything(context, source)) if source is not None else None
    if cursor.take_any(*_STANDARD_STREAMS, "LOCAL"):
        empty = context.add_relation(ir.Select((), ()))
        return {"kind": "COPY", "writes": (ir.Write(name, empty, "load", columns),)}
    return compile_load_files(context, "COPY", name, _read_files(context, cursor), columns)


def _read_files(context: CompileContext, cursor: TokenReader) -> list[ir.Name]:
    """One address, or several separated by commas."""
    found = []
    while (name := read_location(context, cursor)) is not None:
        found.append(name)
        if cursor.done or cursor.tokens[cursor.index].token_type is not TokenType.COMMA:
            break
        cursor.index += 1
    return found


def compile_load_files(
    context: CompileContext, kind: str, target: ir.Name, files: Sequence[ir.Name], columns: tuple[str, ...] | None
) -> CopyFields:
    """Files fill a table."""
    if columns is None and not context.traits.copies_names and not _may_have_column_names(context.tokens):
        context.features.add("positional insert")
    relations = [context.add_relation(ir.Select((ir.Source("", name=file),), ())) for file in files]
    return {"kind": kind, "writes": tuple(ir.Write(target, relation, "load", columns) for relation in relations)}


def _may_have_column_names(tokens: Sequence[Token]) -> bool:
    """Whether the files may name their columns, or an external format does."""
    words = {token.text.upper() for token in tokens}
    return not words.isdisjoint(_NAMED_FORMATS) or "FILE_FORMAT" in words and "TYPE" not in words


_NAMED_FORMATS = frozenset("AVRO JSON ORC PARQUET XML MATCH_BY_COLUMN_NAME MATCH FORMAT_NAME FORMATFILE".split())
"""Keywords of loads whose files need not match columns by position."""


def _compile_copy_to(context: CompileContext, cursor: TokenReader, relation: int) -> CopyFields | None:
    if cursor.take_any(*_STANDARD_STREAMS):
        return {"kind": "COPY", "result": relation}
    target = read_location(context, cursor)
    return _compile_unload_to("COPY", target, relation) if target is not None else None


def _compile_unload_to(kind: str, target: ir.Name, relation: int) -> CopyFields:
    """Rows go into a file under their own names."""
    return {"kind": kind, "writes": (ir.Write(target, relation, "unload", None, by_name=True),)}


def compile_inner_query(context: CompileContext, tokens: Sequence[Token]) -> int:
    """The relation of a query inside a statement that is read from tokens."""
    piece = RawStatement(tokens, begin=context.origin, stop=context.end)
    parsed = parse_statement(piece, context.text, context.traits) if tokens else ParseFailure("no query", 0, 0)
    if isinstance(parsed, ParseFailure) or isinstance(parsed[0], exp.Command):
        reason = parsed.reason if isinstance(parsed, ParseFailure) else "this query"
        start = tokens[0].start if tokens else context.origin
        context.report("UNSUPPORTED_SYNTAX", start, start + 1, construct=f"the query inside ({reason})")
        return context.add_relation(ir.Select((), ()))
    context.items = parsed[1]
    return context.compile_query(context, parsed[0])


_DOLLAR_QUOTE = re.compile(r"\$\w*\$")


def compile_unload(context: CompileContext, cursor: TokenReader) -> CopyFields | None:
    """UNLOAD of a query, which Redshift writes as a string and Athena as plain SQL."""
    cursor.index = 2
    begin, token = cursor.index, cursor.tokens[2] if len(cursor.tokens) > 2 else cursor.tokens[0]
    if token.token_type in TEXT_TOKENS:
        relation = compile_inner_query(context, _tokenize_string(context, token))
        cursor.index = 4
    else:
        cursor.index = 1
        cursor.read_list()
        relation = compile_inner_query(context, cursor.tokens[begin : cursor.index - 1])
    if not cursor.seek("TO"):
        return None
    cursor.index += 1
    target = read_location(context, cursor)
    return _compile_unload_to("UNLOAD", target, relation) if target is not None else None


def _tokenize_string(context: CompileContext, token: Token) -> list[Token]:
    """The tokens of a statement in a string, at their offsets in the file; a doubled quote is one quote."""
    raw = context.text[token.start : token.end + 1]
    opened = _DOLLAR_QUOTE.match(raw)
    width = len(opened[0]) if opened is not None else 1
    body = raw[width:-width]
    if opened is None:
        body = body.replace("''", " '").replace("\\'", " '")
    tokens = tokenize(body, context.traits)
    if isinstance(tokens, ParseFailure):
        return []
    shift = token.start + width
    return [
        Token(item.token_type, item.text, item.line, item.col, item.start + shift, item.end + shift) for item in tokens
    ]


def compile_export(context: CompileContext, cursor: TokenReader) -> CopyFields | None:
    """BigQuery: EXPORT DATA … AS query. Hive: EXPORT TABLE t TO 'folder'. Exasol: EXPORT t INTO CSV … FILE 'name'."""
    if cursor.take("EXPORT", "DATA"):
        return _compile_export_data(context, cursor)
    cursor.index = 1
    cursor.take("TABLE")
    if cursor.at_open_paren():
        begin = cursor.index + 1
        cursor.read_list()
        relation = compile_inner_query(context, cursor.tokens[begin : cursor.index - 1])
    else:
        name = cursor.read_name()
        if name is None:
            return None
        relation = select_everything(context, name, read_column_list(cursor) or ())
    if not cursor.seek("TO", "FILE"):
        return None
    cursor.index += 1
    target = read_location(context, cursor)
    return _compile_unload_to("EXPORT", target, relation) if target is not None else None


def compile_import(context: CompileContext, cursor: TokenReader) -> CopyFields | None:
    """Hive: IMPORT TABLE t FROM 'folder'. Exasol: IMPORT INTO t FROM CSV … FILE 'name', or FROM JDBC AT connection."""
    cursor.index = 1
    cursor.take("EXTERNAL")
    if not cursor.take_any("TABLE", "INTO"):
        return None
    target = cursor.read_name()
    columns = read_column_list(cursor)
    files = [build_external_name(item.text, cursor.traits) for item in read_option_strings(cursor, "FILE")]
    if not files and cursor.seek("FROM"):
        cursor.index += 1
        driver = cursor.word().lower()
        files = _read_files(context, cursor) if driver == "" else []
        if not files and cursor.seek("AT") and cursor.index + 1 < len(cursor.tokens):
            files = [build_external_name(f"{driver}://{cursor.tokens[cursor.index + 1].text}", cursor.traits)]
    return compile_load_files(context, "IMPORT", target, files, columns) if target is not None and files else None


def _compile_export_data(context: CompileContext, cursor: TokenReader) -> CopyFields | None:
    """BigQuery: EXPORT DATA OPTIONS (uri = …) AS query."""
    files = read_option_strings(cursor, "URI")
    if not files or not cursor.seek("AS"):
        return None
    relation = compile_inner_query(context, cursor.tokens[cursor.index + 1 :])
    return _compile_unload_to("EXPORT DATA", build_external_name(files[0].text, cursor.traits), relation)


def read_option_strings(cursor: TokenReader, *words: str) -> list[Token]:
    """The strings after an option, up to the next comma outside brackets."""
    at = next((index for index, word in enumerate(cursor.words) if word in words), len(cursor.words))
    found, depth = [], 0
    for token in cursor.tokens[at + 1 :]:
        depth += (token.token_type is TokenType.L_BRACKET) - (token.token_type is TokenType.R_BRACKET)
        if token.token_type in TEXT_TOKENS or (token.token_type is TokenType.IDENTIFIER and token.text):
            found.append(token)
        if depth == 0 and (found or token.token_type in (TokenType.COMMA, TokenType.R_PAREN)):
            break
    return found


def compile_bulk_insert(context: CompileContext, cursor: TokenReader) -> CopyFields | None:
    """T-SQL: BULK INSERT table FROM 'file'."""
    cursor.index = 2
    target = cursor.read_name()
    if target is None or not cursor.take("FROM"):
        return None
    return compile_load_files(context, "BULK INSERT", target, _read_files(context, cursor), None)


def compile_insert_from_file(context: CompileContext, cursor: TokenReader) -> CopyFields | None:
    """ClickHouse: INSERT INTO table FROM INFILE 'file'."""
    cursor.index = 1
    cursor.take("INTO")
    cursor.take("TABLE")
    target = cursor.read_name()
    columns = read_column_list(cursor)
    if target is None or not cursor.take("FROM", "INFILE"):
        return None
    return compile_load_files(context, "INSERT", target, _read_files(context, cursor), columns)


def compile_select_into_file(context: CompileContext, cursor: TokenReader) -> CopyFields | None:
    """MySQL and ClickHouse: SELECT … INTO OUTFILE 'file'."""
    at = next((index for index, word in enumerate(cursor.words) if word in ("OUTFILE", "DUMPFILE")), 0)
    if at < 2 or cursor.words[at - 1] != "INTO":
        return None
    cursor.index = at + 1
    target = read_location(context, cursor)
    if target is None:
        return None
    rest = next((index for index in range(cursor.index, len(cursor.words)) if cursor.words[index] == "FROM"), None)
    tail = cursor.tokens[rest:] if rest is not None else ()
    return _compile_unload_to("SELECT INTO", target, compile_inner_query(context, [*cursor.tokens[: at - 1], *tail]))


ItemT = TypeVar("ItemT")


def compile_load_data(context: CompileContext, cursor: TokenReader) -> CopyFields | None:
    """LOAD DATA of Hive, MySQL, SingleStore and BigQuery."""
    if not cursor.take("LOAD", "DATA") and not cursor.take("LOAD", "XML"):
        return None
    words = ("DATA",) if cursor.word() in _LOAD_SYSTEMS else ("INPATH", "INFILE", "URIS")
    scheme = f"{cursor.word().lower()}://" if cursor.word() in _LOAD_SYSTEMS else ""
    files = [build_external_name(scheme + item.text, cursor.traits) for item in read_option_strings(cursor, *words)]
    if not cursor.seek("INTO", "OVERWRITE"):
        return None
    while cursor.take_any("INTO", "OVERWRITE", "TABLE", "TEMP", "TEMPORARY"):
        pass
    target = cursor.read_name()
    if target is None or not files:
        return None
    fixed = _read_partition_columns(cursor) if cursor.take("PARTITION") else ()
    columns, variables = read_column_list(cursor), frozenset[str]()
    if columns is None and (scheme or "INFILE" in cursor.words):
        columns, variables = _read_load_columns(cursor)
    computed = dict(_read_set_clause(cursor)) if "INFILE" in cursor.words and cursor.take("SET") else {}
    parts = compile_load_files(context, "LOAD DATA", target, files, columns)
    fixed = (*fixed, *computed)
    writes = tuple(msgspec.structs.replace(write, fixed=fixed) for write in parts["writes"])
    made_of = tuple(
        _compile_load_set(context, cursor, target, file, (computed, variables)) for file in files if computed
    )
    return {**parts, "writes": (*writes, *made_of)}


_LOAD_SYSTEMS = frozenset("S3 GCS AZURE HDFS KAFKA MYSQL MONGODB".split())
"""SingleStore: systems before the address of loaded data."""


def _read_partition_columns(cursor: TokenReader) -> tuple[str, ...]:
    """The columns that a PARTITION clause gives a value."""
    return tuple(TokenReader(item, cursor.traits).read_column() for item in cursor.read_list() if len(item) > 1)


def _read_load_columns(cursor: TokenReader) -> tuple[tuple[str, ...] | None, frozenset[str]]:
    """MySQL: the columns after the options of a file, and the variables that take the other fields."""
    while not cursor.done:
        if cursor.at_open_paren() and cursor.word(-1) not in ("PARTITION", "IN"):
            listed = cursor.read_list()
            marked = [item for item in listed if item[0].token_type is TokenType.PARAMETER]
            named = [item for item in listed if item[0].token_type is not TokenType.PARAMETER]
            variables = frozenset("@" + item[1].text.lower() for item in marked if len(item) > 1)
            return tuple(TokenReader(item, cursor.traits).read_column() for item in named), variables
        if cursor.word() == "SET" and cursor.word(-1) != "CHARACTER":
            break
        cursor.index += 1
    return None, frozenset()


def _read_set_clause(cursor: TokenReader) -> Iterator[tuple[str, list[Token]]]:
    """The columns that SET fills, each with the tokens of its value."""
    while not cursor.done:
        name = cursor.read_column()
        cursor.index += 1  # the sign between them
        yield name, cursor.read_item()


def _compile_load_set(
    context: CompileContext,
    cursor: TokenReader,
    target: ir.Name,
    file: ir.Name,
    given: tuple[dict[str, list[Token]], frozenset[str]],
) -> ir.Write:
    """The write of the SET clause; a variable is the field that it takes."""
    computed, variables = given
    separator = synthetic_token(",", cursor.tokens[0])
    listed = [token for value in computed.values() for token in (separator, *value)]
    index = compile_inner_query(context, [synthetic_token("SELECT", cursor.tokens[0]), *listed[1:]])
    query = context.relations[index]
    if isinstance(query, ir.Select):
        fields = _replace_variables(query.outputs, variables)
        context.relations[index] = ir.Select((ir.Source("", name=file),), fields)
    return ir.Write(target, index, "insert", tuple(computed))


def _replace_variables(item: ItemT, variables: frozenset[str]) -> ItemT:
    """An expression with fields of the file instead of variables."""
    if isinstance(item, ir.Variable):
        return ir.Ref((item.name,), item.start, item.end) if item.name in variables else item  # type: ignore[return-value]
    if isinstance(item, tuple):
        return tuple(_replace_variables(part, variables) for part in item)  # type: ignore[return-value]
    if isinstance(item, ir.Node):
        fields: Sequence[str] = item.__struct_fields__
        return msgspec.structs.replace(
            item, **{name: _replace_variables(getattr(item, name), variables) for name in fields}
        )
    return item
