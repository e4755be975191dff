"""Cutting a script into statements before the parser sees it: semicolons, and the batches of T-SQL."""

from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.families import FAMILIES
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.arms import arms
from lineage_pipeline.engine.compile.blocks import Cutter
from lineage_pipeline.engine.compile.nested import Blocks
from lineage_pipeline.engine.compile.pieces import Piece, split
from lineage_pipeline.engine.compile.spoken import spoken
from lineage_pipeline.engine.compile.words import keywords
from lineage_pipeline.engine.faults import contain
from lineage_pipeline.vocabulary import ir


def pieces_of(tokens: Sequence[Token], traits: Traits, text: str) -> tuple[list[Piece], tuple[ir.Finding, ...]]:
    """Split a script into statements in text order; a fault of ours costs the blocks, not the statements."""

    def split_plainly(fault: ir.Finding) -> tuple[list[Piece], tuple[ir.Finding, ...]]:
        return [Piece(statement) for statement in split(tokens)], (fault,)

    return contain(lambda: (list(cut(tokens, traits, text)), ()), split_plainly, "the blocks of the file", 0, 0)


def cut(tokens: Sequence[Token], traits: Traits, text: str) -> Iterator[Piece]:
    """The statements of a script in text order."""
    family = FAMILIES.get(traits.name)
    if family is not None:
        pieces: list[Piece] = []
        Blocks(spoken(tokens, text, family), text, traits, family, pieces).script(-1)
        yield from pieces
        return
    if not traits.batches:
        for statement in split(tokens):
            yield from arms(statement)
        return
    yield from _batches(tokens, traits)


def _batches(tokens: Sequence[Token], traits: Traits) -> Iterator[Piece]:
    begin, ordinal = 0, 0
    words = keywords(tokens)
    for index in [index for index, word in enumerate(words) if word == "GO"] if "GO" in words else ():
        if not is_separator(tokens, index):
            continue
        pieces = Cutter(tokens[begin:index], words[begin:index], traits, ordinal).batch()
        yield from pieces
        begin = index + 1
        counted = begin < len(tokens) and tokens[begin].token_type is TokenType.NUMBER
        if counted and tokens[begin].line == tokens[index].line:
            begin += 1
        yield Piece(tokens[index:begin], kind="GO")
        ordinal += len(pieces) + 1
    yield from Cutter(tokens[begin:], words[begin:], traits, ordinal).batch()


def is_separator(tokens: Sequence[Token], index: int) -> bool:
    """Whether a GO stands alone on its line, but for a count."""
    token = tokens[index]
    if index and tokens[index - 1].line == token.line and tokens[index - 1].token_type is not TokenType.SEMICOLON:
        return False
    index += index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.SEMICOLON  # which many clients take
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return following is None or following.line != token.line or following.token_type is TokenType.NUMBER
