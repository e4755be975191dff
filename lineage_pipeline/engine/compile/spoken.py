"""Words of procedural languages that the parser does not speak, left out or put into words that it knows."""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.families import CHOICES, Family
from lineage_pipeline.engine.compile.words import keyword

_ATTRIBUTES = frozenset("ROWCOUNT FOUND NOTFOUND ISOPEN BULK_ROWCOUNT BULK_EXCEPTIONS".split())
"""What can be asked of a cursor; none of it is data."""


def spoken(tokens: Sequence[Token], text: str, family: Family) -> Sequence[Token]:
    """The tokens of a script of the family that asks for it (PL/SQL); those of all others as they are."""
    if not family.result_word:
        return tokens
    kept = list(tokens)
    if "$" in text and any(word in text.upper() for word in CHOICES):
        kept = _without_choices(kept)
    if "%" in text:
        kept = _without_attributes(kept)
    return _without_marks(kept, family) if ":" in text else kept


def _without_choices(tokens: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    until = ""
    for token in tokens:
        word = keyword(token)
        if until:
            until = "" if word == until else until
        elif word in CHOICES:
            until = CHOICES[word] if CHOICES[word] != word else ""
        else:
            kept.append(token)
    return kept


def _without_attributes(tokens: Sequence[Token]) -> list[Token]:
    """`SQL%ROWCOUNT` and the like become a number."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        asked = index + 2 < len(tokens) and tokens[index + 1].token_type is TokenType.MOD
        if asked and keyword(tokens[index + 2]) in _ATTRIBUTES:
            end = tokens[index + 2].end
            kept.append(Token(TokenType.NUMBER, "0", token.line, token.col, token.start, end, token.comments))
            index += 3
        else:
            kept.append(token)
            index += 1
    return kept


def _without_marks(tokens: Sequence[Token], family: Family) -> list[Token]:
    """The colon before the rows of a trigger goes."""
    return [
        token
        for index, token in enumerate(tokens)
        if not (
            token.token_type is TokenType.COLON
            and index + 1 < len(tokens)
            and keyword(tokens[index + 1]) in family.rows
        )
    ]
