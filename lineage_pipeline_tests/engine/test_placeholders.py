"""Every placeholder of the table is recognized as its example writes it."""

import msgspec
import pytest

from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.engine.compile.lexer import tokenize
from lineage_pipeline.engine.compile.placeholders import (
    PLACEHOLDERS,
    PlaceholderSyntax,
    PlaceholderWalk,
    ReplacementStage,
)

DIALECTS = {
    ReplacementStage.TSQL_SCRIPT: "tsql",
    ReplacementStage.PLSQL_SCRIPT: "oracle",
    ReplacementStage.POSTGRES_SCRIPT: "postgres",
    ReplacementStage.EXECUTED_TEXT: "oracle",
    ReplacementStage.FAILED_STATEMENT: "snowflake",
}


@pytest.mark.parametrize("syntax", PLACEHOLDERS, ids=lambda syntax: f"{syntax.stage.name} {syntax.example}")
def test_an_example_is_a_placeholder(syntax: PlaceholderSyntax) -> None:
    traits = find_traits(DIALECTS[syntax.stage])
    assert traits is not None
    for example in syntax.example.split(" or "):
        text = example if "SELECT" in example else f"SELECT {example} FROM t"
        tokens = tokenize(text, traits)
        assert isinstance(tokens, list)
        found: list[int] = []

        def record(walk: PlaceholderWalk, begin: int, end: int, found: list[int] = found) -> int:
            found.append(walk.tokens[begin].start)
            return end

        PlaceholderWalk({syntax.opening: msgspec.structs.replace(syntax, replace=record)}, {}).replace_all(tokens)
        assert found == [text.index(example)]


def test_a_sign_opens_one_placeholder_per_stage() -> None:
    openings = [(syntax.stage, syntax.opening) for syntax in PLACEHOLDERS]
    assert len(set(openings)) == len(openings)
