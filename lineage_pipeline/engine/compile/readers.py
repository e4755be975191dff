"""Statements that are read without the parser, which leaves them as text: `READERS` says who reads what."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token

from lineage_pipeline.engine.compile.altering import alter, object_word, swapped
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.cursor import Cursor
from lineage_pipeline.engine.compile.loads import load
from lineage_pipeline.engine.compile.parse import Failure, parse
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.sinks import model, sent_outside, sink, subscribe
from lineage_pipeline.engine.compile.statements import statement_parts
from lineage_pipeline.engine.compile.transfers import (
    bulk_insert,
    copy,
    export,
    import_rows,
    insert_from_file,
    select_into_file,
    unload,
)
from lineage_pipeline.engine.compile.words import is_name
from lineage_pipeline.vocabulary import ir

Parts = dict[str, Any]
Reader = Callable[[Context, Cursor], Parts | None]


def read(context: Context) -> Parts | None:
    """What a statement does where somebody here knows its first word, or None where the parser is to read it."""
    word = context.tokens[0].text.upper()
    reader = READERS.get(word)
    if word == "INSERT" and context.tokens[min(2, len(context.tokens) - 1)].text.upper() == "EXTERN":
        return sent_outside(context, Cursor(context.tokens, context.traits))
    if word == "INSERT" and all(token.text.upper() != "INFILE" for token in context.tokens[:40]):
        return None  # there are many of them, and long ones
    if word == "CREATE" and object_word(Cursor(context.tokens[:10], context.traits)) not in _CREATED:
        return None
    return reader(context, Cursor(context.tokens, context.traits)) if reader is not None else None


def _rename(context: Context, cursor: Cursor) -> Parts | None:
    """RENAME TABLE a TO b, c TO d; Oracle leaves the word TABLE out."""
    cursor.index = 1
    if cursor.take_any("DATABASE"):
        return {"kind": "RENAME DATABASE"}
    cursor.take_any("TABLE", "TABLES", "OBJECT", "VIEW", "DICTIONARY")
    cursor.take("IF", "EXISTS")
    renamed = []
    while not cursor.done:
        old = cursor.name()
        new = cursor.name() if cursor.take_any("TO", "AS") else None
        if old is None or new is None:
            return None
        renamed.append(ir.Alteration(old, "rename table", to=new))
        cursor.rest()
    return {"kind": "RENAME TABLE", "alterations": tuple(renamed)}


def _exchange(context: Context, cursor: Cursor) -> Parts | None:
    """ClickHouse: EXCHANGE TABLES a AND b."""
    cursor.index = 2
    one = cursor.name()
    two = cursor.name() if cursor.take("AND") else None
    if one is None or two is None:
        return None
    return {"kind": "EXCHANGE TABLES", "alterations": tuple(swapped(one, two))}


def _create(context: Context, cursor: Cursor) -> Parts | None:
    reader = _CREATED.get(object_word(cursor))
    cursor.take("IF", "NOT", "EXISTS")
    return reader(context, cursor) if reader is not None else None


def _synonym(context: Context, cursor: Cursor) -> Parts | None:
    name = cursor.name()
    target = cursor.name() if cursor.find("FOR") and cursor.take("FOR") else None
    if name is None or target is None:
        return None
    return {"kind": "CREATE SYNONYM", "definition": ir.Definition(name, "synonym", like=target, replace=True)}


def _stream(context: Context, cursor: Cursor) -> Parts | None:
    """Snowflake: a stream has the columns of its table and says what happened to each row."""
    name = cursor.name()
    source = None
    if cursor.find("ON") and cursor.take("ON"):
        cursor.take_any("EXTERNAL", "EVENT", "DYNAMIC")
        source = cursor.name() if cursor.take_any("TABLE", "VIEW") else None
    if name is None or source is None:
        return {"kind": "CREATE STREAM"}
    added = [ir.Output(word, word, ir.Literal("other", word), -1, -1) for word in STREAM_COLUMNS]
    star = ir.Star((), ir.NOWHERE, ir.NOWHERE)
    relation = context.add(ir.Select((ir.Source("", name=source),), (star, *added)))
    return {"kind": "CREATE STREAM", "definition": ir.Definition(name, "view", relation=relation, replace=True)}


STREAM_COLUMNS = ("METADATA$ACTION", "METADATA$ISUPDATE", "METADATA$ROW_ID")


def _index(context: Context, cursor: Cursor) -> Parts | None:
    """A unique index over columns promises what a constraint does; one of some rows, or of expressions, does not."""
    unique = "UNIQUE" in cursor.words[: cursor.index]
    cursor.take("CONCURRENTLY")
    cursor.take("IF", "NOT", "EXISTS")
    name = "" if cursor.word() == "ON" else cursor.column()
    if not unique or not cursor.find("ON"):
        return {"kind": "CREATE INDEX"}
    cursor.take("ON", "ONLY") or cursor.take("ON")
    table = cursor.name()
    if cursor.take("USING"):
        cursor.index += 1
    columns = _indexed(cursor)
    if table is None or not columns or "WHERE" in cursor.words[cursor.index :]:
        return {"kind": "CREATE INDEX"}
    promise = ir.ConstraintDef("unique", name, columns)
    return {"kind": "CREATE INDEX", "alterations": (ir.Alteration(table, "constrain", constraint=promise),)}


def _drop(context: Context, cursor: Cursor) -> Parts | None:
    """DROP INDEX takes back what a unique one promised, whether it names the table or not."""
    if cursor.word(1) != "INDEX":
        return None
    cursor.index = 2
    cursor.take("CONCURRENTLY")
    found = []
    while not cursor.done:
        cursor.take("IF", "EXISTS")
        name = cursor.name()
        if name is None:
            break
        table = cursor.name() if cursor.take("ON") else None
        found.append(ir.Alteration(table or name, "release" if table else ir.RELEASED, name.parts[-1]))
        if not cursor.take(","):
            break
    return {"kind": "DROP INDEX", "alterations": tuple(found)} if found else None


def _indexed(cursor: Cursor) -> tuple[str, ...]:
    """The columns of an index, or nothing where one is worked out."""
    listed = cursor.brackets() if cursor.opens() else []
    plain = all(item and is_name(item, 0) and (len(item) == 1 or item[1].text.upper() in _SORTS) for item in listed)
    return tuple(Cursor(item, cursor.traits).column() for item in listed) if plain else ()


_SORTS = frozenset("ASC DESC NULLS".split())


def _with_statement(kind: str) -> Reader:
    """A reader of an object that runs a statement: the lineage is that of the statement."""

    def read_inner(context: Context, cursor: Cursor) -> Parts:
        if not cursor.find("AS"):
            return {"kind": kind}
        inner = cursor.tokens[cursor.index + 1 :]
        parts = _inner(context, inner) if inner else None
        return {**(parts or {}), "kind": kind}

    return read_inner


def _inner(context: Context, tokens: Sequence[Token]) -> Parts | None:
    """What a statement inside another one does."""
    reader = READERS.get(tokens[0].text.upper())
    if reader is not None:
        found = reader(context, Cursor(tokens, context.traits, context.origin))
        if found is not None:
            return found
    parsed = parse(Piece(tokens, begin=context.origin, stop=context.end), context.text, context.traits)
    if isinstance(parsed, Failure) or isinstance(parsed[0], exp.Command):
        return None
    context.items = parsed[1]
    return statement_parts(context, parsed[0])


_CREATED: dict[str, Reader] = {
    "ALIAS": _synonym,
    "CLUSTERED INDEX": _index,
    "CORTEX": _with_statement("CREATE CORTEX SEARCH SERVICE"),
    "INDEX": _index,
    "MODEL": model,
    "NONCLUSTERED INDEX": _index,
    "PIPE": _with_statement("CREATE PIPE"),
    "PIPELINE": _with_statement("CREATE PIPELINE"),
    "SINK": sink,
    "STREAM": _stream,
    "SYNONYM": _synonym,
}


def _call(context: Context, cursor: Cursor) -> Parts | None:
    """CALL of a procedure."""
    cursor.index = 1
    name = cursor.name()
    return {"kind": "CALL", "calls": (ir.Invocation(name),)} if name is not None else None


def _execute(context: Context, cursor: Cursor) -> Parts:
    """EXECUTE of a prepared statement or a task; text that is run is said to be unknown."""
    if cursor.word(1) == "IMMEDIATE":
        context.report("DYNAMIC_SQL", context.origin, context.end, share="0")
        return {"kind": "EXECUTE IMMEDIATE", "status": "partial"}
    return {"kind": "EXECUTE"}


def _comment(context: Context, cursor: Cursor) -> Parts:
    """COMMENT ON describes an object; a column keeps what is said of it."""
    cursor.take("COMMENT", "ON")
    if cursor.take("COLUMN"):
        name = cursor.name()
        if name is not None and len(name.parts) > 1 and cursor.take("IS"):
            token = cursor.tokens[cursor.index - 2]
            column = Cursor([token], cursor.traits).column()
            table = ir.Name(name.parts[:-1], name.parts[-2], name.start, name.end)
            described = ir.ColumnDef(column, "", "", comment=cursor.string())
            return {"kind": "COMMENT", "alterations": (ir.Alteration(table, "comment", column, described),)}
    elif cursor.take("TABLE") or cursor.take("VIEW") or cursor.take("MATERIALIZED", "VIEW"):
        name = cursor.name()
        if name is not None and cursor.take("IS"):
            described = ir.ColumnDef("", "", "", comment=cursor.string())
            return {"kind": "COMMENT", "alterations": (ir.Alteration(name, "comment", "", described),)}
    return {"kind": "COMMENT"}


def read_unread(context: Context) -> Parts | None:
    """What a statement does that the parser could not read."""
    cursor = Cursor(context.tokens, context.traits)
    if "OUTFILE" in cursor.words or "DUMPFILE" in cursor.words:
        return select_into_file(context, cursor)
    return None


READERS: dict[str, Reader] = {
    "ALTER": alter,
    "BULK": bulk_insert,
    "CALL": _call,
    "COMMENT": _comment,
    "COPY": copy,
    "CREATE": _create,
    "DROP": _drop,
    "EXCHANGE": _exchange,
    "EXECUTE": _execute,
    "EXPORT": export,
    "IMPORT": import_rows,
    "INSERT": insert_from_file,
    "LOAD": load,
    "RENAME": _rename,
    "SUBMIT": _with_statement("SUBMIT TASK"),
    "SUBSCRIBE": subscribe,
    "UNLOAD": unload,
}
"""Who reads a statement, by its first word."""
