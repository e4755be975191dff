"""TokenWalker: walks over the tokens of a script or a quoted body and emits raw statements."""

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from typing import Self

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.identifier_folding import fold_identifier
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement, StatementRole
from lineage_pipeline.engine.compile.tokens import keyword, keywords_of
from lineage_pipeline.model import ir

OPEN_PAREN, CLOSE_PAREN, SEMICOLON = TokenType.L_PAREN, TokenType.R_PAREN, TokenType.SEMICOLON
_SLASH_TOKEN = TokenType.SLASH
_BRACKET_STEPS = {TokenType.L_PAREN: 1, TokenType.L_BRACKET: 1, TokenType.R_PAREN: -1, TokenType.R_BRACKET: -1}

WalkerParts = tuple[tuple[str, object], ...]


class EnclosingRoutine(msgspec.Struct, frozen=True):
    """The routine around the current token: its kind, name, result, and the table of its trigger.
    `row` is the trigger's own name for the new row. What a `typed` routine returns may be a row of a type with
    its own columns. `cursors` are the parameters of a procedure: the queries opened for them are its results.
    `returns` is the type of its scalar value. A `tabular` function returns rows, with the columns of its query.
    A `macro` returns a text that takes the place of its call: a query, or an expression.
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
    tabular: bool = False
    macro: bool = False

    @property
    def result_columns(self) -> tuple[str, ...]:
        """The names of the columns that it returns; a value has the name of its function."""
        own = () if self.name is None or self.tabular else (self.name.parts[-1],)
        return self.columns or own


_NO_WORDS = ("",) * 8
"""Stand behind the last token, so that a statement that breaks off can be looked ahead in like any other."""


class TokenWalker:
    """The tokens, the current index, and the raw statements found so far in the whole file."""

    def __init__(
        self,
        tokens: Sequence[Token],
        text: str,
        traits: DialectTraits,
        family: ProceduralLanguage,
        pieces: list[RawStatement],
    ) -> None:
        """Start at the first token; `pieces` is shared with the walkers around and inside this one."""
        self.tokens = tokens
        self.text = text
        self.traits = traits
        self.family = family
        self.pieces = pieces
        self.index = 0
        self.module = EnclosingRoutine()
        self.records: set[str] = set()
        self.row_types: set[str] = set()
        self.first = len(pieces)  # of those in the module at hand
        self._words: list[str] = []
        self._fielded: frozenset[str] = frozenset()
        self._semicolons = [at for at, token in enumerate(tokens) if token.token_type is SEMICOLON]

    @property
    def words(self) -> list[str]:
        """The keywords of the tokens, computed on first use."""
        if not self._words:
            self._words = [*keywords_of(self.tokens), *_NO_WORDS]
        return self._words

    def walk_inside(self, tokens: Sequence[Token], module: EnclosingRoutine) -> Self:
        """A walker over other tokens, those of a quoted body, for the same file."""
        walker = type(self)(tokens, self.text, self.traits, self.family, self.pieces)
        walker.module = module
        walker.records = set(self.records)
        walker.row_types = set(self.row_types)
        return walker

    @abstractmethod
    def walk_script(self, parent: int) -> None:
        """All statements of the tokens."""

    @abstractmethod
    def walk_statement(self, parent: int) -> None:
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
        return fold_identifier(token.text, token.token_type is TokenType.IDENTIFIER, self.traits.columns)

    def emit(
        self,
        begin: int,
        end: int,
        parent: int,
        kind: str | None = None,
        parts: WalkerParts = (),
    ) -> int:
        """Add a raw statement, move behind it, and return its ordinal."""
        self.pieces.append(RawStatement(self.strip_record_colons(self.tokens[begin:end]), parent, kind, parts))
        self.index = end
        return len(self.pieces) - 1

    def emit_rewritten(self, begin: int, end: int, parent: int, tokens: Sequence[Token], use: StatementRole) -> int:
        """Add a raw statement whose tokens are rewritten and have a role."""
        start, stop = int(self.tokens[begin].start), int(self.tokens[end - 1].end) + 1
        use = msgspec.structs.replace(
            use, records=frozenset(self.records), typed=self.module.typed, returns=self.module.returns
        )
        self.pieces.append(RawStatement(self.strip_record_colons(tokens), parent, begin=start, stop=stop, use=use))
        self.index = end
        return len(self.pieces) - 1

    def strip_record_colons(self, tokens: Sequence[Token]) -> Sequence[Token]:
        """The tokens without the colon before a field of a record, `:r.id`, which sqlglot reads as one value."""
        if not self.family.marked or not self.records:
            return tokens
        colon, dot = TokenType.COLON, TokenType.DOT
        marks = [
            at for at, token in enumerate(tokens[:-2]) if token.token_type is colon and tokens[at + 2].token_type is dot
        ]
        fields = {at for at in marks if self.fold(tokens[at + 1]) in self.records}
        return [token for at, token in enumerate(tokens) if at not in fields] if fields else tokens

    def close(self, ordinal: int) -> None:
        """Extend a statement with others inside to the current position."""
        stop = int(self.tokens[min(self.index, len(self.tokens)) - 1].end) + 1
        self.pieces[ordinal] = msgspec.structs.replace(self.pieces[ordinal], stop=stop)

    def find(self, words: frozenset[str] | tuple[str, ...], begin: int, end: int | None = None) -> int:
        """The first of some keywords from `begin` on, outside brackets; or the end."""
        depth = 0
        limit = len(self.tokens) if end is None else min(end, len(self.tokens))
        for index in range(begin, limit):
            depth += _BRACKET_STEPS.get(self.tokens[index].token_type, 0)
            if depth <= 0 and self.words[index] in words:
                return index
        return limit

    def end(self, begin: int | None = None) -> int:
        """The semicolon that ends a statement, or the end of the tokens."""
        index = self.index if begin is None else begin
        following = bisect_left(self._semicolons, index)
        end = self._semicolons[following] if following < len(self._semicolons) else len(self.tokens)
        if self.family.plsql:
            return next((at for at in range(index, end) if self.is_terminator(at)), end)
        return end

    def is_terminator(self, index: int) -> bool:
        """SQL*Plus: whether a slash is alone on its line."""
        token = self.tokens[index]
        if token.token_type is not _SLASH_TOKEN or not self.family.plsql:
            return False
        before = self.tokens[index - 1] if index else None
        following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        alone = following is None or following.line != token.line
        return alone and (before is None or before.line != token.line)

    def skip_brackets(self, index: int) -> int:
        """The index after the brackets that open at a token."""
        depth = 0
        while index < len(self.tokens):
            depth += _BRACKET_STEPS.get(self.tokens[index].token_type, 0)
            index += 1
            if depth == 0:
                break
        return index

    def select_token(self, at: int) -> Token:
        """A SELECT at the position of another token."""
        token = self.tokens[min(at, len(self.tokens) - 1)]
        return Token(TokenType.SELECT, "SELECT", token.line, token.col, token.start, token.end, token.comments)
