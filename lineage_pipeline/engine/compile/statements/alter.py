"""ALTER, read from tokens: columns and constraints added, dropped, renamed and retyped, tables renamed and swapped.
sqlglot leaves many forms as text or skips parts of them; only column definitions are parsed.
"""

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.statement_words import (
    COLUMN_POSITION_WORDS,
    CONSTRAINT_DECLARATIONS,
    IGNORED_ALTER_ACTIONS,
    NAMED_DROPS,
    NON_COLUMN_WORDS,
    TYPE_ENDS,
)
from lineage_pipeline.engine.compile.context import CompileContext, ReadFields
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure, parse_statement
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.engine.compile.statements.copy_load import select_everything
from lineage_pipeline.engine.compile.statements.create import (
    NO_LABEL,
    compile_create,
    read_options,
    read_tags,
)
from lineage_pipeline.engine.compile.tokens import (
    TokenReader,
    keyword,
    retype_token,
    skip_brackets,
    synthetic_token,
    token_type_at,
)
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.model import ir


def read_alter(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    """ALTER of a table, a view, a session or a schema; None if it is another object, or has to be parsed."""
    word = cursor.read_object_kind()
    qualifier = word if word in _TABLE_QUALIFIERS and cursor.word() in ("TABLE", "VIEW") else ""
    if qualifier:
        word = cursor.take_any("TABLE", "VIEW")
    if word == "SESSION":
        return _read_alter_session(cursor)
    if word == "SCHEMA" and "TRANSFER" in cursor.words:
        return _read_transfer(cursor)
    if word not in ("TABLE", "VIEW"):
        return None
    cursor.take("IF", "EXISTS")
    cursor.take("ONLY")
    name = cursor.read_name()
    cursor.take("*")  # PostgreSQL: the table and its descendants
    if name is None or _is_mutation(cursor) or (word == "VIEW" and cursor.seek("AS")):
        return None
    if cursor.take("ON", "CLUSTER"):
        cursor.index += 1
    if cursor.traits.alter_changes_rows:
        cursor = _drop_settings(cursor)
    return _read_alterations(context, cursor, name, f"ALTER {qualifier} {word}".replace("  ", " "))


_TABLE_QUALIFIERS = ("MATERIALIZED", "DYNAMIC", "ICEBERG", "EXTERNAL", "FOREIGN", "HYBRID", "STREAMING", "EVENT")


def _drop_settings(cursor: TokenReader) -> TokenReader:
    """ClickHouse: the statement without `SETTINGS a = 1` at its end."""
    given = (
        at for at, word in enumerate(cursor.words) if word == "SETTINGS" and cursor.words[at + 2 : at + 3] == ["="]
    )
    kept = TokenReader(cursor.tokens[: next(given, None)], cursor.traits)
    kept.index = cursor.index
    return kept


def has_routine_body(cursor: TokenReader) -> bool:
    """Whether a routine gets a new body, which has to be parsed."""
    return "AS" in cursor.words and bool({"BEGIN", "SELECT", "RETURN"} & set(cursor.words))


def _is_mutation(cursor: TokenReader) -> bool:
    """ClickHouse: whether ALTER TABLE changes rows, or the query of a view."""
    words = cursor.words
    requeried = ("MODIFY", "QUERY") in zip(words, words[1:], strict=False)
    return cursor.traits.alter_changes_rows and (requeried or not {"UPDATE", "DELETE"}.isdisjoint(words))


def _read_alterations(context: CompileContext, cursor: TokenReader, name: ir.Name, kind: str) -> ReadFields:
    changes: list[ir.Alteration] = []
    writes: list[ir.Write] = []
    for found in read_alterations(cursor, name, lambda tokens: _parse_declaration(context, tokens)):
        if isinstance(found, ir.Finding):
            context.findings.append(found)
        elif found.action == "move" and found.to is not None:
            writes.append(ir.Write(found.to, select_everything(context, found.name), "insert"))
        elif found.action == "swap" and found.to is not None:
            changes.extend(swap_tables(found.name, found.to))
        else:
            changes.append(found)
    return {"kind": kind, "alterations": tuple(changes), "writes": tuple(writes)}


def swap_tables(one: ir.Name, two: ir.Name) -> list[ir.Alteration]:
    """Two tables swap names, through an intermediate name that cannot be written."""
    between = ir.Name((*one.parts[:-1], "\0" + one.parts[-1]), one.written)
    pairs = ((one, between), (two, one), (between, two))
    return [ir.Alteration(old, "rename table", to=new) for old, new in pairs]


def _parse_declaration(
    context: CompileContext, tokens: Sequence[Token]
) -> tuple[tuple[ir.ColumnDef, ...], tuple[ir.ConstraintDef, ...]]:
    """A column or constraint definition, parsed as the only one of a new table."""
    tokens = _drop_encryption(tokens)
    words = [keyword(token) for token in tokens[-2:]]
    if words[-1:] in (["CASCADE"], ["RESTRICT"]) and words[0] not in ("DELETE", "UPDATE"):
        tokens = tokens[:-1]  # Hive: whether partitions change too
    words = [keyword(token) for token in tokens[1:]]
    if not tokens or (words[:1] == ["GENERATED"] and "IDENTITY" in words):
        return (), ()  # Oracle: how the numbers of an identity are made; the column stays as it is
    first, last = tokens[0], tokens[-1]
    head = [
        synthetic_token("CREATE", first),
        synthetic_token("TABLE", first),
        synthetic_token("t", first),
        _paren_token("(", first),
    ]
    piece = RawStatement([*head, *tokens, _paren_token(")", last)], begin=context.origin, stop=context.end)
    parsed = parse_statement(piece, context.text, context.traits)
    if isinstance(parsed, ParseFailure) or not isinstance(parsed[0], exp.Create):
        context.report("UNSUPPORTED_SYNTAX", first.start, last.end + 1, construct="this declaration of a column")
        return (), ()
    inner = CompileContext(
        text=context.text,
        piece=piece,
        items=parsed[1],
        traits=context.traits,
        compilers=(context.compile_query, context.compile_change),
    )
    inner.relations = context.relations
    definition = compile_create(inner, parsed[0]).get("definition")
    return (definition.columns, definition.constraints) if isinstance(definition, ir.Definition) else ((), ())


def _drop_encryption(tokens: Sequence[Token]) -> Sequence[Token]:
    """T-SQL: a declaration without ENCRYPTED WITH (…), and without how it is carried out: WITH (ONLINE = ON)."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        following = [keyword(token) for token in tokens[index : index + 3]]
        worded = following[:2] == ["ENCRYPTED", "WITH"]
        if worded or following[:2] == ["WITH", "("]:
            index = skip_brackets(tokens, index + 1 + worded)
            continue
        kept.append(tokens[index])
        index += 1
    return kept


def _paren_token(text: str, token: Token) -> Token:
    kind = TokenType.L_PAREN if text == "(" else TokenType.R_PAREN
    return Token(kind, text, token.line, token.col, token.start, token.end)


def _read_alter_session(cursor: TokenReader) -> ReadFields:
    """Oracle: ALTER SESSION SET CURRENT_SCHEMA qualifies names."""
    if cursor.take("SET", "CURRENT_SCHEMA", "="):
        schema = cursor.read_name()
        return {"kind": "ALTER SESSION", "context": ("SCHEMA", *(schema.parts if schema is not None else ()))}
    return {"kind": "ALTER SESSION"}


def _read_transfer(cursor: TokenReader) -> ReadFields | None:
    """T-SQL: ALTER SCHEMA … TRANSFER moves a table to another schema."""
    schema = cursor.read_name()
    if schema is None or not cursor.take("TRANSFER"):
        return None
    if cursor.word() == "OBJECT":
        cursor.index += 1
        while not cursor.done and cursor.tokens[cursor.index].text in (":", "::"):
            cursor.index += 1
    name = cursor.read_name()
    if name is None:
        return None
    to = ir.Name((*schema.parts, name.parts[-1]), name.written, name.start, name.end)
    return {"kind": "ALTER SCHEMA", "alterations": (ir.Alteration(name, "rename table", to=to),)}


ParseDeclaration = Callable[[Sequence[Token]], tuple[tuple[ir.ColumnDef, ...], tuple[ir.ConstraintDef, ...]]]
"""Parses the definition of a column or a constraint."""

Alterations = Iterator[ir.Alteration | ir.Finding]


def first_word_of(word: str) -> str:
    """The first word of a multi-word token such as PRIMARY KEY."""
    return word.split(" ", 1)[0]


def read_column_constraint(
    cursor: TokenReader, name: ir.Name, begin: int, column: str, declare: ParseDeclaration
) -> list[ir.Alteration]:
    """SET and DROP of NOT NULL and of a default."""
    for words, allowed in _NULLABLE_ACTIONS.items():
        if cursor.take(*words):
            definition = ir.ColumnDef(column, cursor.tokens[begin].text, "", allowed)
            return [ir.Alteration(name, "retype", column, definition)]
    if cursor.take("DROP", "DEFAULT"):
        return [ir.Alteration(name, "release default", column)]
    if not cursor.take("SET", "DEFAULT"):
        return []
    token = cursor.tokens[begin]
    given = declare([token, synthetic_token("INT", token), synthetic_token("DEFAULT", token), *cursor.read_item()])[1]
    return [ir.Alteration(name, "constrain", constraint=item) for item in given]


_NULLABLE_ACTIONS = {("SET", "NOT", "NULL"): False, ("DROP", "NOT", "NULL"): True}


def read_dropped_constraint(cursor: TokenReader, name: ir.Name) -> Alterations:
    """A dropped constraint, by name; a primary key may have none."""
    word = cursor.word()
    if first_word_of(word) == "PRIMARY":
        yield ir.Alteration(name, "release", "primary key")
    elif first_word_of(word) in NAMED_DROPS or first_word_of(word) not in NON_COLUMN_WORDS:
        cursor.take_any("FOREIGN KEY", *NAMED_DROPS)
        cursor.take("KEY")
        cursor.take("IF", "EXISTS")
        yield ir.Alteration(name, "release", cursor.read_column())
    cursor.read_item()


def _find_column_position(item: Sequence[Token], least: int) -> int:
    """The index of FIRST or AFTER in a column definition; name and type precede `least`."""
    return next(
        (at for at, token in enumerate(item) if at >= least and keyword(token) in COLUMN_POSITION_WORDS), len(item)
    )


def strip_column_position(item: Sequence[Token]) -> list[Token]:
    """A column definition without FIRST or AFTER."""
    return list(item[: _find_column_position(item, 2)])


def read_column_position(
    name: ir.Name, column: str, item: Sequence[Token], traits: DialectTraits, least: int = 2
) -> Iterator[ir.Alteration]:
    """The alteration that FIRST or AFTER makes."""
    at = _find_column_position(item, least)
    word = keyword(item[at]) if at < len(item) else ""
    if word == "FIRST":
        yield ir.Alteration(name, "first", column)
    elif word == "AFTER" and at + 1 < len(item):
        before = TokenReader(item[at + 1 :], traits).read_column()
        yield ir.Alteration(name, "after", column, ir.ColumnDef(before, before, ""))


def read_alterations(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    """The alterations after the name of a table, in order."""
    last = ""
    if not cursor.take("WITH", "CHECK"):
        cursor.take("WITH", "NOCHECK")
    while not cursor.done:
        begin, word = cursor.index, first_word_of(cursor.word())
        continued = (
            last in ("ADD", "DROP", "MODIFY") and word not in ALTER_ACTIONS and word not in IGNORED_ALTER_ACTIONS
        )
        action = last if continued else word
        cursor.index += not continued
        reader = ALTER_ACTIONS.get(action)
        if reader is not None:
            yield from reader(cursor, name, declare)
        elif last in IGNORED_ALTER_ACTIONS or last == "SET":  # one more option, tag or column in a list of those
            action = last
        elif action not in IGNORED_ALTER_ACTIONS:
            yield _build_unknown_action(cursor, begin)
        if not _is_after_comma(cursor):
            cursor.read_item()
        last = action


def _build_unknown_action(cursor: TokenReader, index: int) -> ir.Finding:
    token, origin = cursor.tokens[index], cursor.tokens[0].start
    values = (("construct", f"ALTER TABLE … {token.text.upper()}"),)
    return ir.Finding("UNSUPPORTED_SYNTAX", values, token.start - origin, token.end + 1 - origin)


def _is_after_comma(cursor: TokenReader) -> bool:
    """Whether the reader is behind a comma."""
    return cursor.done or cursor.tokens[cursor.index - 1].text == ","


def _read_add(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    _take_column_keyword(cursor)
    cursor.take("IF", "NOT", "EXISTS")
    if _begins_other_item(cursor):
        known = first_word_of(cursor.word()) in CONSTRAINT_DECLARATIONS
        rest = cursor.read_item()
        yield from (ir.Alteration(name, "constrain", constraint=item) for item in (declare(rest)[1] if known else ()))
        return
    listed = cursor.read_list() if cursor.at_open_paren() else [cursor.read_item()]
    for item in listed:
        if is_member_of_column(item, cursor.traits):
            yield _widen_struct(name, item, cursor.traits)
            continue
        columns, constraints = declare(strip_column_position(join_nested_name(item, cursor.traits)))
        for column in columns:
            yield ir.Alteration(name, "add", column.name, column)
            yield from read_column_position(name, column.name, item, cursor.traits)
        yield from (ir.Alteration(name, "constrain", constraint=constraint) for constraint in constraints)


def _take_column_keyword(cursor: TokenReader) -> bool:
    """Consume COLUMN or COLUMNS before the names of columns; a column may be called so itself."""
    named = cursor.word(1) in ("", ",") or _is_type_at(cursor, 1)
    return bool(cursor.take_any("COLUMN") or (not named and cursor.take_any("COLUMNS")))


def _begins_other_item(cursor: TokenReader, *, changed: bool = False, typed: bool = True) -> bool:
    """Whether the next word begins an item that is no column: `ADD INDEX i (a)`, and not `ADD comment text`.

    `changed` says that options are changed in this way, too, and `typed` that a column has its type behind it.
    """
    words = NON_COLUMN_WORDS | IGNORED_ALTER_ACTIONS if changed else NON_COLUMN_WORDS
    word = cursor.word()
    first = first_word_of(word)
    if first not in words or word != first:  # PRIMARY KEY
        return first in words
    if cursor.index + 1 >= len(cursor.tokens) or cursor.word(1) in _BEHIND_COLUMN:
        return False
    return not typed or first in CONSTRAINT_DECLARATIONS or not _is_type_at(cursor, 1)


def _is_type_at(cursor: TokenReader, ahead: int) -> bool:
    """Whether a type stands some words ahead, and not a name that is the word of one: `ADD INDEX date (date)`."""
    if token_type_at(cursor.tokens, cursor.index + ahead) not in Parser.TYPE_TOKENS:
        return False
    if cursor.word(ahead + 1) == "(":
        return token_type_at(cursor.tokens, cursor.index + ahead + 2) is TokenType.NUMBER
    return cursor.word(ahead + 1) in TYPE_ENDS | {"", ","}


_BEHIND_COLUMN = frozenset({",", ";", "TO", "TYPE", "SET", "DROP", "CASCADE", "RESTRICT"})
"""Words that follow a column, whatever it is called, and no item of another kind."""


def _has_dotted_name(item: Sequence[Token]) -> bool:
    return len(item) > 2 and item[1].token_type is TokenType.DOT


def join_nested_name(item: Sequence[Token], traits: DialectTraits) -> Sequence[Token]:
    """ClickHouse: `n.a Array(String)` with one name: the parts of a nested structure are columns with a dot."""
    if not traits.nested_columns or not _has_dotted_name(item):
        return item
    end = 1
    while end + 1 < len(item) and item[end].token_type is TokenType.DOT:
        end += 2
    text = ".".join(token.text for token in item[:end:2])
    return [retype_token(item[0], TokenType.IDENTIFIER, text), *item[end:]]


def is_member_of_column(item: Sequence[Token], traits: DialectTraits) -> bool:
    """Whether a column to add is a member of a struct: `ADD COLUMN s.a int`."""
    return _has_dotted_name(item) and not traits.nested_columns


def _widen_struct(name: ir.Name, item: Sequence[Token], traits: DialectTraits) -> ir.Alteration:
    """A struct with one more member, whose type is not known from then on."""
    return ir.Alteration(name, "widen", TokenReader(item, traits).read_column())


def _read_drop(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    plain = _take_column_keyword(cursor)
    cursor.take("IF", "EXISTS")
    if not plain and (_begins_other_item(cursor) or cursor.traits.bare_drop_is_constraint):
        yield from read_dropped_constraint(cursor, name)
        return
    named = cursor.read_list() if cursor.at_open_paren() else [cursor.read_item()]
    for item in named:
        yield ir.Alteration(name, "drop", TokenReader(item, cursor.traits).read_column())


def _read_rename(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    if cursor.take_any("TO", "AS"):
        to = cursor.read_name()
        if to is not None:
            yield ir.Alteration(name, "rename table", to=to)
        return
    plain = bool(cursor.take_any("COLUMN", "FIELD"))
    cursor.take("IF", "EXISTS")
    if not plain and _begins_other_item(cursor):
        cursor.read_item()
        return
    before = cursor.index
    old = cursor.read_column()
    if cursor.take("TO"):
        written = cursor.tokens[cursor.index].text if not cursor.done else ""
        yield ir.Alteration(name, "rename", old, ir.ColumnDef(cursor.read_column(), written, ""))
        return
    cursor.index = before  # MySQL: RENAME t
    to = cursor.read_name()
    if to is not None:
        yield ir.Alteration(name, "rename table", to=to)


def _read_alter_column(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    plain = bool(cursor.take_any("COLUMN", "FIELD"))
    cursor.take("IF", "EXISTS")
    if not plain and _begins_other_item(cursor, changed=True, typed=False):
        cursor.read_item()
        return
    begin = cursor.index
    written = cursor.tokens[begin].text if not cursor.done else ""
    column = cursor.read_column()
    changed = read_column_constraint(cursor, name, begin, column, declare)
    if changed:
        yield from changed
        return
    if cursor.take("UNSET", "TAG") or cursor.take("UNSET", "TAGS"):
        yield ir.Alteration(name, "untag", column, ir.ColumnDef(column, "", "", tags=read_tags(cursor)))
        return
    if cursor.take("COMMENT"):
        yield ir.Alteration(name, "comment", column, ir.ColumnDef(column, written, "", comment=cursor.read_string()))
        return
    if cursor.word() == "SET" and cursor.word(1) in _LABEL_KEYWORDS:
        cursor.take("SET")
        yield from read_label_alteration(cursor, name, column)
        if cursor.word() == "COLUMN":  # Snowflake: further columns with their tags
            yield from _read_alter_column(cursor, name, declare)
        return
    typed = cursor.take("TYPE") or cursor.take("SET", "DATA", "TYPE") or cursor.take("SET", "TYPE")
    if not typed and cursor.word() in ("SET", "DROP", "ADD", "RESET", "RESTART", "UNSET", "OPTIONS", "FIRST", "AFTER"):
        yield from read_column_position(name, column, cursor.read_item(), cursor.traits, 0)
        return
    rest = cursor.read_item()
    using = next((index for index, token in enumerate(rest) if keyword(token) in ("USING", "COLLATE")), len(rest))
    if begin >= len(cursor.tokens):
        raise MalformedTree("ALTER of no column")
    yield from _retype_column(name, column, [cursor.tokens[begin], *rest[:using]], declare)


def _retype_column(name: ir.Name, column: str, item: Sequence[Token], declare: ParseDeclaration) -> Alterations:
    columns, _ = declare(strip_column_position(item))
    yield from (ir.Alteration(name, "retype", column, found) for found in columns)


def _read_modify(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    plain = _take_column_keyword(cursor)
    cursor.take("IF", "EXISTS")
    if not plain and _begins_other_item(cursor, changed=True):
        cursor.read_item()
        return
    if cursor.word(1) in ("SET", "DROP", "UNSET", "COMMENT", "REMOVE"):
        yield from _read_alter_column(cursor, name, declare)
        return
    listed = cursor.read_list() if cursor.at_open_paren() else [cursor.read_item()]
    for item in (join_nested_name(one, cursor.traits) for one in listed):
        typed = [item[0], *item[2:]] if len(item) > 2 and keyword(item[1]) == "TYPE" else item
        column = TokenReader(item, cursor.traits).read_column()
        yield from _retype_column(name, column, typed, declare)
        yield from read_column_position(name, column, item, cursor.traits)


def _read_change(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    cursor.take("COLUMN")
    cursor.take("IF", "EXISTS")
    old = cursor.read_column()
    if cursor.take("COMMENT"):
        yield ir.Alteration(name, "comment", old, ir.ColumnDef(old, "", "", comment=cursor.read_string()))
        return
    if cursor.word() == ".":  # Spark: a field of a struct
        cursor.read_item()
        return
    item = cursor.read_item()
    columns, _ = declare(strip_column_position(item))
    for column in columns:
        yield ir.Alteration(name, "retype", old, column)
        yield ir.Alteration(name, "rename", old, column)
        yield from read_column_position(name, column.name, item, cursor.traits)


def _read_replace(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    """Hive: REPLACE COLUMNS; ClickHouse: REPLACE PARTITION … FROM another table."""
    if cursor.take_any("COLUMNS"):
        yield ir.Alteration(name, "clear")
        for item in cursor.read_list() if cursor.at_open_paren() else []:
            yield from (ir.Alteration(name, "add", column.name, column) for column in declare(item)[0])
    elif cursor.seek("FROM"):
        cursor.index += 1
        yield from _move_rows(cursor.read_name(), name)


def _move_rows(source: ir.Name | None, target: ir.Name | None) -> Alterations:
    """All rows of one table go into another; the caller builds the write."""
    if source is not None and target is not None:
        yield ir.Alteration(source, "move", to=target)


def _read_swap(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    cursor.take("WITH")
    other = cursor.read_name()
    if other is not None:
        yield ir.Alteration(name, "swap", to=other)


def _read_switch(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    if cursor.seek("TO"):
        cursor.index += 1
        yield from _move_rows(name, cursor.read_name())
        cursor.read_item()


def _read_exchange(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    """EXCHANGE PARTITION … WITH TABLE: rows go both ways, unless the dialect only moves the partition."""
    if cursor.seek("TABLE"):
        cursor.index += 1
        other = cursor.read_name()
        yield from _move_rows(other, name)
        if not cursor.traits.one_way_exchange:
            yield from _move_rows(name, other)
        cursor.read_item()


def _read_move(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    if cursor.word() == "PARTITION" and cursor.seek("TABLE"):
        cursor.index += 1
        yield from _move_rows(name, cursor.read_name())
    cursor.read_item()


def _read_attach(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    """ClickHouse: ATTACH PARTITION … FROM copies rows of another table."""
    item = TokenReader(cursor.read_item(), cursor.traits, cursor.tokens[0].start - cursor.shift)
    if item.seek("FROM"):
        item.index += 1
        yield from _move_rows(item.read_name(), name)


def _read_append(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    if cursor.take("FROM"):
        yield from _move_rows(cursor.read_name(), name)
    cursor.read_item()


def _read_set(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    if cursor.take("SCHEMA"):
        schema = cursor.read_name()
        if schema is not None:
            parts = (*schema.parts, name.parts[-1])
            yield ir.Alteration(name, "rename table", to=ir.Name(parts, name.written, schema.start, schema.end))
    elif cursor.word() in _LABEL_KEYWORDS:
        yield from read_label_alteration(cursor, name, "")
    else:
        cursor.read_item()


_LABEL_KEYWORDS = frozenset({"TAG", "TAGS", "COMMENT", "OPTIONS"})
"""Keywords after SET that label an object or a column."""


def read_label_alteration(cursor: TokenReader, name: ir.Name, column: str) -> Alterations:
    """The comment or tags that a statement sets on a column or on the object itself."""
    comment, tags = NO_LABEL
    word = cursor.take_any(*_LABEL_KEYWORDS)
    if word == "COMMENT":
        cursor.index += not cursor.done and cursor.tokens[cursor.index].text == "="
        comment = cursor.read_string()
    elif word == "OPTIONS":
        comment, tags = read_options(cursor)
    else:
        tags = read_tags(cursor)
    if word in ("COMMENT", "OPTIONS"):
        cursor.read_item()
    if comment:
        yield ir.Alteration(name, "comment", column, ir.ColumnDef(column, "", "", comment=comment))
    if tags:
        yield ir.Alteration(name, "tag", column, ir.ColumnDef(column, "", "", tags=tags))


def _read_column_comment(cursor: TokenReader, name: ir.Name, declare: ParseDeclaration) -> Alterations:
    if cursor.take("COLUMN"):
        cursor.take("IF", "EXISTS")
        column = cursor.read_column()
        yield ir.Alteration(name, "comment", column, ir.ColumnDef(column, "", "", comment=cursor.read_string()))


ALTER_ACTIONS: dict[str, Callable[[TokenReader, ir.Name, ParseDeclaration], Alterations]] = {
    "ADD": _read_add,
    "ALTER": _read_alter_column,
    "APPEND": _read_append,
    "ATTACH": _read_attach,
    "CHANGE": _read_change,
    "COMMENT": _read_column_comment,
    "DROP": _read_drop,
    "EXCHANGE": _read_exchange,
    "MODIFY": _read_modify,
    "MOVE": _read_move,
    "RENAME": _read_rename,
    "REPLACE": _read_replace,
    "SET": _read_set,
    "SWAP": _read_swap,
    "SWITCH": _read_switch,
}
"""The readers of ALTER TABLE actions, by first keyword."""
