"""A walk over the tokens of a script or of a quoted body, leaving pieces behind."""

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from typing import Self

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.families import Family
from lineage_pipeline.dialects.folding import fold
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.pieces import Piece, Use
from lineage_pipeline.engine.compile.words import keyword, keywords
from lineage_pipeline.vocabulary import ir

OPEN, CLOSE, SEMICOLON = TokenType.L_PAREN, TokenType.R_PAREN, TokenType.SEMICOLON
_SLASH = TokenType.SLASH
_BRACKETS = {TokenType.L_PAREN: 1, TokenType.L_BRACKET: 1, TokenType.R_PAREN: -1, TokenType.R_BRACKET: -1}

Parts = tuple[tuple[str, object], ...]


class Module(msgspec.Struct, frozen=True):
    """The module that a walk is inside of: its kind, its name, what it returns and what its trigger watches.

    `row` is what a trigger calls the new row, where it has a name of its own for it. What a `typed` one returns may be
    a row of a type with columns of its own. `cursors` are the parameters of a procedure: what it opens them for are
    its results. `returns` is the type of the one value that it gives.
    """

    kind: str = ""
    name: ir.Name | None = None
    columns: tuple[str, ...] = ()
    watched: ir.Name | None = None
    inline: bool = False
    row: str = ""
    typed: bool = False
    cursors: frozenset[str] = frozenset()
    returns: str = ""


_NO_WORDS = ("",) * 8
"""Stand behind the last token, so that a statement that breaks off can be looked ahead in like any other."""


class Walker:
    """The tokens at hand, the place in them, and the pieces found so far in the whole file."""

    def __init__(self, tokens: Sequence[Token], text: str, traits: Traits, family: Family, pieces: list[Piece]) -> None:
        """Start at the first token; `pieces` is shared with the walks around and inside this one."""
        self.tokens = tokens
        self.text = text
        self.traits = traits
        self.family = family
        self.pieces = pieces
        self.index = 0
        self.module = Module()
        self.records: set[str] = set()
        self.row_types: set[str] = set()
        self.first = len(pieces)  # of those in the module at hand
        self._words: list[str] = []
        self._fielded: frozenset[str] = frozenset()
        self._semicolons = [at for at, token in enumerate(tokens) if token.token_type is SEMICOLON]

    @property
    def words(self) -> list[str]:
        """The keywords that the tokens may be; most scripts have no blocks and never ask."""
        if not self._words:
            self._words = [*keywords(self.tokens), *_NO_WORDS]
        return self._words

    def inside(self, tokens: Sequence[Token], module: Module) -> Self:
        """A walk over other tokens, those of a quoted body, for the same file."""
        walker = type(self)(tokens, self.text, self.traits, self.family, self.pieces)
        walker.module = module
        walker.records = set(self.records)
        walker.row_types = set(self.row_types)
        return walker

    @abstractmethod
    def script(self, parent: int) -> None:
        """All statements of the text at hand."""

    @abstractmethod
    def statement(self, parent: int) -> None:
        """One statement with everything inside."""

    def done(self) -> bool:
        """Whether no token is left."""
        return self.index >= len(self.tokens)

    def word(self, ahead: int = 0) -> str:
        """The keyword at or ahead of the current token."""
        index = self.index + ahead
        if index >= len(self.tokens):
            return ""
        return self._words[index] if self._words else keyword(self.tokens[index])

    def kind(self, index: int) -> TokenType | None:
        """The type of a token, if there is one."""
        return self.tokens[index].token_type if 0 <= index < len(self.tokens) else None

    def fold(self, token: Token) -> str:
        """The folded name of a variable, a parameter or a column."""
        return fold(token.text, token.token_type is TokenType.IDENTIFIER, self.traits.columns)

    def emit(
        self,
        begin: int,
        end: int,
        parent: int,
        kind: str | None = None,
        parts: Parts = (),
    ) -> int:
        """Keep the tokens of one piece, go on behind it, and return its ordinal."""
        self.pieces.append(Piece(self.unmarked(self.tokens[begin:end]), parent, kind, parts))
        self.index = end
        return len(self.pieces) - 1

    def keep(self, begin: int, end: int, parent: int, tokens: Sequence[Token], use: Use) -> int:
        """Keep a piece whose meaning lies in other tokens than its own: what the parser makes of them is used."""
        start, stop = int(self.tokens[begin].start), int(self.tokens[end - 1].end) + 1
        use = msgspec.structs.replace(
            use, records=frozenset(self.records), typed=self.module.typed, returns=self.module.returns
        )
        self.pieces.append(Piece(self.unmarked(tokens), parent, begin=start, stop=stop, use=use))
        self.index = end
        return len(self.pieces) - 1

    def unmarked(self, tokens: Sequence[Token]) -> Sequence[Token]:
        """The tokens without the colon before a field of a record, `:r.id`: the parser takes that for one value."""
        if not self.family.marked or not self.records:
            return tokens
        colon, dot = TokenType.COLON, TokenType.DOT
        marks = [
            at for at, token in enumerate(tokens[:-2]) if token.token_type is colon and tokens[at + 2].token_type is dot
        ]
        fields = {at for at in marks if self.fold(tokens[at + 1]) in self.records}
        return [token for at, token in enumerate(tokens) if at not in fields] if fields else tokens

    def close(self, ordinal: int) -> None:
        """Let a piece with others inside reach to where the walk stands now."""
        stop = int(self.tokens[min(self.index, len(self.tokens)) - 1].end) + 1
        self.pieces[ordinal] = msgspec.structs.replace(self.pieces[ordinal], stop=stop)

    def find(self, words: frozenset[str] | tuple[str, ...], begin: int, end: int | None = None) -> int:
        """The first token from `begin` on, outside brackets, that is one of the words; or the end."""
        depth = 0
        limit = len(self.tokens) if end is None else min(end, len(self.tokens))
        for index in range(begin, limit):
            depth += _BRACKETS.get(self.tokens[index].token_type, 0)
            if depth <= 0 and self.words[index] in words:
                return index
        return limit

    def end(self, begin: int | None = None) -> int:
        """The semicolon that ends a statement, or the end of the text."""
        index = self.index if begin is None else begin
        following = bisect_left(self._semicolons, index)
        end = self._semicolons[following] if following < len(self._semicolons) else len(self.tokens)
        if self.family.result_word:
            return next((at for at in range(index, end) if self.is_terminator(at)), end)
        return end

    def is_terminator(self, index: int) -> bool:
        """Whether a slash stands alone on its line: SQL*Plus runs what stands before it."""
        token = self.tokens[index]
        if token.token_type is not _SLASH or not self.family.result_word:
            return False
        before = self.tokens[index - 1] if index else None
        following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        alone = following is None or following.line != token.line
        return alone and (before is None or before.line != token.line)

    def behind(self, index: int) -> int:
        """The token behind the brackets that open at a token."""
        depth = 0
        while index < len(self.tokens):
            depth += _BRACKETS.get(self.tokens[index].token_type, 0)
            index += 1
            if depth == 0:
                break
        return index

    def select(self, at: int) -> Token:
        """A SELECT in the place of another word."""
        token = self.tokens[min(at, len(self.tokens) - 1)]
        return Token(TokenType.SELECT, "SELECT", token.line, token.col, token.start, token.end, token.comments)
