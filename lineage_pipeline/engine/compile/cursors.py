"""Pieces of T-SQL that a cutter keeps, and those that need no parser to be understood: cursors."""

from collections.abc import Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.boundaries import Reader
from lineage_pipeline.engine.compile.headers import Header, table_like
from lineage_pipeline.engine.compile.pieces import Piece, Use
from lineage_pipeline.vocabulary import ir

EVERYTHING = (ir.Star((), ir.NOWHERE, ir.NOWHERE),)
_CURSOR_ENDS = (["FOR", "UPDATE"], ["FOR", "READ"])

_TABLE_PLACES = frozenset({"FROM", "JOIN", "INTO", "INSERT", "UPDATE", "DELETE"})

Parts = tuple[tuple[str, object], ...]


class Cursors(Reader):
    """One batch on its way to pieces; `ordinal` is the number that its first piece will have in the file."""

    def __init__(self, tokens: Sequence[Token], words: list[str], traits: Traits, ordinal: int) -> None:
        """Start at the first token of a batch."""
        super().__init__(tokens, words, traits)
        self.ordinal = ordinal
        self.pieces: list[Piece] = []
        self.header: Header | None = None

    def emit(self, begin: int, end: int, parent: int, kind: str | None = None, parts: Parts = ()) -> int:
        """Keep the tokens of one piece, go on behind it, and return its place in the list."""
        words = self.words[begin:end] if kind is None else ()
        self.pieces.append(Piece(self.tokens[begin:end], parent, kind, parts, words=words))
        self.index = end
        return len(self.pieces) - 1

    def keep(self, begin: int, end: int, parent: int, tokens: list[Token], use: Use) -> int:
        """Keep a piece whose tokens stand for something else than themselves."""
        start, stop = int(self.tokens[begin].start), int(self.tokens[end - 1].end) + 1
        self.pieces.append(Piece(tokens, parent, begin=start, stop=stop, use=use))
        self.index = end
        return len(self.pieces) - 1

    def close(self, place: int) -> None:
        """Let a piece with others inside reach to where the cutter stands now."""
        stop = int(self.tokens[self.index - 1].end) + 1
        self.pieces[place] = msgspec.structs.replace(self.pieces[place], stop=stop)

    def plain(self, parent: int) -> None:
        """A statement without others inside."""
        self.emit(self.index, self.statement_end(), parent)

    def declare(self, parent: int) -> None:
        """DECLARE: a cursor over a query, or variables."""
        begin, end = self.index, self.statement_end()
        at = next((index for index in range(begin, end) if self.words[index] == "CURSOR"), end)
        if at < end:
            self.cursor(begin, at, end, parent)
        elif self.is_table_of_type(begin, end):
            piece = table_like(self.tokens[begin + 1 : end], 2 + (self.words[begin + 3] == "AS"), self.traits)
            self.emit(begin, end, parent, "DECLARE", _moved(piece, int(piece.start) - int(self.tokens[begin].start)))
        else:
            self.emit(begin, end, parent)

    def is_table_of_type(self, begin: int, end: int) -> bool:
        """Whether `DECLARE @rows name` declares a table: its type is not built in, and it is used as a table."""
        if end - begin not in (4, 5, 6, 7) or any(word in ("=", ",", "(") for word in self.words[begin:end]):
            return False
        kind = self.tokens[begin + 3 + (self.words[begin + 3] == "AS")]
        if kind.token_type not in (TokenType.VAR, TokenType.IDENTIFIER):
            return False
        name = self.tokens[begin + 2].text.lower()
        return any(
            token.text.lower() == name and self.words[index - 1] == "@" and self.words[index - 2] in _TABLE_PLACES
            for index, token in enumerate(self.tokens[end:], end)
        )

    def set(self, parent: int) -> None:
        """SET: a cursor in a variable, other variables, options."""
        if self.word(4) == "CURSOR":
            self.cursor(self.index, self.index + 4, self.statement_end(), parent)
        else:
            self.plain(parent)

    def cursor(self, begin: int, at: int, end: int, parent: int) -> None:
        """A cursor is a record that holds the columns of its query."""
        query = next((index for index in range(at, end) if self.words[index] == "FOR"), end)
        stop = next((index for index in range(query + 1, end) if self.words[index : index + 2] in _CURSOR_ENDS), end)
        if query + 1 >= stop:
            self.emit(begin, end, parent, self.words[begin])
            return
        use = Use("row", self.words[begin], (self.cursor_name(begin + 1),))
        self.keep(begin, end, parent, list(self.tokens[query + 1 : stop]), use)

    def cursor_name(self, index: int) -> str:
        """The name of a cursor, or of the variable that holds one."""
        if self.tokens[index].token_type is TokenType.PARAMETER:
            return "@" + self.tokens[index + 1].text.lower()
        return self.tokens[index].text.lower()

    def fetch(self, parent: int) -> None:
        """FETCH puts the columns of a cursor into variables, by position."""
        begin, end = self.index, self.statement_end()
        into = next((index for index in range(begin, end) if self.words[index] == "INTO"), end)
        marked = self.tokens[into - 2].token_type is TokenType.PARAMETER
        row = ir.Select((ir.Source("", record=self.cursor_name(into - 2 if marked else into - 1)),), EVERYTHING)
        names = tuple(
            "@" + self.tokens[index + 1].text.lower()
            for index in range(into, end - 1)
            if self.tokens[index].token_type is TokenType.PARAMETER
        )
        parts: Parts = (("relations", (row,)), ("assigns", (ir.Assignment(names, 0),))) if names else ()
        self.emit(begin, end, parent, "FETCH", parts)


def _moved(piece: Piece, distance: int) -> Parts:
    """The parts of a piece that begins that many characters behind the statement it becomes."""
    definition = dict(piece.parts)["definition"]
    names = {
        key: msgspec.structs.replace(name, start=name.start + distance, end=name.end + distance)
        for key, name in (("name", definition.name), ("like", definition.like))
    }
    return (("definition", msgspec.structs.replace(definition, **names)),)
