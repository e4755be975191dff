"""Splits a script into raw statements before the parser sees it: semicolons, T-SQL batches, procedural blocks."""

from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.procedural_languages import PROCEDURAL_LANGUAGES
from lineage_pipeline.engine.compile.split.blocks import BlockWalker
from lineage_pipeline.engine.compile.split.procedural_tokens import normalize_tokens
from lineage_pipeline.engine.compile.split.raw_statements import (
    RawStatement,
    is_batch_separator,
    split_at_semicolons,
    split_multi_insert,
)
from lineage_pipeline.engine.compile.split.tsql import BatchSplitter
from lineage_pipeline.engine.compile.tokens import keywords_of
from lineage_pipeline.engine.faults import contain
from lineage_pipeline.model import ir


def split_statements(
    tokens: Sequence[Token], traits: DialectTraits, text: str
) -> tuple[list[RawStatement], tuple[ir.Finding, ...]]:
    """The raw statements of a script in text order; if splitting fails, it is split at semicolons."""

    def split_plainly(fault: ir.Finding) -> tuple[list[RawStatement], tuple[ir.Finding, ...]]:
        return [RawStatement(statement) for statement in split_at_semicolons(tokens)], (fault,)

    return contain(
        lambda: (list(_split_by_dialect(tokens, traits, text)), ()), split_plainly, "the blocks of the file", 0, 0
    )


def _split_by_dialect(tokens: Sequence[Token], traits: DialectTraits, text: str) -> Iterator[RawStatement]:
    """The raw statements of a script in text order."""
    family = PROCEDURAL_LANGUAGES.get(traits.name)
    if family is not None:
        pieces: list[RawStatement] = []
        BlockWalker(normalize_tokens(tokens, text, family), text, traits, family, pieces).walk_script(-1)
        yield from pieces
        return
    if not traits.batches:
        for statement in split_at_semicolons(tokens):
            yield from split_multi_insert(statement)
        return
    yield from _split_batches(tokens, traits)


def _split_batches(tokens: Sequence[Token], traits: DialectTraits) -> Iterator[RawStatement]:
    begin, ordinal = 0, 0
    words = keywords_of(tokens)
    for index in [index for index, word in enumerate(words) if word == "GO"] if "GO" in words else ():
        if not is_batch_separator(tokens, index):
            continue
        pieces = BatchSplitter(tokens[begin:index], words[begin:index], traits, ordinal).split_batch()
        yield from pieces
        begin = index + 1
        counted = begin < len(tokens) and tokens[begin].token_type is TokenType.NUMBER
        if counted and tokens[begin].line == tokens[index].line:
            begin += 1
        yield RawStatement(tokens[index:begin], kind="GO")
        ordinal += len(pieces) + 1
    yield from BatchSplitter(tokens[begin:], words[begin:], traits, ordinal).split_batch()
