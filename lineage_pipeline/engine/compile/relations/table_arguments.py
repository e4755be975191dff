"""Functions with a table name or a query as a string argument: OPENQUERY, dblink, dictGet and the like."""

import re
from collections.abc import Sequence

import msgspec
from sqlglot import exp
from sqlglot.tokens import Token

from lineage_pipeline.dialects.table_functions import TableArgument
from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expression
from lineage_pipeline.engine.compile.external_objects import build_external_name
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure, parse_statement
from lineage_pipeline.engine.compile.lexer import tokenize
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.model import ir

_SERVER_PATTERN = re.compile(
    r"(?:server|data source|hostaddr|host|address|addr|dsn|service|dbname)\s*=\s*'?([^;'\s]+)", re.IGNORECASE
)
"""The server in a connection string."""


def compile_named_rows(context: CompileContext, node: exp.Expr) -> ir.Source | None:
    """The rows of the table or query that a function names; None for other functions."""
    naming = _naming_of(context, node)
    if naming is None:
        return None
    alias = node.name.lower()
    if naming.text >= 0:
        arguments = _plain_arguments(node)
        relation = _compile_string_query(context, arguments, naming, _server_of(arguments, naming))
        return ir.Source(alias, relation=relation) if relation is not None else None
    name = compile_named_table(context, node)
    if name is None:
        return None
    if not naming.added:
        return ir.Source(alias, name=name)
    if naming.searched >= 0:
        return ir.Source(alias, relation=_compile_search(context, node, name, naming))
    return ir.Source(alias, relation=_add_columns(context, name, naming.added))


def _naming_of(context: CompileContext, node: exp.Expr) -> TableArgument | None:
    known = context.traits.table_arguments
    return known.get(node.name.upper()) if known and isinstance(node, exp.Anonymous) else None


def _plain_arguments(node: exp.Expr) -> list[exp.Expr]:
    """The arguments of a function; named ones without their names."""
    return [item.expression if isinstance(item, exp.Kwarg) else item for item in node.expressions]


def compile_named_table(context: CompileContext, node: exp.Expr) -> ir.Name | None:
    """The table that a function names."""
    naming = _naming_of(context, node)
    return (
        compile_table_arguments(context, _plain_arguments(node), naming)
        if naming is not None and naming.parts
        else None
    )


def compile_catalog_query(context: CompileContext, node: exp.Expr, catalog: str) -> ir.Source | None:
    """Trino: the rows of `TABLE(catalog.system.query(query => '…'))`."""
    naming = _naming_of(context, node)
    if naming is None or naming.text < 0:
        return None
    relation = _compile_string_query(context, _plain_arguments(node), naming, catalog)
    return ir.Source(node.name.lower(), relation=relation) if relation is not None else None


def compile_string_table(context: CompileContext, node: exp.Expr) -> ir.Name | None:
    """The table that a string names."""
    if not node.is_string:
        return None
    return ir.Name(_fold_parts(context, [node.name]), node.name.rpartition(".")[2], *_string_span(context, node))


def _compile_search(context: CompileContext, node: exp.Expr, name: ir.Name, naming: TableArgument) -> int:
    """What a text search gives: the key of a row that it found, and a rank that depends on what it searched."""
    searched = _plain_arguments(node)[naming.searched : naming.searched + 1]
    columns = [column for item in searched for column in item.find_all(exp.Column) if not column.is_star]
    found: tuple[ir.Expr, ...] = tuple(
        ir.Ref((context.column_name(column.this),), *context.span_of(column.this)) for column in columns
    )
    rank = ir.Call("RANK", found or (ir.Whole((), ir.NOWHERE, ir.NOWHERE),))
    outputs = tuple(
        ir.Output(name=word, written=word, expr=rank, start=ir.NOWHERE, end=ir.NOWHERE) for word in naming.added
    )
    return context.add_relation(ir.Select((ir.Source("", name=name),), outputs))


def _add_columns(context: CompileContext, name: ir.Name, added: Sequence[str]) -> int:
    """All columns of a table and some more."""
    more = (
        ir.Output(name=word, written=word, expr=ir.Literal("other", word), start=ir.NOWHERE, end=ir.NOWHERE)
        for word in added
    )
    star = ir.Star((), ir.NOWHERE, ir.NOWHERE)
    return context.add_relation(ir.Select((ir.Source("", name=name),), (star, *more)))


def compile_table_arguments(
    context: CompileContext, arguments: Sequence[exp.Expr], naming: TableArgument
) -> ir.Name | None:
    """The table that arguments name: as one dotted name, or part by part from the outermost in, as names or strings."""
    first = arguments[naming.parts[0]] if len(arguments) > naming.parts[0] else None
    if isinstance(first, exp.Column | exp.Dot) and first.find(exp.Identifier) is not None:
        single = isinstance(first, exp.Column) and not first.table
        named = [arguments[at] for at in naming.parts if len(arguments) > at] if single else [first]
        return _compile_written_table(context, named)
    places = naming.parts[: 1 if first is not None and "." in first.name else None]
    literals = [arguments[at] for at in places if len(arguments) > at and arguments[at].is_string]
    texts = [literal.name for literal in literals]
    if not texts:
        return None
    if naming.scheme:
        return build_external_name(
            "/".join([f"{naming.scheme}://{_server_of(arguments, naming)}", *texts]), context.traits
        )
    return ir.Name(_fold_parts(context, texts), texts[-1].rpartition(".")[2], *_string_span(context, literals[-1]))


def _compile_written_table(context: CompileContext, nodes: Sequence[exp.Expr]) -> ir.Name:
    """The table whose parts are names, or names and strings."""
    parts: list[str] = []
    written: list[exp.Expr] = []
    for node in nodes:
        found = sorted(node.find_all(exp.Identifier), key=lambda part: int(part.meta.get("start", 0)))
        written += found
        parts += [context.table_name(part) for part in found] or _fold_parts(context, [node.name])
    return ir.Name(tuple(parts), parts[-1], *context.span_of(*written))


def _fold_parts(context: CompileContext, texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(context.fold_table(part) for text in texts for part in text.split("."))


def _server_of(arguments: Sequence[exp.Expr], naming: TableArgument) -> str:
    """The server of a connection argument, without user and password."""
    text = arguments[naming.server].name if len(arguments) > naming.server >= 0 else ""
    found = _SERVER_PATTERN.search(text)
    if found:
        return found.group(1)
    return "" if "=" in text else text.rpartition("@")[2]  # what else a connection string says may be a secret


# ── queries in texts ─────────────────────────────────────────────────────────────────────────────────────────────


def _compile_string_query(
    context: CompileContext, arguments: Sequence[exp.Expr], naming: TableArgument, where: str
) -> int | None:
    """The relation of a query in a string, its tables on a server; one external object if it does not parse."""
    text = arguments[naming.text] if len(arguments) > naming.text else None
    if text is None or not text.is_string:
        return None
    server = context.fold_table(where)
    tokens = _tokenize_literal(context, text)
    parsed = (
        parse_statement(RawStatement(tokens, begin=context.origin, stop=context.end), context.text, context.traits)
        if tokens
        else None
    )
    if parsed is None or isinstance(parsed, ParseFailure) or not isinstance(parsed[0], exp.Query):
        source = ir.Source("", name=build_external_name(f"query://{server or 'here'}", context.traits))
        return context.add_relation(ir.Select((source,), (ir.Star((), ir.NOWHERE, ir.NOWHERE),)))
    before = len(context.relations)
    items, ctes = context.items, context.ctes
    context.items, context.ctes = parsed[1], {}
    index = context.compile_query(context, parsed[0])
    context.items, context.ctes = items, ctes
    if server:
        _qualify_with_server(context, before, server)
    return index


def _tokenize_literal(context: CompileContext, literal: exp.Expr) -> list[Token]:
    """The tokens of a string, at their offsets in the file if the string is written as is."""
    found = tokenize(literal.name, context.traits)
    if isinstance(found, ParseFailure):
        return []
    start, _ = _string_span(context, literal)
    shift = start + context.origin
    return [
        Token(token.token_type, token.text, token.line, token.col, token.start + shift, token.end + shift)
        if start >= 0
        else Token(token.token_type, token.text, token.line, token.col, -1, -1)
        for token in found
    ]


def _string_span(context: CompileContext, literal: exp.Expr) -> tuple[int, int]:
    """The span of a string without its quotes; NOWHERE if it contains escapes."""
    start, end = context.span_of(literal)
    plain = start >= 0 and context.text[context.origin + start + 1 : context.origin + end - 1] == literal.name
    return (start + 1, end - 1) if plain else (ir.NOWHERE, ir.NOWHERE)


def _qualify_with_server(context: CompileContext, begin: int, server: str) -> None:
    """Put the server before the table names of the relations from an index on."""
    for index in range(begin, len(context.relations)):
        relation = context.relations[index]
        if isinstance(relation, ir.Select):
            moved = tuple(
                msgspec.structs.replace(
                    source, name=msgspec.structs.replace(source.name, parts=(server, *source.name.parts))
                )
                if source.name is not None
                else source
                for source in relation.sources
            )
            context.relations[index] = msgspec.structs.replace(relation, sources=moved)


# ── single values ────────────────────────────────────────────────────────────────────────────────────────────────


def is_lookup_function(context: CompileContext, name: str) -> bool:
    """Whether a function looks up a value in a table that a string names."""
    return name.upper() in context.traits.lookup_functions


def compile_lookup(context: CompileContext, node: exp.Expr) -> ir.Expr | None:
    """The value of a column of a named table, chosen by a key; a default may follow it."""
    table, column, *rest = node.expressions if len(node.expressions) > 2 else (None, None)
    if isinstance(table, exp.Column):  # `dictGet(db.dict, …)`
        name: ir.Name | None = _compile_written_table(context, [table])
    else:
        name = compile_string_table(context, table) if table is not None else None
    columns = column.expressions if isinstance(column, exp.Tuple) else [column]
    if name is None or not all(isinstance(item, exp.Literal) for item in columns):
        return None
    key = compile_expression(context, rest[0])
    values = []
    for item in columns:
        called = item.name if item is not None else ""
        output = ir.Output(
            name=called,
            written=called,
            expr=ir.Ref((called,), ir.NOWHERE, ir.NOWHERE),
            start=ir.NOWHERE,
            end=ir.NOWHERE,
        )
        values.append(
            ir.Sub(
                "scalar lookup",
                context.add_relation(ir.Select((ir.Source(context.default_alias(name), name=name),), (output,))),
            )
        )
    value: ir.Expr = values[0] if len(values) == 1 else ir.Call("TUPLE", tuple(values))
    otherwise = compile_expression(context, rest[1]) if len(rest) > 1 else None
    return ir.Case(((key, value),), otherwise or value)  # a key that is not there has a value all the same
