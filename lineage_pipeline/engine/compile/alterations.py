"""ALTER TABLE, read word by word: columns added, dropped, renamed and retyped, tables renamed, moved and swapped.

The parser leaves many of its forms as text or passes over them; what a column is declared as is still its to read.
"""

from collections.abc import Callable, Sequence

from sqlglot.tokens import Token

from lineage_pipeline.dialects.alterations import (
    BARE_DROP_IS_CONSTRAINT,
    CONSTRAINTS,
    DECLARED,
    EXCHANGE_MOVES,
    PASSED_OVER,
)
from lineage_pipeline.engine.compile.cursor import Cursor
from lineage_pipeline.engine.compile.guarantees import Declare, Found, first_of, guarded, released
from lineage_pipeline.engine.compile.labels import NOTHING, options_at, tags_at
from lineage_pipeline.engine.compile.placing import declaration, placed
from lineage_pipeline.engine.compile.words import keyword
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.vocabulary import ir


def alterations(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    """What the actions behind the name of a table do, in order."""
    last = ""
    if not cursor.take("WITH", "CHECK"):
        cursor.take("WITH", "NOCHECK")
    while not cursor.done:
        begin, word = cursor.index, first_of(cursor.word())
        continued = last in ("ADD", "DROP", "MODIFY") and word not in ACTIONS and word not in PASSED_OVER
        action = last if continued else word
        cursor.index += not continued
        reader = ACTIONS.get(action)
        if reader is not None:
            yield from reader(cursor, name, declare)
        elif last in PASSED_OVER or last == "SET":  # one more option, tag or column in a list of those
            action = last
        elif action not in PASSED_OVER:
            yield _unknown(cursor, begin)
        if not _at_item(cursor):
            cursor.rest()
        last = action


def _unknown(cursor: Cursor, index: int) -> ir.Finding:
    token, origin = cursor.tokens[index], cursor.tokens[0].start
    values = (("construct", f"ALTER TABLE … {token.text.upper()}"),)
    return ir.Finding("UNSUPPORTED_SYNTAX", values, token.start - origin, token.end + 1 - origin)


def _at_item(cursor: Cursor) -> bool:
    """Whether the cursor stands behind a comma."""
    return cursor.done or cursor.tokens[cursor.index - 1].text == ","


def _add(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    cursor.take_any("COLUMN", "COLUMNS")
    cursor.take("IF", "NOT", "EXISTS")
    if first_of(cursor.word()) in CONSTRAINTS:
        known = first_of(cursor.word()) in DECLARED
        rest = cursor.rest()
        yield from (ir.Alteration(name, "constrain", constraint=item) for item in (declare(rest)[1] if known else ()))
        return
    listed = cursor.brackets() if cursor.opens() else [cursor.rest()]
    for item in listed:
        columns, constraints = declare(declaration(item))
        for column in columns:
            yield ir.Alteration(name, "add", column.name, column)
            yield from placed(name, column.name, item, cursor.traits)
        yield from (ir.Alteration(name, "constrain", constraint=constraint) for constraint in constraints)


def _drop(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    plain = bool(cursor.take_any("COLUMN", "COLUMNS"))
    cursor.take("IF", "EXISTS")
    if not plain and (first_of(cursor.word()) in CONSTRAINTS or cursor.traits.family in BARE_DROP_IS_CONSTRAINT):
        yield from released(cursor, name)
        return
    named = cursor.brackets() if cursor.opens() else [cursor.rest()]
    for item in named:
        yield ir.Alteration(name, "drop", Cursor(item, cursor.traits).column())


def _rename(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    if cursor.take_any("TO", "AS"):
        to = cursor.name()
        if to is not None:
            yield ir.Alteration(name, "rename table", to=to)
        return
    plain = bool(cursor.take_any("COLUMN", "FIELD"))
    cursor.take("IF", "EXISTS")
    if not plain and first_of(cursor.word()) in CONSTRAINTS:
        cursor.rest()
        return
    before = cursor.index
    old = cursor.column()
    if cursor.take("TO"):
        written = cursor.tokens[cursor.index].text if not cursor.done else ""
        yield ir.Alteration(name, "rename", old, ir.ColumnDef(cursor.column(), written, ""))
        return
    cursor.index = before  # MySQL: RENAME t
    to = cursor.name()
    if to is not None:
        yield ir.Alteration(name, "rename table", to=to)


def _alter(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    plain = bool(cursor.take_any("COLUMN", "FIELD"))
    cursor.take("IF", "EXISTS")
    if not plain and first_of(cursor.word()) in (CONSTRAINTS | PASSED_OVER):
        cursor.rest()
        return
    begin = cursor.index
    written = cursor.tokens[begin].text if not cursor.done else ""
    column = cursor.column()
    changed = guarded(cursor, name, begin, column, declare)
    if changed:
        yield from changed
        return
    if cursor.take("UNSET", "TAG") or cursor.take("UNSET", "TAGS"):
        yield ir.Alteration(name, "untag", column, ir.ColumnDef(column, "", "", tags=tags_at(cursor)))
        return
    if cursor.take("COMMENT"):
        yield ir.Alteration(name, "comment", column, ir.ColumnDef(column, written, "", comment=cursor.string()))
        return
    if cursor.word() == "SET" and cursor.word(1) in LABELS:
        cursor.take("SET")
        yield from labelled(cursor, name, column)
        if cursor.word() == "COLUMN":  # Snowflake: further columns with their tags
            yield from _alter(cursor, name, declare)
        return
    typed = cursor.take("TYPE") or cursor.take("SET", "DATA", "TYPE") or cursor.take("SET", "TYPE")
    if not typed and cursor.word() in ("SET", "DROP", "ADD", "RESET", "RESTART", "UNSET", "OPTIONS", "FIRST", "AFTER"):
        yield from placed(name, column, cursor.rest(), cursor.traits, 0)
        return
    rest = cursor.rest()
    using = next((index for index, token in enumerate(rest) if keyword(token) in ("USING", "COLLATE")), len(rest))
    if begin >= len(cursor.tokens):
        raise MalformedTree("ALTER of no column")
    yield from _retyped(name, column, [cursor.tokens[begin], *rest[:using]], declare)


def _retyped(name: ir.Name, column: str, item: Sequence[Token], declare: Declare) -> Found:
    columns, _ = declare(declaration(item))
    yield from (ir.Alteration(name, "retype", column, found) for found in columns)


def _modify(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    plain = bool(cursor.take_any("COLUMN", "COLUMNS"))
    cursor.take("IF", "EXISTS")
    if not plain and first_of(cursor.word()) in (CONSTRAINTS | PASSED_OVER):
        cursor.rest()
        return
    if cursor.word(1) in ("SET", "DROP", "UNSET", "COMMENT", "REMOVE"):
        yield from _alter(cursor, name, declare)
        return
    listed = cursor.brackets() if cursor.opens() else [cursor.rest()]
    for item in listed:
        typed = [item[0], *item[2:]] if len(item) > 2 and keyword(item[1]) == "TYPE" else item
        column = Cursor(item, cursor.traits).column()
        yield from _retyped(name, column, typed, declare)
        yield from placed(name, column, item, cursor.traits)


def _change(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    cursor.take("COLUMN")
    cursor.take("IF", "EXISTS")
    old = cursor.column()
    if cursor.take("COMMENT"):
        yield ir.Alteration(name, "comment", old, ir.ColumnDef(old, "", "", comment=cursor.string()))
        return
    if cursor.word() == ".":  # Spark: a field of a struct
        cursor.rest()
        return
    item = cursor.rest()
    columns, _ = declare(declaration(item))
    for column in columns:
        yield ir.Alteration(name, "retype", old, column)
        yield ir.Alteration(name, "rename", old, column)
        yield from placed(name, column.name, item, cursor.traits)


def _replace(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    """Hive gives a table new columns; ClickHouse takes a partition of another table."""
    if cursor.take_any("COLUMNS"):
        yield ir.Alteration(name, "clear")
        for item in cursor.brackets() if cursor.opens() else []:
            yield from (ir.Alteration(name, "add", column.name, column) for column in declare(item)[0])
    elif cursor.find("FROM"):
        cursor.index += 1
        yield from _moved(cursor.name(), name)


def _moved(source: ir.Name | None, target: ir.Name | None) -> Found:
    """All rows of one table go into another; the reader of the statement gives the write its relation."""
    if source is not None and target is not None:
        yield ir.Alteration(source, "move", to=target)


def _swap(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    cursor.take("WITH")
    other = cursor.name()
    if other is not None:
        yield ir.Alteration(name, "swap", to=other)


def _switch(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    if cursor.find("TO"):
        cursor.index += 1
        yield from _moved(name, cursor.name())
        cursor.rest()


def _exchange(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    """A partition and a table change places: rows go both ways, unless the partition is only taken."""
    if cursor.find("TABLE"):
        cursor.index += 1
        other = cursor.name()
        yield from _moved(other, name)
        if cursor.traits.family not in EXCHANGE_MOVES:
            yield from _moved(name, other)
        cursor.rest()


def _move(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    if cursor.word() == "PARTITION" and cursor.find("TABLE"):
        cursor.index += 1
        yield from _moved(name, cursor.name())
    cursor.rest()


def _append(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    if cursor.take("FROM"):
        yield from _moved(cursor.name(), name)
    cursor.rest()


def _set(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    if cursor.take("SCHEMA"):
        schema = cursor.name()
        if schema is not None:
            parts = (*schema.parts, name.parts[-1])
            yield ir.Alteration(name, "rename table", to=ir.Name(parts, name.written, schema.start, schema.end))
    elif cursor.word() in LABELS:
        yield from labelled(cursor, name, "")
    else:
        cursor.rest()


LABELS = frozenset({"TAG", "TAGS", "COMMENT", "OPTIONS"})
"""What SET puts onto an object or a column for people and policies."""


def labelled(cursor: Cursor, name: ir.Name, column: str) -> Found:
    """A comment or tags that a statement sets, on a column or on the object itself."""
    comment, tags = NOTHING
    word = cursor.take_any(*LABELS)
    if word == "COMMENT":
        cursor.index += not cursor.done and cursor.tokens[cursor.index].text == "="
        comment = cursor.string()
    elif word == "OPTIONS":
        comment, tags = options_at(cursor)
    else:
        tags = tags_at(cursor)
    if word in ("COMMENT", "OPTIONS"):
        cursor.rest()
    if comment:
        yield ir.Alteration(name, "comment", column, ir.ColumnDef(column, "", "", comment=comment))
    if tags:
        yield ir.Alteration(name, "tag", column, ir.ColumnDef(column, "", "", tags=tags))


def _comment(cursor: Cursor, name: ir.Name, declare: Declare) -> Found:
    if cursor.take("COLUMN"):
        cursor.take("IF", "EXISTS")
        column = cursor.column()
        yield ir.Alteration(name, "comment", column, ir.ColumnDef(column, "", "", comment=cursor.string()))


ACTIONS: dict[str, Callable[[Cursor, ir.Name, Declare], Found]] = {
    "ADD": _add,
    "ALTER": _alter,
    "APPEND": _append,
    "CHANGE": _change,
    "COMMENT": _comment,
    "DROP": _drop,
    "EXCHANGE": _exchange,
    "MODIFY": _modify,
    "MOVE": _move,
    "RENAME": _rename,
    "REPLACE": _replace,
    "SET": _set,
    "SWAP": _swap,
    "SWITCH": _switch,
}
"""Who reads an action of ALTER TABLE, by its first word."""
