"""The splitter: a script that is split at semicolons alone gives the statements that walking it would give."""

from collections.abc import Iterator

from lineage_pipeline.dialects.registry import DIALECTS, find_traits
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure
from lineage_pipeline.engine.compile.lexer import tokenize
from lineage_pipeline.engine.compile.split.blocks import BlockWalker
from lineage_pipeline.engine.compile.split.procedural_tokens import normalize_tokens
from lineage_pipeline.engine.compile.split.raw_statements import (
    RawStatement,
    split_at_semicolons,
    split_multi_insert,
)
from lineage_pipeline.engine.compile.split.splitter import is_plain_script
from lineage_pipeline_tests.support.cases import load_cases
from lineage_pipeline_tests.support.fuzzing import load_corpus, make_mutant

MUTANTS = 3_000


def texts() -> Iterator[tuple[str, str]]:
    """Every fixture in every dialect with blocks, and fixtures damaged by chance."""
    for case in load_cases("link"):
        for dialect, traits in DIALECTS.items():
            if traits.procedural is not None:
                yield dialect, case.sql
    known = load_corpus()
    yield from (make_mutant(seed, known) for seed in range(MUTANTS))


def test_plain_scripts_are_split_as_if_they_were_walked() -> None:
    plain = 0
    for dialect, text in texts():
        traits = find_traits(dialect, "dialect")
        family = traits.procedural if traits is not None else None
        tokens = tokenize(text, traits) if traits is not None and family is not None else None
        if traits is None or family is None or tokens is None or isinstance(tokens, ParseFailure):
            continue
        tokens = list(normalize_tokens(tokens, text, family))
        if not is_plain_script(tokens, family):
            continue
        plain += 1
        walked: list[RawStatement] = []
        BlockWalker(tokens, text, traits, family, walked).walk_script(-1)
        split = [piece for statement in split_at_semicolons(tokens) for piece in split_multi_insert(statement)]
        assert [_parts(piece) for piece in split] == [_parts(piece) for piece in walked], (dialect, text)
    assert plain > 1_000


def _parts(piece: RawStatement) -> tuple[object, ...]:
    return [token.start for token in piece.tokens], piece.parent, piece.kind, piece.start, piece.end
