"""Code inside strings: the tokens of a quoted body at their true places in the file."""

from bisect import bisect_right
from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.families import FAMILIES
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.literals import decoded
from lineage_pipeline.engine.compile.parse import Failure
from lineage_pipeline.engine.compile.spoken import spoken
from lineage_pipeline.engine.compile.tokenizing import tokenize


def inner_tokens(token: Token, text: str, traits: Traits) -> Sequence[Token] | Failure:
    """The tokens of the code inside a string token, each placed where it stands in the file."""
    code, offset, skips = decoded(text[token.start : token.end + 1], traits)
    inner = tokenize(code, traits)
    if isinstance(inner, Failure):
        return Failure(inner.reason, token.start, token.end + 1)
    base = int(token.start) + offset
    moved = numbered([_moved(item, base, skips) for item in inner])
    family = FAMILIES.get(traits.name)
    return spoken(moved, code, family) if family is not None and not family.result_word else moved


_VALUES = frozenset("NUMBER VAR IDENTIFIER R_PAREN R_BRACKET L_BRACKET".split())
"""What stands before the colon of a slice, `a[1:2]`."""


def numbered(tokens: Sequence[Token]) -> list[Token]:
    """`:1` in text that is run stands for an argument; the parser knows it as a question mark."""
    kept: list[Token] = []
    for token in tokens:
        before = kept[-1] if kept else None
        marked = token.token_type is TokenType.NUMBER and before is not None and before.token_type is TokenType.COLON
        if marked and before is not None and (len(kept) < 2 or kept[-2].token_type.name not in _VALUES):
            kept[-1] = Token(
                TokenType.PLACEHOLDER, "?", before.line, before.col, before.start, token.end, token.comments
            )
        else:
            kept.append(token)
    return kept


def _moved(token: Token, base: int, skips: Sequence[int]) -> Token:
    """A token of the decoded code, placed in the file; each skip is a character that decoding left out before it."""
    start, end = int(token.start), int(token.end)
    if skips:
        start, end = start + bisect_right(skips, start), end + bisect_right(skips, end)
    return Token(token.token_type, token.text, token.line, token.col, base + start, base + end, token.comments)
