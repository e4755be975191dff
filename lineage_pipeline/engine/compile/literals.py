"""Strings as they are written: which tokens are strings, and the text in them."""

from sqlglot.tokens import TokenType

from lineage_pipeline.dialects.families import TRIPLE_QUOTES
from lineage_pipeline.dialects.traits import Traits

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


def decoded(written: str, traits: Traits) -> tuple[str, int, list[int]]:
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
    if traits.name in TRIPLE_QUOTES and written[begin : begin + 3] == quote * 3 and len(written) - begin >= 6:
        return written[begin + 3 : -3], begin + 3, []
    return _unescaped(written[begin + 1 : -1], quote + "\\" * (not traits.batches), begin + 1)


def _unescaped(written: str, marks: str, offset: int) -> tuple[str, int, list[int]]:
    """The code in a string with doubled quotes, or quotes behind a backslash."""
    quote = marks[0]
    if quote not in written:
        return written, offset, []
    code: list[str] = []
    skips: list[int] = []
    index = 0
    twice = "\\\\" + quote * 2  # a quote in a string inside the string
    nested = "\\" in marks and twice in written
    while index < len(written):
        doubled = nested and written.startswith(twice, index)
        if doubled or (written[index] in marks and written[index + 1 : index + 2] == quote):
            skips.append(len(code))
            index += 1
        code.append(written[index])
        index += 1
        if doubled:
            skips.append(len(code))
            code.append(quote)
            index += 2
    return "".join(code), offset, skips
