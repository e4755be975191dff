"""Functions that apply a model to a row, in words that the parser knows."""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.phrases import SCORING
from lineage_pipeline.engine.compile.cursor import items
from lineage_pipeline.engine.compile.words import behind_brackets, keyword


def scored(tokens: Sequence[Token]) -> list[Token]:
    """`PREDICTION(model COST MODEL USING a AS x, b)` as `PREDICTION(a, b)`: the model is no data."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        opened = index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN
        if not opened or not keyword(tokens[index - 1]).startswith(SCORING):
            continue
        end = behind_brackets(tokens, index)
        words = [keyword(token) for token in tokens[index:end]]
        if "USING" in words:
            kept.append(tokens[index])
            kept.extend(_values(scored(tokens[index + words.index("USING") + 1 : end - 1])))
            kept.append(tokens[end - 1])
            index = end
    return kept


def _values(tokens: Sequence[Token]) -> list[Token]:
    """The items of a list without their names."""
    kept: list[Token] = []
    for item in items(tokens):
        named = len(item) > 2 and keyword(item[-2]) == "AS"
        if kept:
            kept.append(Token(TokenType.COMMA, ",", item[0].line, item[0].col, item[0].start, item[0].start))
        kept.extend(item[:-2] if named else item)
    return kept
