"""Tables that a function is told by name, and queries that it is told as text."""

import re
from collections.abc import Sequence

import msgspec
from sqlglot import exp
from sqlglot.tokens import Token

from lineage_pipeline.dialects.table_functions import ADDED, LOOKUPS, NAMINGS, Naming
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.outside import outside
from lineage_pipeline.engine.compile.parse import Failure, parse
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.tokenizing import tokenize
from lineage_pipeline.engine.compile.walk import expression
from lineage_pipeline.vocabulary import ir

_SERVER = re.compile(
    r"(?:server|data source|hostaddr|host|address|addr|dsn|service|dbname)\s*=\s*'?([^;'\s]+)", re.IGNORECASE
)
"""What says in a connection string where something is."""


def named_rows(context: Context, node: exp.Expr) -> ir.Source | None:
    """The rows of the table or query that a function is told; none where it is another function."""
    naming = _naming(context, node)
    if naming is None:
        return None
    alias = node.name.lower()
    if naming.text >= 0:
        arguments = _arguments(node)
        relation = _text_query(context, arguments, naming, _server(arguments, naming))
        return ir.Source(alias, relation=relation) if relation is not None else None
    name = named_table(context, node)
    if name is None:
        return None
    added = ADDED.get(node.name.upper(), ())
    return ir.Source(alias, name=name) if not added else ir.Source(alias, relation=_widened(context, name, added))


def _naming(context: Context, node: exp.Expr) -> Naming | None:
    known = NAMINGS.get(context.traits.family)
    return known.get(node.name.upper()) if known and isinstance(node, exp.Anonymous) else None


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    """The arguments of a function, those that are given by name without it."""
    return [item.expression if isinstance(item, exp.Kwarg) else item for item in node.expressions]


def named_table(context: Context, node: exp.Expr) -> ir.Name | None:
    """The table that a function is told by its name."""
    naming = _naming(context, node)
    return _table(context, _arguments(node), naming) if naming is not None and naming.parts else None


def catalog_query(context: Context, node: exp.Expr, catalog: str) -> ir.Source | None:
    """Trino: the rows of a query that another catalog is asked, `TABLE(catalog.system.query(query => '…'))`."""
    naming = _naming(context, node)
    if naming is None or naming.text < 0:
        return None
    relation = _text_query(context, _arguments(node), naming, catalog)
    return ir.Source(node.name.lower(), relation=relation) if relation is not None else None


def spoken_table(context: Context, node: exp.Expr) -> ir.Name | None:
    """The table that a text names."""
    if not node.is_string:
        return None
    return ir.Name(_folded(context, [node.name]), node.name.rpartition(".")[2], *_inside(context, node))


def _widened(context: Context, name: ir.Name, added: Sequence[str]) -> int:
    """All columns of a table and some more."""
    more = (ir.Output(word, word, ir.Literal("other", word), ir.NOWHERE, ir.NOWHERE) for word in added)
    star = ir.Star((), ir.NOWHERE, ir.NOWHERE)
    return context.add(ir.Select((ir.Source("", name=name),), (star, *more)))


def _table(context: Context, arguments: Sequence[exp.Expr], naming: Naming) -> ir.Name | None:
    """The table that arguments name: as one dotted name, or as texts from the outermost part in."""
    first = arguments[naming.parts[0]] if len(arguments) > naming.parts[0] else None
    parts = list(first.find_all(exp.Identifier)) if isinstance(first, exp.Column | exp.Dot) else []
    if parts:
        parts.sort(key=lambda part: int(part.meta.get("start", 0)))
        return ir.Name(tuple(context.table(part) for part in parts), parts[-1].name, *context.place(*parts))
    places = naming.parts[: 1 if first is not None and "." in first.name else None]
    literals = [arguments[at] for at in places if len(arguments) > at and arguments[at].is_string]
    texts = [literal.name for literal in literals]
    if not texts:
        return None
    if naming.scheme:
        return outside("/".join([f"{naming.scheme}://{_server(arguments, naming)}", *texts]), context.traits)
    return ir.Name(_folded(context, texts), texts[-1].rpartition(".")[2], *_inside(context, literals[-1]))


def _folded(context: Context, texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(context.fold_table(part) for text in texts for part in text.split("."))


def _server(arguments: Sequence[exp.Expr], naming: Naming) -> str:
    """Where something is, as an argument says it, without who asks and with what password."""
    text = arguments[naming.server].name if len(arguments) > naming.server >= 0 else ""
    found = _SERVER.search(text)
    if found:
        return found.group(1)
    return "" if "=" in text else text.rpartition("@")[2]  # what else a connection string says may be a secret


# ── queries in texts ─────────────────────────────────────────────────────────────────────────────────────────────


def _text_query(context: Context, arguments: Sequence[exp.Expr], naming: Naming, where: str) -> int | None:
    """The relation that a query in a text is, its tables those of a server; all of that where it is no query."""
    text = arguments[naming.text] if len(arguments) > naming.text else None
    if text is None or not text.is_string:
        return None
    server = context.fold_table(where)
    tokens = _tokens(context, text)
    parsed = (
        parse(Piece(tokens, begin=context.origin, stop=context.end), context.text, context.traits) if tokens else None
    )
    if parsed is None or isinstance(parsed, Failure) or not isinstance(parsed[0], exp.Query):
        source = ir.Source("", name=outside(f"query://{server or 'here'}", context.traits))
        return context.add(ir.Select((source,), (ir.Star((), ir.NOWHERE, ir.NOWHERE),)))
    before = len(context.relations)
    items, ctes = context.items, context.ctes
    context.items, context.ctes = parsed[1], {}
    index = context.compile_query(context, parsed[0])
    context.items, context.ctes = items, ctes
    if server:
        _on_server(context, before, server)
    return index


def _tokens(context: Context, literal: exp.Expr) -> list[Token]:
    """The tokens of a text, at their places in the file where the text is written as it is."""
    found = tokenize(literal.name, context.traits)
    if isinstance(found, Failure):
        return []
    start, _ = _inside(context, literal)
    shift = start + context.origin
    return [
        Token(token.token_type, token.text, token.line, token.col, token.start + shift, token.end + shift)
        if start >= 0
        else Token(token.token_type, token.text, token.line, token.col, -1, -1)
        for token in found
    ]


def _inside(context: Context, literal: exp.Expr) -> tuple[int, int]:
    """The characters of a text without its quotes; none where they are not all that there is to it."""
    start, end = context.place(literal)
    plain = start >= 0 and context.text[context.origin + start + 1 : context.origin + end - 1] == literal.name
    return (start + 1, end - 1) if plain else (ir.NOWHERE, ir.NOWHERE)


def _on_server(context: Context, begin: int, server: str) -> None:
    """The tables of relations from an index on, with the server before their names."""
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


def is_lookup(context: Context, name: str) -> bool:
    """Whether a function looks a value up in a table that it names as text."""
    return name.upper() in LOOKUPS.get(context.traits.family, ())


def looked_up(context: Context, node: exp.Expr) -> ir.Expr | None:
    """The value of a column of a named table, chosen by a key; what is given otherwise may stand behind it."""
    table, column, *rest = node.expressions if len(node.expressions) > 2 else (None, None)
    name = spoken_table(context, table) if table is not None else None
    columns = column.expressions if isinstance(column, exp.Tuple) else [column]
    if name is None or not all(isinstance(item, exp.Literal) for item in columns):
        return None
    key = expression(context, rest[0])
    values = []
    for item in columns:
        called = item.name if item is not None else ""
        output = ir.Output(called, called, ir.Ref((called,), ir.NOWHERE, ir.NOWHERE), ir.NOWHERE, ir.NOWHERE)
        values.append(
            ir.Sub("scalar lookup", context.add(ir.Select((ir.Source(context.called(name), name=name),), (output,))))
        )
    value: ir.Expr = values[0] if len(values) == 1 else ir.Call("TUPLE", tuple(values))
    otherwise = expression(context, rest[1]) if len(rest) > 1 else None
    return ir.Case(((key, value),), otherwise or value)  # a key that is not there has a value all the same
