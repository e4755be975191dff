"""ALTER of objects: what it is about, and how its declarations are read."""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.kinds import MUTATING, OBJECT_WORDS, SILENT_ALTERATIONS
from lineage_pipeline.engine.compile.alterations import alterations
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.cursor import Cursor
from lineage_pipeline.engine.compile.definitions import create
from lineage_pipeline.engine.compile.parse import Failure, parse
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.transfers import everything
from lineage_pipeline.engine.compile.words import made
from lineage_pipeline.vocabulary import ir

Parts = dict[str, Any]


def object_word(cursor: Cursor) -> str:
    """The kind of object that a CREATE, ALTER or DROP is about, going on behind it."""
    cursor.index = 1
    while cursor.word() in OBJECT_WORDS:
        cursor.index += 1
    cursor.index += 1
    return cursor.words[cursor.index - 1] if cursor.index <= len(cursor.words) else ""


def alter(context: Context, cursor: Cursor) -> Parts | None:
    """ALTER of a table, a view, a session or a schema; None where the parser is to read it."""
    word = object_word(cursor)
    qualifier = word if word in _QUALIFIERS and cursor.word() in ("TABLE", "VIEW") else ""
    if qualifier:
        word = cursor.take_any("TABLE", "VIEW")
    if word == "SESSION":
        return _session(cursor)
    if word == "SCHEMA" and "TRANSFER" in cursor.words:
        return _transfer(cursor)
    if word not in ("TABLE", "VIEW"):
        return {"kind": f"ALTER {word}"} if word in SILENT_ALTERATIONS and not _has_body(cursor) else None
    cursor.take("IF", "EXISTS")
    cursor.take("ONLY")
    name = cursor.name()
    if name is None or _is_mutation(cursor) or (word == "VIEW" and cursor.find("AS")):
        return None
    if cursor.take("ON", "CLUSTER"):
        cursor.index += 1
    if cursor.traits.family in MUTATING and "SETTINGS" in cursor.words:
        cursor = _without_settings(cursor)
    return _altered(context, cursor, name, f"ALTER {qualifier} {word}".replace("  ", " "))


_QUALIFIERS = ("MATERIALIZED", "DYNAMIC", "ICEBERG", "EXTERNAL", "FOREIGN", "HYBRID", "STREAMING", "EVENT")


def _without_settings(cursor: Cursor) -> Cursor:
    """The statement without what it is to be run with."""
    kept = Cursor(cursor.tokens[: cursor.words.index("SETTINGS")], cursor.traits)
    kept.index = cursor.index
    return kept


def _has_body(cursor: Cursor) -> bool:
    """Whether a module gets a new body, which is not for here to read."""
    return "AS" in cursor.words and bool({"BEGIN", "SELECT", "RETURN"} & set(cursor.words))


def _is_mutation(cursor: Cursor) -> bool:
    """ClickHouse changes rows, and the query of a view, with ALTER TABLE; those are statements of another kind."""
    words = cursor.words
    requeried = ("MODIFY", "QUERY") in zip(words, words[1:], strict=False)
    return cursor.traits.family in MUTATING and (requeried or not {"UPDATE", "DELETE"}.isdisjoint(words))


def _altered(context: Context, cursor: Cursor, name: ir.Name, kind: str) -> Parts:
    changes: list[ir.Alteration] = []
    writes: list[ir.Write] = []
    for found in alterations(cursor, name, lambda tokens: _declared(context, tokens)):
        if isinstance(found, ir.Finding):
            context.findings.append(found)
        elif found.action == "move" and found.to is not None:
            writes.append(ir.Write(found.to, everything(context, found.name), "insert"))
        elif found.action == "swap" and found.to is not None:
            changes.extend(swapped(found.name, found.to))
        else:
            changes.append(found)
    return {"kind": kind, "alterations": tuple(changes), "writes": tuple(writes)}


def swapped(one: ir.Name, two: ir.Name) -> list[ir.Alteration]:
    """Two tables change their names, one of them through a name that nobody can write."""
    between = ir.Name((*one.parts[:-1], "\0" + one.parts[-1]), one.written)
    pairs = ((one, between), (two, one), (between, two))
    return [ir.Alteration(old, "rename table", to=new) for old, new in pairs]


def _declared(
    context: Context, tokens: Sequence[Token]
) -> tuple[tuple[ir.ColumnDef, ...], tuple[ir.ConstraintDef, ...]]:
    """What a declaration says, read as the only one of a new table."""
    if not tokens:
        return (), ()
    first, last = tokens[0], tokens[-1]
    head = [made("CREATE", first), made("TABLE", first), made("t", first), _bracket("(", first)]
    piece = Piece([*head, *tokens, _bracket(")", last)], begin=context.origin, stop=context.end)
    parsed = parse(piece, context.text, context.traits)
    if isinstance(parsed, Failure) or not isinstance(parsed[0], exp.Create):
        context.report("UNSUPPORTED_SYNTAX", first.start, last.end + 1, construct="this declaration of a column")
        return (), ()
    inner = Context(context.text, piece, parsed[1], context.traits, (context.compile_query, context.compile_change))
    inner.relations = context.relations
    definition = create(inner, parsed[0]).get("definition")
    return (definition.columns, definition.constraints) if isinstance(definition, ir.Definition) else ((), ())


def _bracket(text: str, token: Token) -> Token:
    kind = TokenType.L_PAREN if text == "(" else TokenType.R_PAREN
    return Token(kind, text, token.line, token.col, token.start, token.end)


def _session(cursor: Cursor) -> Parts:
    """Oracle: ALTER SESSION SET CURRENT_SCHEMA completes names."""
    if cursor.take("SET", "CURRENT_SCHEMA", "="):
        schema = cursor.name()
        return {"kind": "ALTER SESSION", "context": ("SCHEMA", *(schema.parts if schema is not None else ()))}
    return {"kind": "ALTER SESSION"}


def _transfer(cursor: Cursor) -> Parts | None:
    """T-SQL: ALTER SCHEMA … TRANSFER moves a table to another schema."""
    schema = cursor.name()
    if schema is None or not cursor.take("TRANSFER"):
        return None
    if cursor.word() == "OBJECT":
        cursor.index += 1
        while not cursor.done and cursor.tokens[cursor.index].text in (":", "::"):
            cursor.index += 1
    name = cursor.name()
    if name is None:
        return None
    to = ir.Name((*schema.parts, name.parts[-1]), name.written, name.start, name.end)
    return {"kind": "ALTER SCHEMA", "alterations": (ir.Alteration(name, "rename table", to=to),)}
