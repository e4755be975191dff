"""Cutting a script into statements before the parser sees it: semicolons, and the batches of T-SQL."""

from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.blocks import Cutter
from lineage_pipeline.engine.compile.parse import Piece, split


def cut(tokens: Sequence[Token], traits: Traits) -> Iterator[Piece]:
    """The statements of a script in text order."""
    if not traits.batches:
        yield from split(tokens)
        return
    begin, ordinal = 0, 0
    for index, token in enumerate(tokens):
        if index >= begin and _is_separator(tokens, index):
            pieces = Cutter(tokens[begin:index], traits, ordinal).batch()
            yield from pieces
            begin = index + 1
            if (
                begin < len(tokens)
                and tokens[begin].token_type is TokenType.NUMBER
                and tokens[begin].line == token.line
            ):
                begin += 1
            yield Piece(tokens[index:begin], kind="GO")
            ordinal += len(pieces) + 1
    yield from Cutter(tokens[begin:], traits, ordinal).batch()


def _is_separator(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token is a GO that stands alone on its line, but for a count."""
    token = tokens[index]
    if token.token_type is TokenType.STRING or token.text.upper() != "GO":
        return False
    if index and tokens[index - 1].line == token.line and tokens[index - 1].token_type is not TokenType.SEMICOLON:
        return False
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return following is None or following.line != token.line or following.token_type is TokenType.NUMBER
