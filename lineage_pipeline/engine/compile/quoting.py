"""Double quotes of T-SQL: around a name, or around a text where SET QUOTED_IDENTIFIER OFF stands before it."""

from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.batches import is_separator
from lineage_pipeline.engine.compile.words import keywords

_OPTIONS = frozenset({"QUOTED_IDENTIFIER", "ANSI_DEFAULTS"})
_MODULES = frozenset({"PROC", "PROCEDURE", "FUNCTION", "TRIGGER"})


def with_texts(tokens: Sequence[Token], text: str, off: bool = False) -> Sequence[Token]:
    """The tokens of a script, with texts instead of names where double quotes hold such; most scripts have none.

    `off` says how the option is set before. It counts from where it is set; inside of a module, it is set for nobody.
    """
    if '"' not in text or not (off or any(option in text.upper() for option in _OPTIONS)):
        return tokens
    return [
        Token(TokenType.STRING, token.text, token.line, token.col, token.start, token.end, token.comments)
        if off and token.token_type is TokenType.IDENTIFIER and text[token.start] == '"'
        else token
        for token, off in zip(tokens, _settings(tokens, off), strict=True)
    ]


def _settings(tokens: Sequence[Token], off: bool) -> Iterator[bool]:
    """Whether the option is off, at each token."""
    words = keywords(tokens)
    module = False
    for index, word in enumerate(words):
        if word == "GO" and is_separator(tokens, index):
            module = False
        elif word in ("CREATE", "ALTER"):
            what = index + (3 if words[index + 1 : index + 2] == ["OR"] else 1)
            module = module or not _MODULES.isdisjoint(words[what : what + 1])
        elif word == "SET" and not module:
            off = _set(words, index + 1, off)
        yield off


def _set(words: Sequence[str], index: int, off: bool) -> bool:
    """How the option is set behind SET and a list of options."""
    named = False
    while index < len(words) and words[index] not in ("ON", "OFF"):
        named = named or words[index] in _OPTIONS
        if words[index + 1 : index + 2] not in ([","], ["ON"], ["OFF"]):
            return off
        index += 2 if words[index + 1] == "," else 1
    return index < len(words) and words[index] == "OFF" if named else off
