"""Code inside strings: the tokens of a quoted body at their true places in the file."""

from bisect import bisect_right
from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.parse import Failure, tokenize

STRINGS = frozenset(
    {
        TokenType.STRING,
        TokenType.HEREDOC_STRING,
        TokenType.RAW_STRING,
        TokenType.NATIONAL_STRING,
        TokenType.BYTE_STRING,
        TokenType.UNICODE_STRING,
    }
)
"""The kinds of tokens that are strings."""

_CLOSING = {"[": "]", "(": ")", "{": "}", "<": ">"}


def inner_tokens(token: Token, text: str, traits: Traits) -> list[Token] | Failure:
    """The tokens of the code inside a string token, each placed where it stands in the file."""
    code, offset, skips = _decoded(text[token.start : token.end + 1])
    inner = tokenize(code, traits)
    if isinstance(inner, Failure):
        return Failure(inner.reason, token.start, token.end + 1)
    base = int(token.start) + offset
    return _numbered([_moved(item, base, skips) for item in inner])


def _numbered(tokens: list[Token]) -> list[Token]:
    """`:1` in text that is run stands for an argument; the parser knows it as a question mark."""
    kept: list[Token] = []
    for token in tokens:
        before = kept[-1] if kept else None
        if token.token_type is TokenType.NUMBER and before is not None and before.token_type is TokenType.COLON:
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


def _decoded(written: str) -> tuple[str, int, list[int]]:
    """The code in a written string, where it begins in it, and where decoding left a character out before."""
    begin = 0
    while begin < len(written) and written[begin].isalpha():
        begin += 1
    if written[begin] == "$":
        size = written.index("$", begin + 1) + 1
        return written[size : len(written) - size], size, []
    quote = written[begin]
    if begin and written[begin - 1] in "qQ":  # Oracle: q'[…]'
        return written[begin + 2 : -2], begin + 2, []
    if written[begin : begin + 3] == quote * 3 and len(written) - begin >= 6:
        return written[begin + 3 : -3], begin + 3, []
    return _unescaped(written[begin + 1 : -1], quote, begin + 1)


def _unescaped(written: str, quote: str, offset: int) -> tuple[str, int, list[int]]:
    """The code in a string with doubled quotes, or quotes behind a backslash."""
    if quote not in written:
        return written, offset, []
    code: list[str] = []
    skips: list[int] = []
    index = 0
    while index < len(written):
        if written[index] in (quote, "\\") and written[index + 1 : index + 2] == quote:
            skips.append(len(code))
            index += 1
        code.append(written[index])
        index += 1
    return "".join(code), offset, skips
