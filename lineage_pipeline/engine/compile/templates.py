"""Holes of T-SQL templates and scripts: `<name, type, default>` and `$(variable)` are replaced by what they stand for.

Tokens keep their places: a default stands inside its hole, a variable where it is named.
"""

import re
from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.procedural import BEGINS
from lineage_pipeline.engine.compile.words import keyword

_FAR = 60
"""How many tokens a template hole may have at most."""

_NO_NAME = BEGINS | frozenset("AND OR THEN FROM WHERE HAVING UNION".split()) | {"GROUP BY", "ORDER BY"}
"""What stands behind a value that something is less than, and in no name of a hole."""

_REMARK = re.compile(r"(<[^<>,\n]+,[^<>,\n]*,[^<>\n]*?)(--[^<>\n]*)(?=>)")
"""A remark in a hole: it ends where the hole does, and not with the line."""


_CONTINUED = re.compile(r"\b0x[0-9a-f]*(?:\\\r?\n[0-9a-f]*)+", re.IGNORECASE)
"""Bytes that go on behind a backslash at the end of a line."""


def without_remarks(text: str) -> str:
    """The text of a script with blanks in the place of remarks that hide the end of a hole, and bytes in one line."""
    if "\\" in text and "0x" in text:
        text = _CONTINUED.sub(lambda match: re.sub(r"[\\\r\n]", "0", match[0]), text)
    if "<" not in text or "--" not in text:
        return text
    return _REMARK.sub(lambda match: match[1] + " " * len(match[2]), text)


def named_after_words(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens with names where a temporary table is called like a word of the language: `#values`."""
    marks = [index for index, token in enumerate(tokens[:-1]) if token.text in ("#", "##")]
    words = [index + 1 for index in marks if _is_word(tokens[index + 1], tokens[index].end + 1)]
    if not words:
        return tokens
    kept = list(tokens)
    for index in words:
        word = kept[index]
        kept[index] = Token(TokenType.VAR, word.text, word.line, word.col, word.start, word.end, word.comments)
    return kept


def _is_word(token: Token, start: int) -> bool:
    """Whether a word of the language, and no name, begins at a place."""
    named = token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
    return not named and token.start == start and token.text.isidentifier()


def filled(tokens: Sequence[Token], text: str) -> Sequence[Token]:
    """The tokens of a script with its holes filled; most scripts have none."""
    if "$(" in text:
        tokens = _variables(tokens)
    if "#" in text:
        tokens = named_after_words(tokens)
    if "<" in text and any(_is_hole(tokens, index) for index, token in enumerate(tokens) if token.text == "<"):
        tokens = _templates(tokens)
    return tokens


def _templates(tokens: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        end = _is_hole(tokens, index) if tokens[index].token_type is TokenType.LT else 0
        if not end:
            kept.append(tokens[index])
            index += 1
            continue
        kept.extend(_default(tokens[index + 1 : end]))
        index = end + 1
    return kept


def _is_hole(tokens: Sequence[Token], index: int) -> int:
    """The token that closes a hole of a template that opens at a token, or 0 where none opens."""
    depth, commas = 0, 0
    for at in range(index + 1, min(index + _FAR, len(tokens))):
        kind = tokens[at].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        commas += kind is TokenType.COMMA and depth == 0
        if depth < 0 or kind in (TokenType.LT, TokenType.SEMICOLON):
            return 0
        if kind is TokenType.GT:
            return at if commas >= 2 and depth == 0 else 0
        marked = tokens[at - 1].token_type is TokenType.PARAMETER
        if commas == 0 and not marked and keyword(tokens[at]) in _NO_NAME:
            return 0
    return 0


def _default(tokens: Sequence[Token]) -> Sequence[Token]:
    """What stands behind the second comma, or else the name of the hole."""
    commas = [index for index, token in enumerate(tokens) if token.token_type is TokenType.COMMA]
    return tokens[commas[1] + 1 :] or tokens[: commas[0]]


def _variables(tokens: Sequence[Token]) -> list[Token]:
    """`$(name)` as the value that `:setvar` gave it, or as a name of its own."""
    values: dict[str, str] = {}
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        following = tokens[index + 1 : index + 4]
        if token.text == ":" and len(following) == 3 and keyword(following[0]) == "SETVAR":
            values[following[1].text.lower()] = following[2].text
        if token.text == "$" and len(following) == 3 and (following[0].text, following[2].text) == ("(", ")"):
            name = following[1].text
            value = values.get(name.lower(), f"$({name})")
            kept.append(Token(TokenType.IDENTIFIER, value, token.line, token.col, token.start, following[2].end))
            index += 4
            continue
        quoted = token.token_type is TokenType.IDENTIFIER and "$(" in token.text
        kept.append(_within(token, values) if quoted else token)
        index += 1
    return kept


def _within(token: Token, values: dict[str, str]) -> Token:
    """A quoted name with the values of the variables in it; the place in a string would no longer be true."""
    text = token.text
    for name, value in values.items():
        at = text.lower().find(f"$({name})")
        if at >= 0:
            text = text[:at] + value + text[at + len(name) + 3 :]
    return Token(token.token_type, text, token.line, token.col, token.start, token.end, token.comments)
