"""A statement that is over a limit: the tables that it names, read off its tokens, and nothing of what lies between."""

from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.folding import fold
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.cursor import Cursor
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.vocabulary import ir

MOST_TABLES = 10_000
"""More names than this are no longer read: a statement that has them is made by a machine to be large."""

_BEFORE_SOURCE = frozenset({"FROM", "JOIN", "USING", "APPLY"})
_BEHIND_SOURCES = frozenset(
    "WHERE ON GROUP ORDER HAVING LIMIT UNION SELECT SET WHEN WINDOW QUALIFY INTERSECT EXCEPT MINUS VALUES".split()
)
_NO_TABLE = frozenset({"SELECT", "VALUES", "LATERAL", "UNNEST", "TABLE", "WITH", "ONLY"})
_CREATED = {"TABLE": "table", "VIEW": "view"}
_TEMPORARY = frozenset({"TEMP", "TEMPORARY", "VOLATILE"})


def coarse(piece: Piece, traits: Traits, kind: str, finding: ir.Finding) -> ir.Placed:
    """The statement with the tables that it writes and reads, where tokens say so, and why there is no more."""
    cursor = Cursor(piece.tokens, traits, piece.start)
    target, definition = _target(cursor)
    named = {source.alias: source.name for source in _sources(cursor) if source.name is not None}
    hidden = set(_common(piece.tokens, traits))
    reads = tuple(
        name for name in named.values() if name.parts not in hidden and (target is None or name.parts != target.parts)
    )
    if target is not None and len(target.parts) == 1:  # UPDATE a … FROM t AS a writes t
        target = named.get(target.parts[0], target)
        reads = tuple(name for name in reads if name.parts != target.parts)
    statement = ir.Statement(
        kind,
        "partial" if target is not None or reads else "failed",
        definition=definition,
        relations=(ir.Select((), ()),),
        writes=(ir.Write(target, 0, "insert", ()),) if target is not None and definition is None else (),
        reads=reads,
        findings=(finding,),
    )
    return ir.Placed(piece.start, piece.end, piece.parent, statement)


def _target(cursor: Cursor) -> tuple[ir.Name | None, ir.Definition | None]:
    """What a statement writes, and the definition where it creates it."""
    words = cursor.words[:24]
    match cursor.word():
        case "CREATE" | "REPLACE":
            at = next((index for index, word in enumerate(words) if word in _CREATED), -1)
            if at < 0:
                return None, None
            kind, temporary = _CREATED[words[at]], not _TEMPORARY.isdisjoint(words[:at])
            cursor.index = at + 1
            cursor.take("IF", "NOT", "EXISTS")
            name = cursor.name()
            if name is None:
                return None, None
            return name, ir.Definition(name, kind, temporary=temporary, replace="REPLACE" in words[:at])
        case "INSERT" | "MERGE" | "UPDATE" | "DELETE" | "REPLACE":
            cursor.index = 1
            while cursor.take_any("INTO", "OVERWRITE", "TABLE", "FROM", "ONLY", "IGNORE", "OR", "REPLACE"):
                pass
            return cursor.name(), None
    return None, None


def _sources(cursor: Cursor) -> Iterator[ir.Source]:
    """The names that stand where rows are read from, with their aliases."""
    found, listing = 0, False
    while not cursor.done and found < MOST_TABLES:
        word, token = cursor.word(), cursor.tokens[cursor.index]
        begins = word in _BEFORE_SOURCE or (listing and token.token_type is TokenType.COMMA)
        listing = (listing or begins) and word not in _BEHIND_SOURCES and token.token_type is not TokenType.R_PAREN
        cursor.index += 1
        if begins and cursor.word() not in _NO_TABLE:
            name = cursor.name()
            if name is not None and not cursor.opens():
                found += 1
                cursor.take("AS")
                yield ir.Source(_alias(cursor) or name.parts[-1], name=name)


def _alias(cursor: Cursor) -> str:
    word = cursor.word()
    if not word.isidentifier() or word in _BEHIND_SOURCES or word in _BEFORE_SOURCE:
        return ""
    return fold(cursor.tokens[cursor.index].text, False, cursor.traits.tables)


def _common(tokens: Sequence[Token], traits: Traits) -> Iterator[tuple[str, ...]]:
    """The names that a WITH gives to queries: `name AS (`."""
    for index in range(len(tokens) - 2):
        if tokens[index + 2].token_type is TokenType.L_PAREN and tokens[index + 1].text.upper() == "AS":
            name = Cursor(tokens[index : index + 1], traits).name()
            if name is not None:
                yield name.parts
