"""Pieces: the tokens of each statement of a script, and what they stand for."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.calls import Run
from lineage_pipeline.vocabulary import ir

_KIND = attrgetter("token_type")


class Use(msgspec.Struct, frozen=True):
    """What becomes of the tree of a piece: its role (`uses.USES`), and the names that it has to do with."""

    role: str
    kind: str = ""
    variables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    declares: bool = False
    target: ir.Name | None = None
    records: frozenset[str] = frozenset()
    typed: bool = False
    returns: str = ""


class Piece(msgspec.Struct, frozen=True, dict=True):
    """The tokens of one statement; one that needs no parser brings its `kind`, and `stop` where others lie inside.

    One that runs a text says in `run` how the text is made; one that is `aside` is meant for the client.
    Where the tokens stand for something else than themselves, `use` says what becomes of them. `words` are the
    keywords that the tokens may be, where the cutter knows them.
    """

    tokens: Sequence[Token]
    parent: int = -1
    kind: str | None = None
    parts: tuple[tuple[str, Any], ...] = ()
    begin: int = -1
    stop: int = -1
    run: Run | None = None
    use: Use | None = None
    aside: bool = False
    words: Sequence[str] = ()

    @cached_property
    def kinds(self) -> list[TokenType]:
        """The kinds of the tokens."""
        return list(map(_KIND, self.tokens))

    @property
    def start(self) -> int:
        """The offset of the first character."""
        return self.begin if self.begin >= 0 else int(self.tokens[0].start)

    @property
    def end(self) -> int:
        """The offset after the last character."""
        return self.stop if self.stop >= 0 else int(self.tokens[-1].end) + 1


_SEMICOLON = TokenType.SEMICOLON  # Python 3.11 takes long to look a member up, and there are many tokens


def split(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The tokens of the statements between semicolons."""
    begin = 0
    for index in [index for index, token in enumerate(tokens) if token.token_type is _SEMICOLON]:
        if index > begin:
            yield tokens[begin:index]
        begin = index + 1
    if begin < len(tokens):
        yield tokens[begin:]
